// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef INDOUBT_POLICY_RETRY_BUDGET_HPP
#define INDOUBT_POLICY_RETRY_BUDGET_HPP

#include <indoubt/core/record.hpp>

#include <concepts>
#include <cstdint>
#include <optional>

// How much may be tried, and when. A budget never makes a send safe: it only refuses or delays
// one that evidence allows.

namespace indoubt {

/// A budget's answer, handed to decide as data.
struct allowance {
    enum class kind : std::uint8_t {
        now,      ///< go on
        later,    ///< not before not_before
        spent,    ///< no further try of this kind
        too_late, ///< the deadline leaves no time for it
    };
    kind what = kind::now;
    time_point not_before{};                ///< with later
    time_point ends_at = time_point::max(); ///< with now: the send must have started before this
};

/// | expression                             | returns                   | what must hold         |
/// |----------------------------------------|---------------------------|------------------------|
/// | b.deadline(begun)                      | std::optional<time_point> | the operation's, asked |
/// |                                        |                           | once, at its begin     |
/// | b.may_send(record, now, call_timeout)  | allowance                 | counts every recorded  |
/// |                                        |                           | attempt, as tries      |
/// | b.may_look(record, now, call_timeout,  | allowance                 | looks: look-ups made   |
/// |            looks)                      |                           | in this run            |
/// | b.look_delay(record, looks)            | milliseconds              | optional: asked after  |
/// |                                        |                           | each look; the next one|
/// |                                        |                           | is at least so far away|
///
/// Laws (testing/budget_laws.hpp): sends are bounded over the life of an operation, restarts
/// included; looks are bounded per run; at and after record.deadline a send is too_late, but never
/// a look, for what is known is looked at before it is given up; later is never in the past, and
/// asking again at not_before does not answer later; with now, ends_at is after now; the same
/// question at the same moment has the same answer.
/// Thread safety: all calls may be concurrent. Nothing throws.
template <class B>
concept retry_budget_policy =
    requires(B& b, record const& r, time_point now, milliseconds call, unsigned looks) {
        { b.deadline(now) } -> std::same_as<std::optional<time_point>>;
        { b.may_send(r, now, call) } -> std::same_as<allowance>;
        { b.may_look(r, now, call, looks) } -> std::same_as<allowance>;
    };

/// The budget says how far apart look-ups are.
template <class B>
concept spaces_looks = requires(B& b, record const& r, unsigned looks) {
    { b.look_delay(r, looks) } -> std::same_as<milliseconds>;
};

template <class B> constexpr bool explain_retry_budget() {
    constexpr bool deadline = requires(B& b, time_point begun) {
        { b.deadline(begun) } -> std::same_as<std::optional<time_point>>;
    };
    constexpr bool may_send = requires(B& b, record const& r, time_point now, milliseconds call) {
        { b.may_send(r, now, call) } -> std::same_as<allowance>;
    };
    constexpr bool may_look =
        requires(B& b, record const& r, time_point now, milliseconds call, unsigned looks) {
            { b.may_look(r, now, call, looks) } -> std::same_as<allowance>;
        };
    static_assert(deadline, "budget: add  std::optional<time_point> deadline(time_point begun)");
    static_assert(may_send, "budget: add  allowance may_send(record const&, time_point now, "
                            "milliseconds call)");
    static_assert(may_look, "budget: add  allowance may_look(record const&, time_point now, "
                            "milliseconds call, unsigned looks)");
    return deadline && may_send && may_look;
}

} // namespace indoubt

#endif
