// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
// Documents nothing that could confirm: every operation would end in review.
//
// expect-gcc: nothing_could_ever_confirm_add_a_lookup_a_proof_or_from_outside
// expect-note-clang: nothing_could_ever_confirm_add_a_lookup_a_proof_or_from_outside
#include <indoubt/core/contract.hpp>

using namespace indoubt;
using namespace std::chrono_literals;

struct orders {
#if defined(MISTAKE)
    static constexpr indoubt::contract contract{.call_timeout = 5s};
#else
    static constexpr indoubt::contract contract{.lookup = from_outside{}, .call_timeout = 5s};
#endif
};
