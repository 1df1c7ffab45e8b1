// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)

// The decisions of a person, made through the journal of a recovery. Each names who decided and
// why, and is kept in the record. The recovery goes on from it the next time it is run.

#include <indoubt.hpp>
#include <indoubt/adapter/canonical_json.hpp>

#include <algorithm>
#include <chrono>
#include <iostream>
#include <string>
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
        auto number = "no. " + std::to_string(service.entries.size() + 1);
        service.entries.push_back({number, std::string(a.key()), a.request()});
        return accepted{std::move(number)};
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

using order_recovery = recovery<policies<order_provider, memory_storage>>;
using order_journal = journal<memory_storage, system_clock>;

void list_reviews(order_recovery& orders) {
    auto each = [](unsettled_operation const& u) {
        if (u.stored.state != state_id::in_review) return;
        std::cout << printable(u.stored.identity())
                  << " waits for a person: " << to_string(u.reason) << '\n';
    };
    auto more = orders.unsettled(each);
    if (!more) std::cout << more.error().message() << '\n';
}

/// The operation, if it is in the state that a decision is about.
template <state S> result<operation<S>> find_in(order_journal& book, identity const& id) {
    BOOST_OUTCOME_TRY(auto found, book.find(id));
    if (!found) return error(rule::not_recorded).of(printable(id));
    if (auto* op = found->template get_if<operation<S>>()) return std::move(*op);
    return error(rule::illegal_decision).of(printable(id)); // settled meanwhile, perhaps
}

/// Returns when no call can be under way any more. Ask the service after that: what it does not
/// show before may still arrive.
result<void> let_calls_land(order_journal& book, identity const& id) {
    BOOST_OUTCOME_TRY(auto op, find_in<in_review>(book, id));
    time_point landed{};
    for (auto const& a : op.stored().attempts)
        landed = std::max(landed, later(a.sent_at, a.guarantee.arrives_within));
    book.wait_until(landed, {});
    return success();
}

/// Nothing of it was applied: the next run sends it again.
result<void> was_not_applied(order_journal& book, identity const& id, by const& person) {
    BOOST_OUTCOME_TRY(auto op, find_in<in_review>(book, id));
    ruling word(op.stamp(), person, book.now());
    BOOST_OUTCOME_TRY(book.write(rule_out(std::move(op), std::move(word))));
    return book.flush();
}

/// Nobody knows yet, and it is worth more tries: they are made where the guarantee allows them.
result<void> try_on(order_journal& book, identity const& id, by const& person) {
    BOOST_OUTCOME_TRY(auto op, find_in<in_review>(book, id));
    time_point const now = book.now();
    resumption<uncertain> word(op.stamp(), person, now, 3, now + 24h);
    BOOST_OUTCOME_TRY(book.write(resume(std::move(op), std::move(word))));
    return book.flush();
}

/// Nobody will ever know. The identity and its key stay blocked.
result<void> close_unknown(order_journal& book, identity const& id, by const& person) {
    BOOST_OUTCOME_TRY(auto op, find_in<in_review>(book, id));
    abandonment word(op.stamp(), person, book.now());
    BOOST_OUTCOME_TRY(book.write(abandon(std::move(op), std::move(word))));
    return book.flush();
}

/// It was cancelled, and is wanted after all: the same intent again, under a new key.
result<void> want_again(order_journal& book, identity const& id, by const& person) {
    BOOST_OUTCOME_TRY(auto op, find_in<cancelled>(book, id));
    auto key = id.key + "-" + std::to_string(op.stored().generation + 1);
    supersession word(op.stamp(), person, book.now(), std::move(key));
    BOOST_OUTCOME_TRY(book.write(supersede(std::move(op), std::move(word))));
    return book.flush();
}

void say(char const* what, result<void> const& decided) {
    std::cout << what << ": " << (decided ? "done" : decided.error().message()) << '\n';
}

} // namespace

int main() {
    order_service service;
    // Forgets everything; a real program uses sqlite_storage.
    order_recovery orders({.provider = order_provider(service),
                           .storage = {},
                           .budget = {.attempts = 1, .first_delay = 1ms, .looks = 2}});
    order_journal& book = orders.journal();
    auto run = [&](identity const& id) {
        auto done = orders.run(id, {"notebook", 1});
        std::cout << (done ? printable(id) + ": " + done.value().receipt : done.error().message())
                  << '\n';
        return done.has_value();
    };

    service.loses_requests = true;
    (void)run({"hand", "1"});
    (void)run({"hand", "2"});
    (void)run({"hand", "3"});
    service.loses_requests = false;
    service.can_be_asked = false; // so that nothing is sent
    (void)run({"hand", "4"});
    (void)orders.cancel({"hand", "4"}, {"ann", "the customer called"});
    service.can_be_asked = true;

    list_reviews(orders);
    say("calls have landed", let_calls_land(book, {"hand", "1"}));
    say("not applied", was_not_applied(book, {"hand", "1"}, {"ann", "their support has no order"}));
    say("try on", try_on(book, {"hand", "2"}, {"ann", "they drop repeats"}));
    say("outcome unknown", close_unknown(book, {"hand", "3"}, {"bob", "their records are gone"}));
    say("wanted again", want_again(book, {"hand", "4"}, {"ann", "the customer called again"}));

    bool const sent = run({"hand", "1"}) && run({"hand", "2"}) && run({"hand", "4"});
    bool const closed = !run({"hand", "3"});
    return sent && closed && service.entries.size() == 3 ? 0 : 1;
}
