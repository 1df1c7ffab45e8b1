// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#include <indoubt/adapter/sha256_fingerprint.hpp>
#include <indoubt/adapter/xxh3_fingerprint.hpp>
#include <recovery/staged_shop.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>

// What is long settled shrinks to what answers a repeat; what somebody has to do something about
// never does.

namespace {

using namespace scene;
using shop = provider_of<std::string>;

constexpr milliseconds day = 24h, week = 7 * day;

auto const request_lost = shop_of<decltype(bare)>::request_lost;
by const ann{"ann", "asked the shop"};

auto refuses() {
    return [](shop::attempt const&, world&) -> shop::keyed_reply { return refused{}; };
}
bool not_yet(unapplied_operation const&) {
    return false;
}

/// A process over the journal of a scene, with another fingerprint.
template <class Fingerprint, class Contract> auto process_with(one_shop<Contract>& s) {
    using bundle = policies<shop_of<Contract>, lossy_storage&, Fingerprint, bounded_budget,
                            manual_clock, listener>;
    return recovery<bundle>(bundle{s.shop, s.journal, {}, s.budget, s.clock, s.ears});
}

template <class Scene> std::size_t shrink(Scene& s, milliseconds age = week) {
    auto p = s.start();
    auto const done = p.shrink_settled(age);
    REQUIRE(done);
    return done.value();
}

TEST_SUITE_BEGIN("retention");

TEST_CASE_TEMPLATE("a confirmed operation of 8 days answers a repeat as a tombstone [J05]",
                   Fingerprint, xxh3_fingerprint, sha256_fingerprint, exact_fingerprint) {
    one_shop s(bare);
    {
        auto p = process_with<Fingerprint>(s);
        REQUIRE(p.run(s.id, s.request));
        s.clock.advance(6 * day);
        CHECK(p.shrink_settled(week).value() == 0);
        s.clock.advance(2 * day);
        CHECK(p.shrink_settled(week).value() == 1);
        CHECK(p.shrink_settled(week).value() == 0);
    }
    s.cut_power(); // it was told, so it is durable
    auto const left = s.stored();
    CHECK(left.tombstone);
    CHECK(left.attempts.empty());
    bool const keeps_the_request = std::same_as<Fingerprint, exact_fingerprint>;
    CHECK(left.intent->request.empty() == !keeps_the_request);

    auto p = process_with<Fingerprint>(s);
    auto const looks = s.truth->looks();
    for (int repeats = 0; repeats != 2; ++repeats) {
        auto const again = p.run(s.id, s.request);
        REQUIRE(again);
        CHECK(again.value().receipt == "r-1");
        CHECK(again.value().before_this_run);
        CHECK_FALSE(again.value().seen_now);
        CHECK(p.reconcile(s.id));
    }
    auto const other = p.run(s.id, "two notebooks");
    REQUIRE(other.has_error());
    CHECK(other.error().rule() == rule::conflicting_intent);
    CHECK(s.truth->sends() == 1);
    CHECK(s.truth->looks() == looks);
    CHECK(p.recorded(s.id).value().state == state_id::confirmed);
    CHECK(p.cancel(s.id).value().state == state_id::confirmed);
}

TEST_CASE("what is unresolved for 30 days stays whole, and still blocks a resend [J05]") {
    one_shop s(bare);
    s.shop.on_submit(request_lost);
    CHECK(s.run({.deadline = 50ms}).has_error()); // uncertain
    identity const in_review{"shop", "order-2"}, waiting{"shop", "order-3"};
    s.shop.on_submit(request_lost);
    CHECK(s.run(in_review, "a pen").has_error());
    s.shop.on_lookup(shop_of<decltype(bare)>::down, s.budget.looks);
    CHECK(s.run(waiting, "a pen").has_error());
    CHECK(s.state() == state_id::uncertain);
    CHECK(s.stored(in_review).state == state_id::in_review);
    CHECK(s.stored(waiting).state == state_id::pending);

    s.clock.advance(30 * day);
    CHECK(shrink(s) == 0);
    CHECK(s.unsettled().size() == 3);
    s.shop.always_on_lookup(shop_of<decltype(bare)>::empty);
    CHECK(s.run().error().in_doubt());
    CHECK(s.run(in_review, "a pen").error().in_doubt());
    CHECK(s.truth->sends() == 2);
}

TEST_CASE("what a person abandoned never shrinks [J05]") {
    one_shop s(bare);
    s.shop.on_submit(request_lost);
    CHECK(s.run().has_error());
    REQUIRE(s.start().abandon(s.id, ann));
    s.clock.advance(365 * day);
    CHECK(shrink(s, 0ms) == 0);
    CHECK(s.stored().notes_or_none().decisions.size() == 1);
    CHECK(s.run().error().in_doubt());
    CHECK(s.truth->sends() == 1);
}

TEST_CASE("what has a hook due does not shrink before it returned [J05]") {
    staged_shop s(bare);
    s.hook->then = not_yet;
    s.shop.on_submit(refuses());
    CHECK(s.run().has_error());
    s.clock.advance(8 * day);
    CHECK(shrink(s) == 0);
    s.hook->then = nullptr;
    CHECK(s.run().has_error());
    CHECK(shrink(s) == 1); // it was settled 8 days ago
    CHECK(s.run().error().rule() == rule::refused_by_provider);
    CHECK(s.calls() == 2);
}

TEST_CASE("what has a clean-up due does not shrink [J05]") {
    one_shop s(bare);
    auto p = s.start();
    s.shop.on_submit([&](shop::attempt const& a, world& w) -> shop::keyed_reply {
        REQUIRE(p.cancel(s.id));
        return shop_of<decltype(bare)>::applied(a, w);
    });
    CHECK(p.run(s.id, s.request));
    REQUIRE(s.stored().clean_up_due);
    s.clock.advance(365 * day);
    CHECK(shrink(s) == 0);
    CHECK(s.stored().attempts.size() == 1);
}

TEST_CASE_TEMPLATE("an effect after a rejected one has shrunk goes to a person [J05]", Fingerprint,
                   xxh3_fingerprint, exact_fingerprint) {
    one_shop s(bare);
    auto p = process_with<Fingerprint>(s);
    s.shop.on_submit(refuses());
    CHECK(p.run(s.id, s.request).has_error());
    s.clock.advance(8 * day);
    REQUIRE(p.shrink_settled(week).value() == 1);
    for (auto const& content : {s.request, std::string("another thing")}) {
        auto const told = p.observe(s.id, shop::effect{"r-9", s.id.key, content});
        REQUIRE(told.has_error());
        CHECK(told.error().rule() == rule::late_effect);
        CHECK(told.error().state() == state_id::in_review);
        CHECK(told.error().in_doubt());
        s.cut_power();
        CHECK(s.state() == state_id::in_review);
        REQUIRE(process_with<Fingerprint>(s).dismiss(s.id, ann, {}));
        CHECK(s.state() == state_id::rejected);
        s.cut_power();
    }
    CHECK(s.truth->sends() == 1);
}

TEST_CASE("another receipt after a confirmed one has shrunk goes to a person, too [J05]") {
    one_shop s(bare);
    REQUIRE(s.run());
    s.clock.advance(8 * day);
    REQUIRE(shrink(s) == 1);
    auto p = s.start();
    CHECK(p.observe(s.id, shop::effect{"r-1", s.id.key, s.request}));
    auto const second = p.observe(s.id, shop::effect{"r-2", s.id.key, s.request});
    REQUIRE(second.has_error());
    CHECK(second.error().rule() == rule::several_effects);
    CHECK(s.state() == state_id::in_review);
    CHECK(s.run().error().in_doubt());
    CHECK(s.truth->sends() == 1);
}

TEST_CASE("what has shrunk is not superseded, and its key stays its own [J05]") {
    one_shop s(bare);
    s.shop.on_submit(refuses());
    CHECK(s.run().has_error());
    s.clock.advance(8 * day);
    REQUIRE(shrink(s) == 1);
    auto const before = s.stored();
    auto const again = s.start().supersede(s.id, ann);
    REQUIRE(again.has_error());
    CHECK(again.error().rule() == rule::illegal_decision);
    CHECK(s.stored().version == before.version);
    auto const taken = s.run({"another scope", s.id.key}, s.request);
    REQUIRE(taken.has_error());
    CHECK(taken.error().rule() == rule::key_taken);
    CHECK(s.truth->sends() == 1);
}

TEST_CASE("a receipt whose operation has shrunk stays taken [J05]") {
    one_shop s(bare);
    REQUIRE(s.run());
    s.clock.advance(8 * day);
    REQUIRE(shrink(s) == 1);
    s.shop.on_submit([](shop::attempt const& a, world&) -> shop::keyed_reply {
        return shop::accepted_with_key{"r-1", std::string(a.key())};
    });
    auto const other = s.run({"shop", "order-2"}, s.request);
    REQUIRE(other.has_error());
    CHECK(other.error().rule() == rule::receipt_taken);
}

TEST_CASE("evidence of the whole record is stale once it has shrunk [J05]") {
    one_shop s(bare);
    REQUIRE(s.run());
    auto p = s.start();
    auto op = taken<confirmed>(p.journal(), s.id);
    s.clock.advance(8 * day);
    REQUIRE(shrink(s) == 1);
    auto nothing =
        decided<contradiction>(op, bare, weigh(bare, op, shop::effect{"r-2", s.id.key, s.request}),
                               p.journal().moment(op.stored(), s.budget, bare));
    auto const late = p.journal().write(refer(std::move(op), std::move(nothing)));
    REQUIRE(late.has_error());
    CHECK(late.error().rule() == rule::stale_version);
    CHECK(s.stored().tombstone);
}

/// Ten confirmed orders; then a shrink in which the step fails that has this number, and a power
/// cut that keeps so many writes.
void shrink_and_fail(std::uint64_t step, std::size_t kept) {
    one_shop s(bare);
    auto const name = [](int n) { return identity{"shop", std::to_string(n)}; };
    for (int n = 0; n != 10; ++n)
        REQUIRE(s.run(name(n), s.request));
    s.clock.advance(8 * day);
    s.journal.fail_at(s.journal.steps() + step);
    {
        auto p = s.start();
        auto const done = p.shrink_settled(week, 6);
        REQUIRE(done.has_error());
        CHECK(done.error().rule() == rule::storage_failed);
    }
    s.journal.power_cut(kept);
    int whole = 0, shrunk = 0;
    for (int n = 0; n != 10; ++n) {
        auto const r = s.stored(name(n));
        CHECK(r.state == state_id::confirmed);
        if (r.tombstone && r.attempts.empty()) ++shrunk;
        if (!r.tombstone && r.attempts.size() == 1) ++whole;
    }
    CHECK(whole + shrunk == 10);
    CHECK(shrunk == (kept == 0 ? 0 : 6));
    for (int n = 0; n != 10; ++n)
        CHECK(s.run(name(n), s.request));
    CHECK(s.truth->sends() == 10);
    CHECK(shrink(s) == std::size_t(kept == 0 ? 10 : 4));
}

TEST_CASE("a power cut in the middle leaves the old or the new, and never neither [J05]") {
    for (std::uint64_t step : {1U, 2U}) // the write and its flush
        for (std::size_t kept : {0U, 1U})
            shrink_and_fail(step, kept);
}

TEST_CASE("the oldest shrink first, so many at a time, whatever age is asked for") {
    one_shop s(bare);
    for (int n = 0; n != 5; ++n) {
        REQUIRE(s.run({"shop", std::to_string(n)}, s.request));
        s.clock.advance(day);
    }
    auto p = s.start();
    CHECK(p.shrink_settled(milliseconds::max()).value() == 0);
    CHECK(p.shrink_settled(3 * day + 12h, 1).value() == 1);
    CHECK(s.stored({"shop", "0"}).tombstone);
    CHECK(p.shrink_settled(3 * day + 12h, 1).value() == 1);
    CHECK(p.shrink_settled(3 * day + 12h, 1).value() == 0);
    CHECK_FALSE(s.stored({"shop", "2"}).tombstone);
    CHECK(p.shrink_settled(0ms, 0).value() == 0);
    CHECK(p.shrink_settled(milliseconds::min()).value() == 3); // what is settled by now
}

TEST_CASE("a decision that is given again after retention still changes nothing") {
    one_shop s(bare);
    s.shop.on_submit(refuses());
    CHECK(s.run().has_error());
    auto p = s.start();
    by const word{"bob", "a copy they made for a test", "ticket 7"};
    CHECK(p.observe(s.id, shop::effect{"r-1", s.id.key, s.request}).has_error());
    REQUIRE(p.dismiss(s.id, word, {"r-1"}));
    s.clock.advance(8 * day);
    REQUIRE(shrink(s) == 1);
    CHECK(p.observe(s.id, shop::effect{"r-2", s.id.key, s.request}).has_error());
    auto const again = p.dismiss(s.id, word, {"r-1"});
    REQUIRE(again);
    CHECK(again.value().state == state_id::in_review);
    CHECK(s.stored().reason == rule::late_effect);
}

TEST_CASE(
    "of what has shrunk to its fingerprint the person's word counts: it cannot be asked for") {
    one_shop s(bare);
    using process = recovery<policies<decltype(s.shop), lossy_storage&, sha256_fingerprint,
                                      bounded_budget, manual_clock>>;
    process p({s.shop, s.journal, {}, s.budget, s.clock});
    s.shop.on_submit(refuses());
    CHECK(p.run(s.id, s.request).has_error());
    s.clock.advance(8 * day);
    REQUIRE(p.shrink_settled(day).value() == 1);
    CHECK(p.observe(s.id, shop::effect{"r-1", s.id.key, s.request}).has_error());
    auto const looks = s.truth->looks();
    REQUIRE(p.adopt(s.id, "r-1", ann));
    CHECK(s.truth->looks() == looks);
    CHECK(s.stored().basis == basis::person);
    CHECK(p.run(s.id, s.request).value().receipt == "r-1");
}

TEST_SUITE_END();

} // namespace
