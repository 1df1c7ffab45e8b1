// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef INDOUBT_RECOVERY_AMENDMENT_HPP
#define INDOUBT_RECOVERY_AMENDMENT_HPP

#include <indoubt/policy/policies.hpp>
#include <indoubt/recovery/following.hpp>
#include <indoubt/recovery/journal.hpp>
#include <indoubt/recovery/same_content.hpp>
#include <indoubt/recovery/telling.hpp>
#include <indoubt/recovery/turn.hpp>
#include <indoubt/recovery/waiting_room.hpp>
#include <indoubt/recovery/weigh.hpp>

#include <concepts>
#include <string>
#include <type_traits>
#include <utility>

// One change of one record that nobody is asked about: a cancel, a person's decision, what another
// channel told. It is compared with what is stored and written against that version, so of two who
// change one record one wins, and whoever waits on the operation wakes and reads it again.

namespace indoubt::detail {

/// What became of the record of an operation.
struct amended {
    scribe::box stored;
    bool changed = false;
};

template <class To> result<amended> boxed(result<step<To>>&& decided) {
    if (!decided) return std::move(decided).error();
    return amended{std::move(scribe::of(decided.value())), true};
}
template <class S> result<amended> as_it_is(operation<S>&& op) {
    return amended{std::move(scribe::of(op)), false};
}

template <class Policies> class amendment {
    using with = parts<Policies>;
    using journal = typename with::journal;
    using outcome = typename with::outcome;

public:
    amendment(Policies& policies, journal& book, waiting_room& waiting)
        : with_(policies), book_(book), waiting_(waiting) {}

    /// Calls make(operation<S>&&) -> result<amended> with the operation as it stands, again if
    /// another writer won. Returns: the record as it then stands, durable.
    template <class Make> result<record> change(identity const& id, Make make) {
        for (int tries = 0; tries != journal::most_collisions; ++tries) {
            BOOST_OUTCOME_TRY(auto r, book_.find_record(id));
            if (!r) return error(rule::not_recorded).of(printable(id));
            turn const mine(&book_, r->intent);
            state_id const from = r->state, came_from = r->came_from;
            auto made = scribe::any(std::move(r)).visit([&](auto&& op) -> result<amended> {
                return make(std::move(op));
            });
            if (!made) return told(std::move(made).error());
            record& now = *made.value().stored;
            telling<Policies> door(with_, book_);
            if (made.value().changed) {
                door.owe_hook(from, came_from, now);
                auto written = book_.put(now);
                if (!written) {
                    if (written.error().rule() == rule::stale_version) continue;
                    return std::move(written).error().of(printable(id));
                }
                door.add(from, now);
                waiting_.wake(id);
            }
            BOOST_OUTCOME_TRY(door.open(now));
            return std::move(now);
        }
        return error(rule::in_progress).of(printable(id));
    }

    result<record> cancel(identity const& id, by const& caller) {
        return change(id, [&]<state S>(operation<S>&& op) -> result<amended> {
            BOOST_OUTCOME_TRY(is_of_this_target(op.stored())); // whose hook it may owe
            if constexpr (requires(cancellation c) {
                              indoubt::cancel(std::move(op), std::move(c));
                          }) {
                if (!op.stored().cancel_requested) {
                    cancellation word(op.stamp(), caller, book_.now());
                    return boxed(indoubt::cancel(std::move(op), std::move(word)));
                }
            }
            return as_it_is(std::move(op));
        });
    }

    /// show(operation<S> const&) -> observation, of what another channel told.
    template <class Show> outcome observe(identity const& id, Show show) {
        ending end;
        rule says_nothing = rule::none;
        auto now = change(id, [&]<state S>(operation<S>&& op) -> result<amended> {
            record const& r = op.stored();
            end.was_confirmed = S::id == state_id::confirmed;
            BOOST_OUTCOME_TRY(is_comparable(r));
            observation seen_now = show(op);
            says_nothing = seen_now.why;
            if (!speaks(seen_now)) return as_it_is(std::move(op));
            end.seen_now = seen_now.what == seen::match || seen_now.what == seen::proof;
            if (!seen_now.receipt.empty()) {
                BOOST_OUTCOME_TRY(bool const ours, book_.bind_receipt(r, seen_now.receipt));
                if (!ours) seen_now.what = seen::receipt_taken;
            }
            return follow(std::move(op), seen_now);
        });
        if (!now) return std::move(now).error();
        record const& r = now.value();
        end.why = r.reason;
        end.again_at = is_final(r.state) ? time_point{} : r.next_check;
        bool const waits = r.state == state_id::pending || r.state == state_id::uncertain;
        if (waits && says_nothing != rule::none) end.why = says_nothing;
        if (waits && end.why == rule::none) {
            end.why = r.state == state_id::pending ? rule::nothing_sent : rule::not_yet_visible;
        }
        return telling<Policies>::outcome(r, end);
    }

    /// Only an operation of this provider can be compared with what it shows, and only by the rule
    /// it was recorded under.
    result<void> is_comparable(record const& r) const {
        BOOST_OUTCOME_TRY(is_of_this_target(r));
        if (r.intent->fingerprint_rule != with_.fingerprint.rule()) {
            return error_despite(r, rule::incomparable);
        }
        return success();
    }

private:
    result<void> is_of_this_target(record const& r) const {
        if (r.intent->target == std::string_view(with_.provider.target)) return success();
        return error_despite(r, rule::conflicting_intent);
    }

    /// What the table can act on without asking anybody.
    static bool speaks(observation const& o) {
        switch (o.what) {
        case seen::no_news: return !o.remarks.empty();
        case seen::busy: return false;
        default: return true;
        }
    }

    template <state S> result<amended> follow(operation<S>&& op, observation const& o) {
        auto const& documented = with_.provider.contract;
        moment m = book_.moment(op.stored(), with_.budget, documented, {op.stored().claim.holder});
        m.look_only = true; // nobody is asked and nothing is sent from here
        m.may_look = {.what = allowance::kind::spent};
        auto next = decide(op, documented, o, m);
        return std::move(next).visit(
            [&]<class E>(E&& e) -> result<amended> { return apply(std::move(op), std::move(e)); });
    }

    template <state S, class E> result<amended> apply(operation<S>&& op, E&& e) {
        constexpr bool tells = std::same_as<E, match> || std::same_as<E, contradiction> ||
                               std::same_as<E, refusal> || std::same_as<E, non_application> ||
                               std::same_as<E, attempt_outcome>;
        if constexpr (tells) {
            return boxed(detail::follow(std::move(op), std::move(e)));
        } else {
            return as_it_is(std::move(op)); // it says what to do next, which is for a run
        }
    }

    /// An error that tells a state somebody wrote: the state is flushed first.
    error told(error&& e) {
        auto flushed = book_.flush();
        return flushed ? std::move(e) : std::move(flushed).error();
    }

    Policies& with_;
    journal& book_;
    waiting_room& waiting_;
};

} // namespace indoubt::detail

#endif
