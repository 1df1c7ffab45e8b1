// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#include <indoubt/recovery/decide.hpp>

#include <doctest/doctest.h>

#include <concepts>
#include <iterator>
#include <string_view>
#include <type_traits>

// The table as data: what a row asks for, the answer type of each of its states can hold.

namespace {

using namespace indoubt;

template <class Next, action A> constexpr bool holds_this() {
    using made = typename detail::made<A>::type;
    return std::is_constructible_v<Next, std::conditional_t<std::is_void_v<made>, stop, made>>;
}

template <class Next> constexpr bool can_hold(action a) {
    switch (a) {
    case action::look: return holds_this<Next, action::look>();
    case action::wait: return holds_this<Next, action::wait>();
    case action::report: return holds_this<Next, action::report>();
    case action::send: return holds_this<Next, action::send>();
    case action::resend: return holds_this<Next, action::resend>();
    case action::confirm: return holds_this<Next, action::confirm>();
    case action::contradict: return holds_this<Next, action::contradict>();
    case action::refer: return holds_this<Next, action::refer>();
    case action::reopen: return holds_this<Next, action::reopen>();
    case action::reject: return holds_this<Next, action::reject>();
    case action::cancel: return holds_this<Next, action::cancel>();
    case action::record: return holds_this<Next, action::record>();
    }
    return false;
}

/// Without a guarantee there is no answer that resends, and no row gets there.
template <state S> void check_rows_of() {
    using with_guarantee = typename detail::next_of<S, true>::type;
    using without = typename detail::next_of<S, false>::type;
    unsigned rows = 0;
    for (detail::decision_row const& row : detail::decision_table) {
        if (!row.known.has(S::id)) continue;
        ++rows;
        CAPTURE(&row - std::begin(detail::decision_table));
        CHECK(can_hold<with_guarantee>(row.next));
        CHECK((can_hold<without>(row.next) || row.next == action::resend));
    }
    CHECK(rows >= 3);
    CHECK_FALSE(can_hold<without>(action::resend));
}

TEST_SUITE_BEGIN("decision table");

TEST_CASE("what a row asks for, the answer of each of its states can hold") {
    check_rows_of<pending>();
    check_rows_of<uncertain>();
    check_rows_of<confirmed>();
    check_rows_of<rejected>();
    check_rows_of<cancelled>();
    check_rows_of<in_review>();
    check_rows_of<abandoned>();
}

TEST_CASE("the table is complete: its last row fits everything") {
    auto const& last = *std::rbegin(detail::decision_table);
    for (auto const state :
         {state_id::pending, state_id::uncertain, state_id::confirmed, state_id::rejected,
          state_id::cancelled, state_id::in_review, state_id::abandoned}) {
        CHECK(last.known.has(state));
    }
    for (unsigned what = 0; what != kinds_seen; ++what)
        CHECK(last.observed.has(static_cast<seen>(what)));
    for (auto const& condition : last.when)
        CHECK(condition.holds == nullptr);
}

TEST_CASE("every sight and every condition has a name for people") {
    for (unsigned what = 0; what != kinds_seen; ++what)
        CHECK_FALSE(to_string(static_cast<seen>(what)).empty());
    for (detail::decision_row const& row : detail::decision_table) {
        for (auto const& condition : row.when)
            CHECK((condition.holds == nullptr) == condition.words.empty());
    }
}

TEST_SUITE_END();

} // namespace
