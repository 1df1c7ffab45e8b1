// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
// Lets the SDK send again where nothing documented makes that safe.
//
// expect-gcc: without_a_guarantee_inner_attempts_must_be_one
// expect-note-clang: without_a_guarantee_inner_attempts_must_be_one
#include <indoubt/core/contract.hpp>

using namespace indoubt;

struct orders {
#if defined(MISTAKE)
    static constexpr indoubt::contract contract{.lookup = complete_lookup{}, .inner_attempts = 3};
#else
    static constexpr indoubt::contract contract{.lookup = complete_lookup{}, .inner_attempts = 1};
#endif
};
