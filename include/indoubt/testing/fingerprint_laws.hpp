// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef INDOUBT_TESTING_FINGERPRINT_LAWS_HPP
#define INDOUBT_TESTING_FINGERPRINT_LAWS_HPP

#include <indoubt/policy/fingerprint.hpp>
#include <indoubt/testing/laws.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

// The laws of a fingerprint policy. Runs over any fingerprint; build with a thread sanitizer to
// have its concurrent calls checked.

namespace indoubt::testing {

namespace detail {

struct owned_content {
    std::string target, request;
    content view() const { return {target, request}; }
    bool operator==(owned_content const&) const = default;
};

/// Contents that careless fingerprints take for each other.
inline std::vector<owned_content> confusable_contents() {
    using namespace std::string_literals;
    std::vector<owned_content> all{
        {"", ""},
        {"a", ""},
        {"", "a"},
        {"ab", "c"},
        {"a", "bc"},
        {"", "abc"},
        {"abc", ""},
        {"a", "b"},
        {"b", "a"},
        {"a", "b\0"s},
        {"a", "\0b"s},
        {"a\0"s, "b"},
        {"a", "B"},
        {"a", "b "},
        {"a", " b"},
        {"1:a", "b"},
        {"a", "1:b"},
        {"\x01", "a"},
        {"a:b", "c"},
        {"a", "b:c"},
        {"a/b", "c"},
        {"a", "b/c"},
        {"a", "\xc3\xa9"},
        {"a", "e\xcc\x81"},
        {"a", "{\"n\":1}"},
        {"a", "{\"n\":1.0}"},
        {"a", "{\"n\": 1}"},
    };
    // One byte of difference at each place of a request longer than any block of a digest.
    owned_content const longer{std::string(70, 't'), std::string(300, 'r')};
    all.push_back(longer);
    for (std::size_t i = 0; i < longer.request.size(); i += 13) {
        all.push_back(longer);
        all.back().request[i] = 's';
    }
    for (std::size_t i = 0; i < longer.target.size(); i += 7) {
        all.push_back(longer);
        all.back().target[i] = 's';
    }
    all.push_back({longer.target, longer.request + 'r'});
    all.push_back({longer.target + 'r', longer.request.substr(1)});
    return all;
}

} // namespace detail

template <class F> laws check_fingerprint_laws(F const& fingerprint) {
    laws found;
    std::string const rule(fingerprint.rule());
    found.expect(!rule.empty(), "fingerprint: the rule has a name");

    auto const contents = detail::confusable_contents();
    std::vector<std::string> digests;
    for (auto const& c : contents)
        digests.push_back(fingerprint.digest(c.view()));

    for (std::size_t i = 0; i < contents.size(); ++i) {
        auto const& stored = contents[i];
        detail::owned_content const copy = stored;
        found.expect(fingerprint.digest(copy.view()) == digests[i],
                     "fingerprint: equal contents have equal digests, whenever asked");
        for (auto const& given : contents) {
            bool const same = fingerprint.same(digests[i], stored.view(), given.view());
            bool const equal = stored == given;
            found.expect(same || !equal, "fingerprint: a content is the same as itself");
            found.expect(!same || equal,
                         "fingerprint: contents that differ in any byte are not the same");
        }
    }

    std::vector<int> wrong(4, 0);
    {
        std::vector<std::jthread> callers;
        for (int& mine : wrong) {
            callers.emplace_back([&] {
                for (std::size_t i = 0; i < contents.size(); ++i) {
                    content const c = contents[i].view();
                    mine += fingerprint.digest(c) != digests[i];
                    mine += !fingerprint.same(digests[i], c, c);
                    mine += fingerprint.rule() != rule;
                }
            });
        }
    }
    found.expect(wrong == std::vector<int>(4, 0), "fingerprint: concurrent calls answer alike");
    return found;
}

} // namespace indoubt::testing

#endif
