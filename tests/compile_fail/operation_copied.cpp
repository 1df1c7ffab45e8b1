// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
// Keeps an operation to use it twice.
//
// expect-gcc: use of deleted function 'indoubt::operation<
// expect-clang: copy constructor of 'operation<
#include <indoubt/core/transitions.hpp>

using namespace indoubt;

operation<pending> keep(operation<pending>& op) {
#if defined(MISTAKE)
    return op;
#else
    return std::move(op);
#endif
}
