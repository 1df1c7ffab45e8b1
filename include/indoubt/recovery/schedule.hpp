// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef INDOUBT_RECOVERY_SCHEDULE_HPP
#define INDOUBT_RECOVERY_SCHEDULE_HPP

#include <indoubt/policy/storage.hpp>
#include <indoubt/recovery/run_options.hpp>
#include <indoubt/recovery/situation.hpp>

#include <algorithm>
#include <optional>

// When it is worth coming back to an operation.

namespace indoubt {

/// An operation that a run could do something about, as due() shows it.
struct due_operation {
    record const& stored;
    time_point from; ///< since when
};

/// The bounds of one cycle of resume_all.
struct cycle {
    page where{};              ///< at most so many operations
    unsigned most_looks = 500; ///< over all of them; the one that reaches it is finished
    run_options each{.deadline = milliseconds(10'000)}; ///< for each operation
};

namespace detail {

/// Nothing if only a person, or the call that has it now, can do something about it.
inline std::optional<time_point> due_from(record const& r, terms const& t, moment const& m) {
    observation const none;
    situation const s{r, none, t, m};
    if (s.claimed_elsewhere()) return std::nullopt;
    if (is_final(r.state)) return r.hook_due ? std::optional(r.written_at) : std::nullopt;
    bool const for_a_person = s.contradicted() || !t.has_lookup;
    if (r.state == state_id::in_review && for_a_person) return std::nullopt;
    time_point from = std::max(r.begun_at, r.next_check);
    // Whoever sent it in this life has looked already; an earlier life may not have come so far.
    bool const looked_for = r.state == state_id::uncertain && r.version.epoch == m.epoch;
    if (looked_for && t.visible_after) from = std::max(from, s.visible_at());
    bool const only_waits = r.state == state_id::pending && !r.cancel_requested;
    if (only_waits && s.may_send_later()) from = std::max(from, s.may_send().not_before);
    return from;
}

} // namespace detail

} // namespace indoubt

#endif
