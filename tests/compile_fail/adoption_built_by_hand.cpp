// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
// Confirms on the strength of a receipt that nobody was asked about.
//
// expect-gcc: 'indoubt::adoption::adoption(
// expect-gcc: is private within this context
// expect-clang: calling a private constructor of class 'indoubt::adoption'
#include <indoubt/core/transitions.hpp>

using namespace indoubt;

#if defined(MISTAKE)
auto settle(operation<in_review>&& op) {
    adoption word(op.stamp(), {"ann", "it is there"}, {}, "receipt-1", basis::looked_up, {});
#else
auto settle(operation<in_review>&& op, adoption&& word) {
#endif
    return adopt(std::move(op), std::move(word));
}
