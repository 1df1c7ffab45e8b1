// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef INDOUBT_ADAPTER_EXACT_FINGERPRINT_HPP
#define INDOUBT_ADAPTER_EXACT_FINGERPRINT_HPP

#include <indoubt/policy/fingerprint.hpp>

#include <string>
#include <string_view>

// The default fingerprint: no digest at all. The journal keeps the request anyway, so two intents
// are compared byte for byte and cannot collide. It needs the request itself in the journal: where
// only a protected reference is stored, use a keyed fingerprint.

namespace indoubt {

struct exact_fingerprint {
    static constexpr std::string_view rule() { return "exact/1"; }

    static std::string digest(content const&) { return {}; }

    /// A digest that is not empty was not made by this rule: nothing is the same as it.
    static constexpr bool same(std::string_view digest, content const& stored,
                               content const& given) {
        return digest.empty() && stored.target == given.target && stored.request == given.request;
    }
};

static_assert(fingerprint_policy<exact_fingerprint>);

} // namespace indoubt

#endif
