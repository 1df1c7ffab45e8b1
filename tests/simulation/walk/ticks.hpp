// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef TESTS_SIMULATION_WALK_TICKS_HPP
#define TESTS_SIMULATION_WALK_TICKS_HPP

#include <indoubt/core/error.hpp>

#include <cstdint>
#include <cstdlib>
#include <stop_token>

// Time of the walk: small whole ticks, so that a moment fits into one byte of a state. A tick is a
// millisecond of the library.

namespace walk {

using namespace indoubt;

using tick = std::int8_t;
inline constexpr tick never_ends = 127; ///< time_point::max()
inline constexpr tick unset = -128;     ///< the zero of time_point, which no clock shows here

inline constexpr time_point first_tick{milliseconds(1'000'000)};

/// A moment that does not fit would make two different states look the same.
constexpr tick narrow(long long ticks) {
    if (ticks <= unset || ticks >= never_ends) std::abort();
    return static_cast<tick>(ticks);
}

constexpr time_point time_of(tick t) {
    if (t == never_ends) return time_point::max();
    if (t == unset) return time_point{};
    return first_tick + milliseconds(t);
}

constexpr tick tick_of(time_point t) {
    if (t == time_point::max()) return never_ends;
    if (t == time_point{}) return unset;
    return narrow((t - first_tick).count());
}

/// What the two clocks of the machine show; whoever makes a step sets it.
struct shown_time {
    tick wall = 0, elapsed = 0;
};

/// A clock that shows what it is told to. Nobody waits in the walk: time passes as a step of its
/// own.
class shown_clock {
public:
    explicit shown_clock(shown_time const& shown) : shown_(&shown) {}
    time_point wall() const { return time_of(shown_->wall); }
    milliseconds elapsed() const { return milliseconds(shown_->elapsed); }
    void wait_until(milliseconds, std::stop_token const&) const {}

private:
    shown_time const* shown_;
};

} // namespace walk

#endif
