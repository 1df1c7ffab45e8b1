// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
// Copies a journal into the bundle.
//
// expect-gcc: use of deleted function 'indoubt::memory_storage::memory_storage(
// expect-clang: call to deleted constructor of 'indoubt::memory_storage'
#include "shop.hpp"

using namespace indoubt;

void open(memory_storage journal) {
#if defined(MISTAKE)
    recovery orders{policies{.provider = shop{}, .storage = journal}};
#else
    recovery orders{policies{.provider = shop{}, .storage = std::move(journal)}};
#endif
    (void)orders;
}
