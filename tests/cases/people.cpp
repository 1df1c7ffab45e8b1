// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#include <scene.hpp>

#include <doctest/doctest.h>

#include <string>

// What was cancelled, and what would wait for ever if nobody saw it.

namespace {

using namespace scene;
using shop = provider_of<std::string>;

auto const applied_reply_lost = shop_of<decltype(bare)>::applied_reply_lost;
auto const request_lost = shop_of<decltype(bare)>::request_lost;
auto const truthful = shop_of<decltype(bare)>::truthful;

/// The first look-up, before anything is sent, works; then nobody answers.
auto const down_once_sent = [](shop::query const&, world& w) -> shop::answer {
    if (w.sends() == 0) return shop::complete{};
    return unavailable{};
};

TEST_SUITE_BEGIN("cases: people");

TEST_CASE("a cancel while the outcome is unknown is remembered and stops all sending [W01]") {
    one_shop s(deduplicating); // a resend would be allowed
    s.shop.on_submit(applied_reply_lost);
    s.shop.always_on_lookup(down_once_sent);
    CHECK(s.run().has_error());
    REQUIRE(s.state() == state_id::uncertain);

    auto const asked = s.cancel({"ann", "the claim was deleted"});
    REQUIRE(asked);
    CHECK(asked.value().state == state_id::uncertain);
    CHECK(asked.value().cancel_requested);
    CHECK(s.unsettled().size() == 1);
    s.cut_power(); // what was told is durable

    s.shop.always_on_lookup(shop_of<decltype(bare)>::empty);
    auto const looked = s.run();
    REQUIRE(looked.has_error());
    CHECK(looked.error().in_doubt());
    CHECK(looked.error().rule() == rule::cancelled_by_caller);
    CHECK(s.truth->sends() == 1);
    CHECK(s.unsettled().size() == 1);

    s.shop.always_on_lookup(truthful);
    auto const found = s.run();
    CHECK(found);
    CHECK(s.state() == state_id::confirmed);
    CHECK(s.stored().clean_up_due);
    CHECK(s.truth->sends() == 1);
    CHECK(s.truth->effects() == 1);
}

TEST_CASE("what was cancelled before it was sent is never sent [W01]") {
    one_shop s(bare);
    s.shop.on_lookup(shop_of<decltype(bare)>::down, s.budget.looks);
    CHECK(s.run().has_error());
    REQUIRE(s.state() == state_id::pending);
    auto const asked = s.cancel();
    REQUIRE(asked);
    CHECK(asked.value().state == state_id::cancelled);
    s.cut_power();
    for (int runs = 0; runs != 2; ++runs) {
        auto const done = s.run();
        REQUIRE(done.has_error());
        CHECK(done.error().state() == state_id::cancelled);
        CHECK(done.error().rule() == rule::cancelled_by_caller);
        CHECK_FALSE(done.error().in_doubt());
    }
    CHECK(s.truth->sends() == 0);
    CHECK(s.unsettled().empty());
}

TEST_CASE("a cancel while the call is out: the call's own outcome decides [W01]") {
    struct reply {
        shop::keyed_reply said;
        state_id leads_to;
    };
    for (auto const& [said, leads_to] :
         {reply{not_sent{}, state_id::cancelled}, reply{refused{}, state_id::rejected},
          reply{refused{.for_good = false}, state_id::cancelled}}) {
        one_shop s(bare);
        auto p = s.start();
        s.shop.on_submit([&](shop::attempt const&, world&) -> shop::keyed_reply {
            auto const asked = p.cancel(s.id);
            REQUIRE(asked);
            CHECK(asked.value().state == state_id::uncertain);
            return said;
        });
        auto const done = p.run(s.id, s.request);
        REQUIRE(done.has_error());
        CHECK(done.error().state() == leads_to);
        CHECK(s.truth->sends() == 1);
    }
    one_shop s(bare);
    auto p = s.start();
    s.shop.on_submit([&](shop::attempt const& a, world& w) -> shop::keyed_reply {
        REQUIRE(p.cancel(s.id));
        return shop_of<decltype(bare)>::applied(a, w);
    });
    CHECK(p.run(s.id, s.request));
    CHECK(s.stored().clean_up_due);
}

TEST_CASE("a settled operation stays what it is, whoever cancels it [W01]") {
    one_shop s(bare);
    REQUIRE(s.run());
    auto const before = s.stored();
    auto const asked = s.cancel();
    REQUIRE(asked);
    CHECK(asked.value().state == state_id::confirmed);
    CHECK(s.stored().version == before.version);
    auto const unknown_one = s.start().cancel({"shop", "never heard of"});
    REQUIRE(unknown_one.has_error());
    CHECK(unknown_one.error().rule() == rule::not_recorded);
}

TEST_CASE("a cancel in review is remembered, and asked for twice is one [W01]") {
    one_shop s(bare);
    s.shop.on_submit(request_lost);
    CHECK(s.run().has_error());
    REQUIRE(s.state() == state_id::in_review);
    auto const asked = s.cancel();
    REQUIRE(asked);
    CHECK(asked.value().cancel_requested);
    CHECK(asked.value().state == state_id::in_review);
    CHECK(asked.value().reason == rule::no_guarantee); // it still tells why
    auto const again = s.cancel();
    REQUIRE(again);
    CHECK(again.value().version == asked.value().version);
}

TEST_CASE("what timed out is listed, and the guarantee that is alive is used [W04]") {
    one_shop s(deduplicating);
    s.shop.on_submit(request_lost);
    s.shop.always_on_lookup(down_once_sent);
    CHECK(s.run().has_error());
    auto const listed = s.unsettled();
    REQUIRE(listed.size() == 1);
    CHECK(listed[0].identity() == s.id);
    CHECK(listed[0].state == state_id::uncertain);
    s.clock.advance(10min);
    s.shop.always_on_lookup(truthful);
    CHECK(s.run());
    CHECK(s.truth->effects() == 1);
    CHECK(s.truth->sends() == 2);
    CHECK(s.unsettled().empty());
}

TEST_CASE("without a guarantee it goes to a person, with its age [W04]") {
    one_shop s(bare);
    s.shop.on_submit(request_lost);
    CHECK(s.run().has_error());
    CHECK(s.state() == state_id::in_review);
    milliseconds last{-1};
    for (auto const later : {1min, 45min}) {
        s.clock.advance(later);
        auto p = s.start();
        unsigned shown = 0;
        CHECK(p.unsettled([&](unsettled_operation const& u) {
            ++shown;
            CHECK(u.reason == rule::no_guarantee);
            CHECK(u.age >= later);
            CHECK(u.age > last);
            last = u.age;
        }));
        CHECK(shown == 1);
    }
}

TEST_CASE("after a restart a look-up that settles it comes before any person [W04]") {
    one_shop s(bare);
    s.shop.on_submit(applied_reply_lost);
    s.shop.always_on_lookup(down_once_sent);
    CHECK(s.run().has_error());
    CHECK(s.state() == state_id::in_review);
    s.cut_power();
    s.shop.always_on_lookup(truthful);
    CHECK(s.reconcile());
    CHECK(s.state() == state_id::confirmed);
    CHECK(s.stored().notes_or_none().decisions.empty());
    CHECK(s.truth->sends() == 1);
}

TEST_SUITE_END();

} // namespace
