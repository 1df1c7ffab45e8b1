// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
// Takes several attempts in a type that no batch is sent as: it would never be called.
//
// expect: provider: write it  std::vector<reply> submit(std::span<attempt const>)
#include "shop.hpp"

#include <span>
#include <vector>

using namespace indoubt;

struct bulk : shop {
    using shop::submit;
#if defined(MISTAKE)
    std::vector<reply> submit(std::vector<attempt> const&);
#else
    std::vector<reply> submit(std::span<attempt const>);
#endif
};

recovery orders{policies{.provider = bulk{}, .storage = memory_storage{}}};
