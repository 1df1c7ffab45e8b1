// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#include <recovery/by_hand.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

// What people decide about an operation in review, and what the next run makes of it. Adoptions
// are in adoptions.cpp, new generations in provider_keys.cpp, what all decisions share in
// decisions.cpp.

namespace {

using namespace scene;
using shop = provider_of<std::string>;
using outcome = attempt_outcome_id;

auto const applied_reply_lost = shop_of<decltype(bare)>::applied_reply_lost;
auto const request_lost = shop_of<decltype(bare)>::request_lost;
auto const down = shop_of<decltype(bare)>::down;
auto const empty = shop_of<decltype(bare)>::empty;
auto const truthful = shop_of<decltype(bare)>::truthful;

by const ann{"ann", "she asked them"};

/// In review by doubt: the call was lost, nothing is shown, and nothing can be under way any more.
template <class Scene> void doubtful(Scene& s) {
    s.shop.on_submit(request_lost);
    CHECK(s.run().has_error());
    REQUIRE(s.state() == state_id::in_review);
    REQUIRE(s.stored().concern == concern::doubt);
    s.clock.advance(1min);
}
template <class Scene> shop::effect effect_of(Scene const& s, std::string receipt) {
    return {.receipt = std::move(receipt), .key = s.id.key, .request = s.request};
}

TEST_SUITE_BEGIN("reviews");

// ---- not applied --------------------------------------------------------------------------------

TEST_CASE("ruled out, it is sent once more under its key, with its bytes [W03]") {
    one_shop s(bare);
    doubtful(s);
    auto const before = s.stored();
    auto p = s.start();
    auto const done = p.rule_out(s.id, ann);
    REQUIRE(done);
    CHECK(done.value().state == state_id::pending);
    s.cut_power(); // what was told is durable
    auto const ruled = s.stored();
    CHECK(ruled.state == state_id::pending);
    CHECK(ruled.attempts[0].outcome == outcome::declared_not_applied);
    CHECK(ruled.attempts.size() == 1);
    CHECK(ruled.first_sent() == before.first_sent());
    CHECK(ruled.intent->fingerprint == before.intent->fingerprint);

    CHECK(s.run());
    auto const after = s.stored();
    CHECK(after.attempts.size() == 2);
    CHECK(after.attempts[0].outcome == outcome::declared_not_applied);
    CHECK(after.first_sent() == before.first_sent());
    CHECK(s.truth->effects() == 1);
    CHECK(s.truth->sends() == 2);
    CHECK(s.truth->distinct_keys() == 1);
    CHECK(s.truth->distinct_bodies() == 1);
}

TEST_CASE("ruled out, it is still looked for first: a wrong word sends nothing") {
    one_shop s(bare);
    s.shop.on_submit(applied_reply_lost);
    s.shop.always_on_lookup(empty);
    CHECK(s.run().error().state() == state_id::in_review);
    s.clock.advance(1min);
    auto p = s.start();
    REQUIRE(p.rule_out(s.id, ann)); // she was wrong
    s.shop.always_on_lookup(truthful);
    CHECK(s.run());
    CHECK(s.truth->sends() == 1);
    CHECK(s.truth->effects() == 1);
}

TEST_CASE("a ruling allows one send more than the budget, or as many as are granted") {
    for (unsigned const granted : {0U, 1U, 2U}) {
        CAPTURE(granted);
        one_shop s(bare);
        s.budget.attempts = 1;
        doubtful(s);
        auto p = s.start();
        REQUIRE(p.rule_out(s.id, ann, {.extra_attempts = granted}));
        for (int i = 0; i != 5; ++i)
            s.shop.on_submit(
                [](shop::attempt const&, world&) { return refused{.for_good = false}; });
        auto const spent = s.run();
        CHECK(spent.error().state() == state_id::cancelled);
        CHECK(spent.error().rule() == rule::attempts_spent);
        CHECK(s.truth->sends() == 1 + granted);
    }
}

TEST_CASE("a ruling may give a deadline, from now on") {
    one_shop s(bare);
    s.budget.overall = 1h;
    doubtful(s);
    s.clock.advance(2h); // that one is over
    auto p = s.start();
    REQUIRE(p.rule_out(s.id, ann, {.overall = 10min}));
    CHECK(s.stored().deadline == s.clock.wall() + 10min);
    s.clock.advance(10min);
    CHECK(s.run().error().rule() == rule::deadline_reached);
    CHECK(s.state() == state_id::cancelled);
    CHECK(s.truth->sends() == 1);
}

TEST_CASE("while a call may be under way nobody can rule it out [H10]") {
    one_shop s(deduplicating); // a call arrives within a minute
    s.budget.attempts = 1;
    s.shop.on_submit(request_lost);
    CHECK(s.run().error().rule() == rule::attempts_spent);
    auto p = s.start();
    auto const sent = s.stored().last_sent();
    s.clock.advance(sent + 1min - 1ms - s.clock.wall());
    auto const early = p.rule_out(s.id, ann).error();
    CHECK(early.rule() == rule::illegal_decision);
    CHECK(early.detail() == "a call may be under way");
    CHECK(early.again_at() == sent + 1min);
    CHECK(s.state() == state_id::in_review);
    s.clock.advance(1ms);
    CHECK(p.rule_out(s.id, ann));
}

TEST_CASE("ruled out with a cancel requested: the next run cancels, and never sends [H5]") {
    one_shop s(bare);
    doubtful(s);
    REQUIRE(s.cancel());
    auto p = s.start();
    REQUIRE(p.rule_out(s.id, ann));
    for (int runs = 0; runs != 2; ++runs) {
        CHECK(s.run().error().state() == state_id::cancelled);
        s.cut_power();
    }
    CHECK(s.truth->sends() == 1);
}

TEST_CASE("what was ever confirmed is never ruled out: it would be made again [H7]") {
    one_shop s(prompt);
    REQUIRE(s.run());
    s.truth->remove(s.id.key);
    CHECK(s.run().error().rule() == rule::effect_missing);
    auto p = s.start();
    CHECK(p.rule_out(s.id, ann).error().rule() == rule::illegal_decision);
    CHECK(p.resume(s.id, ann).error().rule() == rule::illegal_decision);
    // Nor after a dismissal and another contradiction.
    REQUIRE(p.dismiss(s.id, ann));
    CHECK(p.observe(s.id, effect_of(s, "r-9")).error().rule() == rule::several_effects);
    CHECK(p.rule_out(s.id, ann).error().rule() == rule::illegal_decision);
    CHECK(s.run().has_error());
    CHECK(s.truth->sends() == 1);
}

TEST_CASE("what came to review from a final state is dismissed, not ruled out [H7]") {
    for (bool const cancelled : {false, true}) {
        one_shop s(bare);
        if (cancelled) {
            s.shop.on_lookup(down, s.budget.looks);
            CHECK(s.run().has_error());
            REQUIRE(s.cancel());
        } else {
            s.shop.on_submit([](shop::attempt const&, world&) { return refused{}; });
            CHECK(s.run().has_error());
        }
        auto const from = s.state();
        auto const sends = s.truth->sends();
        auto p = s.start();
        CHECK(p.observe(s.id, effect_of(s, "late")).error().rule() == rule::late_effect);
        CHECK(p.rule_out(s.id, ann).error().rule() == rule::illegal_decision);
        CHECK(p.resume(s.id, ann).error().rule() == rule::illegal_decision);
        REQUIRE(p.dismiss(s.id, ann, {"late"}));
        CHECK(s.state() == from);
        s.cut_power();
        CHECK(s.run().error().state() == from);
        CHECK(s.truth->sends() == sends);
    }
}

TEST_CASE("a restored copy goes on after a ruling, and only then [H16]") {
    one_shop s(bare);
    s.shop.on_lookup(down, s.budget.looks);
    CHECK(s.run().error().state() == state_id::pending);
    s.journal.restore();
    CHECK(s.run().error().rule() == rule::restored_copy);
    auto p = s.start();
    REQUIRE(p.resume(s.id, ann)); // "go on" does not say that it was not sent
    CHECK(s.run().has_error());
    CHECK(s.state() == state_id::in_review);
    CHECK(s.truth->sends() == 0);
    REQUIRE(p.rule_out(s.id, ann));
    CHECK(s.run());
    CHECK(s.truth->sends() == 1);
}

// ---- go on --------------------------------------------------------------------------------------

TEST_CASE("resumed, it is sent again under the same key, where a guarantee is open [H18]") {
    one_shop s(deduplicating);
    s.budget.attempts = 1;
    s.budget.overall = 5min;
    s.shop.on_submit(applied_reply_lost);
    s.shop.always_on_lookup(empty);
    CHECK(s.run().error().rule() == rule::attempts_spent);
    s.clock.advance(10min);
    auto p = s.start();
    auto const done = p.resume(s.id, ann, {.extra_attempts = 2, .overall = 20min});
    REQUIRE(done);
    CHECK(done.value().state == state_id::uncertain);
    CHECK(done.value().deadline == s.clock.wall() + 20min);
    CHECK(done.value().extra_attempts == 2);
    s.cut_power();
    s.shop.on_submit([&](shop::attempt const& a, world& w) {
        s.shop.always_on_lookup(truthful);
        return shop_of<decltype(bare)>::applied(a, w);
    });
    CHECK(s.run());
    CHECK(s.truth->sends() == 2);
    CHECK(s.truth->effects() == 1);
    CHECK(s.truth->distinct_keys() == 1);
    CHECK(s.truth->distinct_bodies() == 1);
}

TEST_CASE("resumed without a guarantee it makes nothing safe: it ends in review again") {
    one_shop s(bare);
    doubtful(s);
    auto p = s.start();
    for (int times = 0; times != 2; ++times) {
        REQUIRE(p.resume(s.id, ann, {.extra_attempts = 9}));
        CHECK(s.run().error().rule() == rule::no_guarantee);
        CHECK(s.state() == state_id::in_review);
    }
    CHECK(s.truth->sends() == 1);
    REQUIRE(p.resume(s.id, ann));
    s.truth->apply(s.id.key, s.request); // it had only been slow
    CHECK(s.run());
    CHECK(s.truth->sends() == 1);
}

TEST_CASE("neither a contradiction nor what is to be cancelled is resumed") {
    one_shop s(bare);
    doubtful(s);
    REQUIRE(s.cancel());
    auto p = s.start();
    CHECK(p.resume(s.id, ann).error().rule() == rule::illegal_decision);

    one_shop torn(bare);
    doubtful(torn);
    auto q = torn.start();
    auto other = effect_of(torn, "r-1");
    other.request = "two notebooks";
    CHECK(q.observe(torn.id, other).error().rule() == rule::contents_differ);
    CHECK(q.resume(torn.id, ann).error().rule() == rule::illegal_decision);
    CHECK(q.dismiss(torn.id, ann).error().rule() == rule::illegal_decision); // it was never settled
    CHECK(torn.state() == state_id::in_review);
}

// ---- none of ours -------------------------------------------------------------------------------

/// The operation is settled in this state, and then an effect is told of that cannot be.
template <class Scene> rule contradicted_in(Scene& s, state_id settled) {
    using enum state_id;
    if (settled == cancelled) s.shop.on_lookup(down, s.budget.looks);
    if (settled == abandoned) s.shop.on_submit(request_lost);
    if (settled == rejected) {
        s.shop.on_submit([](shop::attempt const&, world&) {
            return refused{.because = refusal_class::invalid_input};
        });
    }
    (void)s.run();
    auto p = s.start();
    if (settled == cancelled) REQUIRE(p.cancel(s.id));
    if (settled == abandoned) REQUIRE(p.abandon(s.id, {"ben", "enough"}));
    REQUIRE(s.state() == settled);
    return p.observe(s.id, effect_of(s, "r-8")).error().rule();
}

TEST_CASE("dismissed, it is what it was, and what was named contradicts no more [H18]") {
    using enum state_id;
    for (auto const settled : {confirmed, rejected, cancelled, abandoned}) {
        CAPTURE(to_string(settled));
        one_shop s(bare);
        auto const why = contradicted_in(s, settled);
        CHECK(why == (settled == confirmed ? rule::several_effects : rule::late_effect));
        auto p = s.start();
        auto const done = p.dismiss(s.id, ann, {"r-8"});
        REQUIRE(done);
        CHECK(done.value().state == settled);
        s.cut_power();
        CHECK(s.state() == settled);
        CHECK(s.stored().concern == concern::none);
        CHECK(p.observe(s.id, effect_of(s, "r-8")).has_value() == (settled == confirmed));
        CHECK(s.state() == settled);
        CHECK(s.run().has_value() == (settled == confirmed));

        CHECK(p.observe(s.id, effect_of(s, "r-9")).error().rule() == why); // another one does
        CHECK(s.state() == in_review);
        REQUIRE(p.dismiss(s.id, ann, {"r-9"}));
        for (auto const* both : {"r-8", "r-9"}) {
            (void)p.observe(s.id, effect_of(s, both));
            CHECK(s.state() == settled);
        }
    }
}

TEST_CASE("dismissed without a name, the same effect contradicts again") {
    one_shop s(bare);
    CHECK(contradicted_in(s, state_id::rejected) == rule::late_effect);
    auto p = s.start();
    REQUIRE(p.dismiss(s.id, ann));
    CHECK(s.state() == state_id::rejected);
    CHECK(p.observe(s.id, effect_of(s, "r-8")).error().rule() == rule::late_effect);
}

TEST_CASE("the confirmed effect itself is none that could be dismissed") {
    one_shop s(bare);
    CHECK(contradicted_in(s, state_id::confirmed) == rule::several_effects);
    auto const before = s.stored().version;
    auto p = s.start();
    CHECK(p.dismiss(s.id, ann, {"r-8", "r-1"}).error().rule() == rule::illegal_decision);
    CHECK(s.stored().version == before);
    REQUIRE(p.dismiss(s.id, ann, {"r-8"}));
    CHECK(s.run().value().receipt == "r-1");
}

// ---- nobody will know ---------------------------------------------------------------------------

TEST_CASE("abandoned, its identity and key are blocked for ever [W03]") {
    one_shop s(bare);
    doubtful(s);
    auto p = s.start();
    REQUIRE(p.abandon(s.id, ann));
    s.cut_power();
    CHECK(s.state() == state_id::abandoned);
    auto const looks = s.truth->looks();
    for (int runs = 0; runs != 2; ++runs) {
        for (auto const& done : {s.run(), s.reconcile()}) {
            CHECK(done.error().rule() == rule::abandoned_by_person);
            CHECK(done.error().in_doubt());
        }
        s.clock.advance(24h * 365);
    }
    CHECK(s.truth->looks() == looks);
    CHECK(s.truth->sends() == 1);
    CHECK(s.run(s.id, "another").error().rule() == rule::conflicting_intent);
    CHECK(s.run({"another scope", s.id.key}, s.request).error().rule() == rule::key_taken);
    CHECK(s.truth->sends() == 1);
    CHECK(s.unsettled().empty());

    auto again = s.start();
    std::vector<std::function<result<record>()>> const all{
        [&] { return again.adopt(s.id, "r-1", ann); }, [&] { return again.rule_out(s.id, ann); },
        [&] { return again.resume(s.id, ann); },       [&] { return again.dismiss(s.id, ann); },
        [&] { return again.abandon(s.id, ann); },      [&] { return again.supersede(s.id, ann); }};
    for (auto const& decide : all)
        CHECK(decide().error().rule() == rule::illegal_decision);
    CHECK(s.state() == state_id::abandoned);
}

TEST_SUITE_END();

} // namespace
