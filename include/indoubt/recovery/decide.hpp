// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef INDOUBT_RECOVERY_DECIDE_HPP
#define INDOUBT_RECOVERY_DECIDE_HPP

#include <indoubt/core/evidence.hpp>
#include <indoubt/core/one_of.hpp>
#include <indoubt/core/operation.hpp>
#include <indoubt/recovery/decision_table.hpp>

#include <algorithm>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

// decide is the one place where evidence of what happened is made. It is pure: everything it
// needs is in its arguments. What it may answer stands in its type: an uncertain operation under
// a contract without a resend guarantee is never offered a resend_clearance, and handling one is a
// compile error.

namespace indoubt {

/// Ask the provider, then decide again.
struct look_up {};

/// Nothing to do before `until`; then decide again, with nothing asked.
struct wait {
    time_point until{};
    indoubt::rule rule = indoubt::rule::none; ///< what is waited for
};

/// Nothing more can be done now. The state stays; again_at says when asking may help.
struct stop {
    indoubt::rule rule = indoubt::rule::none;
    time_point again_at{};
};

namespace detail {

template <state S, bool Guaranteed> struct next_of {
    using type = one_of<stop, contradiction, attempt_outcome>; // rejected, cancelled, abandoned
};
template <bool Guaranteed> struct next_of<confirmed, Guaranteed> {
    using type = one_of<stop, look_up, wait, contradiction, attempt_outcome>;
};
template <bool Guaranteed> struct next_of<pending, Guaranteed> {
    using type =
        one_of<stop, look_up, wait, clearance, match, contradiction, doubt, refusal, cancellation>;
};
template <> struct next_of<uncertain, false> {
    using type = one_of<stop, look_up, wait, match, contradiction, doubt, non_application, refusal,
                        attempt_outcome>;
};
template <> struct next_of<uncertain, true> {
    using type = one_of<stop, look_up, wait, resend_clearance, match, contradiction, doubt,
                        non_application, refusal, attempt_outcome>;
};
template <bool Guaranteed> struct next_of<in_review, Guaranteed> {
    using type = one_of<stop, look_up, wait, match, contradiction, non_application, refusal,
                        attempt_outcome>;
};

/// Makes evidence out of a situation that the table has decided.
class mint {
    situation const& s_;
    rule why_;

public:
    mint(situation const& s, rule why) : s_(s), why_(why) {}

    operator stop() const { return {why_, s_.r.next_check}; }
    operator look_up() const { return {}; }
    operator wait() const { return {until(), why_}; }
    operator clearance() const {
        return {s_.r.stamp(),
                s_.m.now,
                {send_before(s_.may_send().ends_at), s_.t.resend, claim(), s_.o.target_id}};
    }
    operator resend_clearance() const {
        time_point const end = std::min(s_.may_send().ends_at, s_.guarantee_ends());
        return {s_.r.stamp(), s_.m.now, {send_before(end), s_.t.resend, claim()}};
    }
    operator match() const {
        basis const rests_on = s_.o.from_outside          ? basis::outside
                               : s_.o.what == seen::proof ? basis::reply
                                                          : basis::looked_up;
        return {s_.r.stamp(), s_.m.now, s_.o.receipt, rests_on};
    }
    operator contradiction() const { return {s_.r.stamp(), s_.m.now, why_, s_.o.remarks}; }
    operator doubt() const { return {s_.r.stamp(), s_.m.now, why_, s_.o.remarks}; }
    operator non_application() const { return {s_.r.stamp(), s_.m.now, closed(), asked_for()}; }
    operator refusal() const {
        closing const last = s_.o.what == seen::failed_for_good
                                 ? closing{0, attempt_outcome_id::refused_for_good, why_}
                                 : closed();
        return {s_.r.stamp(), s_.m.now, last, why_};
    }
    operator attempt_outcome() const {
        closing c = closed();
        // A later call may have found what an earlier one made.
        if (s_.o.what == seen::existed && s_.r.sent_attempts() == 1) c.why = rule::existed_before;
        time_point const again =
            s_.o.retry_after > milliseconds::zero() ? asked_for() : time_point{};
        bool const looked_up = s_.o.what == seen::match;
        return {s_.r.stamp(),
                s_.m.now,
                c,
                s_.o.receipt,
                looked_up ? std::string() : s_.o.remarks,
                again,
                looked_up ? basis::looked_up : basis::none};
    }
    operator cancellation() const { return cancellation(s_.r.stamp(), {}, s_.m.now, why_); }

    /// A person's word that the effect exists, as review has found it.
    static indoubt::adoption adoption(indoubt::stamp of, by person, time_point at,
                                      std::string receipt, basis rests_on,
                                      std::vector<std::string> others) {
        return {of, std::move(person), at, std::move(receipt), rests_on, std::move(others)};
    }

private:
    indoubt::claim claim() const { return {s_.m.epoch, s_.m.holder}; }

    /// A clearance is of its moment: the record says that the attempt was sent then.
    time_point send_before(time_point end) const {
        return std::min(end, later(s_.m.now, s_.t.call_timeout));
    }

    /// When the provider wants to be asked again.
    time_point asked_for() const { return later(s_.m.now, s_.o.retry_after); }

    closing closed() const {
        if (s_.o.what != seen::attempt_closed) return {};
        return {s_.o.attempt, s_.o.outcome, s_.o.why};
    }

    time_point until() const {
        if (why_ == rule::in_progress) return std::min(asked_for(), s_.r.deadline);
        time_point const look =
            s_.m.may_look.what == allowance::kind::later ? s_.m.may_look.not_before : s_.m.now;
        if (why_ == rule::not_yet_visible && s_.too_early()) {
            return std::max(look, s_.visible_at());
        }
        bool const for_a_send =
            why_ == rule::refused_for_now || (why_ == rule::not_yet_visible && s_.resendable());
        return for_a_send && s_.may_send_later() ? s_.may_send().not_before : look;
    }
};

/// What one action is called in the answer for a state; void if it cannot happen there.
template <action> struct made {
    using type = void;
};
template <> struct made<action::look> {
    using type = look_up;
};
template <> struct made<action::wait> {
    using type = wait;
};
template <> struct made<action::send> {
    using type = clearance;
};
template <> struct made<action::resend> {
    using type = resend_clearance;
};
template <> struct made<action::confirm> {
    using type = match;
};
template <> struct made<action::contradict> {
    using type = contradiction;
};
template <> struct made<action::refer> {
    using type = doubt;
};
template <> struct made<action::reopen> {
    using type = non_application;
};
template <> struct made<action::reject> {
    using type = refusal;
};
template <> struct made<action::cancel> {
    using type = cancellation;
};
template <> struct made<action::record> {
    using type = attempt_outcome;
};

template <class Next, action A> Next answer_with(mint const& m) {
    using E = typename made<A>::type;
    if constexpr (std::is_constructible_v<Next, E>) {
        return Next(static_cast<E>(m));
    } else {
        return Next(static_cast<stop>(m)); // no row leads here; a test walks them all
    }
}

template <class Next> Next answer_as(action a, mint const& m) {
    switch (a) {
    case action::look: return answer_with<Next, action::look>(m);
    case action::wait: return answer_with<Next, action::wait>(m);
    case action::send: return answer_with<Next, action::send>(m);
    case action::resend: return answer_with<Next, action::resend>(m);
    case action::confirm: return answer_with<Next, action::confirm>(m);
    case action::contradict: return answer_with<Next, action::contradict>(m);
    case action::refer: return answer_with<Next, action::refer>(m);
    case action::reopen: return answer_with<Next, action::reopen>(m);
    case action::reject: return answer_with<Next, action::reject>(m);
    case action::cancel: return answer_with<Next, action::cancel>(m);
    case action::record: return answer_with<Next, action::record>(m);
    case action::report: break;
    }
    return Next(static_cast<stop>(m));
}

} // namespace detail

/// Everything that can follow in state S under contract C.
template <state S, class C>
using next = typename detail::next_of<S, documents_a_resend_guarantee<C>>::type;

/// What to do next, by the first row of the decision table that fits.
///
/// An observation made for another operation, or before the record moved on, is answered with
/// stop{foreign_evidence} or stop{stale_version}; one that was never made (the default) counts as
/// not asked.
template <state S, class C>
[[nodiscard]] next<S, C> decide(operation<S> const& op, C const& contract,
                                observation const& seen_so_far, moment const& at) {
    record const& r = op.stored();
    if (seen_so_far.what != seen::not_asked && seen_so_far.of != r.stamp()) {
        return stop{seen_so_far.of.operation == r.operation ? rule::stale_version
                                                            : rule::foreign_evidence};
    }
    detail::terms const t = detail::terms_of(contract);
    detail::situation const s{r, seen_so_far, t, at};
    detail::decision_row const& row = detail::deciding_row(s);
    return detail::answer_as<next<S, C>>(row.next, detail::mint(s, row.why.of(s)));
}

} // namespace indoubt

#endif
