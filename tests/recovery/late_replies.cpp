// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#include <recovery/by_hand.hpp>

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

// Replies that come after their call was given up: each is recorded on its own attempt, and settles
// what it would have settled in time.

namespace {

using namespace scene;
using shop = provider_of<std::string>;
using outcome = attempt_outcome_id;

auto const request_lost = shop_of<decltype(bare)>::request_lost;
auto const applied_reply_lost = shop_of<decltype(bare)>::applied_reply_lost;
auto const down = shop_of<decltype(bare)>::down;
auto const empty = shop_of<decltype(bare)>::empty;

/// A reply is proof, and there is a look-up beside it.
constexpr contract echoing{.resend = deduplicated_by_key{.window = 1h, .documented_at = cited},
                           .lookup = complete_lookup{},
                           .reply = proof{.documented_at = cited},
                           .call_timeout = 1s,
                           .arrives_within = 1min};

template <class Scene> auto late(Scene& s, shop::keyed_reply const& r, std::uint32_t attempt = 1) {
    auto p = s.start();
    return p.observe(s.id, r, attempt);
}

/// Uncertain after so many calls, none of which was answered; nothing is shown.
template <class Scene> void lose_calls(Scene& s, unsigned calls) {
    for (unsigned i = 0; i != calls; ++i)
        s.shop.on_submit(request_lost);
    s.shop.always_on_lookup(empty);
    CHECK(s.run({.deadline = calls == 1 ? 50ms : 150ms}).has_error());
    REQUIRE(s.state() == state_id::uncertain);
    REQUIRE(s.stored().open_attempts() == calls);
}

TEST_SUITE_BEGIN("late replies");

// ---- one of several attempts --------------------------------------------------------------------

TEST_CASE("a late refusal of one of two attempts closes that one, and no more [U12]") {
    for (std::uint32_t const which : {1U, 2U}) {
        CAPTURE(which);
        one_shop s(deduplicating);
        lose_calls(s, 2);
        auto const first = late(s, refused{.because = refusal_class::invalid_input}, which);
        CHECK(first.error().in_doubt()); // the other one may still be applied
        auto const r = s.stored();
        CHECK(r.state == state_id::uncertain);
        CHECK(r.attempts[which - 1].outcome == outcome::refused_for_good);
        CHECK(r.attempts[2 - which].outcome == outcome::open);
        s.cut_power();
        auto const second = late(s, not_sent{}, 3 - which);
        CHECK_FALSE(second.error().in_doubt());
        CHECK(s.state() == state_id::rejected); // the refusal was remembered
        CHECK(s.stored().attempts[2 - which].outcome == outcome::not_sent);
        CHECK(s.truth->sends() == 2);
    }
}

TEST_CASE("the last open attempt surely was not applied: it may be sent again") {
    for (bool const reviewed : {false, true}) {
        CAPTURE(reviewed);
        one_shop s(deduplicating);
        lose_calls(s, 1);
        if (reviewed) {
            s.clock.advance(2h); // the window is over
            CHECK(s.run().error().state() == state_id::in_review);
        }
        auto const told = late(s, not_sent{});
        CHECK(told.error().rule() == rule::nothing_sent);
        CHECK_FALSE(told.error().in_doubt());
        CHECK(s.state() == state_id::pending);
        s.shop.always_on_lookup(shop_of<decltype(bare)>::truthful);
        CHECK(s.run());
        CHECK(s.truth->effects() == 1);
        CHECK(s.truth->distinct_keys() == 1);
    }
}

TEST_CASE("a late refusal for now brings its time, which the caller hears") {
    one_shop s(deduplicating);
    lose_calls(s, 1);
    auto const told = late(s, refused{refusal_class::busy, false, 30s});
    CHECK(told.error().rule() == rule::refused_for_now);
    CHECK(told.error().again_at() == s.clock.wall() + 30s);
    CHECK(s.stored().next_check == s.clock.wall() + 30s);
}

TEST_CASE("a late refusal for good rejects, also out of a review by doubt") {
    for (bool const reviewed : {false, true}) {
        one_shop s(deduplicating);
        lose_calls(s, 1);
        if (reviewed) {
            s.clock.advance(2h);
            CHECK(s.run().error().state() == state_id::in_review);
        }
        auto const told = late(s, refused{.because = refusal_class::permission});
        CHECK(told.error().rule() == rule::refused_permission);
        CHECK(s.state() == state_id::rejected);
        s.cut_power();
        CHECK(s.state() == state_id::rejected);
    }
}

TEST_CASE("a contradiction does not end by a late reply") {
    one_shop s(echoing);
    lose_calls(s, 1);
    auto p = s.start();
    CHECK(p.observe(s.id, shop::effect{.receipt = "r-1", .key = s.id.key, .request = "another"})
              .error()
              .rule() == rule::contents_differ);
    CHECK(late(s, refused{}).has_error());
    CHECK(s.stored().attempts[0].outcome == outcome::refused_for_good); // kept for the person
    CHECK(late(s, shop::accepted_with_key{"r-1", s.id.key}).has_error());
    CHECK(s.state() == state_id::in_review);
    CHECK(s.stored().concern == concern::contradiction);
    CHECK(s.stored().reason == rule::contents_differ);
}

// ---- acceptances --------------------------------------------------------------------------------

TEST_CASE("a late proof confirms, on the basis of a reply") {
    one_shop s(echoing);
    s.shop.on_submit(applied_reply_lost);
    s.shop.always_on_lookup(empty);
    CHECK(s.run({.deadline = 50ms}).has_error());
    auto const looks = s.truth->looks();
    auto const done = late(s, shop::accepted_with_key{"r-1", s.id.key});
    REQUIRE(done);
    CHECK(done.value().receipt == "r-1");
    CHECK(s.stored().basis == basis::reply);
    CHECK(s.truth->looks() == looks);
    s.cut_power();
    CHECK(s.state() == state_id::confirmed);
    CHECK(late(s, shop::accepted_with_key{"r-1", s.id.key})); // told twice
    CHECK(s.truth->effects() == 1);
}

TEST_CASE("a late acceptance keeps its receipt, and confirms nothing") {
    one_shop s(deduplicating);
    lose_calls(s, 1);
    auto const told = late(s, shop::accepted_with_key{"r-7", s.id.key});
    CHECK(told.error().rule() == rule::not_yet_visible);
    CHECK(told.error().in_doubt());
    CHECK(s.state() == state_id::uncertain);
    CHECK(s.stored().receipt == "r-7");
    // It helps to find the effect where that does not show our key.
    s.shop.always_on_lookup([&](shop::query const& q, world&) -> shop::answer {
        CHECK(q.receipt == "r-7");
        return shop::complete{{{.receipt = "r-7", .request = q.request}}};
    });
    CHECK(s.run());
    CHECK(s.truth->sends() == 1);
}

TEST_CASE("a late acceptance under another key leaves nothing") {
    one_shop s(echoing);
    lose_calls(s, 1);
    auto const before = s.stored().version;
    CHECK(late(s, shop::accepted_with_key{"r-7", "order-2"}).has_error());
    CHECK(s.stored().version == before);
    CHECK(s.stored().receipt.empty());
}

TEST_CASE("an acceptance whose receipt is another operation's goes to a person [I04b]") {
    one_shop s(deduplicating);
    REQUIRE(s.run({"shop", "order-7"}, "a pen"));
    REQUIRE(s.stored({"shop", "order-7"}).receipt == "r-1");
    lose_calls(s, 1);
    CHECK(late(s, shop::accepted_with_key{"r-1", s.id.key}).error().rule() == rule::receipt_taken);
    CHECK(s.state() == state_id::in_review);
}

TEST_CASE("what nobody explained brings hints, and what says nothing changes nothing") {
    one_shop s(deduplicating);
    lose_calls(s, 1);
    CHECK(late(s, unknown{.hints = "trace 9"}).has_error());
    CHECK(s.stored().notes_or_none().hints == "trace 9");
    auto const before = s.stored().version;
    for (shop::keyed_reply const& r :
         {shop::keyed_reply(unknown{}), {in_progress{1s}}, {shop::duplicate{}}}) {
        auto const told = late(s, r);
        CHECK(told.error().rule() == rule::not_yet_visible);
        CHECK(told.error().in_doubt());
    }
    CHECK(s.stored().version == before);
}

// ---- after it was settled -----------------------------------------------------------------------

/// Confirmed by a look-up, with both attempts open: which of them was applied nobody knows.
template <class Scene> void confirm_with_two_open(Scene& s) {
    lose_calls(s, 2);
    s.truth->put({.key = s.id.key, .request = s.request, .receipt = "r-1"});
    s.shop.always_on_lookup(shop_of<decltype(bare)>::truthful);
    REQUIRE(s.run());
    REQUIRE(s.stored().open_attempts() == 2);
}

TEST_CASE("after it is confirmed a refusal closes its attempt, and the state stays") {
    one_shop s(echoing);
    confirm_with_two_open(s);
    s.ears.heard->clear();
    auto const told = late(s, refused{}, 2);
    REQUIRE(told);
    CHECK(told.value().receipt == "r-1");
    CHECK(told.value().before_this_run);
    auto const r = s.stored();
    CHECK(r.state == state_id::confirmed);
    CHECK(r.attempts[0].outcome == outcome::open);
    CHECK(r.attempts[1].outcome == outcome::refused_for_good);
    CHECK(r.reason == rule::none);
    CHECK(r.basis == basis::looked_up);
    CHECK(late(s, not_sent{}, 2)); // what closed it first stands
    CHECK(s.stored().version == r.version);
    CHECK(s.run());
}

TEST_CASE("after it is confirmed the same receipt is no news, and a second one contradicts") {
    for (bool const proof : {false, true}) {
        CAPTURE(proof);
        auto const check = [](auto documented) {
            one_shop s(documented);
            confirm_with_two_open(s);
            auto const before = s.stored().version;
            CHECK(late(s, shop::accepted_with_key{"r-1", s.id.key}, 2));
            CHECK(s.stored().version == before);
            auto const second = late(s, shop::accepted_with_key{"r-2", s.id.key}, 2);
            CHECK(second.error().rule() == rule::several_effects);
            CHECK(s.state() == state_id::in_review);
            CHECK(s.stored().receipt == "r-1");
            CHECK(s.truth->sends() == 2);
        };
        if (proof) {
            check(echoing);
        } else {
            check(deduplicating);
        }
    }
}

TEST_CASE("after it is rejected or cancelled an acceptance is a late effect [U12c]") {
    for (bool const cancel : {false, true}) {
        CAPTURE(cancel);
        one_shop s(deduplicating);
        s.shop.on_submit([&](shop::attempt const&, world&) -> shop::keyed_reply {
            if (cancel) REQUIRE(s.cancel());
            return cancel ? shop::keyed_reply(not_sent{}) : shop::keyed_reply(refused{});
        });
        CHECK(s.run().has_error());
        auto const from = cancel ? state_id::cancelled : state_id::rejected;
        REQUIRE(s.state() == from);
        s.ears.heard->clear();
        auto const told = late(s, shop::accepted_with_key{"r-1", s.id.key});
        CHECK(told.error().rule() == rule::late_effect);
        CHECK(s.stored().came_from == from);
        using heard = std::vector<std::pair<state_id, state_id>>;
        CHECK(*s.ears.heard == heard{{from, state_id::in_review}});
        CHECK(s.run().has_error());
        CHECK(s.truth->sends() == 1);
    }
}

TEST_CASE("after it is rejected another refusal changes nothing") {
    one_shop s(deduplicating);
    s.shop.on_submit([](shop::attempt const&, world&) -> shop::keyed_reply { return refused{}; });
    CHECK(s.run().has_error());
    auto const before = s.stored().version;
    for (shop::keyed_reply const& r : {shop::keyed_reply(refused{}), {not_sent{}}, {unknown{}}}) {
        CHECK(late(s, r).error().rule() == rule::refused_by_provider);
    }
    CHECK(s.stored().version == before);
}

TEST_CASE("after it is abandoned a late proof is a late effect; a mere acceptance is expected") {
    one_shop s(echoing);
    lose_calls(s, 1);
    s.clock.advance(2h);
    CHECK(s.run().error().state() == state_id::in_review);
    auto p = s.start();
    REQUIRE(p.abandon(s.id, {"ann", "nobody will know"}));
    CHECK(p.observe(s.id, shop::reply(shop::accepted{"r-1"}), 1).error().rule() ==
          rule::abandoned_by_person);
    CHECK(s.state() == state_id::abandoned);
    CHECK(late(s, not_sent{}).has_error());
    CHECK(s.stored().attempts[0].outcome == outcome::not_sent);
    CHECK(late(s, shop::accepted_with_key{"r-1", s.id.key}).error().rule() == rule::late_effect);
    CHECK(s.state() == state_id::in_review);
}

// ---- attempts that are not on record ------------------------------------------------------------

TEST_CASE("a reply to an attempt that is not on record changes nothing") {
    std::vector<shop::keyed_reply> const replies{refused{},
                                                 refused{refusal_class::busy, false, 30s},
                                                 not_sent{},
                                                 shop::accepted_with_key{"r-9", "order-1"},
                                                 conflict{.other_parameters = true},
                                                 unknown{.hints = "trace 9"}};
    auto const unmoved = [&](auto& s, std::initializer_list<std::uint32_t> numbers) {
        auto const before = s.stored();
        for (auto const& r : replies) {
            for (auto const number : numbers)
                CHECK(late(s, r, number).has_error());
        }
        CHECK(s.stored().version == before.version);
        auto p = s.start();
        record other = before;
        other.intent = std::make_shared<intent const>(
            intent{{"shop", "another"}, before.intent->target, "", "", ""});
        CHECK(p.journal().bind_receipt(other, "r-9").value());
    };
    one_shop never_sent(echoing);
    never_sent.shop.on_lookup(down, never_sent.budget.looks);
    CHECK(never_sent.run().error().state() == state_id::pending);
    unmoved(never_sent, {0, 1, 2, 0xffffffffU});

    one_shop sent(echoing);
    lose_calls(sent, 1);
    unmoved(sent, {2, 3, 0xffffffffU});
    CHECK(sent.stored().reason == rule::none);
}

TEST_CASE("in a restored copy a refusal is not the last word: another life may have sent [H16]") {
    one_shop s(deduplicating);
    s.shop.on_submit([](shop::attempt const&, world&) -> shop::keyed_reply {
        return refused{refusal_class::busy, false, 10min};
    });
    CHECK(s.run().error().state() == state_id::pending);
    s.journal.restore();
    s.clock.advance(1h);
    CHECK(s.run().error().rule() == rule::restored_copy);
    REQUIRE(s.state() == state_id::in_review);
    CHECK(late(s, refused{}).error().in_doubt());
    CHECK(s.state() == state_id::in_review);
    CHECK(late(s, not_sent{}, 2).error().in_doubt()); // that one is not on this record
    CHECK(s.state() == state_id::in_review);
}

// ---- a run that is at work ----------------------------------------------------------------------

TEST_CASE("a late reply while the next call is prepared: that call is not made [H8]") {
    one_shop s(echoing);
    s.shop.on_submit(applied_reply_lost);
    s.shop.always_on_lookup(empty);
    CHECK(s.run({.deadline = 50ms}).has_error());
    s.truth->deduplicate(0ms);
    s.clock.advance(10min);
    hooked_storage pausing(s.journal);
    hooked_process<decltype(s.shop.contract)> p({s.shop, pausing, {}, s.budget, s.clock, s.ears});
    pausing.before_flush = [&] {
        REQUIRE(s.stored().open_attempts() == 2);
        shop::keyed_reply const proof = shop::accepted_with_key{"r-1", s.id.key};
        CHECK(p.observe(s.id, proof, 1));
        s.shop.always_on_lookup(shop_of<decltype(bare)>::truthful);
    };
    CHECK(p.run(s.id, s.request));
    CHECK(s.truth->sends() == 1);
    CHECK(s.truth->effects() == 1);
}

// ---- what is not expected any more --------------------------------------------------------------

TEST_CASE("an acceptance of what was ruled out is told before anything is sent again [U12]") {
    auto const play = [](auto const& documented) {
        one_shop s(documented);
        s.truth->hide_effects_for(1h);
        s.shop.on_submit(applied_reply_lost);
        CHECK(s.run().has_error());
        REQUIRE(s.state() == state_id::in_review);
        s.clock.advance(1min);
        REQUIRE(s.start().rule_out(s.id, {"ann", "they say it is not there"}));
        auto p = s.start();
        shop::reply const came = shop::accepted{"r-1"};
        CHECK(p.observe(s.id, came, 1).error().rule() == rule::late_effect);
        CHECK(s.state() == state_id::in_review);
        CHECK(s.run().error().in_doubt());
        CHECK(s.truth->sends() == 1);
        CHECK(s.truth->effects() == 1);
    };
    play(bare);
    play(from_elsewhere);
}

TEST_CASE("a reply of a superseded generation says nothing of the present one [H19]") {
    for (bool const accepts : {false, true}) {
        CAPTURE(accepts);
        one_shop s(echoing);
        auto p = s.start();
        s.shop.on_submit([&](shop::attempt const& a, world& w) -> shop::keyed_reply {
            // While this call hangs its refusal is told, and a person wants it all the same.
            CHECK(p.observe(s.id, shop::reply(refused{.because = refusal_class::permission}), 1)
                      .has_error());
            REQUIRE(p.supersede(s.id, {"ann", "the account is open now"}));
            if (!accepts) return refused{.because = refusal_class::permission};
            return shop::accepted_with_key{w.apply(a.key(), a.bytes()), std::string(a.key())};
        });
        auto const done = p.run(s.id, s.request, {.deadline = 5s});
        auto const r = s.stored();
        CHECK(r.generation == 2);
        if (accepts) { // which contradicts the refusal
            CHECK(done.error().rule() == rule::late_effect);
            CHECK(r.state == state_id::in_review);
            CHECK(s.truth->sends() == 1);
        } else {
            CHECK(done);
            CHECK(r.tries() == 1);
            CHECK(s.truth->effects() == 1);
        }
    }
}

TEST_SUITE_END();

} // namespace
