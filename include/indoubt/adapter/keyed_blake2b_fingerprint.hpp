// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef INDOUBT_ADAPTER_KEYED_BLAKE2B_FINGERPRINT_HPP
#define INDOUBT_ADAPTER_KEYED_BLAKE2B_FINGERPRINT_HPP

#include <indoubt/adapter/keyed_blake2b/secret.hpp>
#include <indoubt/policy/fingerprint.hpp>

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

// A fingerprint that needs no stored request and betrays nothing about it, not even to whoever has
// the journal and can guess the request: BLAKE2b with a secret key, by libsodium.

namespace indoubt {

/// The digest is 32 bytes. Digests are compared in constant time. The secret is not in the journal,
/// and the program must have the same one for as long as it has operations in doubt: keep it where
/// other credentials are kept.
///
/// The rule is "keyed_blake2b/1:" and 8 hexadecimal digits that follow from the secret and do not
/// betray it. With another secret it is another rule, and what was recorded before is incomparable:
/// nothing is sent and nothing changes. Settle what is in doubt before the secret is changed.
class keyed_blake2b_fingerprint {
public:
    /// Takes exactly 32 bytes; they are copied and may be wiped at once. Another length does not
    /// compile. Check the length of bytes from a file before they are made a span of 32.
    explicit keyed_blake2b_fingerprint(std::span<std::byte const, blake2b_secret_size> secret)
        : secret_(secret), rule_("keyed_blake2b/1:" + id_of(secret_)) {}

    std::string_view rule() const { return rule_; }

    std::string digest(content const& c) const {
        return secret_.hash({"indoubt fingerprint", c.target, c.request}, size);
    }

    /// Compares digests only: the stored request may be gone.
    bool same(std::string_view digest, content const&, content const& given) const {
        std::string const theirs = this->digest(given);
        return digest.size() == size && sodium_memcmp(digest.data(), theirs.data(), size) == 0;
    }

private:
    static constexpr std::size_t size = 32; // bytes

    /// Two secrets share an id once in four billion. Their digests differ all the same, so that a
    /// repeat is then refused as another intent.
    static std::string id_of(detail::blake2b_secret const& secret) {
        return detail::hex_of(secret.hash({"indoubt key id"}, 16)).substr(0, 8);
    }

    detail::blake2b_secret secret_;
    std::string rule_;
};

static_assert(fingerprint_policy<keyed_blake2b_fingerprint>);

} // namespace indoubt

#endif
