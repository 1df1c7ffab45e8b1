// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#include <indoubt/policy/clock.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <stop_token>

// The smallest clock, and near misses named by the one thing they lack.

namespace {

using namespace indoubt;

struct archetype {
    time_point wall() { return {}; }
    milliseconds elapsed() { return {}; }
    void wait_until(milliseconds, std::stop_token const&) {}
};

struct clock_without_wall {
    milliseconds elapsed();
    void wait_until(milliseconds, std::stop_token const&);
};
struct clock_without_elapsed {
    time_point wall();
    void wait_until(milliseconds, std::stop_token const&);
};
struct clock_without_wait_until {
    time_point wall();
    milliseconds elapsed();
};
struct clock_that_cannot_be_stopped {
    time_point wall();
    milliseconds elapsed();
    void wait_until(milliseconds);
};
struct clock_that_waits_by_wall_time {
    time_point wall();
    milliseconds elapsed();
    void wait_until(time_point, std::stop_token const&);
};
struct clock_in_nanoseconds {
    time_point wall();
    std::chrono::nanoseconds elapsed();
    void wait_until(milliseconds, std::stop_token const&);
};

static_assert(clock_policy<archetype>);
static_assert(explain_clock<archetype>());
static_assert(!clock_policy<clock_without_wall>);
static_assert(!clock_policy<clock_without_elapsed>);
static_assert(!clock_policy<clock_without_wait_until>);
static_assert(!clock_policy<clock_that_cannot_be_stopped>);
static_assert(!clock_policy<clock_that_waits_by_wall_time>);
static_assert(!clock_policy<clock_in_nanoseconds>);
static_assert(!clock_policy<std::chrono::steady_clock>);

TEST_CASE("a clock of three functions meets the concept") {
    archetype smallest;
    smallest.wait_until(smallest.elapsed(), {});
    CHECK(smallest.wall() == time_point());
}

} // namespace
