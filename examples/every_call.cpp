// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)

// What a program can ask of a recovery, one call after the other. docs/recovery.md explains them.

#include <indoubt.hpp>
#include <indoubt/adapter/canonical_json.hpp>

#include <chrono>
#include <iostream>
#include <stop_token>
#include <string>
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
};

struct order_provider : indoubt::provider_of<order> {
    static constexpr auto target = "example.com/orders";
    static constexpr indoubt::contract contract{.lookup = indoubt::complete_lookup{}};

    explicit order_provider(order_service& s) : service(s) {}

    reply submit(attempt const& a) {
        auto number = "no. " + std::to_string(service.entries.size() + 1);
        service.entries.push_back({number, std::string(a.key()), a.request()});
        return unknown{};
    }
    answer lookup(query const& q) {
        if (!service.can_be_asked) return unavailable{};
        complete found;
        for (auto const& [number, key, content] : service.entries) {
            if (key == q.key) found.effects.push_back({number, key, content});
        }
        return found;
    }

    order_service& service;
};

using order_recovery =
    indoubt::recovery<indoubt::policies<order_provider, indoubt::memory_storage>>;

void place(order_recovery& orders, indoubt::identity const& id, order const& wanted,
           std::stop_token const& shutdown) {
    auto done = orders.run(id, wanted, {.deadline = 5s, .stop = shutdown});
    std::cout << (done ? "placed: " + done.value().receipt : done.error().message()) << '\n';
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

} // namespace

int main() {
    order_service service;
    std::stop_source shutdown;
    // Forgets everything; a real program uses sqlite_storage.
    order_recovery orders({.provider = order_provider(service),
                           .storage = {},
                           .budget = {.looks = 2, .first_look_delay = 1ms}});

    place(orders, {"calls", "1"}, {"notebook", 1}, shutdown.get_token());
    ask(orders, {"calls", "1"});

    service.can_be_asked = false; // then nothing is sent either
    place(orders, {"calls", "2"}, {"pencil", 12}, shutdown.get_token());
    list(orders);
    service.can_be_asked = true;
    ask(orders, {"calls", "2"});
    give_up(orders, {"calls", "2"});

    give_up(orders, {"calls", "1"});
    show(orders, {"calls", "1"});
    show(orders, {"calls", "2"});
    show(orders, {"calls", "3"});
    return service.entries.size() == 1 ? 0 : 1;
}
