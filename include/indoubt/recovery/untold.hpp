// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef INDOUBT_RECOVERY_UNTOLD_HPP
#define INDOUBT_RECOVERY_UNTOLD_HPP

#include <indoubt/core/record.hpp>
#include <indoubt/policy/observer.hpp>

#include <vector>

// The transitions of one call that the observer does not know of yet. He is told after the flush
// that makes them durable; for one that listens to nothing, nothing is kept.

namespace indoubt::detail {

template <class Observer> class untold {
public:
    void add([[maybe_unused]] state_id from, [[maybe_unused]] record const& to) {
        if constexpr (observes<Observer>()) events_.push_back({from, to});
    }

    void tell([[maybe_unused]] Observer& observer) {
        if constexpr (observes<Observer>()) {
            for (auto const& [from, to] : events_) {
                observer.on_transition({to.identity(), from, to.state, to.reason,
                                        static_cast<unsigned>(to.attempts.size()), to.written_at});
            }
            events_.clear();
        }
    }

private:
    struct event {
        state_id from;
        record to;
    };
    std::vector<event> events_;
};

} // namespace indoubt::detail

#endif
