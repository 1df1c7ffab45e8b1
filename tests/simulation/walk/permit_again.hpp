// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef TESTS_SIMULATION_WALK_PERMIT_AGAIN_HPP
#define TESTS_SIMULATION_WALK_PERMIT_AGAIN_HPP

#include "desk.hpp"
#include "provider_truth.hpp"

#include <cstdlib>
#include <string>
#include <tuple>
#include <utility>

namespace walk {

/// A permit cannot be copied into a state, so it is made once more, over a record that was
/// never sent, and then stands for the record that the worker has.
inline permit permit_again(desk& d, worker const& me) {
    image blank;
    blank.state = state_id::pending;
    record const stands = d.storage.exchange(d.record_of_copy(blank, true));
    auto const durable = d.storage.durable;
    auto const marks = std::pair(d.storage.mark, d.storage.durable_mark);
    auto op = std::move(*d.journal.find(the_identity).value()->get_if<operation<pending>>());
    moment m;
    m.now = me.send_before == never_ends ? first_tick : time_of(me.send_before) - documents::one;
    m.may_send.ends_at = time_of(me.send_before);
    auto const nothing_there = weigh(documents::nothing, op, shop::answer(shop::complete{}));
    auto cleared = decide(op, documents::nothing, nothing_there, m);
    auto allowed =
        d.journal.write(dispatch(std::move(op), std::move(*cleared.get_if<clearance>())));
    if (!allowed || detail::scribe::send_before(allowed.value()) != time_of(me.send_before)) {
        std::abort();
    }
    (void)d.storage.exchange(stands);
    d.storage.durable = durable;
    std::tie(d.storage.mark, d.storage.durable_mark) = marks;
    record mine = stands;
    mine.version = me.current ? stored_version : stale_version;
    mine.attempts.resize(me.attempt + 1U);
    *detail::scribe::of(allowed.value()) = std::move(mine);
    return std::move(allowed).value();
}

} // namespace walk

#endif
