// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
// Sends an uncertain operation again on the strength of a clearance for a first send.
//
// expect-gcc: initialization of reference of type 'indoubt::resend_clearance&&' from
// expect-note-clang: (aka 'indoubt::clearance') to 'resend_clearance' for 2nd argument
#include <indoubt/core/transitions.hpp>

using namespace indoubt;

#if defined(MISTAKE)
auto again(operation<uncertain>&& op, clearance&& allowed) {
#else
auto again(operation<uncertain>&& op, resend_clearance&& allowed) {
#endif
    return resend(std::move(op), std::move(allowed));
}
