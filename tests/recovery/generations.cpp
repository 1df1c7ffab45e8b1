// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#include <recovery/by_hand.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

// The same intent again under a new provider key: only of what surely was not applied, and with an
// eye on what an earlier key may still bring.

namespace {

using namespace scene;
using shop = provider_of<std::string>;
using outcome = attempt_outcome_id;

auto const request_lost = shop_of<decltype(bare)>::request_lost;
auto const applied = shop_of<decltype(bare)>::applied;
auto const down = shop_of<decltype(bare)>::down;

by const ann{"ann", "it is wanted after all"};

/// Shows what is there under the present key and under all former ones.
shop::answer under_all_keys(shop::query const& q, world& w) {
    shop::complete all;
    std::vector<std::string> keys(q.former_keys.begin(), q.former_keys.end());
    keys.emplace_back(q.key);
    for (auto const& key : keys) {
        for (auto const& f : w.visible(key))
            all.effects.push_back({f.receipt, f.key, f.request, f.ours, f.status});
    }
    return all;
}
auto const refuses = [](shop::attempt const&, world&) -> shop::keyed_reply { return refused{}; };

/// Rejected, with one call made.
template <class Scene> void rejected_once(Scene& s) {
    s.shop.always_on_lookup(under_all_keys);
    s.shop.on_submit(refuses);
    CHECK(s.run().has_error());
    REQUIRE(s.state() == state_id::rejected);
}
template <class Scene> auto supersede(Scene& s, by const& who = ann, grant more = {}) {
    auto p = s.start();
    return p.supersede(s.id, who, more);
}
template <class Scene> shop::effect effect_under(Scene const& s, std::string key) {
    return {.receipt = "late", .key = std::move(key), .request = s.request};
}

TEST_SUITE_BEGIN("generations");

TEST_CASE("a new generation has a new key, and belongs to the same operation [I02b]") {
    for (bool const cancelled : {false, true}) {
        CAPTURE(cancelled);
        one_shop s(bare);
        if (cancelled) {
            s.shop.always_on_lookup(down);
            CHECK(s.run().has_error());
            REQUIRE(s.cancel());
            s.shop.always_on_lookup(under_all_keys);
        } else {
            rejected_once(s);
        }
        auto const before = s.stored();
        auto const done = supersede(s);
        REQUIRE(done);
        CHECK(done.value().state == state_id::pending);
        s.cut_power(); // what was told is durable
        auto const r = s.stored();
        CHECK(r.operation == before.operation);
        CHECK(r.generation == 2);
        CHECK(r.key() == "order-1-2");
        CHECK(r.notes_or_none().former_keys == std::vector<std::string>{"order-1"});
        CHECK_FALSE(r.cancel_requested);
        REQUIRE(r.notes_or_none().decisions.size() == 1);
        CHECK(r.notes_or_none().decisions[0].what == "supersede");
        CHECK(r.notes_or_none().decisions[0].why == "it is wanted after all");

        s.shop.on_submit([&](shop::attempt const& a, world& w) {
            CHECK(a.key() == "order-1-2");
            CHECK(a.number() == before.attempts.size() + 1);
            return applied(a, w);
        });
        auto const told = s.run();
        REQUIRE(told);
        CHECK(s.truth->effects() == 1);
        CHECK(s.truth->effects("order-1-2") == 1);
        CHECK(s.truth->distinct_bodies() == 1);
        CHECK(s.stored().attempts.back().generation == 2);
        CHECK(s.run());
        CHECK(s.truth->effects() == 1);
    }
}

TEST_CASE(
    "it is refused while an attempt may have been applied, and after it was confirmed [I02c]") {
    one_shop s(bare);
    s.shop.on_submit(request_lost);
    s.shop.always_on_lookup([](shop::query const&, world& w) -> shop::answer {
        if (w.sends() == 0) return shop::complete{};
        return unavailable{};
    });
    auto const refused = [&](state_id where) {
        REQUIRE(s.state() == where);
        auto const before = s.stored().version;
        CHECK(supersede(s).error().rule() == rule::illegal_decision);
        CHECK(s.stored().version == before);
        auto p = s.start(); // and no key was taken for it
        CHECK(p.journal().bind_key({"shop", "x"}, "scripted", "order-1-2", {}));
        s.journal.power_cut();
    };
    CHECK(s.run({.deadline = 50ms}).has_error());
    refused(state_id::uncertain);
    CHECK(s.run().has_error());
    refused(state_id::in_review);
    s.shop.always_on_lookup(under_all_keys);
    s.truth->apply("order-1", s.request);
    CHECK(s.run());
    refused(state_id::confirmed);
    CHECK(s.truth->sends() == 1);
    CHECK(s.truth->effects() == 1);
}

TEST_CASE("what it asks for stays: another request is another operation") {
    one_shop s(bare);
    rejected_once(s);
    REQUIRE(supersede(s));
    CHECK(s.run(s.id, "two notebooks").error().rule() == rule::conflicting_intent);
    CHECK(s.truth->sends() == 1);
}

TEST_CASE("there are so many generations and no more, and the last refusal takes no key [H19]") {
    one_shop s(bare);
    rejected_once(s);
    for (std::uint32_t n = 2; n <= most_generations; ++n) {
        REQUIRE(supersede(s));
        REQUIRE(s.stored().generation == n);
        s.shop.on_submit(refuses);
        CHECK(s.run().error().state() == state_id::rejected);
    }
    CHECK(supersede(s).error().rule() == rule::illegal_decision);
    CHECK(s.stored().generation == most_generations);
    CHECK(s.truth->distinct_keys() == most_generations);
    CHECK(s.truth->sends() == most_generations);
    CHECK(s.truth->effects() == 0);
    auto const next = "order-1-" + std::to_string(most_generations + 1);
    CHECK(s.run({"shop", next}, s.request)); // somebody else's key may be that
}

TEST_CASE("a key of an earlier generation is never taken again, by whomever [H19]") {
    one_shop s(bare);
    rejected_once(s);
    REQUIRE(supersede(s));
    for (auto const* key : {"order-1", "order-1-2"}) {
        CHECK(s.run({"another scope", key}, s.request).error().rule() == rule::key_taken);
    }
    CHECK(s.run({"shop", "order-1-2"}, s.request).error().rule() == rule::key_taken);
    CHECK(s.truth->sends() == 1);
}

TEST_CASE("a new key that somebody has, or that does not fit, is not taken: nothing changes") {
    one_shop s(bare);
    REQUIRE(s.run({"shop", "order-1-2"}, "a pen"));
    rejected_once(s);
    auto const before = s.stored().version;
    CHECK(supersede(s).error().rule() == rule::key_taken);
    CHECK(s.stored().version == before);

    constexpr contract narrow{.lookup = complete_lookup{}, .keys = {.longest = 8}};
    one_shop t(narrow);
    rejected_once(t);
    auto const as_it_was = t.stored().version;
    CHECK(supersede(t).error().rule() == rule::unfit_key);
    CHECK(t.stored().version == as_it_was);
}

template <class Contract> struct mapping_shop : shop_of<Contract> {
    using shop_of<Contract>::shop_of;
    std::string key_for(identity const& id, unsigned n) const {
        if (stuck && n > 1) return id.key + "/1";
        return id.key + "/" + std::to_string(n);
    }
    bool stuck = false;
};

TEST_CASE("a mapping makes the new key; one that ignores the generation is refused [H19]") {
    one_shop<std::remove_const_t<decltype(bare)>, mapping_shop<std::remove_const_t<decltype(bare)>>>
        s(bare);
    rejected_once(s);
    s.shop.stuck = true;
    CHECK(supersede(s).error().rule() == rule::illegal_decision);
    s.shop.stuck = false;
    REQUIRE(supersede(s));
    CHECK(s.stored().key() == "order-1/2");
    CHECK(s.stored().notes_or_none().former_keys == std::vector<std::string>{"order-1/1"});
    CHECK(s.run());
    CHECK(s.truth->effects("order-1/2") == 1);
}

TEST_CASE("attempts and deadline are counted anew") {
    one_shop s(bare);
    s.budget.attempts = 2;
    s.budget.overall = 1h;
    for (int i = 0; i != 2; ++i)
        s.shop.on_submit([](shop::attempt const&, world&) { return not_sent{}; });
    CHECK(s.run().error().rule() == rule::attempts_spent);
    s.clock.advance(2h);
    REQUIRE(supersede(s, ann, {.overall = 30min}));
    CHECK(s.stored().deadline == s.clock.wall() + 30min);
    CHECK(s.stored().tries() == 0);
    s.shop.on_submit([](shop::attempt const&, world&) { return not_sent{}; });
    CHECK(s.run());
    CHECK(s.truth->sends() == 4);
    CHECK(s.truth->effects() == 1);
    CHECK(s.stored().first_sent() == s.stored().attempts[2].sent_at);

    one_shop t(bare);
    t.budget.overall = 1h;
    rejected_once(t);
    t.clock.advance(2h);
    REQUIRE(supersede(t));
    CHECK(t.stored().deadline == time_point::max());
    CHECK(t.run());
}

TEST_CASE("a window opens anew with the first send under the new key") {
    one_shop s(deduplicating);
    rejected_once(s);
    s.clock.advance(24h);
    REQUIRE(supersede(s));
    s.shop.on_submit(request_lost);
    CHECK(s.run()); // lost, and sent again under the guarantee
    CHECK(s.truth->sends() == 3);
    CHECK(s.truth->effects() == 1);
}

// ---- late effects of earlier keys ---------------------------------------------------------------

TEST_CASE("look-ups are told the keys of all earlier generations") {
    one_shop s(bare);
    rejected_once(s);
    REQUIRE(supersede(s));
    s.shop.on_submit(refuses);
    CHECK(s.run().has_error());
    REQUIRE(supersede(s));
    std::vector<std::string> asked;
    s.shop.on_lookup([&](shop::query const& q, world& w) {
        asked.assign(q.former_keys.begin(), q.former_keys.end());
        CHECK(q.key == "order-1-3");
        return under_all_keys(q, w);
    });
    CHECK(s.run());
    CHECK(asked == std::vector<std::string>{"order-1", "order-1-2"});
}

TEST_CASE("an effect under an earlier key is a contradiction, and nothing more is sent [H19]") {
    for (bool const told : {false, true}) {
        CAPTURE(told);
        one_shop s(bare);
        rejected_once(s);
        REQUIRE(supersede(s));
        s.truth->apply("order-1", s.request); // the first call was applied after all
        if (told) {
            auto p = s.start();
            CHECK(p.observe(s.id, effect_under(s, "order-1")).error().rule() == rule::late_effect);
        } else {
            CHECK(s.run().error().rule() == rule::late_effect);
        }
        auto const r = s.stored();
        CHECK(r.state == state_id::in_review);
        CHECK(r.concern == concern::contradiction);
        CHECK(r.notes_or_none().remarks == (told ? "ours: late" : "ours: r-1"));
        CHECK(s.run().error().rule() == rule::late_effect);
        CHECK(s.truth->sends() == 1);
        CHECK(s.truth->effects() == 1);
    }
}

TEST_CASE("so it is after the new generation was sent, confirmed or settled [H19]") {
    for (auto const where : {state_id::confirmed, state_id::uncertain, state_id::rejected}) {
        CAPTURE(to_string(where));
        one_shop s(deduplicating);
        rejected_once(s);
        REQUIRE(supersede(s));
        if (where == state_id::rejected) s.shop.on_submit(refuses);
        if (where == state_id::uncertain) s.shop.on_submit(request_lost);
        (void)s.run({.deadline = where == state_id::uncertain ? 50ms : 10'000ms});
        REQUIRE(s.state() == where);
        auto p = s.start();
        CHECK(p.observe(s.id, effect_under(s, "order-1")).error().rule() == rule::late_effect);
        CHECK(s.state() == state_id::in_review);
        auto const sends = s.truth->sends();
        CHECK(s.run().has_error());
        CHECK(s.truth->sends() == sends);
    }
}

TEST_CASE("an effect under an earlier key that failed is none") {
    one_shop s(bare);
    rejected_once(s);
    REQUIRE(supersede(s));
    s.truth->put({.key = "order-1",
                  .request = s.request,
                  .receipt = "failed",
                  .status = effect_status::failed_for_good});
    CHECK(s.run());
    CHECK(s.truth->effects() == 1);
}

TEST_CASE("the late effect of an earlier key can be adopted: it is the one effect then [H19]") {
    one_shop s(bare);
    rejected_once(s);
    REQUIRE(supersede(s));
    s.truth->apply("order-1", s.request);
    CHECK(s.run().error().rule() == rule::late_effect);
    auto p = s.start();
    REQUIRE(p.adopt(s.id, "r-1", ann));
    for (int reruns = 0; reruns != 2; ++reruns) {
        auto const again = s.run();
        REQUIRE(again);
        CHECK(again.value().receipt == "r-1");
        CHECK(s.state() == state_id::confirmed);
    }
    CHECK(p.observe(s.id, shop::effect{.receipt = "r-1", .key = "order-1", .request = s.request}));
    CHECK(s.truth->sends() == 1);
    // One under the present key is a second one.
    s.truth->put({.key = "order-1-2", .request = s.request, .receipt = "r-2"});
    CHECK(s.run().error().rule() == rule::several_effects);
}

TEST_CASE("dismissed beside the confirmed one, an effect of an earlier key contradicts no more") {
    one_shop s(bare);
    rejected_once(s);
    REQUIRE(supersede(s));
    REQUIRE(s.run());
    s.truth->put({.key = "order-1", .request = s.request, .receipt = "late"});
    CHECK(s.run().error().rule() == rule::late_effect);
    auto p = s.start();
    REQUIRE(p.dismiss(s.id, ann, {"late"}));
    CHECK(s.run());
    CHECK(s.run());
    CHECK(s.truth->effects() == 1);
}

// ---- replies to calls of earlier generations ----------------------------------------------------

TEST_CASE("a late acceptance of an earlier call is a late effect, whatever is known now [H19]") {
    for (bool const sent : {false, true}) {
        CAPTURE(sent);
        one_shop s(deduplicating);
        rejected_once(s);
        REQUIRE(supersede(s));
        if (sent) s.shop.on_submit(request_lost);
        if (sent) CHECK(s.run({.deadline = 50ms}).has_error());
        auto p = s.start();
        shop::keyed_reply const late = shop::accepted_with_key{"late", "order-1"};
        CHECK(p.observe(s.id, late, 1).error().rule() == rule::late_effect);
        auto const r = s.stored();
        CHECK(r.state == state_id::in_review);
        CHECK(r.receipt.empty()); // it is no hint for the present generation
        CHECK(r.notes_or_none().remarks == "ours: late");
    }
}

TEST_CASE("a refusal of an earlier call says nothing of the present generation") {
    one_shop s(bare);
    rejected_once(s);
    REQUIRE(supersede(s));
    auto const before = s.stored().version;
    auto p = s.start();
    for (shop::keyed_reply const& r :
         {shop::keyed_reply(refused{}), {not_sent{}}, {conflict{.other_parameters = true}}}) {
        CHECK(p.observe(s.id, r, 1).has_error()); // the provider repeats itself
        CHECK(s.stored().version == before);
    }
    CHECK(s.run());
    CHECK(s.truth->effects("order-1-2") == 1);
}

TEST_CASE("receipts of all generations belong to the operation for ever [I04b]") {
    one_shop s(bare);
    s.shop.on_submit([](shop::attempt const& a, world&) -> shop::keyed_reply {
        return shop::accepted_with_key{"r-1", std::string(a.key())}; // and it is not true
    });
    CHECK(s.run().has_error());
    s.clock.advance(1min);
    auto p = s.start();
    REQUIRE(p.rule_out(s.id, ann));
    REQUIRE(p.cancel(s.id));
    REQUIRE(p.supersede(s.id, ann));
    CHECK(s.stored().receipt.empty());
    s.cut_power();
    s.id = {"shop", "order-7"};
    CHECK(s.run().error().rule() == rule::receipt_taken); // the world's first receipt is r-1
}

TEST_SUITE_END();

} // namespace
