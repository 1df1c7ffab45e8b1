// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef INDOUBT_POLICY_FINGERPRINT_HPP
#define INDOUBT_POLICY_FINGERPRINT_HPP

#include <concepts>
#include <string>
#include <string_view>

// How a journal tells whether two intents are the same: same target, same request.

namespace indoubt {

/// What is compared. The two parts never run into each other: ("ab", "c") is not ("a", "bc").
struct content {
    std::string_view target, request;
};

/// | expression                    | returns          | what must hold                           |
/// |-------------------------------|------------------|------------------------------------------|
/// | f.rule()                      | std::string_view | names the rule, such as "exact/1"; it is |
/// |                               |                  | stored, and changes when digests change  |
/// | f.digest(c)                   | std::string      | what is stored for content c; may be     |
/// |                               |                  | empty if the stored request is compared  |
/// | f.same(digest, stored, given) | bool             | true exactly if given is the content     |
/// |                               |                  | that digest and stored were kept for     |
///
/// Laws (testing/fingerprint_laws.hpp): same(digest(a), a, a); not same(digest(a), a, b) for a != b
/// in any byte of target or request; digest is a pure function. Digests of secrets are compared in
/// constant time. Thread safety: all calls may be concurrent. Nothing throws.
template <class F>
concept fingerprint_policy =
    requires(F const& f, content const& c, std::string_view stored_digest) {
        { f.rule() } -> std::convertible_to<std::string_view>;
        { f.digest(c) } -> std::same_as<std::string>;
        { f.same(stored_digest, c, c) } -> std::same_as<bool>;
    };

template <class F> constexpr bool explain_fingerprint() {
    constexpr bool rule = requires(F const& f) {
        { f.rule() } -> std::convertible_to<std::string_view>;
    };
    constexpr bool digest = requires(F const& f, content const& c) {
        { f.digest(c) } -> std::same_as<std::string>;
    };
    constexpr bool same = requires(F const& f, content const& c, std::string_view stored) {
        { f.same(stored, c, c) } -> std::same_as<bool>;
    };
    static_assert(rule, "fingerprint: add  std::string_view rule() const");
    static_assert(digest, "fingerprint: add  std::string digest(content const&) const");
    static_assert(same, "fingerprint: add  bool same(std::string_view digest, content const& "
                        "stored, content const& given) const");
    return rule && digest && same;
}

} // namespace indoubt

#endif
