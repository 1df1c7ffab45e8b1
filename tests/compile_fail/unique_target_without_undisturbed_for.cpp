// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
// Claims a unique name, without saying how long nobody removes what has it.
//
// expect-gcc: a_guarantee_by_name_or_state_must_say_how_long_nobody_disturbs_it
// expect-note-clang: a_guarantee_by_name_or_state_must_say_how_long_nobody_disturbs_it
#include <indoubt/core/contract.hpp>

using namespace indoubt;

struct buckets {
#if defined(MISTAKE)
    static constexpr indoubt::contract contract{
        .resend = unique_target{.documented_at = "https://store.example/names"},
        .lookup = complete_lookup{}};
#else
    static constexpr indoubt::contract contract{
        .resend = unique_target{.undisturbed_for = unlimited,
                                .documented_at = "https://store.example/names"},
        .lookup = complete_lookup{}};
#endif
};
