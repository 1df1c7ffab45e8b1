// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef TESTS_RECOVERY_ORACLE_HPP
#define TESTS_RECOVERY_ORACLE_HPP

#include <indoubt/recovery/decision_table.hpp>

// The decision table once more, written as a person would tell it and from the specification, not
// from the rows that run. It knows no records and no clock: only what is the case.

namespace oracle {

using namespace indoubt;
using send = allowance::kind;

/// What is the case.
struct facts {
    state_id known = state_id::pending;
    seen shown = seen::not_asked;

    bool claimed = false, cancelled = false, look_only = false, restored = false;
    bool deadline_over = false;
    send may_look = send::now, may_send = send::now; ///< as far as budget and provider allow

    bool can_be_asked = true;
    bool visibility_known = false, too_early = false, late_enough_to_miss = true;
    bool documented = false; ///< today's contract, and that of every open attempt, has a guarantee
    bool covered = false;    ///< and it is open
    bool covered_by_key = false;

    unsigned open = 0;                                 ///< attempts that may have been applied
    bool about_an_open = false;                        ///< the reply is about one of them
    bool refused_now = false, refused_earlier = false; ///< for good
    bool brings_time = false, brings_hints = false;

    bool never_looked_up = false; ///< confirmed by a reply or somebody's word
    concern reviewed_for = concern::none;
    bool same_contradiction = false, same_receipt = true, existed_before = false;
    bool holds_a_receipt = false; ///< of an acceptance, or of the effect
};

/// What a wait ends with.
enum class until {
    now_or_look,
    asked,
    visible,
    send
};

struct answer {
    action what;
    rule why = rule::none; ///< not compared where the answer does not carry one
    oracle::until wait = until::now_or_look;
    bool as_recorded = false; ///< the reason is the recorded one
};

inline answer recorded() {
    return {.what = action::report, .as_recorded = true};
}

inline bool is_one_of(seen what, auto... these) {
    return ((what == these) || ...);
}

inline bool looks_last(facts const& f) {
    return f.may_look == send::now || f.may_look == send::later;
}

/// Replies to an attempt, where they are more than a reason to look.
inline bool settles_by_reply(facts const& f, answer& a) {
    bool const in_flight = f.known == state_id::uncertain || f.known == state_id::in_review;
    if (!in_flight) return false;
    bool const doubt_at_most = f.known == state_id::uncertain || f.reviewed_for == concern::doubt;
    switch (f.shown) {
    case seen::attempt_closed: {
        unsigned const left = f.open - (f.about_an_open ? 1U : 0U);
        if (left != 0 || f.restored || !doubt_at_most) {
            a = {.what = action::record};
        } else if (f.refused_now || f.refused_earlier) {
            a = {.what = action::reject};
        } else {
            a = {.what = action::reopen};
        }
        return true;
    }
    case seen::accepted:
    case seen::existed: a = {.what = action::record}; return true;
    case seen::no_news: a = {.what = action::record}; return f.brings_hints;
    default: return false;
    }
}

inline bool contradicts(facts const& f, answer& a) {
    if (!is_one_of(f.shown, seen::several, seen::contents_differ, seen::former_key,
                   seen::key_reused, seen::receipt_taken)) {
        return false;
    }
    if (f.known == state_id::in_review && f.same_contradiction) {
        a = recorded();
        return true;
    }
    a = {.what = action::contradict, .why = rule::several_effects};
    if (f.shown == seen::receipt_taken) a.why = rule::receipt_taken;
    if (f.shown == seen::former_key) a.why = rule::late_effect;
    if (is_one_of(f.shown, seen::contents_differ, seen::key_reused)) a.why = rule::contents_differ;
    return true;
}

/// Nobody has looked since the last thing that happened.
inline bool asks(facts const& f, answer& a) {
    if (f.shown == seen::busy && f.brings_time && (looks_last(f) || !f.can_be_asked)) {
        a = {.what = action::wait, .why = rule::in_progress, .wait = until::asked};
        return true;
    }
    bool const asked =
        !is_one_of(f.shown, seen::not_asked, seen::busy, seen::no_news, seen::accepted);
    if (asked || !looks_last(f)) return false;
    a = f.may_look == send::now ? answer{.what = action::look}
                                : answer{.what = action::wait, .why = rule::look_up_failed};
    return true;
}

inline answer pending_and_absent(facts const& f) {
    if (f.restored) return {.what = action::refer, .why = rule::restored_copy};
    if (f.look_only) return {.what = action::report, .why = rule::nothing_sent};
    switch (f.may_send) {
    case send::now: return {.what = action::send};
    case send::later:
        return {.what = action::wait, .why = rule::refused_for_now, .wait = until::send};
    case send::spent: return {.what = action::cancel, .why = rule::attempts_spent};
    case send::too_late: break;
    }
    return {.what = action::cancel, .why = rule::deadline_reached};
}

inline answer uncertain_and_absent(facts const& f) {
    bool const asked = f.shown == seen::nothing;
    if (asked && f.too_early) {
        if (f.deadline_over) return {.what = action::refer, .why = rule::deadline_reached};
        if (!looks_last(f)) return {.what = action::report, .why = rule::not_yet_visible};
        return {.what = action::wait, .why = rule::not_yet_visible, .wait = until::visible};
    }
    bool const safe = f.covered && !f.cancelled && (asked || f.covered_by_key);
    if (safe && f.look_only) return {.what = action::report, .why = rule::not_yet_visible};
    if (safe && f.may_send == send::now) return {.what = action::resend};
    if (safe && f.may_send == send::later) {
        return {.what = action::wait, .why = rule::not_yet_visible, .wait = until::send};
    }
    if (asked && !f.visibility_known && looks_last(f)) {
        return {.what = action::wait, .why = rule::not_yet_visible};
    }
    if (safe) {
        return {.what = action::refer,
                .why = f.may_send == send::spent ? rule::attempts_spent : rule::deadline_reached};
    }
    if (f.cancelled) return {.what = action::refer, .why = rule::cancelled_by_caller};
    if (f.restored) return {.what = action::refer, .why = rule::restored_copy};
    bool const was_covered = f.documented && !f.covered;
    if (was_covered) return {.what = action::refer, .why = rule::window_closed};
    bool const promised = !f.can_be_asked && f.holds_a_receipt;
    return {.what = action::refer, .why = promised ? rule::accepted_unproven : rule::no_guarantee};
}

inline answer pending_or_uncertain(facts const& f) {
    bool const pending = f.known == state_id::pending;
    if (is_one_of(f.shown, seen::match, seen::proof)) return {.what = action::confirm};
    if (f.open == 0 && !f.restored && (f.refused_earlier || f.refused_now)) {
        return {.what = action::reject};
    }
    if (!pending && f.open == 0 && !f.restored) return {.what = action::reopen};
    answer a{};
    if (asks(f, a)) return a;
    bool const absent = is_one_of(f.shown, seen::nothing, seen::unsupported);
    if (absent) return pending ? pending_and_absent(f) : uncertain_and_absent(f);
    if (f.shown == seen::only_candidates) {
        if (looks_last(f)) return {.what = action::wait, .why = rule::another_owner};
        return {.what = action::refer,
                .why = f.existed_before ? rule::existed_before : rule::another_owner};
    }
    if (f.shown == seen::under_way) {
        if (looks_last(f)) return {.what = action::wait, .why = rule::under_way};
        return {.what = f.deadline_over ? action::refer : action::report, .why = rule::under_way};
    }
    if (!pending && f.shown == seen::failed_for_good) return {.what = action::reject};
    if (pending && f.shown == seen::no_target && !f.restored) return {.what = action::reject};
    bool const unclear = is_one_of(f.shown, seen::incomplete, seen::unavailable, seen::denied,
                                   seen::failed, seen::failed_for_good, seen::no_target);
    if (unclear && looks_last(f)) return {.what = action::wait, .why = rule::look_up_failed};
    if (unclear && pending && f.restored) {
        return {.what = action::refer, .why = rule::restored_copy};
    }
    bool const may_still_resend = f.covered && !f.cancelled && !f.deadline_over;
    return {.what = pending || may_still_resend ? action::report : action::refer,
            .why = rule::look_up_failed};
}

inline answer in_review_now(facts const& f) {
    if (is_one_of(f.shown, seen::match, seen::proof)) {
        bool const settled_by_it = f.reviewed_for == concern::doubt ||
                                   (f.reviewed_for == concern::effect_missing && f.same_receipt);
        if (settled_by_it) return {.what = action::confirm};
        return recorded();
    }
    if (f.reviewed_for == concern::contradiction) return recorded();
    answer a{};
    if (asks(f, a)) return a;
    if (f.shown == seen::failed_for_good && f.reviewed_for == concern::doubt) {
        return {.what = action::reject};
    }
    return recorded();
}

inline answer confirmed_now(facts const& f) {
    if (f.shown == seen::match && f.never_looked_up) return {.what = action::record};
    answer a{};
    if (asks(f, a)) return a;
    if (f.shown != seen::nothing) return recorded();
    if (!f.visibility_known && looks_last(f)) {
        return {.what = action::wait, .why = rule::effect_missing};
    }
    if (!f.late_enough_to_miss) return recorded();
    return {.what = action::contradict, .why = rule::effect_missing};
}

/// Nothing was applied, as far as was known; or, where it was abandoned, nobody knows.
inline answer settled_now(facts const& f) {
    bool const effect = is_one_of(f.shown, seen::match, seen::proof, seen::several,
                                  seen::contents_differ, seen::former_key, seen::receipt_taken);
    bool const taken = f.shown == seen::accepted && f.known != state_id::abandoned;
    if (effect || taken) return {.what = action::contradict, .why = rule::late_effect};
    if (f.shown == seen::attempt_closed && f.about_an_open) return {.what = action::record};
    return recorded();
}

inline answer expected(facts f) {
    bool const learned_nothing = f.shown == seen::not_asked ||
                                 (f.shown == seen::no_news && !f.brings_hints) ||
                                 (f.shown == seen::busy && !f.brings_time);
    if (learned_nothing && !f.can_be_asked) f.shown = seen::unsupported;

    if (f.claimed) return {.what = action::report, .why = rule::in_progress};
    answer a{};
    switch (f.known) {
    case state_id::rejected:
    case state_id::cancelled:
    case state_id::abandoned: return settled_now(f);
    case state_id::confirmed:
        if (is_one_of(f.shown, seen::accepted, seen::proof) && !f.same_receipt) {
            return {.what = action::contradict, .why = rule::several_effects};
        }
        if (f.shown == seen::attempt_closed && f.about_an_open) return {.what = action::record};
        return contradicts(f, a) ? a : confirmed_now(f);
    case state_id::in_review:
        if (contradicts(f, a) || settles_by_reply(f, a)) return a;
        return in_review_now(f);
    case state_id::pending:
        if (f.shown == seen::accepted) {
            return {.what = action::contradict, .why = rule::late_effect};
        }
        if (f.cancelled && !f.restored) {
            return {.what = action::cancel, .why = rule::cancelled_by_caller};
        }
        return contradicts(f, a) ? a : pending_or_uncertain(f);
    default:
        if (contradicts(f, a) || settles_by_reply(f, a)) return a;
        return pending_or_uncertain(f);
    }
}

} // namespace oracle

#endif
