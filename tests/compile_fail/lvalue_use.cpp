// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
// Passes an operation on without giving it up.
//
// expect-gcc: cannot bind rvalue reference of type 'indoubt::operation<indoubt::pending>&&' to
// expect-note-clang: expects an rvalue for 1st argument
#include <indoubt/core/transitions.hpp>

using namespace indoubt;

auto send(operation<pending> op, clearance allowed) {
#if defined(MISTAKE)
    return dispatch(op, std::move(allowed));
#else
    return dispatch(std::move(op), std::move(allowed));
#endif
}
