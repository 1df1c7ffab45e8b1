// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
// Declares a record of one's own to be confirmed.
//
// expect-gcc: is private within this context
// expect-clang: calling a private constructor of class 'indoubt::operation<indoubt::confirmed>'
#include <indoubt/core/transitions.hpp>

using namespace indoubt;

#if defined(MISTAKE)
operation<confirmed> pretend(std::unique_ptr<record> mine) {
    return operation<confirmed>(std::move(mine));
}
#else
operation<confirmed> keep(operation<confirmed> op) {
    return op;
}
#endif
