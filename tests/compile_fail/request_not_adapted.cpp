// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
// Sends a struct of one's own, and does not say how it becomes bytes.
//
// expect: request: adapt it with BOOST_HANA_ADAPT_STRUCT and include
// <indoubt/adapter/canonical_json.hpp>, or specialise indoubt::codec
#include <indoubt.hpp>
#include <indoubt/adapter/canonical_json.hpp>

#include <boost/hana/adapt_struct.hpp>

using namespace indoubt;

struct order {
    std::string item;
    int quantity = 1;
};
#if !defined(MISTAKE)
BOOST_HANA_ADAPT_STRUCT(order, item, quantity);
#endif

struct shop : provider_of<order> {
    static constexpr auto target = "shop/orders";
    static constexpr indoubt::contract contract{.lookup = complete_lookup{}};
    reply submit(attempt const&);
    answer lookup(query const&);
};

recovery orders{policies{.provider = shop{}, .storage = memory_storage{}}};
