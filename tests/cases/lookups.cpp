// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#include <scene.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <string>

// What a look-up shows, and what its silence does not.

namespace {

using namespace scene;
using shop = provider_of<std::string>;

auto const applied_reply_lost = shop_of<decltype(bare)>::applied_reply_lost;
auto const request_lost = shop_of<decltype(bare)>::request_lost;
auto const down = shop_of<decltype(bare)>::down;
auto const empty = shop_of<decltype(bare)>::empty;
auto const truthful = shop_of<decltype(bare)>::truthful;

/// The first look-up, before anything is sent, works; then the given answer.
template <class Answer> auto once_sent(Answer then) {
    return [=](shop::query const& q, world& w) -> shop::answer {
        return w.sends() == 0 ? shop::complete{} : then(q, w);
    };
}

TEST_SUITE_BEGIN("cases: look-ups");

TEST_CASE("absence now is not 'never': the effect may still land [U04]") {
    one_shop s(bare);
    s.budget.first_look_delay = 1min; // one look-up a call
    s.budget.longest_delay = 1min;
    s.shop.on_submit(applied_reply_lost);
    s.shop.on_lookup(empty, 1 + 3);

    auto const sent = s.run({.deadline = 10s}); // the first of the three
    REQUIRE(sent.has_error());
    for (int looked = 2; looked <= 3; ++looked) {
        CHECK(s.state() == state_id::uncertain);
        s.clock.advance(1min);
        auto const again = s.reconcile({.deadline = 10s});
        REQUIRE(again.has_error());
        CHECK(again.error().rule() == rule::not_yet_visible);
        CHECK(again.error().in_doubt());
    }
    CHECK(s.truth->looks() == 4);
    CHECK(s.state() == state_id::uncertain);
    s.clock.advance(1min);
    CHECK(s.reconcile({.deadline = 10s}));
    CHECK(s.truth->sends() == 1);
    CHECK(s.truth->effects() == 1);
}

constexpr contract slow_to_show{.lookup = complete_lookup{.visible_after = 15min},
                                .call_timeout = 1s};

TEST_CASE("not found too soon after sending: it says when to ask, and waits [U06]") {
    one_shop s(slow_to_show);
    s.truth->hide_effects_for(15min);
    s.shop.on_submit(applied_reply_lost);
    auto const begun = s.clock.wall();
    CHECK(s.run().has_error());
    for (auto const after : {1min, 5min, 14min}) {
        s.clock.advance(begun + after - s.clock.wall());
        auto const early = s.run();
        REQUIRE(early.has_error());
        CHECK(early.error().rule() == rule::not_yet_visible);
        CHECK(early.error().again_at() == begun + 15min + 1s); // a call takes at most 1 s
        CHECK(s.state() == state_id::uncertain);
    }
    s.clock.advance(begun + 15min - s.clock.wall());
    CHECK(s.run());
    CHECK(s.truth->sends() == 1);
    CHECK(s.truth->effects() == 1);
}

TEST_CASE("still absent when it must be visible: a person decides, nothing is resent [U06]") {
    one_shop s(slow_to_show);
    s.shop.on_submit(request_lost);
    CHECK(s.run().has_error());
    s.clock.advance(16min);
    auto const late = s.run();
    REQUIRE(late.has_error());
    CHECK(late.error().state() == state_id::in_review);
    CHECK(late.error().rule() == rule::no_guarantee);
    CHECK(s.truth->sends() == 1);
}

TEST_CASE("an outage of the look-up takes nothing from what is known [U07a]") {
    one_shop s(bare);
    s.budget.looks = 6;
    s.shop.always_on_lookup(once_sent(down));
    CHECK(s.run().has_error());
    CHECK(s.truth->looks() == 1 + 6);
    auto const kept = s.stored();
    CHECK(kept.receipt == "r-1");
    CHECK(kept.state != state_id::rejected);
    CHECK(kept.open_attempts() == 1);
    s.shop.always_on_lookup(truthful);
    CHECK(s.run());
    CHECK(s.truth->sends() == 1);
}

TEST_CASE("spent look-ups go to a person, never to rejected [U07b]") {
    for (auto const answer : {down, shop_of<decltype(bare)>::half}) {
        one_shop s(bare);
        s.budget.looks = 5;
        s.shop.on_submit(applied_reply_lost);
        s.shop.always_on_lookup(once_sent(answer));
        auto const done = s.run();
        REQUIRE(done.has_error());
        CHECK(done.error().rule() == rule::look_up_failed);
        CHECK(done.error().state() == state_id::in_review);
        CHECK(done.error().in_doubt());
        CHECK(s.truth->looks() == 1 + 5);
        auto const listed = s.unsettled();
        REQUIRE(listed.size() == 1);
        CHECK(listed[0].identity() == s.id);
    }
}

TEST_CASE("denied is not absence either [U07]") {
    one_shop s(bare);
    s.shop.always_on_lookup([](shop::query const&, world&) -> shop::answer { return denied{}; });
    auto const done = s.run();
    REQUIRE(done.has_error());
    CHECK(done.error().rule() == rule::look_up_failed);
    CHECK_FALSE(done.error().in_doubt());
    CHECK(s.truth->sends() == 0);
}

TEST_CASE("where nobody can be asked, a lost reply goes to a person at once [U07c]") {
    one_shop s(from_elsewhere);
    s.shop.on_submit(applied_reply_lost);
    auto const done = s.run();
    REQUIRE(done.has_error());
    CHECK(done.error().state() == state_id::in_review);
    CHECK(done.error().rule() == rule::no_guarantee);
    CHECK(s.truth->sends() == 1);
    CHECK(s.truth->looks() == 0);
    CHECK(s.clock.waits().empty());
}

TEST_CASE("looking ends, whatever is shown [U07d]") {
    one_shop s(bare);
    s.shop.on_submit(applied_reply_lost);
    s.shop.always_on_lookup([](shop::query const& q, world& w) -> shop::answer {
        w.set_status(q.key, effect_status::under_way);
        return shop_of<decltype(bare)>::truthful(q, w);
    });
    auto const done = s.run();
    REQUIRE(done.has_error());
    CHECK(done.error().rule() == rule::under_way);
    CHECK(done.error().in_doubt());
    CHECK(s.truth->looks() == 1 + s.budget.looks);
}

TEST_CASE("a record of another owner with our name is not touched and stops us [U13a]") {
    one_shop s(bare);
    s.truth->put({.key = "order-1", .request = s.request, .receipt = "theirs", .ours = false});
    auto const done = s.run();
    REQUIRE(done.has_error());
    CHECK(done.error().rule() == rule::another_owner);
    CHECK(done.error().state() == state_id::in_review);
    CHECK(s.truth->sends() == 0);
    CHECK(s.truth->effects() == 0);
}

TEST_CASE("owners are told apart before effects are counted [U13b, H21]") {
    one_shop s(bare);
    s.shop.on_submit([](shop::attempt const& a, world& w) -> shop::keyed_reply {
        w.put({.key = std::string(a.key()), .request = "", .receipt = "theirs", .ours = false});
        w.apply(a.key(), a.bytes());
        return unknown{};
    });
    auto const done = s.run();
    REQUIRE(done);
    CHECK(done.value().receipt == "r-2");
    CHECK(s.truth->effects() == 1);
}

TEST_CASE("only a stranger's record: listed for a person, nothing more is sent [U13c]") {
    one_shop s(bare);
    s.shop.on_submit([](shop::attempt const& a, world& w) -> shop::keyed_reply {
        std::string const key(a.key()), body(a.bytes());
        w.put({.key = key, .request = body, .receipt = "theirs", .ours = false});
        return unknown{};
    });
    for (int runs = 0; runs != 2; ++runs) {
        auto const done = s.run();
        REQUIRE(done.has_error());
        CHECK(done.error().in_doubt());
        CHECK(done.error().rule() == rule::another_owner);
        CHECK(s.truth->sends() == 1);
    }
    CHECK(s.stored().notes_or_none().remarks == "candidates: theirs");
}

/// A service that keeps seven digits, and may say so.
template <class Contract> struct rounding_shop : scripted_provider<Contract> {
    using scripted_provider<Contract>::scripted_provider;
    std::string normalise(std::string amount) const {
        return std::to_string(std::llround(std::stod(amount) * 1e7));
    }
};

template <class Scene> void pay(Scene& s, std::string const& as_kept) {
    s.request = "0.2421454083";
    s.shop.on_submit([as_kept](shop::attempt const& a, world& w) -> shop::keyed_reply {
        w.apply(a.key(), as_kept);
        return unknown{};
    });
}

TEST_CASE("what the service does to a payload is declared, and both sides are compared so [U15]") {
    one_shop<decltype(bare), rounding_shop<decltype(bare)>> s(bare);
    pay(s, "0.2421454");
    CHECK(s.run());
    CHECK(s.truth->effects() == 1);
    CHECK(s.stored().intent->request == "0.2421454083");
    // The caller's own payload still is what he asked for.
    CHECK(s.run());
    auto const changed = s.run(s.id, "0.2421454");
    REQUIRE(changed.has_error());
    CHECK(changed.error().rule() == rule::conflicting_intent);
}

TEST_CASE("another amount is another content, also after rounding [U15]") {
    one_shop<decltype(bare), rounding_shop<decltype(bare)>> s(bare);
    pay(s, "0.2421455");
    auto const done = s.run();
    REQUIRE(done.has_error());
    CHECK(done.error().rule() == rule::contents_differ);
    CHECK(s.truth->sends() == 1);
}

TEST_CASE("without such a declaration the rounded record is a contradiction [U15]") {
    one_shop s(bare);
    pay(s, "0.2421454");
    for (int runs = 0; runs != 2; ++runs) {
        auto const done = s.run();
        REQUIRE(done.has_error());
        CHECK(done.error().rule() == rule::contents_differ);
        CHECK(done.error().state() == state_id::in_review);
        CHECK(s.truth->sends() == 1);
    }
}

TEST_SUITE_END();

} // namespace
