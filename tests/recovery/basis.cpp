// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#include <scene.hpp>

#include <doctest/doctest.h>

#include <string>

// On what a confirmation rests, and that a later look-up makes it rest on more.

namespace {

using namespace scene;

/// An acceptance with our key is proof, and what it did can be looked up.
constexpr contract proof_and_look_up{.lookup = complete_lookup{.visible_after = 0ms},
                                     .reply = proof{.documented_at = cited},
                                     .call_timeout = 1s};

TEST_CASE("a reply that is proof says nothing of a second effect; the next run sees it [H15]") {
    one_shop s(proof_and_look_up);
    s.shop.on_submit([](auto const& a, world& w) {
        w.apply(a.key(), a.bytes()); // the network repeated the call
        auto second = w.apply(a.key(), a.bytes());
        return provider_of<std::string>::keyed_reply(
            provider_of<std::string>::accepted_with_key{second, std::string(a.key())});
    });
    auto told = s.run();
    REQUIRE(told);
    CHECK(told.value().receipt == "r-2");
    CHECK(s.stored().basis == basis::reply);

    auto again = s.run();
    REQUIRE_FALSE(again);
    CHECK(again.error().rule() == rule::several_effects);
    CHECK(s.state() == state_id::in_review);
    CHECK(s.stored().notes_or_none().remarks.find("r-1") != std::string::npos);
    CHECK(s.stored().notes_or_none().remarks.find("r-2") != std::string::npos);
    CHECK(s.truth->sends() == 1);
}

TEST_CASE("a look-up that shows the one effect raises the basis, for good [H15]") {
    one_shop s(proof_and_look_up);
    REQUIRE(s.run());
    CHECK(s.stored().basis == basis::reply);
    auto const confirmed_at = s.stored().confirmed_at;
    s.clock.advance(1min);

    auto again = s.run();
    REQUIRE(again);
    CHECK(again.value().before_this_run);
    CHECK(again.value().seen_now);
    CHECK(s.truth->looks() == 2); // before the first send, and now: not a third time
    s.cut_power();
    CHECK(s.stored().basis == basis::looked_up);
    CHECK(s.stored().confirmed_at == confirmed_at);
    CHECK(s.stored().receipt == "r-1");

    auto const version = s.stored().version;
    REQUIRE(s.run());
    CHECK(s.stored().version == version); // nothing more to write
}

TEST_CASE("a record that is trusted keeps its basis: nobody has looked [H15]") {
    one_shop s(proof_and_look_up);
    REQUIRE(s.run());
    REQUIRE(s.run({.trust_record = true}));
    CHECK(s.stored().basis == basis::reply);
    CHECK(s.truth->looks() == 1);
}

TEST_CASE("what another channel told is looked up by the next run [H15]") {
    one_shop s(bare);
    s.shop.on_submit(s.shop.applied_reply_lost);
    s.shop.on_lookup(s.shop.truthful);
    s.shop.always_on_lookup(s.shop.down);
    CHECK_FALSE(s.run());
    CHECK(s.truth->effects() == 1);
    {
        auto p = s.start();
        auto told = p.observe(s.id, {.receipt = "r-1", .key = "order-1", .request = s.request});
        REQUIRE(told);
        CHECK(s.stored().basis == basis::outside);
    }
    s.shop.always_on_lookup(s.shop.truthful);
    REQUIRE(s.run());
    CHECK(s.stored().basis == basis::looked_up);
    CHECK(s.truth->sends() == 1);
}

} // namespace
