// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#include <recovery/by_hand.hpp>

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

// "It exists, and this is its receipt": read and compared where somebody can be asked, a person's
// word where nobody can. The other decisions are in reviews.cpp.

namespace {

using namespace scene;
using shop = provider_of<std::string>;

auto const request_lost = shop_of<decltype(bare)>::request_lost;

by const ann{"ann", "she asked them"};

/// In review by doubt: the call was lost, and nothing is shown.
template <class Scene> void doubtful(Scene& s) {
    s.shop.on_submit(request_lost);
    CHECK(s.run().has_error());
    REQUIRE(s.state() == state_id::in_review);
}
template <class Scene> auto adopt(Scene& s, std::string const& receipt, by const& person = ann) {
    auto p = s.start();
    return p.adopt(s.id, receipt, person);
}
/// The look-up shows just this.
template <class Scene> void shows(Scene& s, std::vector<shop::effect> effects) {
    s.shop.always_on_lookup(
        [effects](shop::query const&, world&) -> shop::answer { return shop::complete{effects}; });
}
template <class Scene> shop::effect effect_of(Scene const& s, std::string receipt) {
    return {.receipt = std::move(receipt), .key = s.id.key, .request = s.request};
}

TEST_SUITE_BEGIN("adoptions");

TEST_CASE("an effect that is shown with the content asked for is adopted [W03]") {
    for (bool const bears_our_key : {true, false}) {
        CAPTURE(bears_our_key);
        one_shop s(bare);
        doubtful(s);
        auto e = effect_of(s, "by hand");
        if (!bears_our_key) e.key.clear();
        shows(s, {e});
        auto const done = adopt(s, "by hand");
        REQUIRE(done);
        CHECK(done.value().state == state_id::confirmed);
        s.cut_power(); // what was told is durable
        auto const r = s.stored();
        CHECK(r.state == state_id::confirmed);
        CHECK(r.receipt == "by hand");
        CHECK(r.basis == basis::looked_up);
        CHECK(r.concern == concern::none);
        REQUIRE(r.notes_or_none().decisions.size() == 1);
        CHECK(r.notes_or_none().decisions[0].what == "adopt");
        CHECK(r.notes_or_none().decisions[0].who == "ann");
        CHECK(r.notes_or_none().decisions[0].why == "she asked them");
        auto const again = s.run();
        REQUIRE(again);
        CHECK(again.value().receipt == "by hand");
        CHECK(s.state() == state_id::confirmed);
        CHECK(s.truth->sends() == 1);
    }
}

TEST_CASE("what the look-up does not bear out is refused, and nothing is changed [W03]") {
    one_shop s(bare);
    doubtful(s);
    auto const before = s.stored().version;
    auto const refused = [&](std::vector<shop::effect> effects, rule why) {
        shows(s, std::move(effects));
        auto const done = adopt(s, "r-7");
        REQUIRE(done.has_error());
        CHECK(done.error().rule() == why);
        CHECK(done.error().in_doubt());
        CHECK(s.stored().version == before);
    };
    auto differs = effect_of(s, "r-7");
    differs.request = "two notebooks";
    refused({differs}, rule::contents_differ);
    auto unreadable = effect_of(s, "r-7");
    unreadable.request.reset();
    refused({unreadable}, rule::contents_differ);
    refused({}, rule::not_shown);
    refused({effect_of(s, "r-8")}, rule::not_shown);
    auto of_another = effect_of(s, "r-7");
    of_another.ours = false;
    refused({of_another}, rule::another_owner);
    auto other_key = effect_of(s, "r-7");
    other_key.key = "order-2";
    refused({other_key}, rule::another_owner);
    for (auto const status :
         {effect_status::under_way, effect_status::failed, effect_status::failed_for_good}) {
        auto undone = effect_of(s, "r-7");
        undone.status = status;
        refused({undone}, rule::under_way);
    }
    // Shown twice under one receipt: both are as asked for, or neither is.
    refused({effect_of(s, "r-7"), differs}, rule::contents_differ);
    refused({differs, effect_of(s, "r-7")}, rule::contents_differ);

    for (auto const& answer :
         {shop::answer(unavailable{}), {incomplete{}}, {denied{}}, {no_target{}}}) {
        s.shop.always_on_lookup(shop_of<decltype(bare)>::answers(answer));
        CHECK(adopt(s, "r-7").error().rule() == rule::look_up_failed);
        CHECK(s.stored().version == before);
    }
    // Nothing that was refused was bound to it.
    shows(s, {effect_of(s, "r-9")});
    CHECK(s.run({"shop", "order-1-b"}, "x").has_error());
    auto p = s.start();
    record other = s.stored({"shop", "order-1-b"});
    CHECK(p.journal().bind_receipt(other, "r-7").value());
}

TEST_CASE("the receipt of another operation cannot be adopted [I04b]") {
    one_shop s(bare);
    REQUIRE(s.run({"shop", "order-7"}, s.request));
    REQUIRE(s.stored({"shop", "order-7"}).receipt == "r-1");
    doubtful(s);
    auto const before = s.stored().version;
    auto theirs = effect_of(s, "r-1");
    theirs.key.clear(); // so that only the receipt tells
    shows(s, {theirs});
    CHECK(adopt(s, "r-1").error().rule() == rule::receipt_taken);
    CHECK(s.stored().version == before);
}

TEST_CASE("a receipt that is none cannot be adopted, and nobody is asked") {
    one_shop s(bare);
    doubtful(s);
    auto const looks = s.truth->looks();
    auto const empty = adopt(s, "").error();
    CHECK(empty.rule() == rule::illegal_decision);
    CHECK(empty.detail() == "it needs a receipt");
    CHECK(empty.in_doubt());
    CHECK(adopt(s, std::string(longest_receipt + 1, 'x')).error().rule() == rule::too_large);
    CHECK(s.truth->looks() == looks);
}

TEST_CASE("one look-up is made, and it is told which receipt is meant") {
    one_shop s(bare);
    doubtful(s);
    auto const looks = s.truth->looks();
    s.shop.on_lookup([&](shop::query const& q, world&) -> shop::answer {
        CHECK(q.receipt == "r-7");
        CHECK(q.key == s.id.key);
        CHECK(q.request == s.request);
        CHECK(q.time_left == bare.call_timeout);
        return shop::complete{{effect_of(s, "r-7")}};
    });
    CHECK(adopt(s, "r-7"));
    CHECK(s.truth->looks() == looks + 1);
}

TEST_CASE("one of several is adopted; the others are known and contradict no more [H18]") {
    one_shop s(bare);
    s.shop.on_submit([](shop::attempt const& a, world& w) -> shop::keyed_reply {
        w.apply(a.key(), a.bytes());
        w.apply(a.key(), a.bytes());
        return unknown{};
    });
    CHECK(s.run().error().rule() == rule::several_effects);
    REQUIRE(adopt(s, "r-2"));
    s.cut_power();
    for (int reruns = 0; reruns != 3; ++reruns) {
        auto const again = s.run();
        REQUIRE(again);
        CHECK(again.value().receipt == "r-2");
        CHECK(s.reconcile());
    }
    auto p = s.start();
    CHECK(p.observe(s.id, effect_of(s, "r-1")));
    CHECK(s.state() == state_id::confirmed);
    CHECK(s.truth->sends() == 1);

    s.truth->put({.key = s.id.key, .request = s.request, .receipt = "r-3"}); // nobody saw that one
    CHECK(s.run().error().rule() == rule::several_effects);
    REQUIRE(s.stored().ever_confirmed);
    CHECK(adopt(s, "r-3")); // and now that one is the one
    CHECK(s.run().value().receipt == "r-3");
    CHECK(s.truth->sends() == 1);
}

TEST_CASE("what was set aside once can be adopted after all, and then it counts again") {
    one_shop s(prompt);
    REQUIRE(s.run());
    s.truth->put({.key = s.id.key, .request = s.request, .receipt = "r-2"});
    CHECK(s.run().error().rule() == rule::several_effects);
    auto p = s.start();
    REQUIRE(p.dismiss(s.id, ann, {"r-2"}));
    REQUIRE(s.run().value().receipt == "r-1");
    shows(s, {effect_of(s, "r-2")}); // the confirmed one was removed
    CHECK(s.run().error().rule() == rule::effect_missing);
    REQUIRE(adopt(s, "r-2"));
    for (int reruns = 0; reruns != 2; ++reruns) {
        auto const again = s.run();
        REQUIRE(again);
        CHECK(again.value().receipt == "r-2");
    }
}

TEST_CASE("other content under our key can be adopted by nobody") {
    one_shop s(bare);
    s.shop.on_submit([](shop::attempt const& a, world& w) -> shop::keyed_reply {
        w.apply(a.key(), "two notebooks");
        return unknown{};
    });
    CHECK(s.run().error().rule() == rule::contents_differ);
    CHECK(adopt(s, "r-1").error().rule() == rule::contents_differ);
    CHECK(s.state() == state_id::in_review);
}

TEST_CASE("where nobody can be asked it is the person's word [H18, U25]") {
    one_shop s(proving);
    s.shop.on_submit(request_lost);
    CHECK(s.run({.deadline = 50ms}).has_error());
    s.clock.advance(2h);
    CHECK(s.run().error().state() == state_id::in_review);
    auto const done = adopt(s, "on paper");
    REQUIRE(done);
    CHECK(done.value().basis == basis::person);
    CHECK(s.truth->looks() == 0);
    s.cut_power();
    auto const again = s.run();
    REQUIRE(again);
    CHECK(again.value().receipt == "on paper");
    CHECK_FALSE(again.value().seen_now);
    CHECK(s.truth->sends() == 1);
}

TEST_CASE("what is adopted after a cancel was requested is due for cleaning up") {
    one_shop s(bare);
    doubtful(s);
    REQUIRE(s.cancel());
    shows(s, {effect_of(s, "r-7")});
    REQUIRE(adopt(s, "r-7"));
    CHECK(s.stored().clean_up_due);
}

TEST_CASE("a late effect may be the one that was wanted: adopted, it is confirmed") {
    one_shop s(bare);
    s.shop.on_submit([](shop::attempt const&, world&) -> shop::keyed_reply { return refused{}; });
    CHECK(s.run().error().state() == state_id::rejected);
    s.truth->put({.key = s.id.key, .request = s.request, .receipt = "late"});
    auto p = s.start();
    CHECK(p.observe(s.id, effect_of(s, "late")).error().rule() == rule::late_effect);
    REQUIRE(adopt(s, "late"));
    CHECK(s.run());
    CHECK(s.truth->sends() == 1);
}

TEST_CASE("an adoption is about the record as it stands when it is written") {
    one_shop s(bare);
    doubtful(s);
    auto p = s.start();
    // While the look-up is made, another person closes the operation.
    s.shop.on_lookup([&](shop::query const&, world&) -> shop::answer {
        auto other = s.start();
        CHECK(other.abandon(s.id, {"ben", "enough"}));
        return shop::complete{{effect_of(s, "r-7")}};
    });
    CHECK(p.adopt(s.id, "r-7", ann).error().rule() == rule::illegal_decision);
    CHECK(s.state() == state_id::abandoned);
    REQUIRE(s.stored().notes_or_none().decisions.size() == 1);
    CHECK(s.stored().notes_or_none().decisions[0].who == "ben");
}

TEST_CASE("only an operation of this provider, under a known fingerprint, is adopted") {
    struct newer : exact_fingerprint {
        static constexpr std::string_view rule() { return "exact/2"; }
    };
    one_shop s(bare);
    doubtful(s);
    shows(s, {effect_of(s, "r-7")});
    recovery<policies<decltype(s.shop), lossy_storage&, newer, bounded_budget, manual_clock>> p(
        {s.shop, s.journal, {}, s.budget, s.clock});
    CHECK(p.adopt(s.id, "r-7", ann).error().rule() == rule::incomparable);
    CHECK(s.state() == state_id::in_review);
    CHECK(adopt(s, "r-7"));
}

TEST_SUITE_END();

} // namespace
