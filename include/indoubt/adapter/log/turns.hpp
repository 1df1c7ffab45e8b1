// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef INDOUBT_ADAPTER_LOG_TURNS_HPP
#define INDOUBT_ADAPTER_LOG_TURNS_HPP

#include <array>
#include <atomic>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <linux/futex.h>
#include <mutex>
#include <sys/syscall.h>
#include <unistd.h>

// Whose turn it is to write. Of the threads that wait for a flush the first one writes for all that
// wait with it, and hands the turn over before it wakes them. A futex word for the frames of each
// parity: who waits for this frame is not woken by the next one.

namespace indoubt::detail {

class log_turns {
public:
    /// The mutex is held in all of these.
    bool taken() const { return taken_; }
    void take() { taken_ = true; }

    /// Waits, with the mutex given back, until frame `number` is done or the turn is free; or for
    /// no reason.
    void wait(std::unique_lock<std::mutex>& lock, std::uint64_t number) {
        std::size_t const parity = number & 1U;
        std::uint32_t const seen = words_[parity].load(std::memory_order_relaxed);
        ++waiting_[parity];
        lock.unlock();
        futex(words_[parity], FUTEX_WAIT_PRIVATE, seen);
        lock.lock();
        --waiting_[parity];
    }

    /// Frame `number` is done, well or badly: gives the turn to one who waits for the next frame,
    /// and wakes all who waited for this one. The mutex is given back.
    void pass_on(std::unique_lock<std::mutex>& lock, std::uint64_t number) {
        taken_ = false;
        std::size_t const done = number & 1U, next = done ^ 1U;
        bool const followers = waiting_[done] != 0, leaders = waiting_[next] != 0;
        words_[done].fetch_add(1, std::memory_order_relaxed);
        if (leaders) words_[next].fetch_add(1, std::memory_order_relaxed);
        lock.unlock();
        if (leaders) futex(words_[next], FUTEX_WAKE_PRIVATE, 1);
        if (followers) futex(words_[done], FUTEX_WAKE_PRIVATE, INT_MAX);
    }

    /// Everybody who waits looks again. The mutex is held.
    void wake_all() {
        for (std::size_t const parity : {0U, 1U}) {
            if (waiting_[parity] == 0) continue;
            words_[parity].fetch_add(1, std::memory_order_relaxed);
            futex(words_[parity], FUTEX_WAKE_PRIVATE, INT_MAX);
        }
    }

private:
    static void futex(std::atomic<std::uint32_t>& word, int what, std::uint32_t value) {
        static_assert(sizeof word == sizeof(std::uint32_t));
        ::syscall(SYS_futex, &word, what, value, nullptr, nullptr, 0);
    }

    std::array<std::atomic<std::uint32_t>, 2> words_{};
    std::array<unsigned, 2> waiting_{};
    bool taken_ = false;
};

} // namespace indoubt::detail

#endif
