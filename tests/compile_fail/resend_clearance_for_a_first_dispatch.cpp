// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
// Makes a first send on the strength of a clearance for another one.
//
// expect-gcc: initialization of reference of type 'indoubt::clearance&&' from expression of type
// expect-note-clang: (aka 'indoubt::resend_clearance') to 'clearance' for 2nd argument
#include <indoubt/core/transitions.hpp>

using namespace indoubt;

#if defined(MISTAKE)
auto first(operation<pending>&& op, resend_clearance&& allowed) {
#else
auto first(operation<pending>&& op, clearance&& allowed) {
#endif
    return dispatch(std::move(op), std::move(allowed));
}
