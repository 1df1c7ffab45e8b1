// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
// States a window, and not how long a call can be under way.
//
// expect-gcc: a_finite_window_needs_arrives_within
// expect-note-clang: a_finite_window_needs_arrives_within
#include <indoubt/core/contract.hpp>

using namespace indoubt;
using namespace std::chrono_literals;

struct charges {
#if defined(MISTAKE)
    static constexpr indoubt::contract contract{
        .resend = deduplicated_by_key{.window = 24h, .documented_at = "https://shop.example/keys"},
        .lookup = complete_lookup{}};
#else
    static constexpr indoubt::contract contract{
        .resend = deduplicated_by_key{.window = 24h, .documented_at = "https://shop.example/keys"},
        .lookup = complete_lookup{},
        .arrives_within = 10min};
#endif
};
