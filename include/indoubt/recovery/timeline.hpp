// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef INDOUBT_RECOVERY_TIMELINE_HPP
#define INDOUBT_RECOVERY_TIMELINE_HPP

#include <indoubt/policy/clock.hpp>

#include <algorithm>

// The library's clock: the larger of the wall clock and the journal's high-water mark, read once,
// plus the time since boot that has passed since. A step of the wall clock while a journal is open
// changes nothing; one that happened before it was opened can only close windows.

namespace indoubt {

class timeline {
public:
    template <clock_policy Clock>
    timeline(Clock& clock, time_point high_water)
        : timeline(clock.wall(), clock.elapsed(), high_water) {}

    template <clock_policy Clock> time_point now(Clock& clock) const {
        return started_ + (clock.elapsed() - elapsed_then_);
    }
    /// The same moment on the clock's own scale, for wait_until.
    milliseconds elapsed_at(time_point t) const { return elapsed_then_ + (t - started_); }

    /// Guarantees of attempts sent up to here count as closed. It is min(), that is none of them,
    /// unless the wall clock was behind the journal when this began.
    time_point closed_until() const { return ran_backwards_ ? started_ : time_point::min(); }

private:
    timeline(time_point wall, milliseconds elapsed, time_point high_water)
        : started_(std::max(wall, high_water)), elapsed_then_(elapsed),
          ran_backwards_(wall < high_water) {}

    time_point started_;
    milliseconds elapsed_then_;
    bool ran_backwards_;
};

} // namespace indoubt

#endif
