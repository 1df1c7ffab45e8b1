// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)

// A lost reply, as an exercise. A coordinator reserves one practice notebook. The shop saves the
// reservation, and the network goes down before the reply arrives. Did it happen?
//
// Two SQLite files stand in for the coordinator's journal and for the shop's own records.

#include "common/database.hpp"
#include "common/temporary_directory.hpp"

#include <indoubt.hpp>
#include <indoubt/adapter/canonical_json.hpp>
#include <indoubt/adapter/sqlite_storage.hpp>

#include <chrono>
#include <exception>
#include <filesystem>
#include <iostream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

struct order {
    std::string item;
    int quantity;
};
BOOST_HANA_ADAPT_STRUCT(order, item, quantity);

namespace {

using namespace std::chrono_literals;

/// Where the guarantee lives: one row for each identifier, compared with the order that is asked
/// for, within the shop's own transaction.
class notebook_shop : public indoubt::provider_of<order> {
public:
    static constexpr auto target = "notebook-shop/orders";
    static constexpr indoubt::contract contract{
        .resend = indoubt::deduplicated_by_key{.window = indoubt::unlimited,
                                               .compares_parameters = true,
                                               .documented_at = "the primary key of its orders"},
        .lookup = indoubt::complete_lookup{}};

    explicit notebook_shop(std::filesystem::path const& file) : orders_(file) {
        orders_.run("CREATE TABLE IF NOT EXISTS orders "
                    "(id TEXT PRIMARY KEY, payload TEXT, receipt TEXT)");
    }

    reply submit(attempt const& a) {
        auto const id = std::string(a.key());
        orders_.run("INSERT OR IGNORE INTO orders VALUES (?, ?, ?)", id, a.bytes(),
                    "receipt-" + id);
        auto const row = find(id).at(0);
        if (row[0] != a.bytes()) return conflict{.other_parameters = true};
        if (std::exchange(loses_next_reply, false)) {
            network_is_up = false;
            return unknown{"timeout"};
        }
        return accepted{row[1]};
    }

    answer lookup(query const& q) {
        if (!network_is_up) return unavailable{"timeout"};
        complete found;
        for (auto const& row : find(q.key)) {
            auto content = indoubt::codec<order>::decode(row[0]);
            if (!content) return incomplete{};
            found.effects.push_back({row[1], std::string(q.key), std::move(content).value()});
        }
        return found;
    }

    bool loses_next_reply = false; ///< and the network with it
    bool network_is_up = true;

private:
    std::vector<database::row> find(std::string_view id) {
        return orders_.run("SELECT payload, receipt FROM orders WHERE id = ?", id);
    }
    database orders_;
};

void expect(bool holds, std::string_view what) {
    if (!holds) throw std::runtime_error("FAIL: " + std::string(what));
}

template <class T> T checked(indoubt::result<T> r) {
    if (!r) throw std::runtime_error("FAIL: " + r.error().message());
    return std::move(r).value();
}

using outcome = indoubt::result<indoubt::confirmation<std::string>>;

std::string in_words(outcome const& done) {
    if (done) {
        auto const& found = done.value();
        return (found.before_this_run ? "already verified, " : "verified, ") + found.receipt;
    }
    auto const& error = done.error();
    return (error.in_doubt() ? "in doubt: " : "refused: ") + error.message();
}

void exercise(temporary_directory const& folder) {
    auto const journal = (folder / "journal.db").string();
    auto const records = folder / "shop.db";
    (void)checked(indoubt::sqlite_storage::create(journal)); // once, and closed again
    notebook_shop shop(records);

    indoubt::identity const id{"coordinator", "OP-001"};
    struct report {
        outcome done;
        indoubt::state_id state; ///< what the journal says afterwards
    };
    // Every run opens the journal anew, as a program does that was started again.
    auto run = [&](order const& wanted) {
        indoubt::policies<notebook_shop&, indoubt::sqlite_storage> with{
            .provider = shop,
            .storage = checked(indoubt::sqlite_storage::open(journal)),
            .budget = {.first_delay = 1ms, .first_look_delay = 1ms}};
        indoubt::recovery reservations(std::move(with));
        auto done = reservations.run(id, wanted);
        auto const record = checked(reservations.recorded(id));
        std::cout << "   outcome  " << in_words(done) << "\n   journal  " << to_string(record.state)
                  << ", attempts: " << record.attempts.size() << "\n\n";
        return report{std::move(done), record.state};
    };
    order const notebook{"practice-notebook", 1};

    std::cout << "1. Reserve one notebook; the network goes down after the shop has saved it.\n";
    shop.loses_next_reply = true;
    auto lost = run(notebook);
    expect(!lost.done && lost.done.error().in_doubt(), "a lost reply leaves doubt");
    expect(lost.state == indoubt::state_id::uncertain, "the doubt is in the journal");
    expect(database(records).number("SELECT count(*) FROM orders") == 1, "the shop saved it");

    std::cout << "2. The network is back; run it again.\n";
    shop.network_is_up = true;
    auto again = run(notebook);
    expect(again.done && !again.done.value().before_this_run, "the reservation is found");
    expect(again.state == indoubt::state_id::confirmed, "the journal says so");
    expect(again.done.value().attempts == 1, "it was not sent again");

    std::cout << "3. And once more.\n";
    auto third = run(notebook);
    expect(third.done && third.done.value().before_this_run, "it was verified already");

    std::cout << "4. Two notebooks under the same identity.\n";
    auto changed = run({notebook.item, 2});
    expect(!changed.done && changed.done.error().rule() == indoubt::rule::conflicting_intent,
           "changed content is refused");
    expect(changed.state == indoubt::state_id::confirmed, "the first order stands");

    auto const rows = database(records).number("SELECT count(*) FROM orders");
    std::cout << "Rows at the shop: " << rows << '\n';
    expect(rows == 1, "one reservation");
}

} // namespace

int main() {
    try {
        exercise(temporary_directory("recovery_lab"));
        std::cout << "PASS: lost reply reconciled; one row at the shop; changed content refused\n";
    } catch (std::exception const& e) {
        std::cout << e.what() << '\n';
        return 1;
    }
}
