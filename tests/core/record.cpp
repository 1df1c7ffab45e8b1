// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#include <indoubt/core/record.hpp>
#include <indoubt/testing/sample_records.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <initializer_list>
#include <memory>
#include <type_traits>
#include <utility>

// What a record says of itself.

namespace {

using namespace indoubt;
using namespace std::chrono_literals;
using outcome = attempt_outcome_id;

constexpr time_point at(milliseconds since) {
    return time_point(since);
}

record with(std::initializer_list<attempt_record> attempts) {
    record r = testing::plain_record({"shop", "order-1"}, 7);
    r.attempts.assign(attempts.begin(), attempts.end());
    return r;
}
attempt_record sent(milliseconds when, outcome o = outcome::open, std::uint32_t generation = 1) {
    return {.sent_at = at(when), .guarantee = {}, .outcome = o, .generation = generation};
}

TEST_CASE("a new record is pending, and nothing is known or limited") {
    record const r;
    CHECK(r.state == state_id::pending);
    CHECK(r.basis == basis::none);
    CHECK(r.concern == concern::none);
    CHECK(r.reason == rule::none);
    CHECK(r.came_from == state_id::none);
    CHECK_FALSE(r.ever_confirmed);
    CHECK_FALSE(r.cancel_requested);
    CHECK_FALSE(r.clean_up_due);
    CHECK_FALSE(r.restored);
    CHECK(r.generation == 1);
    CHECK(r.extra_attempts == 0);
    CHECK(r.claim == claim{});
    CHECK(r.deadline == time_point::max());
    CHECK(r.next_check == time_point());
}

TEST_CASE("the provider's key is the identity's, until a generation has one of its own") {
    record r = with({});
    CHECK(r.key() == "order-1");
    r.provider_key = "order-1-again";
    CHECK(r.key() == "order-1-again");
    CHECK(r.identity() == identity{"shop", "order-1"});
}

TEST_CASE("a stamp is this operation, as of this version") {
    record r = with({});
    stamp const before = r.stamp();
    CHECK(before == stamp{7, {1, 1}});
    r.version.counter = 2;
    CHECK(r.stamp() != before);
    r.version = {2, 1};
    CHECK(r.stamp() != before);
    r = with({});
    r.operation = 8;
    CHECK(r.stamp() != before);
}

TEST_CASE("versions of a later epoch are later, whatever their count") {
    CHECK(version{1, 1} < version{1, 2});
    CHECK(version{1, 900} < version{2, 1});
    CHECK(version{2, 1} == version{2, 1});
}

TEST_CASE("only an attempt without an outcome is open") {
    for (auto const o : {outcome::applied, outcome::not_sent, outcome::refused_for_now,
                         outcome::refused_for_good, outcome::declared_not_applied}) {
        CHECK(with({sent(1ms, o)}).open_attempts() == 0);
        CHECK_FALSE(with({}).is_open(sent(1ms, o)));
    }
    CHECK(with({}).open_attempts() == 0);
    CHECK(with({sent(1ms)}).open_attempts() == 1);
    CHECK(with({sent(1ms), sent(2ms, outcome::not_sent), sent(3ms)}).open_attempts() == 2);
    CHECK(with({}).is_open(sent(1ms)));
}

TEST_CASE("a refusal for good counts for the generation it was given to") {
    CHECK_FALSE(with({}).refused_for_good());
    CHECK_FALSE(with({sent(1ms)}).refused_for_good());
    CHECK_FALSE(with({sent(1ms, outcome::refused_for_now)}).refused_for_good());
    record r = with({sent(1ms, outcome::refused_for_good), sent(2ms)});
    CHECK(r.refused_for_good());
    r.generation = 2;
    CHECK_FALSE(r.refused_for_good());
    r.attempts.push_back(sent(3ms, outcome::refused_for_good, 2));
    CHECK(r.refused_for_good());
}

TEST_CASE("the first send counts from the present generation, the last over all") {
    CHECK(with({}).first_sent() == time_point::max());
    CHECK(with({}).last_sent() == time_point::min());
    record r = with({sent(5ms), sent(9ms)});
    CHECK(r.first_sent() == at(5ms));
    CHECK(r.last_sent() == at(9ms));
    r.generation = 2;
    CHECK(r.first_sent() == time_point::max());
    CHECK(r.last_sent() == at(9ms));
    r.attempts.push_back(sent(12ms, outcome::open, 2));
    CHECK(r.first_sent() == at(12ms));
}

TEST_CASE("it existed before us once that was heard, however often it is sent again") {
    record r = with({sent(1ms)});
    CHECK_FALSE(r.existed_before_us());
    r.reason = rule::existed_before;
    CHECK(r.existed_before_us());
    r.attempts.push_back(sent(2ms));
    CHECK(r.existed_before_us());
    CHECK_FALSE(with({}).existed_before_us());
}

TEST_CASE("tries are those of the present generation; what was never sent left no trace") {
    record r = with({sent(1ms), sent(2ms, outcome::not_sent), sent(3ms, outcome::refused_for_now)});
    CHECK(r.tries() == 3);
    CHECK(r.sent_attempts() == 2);
    CHECK(r.open_attempts() == 1);
    r.generation = 2;
    CHECK(r.tries() == 0);
    CHECK(r.sent_attempts() == 0);
    r.attempts.push_back(sent(9ms, outcome::refused_for_good, 2));
    r.attempts.push_back(sent(9ms, outcome::not_sent, 2));
    CHECK(r.tries() == 2);
    CHECK(r.sent_attempts() == 1);
    CHECK(r.refused_for_good());
    r.generation = 1;
    CHECK_FALSE(r.refused_for_good());
}

TEST_CASE("an error is in doubt where an attempt may be applied, here or in another life") {
    record r = with({});
    r.state = state_id::pending;
    r.next_check = at(9ms);
    CHECK_FALSE(error_about(r, rule::stopped).in_doubt());
    CHECK(error_about(r, rule::stopped).again_at() == at(9ms));
    CHECK(error_about(r, rule::in_progress).in_doubt());
    r.restored = true;
    CHECK(error_about(r, rule::stopped).in_doubt());
    r.restored = false;
    r.state = state_id::uncertain;
    CHECK(error_about(r, rule::stopped).in_doubt());
    r.state = state_id::rejected;
    CHECK_FALSE(error_about(r, rule::refused_input).in_doubt());
    CHECK(error_about(r, rule::refused_input).again_at() == time_point());
    r.state = state_id::confirmed;
    CHECK(error_despite(r, rule::undecodable).in_doubt());
}

TEST_CASE("notes are shared by copies, and changed for one of them alone") {
    record r = with({});
    CHECK(r.notes_or_none().decisions.empty());
    r.edit_notes([](case_notes& n) { n.owner = "ann"; });
    record copy = r;
    CHECK(copy.notes == r.notes);
    copy.edit_notes([](case_notes& n) { n.remarks = "seen twice"; });
    CHECK(copy.notes_or_none().owner == "ann");
    CHECK(copy.notes_or_none().remarks == "seen twice");
    CHECK(r.notes_or_none().owner == "ann");
    CHECK(r.notes_or_none().remarks.empty());
}

TEST_CASE("copies share the intent, which nobody can change") {
    record const r = with({});
    record const copy = r;
    CHECK(copy.intent == r.intent);
    static_assert(std::is_const_v<std::remove_reference_t<decltype(*r.intent)>>);
}

TEST_CASE("an error about a record says which, where it stands and when to come back") {
    record r = with({sent(1ms)});
    r.state = state_id::uncertain;
    r.next_check = at(9ms);
    error const e = error_about(r, rule::not_yet_visible);
    CHECK(e.rule() == rule::not_yet_visible);
    CHECK(e.state() == state_id::uncertain);
    CHECK(e.in_doubt());
    CHECK(e.again_at() == at(9ms));
    CHECK(e.message() == "shop/order-1: an effect may exist that is not shown yet");
    CHECK(e.operation() == "shop/order-1");
}

TEST_CASE("a claim is one holder in one epoch") {
    CHECK(claim{1, 7} == claim{1, 7});
    CHECK(claim{1, 7} != claim{2, 7});
    CHECK(claim{1, 7} != claim{1, 8});
    CHECK(claim{}.epoch == 0);
}

} // namespace
