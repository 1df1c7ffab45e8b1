// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
// Runs an operation and does not ask how it ended.
//
// level: warning
// expect-gcc: only its result says whether the effect exists
// expect-clang: ignoring return value of function declared with 'nodiscard' attribute
#include "shop.hpp"

using namespace indoubt;

using orders = recovery<policies<shop, memory_storage>>;

#if defined(MISTAKE)
void buy(orders& all) {
    all.run({"tenant-7", "order-1"}, "a notebook");
}
#else
bool buy(orders& all) {
    return all.run({"tenant-7", "order-1"}, "a notebook").has_value();
}
#endif
