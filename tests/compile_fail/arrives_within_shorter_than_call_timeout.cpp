// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
// Says that a call arrives sooner than it is waited for.
//
// expect-gcc: arrives_within_must_not_be_shorter_than_call_timeout
// expect-note-clang: arrives_within_must_not_be_shorter_than_call_timeout
#include <indoubt/core/contract.hpp>

using namespace indoubt;
using namespace std::chrono_literals;

struct orders {
#if defined(MISTAKE)
    static constexpr indoubt::contract contract{
        .lookup = complete_lookup{}, .call_timeout = 30s, .arrives_within = 29s};
#else
    static constexpr indoubt::contract contract{
        .lookup = complete_lookup{}, .call_timeout = 30s, .arrives_within = 30s};
#endif
};
