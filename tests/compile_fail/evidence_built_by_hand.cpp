// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
// Writes down a match that nobody observed.
//
// expect-gcc: 'indoubt::match::match(
// expect-gcc: is private within this context
// expect-clang: calling a private constructor of class 'indoubt::match'
#include <indoubt/core/transitions.hpp>

using namespace indoubt;

#if defined(MISTAKE)
auto settle(operation<uncertain>&& op) {
    match seen(op.stamp(), time_point(), "receipt-1", basis::looked_up);
#else
auto settle(operation<uncertain>&& op, match&& seen) {
#endif
    return confirm(std::move(op), std::move(seen));
}
