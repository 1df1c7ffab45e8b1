// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#include <scene.hpp>

#include <doctest/doctest.h>

#include <string>
#include <utility>

// How far a call got, how often it was made below us, and where to.

namespace {

using namespace scene;
using shop = provider_of<std::string>;

auto const applied_reply_lost = shop_of<decltype(bare)>::applied_reply_lost;

TEST_SUITE_BEGIN("cases: sending");

TEST_CASE("a call that never left allows another one, and is counted [U19a]") {
    one_shop s(bare);
    s.shop.on_submit([](shop::attempt const&, world&) -> shop::keyed_reply { return not_sent{}; });
    auto const done = s.run();
    REQUIRE(done);
    CHECK(s.truth->effects() == 1);
    auto const r = s.stored();
    REQUIRE(r.attempts.size() == 2);
    CHECK(r.attempts[0].outcome == attempt_outcome_id::not_sent);
    CHECK(done.value().attempts == 2);
}

TEST_CASE("a call that broke off after bytes went out allows no other one [U19b]") {
    one_shop s(bare);
    s.shop.on_submit([](shop::attempt const&, world&) -> shop::keyed_reply { return unknown{}; });
    for (int runs = 0; runs != 3; ++runs) {
        auto const done = s.run();
        REQUIRE(done.has_error());
        CHECK(done.error().in_doubt());
        CHECK(s.truth->sends() == 1);
    }
}

TEST_CASE("a crash between the mark and the call: uncertain, and looked up first [U19c]") {
    one_shop s(bare);
    {
        auto p = s.start();
        auto& book = p.journal();
        auto begun = book.begin(s.id, intend(s.shop.target, s.request, exact_fingerprint{}).value(),
                                exact_fingerprint{});
        REQUIRE(begun);
        auto* op = begun.value().get_if<operation<pending>>();
        REQUIRE(op != nullptr);
        auto const nothing = weigh(bare, *op, shop::answer(shop::complete{}));
        auto const now = book.moment(op->stored(), s.budget, bare);
        auto next = decide(*op, bare, nothing, now);
        auto* cleared = next.get_if<clearance>();
        REQUIRE(cleared != nullptr);
        auto allowed = book.write(dispatch(std::move(*op), std::move(*cleared)));
        REQUIRE(allowed);
    } // the process dies before it calls
    s.cut_power();
    CHECK(s.state() == state_id::uncertain);
    auto const done = s.run();
    REQUIRE(done.has_error());
    CHECK(done.error().in_doubt()); // nobody can know that the call was not made
    CHECK(s.truth->looks() > 0);
    CHECK(s.truth->sends() == 0);
}

TEST_CASE("one send that made two effects goes to a person, with the ids of both [U21]") {
    one_shop s(bare);
    s.shop.on_submit([](shop::attempt const& a, world& w) -> shop::keyed_reply {
        w.apply(a.key(), a.bytes());
        return shop::accepted_with_key{w.apply(a.key(), a.bytes()), std::string(a.key())};
    });
    auto const done = s.run();
    REQUIRE(done.has_error());
    CHECK(done.error().rule() == rule::several_effects);
    CHECK(done.error().state() == state_id::in_review);
    CHECK(s.truth->sends() == 1);
    CHECK(s.truth->effects() == 2);
    CHECK(s.truth->visible(s.id.key).size() == 2); // the library removes nothing
    auto const remarks = s.stored().notes_or_none().remarks;
    CHECK(remarks.find("r-1") != std::string::npos);
    CHECK(remarks.find("r-2") != std::string::npos);
}

// Two endpoints of one service: the contracts differ in the scope of their keys.
constexpr contract keys_shared{
    .resend = deduplicated_by_key{.window = 1h, .scope = "everywhere", .documented_at = cited},
    .lookup = complete_lookup{},
    .call_timeout = 1s,
    .arrives_within = 1min};
constexpr contract keys_of_b{
    .resend = deduplicated_by_key{.window = 1h, .scope = "endpoint b", .documented_at = cited},
    .lookup = complete_lookup{},
    .call_timeout = 1s,
    .arrives_within = 1min};

/// Sends to A, whose reply is lost and whose look-up shows nothing; then asks B.
template <class Contract> void lose_a_reply_of_a(one_shop<Contract>& s) {
    s.shop.on_submit(applied_reply_lost);
    s.shop.always_on_lookup([](shop::query const&, world& w) -> shop::answer {
        if (w.sends() == 0) return shop::complete{};
        return unavailable{};
    });
    CHECK(s.run().has_error());
    CHECK(s.truth->sends() == 1);
    s.clock.advance(1min);
    s.shop.on_submit([](shop::attempt const& a, world& w) -> shop::keyed_reply {
        return shop::duplicate{w.apply(a.key(), a.bytes())}; // "already known"
    });
    s.shop.always_on_lookup([](shop::query const& q, world& w) -> shop::answer {
        if (w.sends() == 1) return shop::complete{}; // B lags
        return shop_of<Contract>::truthful(q, w);
    });
}

TEST_CASE("another endpoint that shares the keys gets the same key and the same bytes [U22]") {
    one_shop s(keys_shared);
    lose_a_reply_of_a(s);
    CHECK(s.run());
    CHECK(s.truth->sends() == 2);
    CHECK(s.truth->effects() == 1);
    CHECK(s.truth->distinct_keys() == 1);
    CHECK(s.truth->distinct_bodies() == 1);
}

TEST_CASE("another endpoint with keys of its own is not tried [U22]") {
    one_shop s(keys_shared);
    lose_a_reply_of_a(s);
    s.shop.contract = keys_of_b;
    auto const done = s.run();
    REQUIRE(done.has_error());
    CHECK(done.error().in_doubt());
    CHECK(s.truth->sends() == 1);
}

TEST_CASE("without a guarantee no other endpoint is tried [U22]") {
    one_shop s(bare);
    lose_a_reply_of_a(s);
    auto const done = s.run();
    REQUIRE(done.has_error());
    CHECK(done.error().in_doubt());
    CHECK(s.truth->sends() == 1);
}

TEST_CASE("an increment that nobody can look up is never repeated [U25]") {
    one_shop s(from_elsewhere);
    s.request = "+10";
    int balance = 100;
    s.shop.on_submit([&](shop::attempt const&, world&) -> shop::keyed_reply {
        balance += 10;
        return unknown{};
    });
    for (int runs = 0; runs != 2; ++runs) {
        auto const done = s.run();
        REQUIRE(done.has_error());
        CHECK(done.error().state() == state_id::in_review);
        CHECK(s.truth->sends() == 1);
        CHECK(balance == 110);
    }
}

TEST_CASE("an increment with a marker written beside it is found by the marker [U25]") {
    one_shop s(bare);
    s.request = "+10";
    s.shop.on_submit(applied_reply_lost); // marker and balance in one transaction
    CHECK(s.run());
    CHECK(s.truth->sends() == 1);
    CHECK(s.truth->effects() == 1);
}

TEST_CASE("the balance alone confirms nothing, however well it fits [U25]") {
    one_shop s(bare);
    s.request = "+10";
    s.shop.on_submit(applied_reply_lost);
    s.shop.always_on_lookup([](shop::query const&, world& w) -> shop::answer {
        shop::complete all;
        if (w.sends() == 1) all.effects.push_back({.receipt = "balance 110", .request = "+10"});
        return all;
    });
    auto const done = s.run();
    REQUIRE(done.has_error());
    CHECK(done.error().in_doubt());
    CHECK(s.truth->sends() == 1);
}

TEST_SUITE_END();

} // namespace
