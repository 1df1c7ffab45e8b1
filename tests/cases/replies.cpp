// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#include <scene.hpp>

#include <doctest/doctest.h>

#include <string>

// What a reply proves, and what it does not.

namespace {

using namespace scene;
using shop = provider_of<std::string>;

/// Nothing is visible until so many sends were made; then the given answer.
template <class Answer> auto hidden_until_send(std::size_t sends, Answer then) {
    return [=](shop::query const& q, world& w) -> shop::answer {
        if (w.sends() < sends) return shop::complete{};
        return then(q, w);
    };
}
constexpr auto down = [](shop::query const&, world&) -> shop::answer { return unavailable{}; };
constexpr auto truth = [](shop::query const& q, world& w) -> shop::answer {
    return shop_of<decltype(bare)>::truthful(q, w);
};
constexpr auto applied_reply_lost = [](shop::attempt const& a, world& w) -> shop::keyed_reply {
    w.apply(a.key(), a.bytes());
    return unknown{};
};
auto reply_with(shop::keyed_reply r) {
    return [r](shop::attempt const&, world&) { return r; };
}

TEST_SUITE_BEGIN("cases: replies");

TEST_CASE("a refusal of the second attempt does not hide the success of the first [U01]") {
    one_shop s(deduplicating);
    s.shop.on_submit(applied_reply_lost);
    s.shop.on_submit(reply_with(refused{}));
    s.shop.always_on_lookup(hidden_until_send(2, down));

    auto const done = s.run();
    REQUIRE(done.has_error());
    CHECK(done.error().in_doubt());
    CHECK(done.error().state() == state_id::uncertain);
    CHECK(s.truth->sends() == 2);
    CHECK(s.truth->effects() == 1);
    auto const r = s.stored();
    REQUIRE(r.attempts.size() == 2);
    CHECK(r.is_open(r.attempts[0])); // the one that is in doubt
    CHECK(r.attempts[1].outcome == attempt_outcome_id::refused_for_good);

    s.shop.always_on_lookup(truth);
    CHECK(s.run());
    CHECK(s.truth->sends() == 2);
    CHECK(s.truth->effects() == 1);
}

TEST_CASE("without a guarantee there is no second attempt that could be refused [U01]") {
    one_shop s(bare);
    s.shop.on_submit(applied_reply_lost);
    s.shop.on_submit(reply_with(refused{}));
    s.shop.always_on_lookup(hidden_until_send(2, down));
    auto const done = s.run();
    REQUIRE(done.has_error());
    CHECK(done.error().in_doubt());
    CHECK(s.truth->sends() == 1);
    s.shop.always_on_lookup(truth);
    CHECK(s.run());
    CHECK(s.truth->sends() == 1);
}

TEST_CASE("'exists already' after an unknown attempt is our own write [U02a]") {
    one_shop s(deduplicating);
    s.shop.on_submit(applied_reply_lost);
    s.shop.on_submit(reply_with(conflict{}));
    s.shop.always_on_lookup(hidden_until_send(2, truth));
    auto const done = s.run();
    REQUIRE(done);
    CHECK(done.value().receipt == "r-1");
    CHECK(s.truth->sends() == 2);
    CHECK(s.truth->effects() == 1);
}

TEST_CASE("'exists already' with other content under our key goes to a person [U02b]") {
    one_shop s(deduplicating);
    s.shop.on_submit([](shop::attempt const& a, world& w) -> shop::keyed_reply {
        w.apply(a.key(), "two notebooks");
        return unknown{};
    });
    s.shop.on_submit(reply_with(conflict{}));
    s.shop.always_on_lookup(hidden_until_send(2, truth));
    for (int runs = 0; runs != 2; ++runs) {
        auto const done = s.run();
        REQUIRE(done.has_error());
        CHECK(done.error().state() == state_id::in_review);
        CHECK(done.error().rule() == rule::contents_differ);
        CHECK(s.truth->sends() == 2);
    }
}

/// The very first call finds the place taken by a record that bears no key.
template <class Contract> void check_it_was_there_before_us(Contract documented) {
    one_shop s(documented);
    s.shop.on_submit([](shop::attempt const& a, world& w) -> shop::keyed_reply {
        w.put({.key = "", .request = std::string(a.bytes()), .receipt = "theirs"});
        return conflict{};
    });
    for (int runs = 0; runs != 2; ++runs) {
        auto const done = s.run();
        REQUIRE(done.has_error());
        CHECK(done.error().state() == state_id::in_review);
        CHECK(done.error().rule() == rule::existed_before);
        CHECK(s.truth->sends() == 1);
        CHECK(s.truth->effects() == 0);
    }
    CHECK(s.stored().notes_or_none().remarks == "candidates: theirs");
}

TEST_CASE("'exists already' to the very first call: it was there before us [U02c]") {
    check_it_was_there_before_us(bare);
}

TEST_CASE("that holds too where a unique name says whose it is [U02c]") {
    constexpr contract by_name{.resend =
                                   unique_target{.undisturbed_for = 24h, .documented_at = cited},
                               .lookup = complete_lookup{},
                               .arrives_within = 1min,
                               .identifies = identified::by_name};
    check_it_was_there_before_us(by_name);
}

TEST_CASE("'exists already' after an earlier attempt at a unique name is ours [U02a]") {
    constexpr contract by_name{.resend =
                                   unique_target{.undisturbed_for = 24h, .documented_at = cited},
                               .lookup = complete_lookup{},
                               .arrives_within = 1min,
                               .identifies = identified::by_name};
    one_shop s(by_name);
    s.shop.on_submit([](shop::attempt const& a, world& w) -> shop::keyed_reply {
        w.put({.key = "", .request = std::string(a.bytes()), .receipt = "at the name"});
        return unknown{};
    });
    s.shop.on_submit(reply_with(conflict{}));
    s.shop.always_on_lookup(hidden_until_send(2, truth));
    auto const done = s.run();
    REQUIRE(done);
    CHECK(done.value().receipt == "at the name");
    CHECK(s.truth->sends() == 2);
}

TEST_CASE("'busy' that the contract does not explain may come with the effect [U03a]") {
    one_shop s(bare);
    s.shop.on_submit(applied_reply_lost);
    s.shop.always_on_lookup(hidden_until_send(1, down));
    auto const first = s.run();
    REQUIRE(first.has_error());
    CHECK(first.error().in_doubt());
    CHECK(s.truth->sends() == 1);
    s.clock.advance(2s);
    s.shop.always_on_lookup(truth);
    CHECK(s.run());
    CHECK(s.truth->sends() == 1);
    CHECK(s.truth->effects() == 1);
}

TEST_CASE("'busy' that is documented as not applied allows a second call, after its time [U03b]") {
    one_shop s(bare);
    s.shop.on_submit(
        reply_with(refused{.because = refusal_class::busy, .for_good = false, .retry_after = 2s}));
    CHECK(s.run());
    CHECK(s.truth->sends() == 2);
    CHECK(s.truth->effects() == 1);
    auto const r = s.stored();
    REQUIRE(r.attempts.size() == 2);
    CHECK(r.attempts[1].sent_at - r.attempts[0].sent_at >= 2s);
}

TEST_CASE("a code that nobody listed confirms nothing and sends nothing again [U03c]") {
    one_shop s(bare);
    s.shop.on_submit(reply_with(unknown{.hints = "599"}));
    for (int runs = 0; runs != 3; ++runs) {
        auto const done = s.run();
        REQUIRE(done.has_error());
        CHECK(done.error().in_doubt());
        CHECK(s.truth->sends() == 1);
    }
    CHECK(s.stored().notes_or_none().hints == "599");
}

TEST_CASE("an acceptance with an empty receipt confirms nothing [U03d]") {
    for (bool shown : {false, true}) {
        one_shop s(bare);
        s.shop.on_submit([shown](shop::attempt const& a, world& w) -> shop::keyed_reply {
            std::string const key(a.key()), body(a.bytes());
            if (shown) w.put({.key = key, .request = body, .receipt = ""});
            return shop::accepted_with_key{"", key};
        });
        auto const done = s.run();
        REQUIRE(done.has_error());
        CHECK(done.error().in_doubt());
        CHECK(s.truth->sends() == 1);
        CHECK(s.stored().receipt.empty());
    }
}

TEST_CASE("an effect shown as failed, but not for good, settles nothing [U12b]") {
    one_shop s(deduplicating);
    s.shop.on_submit(applied_reply_lost);
    s.shop.always_on_lookup(truth);
    s.shop.on_lookup([](shop::query const&, world&) -> shop::answer { return shop::complete{}; });
    s.shop.on_lookup(
        [](shop::query const& q, world& w) -> shop::answer {
            w.set_status(q.key, effect_status::failed);
            return truth(q, w);
        },
        1);
    auto const done = s.run();
    REQUIRE(done.has_error());
    CHECK(done.error().in_doubt());
    CHECK(done.error().state() == state_id::uncertain);
    CHECK(s.truth->sends() == 1);

    s.truth->set_status(s.id.key, effect_status::applied);
    CHECK(s.run());
    CHECK(s.truth->effects() == 1);
}

TEST_CASE("an effect shown as failed for good settles the operation [U12b]") {
    one_shop s(deduplicating);
    s.shop.on_submit([](shop::attempt const& a, world& w) -> shop::keyed_reply {
        w.apply(a.key(), a.bytes());
        w.set_status(a.key(), effect_status::failed_for_good);
        return unknown{};
    });
    auto const done = s.run();
    REQUIRE(done.has_error());
    CHECK_FALSE(done.error().in_doubt());
    CHECK(done.error().state() == state_id::rejected);
    CHECK(s.truth->sends() == 1);
}

TEST_CASE("a repeat that was dropped as a duplicate is a success, not a failure [U23]") {
    one_shop s(deduplicating);
    s.shop.on_submit(applied_reply_lost);
    s.shop.on_submit([](shop::attempt const& a, world& w) -> shop::keyed_reply {
        return shop::duplicate{w.apply(a.key(), a.bytes())};
    });
    s.shop.always_on_lookup(hidden_until_send(2, truth));
    auto const done = s.run();
    REQUIRE(done);
    CHECK(done.value().receipt == "r-1");
    CHECK(s.truth->sends() == 2);
    CHECK(s.truth->effects() == 1);
    CHECK(s.state() == state_id::confirmed);
}

TEST_CASE("a duplicate without an id costs one look-up [U23]") {
    one_shop s(deduplicating);
    s.shop.on_submit(applied_reply_lost);
    std::size_t looks_before = 0;
    s.shop.on_submit([&](shop::attempt const&, world& w) -> shop::keyed_reply {
        looks_before = w.looks();
        return shop::duplicate{};
    });
    s.shop.always_on_lookup(hidden_until_send(2, truth));
    CHECK(s.run());
    CHECK(s.truth->looks() == looks_before + 1);
    CHECK(s.truth->effects() == 1);
}

TEST_CASE("a duplicate of another payload goes to a person [U23]") {
    one_shop s(deduplicating);
    s.shop.on_submit([](shop::attempt const& a, world& w) -> shop::keyed_reply {
        w.apply(a.key(), "two notebooks");
        return unknown{};
    });
    s.shop.on_submit([](shop::attempt const& a, world& w) -> shop::keyed_reply {
        return shop::duplicate{w.apply(a.key(), a.bytes())};
    });
    s.shop.always_on_lookup(hidden_until_send(2, truth));
    auto const done = s.run();
    REQUIRE(done.has_error());
    CHECK(done.error().state() == state_id::in_review);
    CHECK(done.error().rule() == rule::contents_differ);
    CHECK(s.truth->sends() == 2);
}

TEST_CASE("a call that is still running is waited for, under the same key [I01]") {
    one_shop s(deduplicating);
    s.truth->hide_effects_for(800ms);
    s.shop.on_submit(applied_reply_lost);
    s.shop.on_submit(reply_with(in_progress{.retry_after = 1s}));
    CHECK(s.run());
    CHECK(s.truth->effects() == 1);
    CHECK(s.truth->sends() == 2);
    CHECK(s.truth->distinct_keys() == 1);
    auto const waits = s.clock.waits();
    REQUIRE_FALSE(waits.empty());
    CHECK(waits.back().until - waits.back().from == 1s);
}

TEST_CASE("a call that runs beyond the deadline stays uncertain, not rejected [I01]") {
    one_shop s(deduplicating);
    s.shop.on_submit(applied_reply_lost);
    s.shop.on_submit(reply_with(in_progress{.retry_after = 2min}));
    s.shop.always_on_lookup(hidden_until_send(3, truth));
    auto const done = s.run({.deadline = 1min});
    REQUIRE(done.has_error());
    CHECK(done.error().rule() == rule::in_progress);
    CHECK(done.error().in_doubt());
    CHECK(done.error().again_at() >= s.clock.wall() + 1min);
    auto const r = s.stored();
    CHECK(r.state == state_id::uncertain);
    CHECK(r.open_attempts() == 2); // nothing was said about the first one
    CHECK(s.truth->distinct_keys() == 1);
}

TEST_CASE("a refusal that the key replays ends it [I02a]") {
    one_shop s(deduplicating);
    s.shop.on_submit(reply_with(refused{.because = refusal_class::busy, .for_good = false}));
    s.shop.on_submit(reply_with(refused{}));
    for (int runs = 0; runs != 2; ++runs) {
        auto const done = s.run();
        REQUIRE(done.has_error());
        CHECK(done.error().state() == state_id::rejected);
        CHECK(done.error().rule() == rule::refused_by_provider);
        CHECK_FALSE(done.error().in_doubt());
        CHECK(s.truth->sends() == 2);
    }
    CHECK(s.truth->effects() == 0);
}

TEST_CASE("midnight does not change the key [I02d]") {
    one_shop s(deduplicating);
    auto const midnight = std::chrono::floor<std::chrono::days>(s.clock.wall()) + 24h;
    s.clock.set_wall(midnight - 1s);
    s.shop.on_submit(reply_with(unknown{}));
    s.shop.always_on_lookup(hidden_until_send(1, down));
    CHECK(s.run({.deadline = 900ms}).has_error());
    CHECK(s.state() == state_id::uncertain);
    s.cut_power();
    s.clock.set_wall(midnight + 1s);
    s.shop.always_on_lookup(truth);
    CHECK(s.run());
    CHECK(s.truth->sends() == 2);
    CHECK(s.truth->distinct_keys() == 1);
    CHECK(s.truth->effects() == 1);
}

TEST_SUITE_END();

} // namespace
