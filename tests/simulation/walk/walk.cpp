// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)

// Walks the library through all short histories of a set of small worlds and judges every step by
// what is true outside of the record. What decides is the library alone: weigh, decide, the
// transitions, the journal and the permit, over a storage that loses what was not flushed.
//
//   walk                 all worlds
//   walk <name>...       the worlds whose names begin so; `lie` for those whose contract is untrue
//   walk --first ...     up to the first violation
//
// Exit status: 1 if an invariant was broken; the shortest history that breaks it is printed.
//
// | invariant             | judged in                                                        |
// |-----------------------|------------------------------------------------------------------|
// | I1, I13, I14          | surroundings.hpp: as calls land and the power fails              |
// | I2, I3, I9, I12       | sending_rules.hpp: as the bytes go out                           |
// | I11, I13, W01, R2     | sending_rules.hpp: as a send is recorded                         |
// | J07                   | sending_rules.hpp: the same; no two calls send at once           |
// | I11                   | worker_steps.hpp: as something is confirmed                      |
// | H2, U01, U12          | worker_steps.hpp: stale, forgotten and late evidence             |
// | I5, R2, ALARM         | invariants.hpp: in every state                                   |
// | I24, EXIT, RESUME     | liveness.hpp: in every state in which no call is at work         |
//
// The model is an independent description of the same machine, explored in the same worlds; its
// figures stand beside those of the walk. They differ, and why:
//
// - A record holds more: who has the claim, the outcome of each attempt, the receipt, when the last
//   attempt was sent. A restart is two steps here, as a process dies or the power fails. So worlds
//   in which no time passes have about twice as many states.
// - A permit is too old after call_timeout, and a look-up too early before arrives_within is over.
//   What nobody reads any more, such as when a call that has landed was sent, is left out. So
//   worlds in which time passes have fewer.
// - A claim has no lease here: it is given back over its holder's head instead. It stands in the
//   record until its call ends, so where there are two workers there are three times as many
//   states.
// - A person rules out nothing before a call can no longer be under way by the contract. Where no
//   time passes he waits so long, unless the world is hasty.
// - A pending operation whose deadline or attempts are spent is cancelled, not reviewed. One in a
//   restored copy cannot be cancelled.
// - What is unique or idempotent only for a while, and a window without a bound of the time under
//   way, are documented as `never`: the compiler refuses the rest. The worlds `lie` say what would
//   happen otherwise. H/inner has a guarantee, as inner attempts without one do not compile.

#include "walk_through.hpp"
#include "world_list.hpp"

#include <chrono>
#include <cstddef>
#include <cstdio>
#include <string_view>
#include <vector>

namespace {

using namespace walk;

struct totals {
    std::size_t states = 0, transitions = 0, violations = 0;
};

bool is_asked_for(std::string_view name, std::vector<std::string_view> const& asked) {
    for (std::string_view a : asked)
        if (name.starts_with(a)) return true;
    return asked.empty();
}

double seconds_since(std::chrono::steady_clock::time_point then) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - then).count();
}

void print(violation const& v) {
    std::printf("    %.*s\n", static_cast<int>(v.invariant.size()), v.invariant.data());
    int number = 0;
    for (auto const& line : v.history)
        std::printf("    %2d  %s\n", ++number, line.c_str());
}

void walk_one(world const& w, totals& all) {
    auto const start = std::chrono::steady_clock::now();
    outcome const o = walk_through(w).go();
    std::printf("%-28.*s %9zu %9zu %9u %9u %6d %6.1f\n", static_cast<int>(w.name.size()),
                w.name.data(), o.states, o.transitions, w.model.states, w.model.transitions,
                o.found ? 1 : 0, seconds_since(start));
    if (o.found) print(*o.found);
    std::fflush(stdout);
    all.states += o.states;
    all.transitions += o.transitions;
    all.violations += o.found ? 1 : 0;
}

} // namespace

int main(int count, char** arguments) {
    std::vector<std::string_view> asked(arguments + 1, arguments + count);
    bool const first_only = std::erase(asked, std::string_view("--first")) != 0;
    auto const start = std::chrono::steady_clock::now();
    std::printf("%-28s %9s %9s %9s %9s %6s %6s\n", "world", "states", "steps", "model's", "model's",
                "broken", "s");
    std::vector<world> all = worlds();
    if (!asked.empty()) {
        for (world const& w : lying_worlds())
            all.push_back(w);
    }
    totals sum;
    for (world const& w : all) {
        if (first_only && sum.violations != 0) break;
        if (is_asked_for(w.name, asked)) walk_one(w, sum);
    }
    std::printf("%-28s %9zu %9zu %29zu %6.1f\n", "all", sum.states, sum.transitions, sum.violations,
                seconds_since(start));
    return sum.violations != 0 ? 1 : 0;
}
