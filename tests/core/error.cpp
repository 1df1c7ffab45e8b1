// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#include <indoubt/core/error.hpp>

#include <doctest/doctest.h>
#include <support/last_words.hpp>

#include <chrono>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

// What an error says, when it is one of doubt, and what a result does that is asked for what it
// does not hold.

namespace {

using namespace indoubt;
using namespace std::chrono_literals;

constexpr time_point at(milliseconds since) {
    return time_point(since);
}

/// Every rule there is: those whose sentence is not the one for numbers without a name.
std::vector<rule> all_rules() {
    std::vector<rule> all;
    for (int n = 0; n != 256; ++n) {
        auto const r = static_cast<rule>(n);
        if (to_string(r) != "unknown rule") all.push_back(r);
    }
    return all;
}

constexpr state_id all_states[] = {state_id::none,      state_id::pending,  state_id::uncertain,
                                   state_id::confirmed, state_id::rejected, state_id::cancelled,
                                   state_id::in_review, state_id::abandoned};

// ---- in doubt -----------------------------------------------------------------------------------

/// Somebody else may be sending; a journal that cannot be read may hold an attempt.
bool nobody_knows(rule r) {
    switch (r) {
    case rule::in_progress:
    case rule::storage_failed:
    case rule::journal_missing:
    case rule::journal_in_use:
    case rule::not_a_journal:
    case rule::newer_format:
    case rule::journal_damaged: return true;
    default: return false;
    }
}

TEST_CASE("in doubt is what may have been applied, whatever the rule") {
    for (rule const r : all_rules()) {
        for (state_id const s : all_states) {
            CAPTURE(to_string(r));
            CAPTURE(to_string(s));
            bool const maybe_applied =
                s == state_id::uncertain || s == state_id::in_review || s == state_id::abandoned;
            CHECK(error(r, s).in_doubt() == (maybe_applied || nobody_knows(r)));
        }
    }
}

TEST_CASE("without a state nothing was recorded") {
    CHECK(error(rule::malformed_identity).state() == state_id::none);
    CHECK_FALSE(error(rule::malformed_identity).in_doubt());
}

TEST_CASE("the maker of an error may know better") {
    CHECK(error(rule::stale_version, state_id::pending).doubtful(true).in_doubt());
    CHECK_FALSE(error(rule::storage_failed).doubtful(false).in_doubt());
    // A state that is named later does not change what was said of doubt.
    error const e = error(rule::storage_failed).doubtful(false).in(state_id::uncertain);
    CHECK(e.state() == state_id::uncertain);
    CHECK_FALSE(e.in_doubt());
}

// ---- words --------------------------------------------------------------------------------------

TEST_CASE("every rule has one sentence of its own, without a full stop") {
    std::set<std::string_view> sentences;
    for (rule const r : all_rules()) {
        std::string_view const s = to_string(r);
        CAPTURE(s);
        CHECK_FALSE(s.empty());
        CHECK(s.back() != '.');
        CHECK(s.find('\n') == std::string_view::npos);
        CHECK(sentences.insert(s).second);
    }
    CHECK(sentences.size() == all_rules().size());
    CHECK(sentences.size() > 40);
    CHECK(to_string(static_cast<rule>(255)) == "unknown rule");
}

TEST_CASE("every state has a name of its own, and a number that journals rely on") {
    std::set<std::string_view> names;
    for (state_id const s : all_states)
        CHECK(names.insert(to_string(s)).second);
    CHECK(static_cast<int>(state_id::pending) == 1);
    CHECK(static_cast<int>(state_id::abandoned) == 7);
    CHECK(to_string(static_cast<state_id>(99)) == "none");
}

TEST_CASE("a message is who, what and, where there is more to say, the detail") {
    CHECK(error(rule::key_taken).message() == "another scope already uses this key at this target");
    CHECK(error(rule::key_taken).of("shop/order-1").message() ==
          "shop/order-1: another scope already uses this key at this target");
    CHECK(error(rule::journal_in_use).saying("by process 7").message() ==
          "the journal is in use (by process 7)");
    CHECK(error(rule::journal_in_use).of("shop/order-1").saying("by process 7").message() ==
          "shop/order-1: the journal is in use (by process 7)");
}

TEST_CASE("an error keeps what its maker says") {
    error const e = error(rule::storage_failed, state_id::pending)
                        .of("shop/order-1")
                        .saying("the disk is full")
                        .because(28)
                        .until(at(7ms));
    CHECK(e.rule() == rule::storage_failed);
    CHECK(e.state() == state_id::pending);
    CHECK(e.operation() == "shop/order-1");
    CHECK(e.detail() == "the disk is full");
    CHECK(e.cause() == 28);
    CHECK(e.again_at() == at(7ms));

    error const plain(rule::none);
    CHECK(plain.operation().empty());
    CHECK(plain.detail().empty());
    CHECK(plain.cause() == 0);
    CHECK(plain.again_at() == time_point());
}

// ---- copies -------------------------------------------------------------------------------------

bool same(error const& a, error const& b) {
    return a.rule() == b.rule() && a.state() == b.state() && a.in_doubt() == b.in_doubt() &&
           a.cause() == b.cause() && a.again_at() == b.again_at() &&
           a.operation() == b.operation() && a.detail() == b.detail();
}

error telling() {
    return error(rule::storage_failed, state_id::pending)
        .of("shop/order-1")
        .saying("the disk is full")
        .because(28)
        .until(at(7ms))
        .doubtful(false);
}

TEST_CASE("a copy says the same and lives on its own") {
    std::optional<error> original = telling();
    error copy = *original;
    CHECK(same(copy, telling()));
    CHECK(copy.operation().data() != original->operation().data());
    original.reset();
    CHECK(copy.message() == telling().message());

    error assigned(rule::none);
    assigned = copy;
    CHECK(same(assigned, telling()));
    assigned = *&assigned; // to itself
    CHECK(same(assigned, telling()));
    error const wordless(rule::stopped);
    assigned = wordless;
    CHECK(same(assigned, wordless));
}

TEST_CASE("moving an error moves its words") {
    error from = telling();
    char const* const words = from.operation().data();
    error to = std::move(from);
    CHECK(same(to, telling()));
    CHECK(to.operation().data() == words);
    error assigned(rule::none);
    assigned = std::move(to);
    CHECK(same(assigned, telling()));
    CHECK(assigned.operation().data() == words);
    static_assert(std::is_nothrow_move_constructible_v<error>);
    static_assert(std::is_nothrow_move_assignable_v<error>);
}

// ---- results ------------------------------------------------------------------------------------

TEST_CASE("a result holds a value or an error") {
    // Made out of sight: compilers know better than to ask a result for what it does not hold.
    auto const make = [](int value) -> result<int> { return value; };
    auto const good = (make)(std::stoi("7"));
    CHECK(good);
    CHECK(good.value() == 7);
    result<int> const bad = error(rule::stopped);
    CHECK_FALSE(bad);
    CHECK(bad.error().rule() == rule::stopped);
    result<void> const done = success();
    CHECK(done);
}

TEST_CASE("errors are passed on by TRY, unharmed") {
    auto const inner = []() -> result<int> { return telling(); };
    auto const outer = [&]() -> result<std::string> {
        BOOST_OUTCOME_TRY(int const n, inner());
        return std::to_string(n);
    };
    auto const passed_on = outer();
    REQUIRE_FALSE(passed_on);
    CHECK(same(passed_on.error(), telling()));
}

TEST_CASE("the value of a result without one is an error message and the end") {
    result<int> const bad = error(rule::key_taken).of("shop/order-1");
    CHECK(last_words_of([&] { return bad.value(); }) ==
          "indoubt: a result was used without a check: "
          "shop/order-1: another scope already uses this key at this target\n");
    result<void> const undone = error(rule::stopped);
    CHECK(last_words_of([&] { return undone.value(), 0; }) ==
          "indoubt: a result was used without a check: the caller asked to stop\n");
}

TEST_CASE("the error of a result without one is the end, too") {
    // Made out of sight: compilers know better than to ask a result for what it does not hold.
    auto const make = [](int value) -> result<int> { return value; };
    auto const good = (make)(std::stoi("7"));
    CHECK(last_words_of([&] { return good.error().cause(); }) ==
          "indoubt: a result was used without a check: it holds a value, not an error\n");
}

// ---- moments ------------------------------------------------------------------------------------

TEST_CASE("later than the end of time is the end of time") {
    CHECK(later(at(1s), 1s) == at(2s));
    CHECK(later(at(1s), -2s) == at(-1s));
    CHECK(later(at(1s), 0ms) == at(1s));
    CHECK(later(at(1s), milliseconds::max()) == time_point::max());
    CHECK(later(time_point::max(), 1ms) == time_point::max());
    CHECK(later(time_point::max() - 1ms, 1ms) == time_point::max());
    CHECK(later(time_point::max(), -1ms) == time_point::max() - 1ms);
}

} // namespace
