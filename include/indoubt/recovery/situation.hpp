// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef INDOUBT_RECOVERY_SITUATION_HPP
#define INDOUBT_RECOVERY_SITUATION_HPP

#include <indoubt/core/states.hpp>
#include <indoubt/policy/retry_budget.hpp>
#include <indoubt/recovery/observation.hpp>

#include <algorithm>
#include <cstdint>

// The case at hand: what is known, what was seen, what the contract documents and what the moment
// allows; and the questions the decision table asks of it.

namespace indoubt {

/// Everything of the moment that a decision depends on, as data. journal::moment fills it.
struct moment {
    time_point now{};
    /// Guarantees of attempts sent up to here count as closed: the clock ran backwards.
    time_point closed_until = time_point::min();
    std::uint32_t epoch = 0;  ///< of the journal: claims of other epochs are dead
    std::uint64_t holder = 0; ///< who asks; his own claim does not stop him
    allowance may_send{};
    allowance may_look{};
    bool look_only = false; ///< never send, only look
};

namespace detail {

/// What the rows ask of the case at hand.
struct situation {
    record const& r;
    observation const& o;
    terms const& t;
    moment const& m;

    /// What was seen; where nobody can be asked, not having asked is `unsupported`.
    seen sight() const {
        bool const nothing_learned =
            o.what == seen::not_asked || (o.what == seen::no_news && o.remarks.empty()) ||
            (o.what == seen::busy && o.retry_after <= milliseconds::zero());
        return nothing_learned && !t.has_lookup ? seen::unsupported : o.what;
    }

    // ---- who may act ----------------------------------------------------------------------------

    bool claimed_elsewhere() const {
        return r.claim.epoch != 0 && r.claim.epoch == m.epoch && r.claim.holder != m.holder;
    }
    bool cancel_requested() const { return r.cancel_requested; }
    bool look_only() const { return m.look_only; }
    bool restored() const { return r.restored; }
    bool not_restored() const { return !r.restored; }
    bool deadline_over() const { return m.now >= r.deadline; }
    bool deadline_not_over() const { return !deadline_over(); }

    // ---- looking --------------------------------------------------------------------------------

    bool may_look_now() const { return m.may_look.what == allowance::kind::now; }
    bool looks_left() const { return may_look_now() || m.may_look.what == allowance::kind::later; }
    bool asked_for_time() const {
        return o.retry_after > milliseconds::zero() && (looks_left() || !t.has_lookup);
    }
    bool brought_hints() const { return !o.remarks.empty(); }

    /// When an effect of the last attempt must be visible, if the contract says how long it takes.
    time_point visible_at() const {
        return later(later(r.last_sent(), t.arrives_within),
                     t.visible_after.value_or(milliseconds::zero()));
    }
    bool too_early() const { return t.visible_after.has_value() && m.now < visible_at(); }
    bool visibility_unknown() const { return !t.visible_after.has_value(); }
    bool late_enough_to_miss() const {
        return visibility_unknown() || m.now >= later(r.confirmed_at, *t.visible_after);
    }

    // ---- sending --------------------------------------------------------------------------------

    /// The budget's answer and the provider's wish to be left alone, as one. A wait that ends
    /// beyond the deadline is no wait.
    allowance may_send() const {
        allowance a = m.may_send;
        bool const goes_on = a.what == allowance::kind::now || a.what == allowance::kind::later;
        if (!goes_on) return a;
        time_point const start = std::max(
            a.what == allowance::kind::later ? a.not_before : time_point::min(), r.next_check);
        if (start <= m.now) {
            a.what = allowance::kind::now;
        } else if (start >= r.deadline) {
            a.what = allowance::kind::too_late;
        } else {
            a.what = allowance::kind::later;
            a.not_before = start;
        }
        return a;
    }
    bool may_send_now() const { return may_send().what == allowance::kind::now; }
    bool may_send_later() const { return may_send().what == allowance::kind::later; }
    bool attempts_spent() const { return may_send().what == allowance::kind::spent; }

    /// The moment before which a resend must start: today's guarantee and that of every open
    /// attempt must hold. min() if there is none.
    time_point guarantee_ends() const {
        if (r.cancel_requested || t.resend.kind == guarantee_kind::none) return time_point::min();
        if (r.restored) return time_point::min(); // nobody knows when it was first sent
        time_point const first = r.first_sent();
        time_point end = closes_at(t.resend, first, t.margin);
        for (auto const& a : r.attempts) {
            if (!r.is_open(a)) continue;
            if (a.guarantee.kind != t.resend.kind || a.guarantee.domain != t.resend.domain ||
                a.sent_at <= m.closed_until) {
                return time_point::min();
            }
            guarantee then = a.guarantee;
            then.arrives_within = std::max(then.arrives_within, t.arrives_within);
            end = std::min(end, closes_at(then, first, t.margin));
        }
        return end;
    }
    bool covered() const { return m.now < guarantee_ends(); }
    /// Without a look-up only a guarantee by key makes a resend safe.
    bool resendable() const {
        return covered() && (sight() == seen::nothing || t.resend.kind == guarantee_kind::by_key);
    }

    // ---- what the record says -------------------------------------------------------------------

    bool about_an_open_one() const {
        return o.attempt != 0 && o.attempt <= r.attempts.size() &&
               r.is_open(r.attempts[o.attempt - 1]);
    }
    /// What another life of a restored copy has sent is open for ever.
    bool last_open_closed() const {
        return !r.restored && r.open_attempts() == (about_an_open_one() ? 1U : 0U);
    }
    bool nothing_open() const { return r.open_attempts() == 0 && !r.restored; }
    bool refused_for_good() const {
        return o.outcome == attempt_outcome_id::refused_for_good || r.refused_for_good();
    }
    bool in_doubt_only() const {
        return r.state != state_id::in_review || r.concern == concern::doubt;
    }
    bool contradicted() const { return r.concern == concern::contradiction; }
    bool same_contradiction() const { return contradicted() && r.reason == contradiction_rule(); }
    /// Nobody has looked whether it is the only one.
    bool never_looked_up() const {
        return !o.from_outside &&
               (r.basis == basis::reply || r.basis == basis::outside || r.basis == basis::person);
    }
    bool other_receipt() const { return o.receipt != r.receipt; }
    bool doubt_or_recorded_effect() const {
        return in_doubt_only() || (r.concern == concern::effect_missing && o.receipt == r.receipt);
    }

    // ---- why ------------------------------------------------------------------------------------

    rule recorded_rule() const { return r.reason; }
    rule contradiction_rule() const {
        bool const settled = is_final(r.state) && r.state != state_id::confirmed;
        if (settled) return rule::late_effect;
        switch (o.what) {
        case seen::receipt_taken: return rule::receipt_taken;
        case seen::former_key: return rule::late_effect;
        case seen::contents_differ:
        case seen::key_reused: return rule::contents_differ;
        default: return rule::several_effects;
        }
    }
    rule candidates_rule() const {
        return r.existed_before_us() ? rule::existed_before : rule::another_owner;
    }
    rule refusal_rule() const {
        return o.outcome == attempt_outcome_id::refused_for_good ? o.why
                                                                 : rule::refused_by_provider;
    }
    /// Why an uncertain operation is not sent again.
    rule uncovered_rule() const {
        if (r.cancel_requested) return rule::cancelled_by_caller;
        if (r.restored) return rule::restored_copy;
        bool const documented = t.resend.kind != guarantee_kind::none &&
                                std::ranges::none_of(r.attempts, [this](attempt_record const& a) {
                                    return r.is_open(a) && a.guarantee.kind == guarantee_kind::none;
                                });
        if (documented && !covered()) return rule::window_closed;
        return t.has_lookup || r.receipt.empty() ? rule::no_guarantee : rule::accepted_unproven;
    }
};

} // namespace detail

} // namespace indoubt

#endif
