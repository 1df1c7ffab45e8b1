// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
// Confirms because the caller knows better.
//
// expect-gcc: no matching function for call to 'confirm(
// expect-note-gcc: indoubt::confirm(operation<uncertain>&&, match&&)'
// expect-clang: no matching function for call to 'confirm'
// expect-note-clang: requires 2 arguments, but 1 was provided
#include <indoubt/core/transitions.hpp>

using namespace indoubt;

auto settle(operation<uncertain>&& op, [[maybe_unused]] match&& seen) {
#if defined(MISTAKE)
    return confirm(std::move(op));
#else
    return confirm(std::move(op), std::move(seen));
#endif
}
