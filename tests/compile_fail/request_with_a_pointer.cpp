// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
// Puts a pointer into a request, which means nothing after a restart.
//
// expect: request: the type of a member has no JSON form; adapt it or specialise indoubt::codec
#include <indoubt.hpp>
#include <indoubt/adapter/canonical_json.hpp>

#include <boost/hana/adapt_struct.hpp>

using namespace indoubt;

struct order {
#if defined(MISTAKE)
    char const* item = "";
#else
    std::string item;
#endif
    int quantity = 1;
};
BOOST_HANA_ADAPT_STRUCT(order, item, quantity);

struct shop : provider_of<order> {
    static constexpr auto target = "shop/orders";
    static constexpr indoubt::contract contract{.lookup = complete_lookup{}};
    reply submit(attempt const&);
    answer lookup(query const&);
};

recovery orders{policies{.provider = shop{}, .storage = memory_storage{}}};
