// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)

// The smallest complete program: one service, one order, one journal. It runs the order twice, as a
// program does that was started again because the first reply never came.
//
//     first_provider [JOURNAL]
//
// A journal whose path is given is kept, to be looked at. Give a new path each time: the service
// here forgets its orders when the program ends, and a confirmed order that is gone is a matter for
// a person.

#include <indoubt.hpp>
#include <indoubt/adapter/canonical_json.hpp>
#include <indoubt/adapter/sqlite_storage.hpp>

#include <chrono>
#include <filesystem>
#include <iostream>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <unistd.h>

using namespace std::chrono_literals;

struct order {
    std::string item;
    int quantity;
};
BOOST_HANA_ADAPT_STRUCT(order, item, quantity);

// Stands in for a remote service: it takes every order, and its replies never arrive.
struct order_service {
    struct entry {
        std::string number, key;
        order content;
    };
    std::vector<entry> entries;

    std::optional<std::string> create(std::string_view key, order const& content) {
        auto number = "no. " + std::to_string(entries.size() + 1);
        entries.push_back({number, std::string(key), content});
        return std::nullopt;
    }
};

struct order_provider : indoubt::provider_of<order> {
    static constexpr auto target = "example.com/orders";
    // What the service documents: orders can be looked up. Nothing makes a second send safe.
    static constexpr indoubt::contract contract{.lookup = indoubt::complete_lookup{}};

    explicit order_provider(order_service& s) : service(s) {}

    reply submit(attempt const& a) {
        auto const number = service.create(a.key(), a.request());
        if (!number) return unknown{}; // a timeout proves nothing
        return accepted{*number};
    }

    answer lookup(query const& q) {
        complete found;
        for (auto const& [number, key, content] : service.entries) {
            bool const asked_for = key == q.key || number == q.receipt;
            if (asked_for) found.effects.push_back({number, key, content});
        }
        return found;
    }

    order_service& service;
};

// Created once. A journal that is there is opened, and never replaced: it may know of a write.
indoubt::result<indoubt::sqlite_storage> open_journal(std::string const& path) {
    if (!std::filesystem::exists(path)) return indoubt::sqlite_storage::create(path);
    return indoubt::sqlite_storage::open(path);
}

bool place_order(order_service& service, std::string const& path) {
    auto journal = open_journal(path);
    if (!journal) {
        std::cerr << journal.error().message() << '\n';
        return false;
    }
    indoubt::recovery orders{indoubt::policies{.provider = order_provider(service),
                                               .storage = std::move(journal).value(),
                                               .budget = {.attempts = 10, .overall = 24h}}};

    // The identity stands for what is meant: the same in every run, a new one for another order.
    auto done = orders.run({"tutorial", "order-1"}, {"notebook", 1});
    if (done) {
        std::cout << (done.value().before_this_run ? "already confirmed: " : "confirmed: ")
                  << done.value().receipt << '\n';
    } else if (done.error().state() == indoubt::state_id::in_review) {
        std::cout << "a person must decide, running it again only looks: " << done.error().message()
                  << '\n';
    } else if (done.error().in_doubt()) {
        std::cout << "may have happened, run it again later: " << done.error().message() << '\n';
    } else {
        std::cout << "not done: " << done.error().message() << '\n';
    }
    return done.has_value();
}

int main(int argc, char** argv) {
    auto const scratch =
        std::filesystem::temp_directory_path() / ("first_provider." + std::to_string(::getpid()));
    std::string const path = argc > 1 ? argv[1] : scratch.string();
    order_service service;

    bool const first = place_order(service, path);
    bool const second = place_order(service, path);
    std::cout << "orders at the service: " << service.entries.size() << '\n';
    std::filesystem::remove(scratch);
    return first && second && service.entries.size() == 1 ? 0 : 1;
}
