// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef TESTS_SIMULATION_WALK_STATE_HPP
#define TESTS_SIMULATION_WALK_STATE_HPP

#include "ticks.hpp"

#include <indoubt/core/record.hpp>
#include <indoubt/recovery/observation.hpp>

#include <cstdint>
#include <type_traits>

// One state of a world: the record in memory and on the disk, what the workers hold, and the truth
// outside of the record. Bytes without padding, so that states are copied, hashed and compared as
// such.

namespace walk {

using byte = std::uint8_t;

inline constexpr unsigned most_attempts = 5, most_effects = 6, most_workers = 2;

/// Who holds a claim, as a record says it.
enum class held_by : byte {
    nobody,
    first,
    second,
    the_dead ///< of an earlier life of the program
};

struct attempt_image {
    tick sent_at = 0;
    attempt_outcome_id outcome = attempt_outcome_id::open;
    guarantee_kind guarantee = guarantee_kind::none;
    byte generation = 0;
};

/// A record, without what no rule reads: who decided and why, remarks and hints, the basis, the
/// reason where it only informs. The version is left out too: what counts is whether somebody's
/// copy is still the stored one.
struct image {
    state_id state = state_id::none;
    concern reviewed_for = concern::none;
    rule reason = rule::none;
    state_id came_from = state_id::none;
    bool ever_confirmed = false, cancel_requested = false, restored = false;
    byte generation = 1, extra_attempts = 0;
    held_by claim = held_by::nobody;
    byte attempts = 0;
    tick deadline = never_ends, confirmed_at = unset, next_check = unset;
    tick receipt = -1;  ///< the number of an effect; -1: none
    byte set_aside = 0; ///< a bit for each effect that a person does not want counted
    attempt_image attempt_of[most_attempts]{};

    bool is_open(unsigned a) const {
        return a < attempts && attempt_of[a].outcome == attempt_outcome_id::open;
    }
    bool is_declared(unsigned a) const {
        return a < attempts && attempt_of[a].outcome == attempt_outcome_id::declared_not_applied;
    }
    bool any_open() const {
        for (unsigned a = 0; a != attempts; ++a)
            if (is_open(a)) return true;
        return false;
    }
};

/// What one call of run is doing.
enum class phase : byte {
    idle,
    has_looked, ///< holds a copy of the record and what was seen; only where
                ///< there are two workers
    may_send,   ///< holds a permit
    has_sent    ///< waits for the reply
};

struct worker {
    walk::phase phase = phase::idle;
    byte attempt = 0;    ///< the number of the attempt it may make, or made, less one
    bool current = true; ///< its copy is the stored record
    tick send_before = 0;
    seen sight = seen::not_asked;
    tick receipt = -1;
};

/// What became of the bytes of one attempt.
enum class fate : byte {
    none, ///< never left
    under_way,
    landed,
    refused, ///< and the provider says so
    lost     ///< can no longer land, and nobody knows
};

struct call {
    walk::fate fate = fate::none;
    tick sent_at = 0;
    byte generation = 0;
    bool keyed = true; ///< the program that sent it relied on the provider's guarantee
};

/// Who made an effect that stands at the provider, if it was no attempt of ours.
inline constexpr tick by_another_copy = -2, by_a_stranger = -3;

struct standing {
    tick made_by = -1; ///< the attempt, less one
    bool alive = false;
    tick since = 0;
    byte generation = 0;
};

/// What may still happen to a world, and how often.
struct faults {
    byte crash = 0, cancel = 0, decide = 0, remove = 0, clock = 0, outside = 0, foreign = 0,
         upgrade = 0, expire = 0;
};

/// What was last told: all of it must be durable.
struct telling {
    state_id state = state_id::none;
    bool cancel_requested = false;
    concern reviewed_for = concern::none;
    friend bool operator==(telling const&, telling const&) = default;
};

/// What was ever told.
struct history {
    bool final = false, confirmed = false, cancel_requested = false, contradiction = false;
};

struct snapshot {
    tick now = 0;     ///< true time
    tick wall_is = 0; ///< how far the wall clock is off
    /// What the journal read when it was opened.
    tick opened_wall = 0, opened_elapsed = 0, opened_mark = unset;
    tick mark = unset, mark_on_disk = unset; ///< the journal's high-water mark
    bool upgraded = false;                   ///< the program's second version runs
    tick key_taken_at = unset;               ///< since when the provider drops repeats of our key
    image memory, disk;
    worker workers[most_workers]{};
    call calls[most_attempts]{};
    byte effects = 0;
    standing effect_of[most_effects]{};
    faults left;
    telling told;
    history ever;
    image copies[most_workers]{}; ///< of a worker that has looked

    bool all_idle() const {
        for (worker const& w : workers)
            if (w.phase != phase::idle) return false;
        return true;
    }
    /// A permit, or a call, is in somebody's hands.
    bool is_held() const {
        for (worker const& w : workers)
            if (w.phase == phase::may_send || w.phase == phase::has_sent) return true;
        return false;
    }
    bool any_under_way() const {
        for (call const& c : calls)
            if (c.fate == fate::under_way) return true;
        return false;
    }
    telling as_is() const { return {memory.state, memory.cancel_requested, memory.reviewed_for}; }
};

static_assert(std::has_unique_object_representations_v<snapshot>);

} // namespace walk

#endif
