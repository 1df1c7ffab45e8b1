// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef TESTS_SIMULATION_WALK_SENDING_RULES_HPP
#define TESTS_SIMULATION_WALK_SENDING_RULES_HPP

#include "questions.hpp"

// What must hold when a send is decided and recorded, and when its bytes go out. Each function
// returns the invariant that does not hold, or null.

namespace walk {

/// I11, I13, W01: none after a contradiction, a final state against the effect, or a cancel was
/// told. R2: no first send while an attempt is open. J07: none while another call is at it.
inline char const* broken_by_departure(snapshot const& s, held_by who) {
    held_by const claimed = s.memory.claim;
    if (claimed != held_by::nobody && claimed != held_by::the_dead && claimed != who) {
        return "J07 two calls send at the same time";
    }
    if (s.memory.state == state_id::pending && s.memory.any_open()) {
        return "R2 a first send while an attempt is open";
    }
    if (s.ever.contradiction) return "I11 a send after a contradiction was told";
    if (s.ever.final) return "I13 a send after rejected or cancelled was told";
    if (s.ever.cancel_requested) return "W01 a send after a cancel was told";
    return nullptr;
}

/// I3: the attempt is durable. I2: no earlier call may be applied, unless a guarantee covers it.
/// I12: "confirmed" was not told. I9: the deadline is not over.
inline char const* broken_by_send(world const& w, snapshot const& s, unsigned attempt) {
    if (!s.disk.is_open(attempt) && !s.disk.is_declared(attempt)) {
        return "I3 sent before the attempt was durable";
    }
    for (unsigned a = 0; a != most_attempts; ++a) {
        fate const f = s.calls[a].fate;
        bool const may_be = f == fate::under_way || f == fate::landed;
        if (a != attempt && may_be && !s.memory.is_declared(a) &&
            !has_guarantee(contract_now(w, s))) {
            return "I2 a second send without a guarantee";
        }
    }
    if (s.ever.confirmed) return "I12 sent after confirmed was told";
    if (s.now >= s.memory.deadline) return "I9 sent after the deadline";
    return nullptr;
}

} // namespace walk

#endif
