// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef EXAMPLES_DEMO_ORDER_SERVICE_HPP
#define EXAMPLES_DEMO_ORDER_SERVICE_HPP

#include "../common/database.hpp"

#include <indoubt.hpp>
#include <indoubt/adapter/canonical_json.hpp>

#include <csignal>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

// The provider of the demo: a service in an SQLite file. It stores every order it is sent, so that
// an order that was sent twice would show as two rows.

namespace demo {

struct order {
    std::string item;
    int quantity;
};

} // namespace demo

BOOST_HANA_ADAPT_STRUCT(demo::order, item, quantity);

namespace demo {

class order_service : public indoubt::provider_of<order> {
public:
    static constexpr auto target = "demo/orders";
    /// Orders can be looked up. Nothing is documented that makes a second send safe.
    static constexpr indoubt::contract contract{.lookup = indoubt::complete_lookup{}};

    explicit order_service(std::filesystem::path const& file, bool kills_its_caller = false)
        : orders_(file), kills_its_caller_(kills_its_caller) {
        orders_.run("CREATE TABLE IF NOT EXISTS orders "
                    "(id INTEGER PRIMARY KEY, key TEXT, content TEXT)");
    }

    reply submit(attempt const& a) {
        orders_.run("INSERT INTO orders (key, content) VALUES (?, ?)", a.key(), a.bytes());
        if (kills_its_caller_) std::raise(SIGKILL); // committed; the caller never hears of it
        return accepted{orders_.run("SELECT last_insert_rowid()")[0][0]};
    }

    answer lookup(query const& q) {
        complete found;
        for (auto const& row : orders_.run("SELECT id, content FROM orders WHERE key = ?", q.key)) {
            auto content = indoubt::codec<order>::decode(row[1]);
            if (!content) return incomplete{};
            found.effects.push_back({row[0], std::string(q.key), std::move(content).value()});
        }
        return found;
    }

private:
    database orders_;
    bool kills_its_caller_;
};

} // namespace demo

#endif
