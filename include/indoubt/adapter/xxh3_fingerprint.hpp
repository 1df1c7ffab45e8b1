// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef INDOUBT_ADAPTER_XXH3_FINGERPRINT_HPP
#define INDOUBT_ADAPTER_XXH3_FINGERPRINT_HPP

#include <indoubt/policy/fingerprint.hpp>

// All of xxHash is compiled into the program: no library is linked.
#ifndef XXH_INLINE_ALL
#define XXH_INLINE_ALL
#endif
#include <xxhash.h>

#include <string>
#include <string_view>

// A short and fast fingerprint that needs no stored request: XXH3 with 128 bits. It finds accidents
// and nothing else. Whoever chooses requests can make two that have one digest, and the second is
// then taken for the first: it is never sent, and the caller is told the receipt of the other. Use
// it only where all requests come from your own programs.

namespace indoubt {

/// The digest is the 16 bytes of XXH3_128bits, the most significant first, over the length of the
/// target in decimal digits, a colon, the target and the request: "6:orders" and then the request.
/// Among a billion different requests the chance that any two have one digest is about 1 in 10^21.
struct xxh3_fingerprint {
    static constexpr std::string_view rule() { return "xxh3_128/1"; }

    static std::string digest(content const& c) {
        // A reset leaves parts of the state alone, and xxHash wants those initialised like this.
        XXH3_state_t state;
        XXH3_INITSTATE(&state);
        XXH3_128bits_reset(&state);
        std::string const length = std::to_string(c.target.size()) + ':';
        for (std::string_view const bytes : {std::string_view(length), c.target, c.request})
            if (!bytes.empty()) XXH3_128bits_update(&state, bytes.data(), bytes.size());
        XXH128_canonical_t made;
        XXH128_canonicalFromHash(&made, XXH3_128bits_digest(&state));
        return {reinterpret_cast<char const*>(made.digest), sizeof made.digest};
    }

    /// Compares digests only: the stored request may be gone.
    static bool same(std::string_view digest, content const&, content const& given) {
        return digest == xxh3_fingerprint::digest(given);
    }
};

static_assert(fingerprint_policy<xxh3_fingerprint>);

} // namespace indoubt

#endif
