// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
// Answers a send with yes or no, and has no word for "nobody knows".
//
// expect: provider: add  reply submit(attempt const&)
#include "shop.hpp"

using namespace indoubt;

struct orders : provider_of<std::string> {
    static constexpr auto target = "orders";
    static constexpr indoubt::contract contract{.lookup = complete_lookup{}};
#if defined(MISTAKE)
    bool submit(attempt const&);
#else
    reply submit(attempt const&);
#endif
    answer lookup(query const&);
};

recovery purchases{policies{.provider = orders{}, .storage = memory_storage{}}};
