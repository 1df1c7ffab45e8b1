// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#include <scene.hpp>

#include <doctest/doctest.h>

#include <string>

// What the two exercises show from which this library grew: the notebook order whose reply is
// lost, and the journal that never turns an unconfirmed write into a second one.

namespace {

using namespace scene;
using shop = provider_of<std::string>;

auto const applied_reply_lost = shop_of<decltype(bare)>::applied_reply_lost;
auto const request_lost = shop_of<decltype(bare)>::request_lost;
auto const down = shop_of<decltype(bare)>::down;
auto const truthful = shop_of<decltype(bare)>::truthful;

TEST_SUITE_BEGIN("cases: the two exercises");

TEST_CASE("a lost reply: in doubt, then verified, then already verified; changed content refused") {
    one_shop s(bare);
    s.request = R"({"item":"practice-notebook","quantity":1})";
    s.shop.on_submit(applied_reply_lost);
    s.shop.on_lookup(truthful); // nothing yet
    s.shop.on_lookup(down, s.budget.looks);
    auto const first = s.run();
    REQUIRE(first.has_error());
    CHECK(first.error().in_doubt());
    CHECK(s.truth->effects() == 1);
    s.cut_power();

    auto const second = s.run();
    REQUIRE(second);
    CHECK(second.value().receipt == "r-1");
    CHECK_FALSE(second.value().before_this_run);
    CHECK(second.value().seen_now);
    s.cut_power();

    auto const third = s.run();
    REQUIRE(third);
    CHECK(third.value().before_this_run);
    CHECK(third.value().receipt == "r-1");

    auto const changed = s.run(s.id, R"({"item":"practice-notebook","quantity":2})");
    REQUIRE(changed.has_error());
    CHECK(changed.error().rule() == rule::conflicting_intent);
    CHECK(s.truth->effects() == 1);
    CHECK(s.truth->sends() == 1);
}

TEST_CASE("an outage before the write is not absence, and costs no attempt") {
    one_shop s(bare);
    s.shop.always_on_lookup(down);
    auto const done = s.run();
    REQUIRE(done.has_error());
    CHECK_FALSE(done.error().in_doubt());
    CHECK(done.error().state() == state_id::pending);
    CHECK(s.truth->effects() == 0);
    CHECK(s.truth->sends() == 0);
    CHECK(s.stored().attempts.empty());
    s.shop.always_on_lookup(truthful);
    CHECK(s.run());
}

TEST_CASE("an unconfirmed write blocks a second one, also after a restart") {
    one_shop s(bare);
    s.shop.on_submit(request_lost);
    CHECK(s.run().has_error());
    s.cut_power();
    for (int runs = 0; runs != 3; ++runs) {
        auto const done = s.run();
        REQUIRE(done.has_error());
        CHECK(done.error().in_doubt());
        CHECK(done.error().rule() == rule::no_guarantee);
    }
    CHECK(s.truth->effects() == 0);
    CHECK(s.truth->sends() == 1);
}

TEST_CASE("a success reply without a visible effect is unconfirmed") {
    one_shop s(bare);
    s.shop.on_submit([](shop::attempt const& a, world&) -> shop::keyed_reply {
        return shop::accepted_with_key{"r-77", std::string(a.key())};
    });
    auto const done = s.run();
    REQUIRE(done.has_error());
    CHECK(done.error().in_doubt());
    CHECK(s.truth->effects() == 0);
}

TEST_CASE("two matches are ambiguous, also for an operation that was confirmed") {
    one_shop s(bare);
    REQUIRE(s.run());
    s.truth->put({.key = "order-1", .request = s.request, .receipt = "another"});
    auto const done = s.run();
    REQUIRE(done.has_error());
    CHECK(done.error().rule() == rule::several_effects);
    CHECK(s.truth->sends() == 1);
}

TEST_CASE("another content under our key cannot confirm and stops the write") {
    one_shop s(bare);
    s.truth->put({.key = "order-1", .request = "a foreign request", .receipt = "theirs"});
    auto const done = s.run();
    REQUIRE(done.has_error());
    CHECK(done.error().rule() == rule::contents_differ);
    CHECK(s.truth->sends() == 0);
}

TEST_CASE("resends that a guarantee makes safe are bounded, here at three") {
    one_shop s(deduplicating);
    for (int sends = 0; sends != 10; ++sends)
        s.shop.on_submit(request_lost);
    for (int runs = 0; runs != 5; ++runs) {
        auto const done = s.run();
        REQUIRE(done.has_error());
        CHECK(done.error().in_doubt());
        CHECK(done.error().rule() == rule::attempts_spent);
    }
    CHECK(s.truth->sends() == 3);
    CHECK(s.stored().attempts.size() == 3);
    CHECK(s.truth->distinct_keys() == 1);
    CHECK(s.truth->distinct_bodies() == 1);
}

TEST_CASE("an effect that vanished after it was confirmed is never made again") {
    one_shop s(deduplicating);
    REQUIRE(s.run());
    s.truth->remove("order-1");
    for (int runs = 0; runs != 3; ++runs) {
        auto const done = s.run();
        REQUIRE(done.has_error());
        CHECK(done.error().rule() == rule::effect_missing);
        CHECK(done.error().state() == state_id::in_review);
        s.cut_power();
    }
    CHECK(s.truth->sends() == 1);
    CHECK(s.truth->effects() == 1);
    CHECK(s.truth->visible("order-1").empty());
}

TEST_SUITE_END();

} // namespace
