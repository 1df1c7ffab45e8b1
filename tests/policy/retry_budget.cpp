// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#include <indoubt/policy/retry_budget.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <optional>

// The smallest budget, and near misses named by the one thing they lack.

namespace {

using namespace indoubt;

struct archetype {
    std::optional<time_point> deadline(time_point) { return std::nullopt; }
    allowance may_send(record const&, time_point, milliseconds) { return {}; }
    allowance may_look(record const&, time_point, milliseconds, unsigned) { return {}; }
};

struct archetype_that_spaces_looks : archetype {
    milliseconds look_delay(record const&, unsigned) { return {}; }
};

struct budget_without_deadline {
    allowance may_send(record const&, time_point, milliseconds);
    allowance may_look(record const&, time_point, milliseconds, unsigned);
};
struct budget_without_may_send {
    std::optional<time_point> deadline(time_point);
    allowance may_look(record const&, time_point, milliseconds, unsigned);
};
struct budget_without_may_look {
    std::optional<time_point> deadline(time_point);
    allowance may_send(record const&, time_point, milliseconds);
};
struct budget_that_always_has_a_deadline {
    time_point deadline(time_point);
    allowance may_send(record const&, time_point, milliseconds);
    allowance may_look(record const&, time_point, milliseconds, unsigned);
};
struct budget_that_answers_yes_or_no {
    std::optional<time_point> deadline(time_point);
    bool may_send(record const&, time_point, milliseconds);
    allowance may_look(record const&, time_point, milliseconds, unsigned);
};
struct budget_that_counts_no_looks {
    std::optional<time_point> deadline(time_point);
    allowance may_send(record const&, time_point, milliseconds);
    allowance may_look(record const&, time_point, milliseconds);
};
struct budget_that_changes_the_record {
    std::optional<time_point> deadline(time_point);
    allowance may_send(record&, time_point, milliseconds);
    allowance may_look(record const&, time_point, milliseconds, unsigned);
};
struct budget_that_spaces_looks_in_seconds : archetype {
    std::chrono::seconds look_delay(record const&, unsigned);
};

static_assert(retry_budget_policy<archetype> && !spaces_looks<archetype>);
static_assert(retry_budget_policy<archetype_that_spaces_looks>);
static_assert(spaces_looks<archetype_that_spaces_looks>);
static_assert(explain_retry_budget<archetype>());
static_assert(!retry_budget_policy<budget_without_deadline>);
static_assert(!retry_budget_policy<budget_without_may_send>);
static_assert(!retry_budget_policy<budget_without_may_look>);
static_assert(!retry_budget_policy<budget_that_always_has_a_deadline>);
static_assert(!retry_budget_policy<budget_that_answers_yes_or_no>);
static_assert(!retry_budget_policy<budget_that_counts_no_looks>);
static_assert(!retry_budget_policy<budget_that_changes_the_record>);
static_assert(!spaces_looks<budget_that_spaces_looks_in_seconds>);

TEST_CASE("an allowance is to go on, without an end, unless it says otherwise") {
    archetype smallest;
    allowance const answer = smallest.may_send({}, {}, {});
    CHECK(answer.what == allowance::kind::now);
    CHECK(answer.ends_at == time_point::max());
    CHECK(smallest.may_look({}, {}, {}, 0).what == allowance::kind::now);
    CHECK_FALSE(smallest.deadline({}));
    CHECK(archetype_that_spaces_looks().look_delay({}, 1) == milliseconds(0));
}

} // namespace
