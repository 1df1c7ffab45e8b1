// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef EXAMPLES_ORDER_EXCHANGE_HPP
#define EXAMPLES_ORDER_EXCHANGE_HPP

#include "../common/database.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// Stands in for an exchange, in an SQLite file. Its rules are those of many: a client order id is
// of letters and digits, 32 at most; it must be unique among the open orders only; an order is
// looked up by it, whatever became of the order.

namespace trading {

class exchange {
public:
    struct order {
        std::string id, status, content; // accepted, filled or cancelled
    };

    explicit exchange(std::filesystem::path const& file) : data_(file) {
        data_.run("CREATE TABLE IF NOT EXISTS orders "
                  "(id INTEGER PRIMARY KEY, client_id TEXT, content TEXT, status TEXT)");
        data_.run("CREATE UNIQUE INDEX IF NOT EXISTS open_orders ON orders (client_id) "
                  "WHERE status = 'accepted'");
        data_.run("CREATE TABLE IF NOT EXISTS calls (what TEXT)");
    }

    /// Returns: its number; nothing if an open order has this client order id.
    std::optional<std::string> place(std::string_view client_id, std::string_view content) {
        data_.run("INSERT INTO calls VALUES ('place')");
        auto const made = data_.run("INSERT OR IGNORE INTO orders (client_id, content, status) "
                                    "VALUES (?, ?, 'accepted') RETURNING id",
                                    client_id, content);
        if (made.empty()) return std::nullopt;
        return made[0][0];
    }

    /// Returns: whether it was open until now.
    bool cancel(std::string_view id) {
        data_.run("INSERT INTO calls VALUES ('cancel')");
        auto const done = data_.run("UPDATE orders SET status = 'cancelled' "
                                    "WHERE id = ? AND status = 'accepted' RETURNING id",
                                    id);
        return !done.empty();
    }

    /// Somebody takes what the order offers.
    void fill(std::string_view id) {
        data_.run("UPDATE orders SET status = 'filled' WHERE id = ? AND status = 'accepted'", id);
    }

    std::vector<order> find_by_client_id(std::string_view client_id) {
        return list("WHERE client_id = ? ORDER BY id", client_id);
    }
    std::vector<order> find(std::string_view id) { return list("WHERE id = ?", id); }

    /// How often it was called, be it in vain.
    std::int64_t calls(std::string_view what) {
        return data_.number("SELECT count(*) FROM calls WHERE what = ?", what);
    }
    std::int64_t orders(std::string_view status) {
        return data_.number("SELECT count(*) FROM orders WHERE status = ?", status);
    }

private:
    std::vector<order> list(std::string const& which, std::string_view value) {
        std::vector<order> found;
        for (auto const& row : data_.run("SELECT id, status, content FROM orders " + which, value))
            found.push_back({row[0], row[1], row[2]});
        return found;
    }

    database data_;
};

} // namespace trading

#endif
