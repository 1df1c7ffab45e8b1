// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef INDOUBT_TESTING_MANUAL_CLOCK_HPP
#define INDOUBT_TESTING_MANUAL_CLOCK_HPP

#include <indoubt/policy/clock.hpp>

#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <stop_token>
#include <vector>

// A clock that only the test moves. Waiting costs no real time: it moves the clock to the moment
// waited for, unless the test wants to hold the waiters and move the clock itself.

namespace indoubt::testing {

/// A handle: copies show and move the same time. Thread safety: all calls may be concurrent.
class manual_clock {
public:
    /// A call of wait_until that had to wait.
    struct wait {
        milliseconds from, until; ///< elapsed() when it began, and what it waited for
        friend bool operator==(wait const&, wait const&) = default;
    };

    explicit manual_clock(time_point wall = time_point(milliseconds(1'750'000'000'000)),
                          milliseconds elapsed = milliseconds(1'000'000))
        : time_(std::make_shared<shared>(wall, elapsed)) {}

    // ---- the clock policy ----------------------------------------------------------------------

    time_point wall() const {
        std::lock_guard const lock(time_->mutex);
        return time_->wall;
    }

    milliseconds elapsed() const {
        std::lock_guard const lock(time_->mutex);
        return time_->elapsed;
    }

    /// Moves both times forward to t at once; while waits are held, blocks until the test has
    /// moved the clock to t. A requested stop ends either without moving anything.
    void wait_until(milliseconds t, std::stop_token const& stop) const {
        shared& time = *time_;
        std::stop_callback const on_stop(stop, [&time] {
            std::lock_guard const order(time.mutex);
            time.changed.notify_all();
        });
        std::unique_lock lock(time.mutex);
        if (stop.stop_requested() || time.elapsed >= t) return;
        time.waits.push_back({time.elapsed, t});
        if (!time.held) return time.forward(t - time.elapsed);
        ++time.waiting;
        time.changed.notify_all();
        time.changed.wait(lock,
                          [&] { return stop.stop_requested() || time.elapsed >= t || !time.held; });
        --time.waiting;
        if (!stop.stop_requested() && time.elapsed < t) time.forward(t - time.elapsed);
    }

    // ---- what the test does --------------------------------------------------------------------

    /// Time passes, on both clocks.
    void advance(milliseconds by) const {
        std::lock_guard const lock(time_->mutex);
        time_->forward(by);
    }

    /// Somebody sets the time of day; elapsed() does not notice.
    void step_wall(milliseconds by) const {
        std::lock_guard const lock(time_->mutex);
        time_->wall += by;
    }
    void set_wall(time_point to) const {
        std::lock_guard const lock(time_->mutex);
        time_->wall = to;
    }

    /// As after a start of the machine: elapsed() begins anew, the time of day goes on.
    void restart(milliseconds elapsed = milliseconds::zero()) const {
        std::lock_guard const lock(time_->mutex);
        time_->elapsed = elapsed;
    }

    /// From now on waiters block until advance() has reached their moment, or a stop.
    void hold_waits() const {
        std::lock_guard const lock(time_->mutex);
        time_->held = true;
    }

    /// Waiting moves the clock again, for those who are blocked too.
    void release_waits() const {
        std::lock_guard const lock(time_->mutex);
        time_->held = false;
        time_->changed.notify_all();
    }

    /// Returns once so many threads are blocked in wait_until.
    void until_waiting(std::size_t threads = 1) const {
        std::unique_lock lock(time_->mutex);
        time_->changed.wait(lock, [&] { return time_->waiting >= threads; });
    }

    std::vector<wait> waits() const {
        std::lock_guard const lock(time_->mutex);
        return time_->waits;
    }

private:
    struct shared {
        shared(time_point w, milliseconds e) : wall(w), elapsed(e) {}

        /// A wait for the end of time ends at the end of time.
        void forward(milliseconds by) {
            wall = by < time_point::max() - wall ? wall + by : time_point::max();
            elapsed = by < milliseconds::max() - elapsed ? elapsed + by : milliseconds::max();
            changed.notify_all();
        }

        std::mutex mutex;
        std::condition_variable changed;
        time_point wall;
        milliseconds elapsed;
        bool held = false;
        std::size_t waiting = 0;
        std::vector<wait> waits;
    };
    std::shared_ptr<shared> time_;
};

static_assert(clock_policy<manual_clock>);

} // namespace indoubt::testing

#endif
