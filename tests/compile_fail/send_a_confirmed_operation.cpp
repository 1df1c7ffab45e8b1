// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
// Sends what is confirmed already.
//
// expect-gcc: reference of type 'indoubt::operation<indoubt::pending>&&' from expression of type
// expect-note-clang: no known conversion from 'operation<indoubt::confirmed>' to
// 'operation<pending>' for 1st argument
#include <indoubt/core/transitions.hpp>

using namespace indoubt;

#if defined(MISTAKE)
auto send(operation<confirmed>&& op, clearance&& allowed) {
#else
auto send(operation<pending>&& op, clearance&& allowed) {
#endif
    return dispatch(std::move(op), std::move(allowed));
}
