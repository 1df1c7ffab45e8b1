// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#include <scene.hpp>

#include <doctest/doctest.h>

#include <optional>
#include <string>

// Clocks that jump, deadlines that are over, and what counts as a try.

namespace {

using namespace scene;
using shop = provider_of<std::string>;

auto const request_lost = shop_of<decltype(bare)>::request_lost;
auto const down = shop_of<decltype(bare)>::down;
auto const empty = shop_of<decltype(bare)>::empty;

auto reply_with(shop::keyed_reply r) {
    return [r](shop::attempt const&, world&) { return r; };
}
constexpr refused not_now{.because = refusal_class::busy, .for_good = false};

TEST_SUITE_BEGIN("cases: time and counts");

TEST_CASE("a wall clock that steps back during a run does not make it longer [G02a]") {
    for (milliseconds const step : {-1h, 1h}) {
        one_shop s(deduplicating);
        s.budget.attempts = 1'000;
        s.budget.first_delay = s.budget.longest_delay = 5s;
        for (int sends = 0; sends != 20; ++sends)
            s.shop.on_submit(request_lost);
        bool stepped = false;
        s.shop.always_on_lookup([&](shop::query const& q, world& w) {
            if (w.sends() == 2 && !stepped) s.clock.step_wall(step);
            stepped = w.sends() == 2;
            return empty(q, w);
        });
        auto const begun = s.clock.elapsed();
        CHECK(s.run({.deadline = 30s}).has_error());
        CHECK(stepped == false); // it went on after the step
        CHECK(s.clock.elapsed() - begun <= 30s);
        CHECK(s.clock.elapsed() - begun >= 20s);
        CHECK(s.truth->sends() >= 5);
        CHECK(s.truth->sends() <= 7);
    }
}

TEST_CASE("a restart on a clock that lags behind the journal closes the window [G02b]") {
    one_shop s(deduplicating);
    s.shop.on_submit(request_lost);
    CHECK(s.run({.deadline = 50ms}).has_error());
    REQUIRE(s.state() == state_id::uncertain);
    s.cut_power();
    s.clock.restart();
    s.clock.step_wall(-1h);
    auto const done = s.run();
    REQUIRE(done.has_error());
    CHECK(done.error().rule() == rule::window_closed);
    CHECK(done.error().state() == state_id::in_review);
    CHECK(s.truth->sends() == 1);
}

TEST_CASE("the same restart on a clock that goes on resends [G02b]") {
    one_shop s(deduplicating);
    s.shop.on_submit(request_lost);
    CHECK(s.run({.deadline = 50ms}).has_error());
    s.cut_power();
    s.clock.restart();
    CHECK(s.run());
    CHECK(s.truth->sends() == 2);
}

TEST_CASE("no time left is no time: nothing is asked, nothing is sent [G02d]") {
    one_shop s(bare);
    for (milliseconds const left : {0ms, -1ms, milliseconds::min()}) {
        auto const done = s.run({.deadline = left});
        REQUIRE(done.has_error());
        CHECK(done.error().rule() == rule::deadline_reached);
        CHECK_FALSE(done.error().in_doubt());
    }
    CHECK(s.state() == state_id::none);
    CHECK(s.truth->sends() + s.truth->looks() == 0);

    one_shop over(bare);
    over.budget.overall = 0ms;
    auto const done = over.run();
    REQUIRE(done.has_error());
    CHECK(done.error().rule() == rule::deadline_reached);
    CHECK(done.error().state() == state_id::cancelled);
    CHECK(over.truth->sends() == 0);
}

TEST_CASE("no deadline named is one minute, and no limit is no limit [G02d]") {
    for (std::optional<milliseconds> const named :
         {std::optional<milliseconds>(), std::optional(milliseconds::max())}) {
        one_shop s(deduplicating);
        s.budget.attempts = 100;
        s.budget.first_delay = s.budget.longest_delay = 7s;
        s.shop.always_on_lookup(empty);
        for (int sends = 0; sends != 100; ++sends)
            s.shop.on_submit(request_lost);
        auto const begun = s.clock.elapsed();
        auto const done = s.run({.deadline = named});
        REQUIRE(done.has_error());
        CHECK(done.error().in_doubt());
        if (named) {
            CHECK(s.truth->sends() == 100);
        } else {
            CHECK(s.clock.elapsed() - begun <= 1min);
            CHECK(s.clock.elapsed() - begun > 50s);
        }
    }
}

TEST_CASE("three tries are three, over however many lives [G03a]") {
    one_shop s(deduplicating);
    s.shop.always_on_lookup(empty);
    for (int lives = 0; lives != 5; ++lives) {
        s.shop.on_submit(request_lost);
        CHECK(s.run({.deadline = 50ms}).has_error());
        s.cut_power();
        s.clock.advance(1min);
    }
    CHECK(s.truth->sends() == 3);
    CHECK(s.run().has_error());
    CHECK(s.truth->sends() == 3);
    CHECK(s.stored().attempts.size() == 3);
    CHECK(s.stored().reason == rule::attempts_spent);
    CHECK(s.state() == state_id::in_review);
}

TEST_CASE("what the client library below us repeats is counted, too [G03b]") {
    constexpr contract repeating{.resend =
                                     deduplicated_by_key{.window = 1h, .documented_at = cited},
                                 .lookup = complete_lookup{},
                                 .call_timeout = 1s,
                                 .arrives_within = 1min,
                                 .inner_attempts = 3};
    struct expected {
        unsigned tries;
        std::size_t calls;
    };
    for (auto const& [tries, calls] : {expected{1, 1}, {3, 1}, {5, 1}, {6, 2}, {8, 2}, {9, 3}}) {
        one_shop s(repeating);
        s.budget.attempts = tries;
        s.shop.always_on_lookup(empty);
        for (int sends = 0; sends != 10; ++sends)
            s.shop.on_submit(request_lost);
        auto const done = s.run();
        REQUIRE(done.has_error());
        CHECK(done.error().rule() == rule::attempts_spent);
        CHECK(s.truth->sends() == calls);
    }
}

TEST_CASE("neither a look-up that worked nor a connection that is back starts the count anew "
          "[G03c]") {
    one_shop s(bare);
    for (int sends = 0; sends != 10; ++sends)
        s.shop.on_submit(reply_with(not_sent{}));
    for (int lives = 0; lives != 5; ++lives) {
        s.shop.on_lookup(down);
        CHECK(s.run().has_error());
        s.cut_power();
        s.clock.advance(1min);
    }
    CHECK(s.truth->sends() == 3);
    CHECK(s.truth->looks() > 5);
    CHECK(s.state() == state_id::cancelled);
    CHECK(s.stored().reason == rule::attempts_spent);
}

TEST_CASE("a pause that would end past the deadline is not made [G03d]") {
    struct pause {
        milliseconds backoff, retry_after;
    };
    for (auto const& [backoff, retry_after] : {pause{6'400ms, 0ms}, pause{1ms, 300s}}) {
        for (bool of_the_operation : {true, false}) {
            one_shop s(bare);
            s.budget.first_delay = backoff;
            if (of_the_operation) s.budget.overall = 10s;
            s.shop.on_lookup([&](shop::query const& q, world& w) {
                s.clock.advance(9'900ms);
                return empty(q, w);
            });
            s.shop.on_submit(reply_with(refused{.for_good = false, .retry_after = retry_after}));
            auto const begun = s.clock.elapsed();
            auto const done = s.run({.deadline = 10s});
            REQUIRE(done.has_error());
            CHECK(s.clock.elapsed() - begun == 9'900ms);
            CHECK(s.truth->sends() == 1);
            if (of_the_operation) {
                CHECK(done.error().rule() == rule::deadline_reached);
                CHECK(s.state() == state_id::cancelled);
            } else {
                CHECK(s.state() == state_id::pending); // another run may go on
                CHECK(done.error().again_at() > s.clock.wall());
            }
        }
    }
}

TEST_CASE("one call has the least of its own limit and what is left [G03e]") {
    struct limits {
        milliseconds run, operation, expected;
    };
    for (auto const& [run, operation, expected] :
         {limits{1min, 1h, 10s}, limits{4s, 1h, 4s}, limits{1min, 3s, 3s}}) {
        one_shop s(bare);
        s.budget.overall = operation;
        milliseconds to_send{}, to_look{};
        s.shop.on_submit([&](shop::attempt const& a, world& w) {
            to_send = a.time_left();
            return shop_of<decltype(bare)>::applied(a, w);
        });
        s.shop.on_lookup([&](shop::query const& q, world& w) {
            to_look = q.time_left;
            return empty(q, w);
        });
        CHECK(s.run({.deadline = run}));
        CHECK(to_send == expected);
        CHECK(to_look == std::min<milliseconds>(run, 10s));
    }
}

TEST_CASE("look-ups and sends do not use each other up [G03f]") {
    one_shop s(bare);
    s.budget.attempts = 2;
    s.budget.looks = 3;
    s.shop.on_lookup(down, 2); // before the first send
    s.shop.on_lookup(empty);
    s.shop.on_submit(reply_with(not_now));
    s.shop.on_lookup(down, 2); // and again before the second
    CHECK(s.run());
    CHECK(s.truth->sends() == 2);
    CHECK(s.truth->looks() == 3 + 3 + 1);
}

TEST_SUITE_END();

} // namespace
