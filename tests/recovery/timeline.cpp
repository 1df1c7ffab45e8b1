// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#include <indoubt/recovery/timeline.hpp>
#include <indoubt/testing/manual_clock.hpp>
#include <indoubt/testing/seeded_random.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <stop_token>

// The library's clock: whatever people do to the time of day, it does not run backwards, and a step
// can close a window but never open one [H17].

namespace {

using namespace indoubt;
using namespace std::chrono_literals;
using testing::manual_clock;

constexpr time_point noon{1'750'000'000'000ms};

TEST_SUITE_BEGIN("timeline");

TEST_CASE("a timeline begins at the time of day and goes on with the time since boot") {
    manual_clock clock(noon, 7h);
    timeline t(clock, noon - 1h);
    CHECK(t.now(clock) == noon);
    CHECK(t.closed_until() == time_point::min());
    clock.advance(5s);
    CHECK(t.now(clock) == noon + 5s);
    CHECK(t.elapsed_at(noon + 5s) == clock.elapsed());
    CHECK(t.elapsed_at(noon) == 7h);
}

TEST_CASE("steps of the wall clock change nothing while a journal is open") {
    manual_clock clock(noon);
    timeline t(clock, {});
    for (milliseconds const step : {-24h, 48h, -1h}) {
        clock.step_wall(step);
        CHECK(t.now(clock) == noon);
        CHECK(t.closed_until() == time_point::min());
    }
    clock.advance(1s);
    CHECK(t.now(clock) == noon + 1s);
}

TEST_CASE(
    "a wall clock behind the journal: time goes on from the mark, earlier windows are closed") {
    manual_clock clock(noon, 1h);
    timeline t(clock, noon + 1ms);
    CHECK(t.now(clock) == noon + 1ms);
    CHECK(t.closed_until() == noon + 1ms);
    clock.advance(2s);
    CHECK(t.now(clock) == noon + 1ms + 2s);
    CHECK(t.closed_until() == noon + 1ms); // what is sent from now on is not closed
    CHECK(t.elapsed_at(t.now(clock)) == clock.elapsed());
}

TEST_CASE("a wall clock at the mark is not behind it") {
    manual_clock clock(noon);
    timeline t(clock, noon);
    CHECK(t.now(clock) == noon);
    CHECK(t.closed_until() == time_point::min());
}

/// Somebody corrects the time of day between two readings.
struct stepping_clock {
    time_point wall() {
        auto const shown = next;
        next += 2h;
        return shown;
    }
    milliseconds elapsed() const { return 1h; }
    void wait_until(milliseconds, std::stop_token const&) const {}
    time_point next = noon - 1h;
};

TEST_CASE("the time of day is read once, so that one moment is not judged by two") {
    stepping_clock clock;
    timeline t(clock, noon);
    CHECK(t.now(clock) == noon);
    CHECK(t.closed_until() == noon); // the clock it was started by was behind
}

TEST_CASE("over lives, steps and restarts it never shows less than was ever written") {
    testing::seeded_random random(20'260'731);
    CAPTURE(random.seed());
    manual_clock clock(noon);
    time_point mark{};
    for (int life = 0; life != 200; ++life) {
        timeline t(clock, mark);
        time_point last = t.now(clock);
        CHECK(last >= mark);
        CHECK((t.closed_until() == time_point::min()) == (clock.wall() >= mark));
        for (int i = 0; i != 10; ++i) {
            if (random.chance(0.3)) clock.step_wall(milliseconds(random.between(-9'999, 9'999)));
            clock.advance(milliseconds(random.between(0, 1'000)));
            CHECK(t.now(clock) >= last);
            last = t.now(clock);
            if (random.chance(0.5)) mark = std::max(mark, last); // a write
        }
        if (random.chance(0.5)) clock.restart(milliseconds(random.between(0, 5'000)));
    }
}

TEST_SUITE_END();

} // namespace
