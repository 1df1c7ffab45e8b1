// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
// Gives a call no time at all.
//
// expect-gcc: call_timeout_must_be_positive
// expect-note-clang: call_timeout_must_be_positive
#include <indoubt/core/contract.hpp>

using namespace indoubt;
using namespace std::chrono_literals;

struct orders {
#if defined(MISTAKE)
    static constexpr indoubt::contract contract{.lookup = complete_lookup{}, .call_timeout = 0s};
#else
    static constexpr indoubt::contract contract{.lookup = complete_lookup{}, .call_timeout = 1s};
#endif
};
