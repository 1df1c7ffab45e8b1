// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
// Sends several attempts with one call, and has one reply for all of them.
//
// expect: provider: write it  std::vector<reply> submit(std::span<attempt const>)
#include "shop.hpp"

#include <span>
#include <vector>

using namespace indoubt;

struct bulk : shop {
    using shop::submit;
#if defined(MISTAKE)
    reply submit(std::span<attempt const>);
#else
    std::vector<reply> submit(std::span<attempt const>);
#endif
};

recovery orders{policies{.provider = bulk{}, .storage = memory_storage{}}};
