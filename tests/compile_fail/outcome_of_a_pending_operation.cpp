// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
// Records what became of an attempt of what was never sent.
//
// expect: no matching function for call to 'record_outcome
#include <indoubt/core/transitions.hpp>

using namespace indoubt;

#if defined(MISTAKE)
auto note(operation<pending>&& op, attempt_outcome&& seen) {
#else
auto note(operation<rejected>&& op, attempt_outcome&& seen) {
#endif
    return record_outcome(std::move(op), std::move(seen));
}
