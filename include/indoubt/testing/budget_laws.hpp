// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef INDOUBT_TESTING_BUDGET_LAWS_HPP
#define INDOUBT_TESTING_BUDGET_LAWS_HPP

#include <indoubt/policy/retry_budget.hpp>
#include <indoubt/testing/laws.hpp>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

// The laws of a retry budget. Runs over any budget, given a function that makes one as a program
// makes it when it starts; build with a thread sanitizer to have concurrent calls checked.

namespace indoubt::testing {

namespace detail {

inline constexpr milliseconds call_for_laws{1'000};
inline constexpr time_point begin_for_laws{milliseconds(1'750'000'000'000)};
/// More than a budget grants within this is as good as no bound.
inline constexpr unsigned unbounded = 1'000;

constexpr bool equal(allowance const& a, allowance const& b) {
    return a.what == b.what && a.not_before == b.not_before && a.ends_at == b.ends_at;
}

inline record fresh_record() {
    record r;
    r.intent = std::make_shared<indoubt::intent const>(
        indoubt::intent{{"laws", "budget"}, "target", "request", "", "exact/1"});
    r.operation = 7;
    r.begun_at = r.written_at = begin_for_laws;
    return r;
}

/// One question, asked twice; the answer must be sound by itself.
template <class Ask> allowance sound(laws& found, Ask ask, time_point now) {
    allowance const answer = ask(now);
    found.expect(equal(answer, ask(now)), "budget: the same question has the same answer");
    if (answer.what == allowance::kind::later) {
        found.expect(answer.not_before > now, "budget: later is never in the past");
        found.expect(ask(answer.not_before).what != allowance::kind::later,
                     "budget: asked again at not_before, it does not answer later");
    }
    if (answer.what == allowance::kind::now) {
        found.expect(answer.ends_at > now, "budget: with now, ends_at is after now");
    }
    return answer;
}

/// Sends whatever the budget allows, with a restart of the program after each send.
template <class Make> void check_life(laws& found, Make make, record r) {
    time_point now = r.begun_at;
    unsigned granted = 0;
    for (unsigned asked = 0; asked < 2 * unbounded && granted < unbounded; ++asked) {
        auto budget = make();
        auto const ask = [&](time_point t) { return budget.may_send(r, t, call_for_laws); };
        allowance const answer = sound(found, ask, now);
        if (answer.what == allowance::kind::later) {
            now = std::max(now + milliseconds(1), answer.not_before);
            continue;
        }
        if (answer.what != allowance::kind::now) break;
        found.expect(answer.ends_at <= r.deadline, "budget: a send starts before the deadline");
        found.expect(now < r.deadline, "budget: at and after the deadline a send is too late");
        r.attempts.push_back({now, {}, attempt_outcome_id::open, r.generation});
        ++granted;
        ++now; // the answer to the send
    }
    found.expect(granted < unbounded,
                 "budget: sends are bounded over the life of an operation, restarts included");
}

template <class Make> void check_run_of_looks(laws& found, Make make, record r) {
    auto budget = make();
    time_point now = r.begun_at;
    unsigned looks = 0;
    for (unsigned asked = 0; asked < 2 * unbounded && looks < unbounded; ++asked) {
        auto const ask = [&](time_point t) { return budget.may_look(r, t, call_for_laws, looks); };
        allowance const answer = sound(found, ask, now);
        if (answer.what == allowance::kind::later) {
            now = std::max(now + milliseconds(1), answer.not_before);
            continue;
        }
        if (answer.what != allowance::kind::now) break;
        ++looks;
        if constexpr (spaces_looks<decltype(budget)>) {
            milliseconds const delay = budget.look_delay(r, looks);
            found.expect(delay >= delay.zero(), "budget: a delay between looks is not negative");
            found.expect(delay == budget.look_delay(r, looks),
                         "budget: the same question has the same answer");
            now += std::max(delay, delay.zero());
        }
    }
    found.expect(looks < unbounded, "budget: looks are bounded per run");
}

template <class Make> void check_deadline(laws& found, Make make, record r) {
    auto budget = make();
    r.deadline = r.begun_at + milliseconds(60'000);
    for (milliseconds const after : {milliseconds(0), milliseconds(1), milliseconds(86'400'000)}) {
        time_point const now = r.deadline + after;
        found.expect(budget.may_send(r, now, call_for_laws).what == allowance::kind::too_late,
                     "budget: at and after the deadline a send is too late");
        for (unsigned looks : {0U, 1U, 2U}) {
            auto const look = budget.may_look(r, now, call_for_laws, looks).what;
            found.expect(look != allowance::kind::too_late,
                         "budget: the deadline is over for sends, not for looks");
        }
    }
}

template <class Make> void check_concurrent_calls(laws& found, Make make, record const& r) {
    auto budget = make();
    allowance const send = budget.may_send(r, r.begun_at, call_for_laws);
    allowance const look = budget.may_look(r, r.begun_at, call_for_laws, 0);
    std::optional<time_point> const deadline = budget.deadline(r.begun_at);
    std::vector<int> wrong(4, 0);
    {
        std::vector<std::jthread> callers;
        for (int& mine : wrong) {
            callers.emplace_back([&] {
                for (int i = 0; i < 100; ++i) {
                    mine += !equal(send, budget.may_send(r, r.begun_at, call_for_laws));
                    mine += !equal(look, budget.may_look(r, r.begun_at, call_for_laws, 0));
                    mine += deadline != budget.deadline(r.begun_at);
                }
            });
        }
    }
    found.expect(wrong == std::vector<int>(4, 0), "budget: concurrent calls answer alike");
}

} // namespace detail

/// make() returns a new budget with equal settings.
template <class Make> laws check_budget_laws(Make make) {
    laws found;
    record r = detail::fresh_record();
    auto budget = make();
    std::optional<time_point> const deadline = budget.deadline(r.begun_at);
    found.expect(deadline == budget.deadline(r.begun_at),
                 "budget: the same question has the same answer");
    found.expect(!deadline || *deadline >= r.begun_at,
                 "budget: a deadline is not before the begin");

    detail::check_life(found, make, r); // without a deadline, where only the count bounds
    detail::check_run_of_looks(found, make, r);
    detail::check_deadline(found, make, r);
    detail::check_concurrent_calls(found, make, r);
    r.deadline = deadline.value_or(r.begun_at + milliseconds(5'000));
    detail::check_life(found, make, r);
    detail::check_run_of_looks(found, make, r);
    return found;
}

} // namespace indoubt::testing

#endif
