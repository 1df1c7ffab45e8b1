// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#include <recovery/by_hand.hpp>

#include <doctest/doctest.h>

#include <concepts>
#include <string>
#include <type_traits>
#include <utility>

// Histories that broke a machine without the rule they are named after. Here they end well.

namespace {

using namespace scene;
using shop = provider_of<std::string>;

auto const applied_reply_lost = shop_of<decltype(bare)>::applied_reply_lost;
auto const request_lost = shop_of<decltype(bare)>::request_lost;
auto const down = shop_of<decltype(bare)>::down;
auto const empty = shop_of<decltype(bare)>::empty;
auto const truthful = shop_of<decltype(bare)>::truthful;

auto reply_with(shop::keyed_reply r) {
    return [r](shop::attempt const&, world&) { return r; };
}

TEST_SUITE_BEGIN("histories");

template <class E>
inline constexpr bool used_once = !std::is_copy_constructible_v<E> &&
                                  !std::is_copy_assignable_v<E> && std::is_move_constructible_v<E>;
static_assert(used_once<clearance> && used_once<resend_clearance> && used_once<match> &&
              used_once<non_application> && used_once<refusal> && used_once<contradiction> &&
              used_once<doubt> && used_once<attempt_outcome> && used_once<cancellation>);

TEST_CASE("evidence that was kept while the record moved on is refused and changes nothing [H2]") {
    one_shop s(deduplicating);
    auto p = s.start();
    auto& book = p.journal();
    auto allowed = departed(book, s, deduplicating);
    auto now = [&](record const& r) { return book.moment(r, s.budget, deduplicating); };

    auto first = taken<uncertain>(book, s.id); // version 1 of what is uncertain
    auto kept_seen = replied(first, deduplicating, not_sent{});
    auto kept_leave =
        decided<resend_clearance>(first, deduplicating, absence(first, deduplicating), [&] {
            s.clock.advance(1min);
            return now(first.stored());
        }());
    auto kept_word = decided<non_application>(first, deduplicating, kept_seen, now(first.stored()));

    REQUIRE(p.cancel(s.id)); // the record moves on
    auto const moved = s.stored().version;
    auto stale = decide(taken<uncertain>(book, s.id), deduplicating, kept_seen, now(s.stored()));
    REQUIRE(stale.get_if<stop>() != nullptr);
    CHECK(stale.get_if<stop>()->rule == rule::stale_version);
    auto sent = book.write(resend(taken<uncertain>(book, s.id), std::move(kept_leave)));
    REQUIRE(sent.has_error());
    CHECK(sent.error().rule() == rule::stale_version);
    auto reopened = book.write(reopen(taken<uncertain>(book, s.id), std::move(kept_word)));
    REQUIRE(reopened.has_error());
    CHECK(reopened.error().rule() == rule::stale_version);
    CHECK(s.stored().version == moved);
    CHECK(s.stored().open_attempts() == 1);
}

TEST_CASE("evidence about another operation is refused and changes nothing [H2]") {
    one_shop s(bare);
    auto p = s.start();
    auto& book = p.journal();
    auto mine = begun(book, s);
    s.id = {"shop", "another"};
    auto other = begun(book, s);
    auto const now = book.moment(mine.stored(), s.budget, bare);
    auto cleared = decided<clearance>(other, bare, absence(other, bare), now);
    auto foreign = decide(mine, bare, absence(other, bare), now);
    REQUIRE(foreign.get_if<stop>() != nullptr);
    CHECK(foreign.get_if<stop>()->rule == rule::foreign_evidence);
    auto const before = mine.stamp();
    auto sent = dispatch(std::move(mine), std::move(cleared));
    REQUIRE(sent.has_error());
    CHECK(sent.error().rule() == rule::foreign_evidence);
    CHECK(mine.stamp() == before); // unchanged, and still usable
    CHECK(mine.stored().attempts.empty());
}

TEST_CASE("a pending operation always has a way on: over time, tries or deadline [H3]") {
    one_shop late(bare);
    late.budget.overall = 1h;
    late.shop.on_lookup(down, late.budget.looks);
    CHECK(late.run().error().state() == state_id::pending);
    late.clock.advance(2h);
    auto const over = late.run();
    CHECK(over.error().state() == state_id::cancelled);
    CHECK(over.error().rule() == rule::deadline_reached);
    CHECK(late.truth->sends() == 0);

    one_shop refused_thrice(bare);
    for (int i = 0; i != 5; ++i)
        refused_thrice.shop.on_submit(reply_with(not_sent{}));
    auto const spent = refused_thrice.run();
    CHECK(spent.error().state() == state_id::cancelled);
    CHECK(spent.error().rule() == rule::attempts_spent);
    CHECK_FALSE(spent.error().in_doubt());
    CHECK(refused_thrice.truth->sends() == 3);
}

TEST_CASE("past the deadline nothing is given up before it was looked at [H3, H26]") {
    one_shop s(deduplicating);
    s.budget.overall = 1h;
    s.shop.on_submit(applied_reply_lost);
    s.shop.on_lookup(empty);
    s.shop.on_lookup(down, s.budget.looks);
    CHECK(s.run().error().state() == state_id::uncertain);
    s.clock.advance(2h);
    s.shop.on_lookup(down); // the first look after the deadline fails; there are more
    CHECK(s.run());
    CHECK(s.truth->effects() == 1);
}

TEST_CASE("a service that nobody can ask is written to, and resent to under its keys [H4]") {
    one_shop s(proving);
    s.shop.on_submit(applied_reply_lost);
    auto const done = s.run();
    REQUIRE(done);
    CHECK(s.truth->sends() == 2);
    CHECK(s.truth->effects() == 1);
    CHECK(s.truth->looks() == 0);

    one_shop late(proving);
    late.shop.on_submit(request_lost);
    CHECK(late.run({.deadline = 50ms}).has_error());
    late.clock.advance(1h); // the window is over
    auto const closed = late.run();
    REQUIRE(closed.has_error());
    CHECK(closed.error().rule() == rule::window_closed);
    CHECK(closed.error().state() == state_id::in_review);
    CHECK(late.truth->sends() == 1);
}

TEST_CASE("a cancel outlives the attempt that was open when it came [H5]") {
    one_shop s(deduplicating);
    auto p = s.start();
    auto& book = p.journal();
    (void)departed(book, s, deduplicating);
    REQUIRE(p.cancel(s.id));
    auto op = taken<uncertain>(book, s.id);
    auto const seen = replied(op, deduplicating, not_sent{});
    auto word = decided<non_application>(op, deduplicating, seen,
                                         book.moment(op.stored(), s.budget, deduplicating));
    REQUIRE(book.write(reopen(std::move(op), std::move(word))));
    REQUIRE(book.flush());
    CHECK(s.stored().state == state_id::pending);
    s.cut_power();
    CHECK(s.run().error().state() == state_id::cancelled);
    CHECK(s.truth->sends() == 0);
}

TEST_CASE("'not applied', said of a cancelled operation, does not send it [H5]") {
    one_shop s(bare);
    s.shop.on_submit(request_lost);
    CHECK(s.run().error().state() == state_id::in_review);
    REQUIRE(s.cancel());
    s.clock.advance(1min);
    auto p = s.start();
    auto& book = p.journal();
    auto op = taken<in_review>(book, s.id);
    ruling word(op.stamp(), {"ann", "asked them"}, book.now());
    REQUIRE(book.write(rule_out(std::move(op), std::move(word))));
    CHECK(p.run(s.id, s.request).error().state() == state_id::cancelled);
    CHECK(s.truth->sends() == 1);
}

TEST_CASE("a contradiction does not leave review by itself, whatever replicas show [H6]") {
    one_shop s(bare);
    s.shop.on_submit([](shop::attempt const& a, world& w) -> shop::keyed_reply {
        w.apply(a.key(), a.bytes());
        w.apply(a.key(), a.bytes());
        return unknown{};
    });
    CHECK(s.run().error().rule() == rule::several_effects);
    auto const one = [](shop::query const& q, world& w) -> shop::answer {
        auto f = w.visible(q.key).front();
        return shop::complete{{{f.receipt, f.key, f.request}}};
    };
    for (auto const& replica : {shop_of<decltype(bare)>::inspection(one), {truthful}, {empty}}) {
        s.shop.always_on_lookup(replica);
        for (bool look_only : {false, true}) {
            auto const again = look_only ? s.reconcile() : s.run();
            REQUIRE(again.has_error());
            CHECK(again.error().rule() == rule::several_effects);
            CHECK(s.state() == state_id::in_review);
        }
    }
    CHECK(s.truth->sends() == 1);

    // Nor where somebody looks by hand and finds the one effect that should be there.
    auto p = s.start();
    auto op = taken<in_review>(p.journal(), s.id);
    shop::effect const it{.receipt = "r-1", .key = s.id.key, .request = s.request};
    auto const shown = weigh(bare, op, shop::answer(shop::complete{{it}}));
    REQUIRE(shown.what == seen::match);
    auto const next = decide(op, bare, shown, p.journal().moment(op.stored(), s.budget, bare));
    REQUIRE(next.get_if<stop>() != nullptr);
    CHECK(next.get_if<stop>()->rule == rule::several_effects);
}

TEST_CASE("what is missing and seen again needs no person; what differs does [H6]") {
    one_shop s(prompt);
    REQUIRE(s.run());
    s.shop.on_lookup(empty);
    CHECK(s.run().error().rule() == rule::effect_missing);
    CHECK(s.run()); // the very same effect is shown again
    CHECK(s.state() == state_id::confirmed);

    s.shop.on_lookup(empty);
    CHECK(s.run().error().rule() == rule::effect_missing);
    s.truth->remove(s.id.key);
    s.truth->put({.key = s.id.key, .request = s.request, .receipt = "another"});
    auto const replaced = s.run();
    REQUIRE(replaced.has_error());
    CHECK(replaced.error().rule() == rule::several_effects);
    CHECK(s.truth->sends() == 1);
}

/// The process stops between the mark and the call: `meanwhile` happens there.
template <class Contract, class Meanwhile>
auto run_with_a_pause(one_shop<Contract>& s, run_options options, Meanwhile meanwhile) {
    hooked_storage pausing(s.journal);
    hooked_process<Contract> p({s.shop, pausing, {}, s.budget, s.clock, s.ears});
    pausing.before_flush = [&] { meanwhile(p); }; // the first flush is that of the mark
    return p.run(s.id, s.request, options);
}

TEST_CASE("a pause before the call, past the operation's deadline: nothing is sent [H8]") {
    one_shop s(bare);
    s.budget.overall = 1h;
    auto const done = run_with_a_pause(s, {.deadline = 24h}, [&](auto&) { s.clock.advance(2h); });
    REQUIRE(done.has_error());
    CHECK(done.error().rule() == rule::deadline_reached);
    CHECK(done.error().state() == state_id::cancelled);
    CHECK(s.truth->sends() == 0);
    CHECK(s.stored().attempts[0].outcome == attempt_outcome_id::not_sent);
}

TEST_CASE("a pause before the call, past the deadline of this run: nothing is sent [H8]") {
    one_shop s(bare);
    auto const done =
        run_with_a_pause(s, {.deadline = 1min}, [&](auto&) { s.clock.advance(2min); });
    REQUIRE(done.has_error());
    CHECK(done.error().rule() == rule::deadline_reached);
    CHECK(done.error().state() == state_id::pending);
    CHECK(s.truth->sends() == 0);
    CHECK(s.run());
    CHECK(s.truth->effects() == 1);
}

TEST_CASE("a pause before a resend, past the window: it is not made [H8]") {
    one_shop s(deduplicating);
    s.shop.on_submit(request_lost);
    CHECK(s.run({.deadline = 50ms}).has_error());
    s.clock.advance(10min);
    auto const done =
        run_with_a_pause(s, {.deadline = 24h}, [&](auto&) { s.clock.advance(50min); });
    REQUIRE(done.has_error());
    CHECK(done.error().rule() == rule::window_closed);
    CHECK(done.error().state() == state_id::in_review);
    CHECK(s.truth->sends() == 1);
    CHECK(s.stored().open_attempts() == 1); // the first one; the second never left
}

TEST_CASE("a pause before a resend, past the operation's deadline: it is not made [H8]") {
    one_shop s(deduplicating);
    s.budget.overall = 20min;
    s.shop.on_submit(request_lost);
    CHECK(s.run({.deadline = 50ms}).has_error());
    s.clock.advance(10min);
    auto const done =
        run_with_a_pause(s, {.deadline = 24h}, [&](auto&) { s.clock.advance(10min); });
    REQUIRE(done.has_error());
    CHECK(done.error().rule() == rule::deadline_reached);
    CHECK(done.error().in_doubt());
    CHECK(s.truth->sends() == 1);
}

TEST_CASE("a cancel between the mark and the call: nothing is sent [H8]") {
    one_shop s(bare);
    auto const done = run_with_a_pause(s, {}, [&](auto& p) { REQUIRE(p.cancel(s.id)); });
    REQUIRE(done.has_error());
    CHECK(done.error().state() == state_id::cancelled);
    CHECK(s.truth->sends() == 0);
}

TEST_CASE("a second worker leaves what the first one has marked and not yet sent [H10]") {
    one_shop s(bare);
    auto const done = run_with_a_pause(s, {}, [&](auto& p) {
        auto second = s.start();
        for (auto const& other :
             {second.run(s.id, s.request), second.reconcile(s.id), p.run(s.id, s.request)}) {
            REQUIRE(other.has_error());
            CHECK(other.error().rule() == rule::in_progress);
        }
        CHECK(s.state() == state_id::uncertain); // and not in review, where it could be ruled out
    });
    CHECK(done);
    CHECK(s.truth->sends() == 1);
}

TEST_CASE("'not applied' is not open while the call may still be under way [H10]") {
    for (bool over : {false, true}) {
        one_shop s(prompt); // a call takes at most a second
        s.shop.on_submit(request_lost);
        CHECK(s.run().error().state() == state_id::in_review);
        auto const sent = s.stored().attempts.at(0).sent_at;
        auto p = s.start();
        auto op = taken<in_review>(p.journal(), s.id);
        ruling word(op.stamp(), {"ann", "asked them"}, sent + (over ? 1'000ms : 999ms));
        auto const ruled = p.journal().write(rule_out(std::move(op), std::move(word)));
        CHECK(ruled.has_value() == over);
        if (!over) CHECK(ruled.error().rule() == rule::illegal_decision);
        CHECK(s.state() == (over ? state_id::pending : state_id::in_review));
    }
}

TEST_SUITE_END();

} // namespace
