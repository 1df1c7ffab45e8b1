// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef INDOUBT_ADAPTER_SYSTEM_CLOCK_HPP
#define INDOUBT_ADAPTER_SYSTEM_CLOCK_HPP

#include <indoubt/policy/clock.hpp>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stop_token>

#include <time.h>

// The clock of the machine: the default of every journal outside of tests.

namespace indoubt {

struct system_clock {
    static time_point wall() noexcept { return time_point(read(CLOCK_REALTIME)); }

    /// Since the machine was started, the time it was suspended included.
    static milliseconds elapsed() noexcept {
#ifdef CLOCK_BOOTTIME
        return read(CLOCK_BOOTTIME);
#else
        return read(CLOCK_MONOTONIC);
#endif
    }

    /// Wakes at once on a stop. A machine that was suspended meanwhile wakes it at most a second
    /// late: condition variables do not count suspended time, so the wait is cut into pieces.
    static void wait_until(milliseconds t, std::stop_token const& stop) {
        if (stop.stop_requested() || elapsed() >= t) return;
        std::mutex mutex;
        std::condition_variable wake;
        // Taking the mutex puts the notification behind the waiter's look at the stop token; it
        // must outlive the lock below, which the callback waits for.
        std::stop_callback const on_stop(stop, [&] {
            std::lock_guard const order(mutex);
            wake.notify_one();
        });
        std::unique_lock lock(mutex);
        while (!stop.stop_requested()) {
            milliseconds const now = elapsed();
            if (now >= t) return;
            wake.wait_for(lock, std::min(t - now, milliseconds(1'000)));
        }
    }

private:
    static milliseconds read(clockid_t clock) noexcept {
        timespec now{};
        ::clock_gettime(clock, &now);
        return milliseconds(static_cast<milliseconds::rep>(now.tv_sec) * 1'000 +
                            static_cast<milliseconds::rep>(now.tv_nsec) / 1'000'000);
    }
};

static_assert(clock_policy<system_clock>);

} // namespace indoubt

#endif
