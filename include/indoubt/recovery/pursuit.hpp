// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef INDOUBT_RECOVERY_PURSUIT_HPP
#define INDOUBT_RECOVERY_PURSUIT_HPP

#include <indoubt/policy/policies.hpp>
#include <indoubt/recovery/beginning.hpp>
#include <indoubt/recovery/conclusion.hpp>
#include <indoubt/recovery/following.hpp>
#include <indoubt/recovery/journal.hpp>
#include <indoubt/recovery/run_options.hpp>
#include <indoubt/recovery/sending.hpp>
#include <indoubt/recovery/sighting.hpp>
#include <indoubt/recovery/turn.hpp>
#include <indoubt/recovery/waiting_room.hpp>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string_view>
#include <utility>

// The loop around decide, for one call on one operation: ask the provider, write what follows,
// stop at the first state that only time, evidence or a person can change. All I/O of a recovery
// is here; every decision is in the table. A call on many operations (batch.hpp) has a pursuit for
// each, and takes them in steps from one common flush to the next.

namespace indoubt {

namespace detail {

/// How far a pursuit goes by itself.
enum class pace : std::uint8_t {
    alone,     ///< to its end: it waits and sends by itself
    together,  ///< until it would send or wait
    departing, ///< through the decision to send: the departure is left for a common write
    waiting,   ///< through one wait, then as together
};

template <class Policies> class pursuit {
    using with = parts<Policies>;
    using request = typename with::request;
    using journal = typename with::journal;
    using outcome = typename with::outcome;
    using attempt = indoubt::attempt<request>;
    using intent_pointer = std::shared_ptr<intent const>;

public:
    /// began: several that are one call share it, and so the deadline of that call.
    pursuit(Policies& policies, journal& book, waiting_room& waiting, run_options const& options,
            bool look_only, std::optional<time_point> began = {})
        : with_(policies), book_(book), waiting_(waiting), options_(options), look_only_(look_only),
          now_(began ? *began : book.now()),
          ends_at_(later(now_, options.deadline.value_or(default_run_deadline))), out_(book),
          seen_(policies, book), end_(policies, book) {}

    pursuit(pursuit const&) = delete;
    pursuit& operator=(pursuit const&) = delete;

    unsigned looks_made() const { return seen_.all_looks(); }

    // ---- how it begins --------------------------------------------------------------------------

    /// Records what is wanted, or finds it.
    void begin(identity const& id, request const& wanted) {
        if (expired()) return end_.stay_as_recorded(id, rule::deadline_reached);
        auto b = beginning<Policies>::of(with_, book_, id, wanted, now_);
        if (!b) return end_.fail(std::move(b).error());
        if (b.value().is_new) end_.door.add(state_id::none, *b.value().stored);
        take_up(std::move(b.value().stored));
    }

    /// Finds what is recorded.
    void find(identity const& id) {
        if (expired()) return end_.stay_as_recorded(id, rule::deadline_reached);
        auto r = book_.find_record(id);
        if (!r) return end_.fail(std::move(r).error());
        if (!r.value()) return end_.fail(error(rule::not_recorded).of(printable(id)));
        take_up(std::move(r).value());
    }

    void take_up(scribe::box r) {
        about_ = r->intent;
        end_.found.was_confirmed = r->state == state_id::confirmed;
        current_ = std::move(r);
    }

    /// The rest of a call on this operation alone.
    outcome finish() {
        if (!about_) {
            announce(book_.flush());
            return told();
        }
        turn const mine(&book_, about_);
        enter(mine);
        advance(pace::alone);
        close();
        announce(is_early() ? success() : book_.flush());
        return told();
    }

    // ---- how it goes on, in steps ---------------------------------------------------------------

    intent_pointer const& about() const { return about_; } ///< null if it ended before it began
    bool goes_on() const { return current_ != nullptr; }
    bool would_send() const { return would_send_; }
    std::optional<time_point> const& waits_until() const { return waits_until_; }

    /// From within a call about the same operation nothing is done.
    void enter(turn const& mine) {
        if (!current_ || mine.granted()) return;
        end_.fail(error_about(*current_, rule::in_progress));
        current_ = nullptr;
    }

    void advance(pace p) {
        pace_ = p;
        would_send_ = false;
        waits_until_.reset();
        if (p != pace::alone) now_ = book_.now(); // others had their turn
        while (current_ && !would_send_ && !waits_until_) {
            if (steps_++ == most_steps) return end(std::move(current_), rule::attempts_spent);
            step_on(std::move(current_));
            if (current_ || !tell_only_what_stands()) now_ = book_.now();
        }
    }

    /// After pace::departing: what is to be written. Null if it would not send any more.
    result<departure>* departing() { return out_.departing(); }

    /// What came of writing it.
    void take(result<permit>&& allowed) {
        if (!allowed) {
            out_.cease();
            return on_failed_write(sent_from_, std::move(allowed).error());
        }
        end_.door.add(sent_from_, *scribe::of(allowed.value()));
        out_.take(std::move(allowed).value());
        seen_.forget();
    }

    /// The attempt, right before the bytes go out. Nothing if there is no leave, or not any more.
    std::optional<attempt> open() {
        if (!out_.is_permitted()) return std::nullopt;
        if (pace_ != pace::alone) now_ = book_.now();
        auto made = out_.open(limits());
        if (made) return std::move(made).value();
        if (made.error().rule() != rule::storage_failed) {
            reload(state_id::uncertain);
        } else {
            fail(state_id::uncertain, std::move(made).error());
        }
        return std::nullopt;
    }

    /// What came back from it.
    template <class Reply> void hear(Reply reply) {
        auto sent = out_.sent();
        auto weighed = seen_.hear(sent, std::move(reply));
        go_on_with(box_of(sent), std::move(weighed));
    }

    void transmit() {
        if (auto out = open()) hear(with_.provider.submit(*out));
    }

    // ---- how it ends ----------------------------------------------------------------------------

    /// Without a decision, by an exception: what is recorded stands.
    void interrupt(identity const& id) {
        (void)out_.give_back();
        out_.cease();
        current_ = nullptr;
        end_.stay_as_recorded(id, rule::interrupted);
    }

    /// Others may have written since it ended, while it was the turn of the rest of a batch.
    void close_as_it_stands() {
        if (!tell_only_what_stands()) advance(pace::alone);
        close();
    }
    void close() {
        end_.close(out_.holder());
        if (!end_.has_failed()) out_.let_go();
    }
    bool is_early() const {
        return options_.tell == tell::early && found_here_ && end_.is_looked_up();
    }
    void announce(result<void> const& flushed) { end_.announce(flushed); }
    outcome told() const { return end_.told(); }

private:
    /// Budgets and deadlines end every history earlier; this bounds those that break their laws.
    static constexpr unsigned most_steps = 10'000;

    // ---- one step -------------------------------------------------------------------------------

    void step_on(scribe::box r) {
        // A reconcile names the identity alone: it may be that of a write to somewhere else.
        if (r->intent->target != std::string_view(with_.provider.target)) {
            return end(std::move(r), rule::conflicting_intent);
        }
        bool const trusted = r->state == state_id::confirmed && options_.trust_record;
        if (trusted || r->tombstone) {
            rule const why = r->state == state_id::confirmed ? rule::none : r->reason;
            return end(std::move(r), why);
        }
        if (r->intent->fingerprint_rule != with_.fingerprint.rule()) {
            return end(std::move(r), rule::incomparable);
        }
        scribe::any(std::move(r)).visit([&](auto&& op) -> void { decide_on(std::move(op)); });
    }

    template <state S> void decide_on(operation<S> op) {
        record const& r = op.stored();
        auto const& documented = with_.provider.contract;
        moment m = book_.moment(r, with_.budget, documented, {out_.holder(), seen_.looks(), now_});
        m.look_only = look_only_;
        m.may_send.ends_at = std::min(m.may_send.ends_at, ends_at_); // whoever pauses in between
        m.may_look = seen_.spaced(m.may_look, now_);
        auto next = decide(op, documented, seen_.latest(), m);
        end_.found.seen_now |= seen_.shows_effect();
        std::move(next).visit([&](auto&& x) -> void { act(op, std::move(x)); });
    }

    template <state S> void act(operation<S>& op, stop x) { end(box_of(op), x.rule, x.again_at); }

    template <state S> void act(operation<S>& op, look_up) { look(box_of(op)); }

    template <state S> void act(operation<S>& op, wait x) { sleep(box_of(op), x); }

    template <state S> void act(operation<S>& op, clearance e) { send(op, std::move(e)); }

    template <state S> void act(operation<S>& op, resend_clearance e) { send(op, std::move(e)); }

    template <state S, class Evidence> void act(operation<S>& op, Evidence e) {
        settle(S::id, follow(std::move(op), std::move(e)));
    }

    /// From here on the state is looked up in the record: what follows is the same in all of them.
    template <state S> static scribe::box box_of(operation<S>& op) {
        return std::move(scribe::of(op));
    }

    void sleep(scribe::box r, wait x) {
        if (x.until > now_) {
            if (x.until >= ends_at_) return end(std::move(r), x.rule, x.until);
            if (!may_go_on(r)) return;
            if (pace_ == pace::together || pace_ == pace::departing) {
                waits_until_ = x.until;
                return void(current_ = std::move(r));
            }
            if (pace_ == pace::waiting) pace_ = pace::together;
            waiting_.wait(r->identity(), options_.stop, [&](std::stop_token const& stop) {
                // A cancel that came a moment ago found nobody to wake.
                auto const moved_on = book_.has_moved_on(*r);
                if (moved_on && !moved_on.value()) book_.wait_until(x.until, stop);
            });
            seen_.forget();
            return reload(r->state); // it may have been cancelled or settled meanwhile
        }
        seen_.forget();
        current_ = std::move(r);
    }

    // ---- writing --------------------------------------------------------------------------------

    /// Writes what a transition made; what was seen is then recorded, and used up.
    template <state To> void settle(state_id from, result<step<To>>&& decided) {
        if (!decided) return on_failed_write(from, std::move(decided).error());
        keep(from, std::move(scribe::of(decided.value())));
    }

    void keep(state_id from, scribe::box r) {
        end_.door.owe_hook(from, state_id::none, *r);
        auto written = book_.put(*r);
        if (!written) return on_failed_write(from, std::move(written).error());
        end_.door.add(from, *r);
        found_here_ = r->state == state_id::confirmed && from != state_id::confirmed &&
                      seen_.latest().what == seen::match;
        seen_.forget();
        bool const goes_on = r->state == state_id::pending || r->state == state_id::uncertain ||
                             (r->state == from && !is_final(from));
        if (goes_on) {
            current_ = std::move(r);
        } else {
            rule const why = r->reason;
            end(std::move(r), why);
        }
    }

    /// from: the state before the write.
    void on_failed_write(state_id from, error&& e) {
        if (e.rule() == rule::stale_version) return reload(from);
        fail(from, std::move(e));
    }

    /// The record moved on: go on from what it says now.
    void reload(state_id from) {
        auto latest = book_.find_record(about_->identity);
        if (!latest) return fail(from, std::move(latest).error());
        if (!latest.value()) return fail(state_id::none, error(rule::not_recorded));
        current_ = std::move(latest).value();
        seen_.carry_over_to(*current_);
    }

    // ---- the provider ---------------------------------------------------------------------------

    template <state S, class Clearance> void send(operation<S>& op, Clearance e) {
        would_send_ = pace_ == pace::together;
        if (would_send_) return void(current_ = box_of(op));
        auto decoded = codec<request>::decode(about_->request);
        if (!decoded) return end(box_of(op), rule::undecodable);
        if (!may_go_on(scribe::of(op))) return;
        sent_from_ = S::id;
        out_.prepare(about_, std::move(decoded).value(), follow(std::move(op), std::move(e)));
        if (pace_ == pace::departing) return;
        take(book_.write(std::move(*out_.departing())));
        transmit();
    }

    void look(scribe::box r) {
        if constexpr (documents_a_lookup<contract_of<typename with::provider>>) {
            auto decoded = codec<request>::decode(r->intent->request);
            if (!decoded) return end(std::move(r), rule::undecodable);
            if (!may_go_on(r)) return;
            auto weighed = seen_.look(*r, decoded.value(), limits());
            go_on_with(std::move(r), std::move(weighed));
        } else {
            end(std::move(r), rule::look_up_failed); // unsupported comes first in the table
        }
    }

    void go_on_with(scribe::box r, result<void>&& weighed) {
        if (!weighed) return fail(r->state, std::move(weighed).error());
        current_ = std::move(r);
    }

    call_limits limits() {
        auto const timeout = with_.provider.contract.call_timeout;
        return {std::min<milliseconds>(timeout, ends_at_ - now_), options_.stop};
    }

    bool expired() const { return now_ >= ends_at_; }

    bool may_go_on(scribe::box& r) {
        bool const stopped = options_.stop.stop_requested();
        if (!stopped && !expired()) return true;
        end(std::move(r), stopped ? rule::stopped : rule::deadline_reached);
        return false;
    }

    // ---- the end --------------------------------------------------------------------------------

    /// Somebody may have sent it while this call looked: then it goes on from what he wrote.
    /// Returns: it has ended.
    bool tell_only_what_stands() {
        auto const overtaken = end_.overtaken();
        if (!overtaken) return true;
        seen_.forget();
        reload(overtaken->state);
        return !current_;
    }

    void end(scribe::box r, rule why, time_point again_at = {}) {
        end_.end(std::move(r), why, again_at);
    }

    void fail(state_id state, error&& e) {
        end_.fail(std::move(e).of(printable(about_->identity)).in(state));
    }

    Policies& with_;
    journal& book_;
    waiting_room& waiting_;
    run_options const& options_;
    bool look_only_;
    time_point now_, ends_at_;

    intent_pointer about_{};
    scribe::box current_{}; // null: it has ended, or is being sent
    unsigned steps_ = 0;
    pace pace_ = pace::alone;
    bool would_send_ = false;                 // together with others
    std::optional<time_point> waits_until_{}; // together with others
    state_id sent_from_ = state_id::none;
    sending<request, journal> out_;
    bool found_here_ = false; // what confirms it: this call has looked, and can look again

    sighting<Policies, journal> seen_;
    conclusion<Policies> end_;
};

} // namespace detail

} // namespace indoubt

#endif
