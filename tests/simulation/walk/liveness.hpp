// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef TESTS_SIMULATION_WALK_LIVENESS_HPP
#define TESTS_SIMULATION_WALK_LIVENESS_HPP

#include "surroundings.hpp"
#include "words.hpp"

#include <cstring>

// Whether a way leads out. I24: if nothing fails any more, no operation stays pending or uncertain.
// EXIT: what is in review a person can close truthfully, and not by "abandon" alone. RESUME: what
// was not applied can still be done under its identity.

namespace walk {

class liveness {
public:
    liveness(world const& w, snapshot const& s) : w_(w), s_(s) {
        w_.incomplete_looks = false;
        w_.refusals = false;
        w_.pauses = false;
        w_.lasts = 0;
    }

    /// Returns: the invariant that does not hold, or null.
    char const* broken() {
        if (!s_.all_idle()) return nullptr;
        snapshot const end = settled(s_);
        if (end.memory.state == state_id::pending || end.memory.state == state_id::uncertain) {
            return "I24 it can never leave this state by itself, and no person is "
                   "asked";
        }
        if (s_.memory.state != state_id::in_review) return nullptr;
        if (s_.any_under_way()) return way_under_a_guarantee();
        return effects_now(s_) == 1  ? way_to_confirm(end)
               : any_effect_ever(s_) ? nullptr
                                     : way_without_effect(end);
    }

private:
    char const* way_to_confirm(snapshot const& end) {
        if (end.memory.state == state_id::confirmed) return nullptr;
        following can;
        decisions(s_, can);
        for (auto const& step : can.steps())
            if (step.to.memory.state == state_id::confirmed) return nullptr;
        return "EXIT the effect exists, a person knows it, and nothing confirms it";
    }

    char const* way_without_effect(snapshot const& end) {
        following can;
        decisions(s_, can);
        // One extension is granted in the walk; a person may grant another.
        bool closes = is_closed(end) || s_.memory.extra_attempts != 0;
        bool goes_on = end.memory.state == state_id::confirmed;
        for (auto const& step : can.steps()) {
            if (step.to.memory.state == state_id::abandoned) continue;
            snapshot const later = settled(step.to);
            closes |= is_closed(later);
            goes_on |= can_be_confirmed(later);
        }
        if (!closes) closes = closes_after_cancel();
        if (!closes) return "EXIT nothing was applied, and only \"abandon\" closes it";
        if (is_wanted() && !goes_on) return "RESUME no decision leads to its being done after all";
        return nullptr;
    }

    /// Nobody can know yet whether it was applied; under a guarantee it may go on all the same.
    char const* way_under_a_guarantee() {
        bool covered = has_guarantee(contract_now(w_, s_)) && w_.window == world().window;
        for (unsigned a = 0; a != s_.memory.attempts; ++a)
            covered &= s_.memory.attempt_of[a].guarantee != guarantee_kind::none;
        if (!covered || !is_wanted() || any_effect_ever(s_)) return nullptr;
        following can;
        decisions(s_, can);
        for (auto const& step : can.steps())
            if (can_be_confirmed(settled(step.to))) return nullptr;
        return "RESUME a guarantee covers it, and no decision lets it go on";
    }

    bool is_wanted() const {
        return s_.memory.reviewed_for == concern::doubt && !stranger_now(s_) &&
               s_.memory.extra_attempts == 0 && !s_.memory.cancel_requested &&
               !s_.memory.ever_confirmed;
    }

    bool closes_after_cancel() {
        snapshot asks = s_;
        asks.left = {};
        asks.left.cancel = 1;
        following said;
        words(w_, asks, said).cancel_it();
        if (said.steps().empty()) return false;
        snapshot const cancelled = said.steps().front().to;
        if (is_closed(settled(cancelled))) return true;
        following can;
        decisions(cancelled, can);
        for (auto const& step : can.steps()) {
            if (step.to.memory.state != state_id::abandoned && is_closed(settled(step.to))) {
                return true;
            }
        }
        return false;
    }

    void decisions(snapshot s, following& out) {
        s.left = {};
        s.left.decide = 1;
        words(w_, s, out).decide_it();
    }

    /// Also where a person must confirm what nobody can look up.
    bool is_closed(snapshot const& s) const {
        state_id const now = s.memory.state;
        return now == state_id::rejected || now == state_id::cancelled || can_be_confirmed(s);
    }
    bool can_be_confirmed(snapshot const& s) const {
        bool const blind = !has_lookup(contract_now(w_, s));
        return s.memory.state == state_id::confirmed ||
               (s.memory.state == state_id::in_review && blind && effects_now(s) == 1);
    }

    /// Runs until nothing changes any more: nothing fails, the provider answers everything, and
    /// what is under way never arrives.
    snapshot settled(snapshot s) {
        s.left = {};
        for (call& c : s.calls)
            if (c.fate == fate::under_way) c.fate = fate::lost;
        give_back_claim(s);
        for (int round = 0; round != 12; ++round) {
            s.now = narrow(s.now + 3);
            image const before = s.memory;
            for (int steps = 0; steps != 8 && !is_final(s.memory.state); ++steps)
                if (!one_step(s)) break;
            if (is_final(s.memory.state) || same(before, s.memory)) break;
        }
        return s;
    }

    static bool same(image const& a, image const& b) { return std::memcmp(&a, &b, sizeof a) == 0; }

    static void give_back_claim(snapshot& s) {
        if (s.memory.claim != held_by::the_dead) s.memory.claim = held_by::nobody;
    }

    bool one_step(snapshot& s) {
        following out;
        worker const& me = s.workers[0];
        if (me.phase == phase::may_send) {
            worker_step(w_, s, 0, out).send();
        } else if (me.phase == phase::has_sent) {
            unsigned const a = me.attempt;
            if (s.calls[a].fate == fate::under_way) {
                surroundings(w_, s, out).land(a);
                s = out.steps().front().to;
                out.clear();
            }
            worker_step(w_, s, 0, out).hear();
            // The last one is the acceptance: what follows from it is proof or a hint.
            s = out.steps().back().to;
            give_back_claim(s);
            return true;
        } else if (me.phase == phase::has_looked) {
            worker_step(w_, s, 0, out).act_on_what_was_seen();
        } else {
            worker_step(w_, s, 0, out).look();
        }
        if (out.steps().empty()) return false;
        snapshot const next = out.steps().front().to;
        bool const moved = std::memcmp(&next, &s, sizeof s) != 0;
        s = next;
        return moved;
    }

    world w_;
    snapshot const& s_;
};

} // namespace walk

#endif
