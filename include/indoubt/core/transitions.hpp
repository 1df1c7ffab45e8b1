// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef INDOUBT_CORE_TRANSITIONS_HPP
#define INDOUBT_CORE_TRANSITIONS_HPP

#include <indoubt/core/evidence.hpp>
#include <indoubt/core/operation.hpp>

#include <algorithm>
#include <concepts>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// Every legal transition, as a plain function: what is not declared here does not compile.
// transition_table.hpp says the same as one table; a test proves that the two agree.
//
// All of them are pure. They take the operation and the evidence by rvalue; on an error (foreign
// or stale evidence, or a decision that is not open for this record) the operation is unchanged.

namespace indoubt {

namespace detail {

/// What the transitions are made of. It is the only code that changes a record's state, and no part
/// of the public interface: use the functions below.
class transit {
public:
    template <class S, class E> static bool fits(operation<S> const& op, E const& e, rule& why) {
        if (op.stamp() == e.of()) return true;
        why =
            op.stamp().operation == e.of().operation ? rule::stale_version : rule::foreign_evidence;
        return false;
    }

    /// The one way from an operation to a step. A step releases the claim unless told otherwise.
    template <class To, class S, class E, class F>
    static result<step<To>> take(operation<S>& op, E const& e, F change) {
        if (rule why{}; !fits(op, e, why)) return error_about(*op.record_, why);
        record& r = *op.record_;
        r.claim = {};
        r.reason = rule::none;
        change(r);
        r.state = To::id;
        r.written_at = std::max(r.written_at, e.at());
        return step<To>(std::move(op.record_));
    }

    template <class S, class E> static result<departure> depart(operation<S>& op, E const& e) {
        if (rule why{}; !fits(op, e, why)) return error_about(*op.record_, why);
        record& r = *op.record_;
        leave const& given = e.leave_;
        // What the first attempt acted on, the later ones act on: the name may have moved on.
        if (!given.target_id.empty() && r.first_sent() == time_point::max()) {
            r.edit_notes([&](case_notes& notes) { notes.target_id = given.target_id; });
        }
        r.attempts.push_back({e.at(), given.guarantee, attempt_outcome_id::open, r.generation});
        r.claim = given.claim;
        if (!r.existed_before_us()) r.reason = rule::none;
        r.state = state_id::uncertain;
        r.written_at = std::max(r.written_at, e.at());
        return departure(std::move(op.record_), given.send_before);
    }

    static void close(record& r, closing const& c) {
        if (c.outcome == attempt_outcome_id::open) return;
        // The number, or 0 for all of them, comes from whoever weighed the reply: it may be of no
        // attempt of ours. What closed an attempt first stands.
        for (std::size_t i = 0; i != r.attempts.size(); ++i) {
            bool const meant = c.number == 0 || c.number == i + 1;
            if (meant && r.is_open(r.attempts[i])) r.attempts[i].outcome = c.outcome;
        }
    }

    /// What a settled state says by itself, where its first reason was overwritten by a review.
    static constexpr rule plain_reason(state_id settled) {
        switch (settled) {
        case state_id::rejected: return rule::refused_by_provider;
        case state_id::cancelled: return rule::cancelled_by_caller;
        case state_id::abandoned: return rule::abandoned_by_person;
        default: return rule::none;
        }
    }

    template <class E> static void decided(record& r, std::string_view what, E const& e) {
        decision made;
        made.what = what;
        made.who = e.person().who;
        made.why = e.person().why;
        made.id = e.person().id;
        made.at = e.at();
        r.edit_notes([&](case_notes& notes) { notes.decisions.push_back(std::move(made)); });
    }

    /// Effects that a person has seen, and that are not to contradict again.
    static void set_aside(record& r, std::vector<std::string> const& receipts) {
        if (receipts.empty()) return;
        r.edit_notes([&](case_notes& notes) {
            auto& known = notes.set_aside;
            for (auto const& receipt : receipts) {
                if (std::ranges::find(known, receipt) == known.end()) known.push_back(receipt);
            }
        });
    }

    static void remark(record& r, std::string const& remarks) {
        if (remarks.empty()) return;
        r.edit_notes([&](case_notes& notes) { notes.remarks = remarks; });
    }

    template <class S> static result<step<confirmed>> confirm(operation<S>& op, match&& e) {
        return take<confirmed>(op, e, [&](record& r) {
            settle_as_confirmed(r, std::move(e.receipt_), e.basis_, e.at());
        });
    }

    static void settle_as_confirmed(record& r, std::string receipt, indoubt::basis basis,
                                    time_point at) {
        if (r.open_attempts() == 1) close(r, {0, attempt_outcome_id::applied, rule::none});
        r.receipt = std::move(receipt);
        r.basis = basis;
        r.confirmed_at = at;
        r.ever_confirmed = true;
        r.clean_up_due = r.cancel_requested;
        r.hook_due = false;
        r.concern = concern::none;
        r.came_from = state_id::none;
    }

    template <class S> static result<step<in_review>> refer(operation<S>& op, doubt&& e) {
        // Whatever the look-ups did not show: it still tells whose the thing at our name is.
        bool const existed = op.record_->existed_before_us();
        return take<in_review>(op, e, [&](record& r) {
            r.came_from = S::id;
            r.concern = concern::doubt;
            r.reason = existed ? rule::existed_before : e.rule_;
            remark(r, e.remarks_);
        });
    }

    template <class S> static result<step<in_review>> refer(operation<S>& op, contradiction&& e) {
        return take<in_review>(op, e, [&](record& r) {
            if constexpr (!std::same_as<S, in_review>) r.came_from = S::id;
            // Seeing the effect again may settle a missing one, but nothing worse than that.
            r.concern = e.rule_ == rule::effect_missing && r.concern != concern::contradiction
                            ? concern::effect_missing
                            : concern::contradiction;
            r.reason = e.rule_;
            remark(r, e.remarks_);
        });
    }

    template <class S> static result<step<pending>> reopen(operation<S>& op, non_application&& e) {
        return take<pending>(op, e, [&](record& r) {
            close(r, e.last_);
            r.reason = e.last_.why;
            r.next_check = e.again_at_;
            r.concern = concern::none;
            r.came_from = state_id::none;
        });
    }

    template <class S> static result<step<rejected>> reject(operation<S>& op, refusal&& e) {
        return take<rejected>(op, e, [&](record& r) {
            close(r, e.last_);
            r.reason = e.rule_;
            r.concern = concern::none;
            r.came_from = state_id::none;
        });
    }

    template <class S>
    static result<step<S>> record_outcome(operation<S>& op, attempt_outcome&& e) {
        auto const kept = op.record_->claim;
        auto const why = op.record_->reason;
        return take<S>(op, e, [&](record& r) {
            close(r, e.closed_);
            if (!e.receipt_.empty() && !r.ever_confirmed) r.receipt = std::move(e.receipt_);
            if (!e.hints_.empty()) {
                r.edit_notes([&](case_notes& notes) { notes.hints = std::move(e.hints_); });
            }
            if (e.again_at_ > r.next_check) r.next_check = e.again_at_;
            if (e.better_basis_ != basis::none) r.basis = e.better_basis_;
            // The holder goes on looking; what settled an operation, or contradicts, still holds.
            r.claim = kept;
            constexpr bool waits = std::same_as<S, uncertain>;
            bool const tells_more =
                e.closed_.why == rule::existed_before || (waits && e.closed_.why != rule::none);
            bool const doubtful = waits || r.concern == concern::doubt;
            r.reason = tells_more && doubtful ? e.closed_.why : why;
        });
    }

    /// A cancel asks the holder of a claim to stop; it does not take the claim from him.
    template <class S> static result<step<S>> request_cancel(operation<S>& op, cancellation&& e) {
        auto const kept = op.record_->claim;
        auto const why = op.record_->reason;
        return take<S>(op, e, [&](record& r) {
            r.cancel_requested = true;
            r.claim = kept;
            r.reason = why;
        });
    }

    template <class S> static result<step<pending>> supersede(operation<S>& op, supersession&& e) {
        record const& r = *op.record_;
        auto const& former = r.notes_or_none().former_keys;
        bool const is_new = e.provider_key() != r.key() &&
                            std::ranges::find(former, e.provider_key()) == former.end();
        if (r.hook_due) return not_open(r, "its hook is due");
        if (r.open_attempts() != 0 || r.ever_confirmed) return not_open(r, "it may be applied");
        if (!is_new || e.provider_key().empty()) return not_open(r, "it needs a new provider key");
        if (r.tombstone) return not_open(r, "retention left no request");
        if (r.generation >= most_generations) return not_open(r, "it had all its generations");
        return take<pending>(op, e, [&](record& changed) {
            decided(changed, "supersede", e);
            changed.edit_notes([&](case_notes& notes) {
                notes.former_keys.emplace_back(changed.key());
                notes.target_id.clear();
            });
            changed.extra_attempts = 0;
            ++changed.generation;
            changed.provider_key = e.provider_key();
            changed.deadline = e.deadline();
            changed.cancel_requested = false;
            changed.receipt.clear();
            changed.next_check = {};
        });
    }
};

} // namespace detail

/// The first send, or the first after every earlier attempt surely was not applied.
[[nodiscard]] inline result<departure> dispatch(operation<pending>&& op, clearance&& e) {
    return detail::transit::depart(op, e);
}

/// Another send while an earlier one may have been applied.
[[nodiscard]] inline result<departure> resend(operation<uncertain>&& op, resend_clearance&& e) {
    return detail::transit::depart(op, e);
}

[[nodiscard]] inline result<step<confirmed>> confirm(operation<pending>&& op, match&& e) {
    return detail::transit::confirm(op, std::move(e));
}
[[nodiscard]] inline result<step<confirmed>> confirm(operation<uncertain>&& op, match&& e) {
    return detail::transit::confirm(op, std::move(e));
}
[[nodiscard]] inline result<step<confirmed>> confirm(operation<in_review>&& op, match&& e) {
    return detail::transit::confirm(op, std::move(e));
}

/// To a person, because nothing automatic is left.
[[nodiscard]] inline result<step<in_review>> refer(operation<pending>&& op, doubt&& e) {
    return detail::transit::refer(op, std::move(e));
}
[[nodiscard]] inline result<step<in_review>> refer(operation<uncertain>&& op, doubt&& e) {
    return detail::transit::refer(op, std::move(e));
}

/// To a person, because what was seen cannot be. Legal in every state.
template <state S>
[[nodiscard]] result<step<in_review>> refer(operation<S>&& op, contradiction&& e) {
    return detail::transit::refer(op, std::move(e));
}

/// Back to pending: no attempt may have been applied.
[[nodiscard]] inline result<step<pending>> reopen(operation<uncertain>&& op, non_application&& e) {
    return detail::transit::reopen(op, std::move(e));
}
[[nodiscard]] inline result<step<pending>> reopen(operation<in_review>&& op, non_application&& e) {
    return detail::transit::reopen(op, std::move(e));
}

[[nodiscard]] inline result<step<rejected>> reject(operation<pending>&& op, refusal&& e) {
    return detail::transit::reject(op, std::move(e));
}
[[nodiscard]] inline result<step<rejected>> reject(operation<uncertain>&& op, refusal&& e) {
    return detail::transit::reject(op, std::move(e));
}
[[nodiscard]] inline result<step<rejected>> reject(operation<in_review>&& op, refusal&& e) {
    return detail::transit::reject(op, std::move(e));
}

/// Keeps what became of one attempt, also after the operation was settled; the state stays.
template <state S>
    requires(!std::same_as<S, pending>)
[[nodiscard]] result<step<S>> record_outcome(operation<S>&& op, attempt_outcome&& e) {
    return detail::transit::record_outcome(op, std::move(e));
}

/// Settles a pending operation. An uncertain one, or one in review, stays what it is with the
/// cancel recorded: it is never sent again, and still looked for.
/// Not open for what is pending in a restored copy: it may have been sent.
[[nodiscard]] inline result<step<cancelled>> cancel(operation<pending>&& op, cancellation&& e) {
    if (op.stored().restored) return error_about(op.stored(), rule::restored_copy);
    return detail::transit::take<cancelled>(op, e, [&](record& r) { r.reason = e.rule(); });
}
[[nodiscard]] inline result<step<uncertain>> cancel(operation<uncertain>&& op, cancellation&& e) {
    return detail::transit::request_cancel(op, std::move(e));
}
[[nodiscard]] inline result<step<in_review>> cancel(operation<in_review>&& op, cancellation&& e) {
    return detail::transit::request_cancel(op, std::move(e));
}

/// A person's word that the effect exists.
[[nodiscard]] inline result<step<confirmed>> adopt(operation<in_review>&& op, adoption&& e) {
    return detail::transit::take<confirmed>(op, e, [&](record& r) {
        detail::transit::decided(r, "adopt", e);
        detail::transit::set_aside(r, e.others());
        r.edit_notes([&](case_notes& notes) { std::erase(notes.set_aside, e.receipt()); });
        detail::transit::settle_as_confirmed(r, e.receipt(), e.basis(), e.at());
    });
}

/// A person's word that no attempt was applied. Not open for what was ever confirmed, nor for what
/// came to review from a final state (dismiss is), nor while a call may still be under way.
[[nodiscard]] inline result<step<pending>> rule_out(operation<in_review>&& op, ruling&& e) {
    record const& r = op.stored();
    time_point arrived{};
    for (auto const& a : r.attempts) {
        if (r.is_open(a)) arrived = std::max(arrived, later(a.sent_at, a.guarantee.arrives_within));
    }
    if (e.at() < arrived) return detail::not_open(r, "a call may be under way").until(arrived);
    if (r.ever_confirmed || is_final(r.came_from)) return detail::not_open(r, "it was settled");
    return detail::transit::take<pending>(op, e, [&](record& changed) {
        detail::transit::decided(changed, "rule_out", e);
        detail::transit::close(changed, {0, attempt_outcome_id::declared_not_applied, rule::none});
        changed.allow_attempts(e.extra_attempts());
        changed.deadline = e.deadline();
        changed.restored = false;
        changed.receipt.clear();
        changed.concern = concern::none;
        changed.came_from = state_id::none;
        changed.next_check = {};
    });
}

/// Lets the operation go on with more attempts and a new deadline. Open while the concern is doubt
/// and no cancel was requested; To must be what the attempts say.
template <state To>
[[nodiscard]] result<step<To>> resume(operation<in_review>&& op, resumption<To>&& e) {
    record const& r = op.stored();
    bool const still_open = r.open_attempts() != 0 || r.restored;
    if (r.cancel_requested) return detail::not_open(r, "a cancel was requested");
    if (r.concern != concern::doubt || std::same_as<To, uncertain> != still_open) {
        return detail::not_open(r, "no evidence is missing");
    }
    return detail::transit::take<To>(op, e, [&](record& changed) {
        detail::transit::decided(changed, "resume", e);
        changed.allow_attempts(e.extra_attempts());
        changed.deadline = e.deadline();
        changed.concern = concern::none;
        changed.came_from = state_id::none;
        changed.next_check = {};
    });
}

/// Back to the final state it came from, and to no other. The confirmed effect is none that could
/// be dismissed.
template <state To>
[[nodiscard]] result<step<To>> dismiss(operation<in_review>&& op, dismissal<To>&& e) {
    record const& r = op.stored();
    auto const& named = e.none_of_ours();
    bool const ours = r.ever_confirmed && std::ranges::find(named, r.receipt) != named.end();
    if (r.came_from != To::id) return detail::not_open(r, "it was not settled");
    if (ours) return detail::not_open(r, "it is the confirmed effect");
    return detail::transit::take<To>(op, e, [&](record& changed) {
        detail::transit::decided(changed, "dismiss", e);
        detail::transit::set_aside(changed, e.none_of_ours());
        changed.reason = detail::transit::plain_reason(To::id);
        changed.concern = concern::none;
        changed.came_from = state_id::none;
    });
}

[[nodiscard]] inline result<step<abandoned>> abandon(operation<in_review>&& op, abandonment&& e) {
    return detail::transit::take<abandoned>(op, e, [&](record& r) {
        detail::transit::decided(r, "abandon", e);
        r.reason = rule::abandoned_by_person;
        r.concern = concern::none;
        r.hook_due = false;
    });
}

/// The same intent again, under a new provider key.
[[nodiscard]] inline result<step<pending>> supersede(operation<rejected>&& op, supersession&& e) {
    return detail::transit::supersede(op, std::move(e));
}
[[nodiscard]] inline result<step<pending>> supersede(operation<cancelled>&& op, supersession&& e) {
    return detail::transit::supersede(op, std::move(e));
}

} // namespace indoubt

#endif
