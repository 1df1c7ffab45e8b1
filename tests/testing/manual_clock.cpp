// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#include <indoubt/testing/manual_clock.hpp>

#include <doctest/doctest.h>

#include <stop_token>
#include <thread>
#include <vector>

namespace {

using namespace indoubt;
using indoubt::testing::manual_clock;

static_assert(explain_clock<manual_clock>());

TEST_CASE("a wait moves both times at once and is remembered") {
    manual_clock const clock(time_point(milliseconds(5'000)), milliseconds(100));
    clock.wait_until(milliseconds(350), {});
    CHECK(clock.elapsed() == milliseconds(350));
    CHECK(clock.wall() == time_point(milliseconds(5'250)));
    clock.wait_until(milliseconds(350), {});
    clock.wait_until(milliseconds(10), {});
    CHECK(clock.elapsed() == milliseconds(350));
    using wait = manual_clock::wait;
    CHECK(clock.waits() == std::vector<wait>{{milliseconds(100), milliseconds(350)}});
}

TEST_CASE("the time of day can be set without time passing") {
    manual_clock const clock(time_point(milliseconds(5'000)), milliseconds(100));
    clock.step_wall(milliseconds(-3'600'000));
    CHECK(clock.elapsed() == milliseconds(100));
    CHECK(clock.wall() == time_point(milliseconds(5'000 - 3'600'000)));
    clock.set_wall(time_point(milliseconds(9'000)));
    clock.advance(milliseconds(1));
    CHECK(clock.elapsed() == milliseconds(101));
    CHECK(clock.wall() == time_point(milliseconds(9'001)));
}

TEST_CASE("after a restart elapsed time begins anew and the time of day goes on") {
    manual_clock const clock(time_point(milliseconds(5'000)), milliseconds(100));
    clock.restart();
    CHECK(clock.elapsed() == milliseconds(0));
    CHECK(clock.wall() == time_point(milliseconds(5'000)));
}

TEST_CASE("copies show and move the same time") {
    manual_clock const clock;
    manual_clock const copy = clock;
    clock.advance(milliseconds(7));
    CHECK(copy.elapsed() == clock.elapsed());
    CHECK(copy.wall() == clock.wall());
    CHECK(manual_clock().elapsed() < clock.elapsed());
}

TEST_CASE("a requested stop ends a wait without moving time") {
    manual_clock const clock;
    milliseconds const before = clock.elapsed();
    std::stop_source stop;
    stop.request_stop();
    clock.wait_until(before + milliseconds(10), stop.get_token());
    CHECK(clock.elapsed() == before);
    CHECK(clock.waits().empty());
}

TEST_CASE("a wait for the end of time ends at the end of time") {
    manual_clock const clock;
    clock.wait_until(milliseconds::max(), {});
    CHECK(clock.elapsed() == milliseconds::max());
    clock.advance(milliseconds(1));
    CHECK(clock.elapsed() == milliseconds::max());
}

TEST_CASE("held waits block until the test has moved the clock") {
    manual_clock const clock(time_point{}, milliseconds(0));
    clock.hold_waits();
    milliseconds woken_at{-1};
    std::jthread waiter([&] {
        clock.wait_until(milliseconds(50), {});
        woken_at = clock.elapsed();
    });
    clock.until_waiting();
    clock.advance(milliseconds(49));
    clock.until_waiting();
    clock.advance(milliseconds(1));
    waiter.join();
    CHECK(woken_at == milliseconds(50));
}

TEST_CASE("a stop wakes a held wait; time has not moved") {
    manual_clock const clock(time_point{}, milliseconds(0));
    clock.hold_waits();
    std::jthread waiter([&](std::stop_token stop) { clock.wait_until(milliseconds(50), stop); });
    clock.until_waiting();
    waiter.request_stop();
    waiter.join();
    CHECK(clock.elapsed() == milliseconds(0));
}

TEST_CASE("released waits move the clock, those that are blocked too") {
    manual_clock const clock(time_point{}, milliseconds(0));
    clock.hold_waits();
    {
        std::jthread first([&] { clock.wait_until(milliseconds(50), {}); });
        std::jthread second([&] { clock.wait_until(milliseconds(20), {}); });
        clock.until_waiting(2);
        clock.release_waits();
    }
    CHECK(clock.elapsed() == milliseconds(50));
    clock.wait_until(milliseconds(60), {});
    CHECK(clock.elapsed() == milliseconds(60));
}

} // namespace
