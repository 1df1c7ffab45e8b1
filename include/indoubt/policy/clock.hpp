// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef INDOUBT_POLICY_CLOCK_HPP
#define INDOUBT_POLICY_CLOCK_HPP

#include <indoubt/core/error.hpp>

#include <concepts>
#include <stop_token>

// The only source of time. Wall time is read once, when a journal is attached; everything after
// that runs on the time since boot, so that a clock step can close a window and never open one.

namespace indoubt {

/// | expression               | returns      | what must hold                                     |
/// |--------------------------|--------------|----------------------------------------------------|
/// | c.wall()                 | time_point   | the time of day                                    |
/// | c.elapsed()              | milliseconds | since any fixed moment; goes on during suspend and |
/// |                          |              | never runs backwards                               |
/// | c.wait_until(t, stop)    | void         | returns once elapsed() >= t, or soon after a stop  |
/// |                          |              | is requested, whichever is first                   |
///
/// Thread safety: all calls may be concurrent. Nothing throws.
template <class C>
concept clock_policy = requires(C& c, milliseconds t, std::stop_token const& stop) {
    { c.wall() } -> std::same_as<time_point>;
    { c.elapsed() } -> std::same_as<milliseconds>;
    { c.wait_until(t, stop) } -> std::same_as<void>;
};

template <class C> constexpr bool explain_clock() {
    constexpr bool wall = requires(C& c) {
        { c.wall() } -> std::same_as<time_point>;
    };
    constexpr bool elapsed = requires(C& c) {
        { c.elapsed() } -> std::same_as<milliseconds>;
    };
    constexpr bool wait_until = requires(C& c, milliseconds t, std::stop_token const& stop) {
        { c.wait_until(t, stop) } -> std::same_as<void>;
    };
    static_assert(wall, "clock: add  time_point wall()");
    static_assert(elapsed, "clock: add  milliseconds elapsed()");
    static_assert(wait_until, "clock: add  void wait_until(milliseconds elapsed, std::stop_token "
                              "const&)");
    return wall && elapsed && wait_until;
}

} // namespace indoubt

#endif
