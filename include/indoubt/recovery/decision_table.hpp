// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef INDOUBT_RECOVERY_DECISION_TABLE_HPP
#define INDOUBT_RECOVERY_DECISION_TABLE_HPP

#include <indoubt/recovery/situation.hpp>

#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <string_view>

// The decision table: what follows from what is known, what was seen and when. It is complete, and
// the first row that fits decides. The rows are data, so that the table people read
// (examples/decision_table) is the table that runs.

namespace indoubt {

/// What to do next. One sentence each.
enum class action : std::uint8_t {
    look,       ///< ask the provider
    wait,       ///< then look, or ask again
    report,     ///< stop here; nothing is written
    send,       ///< the first send
    resend,     ///< under a guarantee
    confirm,    ///< settle: a match
    contradict, ///< to a person: evidence contradicts itself
    refer,      ///< to a person: evidence is missing
    reopen,     ///< back to pending: no attempt may have been applied
    reject,     ///< settle: refused for good
    cancel,     ///< settle: stopped
    record,     ///< keep what became of one attempt
};

namespace detail {

/// A set of small enumerators.
template <class E> struct set_of {
    std::uint32_t bits = 0;
    constexpr explicit set_of(std::uint32_t all) : bits(all) {}
    constexpr set_of(std::initializer_list<E> es) {
        for (E e : es)
            bits |= 1U << static_cast<unsigned>(e);
    }
    constexpr bool has(E e) const { return ((bits >> static_cast<unsigned>(e)) & 1U) != 0; }
};
using states = set_of<state_id>;
using sights = set_of<seen>;

inline constexpr states P{state_id::pending}, U{state_id::uncertain}, C{state_id::confirmed},
    V{state_id::in_review}, PRX{state_id::pending, state_id::rejected, state_id::cancelled},
    PU{state_id::pending, state_id::uncertain}, UV{state_id::uncertain, state_id::in_review},
    PUV{state_id::pending, state_id::uncertain, state_id::in_review},
    PUCV{state_id::pending, state_id::uncertain, state_id::confirmed, state_id::in_review},
    settled{state_id::rejected, state_id::cancelled, state_id::abandoned},
    final_ones{state_id::confirmed, state_id::rejected, state_id::cancelled, state_id::abandoned},
    all{state_id::pending,   state_id::uncertain, state_id::confirmed, state_id::rejected,
        state_id::cancelled, state_id::in_review, state_id::abandoned};

inline constexpr sights closed{seen::attempt_closed}, busy{seen::busy}, no_news{seen::no_news},
    candidates{seen::only_candidates}, nothing{seen::nothing}, under_way{seen::under_way},
    found{seen::match}, failed_for_good{seen::failed_for_good}, without_target{seen::no_target},
    acceptance{seen::accepted}, confirming{seen::accepted, seen::proof},
    worth_keeping{seen::accepted, seen::existed}, matching{seen::match, seen::proof},
    absent{seen::nothing, seen::unsupported},
    unasked{seen::not_asked, seen::busy, seen::no_news, seen::accepted},
    contradicting{seen::several, seen::contents_differ, seen::former_key, seen::key_reused,
                  seen::receipt_taken},
    effects{seen::match,           seen::proof,      seen::several,
            seen::contents_differ, seen::former_key, seen::receipt_taken},
    unclear{seen::incomplete, seen::unavailable,     seen::denied,
            seen::failed,     seen::failed_for_good, seen::no_target},
    anything{(1U << kinds_seen) - 1U};

/// A condition of a row, and how it reads.
struct condition {
    std::string_view words{};
    bool (situation::*holds)() const = nullptr;
};

inline constexpr condition claimed{"claimed by a live holder", &situation::claimed_elsewhere},
    cancelling{"cancel requested", &situation::cancel_requested},
    look_only{"asked only to look", &situation::look_only},
    restored{"the journal is a restored copy", &situation::restored},
    original{"not in a restored copy", &situation::not_restored},
    deadline_over{"the deadline is over", &situation::deadline_over},
    deadline_open{"the deadline is not over", &situation::deadline_not_over},
    look_now{"look-ups left", &situation::may_look_now},
    looks_left{"look-ups left", &situation::looks_left},
    asked_for_time{"it asks for time", &situation::asked_for_time},
    brought_hints{"it brings hints", &situation::brought_hints},
    too_early{"too early to be visible", &situation::too_early},
    unknown_delay{"visible_after unknown", &situation::visibility_unknown},
    must_be_visible{"later than confirmed_at + visible_after", &situation::late_enough_to_miss},
    send_now{"the budget allows a send", &situation::may_send_now},
    send_later{"the budget allows a send later", &situation::may_send_later},
    spent{"the attempts are spent", &situation::attempts_spent},
    covered{"a guarantee is open", &situation::covered},
    resendable{"a guarantee is open", &situation::resendable},
    last_closed{"it was the last open attempt", &situation::last_open_closed},
    open_one{"the attempt is open", &situation::about_an_open_one},
    nothing_open{"no attempt is open", &situation::nothing_open},
    final_refusal{"one was refused for good", &situation::refused_for_good},
    in_doubt_only{"no contradiction", &situation::in_doubt_only},
    contradicted{"in review by contradiction", &situation::contradicted},
    known_already{"the same is recorded", &situation::same_contradiction},
    never_looked_up{"it was never looked up", &situation::never_looked_up},
    other_receipt{"another receipt than the confirmed one", &situation::other_receipt},
    settles{"doubt, or the missing effect is back", &situation::doubt_or_recorded_effect};

/// Why a row decides as it does: a fixed rule, or one that the situation tells.
struct reason {
    rule fixed = rule::none;
    rule (situation::*told)() const = nullptr;
    constexpr reason(rule r) : fixed(r) {}
    constexpr reason(rule (situation::*f)() const) : told(f) {}
    rule of(situation const& s) const { return told ? (s.*told)() : fixed; }
};
inline constexpr reason as_recorded{&situation::recorded_rule},
    as_contradicted{&situation::contradiction_rule}, as_found{&situation::candidates_rule},
    as_refused{&situation::refusal_rule}, uncovered{&situation::uncovered_rule},
    by_no_rule{rule::none};

struct decision_row {
    states known;
    sights observed;
    condition when[3]; ///< all of them
    action next;
    reason why;

    /// Whether the conditions hold; known and observed are about which case it is.
    bool holds(situation const& s) const {
        for (condition const& c : when) {
            if (c.holds == nullptr) break;
            if (!(s.*c.holds)()) return false;
        }
        return true;
    }
};

using A = action;
using R = rule;

// clang-format off
inline constexpr decision_row decision_table[] = {
    {all,     anything,       {claimed},                     A::report,     R::in_progress},

    // Settled: a second receipt is a second effect, and where nothing was applied one is too many.
    // Nothing else is asked. What is pending surely was not applied, either.
    {C,       confirming,     {other_receipt},               A::contradict, R::several_effects},
    {settled, effects,        {},                            A::contradict, R::late_effect},
    {PRX,     acceptance,     {},                            A::contradict, R::late_effect},
    {final_ones, closed,      {open_one},                    A::record,     by_no_rule},
    {settled, anything,       {},                            A::report,     as_recorded},

    // A reply closes one attempt; the operation's outcome is the merge of all of them.
    {UV,      closed,         {last_closed, final_refusal, in_doubt_only},
                                                              A::reject,     as_refused},
    {UV,      closed,         {last_closed, in_doubt_only},  A::reopen,     by_no_rule},
    {UV,      closed,         {},                            A::record,     by_no_rule},

    {P,       anything,       {cancelling, original},        A::cancel,     R::cancelled_by_caller},
    {V,       contradicting,  {known_already},               A::report,     as_recorded},
    {PUCV,    contradicting,  {},                            A::contradict, as_contradicted},
    {PUV,     matching,       {settles},                     A::confirm,    by_no_rule},
    {UV,      worth_keeping,  {},                            A::record,     by_no_rule},
    {UV,      no_news,        {brought_hints},               A::record,     by_no_rule},
    {V,       anything,       {contradicted},                A::report,     as_recorded},

    // Remembered from attempts that are closed.
    {P,       anything,       {final_refusal, original},     A::reject,     R::refused_by_provider},
    {U,       anything,       {nothing_open, final_refusal}, A::reject,     R::refused_by_provider},
    {U,       anything,       {nothing_open},                A::reopen,     by_no_rule},

    // Nobody has looked since the last thing that happened.
    {PUCV,    busy,           {asked_for_time},              A::wait,       R::in_progress},
    {PUCV,    unasked,        {look_now},                    A::look,       by_no_rule},
    {PUCV,    unasked,        {looks_left},                  A::wait,       R::look_up_failed},

    // Something is there, but it is not provably ours: nothing is sent.
    {PU,      candidates,     {looks_left},                  A::wait,       R::another_owner},
    {PU,      candidates,     {},                            A::refer,      as_found},

    // Every attempt so far surely was not applied, and nothing is there.
    {P,       absent,         {restored},                    A::refer,      R::restored_copy},
    {P,       absent,         {look_only},                   A::report,     R::nothing_sent},
    {P,       absent,         {send_now},                    A::send,       by_no_rule},
    {P,       absent,         {send_later},                  A::wait,       R::refused_for_now},
    {P,       absent,         {spent},                       A::cancel,     R::attempts_spent},
    {P,       absent,         {},                            A::cancel,     R::deadline_reached},

    // There is nothing that a send could act on.
    {P,       without_target, {original},                    A::reject,     R::no_target},

    // An effect of ours that is not one yet, or never will be.
    {PU,      under_way,      {looks_left},                  A::wait,       R::under_way},
    {PU,      under_way,      {deadline_over},               A::refer,      R::under_way},
    {PU,      under_way,      {},                            A::report,     R::under_way},
    {UV,      failed_for_good, {in_doubt_only},               A::reject,    R::refused_by_provider},

    // An attempt may have been applied, and nothing is there: absence is not permission.
    {U,       nothing,        {too_early, deadline_over},    A::refer,      R::deadline_reached},
    {U,       nothing,        {too_early, looks_left},       A::wait,       R::not_yet_visible},
    {U,       nothing,        {too_early},                   A::report,     R::not_yet_visible},
    {U,       absent,         {resendable, look_only},       A::report,     R::not_yet_visible},
    {U,       absent,         {resendable, send_now},        A::resend,     by_no_rule},
    {U,       absent,         {resendable, send_later},      A::wait,       R::not_yet_visible},
    {U,       nothing,        {unknown_delay, looks_left},   A::wait,       R::not_yet_visible},
    {U,       absent,         {resendable, spent},           A::refer,      R::attempts_spent},
    {U,       absent,         {resendable},                  A::refer,      R::deadline_reached},
    {U,       absent,         {},                            A::refer,      uncovered},

    // The look-up could not tell: failure is not absence.
    {PU,      unclear,        {looks_left},                  A::wait,       R::look_up_failed},
    {P,       unclear,        {restored},                    A::refer,      R::restored_copy},
    {P,       anything,       {},                            A::report,     R::look_up_failed},
    {U,       anything,       {covered, deadline_open},      A::report,     R::look_up_failed},
    {U,       anything,       {},                            A::refer,      R::look_up_failed},

    // What a reply or somebody's word confirmed is there, and is the only one.
    {C,       found,          {never_looked_up},             A::record,     by_no_rule},

    // A confirmed effect that is gone is never made again.
    {C,       nothing,        {unknown_delay, looks_left},   A::wait,       R::effect_missing},
    {C,       nothing,        {must_be_visible},             A::contradict, R::effect_missing},
    {all,     anything,       {},                            A::report,     as_recorded},
};
// clang-format on

/// The rows about one state and one sight, in their order: a decision tries no other.
struct row_index {
    static constexpr unsigned cells = 8 * kinds_seen;
    static constexpr unsigned cell(state_id known, seen observed) {
        return static_cast<unsigned>(known) * kinds_seen + static_cast<unsigned>(observed);
    }
    std::uint16_t starts[cells + 1]{};
    std::uint8_t rows[cells * 16]{};

    constexpr row_index() {
        std::uint16_t used = 0;
        for (unsigned c = 0; c != cells; ++c) {
            starts[c] = used;
            for (std::uint8_t i = 0; i != std::size(decision_table); ++i) {
                bool const about = decision_table[i].known.has(state_id(c / kinds_seen)) &&
                                   decision_table[i].observed.has(seen(c % kinds_seen));
                if (about) rows[used++] = i;
            }
        }
        starts[cells] = used;
    }
};
inline constexpr row_index rows_about;

/// The row that decides. There always is one: the last row fits everything.
inline decision_row const& deciding_row(situation const& s) {
    unsigned const cell = row_index::cell(s.r.state, s.sight());
    unsigned const last = rows_about.starts[cell + 1] - 1U;
    unsigned i = rows_about.starts[cell];
    while (i < last && !decision_table[rows_about.rows[i]].holds(s))
        ++i;
    return decision_table[rows_about.rows[i]];
}

} // namespace detail

} // namespace indoubt

#endif
