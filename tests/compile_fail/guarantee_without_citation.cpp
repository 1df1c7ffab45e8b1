// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
// Claims a guarantee without saying where it is documented.
//
// expect-gcc: a_guarantee_must_cite_where_it_is_documented
// expect-note-clang: a_guarantee_must_cite_where_it_is_documented
#include <indoubt/core/contract.hpp>

using namespace indoubt;
using namespace std::chrono_literals;

struct charges {
#if defined(MISTAKE)
    static constexpr indoubt::contract contract{.resend = deduplicated_by_key{.window = 24h},
                                                .lookup = complete_lookup{},
                                                .arrives_within = 10min};
#else
    static constexpr indoubt::contract contract{
        .resend = deduplicated_by_key{.window = 24h, .documented_at = "https://shop.example/keys"},
        .lookup = complete_lookup{},
        .arrives_within = 10min};
#endif
};
