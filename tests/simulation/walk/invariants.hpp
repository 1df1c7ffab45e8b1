// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef TESTS_SIMULATION_WALK_INVARIANTS_HPP
#define TESTS_SIMULATION_WALK_INVARIANTS_HPP

#include "provider_truth.hpp"

// What must hold in every state, by the truth outside of the record. R2: pending, rejected and
// cancelled are said only of what surely was not applied. I5: confirmed, only of what was. ALARM:
// an effect that exists is never called missing.
//
// A person's word counts as true (assumption A7 of the documents on guarantees), so an attempt he
// ruled out is none.

namespace walk {

inline char const* broken_in(snapshot const& s) {
    image const& r = s.memory;
    // What is pending in a restored copy counts as possibly sent.
    bool const not_applied = r.state == state_id::rejected || r.state == state_id::cancelled ||
                             (r.state == state_id::pending && !r.restored);
    if (not_applied && !r.ever_confirmed) {
        for (unsigned a = 0; a != most_attempts; ++a) {
            fate const f = s.calls[a].fate;
            if ((f == fate::under_way || f == fate::landed) && !r.is_declared(a)) {
                return "R2 said not to be applied, and it may be, or is";
            }
        }
        for (unsigned e = 0; e != s.effects; ++e) {
            if (s.effect_of[e].made_by == by_another_copy) {
                return "R2 said not to be applied, and another life of the journal did "
                       "it";
            }
        }
    }
    if (r.state == state_id::confirmed && !any_effect_ever(s)) {
        return "I5 confirmed without an effect";
    }
    if (r.state == state_id::in_review && r.reason == rule::effect_missing) {
        for (unsigned e = 0; e != s.effects; ++e) {
            if (s.effect_of[e].alive && is_ours(s.effect_of[e]) && number_of(s, e) == r.receipt) {
                return "ALARM the confirmed effect is called missing, and it exists";
            }
        }
    }
    return nullptr;
}

} // namespace walk

#endif
