// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#include <indoubt/adapter/system_clock.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <stop_token>
#include <thread>
#include <type_traits>

// No test here waits for real time to pass: each wait is over before it begins, or is stopped.

namespace {

using namespace indoubt;

static_assert(std::is_empty_v<system_clock> && std::is_trivially_copyable_v<system_clock>);
static_assert(explain_clock<system_clock>());

TEST_CASE("the time of day is the one of the standard library") {
    auto const before = std::chrono::floor<milliseconds>(std::chrono::system_clock::now());
    time_point const now = system_clock::wall();
    auto const after = std::chrono::system_clock::now();
    CHECK(before <= now);
    CHECK(now <= after);
}

TEST_CASE("elapsed time is positive and never runs backwards") {
    milliseconds last = system_clock::elapsed();
    CHECK(last > milliseconds(0));
    for (int i = 0; i < 10'000; ++i) {
        milliseconds const now = system_clock::elapsed();
        REQUIRE(now >= last);
        last = now;
    }
}

TEST_CASE("a wait for a moment that is over returns at once") {
    std::stop_source never;
    system_clock::wait_until(system_clock::elapsed(), never.get_token());
    system_clock::wait_until(milliseconds::zero(), never.get_token());
    system_clock::wait_until(milliseconds::min(), never.get_token());
    system_clock::wait_until(system_clock::elapsed(), {});
}

TEST_CASE("a wait after the stop was requested returns at once") {
    std::stop_source stop;
    stop.request_stop();
    system_clock::wait_until(milliseconds::max(), stop.get_token());
}

TEST_CASE("a stop wakes a wait for the end of time") {
    for (int i = 0; i < 200; ++i) { // the stop comes before, at and after the start of the wait
        std::jthread waiter(
            [](std::stop_token stop) { system_clock::wait_until(milliseconds::max(), stop); });
        waiter.request_stop();
    }
}

} // namespace
