// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
// Keeps a clearance to send twice with it.
//
// expect-gcc: use of deleted function 'indoubt::clearance::clearance(
// expect-clang: copy constructor of 'clearance'
#include <indoubt/core/transitions.hpp>

using namespace indoubt;

clearance keep(clearance& allowed) {
#if defined(MISTAKE)
    return allowed;
#else
    return std::move(allowed);
#endif
}
