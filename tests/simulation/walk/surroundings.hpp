// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef TESTS_SIMULATION_WALK_SURROUNDINGS_HPP
#define TESTS_SIMULATION_WALK_SURROUNDINGS_HPP

#include "desk.hpp"
#include "following.hpp"
#include "provider_truth.hpp"

#include <string_view>
#include <utility>

// What happens to a program without its doing: calls land, time passes, power fails, others change
// what stands at the provider.
//
// Judged here: I1 no second effect, unless a person said wrongly that the first was not applied;
// I13 no effect after "rejected" or "cancelled" was told; I14 what was told is found again after a
// power loss.

namespace walk {

/// The journal is opened by a new life of the program.
inline void open_again(snapshot& s) {
    for (worker& w : s.workers)
        w = {};
    s.told = {};
    s.opened_wall = narrow(s.now + s.wall_is);
    s.opened_elapsed = s.now;
    s.opened_mark = s.mark;
    if (s.memory.claim != held_by::nobody) s.memory.claim = held_by::the_dead;
}

inline void lose_power(snapshot& s) {
    s.memory = s.disk;
    s.mark = s.mark_on_disk;
    open_again(s);
}

class surroundings {
public:
    surroundings(world const& w, snapshot const& s, following& out) : w_(w), s_(s), out_(out) {}

    void all() {
        for (unsigned a = 0; a != most_attempts; ++a)
            if (s_.calls[a].fate == fate::under_way) land(a);
        if (s_.now < w_.lasts) pass_time();
        if (s_.left.crash != 0) crash();
        if (s_.left.clock != 0) step_clock();
        if (s_.left.expire != 0 && s_.is_held()) lose_claim();
        if (s_.left.remove != 0) remove();
        if (w_.may.foreign != 0) strangers();
        if (s_.left.upgrade != 0) upgrade();
    }

    void land(unsigned a) {
        call const& c = s_.calls[a];
        if (w_.arrives_within >= 0 && s_.now > c.sent_at + w_.arrives_within) return;
        snapshot next = s_;
        next.calls[a].fate = fate::landed;
        bool const made = makes_an_effect(w_, next, c);
        if (made) {
            add_effect(next, static_cast<tick>(a), c.generation);
            if (second_effect(next)) out_.breaks("I1 two effects for one identity");
            if (s_.ever.final) out_.breaks("I13 told as rejected or cancelled, and it is applied");
        }
        add(next, {.what = made ? "lands" : "lands, and the provider drops it as a repeat",
                   .attempt = a + 1});
    }

private:
    bool second_effect(snapshot const& s) const {
        unsigned ours = 0;
        bool declared = false;
        for (unsigned e = 0; e != s.effects; ++e) {
            standing const& there = s.effect_of[e];
            if (!is_ours(there)) continue;
            ++ours;
            declared |=
                there.made_by >= 0 && s.memory.is_declared(static_cast<unsigned>(there.made_by));
        }
        return ours > 1 && !declared;
    }

    void pass_time() {
        snapshot next = s_;
        ++next.now;
        for (call& c : next.calls) {
            bool const too_old = w_.arrives_within >= 0 && next.now > c.sent_at + w_.arrives_within;
            if (c.fate == fate::under_way && too_old) c.fate = fate::lost;
        }
        add(next, {.what = "a tick passes"});
    }

    void crash() {
        snapshot next = s_;
        --next.left.crash;
        snapshot dark = next;
        lose_power(dark);
        telling const durable{s_.disk.state, s_.disk.cancel_requested, s_.disk.reviewed_for};
        if (s_.told.state != state_id::none && s_.told == s_.as_is() && durable != s_.told) {
            out_.breaks("I14 what was told is not what is found after a power loss");
        }
        restart(dark, "the power fails; what was not flushed is lost");
        open_again(next);
        restart(next, "the process dies; what was written survives");
    }

    /// Where there is no look-up a clock that was set back unnoticed is beyond what is promised
    /// (assumption A5 of the documents on guarantees).
    void restart(snapshot const& next, std::string_view what) {
        bool const set_back = next.wall_is < 0 && next.opened_wall >= next.opened_mark;
        if (!w_.notices_steps || !set_back) add(next, {.what = what});
    }

    void step_clock() {
        for (tick by : w_.steps) {
            snapshot next = s_;
            --next.left.clock;
            next.wall_is = narrow(next.wall_is + by);
            add(next, {.what = by < 0 ? "the wall clock is set back" : "the wall clock is set on"});
        }
    }

    void lose_claim() {
        desk d(w_, s_);
        auto op = std::move(*d.journal.find(the_identity).value());
        std::move(op).visit([&](auto&& x) -> void { (void)d.journal.release(std::move(x)); });
        snapshot next = s_;
        --next.left.expire;
        d.save(next);
        add(next, {.what = "the claim is given back over its holder's head"});
    }

    void remove() {
        for (unsigned e = 0; e != s_.effects; ++e) {
            if (!s_.effect_of[e].alive || !is_ours(s_.effect_of[e])) continue;
            snapshot next = s_;
            --next.left.remove;
            next.effect_of[e].alive = false;
            add(next, {.what = "somebody deletes the effect"});
        }
    }

    void strangers() {
        if (s_.left.foreign != 0) {
            snapshot next = s_;
            --next.left.foreign;
            add_effect(next, by_a_stranger, 0);
            return add(next, {.what = "a foreign record appears under our key"});
        }
        for (unsigned e = 0; e != s_.effects; ++e) {
            if (!s_.effect_of[e].alive || is_ours(s_.effect_of[e])) continue;
            snapshot next = s_;
            next.effect_of[e].alive = false;
            add(next, {.what = "the foreign record goes away"});
        }
    }

    void upgrade() {
        snapshot next = s_;
        --next.left.upgrade;
        next.upgraded = true;
        lose_power(next);
        add(next, {.what = "the program is replaced by its second version"});
    }

    void add(snapshot const& next, sentence const& told) { out_.add(next, told); }

    world const& w_;
    snapshot const& s_;
    following& out_;
};

} // namespace walk

#endif
