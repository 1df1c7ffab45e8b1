// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef INDOUBT_RECOVERY_RECOVERY_HPP
#define INDOUBT_RECOVERY_RECOVERY_HPP

#include <indoubt/policy/policies.hpp>
#include <indoubt/recovery/journal.hpp>
#include <indoubt/recovery/pursuit.hpp>
#include <indoubt/recovery/waiting_room.hpp>

#include <concepts>
#include <cstddef>
#include <optional>
#include <type_traits>
#include <utility>

// What a program runs. It holds the policies of one kind of write and its journal, and answers
// every question about an operation by its identity.

namespace indoubt {

/// A record that is pending, uncertain or in review, as unsettled() shows it.
struct unsettled_operation {
    record const& stored;
    rule reason;      ///< why it is where it is; none while nothing stopped it
    milliseconds age; ///< since its begin
};

/// The door: a bundle that lacks something is told so in words, and has no functions.
template <class Policies> class recovery {
    static_assert(explain_policies<Policies>());

public:
    explicit recovery(Policies) {}
};

template <class Policies> recovery(Policies) -> recovery<Policies>;

/// Thread safety: all functions may be called from several threads. Two threads that run one
/// identity lead to one send; the other hears in_progress.
template <policy_bundle Policies> class recovery<Policies> {
    using with = detail::parts<Policies>;
    using outcome = typename with::outcome;

public:
    using request = typename with::request;
    using receipt = typename with::receipt;

    explicit recovery(Policies policies)
        : with_(std::move(policies)), book_(with_.storage, with_.clock) {}
    recovery(recovery const&) = delete;
    recovery& operator=(recovery const&) = delete;

    /// Sees to it that the effect exists once, and says so only when that is proven.
    ///
    /// Effects: records the intent, looks, sends where that is safe, looks again. What is told is
    /// flushed first.
    /// Returns: a confirmation.
    /// Errors: error().in_doubt() says whether the effect may exist: then run the same identity
    /// again later, or reconcile it.
    /// After a crash: run it again; it goes on from what was recorded.
    /// An exception of the provider leaves the operation as it is recorded and reaches the caller.
    [[nodiscard]] outcome run(identity const& id, request const& wanted,
                              run_options const& options = {}) {
        pursuit call(with_, book_, waiting_, options, false);
        if (call.expired()) return not_started(id);
        auto asked = intend(with_.provider.target, wanted, with_.fingerprint);
        if (!asked) return std::move(asked).error().of(printable(id));
        begin_options how;
        how.deadline = with_.budget.deadline(call.now()).value_or(time_point::max());
        how.keys = with_.provider.contract.keys;
        auto op = book_.begin(id, std::move(asked).value(), with_.fingerprint, how, call.now());
        if (!op) return told(std::move(op).error());
        return call.follow(std::move(op).value());
    }

    /// Finds out what happened, and never sends.
    /// Errors: as run; not_recorded if the journal holds no such operation.
    [[nodiscard]] outcome reconcile(identity const& id, run_options const& options = {}) {
        pursuit call(with_, book_, waiting_, options, true);
        if (call.expired()) return not_started(id);
        BOOST_OUTCOME_TRY(auto op, book_.find(id));
        if (!op) return error(rule::not_recorded).of(printable(id));
        return call.follow(std::move(*op));
    }

    /// What the journal says; the provider is not asked.
    /// Errors: not_recorded, storage_failed.
    [[nodiscard]] result<record> recorded(identity const& id) {
        BOOST_OUTCOME_TRY(book_.flush());
        BOOST_OUTCOME_TRY(auto found, with_.storage.find(id));
        if (!found) return error(rule::not_recorded).of(printable(id));
        return std::move(*found);
    }

    /// Settles the operation as cancelled if surely nothing was applied. Otherwise it is never sent
    /// again and still looked for. A run that waits on it wakes at once.
    /// Returns: the record as it then stands; a settled one stays what it is.
    /// Errors: not_recorded, storage_failed, in_progress (other writers kept winning).
    [[nodiscard]] result<record> cancel(identity const& id, by caller = {}) {
        for (int tries = 0; tries != most_collisions; ++tries) {
            BOOST_OUTCOME_TRY(auto op, book_.find(id));
            if (!op) return error(rule::not_recorded).of(printable(id));
            auto written = std::move(*op).visit(
                [&](auto&& x) -> result<void> { return cancel_now(std::move(x), caller); });
            if (written) {
                waiting_.wake(id);
                return recorded(id);
            }
            if (written.error().rule() != rule::stale_version) return std::move(written).error();
        }
        return error(rule::in_progress).of(printable(id));
    }

    /// Calls visitor(unsettled_operation const&) for what is pending, uncertain or in review, a
    /// page at a time, oldest first.
    /// Returns: the next page, or nothing after the last one.
    template <class Visitor>
    [[nodiscard]] result<std::optional<page>> unsettled(Visitor visitor, page where = {}) {
        BOOST_OUTCOME_TRY(book_.flush());
        time_point const now = book_.now();
        page next = where;
        auto show = [&](record const& r) {
            next.after = r.operation;
            visitor(unsettled_operation{r, r.reason, now - r.begun_at});
        };
        BOOST_OUTCOME_TRY(std::size_t const shown, with_.storage.visit_unsettled(where, show));
        std::optional<page> more;
        if (shown != 0 && shown == where.most) more = next;
        return more;
    }

    /// The journal, to drive the machine by hand beside run.
    [[nodiscard]] typename with::journal& journal() { return book_; }

private:
    using pursuit = detail::pursuit<Policies>;
    static constexpr int most_collisions = 100; ///< with other writers of one record

    template <state S> result<void> cancel_now(operation<S>&& op, by const& caller) {
        if constexpr (requires(cancellation c) { indoubt::cancel(std::move(op), std::move(c)); }) {
            record const& r = op.stored();
            if (r.cancel_requested) return success();
            cancellation word(r.stamp(), caller, book_.now());
            BOOST_OUTCOME_TRY(book_.write(indoubt::cancel(std::move(op), std::move(word))));
        }
        return success();
    }

    /// The deadline was over before anything was asked: what the journal says still counts.
    error not_started(identity const& id) {
        auto known = recorded(id);
        if (!known && known.error().rule() == rule::storage_failed) {
            return std::move(known).error();
        }
        auto const state = known ? known.value().state : state_id::none;
        return error(rule::deadline_reached, state).of(printable(id));
    }

    /// An error that tells a state somebody wrote: the state is flushed first.
    error told(error&& e) {
        auto flushed = book_.flush();
        return flushed ? std::move(e) : std::move(flushed).error();
    }

    Policies with_;
    typename with::journal book_;
    detail::waiting_room waiting_;
};

} // namespace indoubt

#endif
