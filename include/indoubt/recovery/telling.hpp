// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef INDOUBT_RECOVERY_TELLING_HPP
#define INDOUBT_RECOVERY_TELLING_HPP

#include <indoubt/core/record.hpp>
#include <indoubt/policy/policies.hpp>
#include <indoubt/recovery/journal.hpp>
#include <indoubt/recovery/run_options.hpp>
#include <indoubt/recovery/turn.hpp>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

// The door before telling, for one call: everything written is flushed, then the observer hears of
// the transitions, then the hook of what surely was not applied, then the caller.

namespace indoubt::detail {

/// The names of what a bundle is made of.
template <class Policies> struct parts {
    using provider = provider_in<Policies>;
    using storage = storage_in<Policies>;
    using request = typename provider::request;
    using receipt = typename provider::receipt;
    using journal = indoubt::journal<storage, clock_in<Policies>>;
    using outcome = result<confirmation<receipt>>;
};

/// How a call on one operation ended.
struct ending {
    rule why = rule::none;
    time_point again_at{};
    bool was_confirmed = false; ///< before the call
    bool seen_now = false;
};

template <class Policies> class telling {
    using with = parts<Policies>;
    using journal = typename with::journal;
    using observer = observer_in<Policies>;
    static constexpr bool hooked = has_hooks<hooks_in<Policies>>;

public:
    telling(Policies& policies, journal& book) : with_(policies), book_(book) {}

    /// Before the write of a transition: what becomes rejected or cancelled owes the hook with it.
    /// came_from: before the transition. A dismissal leads back, and owes what was owed before.
    static void owe_hook([[maybe_unused]] state_id from, [[maybe_unused]] state_id came_from,
                         [[maybe_unused]] record& r) {
        if constexpr (hooked) {
            bool const enters = r.state != from && is_unapplied(r.state);
            if (enters && !is_final(came_from)) r.hook_due = true;
        }
    }

    /// After the write.
    void add([[maybe_unused]] state_id from, [[maybe_unused]] record const& to) {
        if constexpr (observes<observer>()) events_.push_back({from, to});
    }

    /// Flushes, and tells. Nothing may be told after an error.
    result<void> open(record& r) { return open(r, book_.flush()); }

    /// The same after a flush that is shared with other calls, or where the caller takes what is
    /// not flushed yet.
    result<void> open(record& r, result<void> const& flushed) {
        if (!flushed) return flushed.error();
        tell_observer();
        return run_hook(r);
    }

    /// What the caller hears of a record whose door is open.
    static typename with::outcome outcome(record const& r, ending const& e) {
        if (e.why == rule::incomparable) return error_despite(r, e.why);
        if (r.state != state_id::confirmed || e.why == rule::in_progress ||
            e.why == rule::conflicting_intent) {
            bool const seen_there = e.why == rule::under_way || e.why == rule::another_owner;
            error told = error_about(r, e.why);
            bool const doubtful = told.in_doubt() || seen_there;
            return std::move(told).until(e.again_at).doubtful(doubtful);
        }
        auto decoded = codec<typename with::receipt>::decode(r.receipt);
        if (!decoded) return error_despite(r, rule::undecodable);
        return confirmation<typename with::receipt>{std::move(decoded).value(),
                                                    static_cast<unsigned>(r.attempts.size()),
                                                    e.was_confirmed, e.seen_now};
    }

    /// What could not be flushed may not be told: what is durable may be one step behind.
    static error unflushed(record const& r, error&& e) {
        return std::move(e).of(printable(r.identity())).in(state_id::none).doubtful(true);
    }

private:
    static bool is_unapplied(state_id s) {
        return s == state_id::rejected || s == state_id::cancelled;
    }

    void tell_observer() {
        if constexpr (observes<observer>()) {
            for (auto const& [from, to] : events_) {
                with_.observer.on_transition({to.identity(), from, to.state, to.reason,
                                              static_cast<unsigned>(to.attempts.size()),
                                              to.written_at});
            }
            events_.clear();
        }
    }

    result<void> run_hook([[maybe_unused]] record& r) {
        if constexpr (hooked) {
            if (!r.hook_due || !is_unapplied(r.state)) return success();
            // Of another provider: its own program knows what to do about it.
            if (r.intent->target != std::string_view(with_.provider.target)) return success();
            turn const mine(&with_.hooks, r.intent);
            if (!mine.granted()) return success(); // asked from within the hook
            BOOST_OUTCOME_TRY(bool const moved_on, book_.has_moved_on(r));
            if (moved_on) return success(); // superseded, say: whoever did it knows what is due
            if (with_.hooks.on_unapplied({r.identity(), r.state, r.reason, r.intent->request})) {
                return book_.hook_returned(r);
            }
        }
        return success();
    }

    struct event {
        state_id from;
        record to;
    };

    Policies& with_;
    journal& book_;
    std::vector<event> events_{};
};

} // namespace indoubt::detail

#endif
