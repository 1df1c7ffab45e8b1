// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef TESTS_SIMULATION_WALK_WORDS_HPP
#define TESTS_SIMULATION_WALK_WORDS_HPP

#include "worker_steps.hpp"

#include <algorithm>
#include <concepts>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

// What callers and persons say, and what they are told. Persons say only what is true, as far as
// they can know it: nobody can rule out a call that is under way, unless the world is hasty.

namespace walk {

class words {
public:
    words(world const& w, snapshot const& s, following& out) : w_(w), s_(s), out_(out) {}

    void all() {
        tell();
        if (s_.left.cancel != 0) cancel_it();
        if (s_.left.outside != 0) hear_from_outside();
        if (s_.left.decide != 0) decide_it();
    }

    /// A caller is told what the record says, or a run ends with it. The door before telling: what
    /// is told is flushed.
    void tell() {
        bool const in_hand = w_.workers == 1 && !s_.all_idle();
        bool const new_to_him = s_.told != s_.as_is() &&
                                (s_.memory.state != state_id::pending || s_.memory.attempts != 0);
        bool const ends = claim_of_an_idle_worker();
        if (in_hand || (!new_to_him && !ends)) return;
        desk d(w_, s_);
        if (ends) {
            with_operation(d, [&](auto&& op) { (void)d.journal.release(std::move(op)); });
        }
        tell_now(d, s_, {.what = "TOLD to the caller"});
    }

    /// A caller cancels. He is told at once what that came to.
    void cancel_it() {
        if (s_.memory.cancel_requested) return;
        say(
            {.what = "the caller cancels, and is told"},
            [&](desk& d, auto&& op) {
                using from = typename std::remove_cvref_t<decltype(op)>::state_type;
                if constexpr (!is_final(from::id)) {
                    cancellation word(op.stamp(), {}, d.journal.now());
                    return bool(d.journal.write(cancel(std::move(op), std::move(word))));
                } else {
                    return false;
                }
            },
            &faults::cancel, listener::caller);
    }

    /// Another channel tells of an effect, be it gone meanwhile.
    void hear_from_outside() {
        for (unsigned e = 0; e != s_.effects; ++e) {
            if (!is_ours(s_.effect_of[e])) continue;
            worker_step(w_, s_, worker_step::nobody, out_).hear_from_outside(shown(s_, e));
        }
    }

    /// What a person may decide truthfully.
    void decide_it() {
        state_id const now = s_.memory.state;
        bool const settled_against = now == state_id::rejected || now == state_id::cancelled;
        bool const first = s_.memory.generation == 1 && s_.memory.extra_attempts == 0;
        if (settled_against && first) supersede_it();
        if (now != state_id::in_review) return;
        unsigned const alive = effects_now(s_);
        bool const air = s_.any_under_way();
        bool truthful = alive == 0 && (w_.hasty || !(air || s_.is_held()));
        if (w_.restored && any_effect_ever(s_)) truthful = false;
        if (alive == 1) adopt_it();
        if (truthful) {
            rule_it_out();
            dismiss_it<rejected>();
            dismiss_it<cancelled>();
            dismiss_it<abandoned>();
        }
        if (alive == 1) dismiss_it<confirmed>();
        if (s_.memory.extra_attempts == 0) {
            resume_it<uncertain>();
            resume_it<pending>();
        }
        review({.what = "a person abandons it"}, [&](desk& d, operation<in_review>&& op) {
            return abandon(std::move(op), abandonment(op.stamp(), person, d.journal.now()));
        });
    }

private:
    enum class listener {
        caller,
        person,
        of_a_new_generation
    };
    inline static by const person{"a person", "decided"};

    template <class F> void with_operation(desk& d, F then) {
        std::move(*d.journal.find(the_identity).value()).visit([&](auto&& op) -> void {
            then(std::move(op));
        });
    }

    bool claim_of_an_idle_worker() const {
        held_by const c = s_.memory.claim;
        if (c != held_by::first && c != held_by::second) return false;
        return s_.workers[static_cast<unsigned>(c) - 1].phase == phase::idle;
    }

    void tell_now(desk& d, snapshot next, sentence const& told) {
        (void)d.journal.flush();
        d.save(next);
        next.told = next.as_is();
        state_id const now = next.memory.state;
        next.ever.final |= now == state_id::rejected || now == state_id::cancelled;
        next.ever.confirmed |= now == state_id::confirmed;
        next.ever.cancel_requested |= next.memory.cancel_requested;
        next.ever.contradiction |=
            now == state_id::in_review && next.memory.reviewed_for == concern::contradiction;
        out_.add(next, told);
    }

    // ---- persons
    // --------------------------------------------------------------------------------

    /// A word is written and flushed; words that are not open leave no trace.
    template <class Write>
    void say(sentence const& told, Write write, byte faults::* uses_up, listener who) {
        desk d(w_, s_);
        bool done = false;
        with_operation(d, [&](auto&& op) { done = write(d, std::move(op)); });
        if (!done) return;
        snapshot next = s_;
        --(next.left.*uses_up);
        if (who == listener::caller) return tell_now(d, next, told);
        next.ever.contradiction = false;
        // What was told of the key before says nothing about the new one.
        if (who == listener::of_a_new_generation) next.ever = {};
        (void)d.journal.flush();
        d.save(next);
        out_.add(next, told);
    }

    template <class Decide> void review(sentence const& told, Decide decide) {
        say(
            told,
            [&](desk& d, auto&& op) {
                if constexpr (std::same_as<std::remove_cvref_t<decltype(op)>,
                                           operation<in_review>>) {
                    return bool(d.journal.write(decide(d, std::move(op))));
                } else {
                    return false;
                }
            },
            &faults::decide, listener::person);
    }

    /// Where no time passes, he waits until no call can be under way by the contract.
    time_point when(desk& d, operation<in_review> const& op) const {
        time_point const now = d.journal.now();
        if (w_.lasts != 0 || w_.hasty) return now;
        time_point after = now;
        for (auto const& a : op.stored().attempts)
            after = std::max(after, later(a.sent_at, a.guarantee.arrives_within));
        return after;
    }

    void rule_it_out() {
        review({.what = "a person: not applied"}, [&](desk& d, operation<in_review>&& op) {
            auto const more = s_.memory.extra_attempts == 0 ? w_.grants : 0U;
            ruling word(op.stamp(), person, when(d, op), more);
            return rule_out(std::move(op), std::move(word));
        });
    }

    template <state To> void resume_it() {
        review({.what = "a person: try on"}, [&](desk& d, operation<in_review>&& op) {
            resumption<To> word(op.stamp(), person, d.journal.now(), w_.grants, time_point::max());
            return resume(std::move(op), std::move(word));
        });
    }

    template <state To> void dismiss_it() {
        review({.what = "a person: none of ours"}, [&](desk& d, operation<in_review>&& op) {
            dismissal<To> word(op.stamp(), person, d.journal.now(), strangers());
            return dismiss(std::move(op), std::move(word));
        });
    }

    std::vector<std::string> strangers() const {
        if (!stranger_now(s_)) return {};
        return {receipt_of(number_of_the_foreign)};
    }

    void supersede_it() {
        say(
            {.what = "the same again, under a new key"},
            [&](desk& d, auto&& op) {
                using from = std::remove_cvref_t<decltype(op)>;
                if constexpr (std::same_as<from, operation<rejected>> ||
                              std::same_as<from, operation<cancelled>>) {
                    supersession word(op.stamp(), person, d.journal.now(), provider_key(2));
                    return bool(d.journal.write(supersede(std::move(op), std::move(word))));
                } else {
                    return false;
                }
            },
            &faults::decide, listener::of_a_new_generation);
    }

    /// The person names the one effect there is. Where there is a look-up the other records under
    /// our key are seen, too, and known from then on.
    void adopt_it() {
        review({.what = "a person: it exists"}, [&](desk& d, operation<in_review>&& op) {
            bool const asks = has_lookup(contract_now(w_, s_));
            std::string named;
            std::vector<std::string> others;
            for (unsigned e = 0; e != s_.effects; ++e) {
                if (!s_.effect_of[e].alive) continue;
                std::string receipt = receipt_of(number_of(s_, e));
                if (is_ours(s_.effect_of[e])) {
                    named = std::move(receipt);
                } else if (asks) {
                    others.push_back(std::move(receipt));
                }
            }
            return adopt(
                std::move(op),
                detail::mint::adoption(op.stamp(), person, d.journal.now(), std::move(named),
                                       asks ? basis::looked_up : basis::person, std::move(others)));
        });
    }

    world const& w_;
    snapshot const& s_;
    following& out_;
};

} // namespace walk

#endif
