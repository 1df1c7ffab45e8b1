// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#include <scene.hpp>

#include <doctest/doctest.h>

#include <string>

// Where keys come from, and what is bound to them.

namespace {

using namespace scene;
using shop = provider_of<std::string>;

auto const applied_reply_lost = shop_of<decltype(bare)>::applied_reply_lost;

TEST_SUITE_BEGIN("cases: identity");

TEST_CASE("an identity saved at the moment of intent is found again by the next life [I03]") {
    one_shop s(bare);
    identity const cart{"shop", "cart-9"};
    s.shop.on_submit(applied_reply_lost);
    s.shop.on_lookup(shop_of<decltype(bare)>::empty);
    s.shop.on_lookup(shop_of<decltype(bare)>::down, s.budget.looks);
    CHECK(s.run(cart, "one notebook").has_error());
    s.cut_power();
    auto const done = s.run(cart, "one notebook");
    REQUIRE(done);
    CHECK(s.truth->effects() == 1);
    CHECK(s.truth->distinct_keys() == 1);

    auto const again = s.run(cart, "one notebook"); // the old result, not a new order
    REQUIRE(again);
    CHECK(again.value().before_this_run);
    CHECK(again.value().receipt == done.value().receipt);
    CHECK(s.truth->sends() == 1);
}

TEST_CASE("equal payloads under two identities are two effects [I03]") {
    one_shop s(bare);
    CHECK(s.run({"shop", "order-1"}, "one notebook"));
    CHECK(s.run({"shop", "order-2"}, "one notebook"));
    CHECK(s.truth->effects() == 2);
    CHECK(s.truth->distinct_keys() == 2);
}

TEST_CASE("no field of the request is left out of the comparison [I03]") {
    one_shop s(bare);
    s.shop.always_on_lookup(shop_of<decltype(bare)>::down);
    CHECK(s.run(s.id, R"({"item":7,"note":"a"})").has_error());
    auto const before = s.stored();
    s.shop.always_on_lookup(shop_of<decltype(bare)>::truthful);
    auto const changed = s.run(s.id, R"({"item":7,"note":"b"})");
    REQUIRE(changed.has_error());
    CHECK(changed.error().rule() == rule::conflicting_intent);
    CHECK(s.truth->sends() == 0);
    CHECK(s.stored().version == before.version);
}

TEST_CASE("a key that is in use keeps its meaning: another payload is refused [I04a]") {
    one_shop s(bare);
    identity const key_100{"shop", "100"};
    s.shop.on_submit(applied_reply_lost);
    s.shop.on_lookup(shop_of<decltype(bare)>::empty);
    s.shop.always_on_lookup(shop_of<decltype(bare)>::down);
    CHECK(s.run(key_100, "one notebook").has_error());
    auto const before = s.stored(key_100);
    REQUIRE(before.attempts.size() == 1);

    auto const other = s.run(key_100, "two pens");
    REQUIRE(other.has_error());
    CHECK(other.error().rule() == rule::conflicting_intent);
    CHECK(other.error().state() == before.state);
    CHECK(other.error().in_doubt()); // of the operation that has the key
    CHECK(s.truth->sends() == 1);
    CHECK(s.stored(key_100).version == before.version);
}

TEST_CASE("a key is not shared between scopes, as the service knows no scopes [I04a]") {
    one_shop s(bare);
    REQUIRE(s.run({"shop a", "100"}, "one notebook"));
    auto const other = s.run({"shop b", "100"}, "one notebook");
    REQUIRE(other.has_error());
    CHECK(other.error().rule() == rule::key_taken);
    CHECK_FALSE(other.error().in_doubt());
    CHECK(s.truth->sends() == 1);
    CHECK(s.stored({"shop b", "100"}).state == state_id::none);
}

TEST_CASE("a receipt belongs to one operation, also after the power went [I04b, I04c, H23]") {
    for (bool power_goes : {false, true}) {
        one_shop s(bare);
        REQUIRE(s.run({"shop", "order-1"}, "one notebook"));
        if (power_goes) s.cut_power();
        s.shop.on_submit([](shop::attempt const& a, world&) -> shop::keyed_reply {
            return shop::accepted_with_key{"r-1", std::string(a.key())};
        });
        auto const other = s.run({"shop", "order-3"}, "one notebook");
        REQUIRE(other.has_error());
        CHECK(other.error().rule() == rule::receipt_taken);
        CHECK(other.error().state() == state_id::in_review);
        CHECK(other.error().in_doubt());
        CHECK(s.stored({"shop", "order-1"}).state == state_id::confirmed);
    }
}

TEST_CASE("a receipt that a look-up shows is bound just so [I04b]") {
    one_shop s(bare);
    REQUIRE(s.run({"shop", "order-1"}, "one notebook"));
    s.shop.on_submit([](shop::attempt const& a, world& w) -> shop::keyed_reply {
        w.put({.key = std::string(a.key()), .request = "one notebook", .receipt = "r-1"});
        return unknown{};
    });
    auto const other = s.run({"shop", "order-3"}, "one notebook");
    REQUIRE(other.has_error());
    CHECK(other.error().rule() == rule::receipt_taken);
}

TEST_CASE("the same identity with another intent is refused and nothing is changed [F01]") {
    one_shop s(bare);
    REQUIRE(s.run(s.id, "1"));
    auto const before = s.stored();
    for (std::string const other : {"1.0", "\"1\"", "", "1 ", "2"}) {
        auto const refused = s.run(s.id, other);
        REQUIRE(refused.has_error());
        CHECK(refused.error().rule() == rule::conflicting_intent);
        CHECK_FALSE(refused.error().in_doubt()); // what is recorded is confirmed
        CHECK(s.stored().version == before.version);
    }
    CHECK(s.truth->sends() == 1);
    CHECK(s.run(s.id, "1"));
}

TEST_SUITE_END();

} // namespace
