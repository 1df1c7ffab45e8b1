// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#include <recovery/oracle.hpp>

#include <indoubt/recovery/journal.hpp>

#include <doctest/doctest.h>

#include <array>
#include <chrono>
#include <iterator>
#include <memory>
#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

// Every state, with everything that can be seen, under every combination of conditions that a
// row asks for: decide says what the specification says, each row of the table decides somewhere,
// and no row asks for what the answer of its state cannot hold.

namespace {

using namespace indoubt;
using namespace std::chrono_literals;
using oracle::facts;
using kind = allowance::kind;

constexpr char const* cited = "https://shop.test/keys";
constexpr milliseconds soon = 5min, arrives = 1min, hidden = 30min, window_length = 1h, margin = 1s;
constexpr time_point now{1'750'000'000'000ms};

template <class Resend, class Lookup, class Reply>
constexpr auto documents(Resend resend, Lookup look, Reply reply) {
    return contract<Resend, Lookup, Reply>{.resend = resend,
                                           .lookup = look,
                                           .reply = reply,
                                           .call_timeout = 1s,
                                           .arrives_within = arrives};
}
constexpr deduplicated_by_key key{.window = window_length, .documented_at = cited};
constexpr unique_target name{.undisturbed_for = window_length, .documented_at = cited};
constexpr complete_lookup some_time{}, half_an_hour{.visible_after = hidden};
constexpr proof echo{.documented_at = cited};

/// An attempt, by its age and its outcome.
struct try_made {
    milliseconds age;
    attempt_outcome_id outcome = attempt_outcome_id::open;
    bool own_guarantee = true, own_domain = true;
};
struct history {
    std::vector<try_made> tries{};
    bool restored = false, clock_ran_backwards = false;
    concern why_reviewed = concern::none;
    rule reason = rule::none;
    milliseconds confirmed_ago = 40min;
    indoubt::basis rests_on = basis::looked_up;
};

constexpr auto good = attempt_outcome_id::refused_for_good,
               busy = attempt_outcome_id::refused_for_now, applied = attempt_outcome_id::applied,
               unsent = attempt_outcome_id::not_sent, open = attempt_outcome_id::open;

std::vector<history> histories(state_id s) {
    switch (s) {
    case state_id::pending:
        return {{},
                {{{40min, busy}}},
                {{{40min, good}}},
                {.restored = true},
                {.tries = {{40min, good}}, .restored = true}};
    case state_id::uncertain:
        return {{{{10min}}},
                {{{40min}}},
                {{{59min + 30s}}},
                {{{59min + 30s}, {10min}}},
                {{{40min}, {10min}}},
                {{{40min}, {35min, good}}},
                {{{40min, unsent}}},
                {{{40min, good}}},
                {{{40min, open, false}}},
                {{{40min, open, false}, {35min}}},
                {{{40min, open, true, false}}},
                {.tries = {{40min}}, .clock_ran_backwards = true},
                {.tries = {{10min}}, .reason = rule::existed_before},
                // A restored copy that a person resumed: there may be attempts it knows nothing of.
                {.restored = true},
                {.tries = {{40min, unsent}}, .restored = true}};
    case state_id::in_review: {
        std::vector<history> all;
        for (auto const& tries :
             {std::vector<try_made>{{10min}}, {{40min}, {35min}}, {{40min, good}, {35min}}}) {
            all.push_back(
                {.tries = tries, .why_reviewed = concern::doubt, .reason = rule::no_guarantee});
            all.push_back({.tries = tries,
                           .why_reviewed = concern::contradiction,
                           .reason = rule::several_effects});
            all.push_back({.tries = tries,
                           .why_reviewed = concern::contradiction,
                           .reason = rule::receipt_taken});
        }
        all.push_back({.tries = {{40min, applied}},
                       .why_reviewed = concern::effect_missing,
                       .reason = rule::effect_missing});
        return all;
    }
    case state_id::confirmed:
        return {{.tries = {{40min, applied}}, .confirmed_ago = 40min},
                {.tries = {{40min, applied}}, .confirmed_ago = 10min},
                {.tries = {{40min}, {35min}}, .confirmed_ago = 40min},
                {.tries = {{40min, applied}}, .rests_on = basis::reply}};
    default:
        return {{.tries = {{40min, good}}, .reason = rule::refused_input},
                {.tries = {{40min, good}, {35min}}, .reason = rule::refused_input}};
    }
}

/// How a reply or answer came about.
std::vector<observation> sights(seen what, std::size_t tries) {
    observation o{.what = what, .attempt = 0};
    std::vector<observation> all;
    switch (what) {
    case seen::attempt_closed:
        for (std::uint32_t n = 1; n <= tries; ++n) {
            for (auto outcome : {unsent, busy, good}) {
                o.attempt = n;
                o.outcome = outcome;
                o.why = outcome == good ? rule::refused_permission : rule::refused_for_now;
                all.push_back(o);
            }
        }
        if (tries != 0) break;
        o.outcome = busy;
        return {o};
    case seen::busy:
        all.push_back(o);
        o.retry_after = soon;
        all.push_back(o);
        break;
    case seen::no_news:
        all.push_back(o);
        o.remarks = "a hint";
        all.push_back(o);
        break;
    case seen::match:
    case seen::proof:
    case seen::accepted:
        for (auto const* receipt : {"r-1", "r-2"}) {
            o.receipt = receipt;
            all.push_back(o);
        }
        break;
    default: all.push_back(o);
    }
    return all;
}

/// A budget's word about sending, and what the provider asked for.
struct sending {
    allowance budget;
    time_point next_check;
};
std::vector<sending> const all_sending = {{{kind::now}, {}},
                                          {{kind::later, now + soon}, {}},
                                          {{kind::spent}, {}},
                                          {{kind::too_late}, {}},
                                          {{kind::now}, now + 2 * soon},
                                          {{kind::later, now + soon}, now + 24h * 2}};

struct tally {
    unsigned cases = 0, wrong = 0;
    std::string first{};
    std::set<std::size_t> rows{};
};

/// What decide answered.
struct told {
    action what = action::report;
    rule why = rule::none;
    time_point until{};
};
template <class Next> told tell(Next& n) {
    told t;
    if (auto* x = n.template get_if<stop>()) t = {action::report, x->rule, {}};
    auto const as = [&]<class E>(std::type_identity<E>, auto read) {
        if constexpr (std::is_constructible_v<Next, E>) {
            if (auto* x = n.template get_if<E>()) t = read(*x);
        }
    };
    using std::type_identity;
    as(type_identity<look_up>(), [](auto&) { return told{action::look}; });
    as(type_identity<wait>(), [](auto& x) { return told{action::wait, x.rule, x.until}; });
    as(type_identity<clearance>(), [](auto&) { return told{action::send}; });
    as(type_identity<resend_clearance>(), [](auto&) { return told{action::resend}; });
    as(type_identity<match>(), [](auto&) { return told{action::confirm}; });
    as(type_identity<contradiction>(), [](auto& x) { return told{action::contradict, x.rule()}; });
    as(type_identity<doubt>(), [](auto& x) { return told{action::refer, x.rule()}; });
    as(type_identity<non_application>(), [](auto&) { return told{action::reopen}; });
    as(type_identity<refusal>(), [](auto&) { return told{action::reject}; });
    as(type_identity<attempt_outcome>(), [](auto&) { return told{action::record}; });
    as(type_identity<cancellation>(), [](auto& x) { return told{action::cancel, x.rule()}; });
    return t;
}

record made_of(history const& h, state_id state, guarantee own) {
    record r;
    r.intent =
        std::make_shared<intent const>(intent{{"scope", "key"}, "target", "request", "", ""});
    r.operation = 7;
    r.version = {1, 1};
    r.state = state;
    r.restored = h.restored;
    r.concern = h.why_reviewed;
    r.reason = h.reason;
    r.receipt = h.tries.size() == 2 ? "" : "r-1";
    r.ever_confirmed = state == state_id::confirmed || h.why_reviewed == concern::effect_missing;
    r.confirmed_at = now - h.confirmed_ago;
    if (state == state_id::confirmed) r.basis = h.rests_on;
    for (auto const& t : h.tries) {
        guarantee g = own;
        if (!t.own_guarantee) g = {};
        if (!t.own_domain) ++g.domain;
        r.attempts.push_back({now - t.age, g, t.outcome, 1});
    }
    return r;
}

/// What is the case, by plain arithmetic over the history.
facts facts_of(history const& h, record const& r, detail::terms const& t, observation const& o) {
    facts f;
    f.known = r.state;
    f.shown = o.what;
    f.restored = h.restored;
    f.can_be_asked = t.has_lookup;
    f.visibility_known = t.has_lookup && t.visible_after.has_value();
    bool covered = t.resend.kind != guarantee_kind::none && !h.restored;
    f.documented = t.resend.kind != guarantee_kind::none;
    milliseconds const first = h.tries.empty() ? 0ms : h.tries.front().age;
    if (first + arrives + margin >= window_length) covered = false;
    for (auto const& made : h.tries) {
        if (made.outcome != open) continue;
        ++f.open;
        if (!made.own_guarantee) f.documented = false;
        if (!made.own_guarantee || !made.own_domain || h.clock_ran_backwards) covered = false;
    }
    f.covered = covered;
    f.covered_by_key = covered && t.resend.kind == guarantee_kind::by_key;
    if (f.visibility_known) {
        f.too_early = !h.tries.empty() && h.tries.back().age < arrives + hidden;
        f.late_enough_to_miss = h.confirmed_ago >= hidden;
    }
    f.about_an_open = o.attempt != 0 && h.tries[o.attempt - 1].outcome == open;
    f.refused_now = o.outcome == good;
    for (auto const& made : h.tries)
        f.refused_earlier = f.refused_earlier || made.outcome == good;
    f.brings_time = o.retry_after > 0ms;
    f.brings_hints = !o.remarks.empty();
    f.reviewed_for = h.why_reviewed;
    f.never_looked_up = r.state == state_id::confirmed && h.rests_on != basis::looked_up;
    f.same_receipt = o.receipt == r.receipt;
    f.existed_before = h.reason == rule::existed_before;
    f.holds_a_receipt = !r.receipt.empty();
    bool const contradicted = h.why_reviewed == concern::contradiction;
    f.same_contradiction =
        contradicted && ((o.what == seen::several && h.reason == rule::several_effects) ||
                         (o.what == seen::receipt_taken && h.reason == rule::receipt_taken));
    return f;
}

bool agree(told const& t, oracle::answer const& e, record const& r, facts const& f,
           sending const& s, moment const& m) {
    if (t.what != e.what) return false;
    bool const has_a_rule = e.what != action::look && e.what != action::send &&
                            e.what != action::resend && e.what != action::confirm &&
                            e.what != action::reopen && e.what != action::reject &&
                            e.what != action::record;
    if (has_a_rule && t.why != (e.as_recorded ? r.reason : e.why)) return false;
    if (e.what != action::wait) return true;
    time_point const look = f.may_look == kind::later ? m.may_look.not_before : now;
    switch (e.wait) {
    case oracle::until::asked: return t.until == std::min(now + soon, r.deadline);
    case oracle::until::visible:
        return t.until == std::max(look, r.attempts.back().sent_at + arrives + hidden);
    case oracle::until::send:
        return t.until == std::max(s.budget.what == kind::later ? now + soon : now, s.next_check);
    case oracle::until::now_or_look: return t.until == look;
    }
    return false;
}

template <state S, class Contract>
void one(tally& all, Contract const& documented, history const& h, observation o, facts f,
         sending const& s, operation<S> const& op, moment const& m) {
    auto next = decide(op, documented, o, m);
    auto const answer = tell(next);
    auto const should = oracle::expected(f);
    ++all.cases;
    auto const terms = detail::terms_of(documented);
    detail::situation const situation{op.stored(), o, terms, m};
    all.rows.insert(static_cast<std::size_t>(&detail::deciding_row(situation) -
                                             std::begin(detail::decision_table)));
    if (agree(answer, should, op.stored(), f, s, m)) return;
    if (all.wrong++ > 5) return;
    auto const number = [](auto e) { return std::to_string(static_cast<int>(e)); };
    all.first += std::string(to_string(S::id)) + ", " + std::string(to_string(o.what)) + ": told " +
                 number(answer.what) + "/" + number(answer.why) + ", expected " +
                 number(should.what) + "/" + number(should.why) + "; looks " + number(f.may_look) +
                 " sends " + number(f.may_send) + " tries " + std::to_string(h.tries.size()) +
                 " covered " + number(f.covered) + " cancelled " + number(f.cancelled) + " over " +
                 number(f.deadline_over) + " until " +
                 std::to_string((answer.until - now).count()) + "\n";
}

template <state S, class Contract>
void all_conditions(tally& all, Contract const& documented, history const& h, observation o) {
    auto const terms = detail::terms_of(documented);
    record r = made_of(h, S::id, terms.resend);
    o.of = r.stamp();
    facts f = facts_of(h, r, terms, o);
    constexpr bool sends = S::id == state_id::pending || S::id == state_id::uncertain;
    constexpr bool settled = is_final(S::id) && S::id != state_id::confirmed;
    for (unsigned bits = 0; bits != 16; ++bits) {
        f.cancelled = r.cancel_requested = (bits & 1U) != 0;
        f.deadline_over = (bits & 2U) != 0;
        f.look_only = (bits & 4U) != 0;
        f.claimed = (bits & 8U) != 0;
        if ((f.claimed || settled) && (bits & 7U) != 0) continue; // one of these is enough
        if (!sends && f.look_only) continue;
        r.deadline = f.deadline_over ? now - 1min : now + 24h;
        r.claim = f.claimed ? claim{1, 99} : claim{(bits & 1U), 5}; // one's own, or none
        for (auto look : {kind::now, kind::later, kind::spent}) {
            f.may_look = look;
            for (sending const& s : all_sending) {
                if (!sends && &s - all_sending.data() > 1) continue;
                r.next_check = s.next_check;
                f.may_send = s.budget.what;
                if (f.may_send == kind::now && s.next_check > now) f.may_send = kind::later;
                bool const pause = f.may_send == kind::later;
                if (pause && std::max(s.budget.not_before, s.next_check) >= r.deadline) {
                    f.may_send = kind::too_late;
                }
                moment m{.now = now, .epoch = 1, .holder = 5, .may_send = s.budget};
                m.may_look = {look, look == kind::later ? now + 1min : time_point{}};
                m.look_only = f.look_only;
                if (h.clock_ran_backwards) m.closed_until = now - 1min;
                auto const op = detail::scribe::make<S>(std::make_unique<record>(r));
                one(all, documented, h, o, f, s, op, m);
            }
        }
    }
}

template <state S, class Contract> void all_sights(tally& all, Contract const& documented) {
    for (history const& h : histories(S::id)) {
        for (unsigned what = 0; what != kinds_seen; ++what) {
            auto const shown = static_cast<seen>(what);
            bool const of_a_look_up = (shown >= seen::match && shown <= seen::denied) ||
                                      shown == seen::no_target || shown == seen::former_key;
            if (of_a_look_up && !documents_a_lookup<Contract>) continue;
            if (shown == seen::unsupported && documents_a_lookup<Contract>) continue;
            for (auto const& o : sights(shown, h.tries.size()))
                all_conditions<S>(all, documented, h, o);
        }
    }
}

template <class Contract> void all_states(tally& all, Contract const& documented) {
    all_sights<pending>(all, documented);
    all_sights<uncertain>(all, documented);
    all_sights<confirmed>(all, documented);
    all_sights<rejected>(all, documented);
    all_sights<cancelled>(all, documented);
    all_sights<in_review>(all, documented);
    all_sights<abandoned>(all, documented);
}

TEST_CASE("decide answers what the specification says, whatever is known, seen and the case") {
    tally all;
    all_states(all, documents(never{}, some_time, hint{}));
    all_states(all, documents(never{}, half_an_hour, hint{}));
    all_states(all, documents(never{}, no_lookup{}, echo));
    all_states(all, documents(key, some_time, hint{}));
    all_states(all, documents(key, half_an_hour, hint{}));
    all_states(all, documents(key, no_lookup{}, echo));
    all_states(all, documents(name, some_time, hint{}));
    all_states(all, documents(name, half_an_hour, hint{}));
    all_states(all, documents(name, no_lookup{}, echo));
    CHECK_MESSAGE(all.wrong == 0, all.wrong << " of " << all.cases << "\n" << all.first);
    CHECK(all.cases > 100'000);
    CHECK(all.rows.size() == std::size(detail::decision_table)); // every row decided somewhere
}

} // namespace
