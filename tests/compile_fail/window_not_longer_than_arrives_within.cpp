// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
// States a window that is over before a late call must have arrived.
//
// expect-gcc: arrives_within_must_be_shorter_than_the_window
// expect-note-clang: arrives_within_must_be_shorter_than_the_window
#include <indoubt/core/contract.hpp>

using namespace indoubt;
using namespace std::chrono_literals;

struct charges {
#if defined(MISTAKE)
    static constexpr indoubt::contract contract{
        .resend =
            deduplicated_by_key{.window = 10min, .documented_at = "https://shop.example/keys"},
        .lookup = complete_lookup{},
        .arrives_within = 10min};
#else
    static constexpr indoubt::contract contract{
        .resend =
            deduplicated_by_key{.window = 11min, .documented_at = "https://shop.example/keys"},
        .lookup = complete_lookup{},
        .arrives_within = 10min};
#endif
};
