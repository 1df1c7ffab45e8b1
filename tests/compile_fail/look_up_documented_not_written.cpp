// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
// Documents that effects can be looked up, and has no function that does.
//
// expect: provider: the contract documents a look-up; add  answer lookup(query const&)
#include "shop.hpp"

using namespace indoubt;

struct orders : provider_of<std::string> {
    static constexpr auto target = "orders";
    static constexpr indoubt::contract contract{.lookup = complete_lookup{}};
    reply submit(attempt const&);
#if !defined(MISTAKE)
    answer lookup(query const&);
#endif
};

recovery purchases{policies{.provider = orders{}, .storage = memory_storage{}}};
