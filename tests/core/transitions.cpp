// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#include <indoubt/adapter/memory_storage.hpp>
#include <indoubt/core/transitions.hpp>
#include <indoubt/recovery/journal.hpp>
#include <indoubt/testing/manual_clock.hpp>
#include <indoubt/testing/sample_records.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>

// What each transition writes and keeps, and that stale or foreign evidence and decisions that are
// not open leave the operation as it was. Operations come from a journal, evidence from decide: the
// tests only choose what is stored and what was seen.

namespace {

using namespace indoubt;
using namespace std::chrono_literals;
using outcome = attempt_outcome_id;

constexpr contract keyed{
    .resend = deduplicated_by_key{.window = 1h, .documented_at = "https://shop.example/keys"},
    .lookup = complete_lookup{.visible_after = 0ms},
    .arrives_within = 1min};
constexpr contract bare{.lookup = complete_lookup{.visible_after = 0ms}};
constexpr guarantee under_a_key = detail::terms_of(keyed).resend;

constexpr time_point noon(12h);
constexpr claim ours{1, 7};

/// Noon; sends are allowed until 13:00, and no look-up is left to wait for.
moment calm() {
    moment m;
    m.now = noon;
    m.epoch = ours.epoch;
    m.holder = ours.holder;
    m.may_send = {.what = allowance::kind::now, .ends_at = noon + 1h};
    m.may_look = {.what = allowance::kind::spent};
    return m;
}

// ---- records ------------------------------------------------------------------------------------

record as(state_id state) {
    record r = testing::plain_record({"shop", "order-1"}, 7);
    r.state = state;
    r.written_at = noon - 1h;
    return r;
}
/// With so many open attempts, sent at 11:50 and a minute apart, and a claim of ours.
record sent(unsigned attempts, state_id state = state_id::uncertain) {
    record r = as(state);
    for (unsigned i = 0; i != attempts; ++i)
        r.attempts.push_back({noon - 10min + i * 1min, under_a_key, outcome::open, 1});
    r.claim = ours;
    return r;
}
record in_review_for(concern why, unsigned attempts = 1, state_id from = state_id::uncertain) {
    record r = sent(attempts, state_id::in_review);
    r.claim = {};
    r.concern = why;
    r.came_from = from;
    r.reason = rule::no_guarantee;
    return r;
}

// ---- operations and evidence --------------------------------------------------------------------

/// A journal with one record in it.
struct desk {
    explicit desk(record const& r) : id(r.identity()) { REQUIRE(storage.insert(r)); }

    template <state S> operation<S> take() {
        auto found = book.find(id);
        REQUIRE(found);
        REQUIRE(found.value());
        auto* op = found.value()->template get_if<operation<S>>();
        REQUIRE(op != nullptr);
        return std::move(*op);
    }
    template <state To> record write(result<step<To>>&& decided) {
        auto written = book.write(std::move(decided));
        REQUIRE(written);
        return written.value().stored();
    }
    record write(result<departure>&& decided) {
        auto allowed = book.write(std::move(decided));
        REQUIRE(allowed);
        return std::move(allowed).value().operation().stored();
    }

    memory_storage storage;
    journal<memory_storage, testing::manual_clock> book{storage, testing::manual_clock(noon)};
    identity id;
};

observation saw(seen what) {
    observation o;
    o.what = what;
    return o;
}
observation a_match() {
    observation o = saw(seen::match);
    o.receipt = "r-1";
    return o;
}
observation closing(std::uint32_t attempt, outcome how, rule why = rule::none) {
    observation o = saw(seen::attempt_closed);
    o.attempt = attempt;
    o.outcome = how;
    o.why = why;
    return o;
}

/// What decide makes of an observation of this record, in state S; it must be E.
template <class E, state S, class C>
E evidence(record r, C const& documented, observation o, moment const& m = calm()) {
    r.state = S::id;
    desk elsewhere(r);
    auto const op = elsewhere.take<S>();
    o.of = op.stamp();
    auto next = decide(op, documented, o, m);
    auto* made = next.template get_if<E>();
    REQUIRE(made != nullptr);
    return std::move(*made);
}
clearance to_send(record const& r) {
    return evidence<clearance, pending>(r, keyed, saw(seen::nothing));
}
resend_clearance to_resend(record const& r) {
    return evidence<resend_clearance, uncertain>(r, keyed, saw(seen::nothing));
}
/// Decide makes none of these of a settled record. What comes from outside does; it is stamped like
/// this one, which was made while the record was still uncertain.
contradiction against(record const& r, observation o = saw(seen::several)) {
    record open = r;
    open.concern = concern::none;
    return evidence<contradiction, uncertain>(open, keyed, std::move(o));
}

by ann() {
    return {"ann", "she asked them"};
}

// ---- sends --------------------------------------------------------------------------------------

TEST_CASE("dispatch records the attempt before it is made, and claims the operation") {
    record r = as(state_id::pending);
    r.reason = rule::refused_for_now;
    desk d(r);
    record const after = d.write(dispatch(d.take<pending>(), to_send(r)));
    CHECK(after.state == state_id::uncertain);
    CHECK(after.claim == ours);
    CHECK(after.reason == rule::none);
    CHECK(after.written_at == noon);
    REQUIRE(after.attempts.size() == 1);
    CHECK(after.attempts[0].sent_at == noon);
    CHECK(after.attempts[0].guarantee == under_a_key);
    CHECK(after.attempts[0].outcome == outcome::open);
    CHECK(after.attempts[0].generation == 1);
}

TEST_CASE("an attempt under no guarantee says so, for the contract may change") {
    record const r = as(state_id::pending);
    desk d(r);
    auto allowed = evidence<clearance, pending>(r, bare, saw(seen::nothing));
    record const after = d.write(dispatch(d.take<pending>(), std::move(allowed)));
    CHECK(after.attempts[0].guarantee.kind == guarantee_kind::none);
}

TEST_CASE("resend adds an attempt of the present generation to those before it") {
    record r = sent(1);
    r.generation = 3;
    r.attempts[0].generation = 3;
    desk d(r);
    record const after = d.write(resend(d.take<uncertain>(), to_resend(r)));
    CHECK(after.state == state_id::uncertain);
    REQUIRE(after.attempts.size() == 2);
    CHECK(after.attempts[0].sent_at == noon - 10min);
    CHECK(after.attempts[1].sent_at == noon);
    CHECK(after.attempts[1].generation == 3);
    CHECK(after.open_attempts() == 2);
    CHECK(after.claim == ours);
}

TEST_CASE("time does not run backwards in a record") {
    record r = as(state_id::pending);
    r.written_at = noon;
    {
        desk d(r);
        cancellation late(r.stamp(), {}, noon - 1h);
        CHECK(d.write(cancel(d.take<pending>(), std::move(late))).written_at == noon);
    }
    // Nor does a person's word carry it into the future, where every deadline is over.
    desk d(r);
    cancellation early(r.stamp(), {}, time_point::max());
    CHECK(d.write(cancel(d.take<pending>(), std::move(early))).written_at < noon + 24h);
}

// ---- confirmed ----------------------------------------------------------------------------------

template <state S> record confirmed_from(record const& r) {
    desk d(r);
    return d.write(confirm(d.take<S>(), evidence<match, S>(r, keyed, a_match())));
}

TEST_CASE("a match confirms, with its receipt and on its basis") {
    record const after = confirmed_from<uncertain>(sent(1));
    CHECK(after.state == state_id::confirmed);
    CHECK(after.receipt == "r-1");
    CHECK(after.basis == basis::looked_up);
    CHECK(after.confirmed_at == noon);
    CHECK(after.ever_confirmed);
    CHECK_FALSE(after.clean_up_due);
    CHECK(after.reason == rule::none);
    CHECK(after.claim == claim{});
}

TEST_CASE("an effect that nobody here has sent is confirmed without an attempt") {
    record const after = confirmed_from<pending>(as(state_id::pending));
    CHECK(after.state == state_id::confirmed);
    CHECK(after.attempts.empty());
}

template <state S> void attempts_of_a_match() {
    auto const after = [](unsigned open) {
        record r = sent(open, S::id);
        r.concern = S::id == state_id::in_review ? concern::doubt : concern::none;
        return confirmed_from<S>(r);
    };
    CHECK(after(1).attempts[0].outcome == outcome::applied);
    CHECK(after(2).open_attempts() == 2); // which of them was applied nobody knows
    CHECK(after(0).attempts.empty());
}

TEST_CASE("the effect is counted to the attempt that was open, if it was the only one") {
    attempts_of_a_match<pending>();
    attempts_of_a_match<uncertain>();
    attempts_of_a_match<in_review>();
}

TEST_CASE("a match ends a review, and the concern with it") {
    record const after = confirmed_from<in_review>(in_review_for(concern::doubt));
    CHECK(after.concern == concern::none);
    CHECK(after.came_from == state_id::none);
    CHECK(after.reason == rule::none);
}

TEST_CASE("what is confirmed after a cancel is due for cleaning up") {
    record r = sent(1);
    r.cancel_requested = true;
    CHECK(confirmed_from<uncertain>(r).clean_up_due);
}

TEST_CASE("a reply that is proof is another basis than a look-up") {
    constexpr contract proving{.lookup = complete_lookup{},
                               .reply = proof{.documented_at = "https://shop.example/keys"}};
    record const r = sent(1);
    observation o = saw(seen::proof);
    o.receipt = "r-2";
    desk d(r);
    record const after =
        d.write(confirm(d.take<uncertain>(), evidence<match, uncertain>(r, proving, o)));
    CHECK(after.basis == basis::reply);
    CHECK(after.receipt == "r-2");
}

// ---- in review ----------------------------------------------------------------------------------

TEST_CASE("doubt keeps where the operation came from, why, and what was seen") {
    record const r = sent(1);
    observation o = saw(seen::only_candidates);
    o.remarks = "candidates: r-9";
    desk d(r);
    record const after =
        d.write(refer(d.take<uncertain>(), evidence<doubt, uncertain>(r, bare, o)));
    CHECK(after.state == state_id::in_review);
    CHECK(after.came_from == state_id::uncertain);
    CHECK(after.concern == concern::doubt);
    CHECK(after.reason == rule::another_owner);
    CHECK(after.notes_or_none().remarks == "candidates: r-9");
    CHECK(after.claim == claim{});
    CHECK(after.open_attempts() == 1);
}

TEST_CASE("doubt about what was never sent") {
    record r = as(state_id::pending);
    r.restored = true;
    desk d(r);
    record const after =
        d.write(refer(d.take<pending>(), evidence<doubt, pending>(r, bare, saw(seen::nothing))));
    CHECK(after.came_from == state_id::pending);
    CHECK(after.reason == rule::restored_copy);
    CHECK(after.notes == nullptr); // nothing was seen, nothing is noted
    CHECK(after.restored);
}

template <state S> rule reason_of_doubt(record r) {
    r.state = S::id;
    r.restored = true; // so that there is doubt in pending, too
    desk d(r);
    auto why = evidence<doubt, S>(r, bare, saw(seen::nothing));
    CHECK(why.rule() != rule::existed_before);
    return d.write(refer(d.take<S>(), std::move(why))).reason;
}

TEST_CASE("that it existed before us outlives the doubt") {
    record r = sent(1);
    CHECK(reason_of_doubt<uncertain>(r) == rule::restored_copy);
    CHECK(reason_of_doubt<pending>(r) == rule::restored_copy);
    r.reason = rule::existed_before;
    CHECK(reason_of_doubt<uncertain>(r) == rule::existed_before);
    CHECK(reason_of_doubt<pending>(r) == rule::existed_before);
}

template <state S> void contradicted() {
    CAPTURE(to_string(S::id));
    record r = as(S::id);
    r.claim = ours;
    r.ever_confirmed = S::id == state_id::confirmed;
    desk d(r);
    observation o = saw(seen::several);
    o.remarks = "r-1, r-2";
    contradiction found = against(r, o);
    CHECK(found.rule() == rule::several_effects);
    record const after = d.write(refer(d.take<S>(), std::move(found)));
    CHECK(after.state == state_id::in_review);
    CHECK(after.concern == concern::contradiction);
    CHECK(after.reason == rule::several_effects);
    CHECK(after.came_from == (S::id == state_id::in_review ? state_id::none : S::id));
    CHECK(after.notes_or_none().remarks == "r-1, r-2");
    CHECK(after.claim == claim{});
    CHECK(after.ever_confirmed == r.ever_confirmed);
}

TEST_CASE("a contradiction sends every state to review, and says which it was") {
    contradicted<pending>();
    contradicted<uncertain>();
    contradicted<confirmed>();
    contradicted<rejected>();
    contradicted<cancelled>();
    contradicted<in_review>();
    contradicted<abandoned>();
}

TEST_CASE("what comes to review twice still came from where it came first") {
    record const r = in_review_for(concern::doubt, 1, state_id::pending);
    desk d(r);
    record const after = d.write(refer(d.take<in_review>(), against(r)));
    CHECK(after.came_from == state_id::pending);
    CHECK(after.concern == concern::contradiction);
}

/// A confirmed record of the same version, whose effect is gone.
contradiction gone(record r) {
    r.claim = {};
    r.confirmed_at = noon - 1min;
    r.concern = concern::none;
    return evidence<contradiction, confirmed>(r, keyed, saw(seen::nothing));
}

template <state S> void missing_in() {
    CAPTURE(to_string(S::id));
    for (auto const before : {concern::none, concern::effect_missing, concern::contradiction}) {
        record r = as(S::id);
        r.receipt = "r-1";
        r.concern = before;
        desk d(r);
        record const after = d.write(refer(d.take<S>(), gone(r)));
        CHECK(after.reason == rule::effect_missing);
        CHECK(after.receipt == "r-1");
        bool const worse = before == concern::contradiction;
        CHECK(after.concern == (worse ? concern::contradiction : concern::effect_missing));
    }
}

TEST_CASE("a missing effect is a lesser concern, and never hides a greater one") {
    missing_in<pending>();
    missing_in<uncertain>();
    missing_in<confirmed>();
    missing_in<rejected>();
    missing_in<cancelled>();
    missing_in<in_review>();
    missing_in<abandoned>();
}

// ---- back to pending, and rejected --------------------------------------------------------------

template <state S> record reopened_from(record const& r, observation const& o) {
    desk d(r);
    return d.write(reopen(d.take<S>(), evidence<non_application, S>(r, keyed, o)));
}

TEST_CASE("the last open attempt was not applied: back to pending, not before it may help") {
    observation o = closing(2, outcome::refused_for_now, rule::refused_for_now);
    o.retry_after = 30s;
    record r = sent(2);
    r.attempts[0].outcome = outcome::not_sent;
    record const after = reopened_from<uncertain>(r, o);
    CHECK(after.state == state_id::pending);
    CHECK(after.attempts[0].outcome == outcome::not_sent);
    CHECK(after.attempts[1].outcome == outcome::refused_for_now);
    CHECK(after.reason == rule::refused_for_now);
    CHECK(after.next_check == noon + 30s);
    CHECK(after.claim == claim{});
    CHECK(after.attempts.size() == 2); // they count, whatever became of them
}

TEST_CASE("a late reply takes an operation out of a review by doubt") {
    record const after =
        reopened_from<in_review>(in_review_for(concern::doubt), closing(1, outcome::not_sent));
    CHECK(after.state == state_id::pending);
    CHECK(after.concern == concern::none);
    CHECK(after.came_from == state_id::none);
    CHECK(after.reason == rule::none);
    CHECK(after.open_attempts() == 0);
}

TEST_CASE("nothing is open any more: back to pending without a new outcome") {
    record r = sent(1);
    r.attempts[0].outcome = outcome::not_sent;
    record const after = reopened_from<uncertain>(r, saw(seen::not_asked));
    CHECK(after.state == state_id::pending);
    CHECK(after.attempts[0].outcome == outcome::not_sent);
}

template <state S> record rejected_from(record const& r, observation const& o) {
    desk d(r);
    return d.write(reject(d.take<S>(), evidence<refusal, S>(r, keyed, o)));
}

TEST_CASE("a refusal for good rejects, and says why") {
    record const after = rejected_from<uncertain>(
        sent(1), closing(1, outcome::refused_for_good, rule::refused_input));
    CHECK(after.state == state_id::rejected);
    CHECK(after.reason == rule::refused_input);
    CHECK(after.attempts[0].outcome == outcome::refused_for_good);
    CHECK(after.claim == claim{});
    CHECK_FALSE(after.ever_confirmed);
}

TEST_CASE("a refusal is remembered until no attempt is open") {
    record r = sent(2);
    r.attempts[0].outcome = outcome::refused_for_good;
    record const after = rejected_from<uncertain>(r, closing(2, outcome::not_sent));
    CHECK(after.state == state_id::rejected);
    CHECK(after.reason == rule::refused_by_provider);
    CHECK(after.attempts[1].outcome == outcome::not_sent);
}

TEST_CASE("a refusal is remembered in pending, too") {
    record r = sent(1, state_id::pending);
    r.claim = {};
    r.attempts[0].outcome = outcome::refused_for_good;
    record const after = rejected_from<pending>(r, saw(seen::nothing));
    CHECK(after.state == state_id::rejected);
    CHECK(after.reason == rule::refused_by_provider);
}

TEST_CASE("a review by doubt ends with a refusal") {
    record const after =
        rejected_from<in_review>(in_review_for(concern::doubt),
                                 closing(1, outcome::refused_for_good, rule::refused_permission));
    CHECK(after.state == state_id::rejected);
    CHECK(after.reason == rule::refused_permission);
    CHECK(after.concern == concern::none);
    CHECK(after.came_from == state_id::none);
}

TEST_CASE("a look-up that shows all attempts as failed for good closes all of them") {
    record r = sent(3);
    r.attempts[1].outcome = outcome::not_sent;
    record const after = rejected_from<uncertain>(r, saw(seen::failed_for_good));
    CHECK(after.state == state_id::rejected);
    CHECK(after.attempts[0].outcome == outcome::refused_for_good);
    CHECK(after.attempts[1].outcome == outcome::not_sent);
    CHECK(after.attempts[2].outcome == outcome::refused_for_good);
}

// ---- what became of an attempt ------------------------------------------------------------------

template <state S> record recorded_in(record const& r, observation const& o) {
    desk d(r);
    return d.write(record_outcome(d.take<S>(), evidence<attempt_outcome, S>(r, keyed, o)));
}

TEST_CASE("one of two open attempts is closed; who is sending goes on") {
    record r = sent(2);
    r.reason = rule::not_yet_visible;
    record const after = recorded_in<uncertain>(r, closing(1, outcome::not_sent));
    CHECK(after.state == state_id::uncertain);
    CHECK(after.attempts[0].outcome == outcome::not_sent);
    CHECK(after.attempts[1].outcome == outcome::open);
    CHECK(after.claim == ours);
    CHECK(after.reason == rule::not_yet_visible);
    CHECK(recorded_in<uncertain>(r, closing(1, outcome::refused_for_now, rule::refused_for_now))
              .reason == rule::refused_for_now);
}

TEST_CASE("an attempt that is not in the record is not closed") {
    record const r = sent(2);
    record const after = recorded_in<uncertain>(r, closing(3, outcome::not_sent));
    CHECK(after.open_attempts() == 2);
}

TEST_CASE("what closed an attempt first stands, whatever is replied to it later") {
    record r = sent(2);
    r.attempts[0].outcome = outcome::refused_for_good;
    record const after = recorded_in<uncertain>(r, closing(1, outcome::not_sent));
    CHECK(after.attempts[0].outcome == outcome::refused_for_good);
    CHECK(after.open_attempts() == 1);
}

TEST_CASE("in review the reason for it stays") {
    record const r = in_review_for(concern::contradiction, 2);
    record const after = recorded_in<in_review>(r, closing(2, outcome::not_sent));
    CHECK(after.state == state_id::in_review);
    CHECK(after.attempts[1].outcome == outcome::not_sent);
    CHECK(after.reason == r.reason);
    CHECK(after.concern == concern::contradiction);
    CHECK(after.came_from == r.came_from);
}

template <state S> void kept_of_an_attempt() {
    CAPTURE(to_string(S::id));
    record r = sent(2, S::id);
    r.concern = S::id == state_id::in_review ? concern::effect_missing : concern::none;

    observation accepted = saw(seen::accepted);
    accepted.receipt = "r-2";
    CHECK(recorded_in<S>(r, accepted).receipt == "r-2");
    record confirmed_once = r;
    confirmed_once.ever_confirmed = true;
    confirmed_once.receipt = "r-1";
    CHECK(recorded_in<S>(confirmed_once, accepted).receipt == "r-1");

    observation hinting = saw(seen::no_news);
    hinting.remarks = "request id 9";
    record const hinted = recorded_in<S>(r, hinting);
    CHECK(hinted.notes_or_none().hints == "request id 9");
    CHECK(hinted.receipt.empty());
    CHECK(recorded_in<S>(hinted, closing(1, outcome::not_sent)).notes == hinted.notes);

    observation busy = closing(1, outcome::refused_for_now, rule::refused_for_now);
    busy.retry_after = 30s;
    CHECK(recorded_in<S>(r, busy).next_check == noon + 30s);
    bool const reviewed = S::id == state_id::in_review; // then the reason for that stays
    CHECK(recorded_in<S>(r, busy).reason == (reviewed ? r.reason : rule::refused_for_now));
    r.next_check = noon + 1h;
    CHECK(recorded_in<S>(r, busy).next_check == noon + 1h);
}

TEST_CASE("receipts, hints and a wish for time are kept, and take nothing away") {
    kept_of_an_attempt<uncertain>();
    kept_of_an_attempt<in_review>();
}

// ---- cancel -------------------------------------------------------------------------------------

TEST_CASE("what was never sent is cancelled at once, with the reason") {
    for (auto const why : {rule::cancelled_by_caller, rule::deadline_reached}) {
        record const r = as(state_id::pending);
        desk d(r);
        record const after =
            d.write(cancel(d.take<pending>(), cancellation(r.stamp(), ann(), noon, why)));
        CHECK(after.state == state_id::cancelled);
        CHECK(after.reason == why);
    }
}

template <state S> void cancel_is_requested(record const& r) {
    desk d(r);
    record const after = d.write(cancel(d.take<S>(), cancellation(r.stamp(), {}, noon)));
    CHECK(after.state == S::id);
    CHECK(after.cancel_requested);
    CHECK(after.claim == r.claim); // it does not take the operation from who is sending it
    CHECK(after.reason == r.reason);
    CHECK(after.concern == r.concern);
    CHECK(after.came_from == r.came_from);
    CHECK(after.open_attempts() == r.open_attempts());
}

TEST_CASE("what may have been applied stays what it is, with the cancel requested") {
    record r = sent(1);
    r.reason = rule::not_yet_visible;
    cancel_is_requested<uncertain>(r);
    cancel_is_requested<in_review>(in_review_for(concern::doubt));
    cancel_is_requested<in_review>(in_review_for(concern::contradiction));
}

// ---- decisions of people ------------------------------------------------------------------------

decision last_decision(record const& r) {
    auto const& all = r.notes_or_none().decisions;
    REQUIRE_FALSE(all.empty());
    return all.back();
}
void check_decision(record const& r, char const* what) {
    decision const d = last_decision(r);
    CHECK(d.what == what);
    CHECK(d.who == "ann");
    CHECK(d.why == "she asked them");
    CHECK(d.at == noon);
}

/// The verb answers illegal_decision and leaves everything as it was.
template <state S, class Word, class Verb> void refused(record const& r, Word word, Verb verb) {
    desk d(r);
    auto op = d.take<S>();
    auto const made = verb(std::move(op), std::move(word));
    REQUIRE_FALSE(made);
    CHECK(made.error().rule() == rule::illegal_decision);
    CHECK(made.error().state() == S::id);
    CHECK(made.error().operation() == "shop/order-1");
    CHECK(testing::same(op.stored(), r));
}

auto ruling_out = [](auto&& op, ruling&& w) { return rule_out(std::move(op), std::move(w)); };

TEST_CASE("a ruling closes the attempts as declared, and forgets what they led to") {
    record r = in_review_for(concern::contradiction, 2);
    r.attempts[0].outcome = outcome::refused_for_now;
    r.receipt = "r-9";
    r.restored = true;
    r.next_check = noon + 1h;
    desk d(r);
    record const after = d.write(rule_out(d.take<in_review>(), ruling(r.stamp(), ann(), noon)));
    CHECK(after.state == state_id::pending);
    CHECK(after.attempts[0].outcome == outcome::refused_for_now);
    CHECK(after.attempts[1].outcome == outcome::declared_not_applied);
    CHECK(after.receipt.empty());
    CHECK_FALSE(after.restored);
    CHECK(after.concern == concern::none);
    CHECK(after.came_from == state_id::none);
    CHECK(after.next_check == time_point());
    CHECK(after.reason == rule::none);
    check_decision(after, "rule_out");
    // It can be sent: one more attempt, no deadline, unless the person says otherwise.
    CHECK(after.extra_attempts == r.extra_attempts + 1);
    CHECK(after.deadline == time_point::max());
}

TEST_CASE("a ruling may come with more attempts and a deadline") {
    record const r = in_review_for(concern::doubt, 1);
    desk d(r);
    ruling word(r.stamp(), ann(), noon, 3, noon + 1h);
    record const after = d.write(rule_out(d.take<in_review>(), std::move(word)));
    CHECK(after.extra_attempts == 3);
    CHECK(after.deadline == noon + 1h);
}

TEST_CASE("a cancel that was requested outlives a ruling: it is settled next, not sent") {
    record r = in_review_for(concern::doubt);
    r.cancel_requested = true;
    desk d(r);
    record const after = d.write(rule_out(d.take<in_review>(), ruling(r.stamp(), ann(), noon)));
    CHECK(after.cancel_requested);
    auto const next = evidence<cancellation, pending>(after, keyed, saw(seen::not_asked));
    CHECK(next.rule() == rule::cancelled_by_caller);
}

TEST_CASE("what was ever confirmed cannot be ruled out, nor what came from a final state") {
    record r = in_review_for(concern::contradiction);
    r.ever_confirmed = true;
    refused<in_review>(r, ruling(r.stamp(), ann(), noon), ruling_out);
    for (auto const from :
         {state_id::confirmed, state_id::rejected, state_id::cancelled, state_id::abandoned}) {
        CAPTURE(to_string(from));
        r = in_review_for(concern::contradiction, 1, from);
        refused<in_review>(r, ruling(r.stamp(), ann(), noon), ruling_out);
    }
}

TEST_CASE("while a call may still arrive nobody can say that it did not") {
    record r = in_review_for(concern::doubt);
    auto const ruled_at = [&](time_point at) { return ruling(r.stamp(), ann(), at); };
    time_point const arrived = r.attempts[0].sent_at + under_a_key.arrives_within;
    refused<in_review>(r, ruled_at(arrived - 1ms), ruling_out);
    {
        desk d(r);
        CHECK(rule_out(d.take<in_review>(), ruled_at(arrived)));
    }
    // Each open attempt counts; one that is closed does not.
    r = in_review_for(concern::doubt, 2);
    refused<in_review>(r, ruled_at(arrived), ruling_out);
    r.attempts[1].outcome = outcome::not_sent;
    desk d(r);
    CHECK(rule_out(d.take<in_review>(), ruled_at(arrived)));
}

auto resuming = [](auto&& op, auto&& w) { return resume(std::move(op), std::move(w)); };
template <state To> resumption<To> resumed(record const& r) {
    return resumption<To>(r.stamp(), ann(), noon, 2, noon + 24h);
}

TEST_CASE("a resumption gives more attempts and a new deadline") {
    record r = in_review_for(concern::doubt);
    r.extra_attempts = 1;
    r.deadline = noon - 1h;
    r.next_check = noon + 1h;
    desk d(r);
    record const after = d.write(resume(d.take<in_review>(), resumed<uncertain>(r)));
    CHECK(after.state == state_id::uncertain);
    CHECK(after.extra_attempts == 3);
    CHECK(after.deadline == noon + 24h);
    CHECK(after.next_check == time_point());
    CHECK(after.concern == concern::none);
    CHECK(after.came_from == state_id::none);
    CHECK(after.open_attempts() == 1);
    check_decision(after, "resume");
}

TEST_CASE("where nothing is open a resumption leads to pending") {
    record r = in_review_for(concern::doubt, 0, state_id::pending);
    desk d(r);
    record const after = d.write(resume(d.take<in_review>(), resumed<pending>(r)));
    CHECK(after.state == state_id::pending);
    CHECK(after.extra_attempts == 2);
}

TEST_CASE("a resumption leads where the attempts say, and nowhere else") {
    record r = in_review_for(concern::doubt);
    refused<in_review>(r, resumed<pending>(r), resuming);
    r = in_review_for(concern::doubt, 0);
    refused<in_review>(r, resumed<uncertain>(r), resuming);
    // A restored copy may have been sent in another life, whatever its attempts say.
    r.restored = true;
    refused<in_review>(r, resumed<pending>(r), resuming);
    desk d(r);
    record const after = d.write(resume(d.take<in_review>(), resumed<uncertain>(r)));
    CHECK(after.state == state_id::uncertain);
    CHECK(after.restored);
}

TEST_CASE("a contradiction cannot be resumed, nor what is to be cancelled") {
    record r = in_review_for(concern::contradiction);
    refused<in_review>(r, resumed<uncertain>(r), resuming);
    r = in_review_for(concern::effect_missing);
    refused<in_review>(r, resumed<uncertain>(r), resuming);
    r = in_review_for(concern::doubt);
    r.cancel_requested = true;
    refused<in_review>(r, resumed<uncertain>(r), resuming);
}

auto dismissing = [](auto&& op, auto&& w) { return dismiss(std::move(op), std::move(w)); };

template <state To> void dismissed(rule why) {
    CAPTURE(to_string(To::id));
    record r = in_review_for(concern::contradiction, 1, To::id);
    r.receipt = "r-1";
    desk d(r);
    record const after =
        d.write(dismiss(d.take<in_review>(), dismissal<To>(r.stamp(), ann(), noon)));
    CHECK(after.state == To::id);
    CHECK(after.reason == why);
    CHECK(after.concern == concern::none);
    CHECK(after.came_from == state_id::none);
    CHECK(after.receipt == "r-1");
    check_decision(after, "dismiss");
    for (auto const from : {state_id::confirmed, state_id::rejected, state_id::cancelled,
                            state_id::abandoned, state_id::uncertain, state_id::none}) {
        if (from == To::id) continue;
        r.came_from = from;
        refused<in_review>(r, dismissal<To>(r.stamp(), ann(), noon), dismissing);
    }
}

TEST_CASE("a dismissal leads back to the final state it came from, and to no other") {
    dismissed<confirmed>(rule::none);
    dismissed<rejected>(rule::refused_by_provider);
    dismissed<cancelled>(rule::cancelled_by_caller);
    dismissed<abandoned>(rule::abandoned_by_person);
}

TEST_CASE("an abandoned operation keeps its open attempts: nobody knows, for ever") {
    for (auto const why : {concern::doubt, concern::contradiction, concern::effect_missing}) {
        record const r = in_review_for(why);
        desk d(r);
        record const after =
            d.write(abandon(d.take<in_review>(), abandonment(r.stamp(), ann(), noon)));
        CHECK(after.state == state_id::abandoned);
        CHECK(after.reason == rule::abandoned_by_person);
        CHECK(after.concern == concern::none);
        CHECK(after.open_attempts() == 1);
        check_decision(after, "abandon");
    }
}

auto superseding = [](auto&& op, supersession&& w) {
    return supersede(std::move(op), std::move(w));
};

template <state S> void superseded() {
    record r = sent(1, S::id);
    r.attempts[0].outcome = outcome::refused_for_good;
    r.cancel_requested = true;
    r.receipt = "r-9";
    r.next_check = noon + 1h;
    {
        desk d(r);
        record const after =
            d.write(supersede(d.take<S>(), supersession(r.stamp(), ann(), noon, "order-1-again")));
        CHECK(after.state == state_id::pending);
        CHECK(after.generation == 2);
        CHECK(after.key() == "order-1-again");
        CHECK_FALSE(after.cancel_requested);
        CHECK(after.receipt.empty());
        CHECK(after.next_check == time_point());
        CHECK(after.attempts.size() == 1); // they count towards the budget
        CHECK_FALSE(after.refused_for_good());
        check_decision(after, "supersede");
    }
    auto const with_key = [&](char const* key) {
        return supersession(r.stamp(), ann(), noon, key);
    };
    refused<S>(r, with_key(""), superseding);
    refused<S>(r, with_key("order-1"), superseding);
    r.provider_key = "order-1-again";
    refused<S>(r, with_key("order-1-again"), superseding);
    r.ever_confirmed = true;
    refused<S>(r, with_key("order-1-anew"), superseding);
    r.ever_confirmed = false;
    r.attempts[0].outcome = outcome::open;
    refused<S>(r, with_key("order-1-anew"), superseding);
}

TEST_CASE("a supersession is a new generation with a new key, of what surely was not applied") {
    superseded<rejected>();
    superseded<cancelled>();
}

TEST_CASE("decisions are kept in their order, beside what else was noted") {
    record r = in_review_for(concern::doubt);
    r.edit_notes([](case_notes& n) { n.owner = "ben"; });
    desk d(r);
    record after = d.write(resume(d.take<in_review>(), resumed<uncertain>(r)));
    after = d.write(refer(d.take<uncertain>(), against(after)));
    after =
        d.write(abandon(d.take<in_review>(), abandonment(after.stamp(), {"ben", "enough"}, noon)));
    auto const& notes = after.notes_or_none();
    REQUIRE(notes.decisions.size() == 2);
    CHECK(notes.decisions[0].what == "resume");
    CHECK(notes.decisions[1].what == "abandon");
    CHECK(notes.decisions[1].who == "ben");
    CHECK(notes.owner == "ben");
    CHECK(r.notes_or_none().decisions.empty()); // earlier copies keep what they said
}

// ---- evidence that is not about this version of this operation ----------------------------------

/// Evidence made for r does not fit what r became, nor another operation: nothing changes.
template <state S, class Make, class Verb> void bound_to(record const& r, Make make, Verb verb) {
    CAPTURE(to_string(S::id));
    record moved_on = r;
    ++moved_on.version.counter;
    record reopened = r;
    ++reopened.version.epoch;
    record other = r;
    other.operation += 1;
    for (auto const& [what, why] :
         {std::pair{moved_on, rule::stale_version}, std::pair{reopened, rule::stale_version},
          std::pair{other, rule::foreign_evidence}}) {
        desk d(what);
        auto op = d.take<S>();
        auto const made = verb(std::move(op), make(r));
        REQUIRE_FALSE(made);
        CHECK(made.error().rule() == why);
        CHECK(made.error().state() == S::id);
        CHECK(made.error().operation() == "shop/order-1");
        CHECK(testing::same(op.stored(), what));
    }
    desk d(r);
    CHECK(verb(d.take<S>(), make(r))); // it was the stamp, and nothing else
}

TEST_CASE("stale and foreign evidence changes nothing: sends") {
    bound_to<pending>(as(state_id::pending), to_send,
                      [](auto&& op, auto&& e) { return dispatch(std::move(op), std::move(e)); });
    bound_to<uncertain>(sent(1), to_resend,
                        [](auto&& op, auto&& e) { return resend(std::move(op), std::move(e)); });
}

template <class E, state S> auto making(observation o) {
    return [o](record const& r) { return evidence<E, S>(r, keyed, o); };
}

TEST_CASE("stale and foreign evidence changes nothing: what was seen") {
    auto const confirming = [](auto&& op, auto&& e) {
        return confirm(std::move(op), std::move(e));
    };
    bound_to<pending>(as(state_id::pending), making<match, pending>(a_match()), confirming);
    bound_to<uncertain>(sent(1), making<match, uncertain>(a_match()), confirming);
    bound_to<in_review>(in_review_for(concern::doubt), making<match, in_review>(a_match()),
                        confirming);

    auto const referring = [](auto&& op, auto&& e) { return refer(std::move(op), std::move(e)); };
    auto const candidates = saw(seen::only_candidates);
    bound_to<pending>(as(state_id::pending), making<doubt, pending>(candidates), referring);
    bound_to<uncertain>(sent(1), making<doubt, uncertain>(candidates), referring);
    auto const contradicting = [](record const& r) { return against(r); };
    bound_to<pending>(as(state_id::pending), contradicting, referring);
    bound_to<uncertain>(sent(1), contradicting, referring);
    bound_to<confirmed>(as(state_id::confirmed), contradicting, referring);
    bound_to<rejected>(as(state_id::rejected), contradicting, referring);
    bound_to<cancelled>(as(state_id::cancelled), contradicting, referring);
    bound_to<in_review>(in_review_for(concern::doubt), contradicting, referring);
    bound_to<abandoned>(as(state_id::abandoned), contradicting, referring);

    auto const reopening = [](auto&& op, auto&& e) { return reopen(std::move(op), std::move(e)); };
    auto const not_sent = closing(1, outcome::not_sent);
    bound_to<uncertain>(sent(1), making<non_application, uncertain>(not_sent), reopening);
    bound_to<in_review>(in_review_for(concern::doubt), making<non_application, in_review>(not_sent),
                        reopening);

    auto const rejecting = [](auto&& op, auto&& e) { return reject(std::move(op), std::move(e)); };
    auto const for_good = closing(1, outcome::refused_for_good, rule::refused_input);
    record remembered = sent(1, state_id::pending);
    remembered.attempts[0].outcome = outcome::refused_for_good;
    bound_to<pending>(remembered, making<refusal, pending>(saw(seen::nothing)), rejecting);
    bound_to<uncertain>(sent(1), making<refusal, uncertain>(for_good), rejecting);
    bound_to<in_review>(in_review_for(concern::doubt), making<refusal, in_review>(for_good),
                        rejecting);

    auto const recording = [](auto&& op, auto&& e) {
        return record_outcome(std::move(op), std::move(e));
    };
    bound_to<uncertain>(sent(2), making<attempt_outcome, uncertain>(not_sent), recording);
    bound_to<in_review>(in_review_for(concern::doubt, 2),
                        making<attempt_outcome, in_review>(not_sent), recording);
}

TEST_CASE("stale and foreign words change nothing") {
    auto const cancelling = [](auto&& op, auto&& w) { return cancel(std::move(op), std::move(w)); };
    auto const stop = [](record const& r) { return cancellation(r.stamp(), ann(), noon); };
    bound_to<pending>(as(state_id::pending), stop, cancelling);
    bound_to<uncertain>(sent(1), stop, cancelling);
    bound_to<in_review>(in_review_for(concern::doubt), stop, cancelling);

    auto const doubtful = in_review_for(concern::doubt);
    bound_to<in_review>(
        doubtful, [](record const& r) { return ruling(r.stamp(), ann(), noon); }, ruling_out);
    bound_to<in_review>(doubtful, resumed<uncertain>, resuming);
    bound_to<in_review>(in_review_for(concern::doubt, 0), resumed<pending>, resuming);
    bound_to<in_review>(
        in_review_for(concern::contradiction, 1, state_id::rejected),
        [](record const& r) { return dismissal<rejected>(r.stamp(), ann(), noon); }, dismissing);
    bound_to<in_review>(
        doubtful, [](record const& r) { return abandonment(r.stamp(), ann(), noon); },
        [](auto&& op, auto&& w) { return abandon(std::move(op), std::move(w)); });
    auto const again = [](record const& r) {
        return supersession(r.stamp(), ann(), noon, "order-1-again");
    };
    bound_to<rejected>(as(state_id::rejected), again, superseding);
    bound_to<cancelled>(as(state_id::cancelled), again, superseding);
}

} // namespace
