// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
// Does not say what the service documents.
//
// expect: provider: add  static constexpr indoubt::contract contract{...}
#include "shop.hpp"

using namespace indoubt;

struct orders : provider_of<std::string> {
    static constexpr auto target = "orders";
#if !defined(MISTAKE)
    static constexpr indoubt::contract contract{.lookup = complete_lookup{}};
#endif
    reply submit(attempt const&);
    answer lookup(query const&);
};

recovery purchases{policies{.provider = orders{}, .storage = memory_storage{}}};
