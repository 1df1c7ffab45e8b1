// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
// Runs an operation with a bundle that lacks a storage: one sentence, then the missing function.
//
// expect: policies: name a storage, .storage = ...
// expect-gcc: has no member named 'run'
// expect-clang: no member named 'run'
#include "shop.hpp"

using namespace indoubt;

void buy() {
#if defined(MISTAKE)
    recovery orders{policies{.provider = shop{}}};
#else
    recovery orders{policies{.provider = shop{}, .storage = memory_storage{}}};
#endif
    auto done = orders.run({"tenant-7", "order-1"}, "a notebook");
    if (done) done.value();
}
