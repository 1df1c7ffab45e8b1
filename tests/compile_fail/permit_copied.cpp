// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
// Keeps a permit to send twice with it.
//
// expect-gcc: use of deleted function 'indoubt::permit::permit(
// expect-clang: copy constructor of 'permit'
#include <indoubt/core/attempt.hpp>

using namespace indoubt;

permit keep(permit& allowed) {
#if defined(MISTAKE)
    return allowed;
#else
    return std::move(allowed);
#endif
}
