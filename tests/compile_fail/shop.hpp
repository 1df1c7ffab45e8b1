// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef INDOUBT_TESTS_COMPILE_FAIL_SHOP_HPP
#define INDOUBT_TESTS_COMPILE_FAIL_SHOP_HPP

#include <indoubt.hpp>

#include <string>

// A service with everything that a mistake needs around it, so that a file shows the mistake alone.

struct shop : indoubt::provider_of<std::string> {
    static constexpr auto target = "shop/orders";
    static constexpr indoubt::contract contract{.lookup = indoubt::complete_lookup{}};
    reply submit(attempt const&);
    answer lookup(query const&);
};

#endif
