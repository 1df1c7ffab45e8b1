// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#include <indoubt/adapter/bounded_budget.hpp>
#include <indoubt/testing/budget_laws.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <climits>
#include <cstdint>
#include <memory>
#include <optional>
#include <type_traits>
#include <vector>

namespace {

using namespace indoubt;
using namespace std::chrono_literals;
using kind = allowance::kind;

constexpr time_point begin{1'750'000'000s};
constexpr milliseconds call = 10s;

record begun(std::uint64_t operation = 1) {
    record r;
    r.intent = std::make_shared<indoubt::intent const>();
    r.operation = operation;
    r.begun_at = begin;
    return r;
}

record sent(record r, time_point at) {
    r.attempts.push_back({at, {}, attempt_outcome_id::open, 1});
    return r;
}

/// The delay after the last of n attempts, as may_send tells it.
milliseconds delay_after(bounded_budget b, unsigned n, std::uint64_t operation = 1) {
    record r = begun(operation);
    for (unsigned i = 0; i < n; ++i)
        r = sent(r, begin);
    b.attempts = n + 1;
    allowance const answer = b.may_send(r, begin, call);
    return answer.what == kind::later ? answer.not_before - begin : milliseconds(0);
}

static_assert(std::is_aggregate_v<bounded_budget>);
static_assert(explain_retry_budget<bounded_budget>());

template <class Budget = bounded_budget> struct bundle {
    Budget budget{};
};

TEST_CASE("a budget is written where it is used, field by field") {
    bundle const b{.budget = {.attempts = 4, .overall = 60s, .jitter = jitter::none}};
    CHECK(b.budget.attempts == 4);
    CHECK(b.budget.overall == 60s);
    bundle const defaults{};
    CHECK(defaults.budget.attempts == 10);
    CHECK(defaults.budget.overall == 24h);
    CHECK(defaults.budget.looks == 5);
    CHECK(defaults.budget.jitter == jitter::full);
}

TEST_CASE("the bounded budget keeps the laws of budgets, with every jitter") {
    for (jitter const j : {jitter::full, jitter::equal, jitter::decorrelated, jitter::none}) {
        for (std::uint64_t seed = 0; seed < 50; ++seed) {
            auto const found = testing::check_budget_laws([&] {
                return bounded_budget{.attempts = 6, .overall = 20s, .jitter = j, .seed = seed};
            });
            CHECK_MESSAGE(found.hold(), found.report());
        }
    }
    for (bounded_budget const& odd :
         {bounded_budget{}, bounded_budget{.attempts = 0}, bounded_budget{.looks = 0},
          bounded_budget{.overall = std::nullopt}, bounded_budget{.overall = 0ms},
          bounded_budget{.overall = milliseconds::max(), .longest_delay = milliseconds::max()},
          bounded_budget{.first_delay = -1s, .longest_delay = -1s, .shortest_call = -1s},
          bounded_budget{.first_delay = 1h, .longest_delay = 1s, .first_look_delay = 1h},
          bounded_budget{.overall = 5s, .shortest_call = 10s}}) {
        auto const found = testing::check_budget_laws([&] { return odd; });
        CHECK_MESSAGE(found.hold(), found.report());
    }
}

// ---- attempts -----------------------------------------------------------------------------------

TEST_CASE("attempts are tries, counted from the record whatever became of them") {
    bounded_budget const b{.attempts = 3, .jitter = jitter::none};
    record r = begun();
    time_point now = begin;
    for (unsigned tries = 0; tries < 3; ++tries, now += 1min) {
        CHECK(b.may_send(r, now, call).what == kind::now);
        r = sent(r, now);
        r.attempts.back().outcome = attempt_outcome_id::not_sent;
    }
    CHECK(b.may_send(r, now, call).what == kind::spent);
}

TEST_CASE("a person may grant attempts beyond the budget") {
    bounded_budget const b{.attempts = 1, .jitter = jitter::none};
    record r = sent(begun(), begin);
    CHECK(b.may_send(r, begin + 1min, call).what == kind::spent);
    r.extra_attempts = 1;
    CHECK(b.may_send(r, begin + 1min, call).what == kind::now);
    bounded_budget const most{.attempts = UINT_MAX, .jitter = jitter::none};
    CHECK(most.may_send(r, begin + 1min, call).what == kind::now);
}

// ---- the deadline -------------------------------------------------------------------------------

TEST_CASE("the deadline counts from the first begin; 0 is over at once, none is never") {
    CHECK(bounded_budget{.overall = 60s}.deadline(begin) == begin + 60s);
    CHECK(bounded_budget{.overall = 0ms}.deadline(begin) == begin);
    CHECK(bounded_budget{.overall = -5s}.deadline(begin) == begin);
    CHECK_FALSE(bounded_budget{.overall = std::nullopt}.deadline(begin));

    record r = begun();
    r.deadline = begin;
    CHECK(bounded_budget{}.may_send(r, begin, call).what == kind::too_late);
    r.deadline = time_point::max();
    CHECK(bounded_budget{}.may_send(r, begin + 24h * 9'000, call).what == kind::now);
}

TEST_CASE("a send starts only with more time left than the shortest call needs") {
    bounded_budget const b{.shortest_call = 200ms};
    record r = begun();
    r.deadline = begin + 10s;
    allowance const answer = b.may_send(r, begin, call);
    CHECK(answer.what == kind::now);
    CHECK(answer.ends_at == begin + 9'800ms);
    CHECK(b.may_send(r, begin + 9'799ms, call).what == kind::now);
    CHECK(b.may_send(r, begin + 9'800ms, call).what == kind::too_late);
}

TEST_CASE("a delay that would reach past the deadline is not slept: too late at once") {
    bounded_budget const b{.jitter = jitter::none, .first_delay = 6'400ms};
    record r = sent(begun(), begin + 9'900ms);
    r.deadline = begin + 10s;
    CHECK(b.may_send(r, begin + 9'900ms, call).what == kind::too_late);
    r.deadline = begin + 30s;
    allowance const later = b.may_send(r, begin + 9'900ms, call);
    CHECK(later.what == kind::later);
    CHECK(later.not_before == begin + 16'300ms);
}

TEST_CASE("times at the ends of the range do not overflow") {
    bounded_budget const b{.overall = milliseconds::max(),
                           .jitter = jitter::none,
                           .first_delay = milliseconds::max(),
                           .longest_delay = milliseconds::max(),
                           .shortest_call = milliseconds::max()};
    CHECK(b.deadline(begin) == time_point::max());
    CHECK(b.deadline(time_point::max()) == time_point::max());
    CHECK(b.deadline(time_point::min()) == time_point(-1ms));
    for (time_point const t : {time_point::min(), time_point{}, begin, time_point::max()}) {
        for (time_point const deadline : {time_point::min(), time_point{}, time_point::max()}) {
            record r = sent(sent(begun(), t), t);
            r.deadline = deadline;
            r.next_check = t;
            for (time_point const now : {time_point::min(), begin, time_point::max()}) {
                for (jitter const j : {jitter::full, jitter::equal, jitter::decorrelated}) {
                    bounded_budget drawn = b;
                    drawn.jitter = j;
                    auto const send = drawn.may_send(r, now, call).what;
                    CHECK((send != kind::now || now < deadline));
                    (void)drawn.may_look(r, now, call, 1);
                    CHECK(drawn.look_delay(r, UINT_MAX / 100'000) >= 0ms);
                }
            }
        }
    }
}

TEST_CASE("a supersession begins to count anew") {
    bounded_budget const b{.attempts = 2};
    record r;
    r.attempts.assign(2, attempt_record{});
    CHECK(b.may_send(r, time_point(1h), 1s).what == allowance::kind::spent);
    r.generation = 2;
    CHECK(b.may_send(r, time_point(1h), 1s).what == allowance::kind::now);
}

// ---- delays -------------------------------------------------------------------------------------

TEST_CASE("without jitter delays double from the first to the longest") {
    bounded_budget const b{.jitter = jitter::none, .first_delay = 100ms, .longest_delay = 1'000ms};
    std::vector<milliseconds> delays;
    for (unsigned n = 1; n <= 6; ++n)
        delays.push_back(delay_after(b, n));
    CHECK(delays == std::vector<milliseconds>{100ms, 200ms, 400ms, 800ms, 1'000ms, 1'000ms});
    CHECK(delay_after(b, 100) == 1'000ms);
}

TEST_CASE("each jitter draws from its own range and uses all of it") {
    struct range {
        jitter how;
        milliseconds low, high;
    };
    // After the third attempt the cap is 400 ms.
    for (range const& r : {range{jitter::full, 0ms, 400ms}, range{jitter::equal, 200ms, 400ms},
                           range{jitter::decorrelated, 100ms, 2'700ms}}) {
        milliseconds least = milliseconds::max(), most{0};
        for (std::uint64_t operation = 0; operation < 4'000; ++operation) {
            bounded_budget const b{
                .jitter = r.how, .first_delay = 100ms, .longest_delay = 10s, .seed = 1};
            milliseconds const delay = delay_after(b, 3, operation);
            least = std::min(least, delay);
            most = std::max(most, delay);
        }
        CHECK(least >= r.low);
        CHECK(most <= r.high);
        CHECK(least <= r.low + (r.high - r.low) / 20);
        CHECK(most >= r.high - (r.high - r.low) / 3);
    }
}

TEST_CASE("a decorrelated delay is at most three times the one before it") {
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        bounded_budget const b{.jitter = jitter::decorrelated, .longest_delay = 2s, .seed = seed};
        milliseconds last = b.first_delay;
        for (unsigned n = 1; n < 12; ++n) {
            milliseconds const delay = delay_after(b, n);
            CHECK(delay >= b.first_delay);
            CHECK(delay <= std::min<milliseconds>(2s, last * 3));
            last = delay;
        }
    }
}

TEST_CASE("jitter depends on the seed, the operation and the attempt, and on nothing else") {
    auto const delays = [](std::uint64_t seed, std::uint64_t operation) {
        bounded_budget const b{.first_delay = 1s, .seed = seed};
        std::vector<milliseconds> all;
        for (unsigned n = 1; n < 8; ++n)
            all.push_back(delay_after(b, n, operation));
        return all;
    };
    CHECK(delays(1, 1) == delays(1, 1));
    CHECK(delays(1, 1) != delays(2, 1));
    CHECK(delays(1, 1) != delays(1, 2));
    CHECK(delays(1, 2) != delays(2, 1));
    bounded_budget const wide{.first_delay = 1h, .longest_delay = 1h, .seed = 3};
    CHECK(delay_after(wide, 1) != delay_after(wide, 2));
    CHECK(bounded_budget().seed != bounded_budget().seed);
}

// ---- look-ups -----------------------------------------------------------------------------------

TEST_CASE("look-ups have a budget of their own, for each run") {
    bounded_budget const b{.attempts = 1, .looks = 2};
    record const spent = sent(begun(), begin);
    CHECK(b.may_send(spent, begin + 1h, call).what == kind::spent);
    CHECK(b.may_look(spent, begin, call, 0).what == kind::now);
    CHECK(b.may_look(spent, begin, call, 1).what == kind::now);
    CHECK(b.may_look(spent, begin, call, 2).what == kind::spent);
    CHECK(bounded_budget{.looks = 0}.may_look(spent, begin, call, 0).what == kind::spent);
}

TEST_CASE("look-ups are bounded by their count, whatever the deadline and the next check say") {
    record r = sent(begun(), begin);
    r.deadline = begin + 10s;
    r.next_check = begin + 48h;
    bounded_budget const b;
    for (unsigned made = 0; made != b.looks; ++made) {
        CHECK(b.may_look(r, begin + 24h, call, made).what == kind::now);
        CHECK(b.may_look(r, begin + 24h, call, made).ends_at == time_point::max());
    }
    CHECK(b.may_look(r, begin, call, b.looks).what == kind::spent);
}

TEST_CASE("delays between looks double, with the jitter of the budget") {
    bounded_budget b{.jitter = jitter::none, .longest_delay = 500ms, .first_look_delay = 100ms};
    record const r = begun();
    CHECK(b.look_delay(r, 1) == 100ms);
    CHECK(b.look_delay(r, 2) == 200ms);
    CHECK(b.look_delay(r, 3) == 400ms);
    CHECK(b.look_delay(r, 4) == 500ms);
    b.jitter = jitter::equal;
    CHECK(b.look_delay(r, 3) >= 200ms);
    CHECK(b.look_delay(r, 3) <= 400ms);
    b.seed = 9;
    b.first_delay = b.first_look_delay = b.longest_delay = 1h;
    CHECK(b.look_delay(r, 1) != delay_after(b, 1, r.operation));
}

} // namespace
