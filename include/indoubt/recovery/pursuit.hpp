// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef INDOUBT_RECOVERY_PURSUIT_HPP
#define INDOUBT_RECOVERY_PURSUIT_HPP

#include <indoubt/policy/policies.hpp>
#include <indoubt/recovery/journal.hpp>
#include <indoubt/recovery/run_options.hpp>
#include <indoubt/recovery/same_content.hpp>
#include <indoubt/recovery/telling.hpp>
#include <indoubt/recovery/turn.hpp>
#include <indoubt/recovery/waiting_room.hpp>
#include <indoubt/recovery/weigh.hpp>

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>

// The loop around decide, for one call on one operation: ask the provider, write what follows,
// stop at the first state that only time, evidence or a person can change. All I/O of a recovery
// is here; every decision is in the table.

namespace indoubt {

namespace detail {

template <class Policies> class pursuit {
    using with = parts<Policies>;
    using request = typename with::request;
    using receipt = typename with::receipt;
    using journal = typename with::journal;
    using intent_pointer = std::shared_ptr<intent const>;

public:
    pursuit(Policies& policies, journal& book, waiting_room& waiting, run_options const& options,
            bool look_only)
        : with_(policies), book_(book), waiting_(waiting), options_(options), look_only_(look_only),
          holder_(next_number()), now_(book.now()),
          ends_at_(later(now_, options.deadline.value_or(default_run_deadline))),
          door_(policies, book) {}

    pursuit(pursuit const&) = delete;
    pursuit& operator=(pursuit const&) = delete;
    ~pursuit() {
        if (claimed_) give_back();
    }

    time_point now() const { return now_; } ///< when the call began, or its last step did
    bool expired() const { return now_ >= ends_at_; }
    unsigned looks_made() const { return all_looks_; } ///< over the whole call

    /// asked: the intent of a begin; if the record holds this very one, it has just been made.
    typename with::outcome follow(scribe::box r, intent const* asked = nullptr) {
        if (r->state == state_id::pending && r->intent.get() == asked) {
            door_.add(state_id::none, *r);
        }
        ending_.was_confirmed = r->state == state_id::confirmed;
        turn const mine(&book_, r->intent);
        if (!mine.granted()) {
            auto flushed = book_.flush();
            if (!flushed) return door_.unflushed(*r, std::move(flushed).error());
            return error_about(*r, rule::in_progress);
        }
        current_ = std::move(r);
        for (unsigned steps = 0; current_; ++steps) {
            if (steps != 0) now_ = book_.now();
            if (steps == most_steps) {
                end(std::move(current_), rule::attempts_spent);
                break;
            }
            step_on(std::move(current_));
            if (!current_ && last_) tell_only_what_stands();
        }
        return tell_it();
    }

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
        switch (r->state) {
        case state_id::uncertain: return decide_on(scribe::make<uncertain>(std::move(r)));
        case state_id::confirmed: return decide_on(scribe::make<confirmed>(std::move(r)));
        case state_id::rejected: return decide_on(scribe::make<rejected>(std::move(r)));
        case state_id::cancelled: return decide_on(scribe::make<cancelled>(std::move(r)));
        case state_id::in_review: return decide_on(scribe::make<in_review>(std::move(r)));
        case state_id::abandoned: return decide_on(scribe::make<abandoned>(std::move(r)));
        default: return decide_on(scribe::make<pending>(std::move(r)));
        }
    }

    template <state S> void decide_on(operation<S> op) {
        record const& r = op.stored();
        auto const& documented = with_.provider.contract;
        moment m = book_.moment(r, with_.budget, documented, {holder_, looks_, now_});
        m.look_only = look_only_;
        m.may_send.ends_at = std::min(m.may_send.ends_at, ends_at_); // whoever pauses in between
        if (m.may_look.what == allowance::kind::now && next_look_ > now_) {
            m.may_look = {allowance::kind::later, next_look_};
        }
        auto next = decide(op, documented, so_far_, m);
        if (so_far_.what == seen::match || so_far_.what == seen::proof) ending_.seen_now = true;
        std::move(next).visit([&](auto&& x) -> void { act(op, std::move(x)); });
    }

    template <state S> void act(operation<S>& op, stop x) { end(box_of(op), x.rule, x.again_at); }

    template <state S> void act(operation<S>& op, look_up) { look(box_of(op)); }

    template <state S> void act(operation<S>& op, wait x) { sleep(box_of(op), x); }

    template <state S, class Evidence> void act(operation<S>& op, Evidence e) {
        auto const known = op.stored().intent;
        if constexpr (std::same_as<Evidence, clearance>) {
            send(op, [&] { return dispatch(std::move(op), std::move(e)); });
        } else if constexpr (std::same_as<Evidence, resend_clearance>) {
            send(op, [&] { return resend(std::move(op), std::move(e)); });
        } else if constexpr (std::same_as<Evidence, match>) {
            settle(known, S::id, confirm(std::move(op), std::move(e)));
        } else if constexpr (std::same_as<Evidence, non_application>) {
            settle(known, S::id, reopen(std::move(op), std::move(e)));
        } else if constexpr (std::same_as<Evidence, refusal>) {
            settle(known, S::id, reject(std::move(op), std::move(e)));
        } else if constexpr (std::same_as<Evidence, attempt_outcome>) {
            settle(known, S::id, record_outcome(std::move(op), std::move(e)));
        } else if constexpr (std::same_as<Evidence, cancellation>) {
            settle(known, S::id, cancel(std::move(op), std::move(e)));
        } else {
            settle(known, S::id, refer(std::move(op), std::move(e)));
        }
    }

    /// From here on the state is looked up in the record: what follows is the same in all of them.
    template <state S> static scribe::box box_of(operation<S>& op) {
        return std::move(scribe::of(op));
    }

    void sleep(scribe::box r, wait x) {
        if (x.until > now_) {
            if (x.until >= ends_at_) return end(std::move(r), x.rule, x.until);
            if (!may_go_on(r)) return;
            waiting_.wait(r->identity(), options_.stop, [&](std::stop_token const& stop) {
                // A cancel that came a moment ago found nobody to wake.
                auto const moved_on = book_.has_moved_on(*r);
                if (moved_on && !moved_on.value()) book_.wait_until(x.until, stop);
            });
            forget();
            return reload(*r->intent, r->state); // it may have been cancelled or settled meanwhile
        }
        forget();
        current_ = std::move(r);
    }

    // ---- writing --------------------------------------------------------------------------------

    /// Writes what a transition made; what was seen is then recorded, and used up.
    template <state To>
    void settle(intent_pointer const& known, state_id from, result<step<To>>&& decided) {
        if (!decided) return on_failed_write(*known, from, std::move(decided).error());
        keep(from, std::move(scribe::of(decided.value())));
    }

    void keep(state_id from, scribe::box r) {
        door_.owe_hook(from, state_id::none, *r);
        auto written = book_.put(*r);
        if (!written) return on_failed_write(*r->intent, from, std::move(written).error());
        door_.add(from, *r);
        found_here_ = r->state == state_id::confirmed && from != state_id::confirmed &&
                      so_far_.what == seen::match;
        forget();
        bool const goes_on = r->state == state_id::pending || r->state == state_id::uncertain ||
                             (r->state == from && !is_final(from));
        if (goes_on) {
            current_ = std::move(r);
        } else {
            rule const why = r->reason;
            end(std::move(r), why);
        }
    }

    /// What was seen is recorded, or too old to count.
    void forget() {
        so_far_.what = seen::not_asked;
        so_far_.attempt = 0;
    }

    /// from: the state before the write.
    void on_failed_write(intent const& known, state_id from, error&& e) {
        if (e.rule() == rule::stale_version) return reload(known, from);
        fail(known, from, std::move(e));
    }

    /// The record moved on: go on from what it says now. A reply still proves what it proves of its
    /// attempt; a look-up must be made again.
    void reload(intent const& known, state_id from) {
        auto latest = book_.find_record(known.identity);
        if (!latest) return fail(known, from, std::move(latest).error());
        if (!latest.value()) return fail(known, state_id::none, error(rule::not_recorded));
        current_ = std::move(latest).value();
        if (so_far_.attempt == 0 || so_far_.attempt > current_->attempts.size()) return forget();
        so_far_.of = current_->stamp();
        bool const superseded =
            current_->attempts[so_far_.attempt - 1].generation != current_->generation;
        if (superseded) weigh_former(so_far_);
    }

    // ---- the provider ---------------------------------------------------------------------------

    template <state S, class Transition> void send(operation<S>& op, Transition make) {
        auto const known = op.stored().intent;
        auto decoded = codec<request>::decode(known->request);
        if (!decoded) return end(box_of(op), rule::undecodable);
        if (!may_go_on(scribe::of(op))) return;
        claimed_ = known;
        auto allowed = book_.write(make());
        if (!allowed) return on_failed_write(*known, S::id, std::move(allowed).error());
        door_.add(S::id, *scribe::of(allowed.value()));
        auto out = book_.template open_attempt<request>(allowed.value(), limits(),
                                                        std::move(decoded).value());
        forget();
        if (!out) return on_unsent(*known, std::move(out).error());
        auto sent = std::move(allowed).value().operation();
        auto reply = with_.provider.submit(out.value());
        looks_ = 0;
        next_look_ = {};
        so_far_ = weigh(with_.provider.contract, sent, std::move(reply));
        check_receipt(box_of(sent));
    }

    void on_unsent(intent const& known, error&& e) {
        if (e.rule() != rule::storage_failed) return reload(known, state_id::uncertain);
        fail(known, state_id::uncertain, std::move(e));
    }

    void look(scribe::box r) {
        if constexpr (documents_a_lookup<contract_of<typename with::provider>>) {
            auto decoded = codec<request>::decode(r->intent->request);
            if (!decoded) return end(std::move(r), rule::undecodable);
            if (!may_go_on(r)) return;
            auto const most = limits();
            auto found = with_.provider.lookup(query_for(*r, decoded.value(), most));
            ++looks_;
            ++all_looks_;
            if constexpr (spaces_looks<budget_in<Policies>>) {
                next_look_ = later(book_.now(), with_.budget.look_delay(*r, looks_));
            }
            so_far_ = weigh_answer(terms_of(with_.provider.contract), *r, found,
                                   same_content<Policies>{with_});
            if (so_far_.what == seen::match) return check_receipt(std::move(r));
            current_ = std::move(r);
        } else {
            end(std::move(r), rule::look_up_failed); // unsupported comes first in the table
        }
    }

    /// A receipt belongs to one operation for ever.
    void check_receipt(scribe::box r) {
        if (!so_far_.receipt.empty()) {
            auto ours = book_.bind_receipt(*r, so_far_.receipt);
            if (!ours) return fail(*r->intent, r->state, std::move(ours).error());
            if (!ours.value()) so_far_.what = seen::receipt_taken;
        }
        current_ = std::move(r);
    }

    call_limits limits() {
        auto const timeout = with_.provider.contract.call_timeout;
        return {std::min<milliseconds>(timeout, ends_at_ - now_), options_.stop};
    }

    bool may_go_on(scribe::box& r) {
        if (options_.stop.stop_requested()) {
            end(std::move(r), rule::stopped);
            return false;
        }
        if (expired()) {
            end(std::move(r), rule::deadline_reached);
            return false;
        }
        return true;
    }

    // ---- the end --------------------------------------------------------------------------------

    /// Somebody may have sent it while this call looked: then it goes on from what he wrote.
    void tell_only_what_stands() {
        if (last_->state == state_id::confirmed) return; // which nothing takes back unseen
        auto const moved_on = book_.has_moved_on(*last_);
        if (!moved_on || !moved_on.value()) return;
        auto const known = last_->intent;
        auto const state = last_->state;
        last_.reset();
        forget();
        reload(*known, state);
    }

    void end(scribe::box r, rule why, time_point again_at = {}) {
        last_ = std::move(r);
        ending_.why = why;
        ending_.again_at = again_at;
    }

    void fail(intent const& known, state_id state, error&& e) {
        failed_.emplace(std::move(e).of(printable(known.identity)).in(state));
    }

    typename with::outcome tell_it() {
        if (failed_) return std::move(*failed_);
        record& r = *last_;
        if (r.claim.holder == holder_) {
            auto released = book_.release_record(r);
            if (!released) return door_.unflushed(r, std::move(released).error());
        }
        claimed_ = nullptr;
        bool const early = options_.tell == tell::early && found_here_ &&
                           r.state == state_id::confirmed && r.basis == basis::looked_up;
        auto opened = door_.open(r, early);
        if (!opened) return door_.unflushed(r, std::move(opened).error());
        return door_.outcome(r, ending_);
    }

    /// Whoever throws, the provider or a policy: the operation stays as it is recorded, free for
    /// the next one who asks. A second exception must not leave this.
    void give_back() noexcept {
#if defined(__cpp_exceptions)
        try {
#endif
            auto latest = book_.find_record(claimed_->identity);
            bool const mine = latest && latest.value() && latest.value()->claim.holder == holder_;
            if (mine && book_.release_record(*latest.value())) (void)book_.flush();
#if defined(__cpp_exceptions)
        } catch (...) {
        }
#endif
    }

    Policies& with_;
    journal& book_;
    waiting_room& waiting_;
    run_options const& options_;
    bool look_only_;
    std::uint64_t holder_;
    time_point now_, ends_at_;

    scribe::box current_{};    // null: the call has ended
    intent_pointer claimed_{}; // of what this call claimed and has not yet given back
    observation so_far_{};
    unsigned looks_ = 0, all_looks_ = 0; // since the last send of this call, and altogether
    time_point next_look_{};
    bool found_here_ = false; // what confirms it: this call has looked, and can look again

    scribe::box last_{}; // how it ended: as recorded, or failed
    ending ending_{};
    std::optional<error> failed_{};
    telling<Policies> door_;
};

} // namespace detail

} // namespace indoubt

#endif
