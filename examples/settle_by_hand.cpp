// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)

// What a person in charge does: lists what waits, asks the service, and decides. Each decision says
// who made it and why, and is kept in the record. The next run goes on from it.
// docs/settle_by_hand.md says which decision fits.

#include <indoubt.hpp>
#include <indoubt/adapter/canonical_json.hpp>

#include <algorithm>
#include <chrono>
#include <iostream>
#include <optional>
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

using namespace indoubt;
using namespace std::chrono_literals;

/// Stands in for a remote service that drops repeats of a key.
struct order_service {
    struct entry {
        std::string number, key;
        order content;
    };
    std::vector<entry> entries;
    bool loses_requests = false;
    bool can_be_asked = true;

    std::string add(std::string_view key, order const& content) {
        entries.push_back({"no. " + std::to_string(++last), std::string(key), content});
        return entries.back().number;
    }
    void remove(std::string_view number) {
        std::erase_if(entries, [&](entry const& e) { return e.number == number; });
    }
    int last = 0;
};

struct order_provider : provider_of<order> {
    static constexpr auto target = "example.com/orders";
    static constexpr indoubt::contract contract{
        .resend = deduplicated_by_key{.window = unlimited,
                                      .documented_at = "https://example.com/idempotency"},
        .lookup = complete_lookup{},
        .call_timeout = 500ms};

    explicit order_provider(order_service& s) : service(s) {}

    reply submit(attempt const& a) {
        if (service.loses_requests) return unknown{"timeout"};
        return accepted{service.add(a.key(), a.request())};
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

using order_recovery = recovery<policies<order_provider, memory_storage>>;

/// What waits for a person, page by page.
result<void> list_reviews(order_recovery& orders) {
    auto each = [](unsettled_operation const& u) {
        if (u.stored.state != state_id::in_review) return;
        std::cout << printable(u.stored.identity()) << ": " << to_string(u.reason);
        auto const& remarks = u.stored.notes_or_none().remarks;
        if (!remarks.empty()) std::cout << " [" << remarks << ']';
        std::cout << '\n';
    };
    for (std::optional<page> next(std::in_place); next;) {
        BOOST_OUTCOME_TRY(next, orders.unsettled(each, *next));
    }
    return success();
}

/// From then on no call can be under way. What the service does not show before may still arrive.
time_point landed_at(record const& r) {
    time_point landed{};
    for (auto const& a : r.attempts)
        landed = std::max(landed, later(a.sent_at, a.guarantee.arrives_within));
    return landed;
}

/// Nothing of it was applied: the next run sends it again.
result<record> was_not_applied(order_recovery& orders, identity const& id, by const& person) {
    BOOST_OUTCOME_TRY(auto const stored, orders.recorded(id));
    orders.journal().wait_until(landed_at(stored), {});
    // Now the person asks the service, and only then says so.
    return orders.rule_out(id, person);
}

template <class T> bool say(char const* what, result<T> const& decided) {
    std::cout << what << ": " << (decided ? "done" : decided.error().message()) << '\n';
    return decided.has_value();
}

} // namespace

int main() {
    order_service service;
    // Forgets everything; a real program uses sqlite_storage.
    order_recovery orders({.provider = order_provider(service),
                           .storage = {},
                           .budget = {.attempts = 1, .first_delay = 1ms, .looks = 2}});
    auto run = [&](identity const& id) {
        auto done = orders.run(id, {"notebook", 1});
        std::cout << (done ? printable(id) + ": " + done.value().receipt : done.error().message())
                  << '\n';
        return done.has_value();
    };
    identity const lost{"hand", "lost"}, slow{"hand", "slow"}, unclear{"hand", "unclear"},
        twice{"hand", "twice"}, shared{"hand", "shared"}, stopped{"hand", "stopped"};

    service.loses_requests = true;
    for (auto const& id : {lost, slow, unclear, twice})
        (void)run(id);
    service.loses_requests = false;
    service.add("twice", {"notebook", 1}); // it did arrive, and somebody sent it once more
    service.add("twice", {"notebook", 1});
    (void)run(twice);
    (void)run(shared);
    service.add("shared", {"notebook", 1}); // a colleague has copied the order, key and all
    (void)run(shared);
    service.can_be_asked = false; // so that nothing is sent
    (void)run(stopped);
    (void)orders.cancel(stopped, {"ann", "the customer called"});
    service.can_be_asked = true;

    bool ok = say("listed", list_reviews(orders));

    ok &= say("not applied", was_not_applied(orders, lost, {"ann", "their support has no order"}));

    ok &= say("try on", orders.resume(slow, {"ann", "they were down, and drop repeats"},
                                      {.extra_attempts = 3, .overall = 24h}));

    service.remove("no. 2");
    ok &= say("this one", orders.adopt(twice, "no. 1", {"bob", "the second one was deleted"}));

    ok &=
        say("none of ours", orders.dismiss(shared, {"bob", "no. 4 is a copy, theirs"}, {"no. 4"}));

    ok &= say("nobody knows", orders.abandon(unclear, {"bob", "their records are gone"}));

    // With an id the same decision can be given again, after a time-out of a form, say.
    by const again{"ann", "the customer called again", "ticket 812"};
    ok &= say("wanted after all", orders.supersede(stopped, again));
    ok &= say("the same once more", orders.supersede(stopped, again));

    for (auto const& id : {lost, slow, twice, shared, stopped})
        ok &= run(id);
    ok &= !run(unclear);
    return ok && service.entries.size() == 6 ? 0 : 1;
}
