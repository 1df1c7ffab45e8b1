// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef TESTS_SIMULATION_WALK_WALK_THROUGH_HPP
#define TESTS_SIMULATION_WALK_WALK_THROUGH_HPP

#include "invariants.hpp"
#include "liveness.hpp"
#include "set_of_states.hpp"
#include "surroundings.hpp"
#include "words.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

// One world, walked breadth first: every state that can be reached, each once. So the first history
// that breaks an invariant is a shortest one.

namespace walk {

struct violation {
    std::string_view invariant;
    std::vector<std::string> history;
};

struct outcome {
    std::size_t states = 0, transitions = 0;
    std::optional<violation> found{};
};

class walk_through {
public:
    explicit walk_through(world const& w)
        : w_(w), kept_(w.workers > 1 ? sizeof(snapshot) : offsetof(snapshot, copies)) {}

    /// Returns: what there is, up to the first violation.
    outcome go() {
        kept_.insert(normal(first()), {});
        for (std::uint32_t i = 0; i != kept_.size() && !found_; ++i)
            visit(i);
        return {kept_.size(), transitions_, std::move(found_)};
    }

private:
    /// The one operation, as the library begins it.
    snapshot first() const {
        snapshot s;
        s.left = w_.may;
        if (w_.restored) add_effect(s, by_another_copy, 1);
        shown_time const shown;
        one_record_storage blank(record(), image(), {.epoch = this_epoch});
        book journal(blank, shown_clock(shown));
        exact_fingerprint const fingerprint;
        auto asked = intend("shop", std::string("one"), fingerprint).value();
        begin_options how;
        how.deadline = time_of(w_.deadline);
        if (!journal.begin(the_identity, std::move(asked), fingerprint, how)) std::abort();
        s.memory = image_of(blank.current());
        s.memory.restored = w_.restored; // as a storage marks it that is opened as a copy
        s.disk = s.memory;
        return s;
    }

    void visit(std::uint32_t from) {
        snapshot const s = kept_.at(from);
        char const* broken = broken_in(s);
        if (broken == nullptr && !may_end(s)) broken = liveness(w_, s).broken();
        if (broken != nullptr) return note(from, broken, nullptr);
        next_.clear();
        add_all_steps(s, next_);
        std::uint16_t number = 0;
        for (auto const& step : next_.steps()) {
            ++transitions_;
            if (step.broken != nullptr) return note(from, step.broken, &step);
            kept_.insert(normal(step.to), {from, number++});
        }
    }

    void add_all_steps(snapshot const& s, following& out) const {
        for (unsigned who = 0; who != w_.workers; ++who) {
            worker_step worker(w_, s, who, out);
            switch (s.workers[who].phase) {
            case phase::idle: worker.look(); break;
            case phase::has_looked: worker.act_on_what_was_seen(); break;
            case phase::may_send: worker.send(); break;
            case phase::has_sent: worker.hear(); break;
            }
        }
        words(w_, s, out).all();
        surroundings(w_, s, out).all();
    }

    /// What can come of a state does not depend on what was told, on the disk or on what may still
    /// go wrong: many states need to be asked only once.
    bool may_end(snapshot s) {
        if (!s.all_idle()) return true;
        s.disk = image();
        s.mark = s.mark_on_disk = unset;
        s.left = {};
        s.told = {};
        s.ever = {};
        s.wall_is = 0;
        return !asked_.insert(set_of_states::hash(&s, sizeof s)).second;
    }

    // What no rule and no truth reads any more is left out of a state.

    snapshot normal(snapshot s) const {
        time_point const now = desk(w_, s).journal.now();
        normalise(s.memory, now, s);
        normalise(s.disk, now, s);
        for (call& c : s.calls)
            if (c.fate != fate::under_way || w_.arrives_within < 0) c.sent_at = 0;
        for (standing& e : s.effect_of)
            if (!e.alive || s.now >= e.since + w_.visible_after) e.since = 0;
        bool const can_restart = s.left.crash != 0 || s.left.upgrade != 0;
        if (w_.may.clock == 0 || !can_restart) s.mark = s.mark_on_disk = unset;
        if (s.opened_wall >= s.opened_mark) {
            // The clock did not run backwards: only how far it was off counts.
            s.opened_wall = narrow(s.opened_wall - s.opened_elapsed);
            s.opened_elapsed = 0;
            s.opened_mark = unset;
        } else {
            s.opened_wall = narrow(s.opened_mark - 1);
        }
        return s;
    }

    void normalise(image& i, time_point now, snapshot const& s) const {
        if (time_of(i.next_check) <= now) i.next_check = unset;
        auto const visible = std::visit(
            [](auto const& c) { return detail::terms_of(c).visible_after; }, contract_now(w_, s));
        if (!visible || later(time_of(i.confirmed_at), *visible) <= now) i.confirmed_at = unset;
    }

    void note(std::uint32_t state, char const* invariant, following::step const* last) {
        std::vector<std::string> history;
        if (last != nullptr) history.push_back(text_of(last->told, last->to));
        for (std::uint32_t at = state; at != 0; at = kept_.origin(at).from) {
            auto const [from, number] = kept_.origin(at);
            following out;
            add_all_steps(kept_.at(from), out);
            auto const& step = out.steps()[number];
            history.push_back(text_of(step.told, step.to));
        }
        std::ranges::reverse(history);
        found_ = {invariant, std::move(history)};
    }

    world const& w_;
    set_of_states kept_;
    std::unordered_set<std::uint64_t> asked_;
    following next_;
    std::size_t transitions_ = 0;
    std::optional<violation> found_;
};

} // namespace walk

#endif
