// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)

// What a program can ask of a recovery, one call after the other. docs/recovery.md explains them.

#include <indoubt.hpp>
#include <indoubt/adapter/canonical_json.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <map>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

struct order {
    std::string item;
    int quantity;
};
BOOST_HANA_ADAPT_STRUCT(order, item, quantity);

namespace {

using namespace std::chrono_literals;

// Stands in for a remote service. It takes every order, and its replies never arrive.
struct order_service {
    struct entry {
        std::string number, key;
        order content;
    };
    std::vector<entry> entries;
    bool can_be_asked = true;
    bool loses_requests = false;
};

struct order_provider : indoubt::provider_of<order> {
    static constexpr auto target = "example.com/orders";
    static constexpr indoubt::contract contract{.lookup = indoubt::complete_lookup{},
                                                .call_timeout = 50ms};

    explicit order_provider(order_service& s) : service(s) {}

    reply submit(attempt const& a) {
        if (service.loses_requests) return unknown{};
        auto number = "no. " + std::to_string(service.entries.size() + 1);
        service.entries.push_back({number, std::string(a.key()), a.request()});
        return unknown{};
    }
    /// One call of the service for several orders. run_all uses it.
    std::vector<reply> submit(std::span<attempt const> all) {
        std::vector<reply> replies;
        for (attempt const& a : all)
            replies.push_back(submit(a)); // stands in for reading the reply of each
        return replies;
    }
    answer lookup(query const& q) {
        if (!service.can_be_asked) return unavailable{};
        complete found;
        for (auto const& [number, key, content] : service.entries) {
            bool const asked_for = key == q.key || number == q.receipt;
            if (asked_for) found.effects.push_back({number, key, content});
        }
        return found;
    }

    order_service& service;
};

/// Goods are put aside before an order is placed, and are free again once it surely was not.
struct free_goods {
    std::map<indoubt::identity, int>& put_aside; // of one thread only, in this program

    bool on_unapplied(indoubt::unapplied_operation const& u) {
        auto const unplaced = indoubt::codec<order>::decode(u.request);
        if (!unplaced) return false; // written by another program: it stays owed

        // Freed once, however often this is called.
        bool const freed = put_aside.erase(u.identity) != 0;
        if (freed) std::cout << "free again: " << unplaced.value().item << '\n';
        return true;
    }
};

auto order_policies(order_service& service, std::map<indoubt::identity, int>& put_aside) {
    // Forgets everything; a real program uses sqlite_storage.
    return indoubt::policies{.provider = order_provider(service),
                             .storage = indoubt::memory_storage(),
                             .budget = {.first_delay = 1ms, .looks = 2, .first_look_delay = 1ms},
                             .hooks = free_goods{put_aside}};
}

using order_recovery = indoubt::recovery<decltype(order_policies(
    std::declval<order_service&>(), std::declval<std::map<indoubt::identity, int>&>()))>;

void place(order_recovery& orders, indoubt::identity const& id, order const& wanted,
           std::stop_token const& shutdown) {
    auto done = orders.run(id, wanted, {.deadline = 5s, .stop = shutdown});
    std::cout << (done ? "placed: " + done.value().receipt : done.error().message()) << '\n';
}

using order_batch = std::vector<std::pair<indoubt::identity, order>>;

/// Returns: what is still open, for the next call.
order_batch place_all(order_recovery& orders, order_batch const& batch) {
    auto const done = orders.run_all(batch, {.deadline = 10s});
    order_batch open;
    for (std::size_t i = 0; i != batch.size(); ++i) {
        auto const& [id, wanted] = batch[i];
        std::cout << printable(id) << (done[i] ? " is placed\n" : " is not, or nobody knows\n");
        if (!done[i] && done[i].error().in_doubt()) open.push_back(batch[i]);
    }
    return open;
}

void ask(order_recovery& orders, indoubt::identity const& id) {
    auto known = orders.reconcile(id);
    if (known) {
        std::cout << "it is there: " << known.value().receipt << '\n';
    } else if (known.error().rule() == indoubt::rule::nothing_sent) {
        std::cout << "it is not there, and is not under way\n";
    } else {
        std::cout << known.error().message() << '\n';
    }
}

void show(order_recovery& orders, indoubt::identity const& id) {
    auto stored = orders.recorded(id);
    if (!stored) {
        std::cout << stored.error().message() << '\n';
        return;
    }
    indoubt::record const& r = stored.value();
    std::cout << printable(id) << " is " << to_string(r.state)
              << ", attempts: " << r.attempts.size() << '\n';
}

void give_up(order_recovery& orders, indoubt::identity const& id) {
    auto asked = orders.cancel(id, {"ann", "the customer called"});
    if (!asked) {
        std::cout << asked.error().message() << '\n';
    } else if (asked.value().state == indoubt::state_id::cancelled) {
        std::cout << "cancelled; it was never applied, and never will be\n";
    } else {
        std::cout << "it is " << to_string(asked.value().state) << ", and is not sent again\n";
    }
}

void list(order_recovery& orders) {
    auto each = [](indoubt::unsettled_operation const& u) {
        std::cout << printable(u.stored.identity()) << " is " << to_string(u.stored.state);
        if (u.reason != indoubt::rule::none) std::cout << ": " << to_string(u.reason);
        std::cout << '\n';
    };
    auto next = orders.unsettled(each, {.most = 20}); // the first page
    if (!next) std::cout << next.error().message() << '\n';
}

// ---- evidence from outside ----------------------------------------------------------------------

void webhook(order_recovery& orders, indoubt::identity const& id,
             order_provider::effect const& made) {
    auto known = orders.observe(id, made);
    std::cout << (known ? "told: " + known.value().receipt : known.error().message()) << '\n';
}

void late_reply(order_recovery& orders, indoubt::identity const& id, std::string number,
                std::uint32_t attempt) {
    order_provider::reply const came = order_provider::accepted{std::move(number)};
    auto known = orders.observe(id, came, attempt);
    std::cout << (known ? "told: " + known.value().receipt : known.error().message()) << '\n';
}

// ---- decisions of people ------------------------------------------------------------------------

void decided(indoubt::result<indoubt::record> const& now) {
    std::cout << (now ? to_string(now.value().state) : now.error().message()) << '\n';
}

void it_is_there(order_recovery& orders, indoubt::identity const& id, std::string const& number) {
    decided(orders.adopt(id, number, {"ann", "their support named it"}));
}

void it_is_not(order_recovery& orders, indoubt::identity const& id) {
    decided(orders.rule_out(id, {"ann", "their support has no such order"}));
}

void go_on(order_recovery& orders, indoubt::identity const& id) {
    decided(orders.resume(id, {"ann", "the outage is over"}, {.extra_attempts = 3, .overall = 1h}));
}

void not_ours(order_recovery& orders, indoubt::identity const& id, std::string const& number) {
    decided(orders.dismiss(id, {"bob", "a copy that they made for a test"}, {number}));
}

void close_it(order_recovery& orders, indoubt::identity const& id) {
    decided(orders.abandon(id, {"bob", "their records are gone"}));
}

void once_more(order_recovery& orders, indoubt::identity const& id) {
    decided(orders.supersede(id, {"ann", "the customer wants it after all", "ticket 812"}));
}

// ---- coming back --------------------------------------------------------------------------------

void worth_a_run(order_recovery& orders) {
    auto const now = orders.journal().now();
    auto each = [&](indoubt::due_operation const& d) {
        std::cout << printable(d.stored.identity()) << " is due for "
                  << (now - d.from < 1min ? "less than a minute" : "a minute or more") << '\n';
    };
    auto next = orders.due(now, each);
    if (!next) std::cout << next.error().message() << '\n';
}

/// One round over all that is due.
indoubt::result<void> finish_what_is_due(order_recovery& orders, std::stop_token const& shutdown) {
    auto each = [](indoubt::identity const& id, auto const& done) {
        std::cout << printable(id) << " is "
                  << (done ? "confirmed" : to_string(done.error().state())) << '\n';
    };
    indoubt::cycle c{
        .where = {.most = 50}, .most_looks = 100, .each = {.deadline = 10s, .stop = shutdown}};
    for (std::optional next(c.where); next && !shutdown.stop_requested();) {
        c.where = *next;
        BOOST_OUTCOME_TRY(next, orders.resume_all(each, c));
    }
    return indoubt::success();
}

/// Of what was settled before last month only what answers a repeat stays.
indoubt::result<std::size_t> forget_old_ones(order_recovery& orders) {
    std::size_t all = 0;
    for (std::size_t some = 1; some != 0; all += some) {
        BOOST_OUTCOME_TRY(some, orders.shrink_settled(31 * 24h));
    }
    return all;
}

} // namespace

int main() {
    order_service service;
    std::stop_source shutdown;
    std::map<indoubt::identity, int> put_aside;
    order_recovery orders(order_policies(service, put_aside));

    place(orders, {"calls", "1"}, {"notebook", 1}, shutdown.get_token());
    ask(orders, {"calls", "1"});

    service.can_be_asked = false; // then nothing is sent either
    put_aside[{"calls", "2"}] = 12;
    place(orders, {"calls", "2"}, {"pencil", 12}, shutdown.get_token());
    list(orders);
    service.can_be_asked = true;
    ask(orders, {"calls", "2"});
    give_up(orders, {"calls", "2"});
    bool const freed = put_aside.empty();

    give_up(orders, {"calls", "1"});
    show(orders, {"calls", "1"});
    show(orders, {"calls", "2"});
    show(orders, {"calls", "3"});

    service.loses_requests = true;
    for (char const* key : {"4", "5", "6", "7", "8"})
        place(orders, {"calls", key}, {"eraser", 3}, shutdown.get_token());
    service.loses_requests = false;
    orders.journal().wait_until(orders.journal().now() + 60ms, {}); // no call is under way then
    webhook(orders, {"calls", "4"}, {"no. 40", "4", order{"eraser", 3}});
    late_reply(orders, {"calls", "5"}, "no. 50", 1);

    service.entries.push_back({"no. 50", "5", {"eraser", 3}}); // now it is shown, too
    it_is_there(orders, {"calls", "5"}, "no. 50");
    it_is_not(orders, {"calls", "6"});
    go_on(orders, {"calls", "7"});
    close_it(orders, {"calls", "8"});
    once_more(orders, {"calls", "2"});
    service.entries.push_back({"no. 60", "1", {"notebook", 1}});
    place(orders, {"calls", "1"}, {"notebook", 1}, shutdown.get_token());
    not_ours(orders, {"calls", "1"}, "no. 60");

    bool const all_placed =
        place_all(orders, {{{"calls", "9"}, {"ruler", 1}}, {{"calls", "10"}, {"stapler", 2}}})
            .empty();

    worth_a_run(orders);
    auto const finished = finish_what_is_due(orders, shutdown.get_token());
    auto const forgotten = forget_old_ones(orders);
    return freed && all_placed && finished && forgotten && service.entries.size() == 7 ? 0 : 1;
}
