// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#include <indoubt/policy/observer.hpp>

#include <doctest/doctest.h>

#include <string>

// The smallest observer, and near misses named by the one thing they lack.

namespace {

using namespace indoubt;

struct archetype {
    void on_transition(transition_event const&) {}
};
struct observer_that_may_be_silenced {
    static constexpr bool observes = false;
    void on_transition(transition_event const&) {}
};

struct observer_without_on_transition {};
struct observer_that_wants_to_change_the_event {
    void on_transition(transition_event&);
};
struct observer_that_answers {
    bool on_transition(transition_event const&);
};
struct observer_of_states_alone {
    void on_transition(state_id, state_id);
};

static_assert(observer_policy<archetype>);
static_assert(observer_policy<archetype&>, "an observer may be shared");
static_assert(observer_policy<no_observer>);
static_assert(explain_observer<archetype>());
static_assert(!observer_policy<observer_without_on_transition>);
static_assert(!observer_policy<observer_that_wants_to_change_the_event>);
static_assert(!observer_policy<observer_that_answers>);
static_assert(!observer_policy<observer_of_states_alone>);
static_assert(!observer_policy<archetype const>, "this one is not const");

static_assert(observes<archetype>());
static_assert(observes<archetype&>());
static_assert(!observes<no_observer>());
static_assert(!observes<no_observer const&>());
static_assert(!observes<observer_that_may_be_silenced>());

TEST_CASE("an event names the operation and the states it went between") {
    struct keeper {
        std::string line;
        void on_transition(transition_event const& e) {
            line = printable(e.identity);
            line.append(" ").append(to_string(e.from)).append(" -> ").append(to_string(e.to));
            line.append(": ").append(to_string(e.why));
        }
    };
    identity const id{"shop", "order 7\n"};
    keeper kept;
    kept.on_transition({.identity = id,
                        .from = state_id::uncertain,
                        .to = state_id::in_review,
                        .why = rule::several_effects,
                        .attempts = 1,
                        .at = {}});
    CHECK(kept.line == "shop/order 7\\x0a uncertain -> in_review: "
                       "ambiguous: more than one effect of ours exists");
    no_observer().on_transition({.identity = id});
}

} // namespace
