// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#include <recovery/by_hand.hpp>

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <utility>

// Histories about several attempts, what covers them, and clocks.

namespace {

using namespace scene;
using shop = provider_of<std::string>;

auto const applied_reply_lost = shop_of<decltype(bare)>::applied_reply_lost;
auto const request_lost = shop_of<decltype(bare)>::request_lost;
auto const empty = shop_of<decltype(bare)>::empty;

TEST_SUITE_BEGIN("histories: attempts");

// ---- H11 and H9: what covers a resend -----------------------------------------------------------

constexpr contract by_name{.resend = unique_target{.undisturbed_for = 1h, .documented_at = cited},
                           .lookup = complete_lookup{.visible_after = 0ms},
                           .call_timeout = 1s,
                           .arrives_within = 1min};
constexpr contract by_state{.resend =
                                naturally_idempotent{.undisturbed_for = 1h, .documented_at = cited},
                            .lookup = complete_lookup{.visible_after = 0ms},
                            .call_timeout = 1s,
                            .arrives_within = 1min};
constexpr contract by_key{.resend = deduplicated_by_key{.window = 1h, .documented_at = cited},
                          .lookup = complete_lookup{.visible_after = 0ms},
                          .call_timeout = 1s,
                          .arrives_within = 1min};

/// Loses the first call, and runs again so long after it.
template <class Contract> bool resends_after(Contract documented, milliseconds since) {
    one_shop s(documented);
    s.shop.on_submit(request_lost);
    CHECK(s.run({.deadline = 50ms}).has_error());
    s.clock.advance(s.stored().attempts.at(0).sent_at + since - s.clock.wall());
    auto const done = s.run();
    if (done) return s.truth->sends() == 2;
    CHECK(done.error().rule() == rule::window_closed);
    CHECK(s.truth->sends() == 1);
    return false;
}

TEST_CASE("a resend must arrive before the window closes, margin included [H11]") {
    constexpr milliseconds closes = 1h - 1min - 1s; // window, arrives_within, margin
    CHECK(resends_after(by_key, closes - 1ms));
    CHECK_FALSE(resends_after(by_key, closes));
    CHECK_FALSE(resends_after(by_key, 24h - 1s));
    CHECK(resends_after(by_name, closes - 1ms));
    CHECK_FALSE(resends_after(by_name, closes));
    CHECK(resends_after(by_state, closes - 1ms));
    CHECK_FALSE(resends_after(by_state, closes));
}

TEST_CASE("the window counts from the first attempt, however the later ones end [H11]") {
    one_shop s(by_key);
    s.budget.attempts = 10;
    s.shop.on_submit(request_lost);
    s.shop.on_submit([](shop::attempt const&, world&) -> shop::keyed_reply { return not_sent{}; });
    s.shop.on_submit(request_lost);
    CHECK(s.run({.deadline = 50ms}).has_error());
    s.clock.advance(58min);
    CHECK(s.run({.deadline = 1ms}).has_error());
    CHECK(s.truth->sends() == 2);
    s.clock.advance(59s);
    CHECK(s.run().error().rule() == rule::window_closed);
    CHECK(s.truth->sends() == 2);
}

TEST_CASE("a contract that promises more than its predecessor covers no older attempt [H9]") {
    one_shop s(bare);
    s.shop.on_submit(request_lost);
    CHECK(s.run({.deadline = 50ms}).has_error());
    REQUIRE(s.state() == state_id::uncertain);
    using newer = shop_of<decltype(by_key)>;
    recovery<policies<newer, lossy_storage&, exact_fingerprint, bounded_budget, manual_clock>> p(
        {newer(by_key, s.truth), s.journal, {}, s.budget, s.clock});
    s.clock.advance(10min);
    auto const done = p.run(s.id, s.request);
    REQUIRE(done.has_error());
    CHECK(done.error().rule() == rule::no_guarantee);
    CHECK(s.truth->sends() == 1);
}

// ---- H13: inner retries -------------------------------------------------------------------------

TEST_CASE("a refusal of the last inner try proves nothing about the earlier ones [H13]") {
    constexpr contract repeating{.resend =
                                     deduplicated_by_key{.window = 1h, .documented_at = cited},
                                 .lookup = complete_lookup{},
                                 .call_timeout = 1s,
                                 .arrives_within = 1min,
                                 .inner_attempts = 2};
    for (shop::keyed_reply const& said :
         {shop::keyed_reply(refused{}), shop::keyed_reply(refused{.for_good = false}),
          shop::keyed_reply(not_sent{})}) {
        one_shop s(repeating);
        s.shop.on_submit([&](shop::attempt const& a, world& w) {
            w.apply(a.key(), a.bytes()); // the first inner try
            CHECK(s.state() == state_id::uncertain);
            return said; // the second one
        });
        CHECK(s.run());
        CHECK(s.truth->effects() == 1);
        CHECK(s.truth->sends() == 1);
    }
}

// ---- H14: each attempt has its own outcome ------------------------------------------------------

/// Two attempts are under way, under a guarantee.
template <class Process, class Scene> operation<uncertain> two_open(Process& p, Scene& s) {
    auto& book = p.journal();
    (void)departed(book, s, by_key);
    s.clock.advance(2min);
    auto op = taken<uncertain>(book, s.id);
    auto leave = decided<resend_clearance>(op, by_key, absence(op, by_key),
                                           book.moment(op.stored(), s.budget, by_key));
    REQUIRE(book.write(resend(std::move(op), std::move(leave))));
    REQUIRE(s.stored().open_attempts() == 2);
    return taken<uncertain>(book, s.id);
}

TEST_CASE("one of two attempts refused for good: remembered, and decisive at the end [H14]") {
    one_shop s(by_key);
    auto p = s.start();
    auto& book = p.journal();
    auto op = two_open(p, s);
    auto now = [&] { return book.moment(op.stored(), s.budget, by_key); };
    auto kept = decided<attempt_outcome>(op, by_key, replied(op, by_key, refused{}, 2), now());
    op = std::move(book.write(record_outcome(std::move(op), std::move(kept))).value());
    CHECK(op.stored().open_attempts() == 1);
    auto end = decided<refusal>(op, by_key, replied(op, by_key, not_sent{}, 1), now());
    REQUIRE(book.write(reject(std::move(op), std::move(end))));
    CHECK(s.state() == state_id::rejected);
    CHECK(s.stored().attempts[0].outcome == attempt_outcome_id::not_sent);
    CHECK(s.stored().attempts[1].outcome == attempt_outcome_id::refused_for_good);
    CHECK(p.run(s.id, s.request).error().state() == state_id::rejected);
    CHECK(s.truth->sends() == 0);
}

TEST_CASE("both attempts surely not applied, in whatever order: pending again [H14]") {
    for (std::uint32_t first : {1U, 2U}) {
        one_shop s(by_key);
        auto p = s.start();
        auto& book = p.journal();
        auto op = two_open(p, s);
        auto now = [&] { return book.moment(op.stored(), s.budget, by_key); };
        auto const busy = refused{.for_good = false, .retry_after = 3s};
        auto kept = decided<attempt_outcome>(op, by_key, replied(op, by_key, busy, first), now());
        op = std::move(book.write(record_outcome(std::move(op), std::move(kept))).value());
        auto end =
            decided<non_application>(op, by_key, replied(op, by_key, busy, 3 - first), now());
        REQUIRE(book.write(reopen(std::move(op), std::move(end))));
        CHECK(s.state() == state_id::pending);
        CHECK(s.stored().open_attempts() == 0);
        CHECK(s.stored().next_check == s.clock.wall() + 3s);
    }
}

TEST_CASE("a refusal that is remembered outweighs a person's 'not applied' [H14]") {
    one_shop s(by_key);
    auto p = s.start();
    auto& book = p.journal();
    auto op = two_open(p, s);
    auto now = [&] { return book.moment(op.stored(), s.budget, by_key); };
    auto kept = decided<attempt_outcome>(op, by_key, replied(op, by_key, refused{}, 2), now());
    op = std::move(book.write(record_outcome(std::move(op), std::move(kept))).value());
    s.clock.advance(2h);
    auto why = decided<doubt>(op, by_key, absence(op, by_key), now());
    auto review = std::move(book.write(refer(std::move(op), std::move(why))).value());
    ruling word(review.stamp(), {"ann", "asked them"}, book.now());
    REQUIRE(book.write(rule_out(std::move(review), std::move(word))));
    auto const done = p.run(s.id, s.request);
    REQUIRE(done.has_error());
    CHECK(done.error().state() == state_id::rejected);
    CHECK(s.truth->sends() == 0);
}

/// An operation that went to review by doubt while its only call was still out.
template <class Process, class Scene> operation<in_review> in_doubt(Process& p, Scene& s) {
    auto& book = p.journal();
    (void)departed(book, s, bare);
    auto op = taken<uncertain>(book, s.id);
    auto const spent = book.moment(op.stored(), s.budget, bare, {.looks = s.budget.looks});
    auto why = decided<doubt>(op, bare, absence(op, bare), spent);
    return std::move(book.write(refer(std::move(op), std::move(why))).value());
}

TEST_CASE("a reply that comes while a person is asked still settles a doubt [H14]") {
    auto const after = [](shop::keyed_reply said) {
        one_shop s(bare);
        auto p = s.start();
        auto& book = p.journal();
        auto op = in_doubt(p, s);
        auto const now = book.moment(op.stored(), s.budget, bare);
        auto next = decide(op, bare, replied(op, bare, std::move(said)), now);
        if (auto* e = next.get_if<refusal>()) {
            REQUIRE(book.write(reject(std::move(op), std::move(*e))));
        } else if (auto* n = next.get_if<non_application>()) {
            REQUIRE(book.write(reopen(std::move(op), std::move(*n))));
        } else if (auto* o = next.get_if<attempt_outcome>()) {
            REQUIRE(book.write(record_outcome(std::move(op), std::move(*o))));
        }
        return s.stored();
    };
    CHECK(after(refused{}).state == state_id::rejected);
    CHECK(after(not_sent{}).state == state_id::pending);
    CHECK(after(refused{.for_good = false}).state == state_id::pending);
    auto const hinted = after(unknown{.hints = "trace 7"});
    CHECK(hinted.state == state_id::in_review);
    CHECK(hinted.notes_or_none().hints == "trace 7");
    CHECK(hinted.reason == rule::no_guarantee); // it still tells why
    auto const taken_in = after(shop::accepted_with_key{"r-9", "order-1"});
    CHECK(taken_in.state == state_id::in_review);
    CHECK(taken_in.receipt == "r-9");
}

TEST_CASE(
    "a second receipt after the confirmation is a second effect; the same one is none [H14]") {
    one_shop s(bare);
    REQUIRE(s.run());
    auto p = s.start();
    auto& book = p.journal();
    auto op = taken<confirmed>(book, s.id);
    auto const now = book.moment(op.stored(), s.budget, bare);
    auto const same = replied(op, bare, shop::accepted_with_key{"r-1", "order-1"});
    CHECK_FALSE(decide(op, bare, same, now).holds<contradiction>());
    auto const second = replied(op, bare, shop::accepted_with_key{"r-2", "order-1"});
    auto why = decided<contradiction>(op, bare, second, now);
    CHECK(why.rule() == rule::several_effects);
    REQUIRE(book.write(refer(std::move(op), std::move(why))));
    CHECK(s.stored().came_from == state_id::confirmed);
    CHECK(s.stored().receipt == "r-1");
}

// ---- H17 and H20: time --------------------------------------------------------------------------

TEST_CASE("a wall clock that steps back opens no window again, at once or at the next open [H17]") {
    for (bool restarts : {false, true}) {
        one_shop s(by_key);
        s.shop.on_submit(request_lost);
        auto p = s.start();
        CHECK(p.run(s.id, s.request, {.deadline = 50ms}).has_error());
        s.clock.advance(1h); // the window is over
        REQUIRE(p.run({"shop", "order-2"}, "a pen"));
        s.clock.step_wall(-30min);
        if (restarts) {
            s.cut_power();
            s.clock.restart();
        }
        auto const done = restarts ? s.run() : p.run(s.id, s.request);
        REQUIRE(done.has_error());
        CHECK(done.error().rule() == rule::window_closed);
        CHECK(s.truth->effects("order-1") == 0);
        CHECK(s.truth->sends() == 2);
    }
}

constexpr contract slow_proof{.resend = deduplicated_by_key{.window = 1h, .documented_at = cited},
                              .lookup = complete_lookup{.visible_after = 15min},
                              .reply = proof{.documented_at = cited},
                              .call_timeout = 1s,
                              .arrives_within = 1min};

TEST_CASE("what was confirmed by a reply is not missed before it can be visible [H20]") {
    one_shop s(slow_proof);
    s.truth->hide_effects_for(15min);
    REQUIRE(s.run());
    for (std::chrono::seconds const later : {1s, 780s, 118s}) {
        s.clock.advance(later);
        auto const again = s.run();
        REQUIRE(again);
        CHECK_FALSE(again.value().seen_now);
    }
    s.clock.advance(1s); // 15 minutes
    auto const seen = s.run();
    REQUIRE(seen);
    CHECK(seen.value().seen_now);
    s.truth->remove(s.id.key);
    CHECK(s.run().error().rule() == rule::effect_missing);
    CHECK(s.truth->sends() == 1);
}

TEST_CASE("missing counts from the confirmation, for the call itself may have come late [H20]") {
    one_shop s(slow_proof);
    s.shop.on_submit(applied_reply_lost);
    s.shop.on_lookup(empty, 2);
    CHECK(s.run({.deadline = 50ms}).has_error());
    s.clock.advance(20min);
    REQUIRE(s.run());
    s.shop.always_on_lookup(empty); // a replica that lags
    s.clock.advance(14min);
    CHECK(s.run());
    s.clock.advance(1min);
    CHECK(s.run().error().rule() == rule::effect_missing);
}

TEST_CASE("what a restored copy holds as pending may have been sent by the other life [H16]") {
    one_shop s(by_key);
    s.shop.on_lookup(shop_of<decltype(bare)>::down, s.budget.looks);
    CHECK(s.run().error().state() == state_id::pending);
    s.journal.restore(s.journal.unflushed());
    for (int lives = 0; lives != 2; ++lives) {
        auto const done = s.run();
        REQUIRE(done.has_error());
        CHECK(done.error().rule() == rule::restored_copy);
        CHECK(done.error().in_doubt());
        CHECK(s.truth->sends() == 0);
        s.cut_power(); // and opened as usual
    }
    {
        auto p = s.start();
        auto op = taken<in_review>(p.journal(), s.id);
        resumption<uncertain> word(op.stamp(), {"ann", "go on"}, p.journal().now(), 3,
                                   time_point::max());
        REQUIRE(p.journal().write(resume(std::move(op), std::move(word))));
        auto const resumed = p.run(s.id, s.request);
        REQUIRE(resumed.has_error());
        CHECK(resumed.error().in_doubt());
        CHECK(s.truth->sends() == 0); // going on is not 'not applied'
    }
    auto p = s.start();
    auto op = taken<in_review>(p.journal(), s.id);
    ruling word(op.stamp(), {"ann", "asked them"}, p.journal().now());
    REQUIRE(p.journal().write(rule_out(std::move(op), std::move(word))));
    CHECK(p.run(s.id, s.request));
    CHECK(s.truth->sends() == 1);
}

TEST_CASE("a restored copy that holds a cancelled operation as pending asks a person [H16]") {
    one_shop s(by_key);
    {
        auto p = s.start();
        auto& book = p.journal();
        (void)departed(book, s, by_key);
        REQUIRE(p.cancel(s.id));
        auto op = taken<uncertain>(book, s.id);
        auto const seen = replied(op, by_key, not_sent{});
        auto word =
            decided<non_application>(op, by_key, seen, book.moment(op.stored(), s.budget, by_key));
        REQUIRE(book.write(reopen(std::move(op), std::move(word))));
    }
    s.journal.restore(s.journal.unflushed()); // right before it is settled
    REQUIRE(s.stored().cancel_requested);
    CHECK(s.run().error().rule() == rule::restored_copy);
    CHECK(s.state() == state_id::in_review);
    s.truth->apply(s.id.key, s.request); // what the other life did shows late
    CHECK(s.run());
    CHECK(s.stored().clean_up_due);
    CHECK(s.truth->sends() == 0);
}

// ---- H24: a fingerprint of another program ------------------------------------------------------

struct foreign_fingerprint {
    static std::string_view rule() { return "sha256/1"; }
    static std::string digest(content const&) { return "a digest"; }
    static bool same(std::string_view, content const&, content const&) { return true; }
};

TEST_CASE("what another fingerprint rule recorded is left alone, settled or not [H24]") {
    for (bool settled : {false, true}) {
        one_shop s(bare);
        using other = recovery<policies<decltype(s.shop), lossy_storage&, foreign_fingerprint,
                                        bounded_budget, manual_clock>>;
        {
            other p({s.shop, s.journal, {}, s.budget, s.clock});
            if (!settled) s.shop.on_lookup(shop_of<decltype(bare)>::down, s.budget.looks);
            CHECK(p.run(s.id, s.request).has_value() == settled);
        }
        auto const before = s.stored();
        auto const sends = s.truth->sends();
        for (auto const& done : {s.run(), s.reconcile()}) {
            REQUIRE(done.has_error());
            CHECK(done.error().rule() == rule::incomparable);
            CHECK(done.error().state() == before.state);
            CHECK(done.error().in_doubt() == settled); // there is an effect, of whatever intent
        }
        CHECK(s.truth->sends() == sends);
        CHECK(s.stored().version == before.version);
        CHECK(s.unsettled().size() == (settled ? 0 : 1));
    }
}

TEST_SUITE_END();

} // namespace
