// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef INDOUBT_RECOVERY_RECOVERY_HPP
#define INDOUBT_RECOVERY_RECOVERY_HPP

#include <indoubt/policy/policies.hpp>
#include <indoubt/recovery/journal.hpp>
#include <indoubt/recovery/pursuit.hpp>
#include <indoubt/recovery/untold.hpp>
#include <indoubt/recovery/waiting_room.hpp>

#include <concepts>
#include <cstddef>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

// What a program runs. It holds the policies of one kind of write and its journal, and answers
// every question about an operation by its identity.

namespace indoubt {

/// A record that is pending, uncertain or in review, as unsettled() shows it.
struct unsettled_operation {
    record const& stored;
    rule reason;      ///< why it is where it is; none while nothing stopped it
    milliseconds age; ///< since its begin
};

// The door: a bundle that lacks something is told so in words, and has no functions. Two classes,
// so that a sentence comes with few lines around it; each has a last word in case nothing was said.

template <class Policies> class recovery {
    static_assert(!explain_policies<Policies>(), "policies: see policy_bundle");

public:
    explicit recovery(Policies) {}
};

template <detail::names_a_storage Policies> class recovery<Policies> {
    static_assert(!(explain_provider<detail::provider_in<Policies>>() &&
                    explain_storage<detail::storage_in<Policies>>() &&
                    explain_fingerprint<detail::fingerprint_in<Policies>>() &&
                    explain_retry_budget<detail::budget_in<Policies>>() &&
                    explain_clock<detail::clock_in<Policies>>() &&
                    explain_observer<detail::observer_in<Policies>>()),
                  "policies: see policy_bundle");

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
    /// again later, or reconcile it. In review a person must decide: another run only looks.
    /// After a crash: run it again; it goes on from what was recorded.
    /// An exception of the provider leaves the operation as it is recorded and reaches the caller.
    [[nodiscard("only its result says whether the effect exists")]] outcome
    run(identity const& id, request const& wanted, run_options const& options = {}) {
        pursuit call(with_, book_, waiting_, options, false);
        if (call.expired()) return not_started(id);
        auto asked = intend(with_.provider.target, wanted, with_.fingerprint);
        if (!asked) return std::move(asked).error().of(printable(id));
        begin_options how;
        how.deadline = with_.budget.deadline(call.now()).value_or(time_point::max());
        how.keys = with_.provider.contract.keys;
        intent const* const wish = asked.value().get();
        auto r =
            book_.begin_record(id, std::move(asked).value(), with_.fingerprint, how, call.now());
        if (!r) return told(std::move(r).error());
        return call.follow(std::move(r).value(), wish);
    }

    /// Finds out what happened, and never sends.
    /// Errors: as run; not_recorded if the journal holds no such operation, conflicting_intent if
    /// it was a write to another target, nothing_sent if there is nothing and never was.
    [[nodiscard("only its result says whether the effect exists")]] outcome
    reconcile(identity const& id, run_options const& options = {}) {
        pursuit call(with_, book_, waiting_, options, true);
        if (call.expired()) return not_started(id);
        BOOST_OUTCOME_TRY(auto r, book_.find_record(id));
        if (!r) return error(rule::not_recorded).of(printable(id));
        return call.follow(std::move(r));
    }

    /// What the journal says; the provider is not asked.
    /// Errors: not_recorded, storage_failed.
    [[nodiscard]] result<record> recorded(identity const& id) {
        BOOST_OUTCOME_TRY(auto found, with_.storage.find(id));
        BOOST_OUTCOME_TRY(book_.flush()); // after reading: others write meanwhile
        if (!found) return error(rule::not_recorded).of(printable(id));
        return std::move(*found);
    }

    /// Settles the operation as cancelled if surely nothing was applied. Otherwise it is never sent
    /// again and still looked for. A run that waits on it wakes at once.
    /// Returns: the record as it then stands; a settled one stays what it is.
    /// Errors: not_recorded, storage_failed, in_progress (other writers kept winning),
    /// restored_copy (pending, but it may have been sent from the original).
    [[nodiscard]] result<record> cancel(identity const& id, by caller = {}) {
        for (int tries = 0; tries != most_collisions; ++tries) {
            BOOST_OUTCOME_TRY(auto op, book_.find(id));
            if (!op) return error(rule::not_recorded).of(printable(id));
            events changed;
            auto written = std::move(*op).visit([&](auto&& x) -> result<void> {
                return cancel_now(std::move(x), caller, changed);
            });
            if (written) {
                waiting_.wake(id);
                auto now = recorded(id);
                if (now) changed.tell(with_.observer);
                return now;
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
        std::vector<record> found;
        auto keep = [&](record const& r) { found.push_back(r); };
        BOOST_OUTCOME_TRY(with_.storage.visit_unsettled(where, keep));
        BOOST_OUTCOME_TRY(book_.flush()); // after reading: others write meanwhile
        time_point const now = book_.now();
        for (record const& r : found)
            visitor(unsettled_operation{r, r.reason, now - r.begun_at});
        std::optional<page> more;
        if (!found.empty() && found.size() == where.most) {
            more = {.after = found.back().operation, .most = where.most};
        }
        return more;
    }

    /// The journal, to drive the machine by hand beside run.
    [[nodiscard]] typename with::journal& journal() { return book_; }

private:
    using pursuit = detail::pursuit<Policies>;
    using events = detail::untold<detail::observer_in<Policies>>;
    static constexpr int most_collisions = 100; ///< with other writers of one record

    template <state S>
    result<void> cancel_now(operation<S>&& op, by const& caller, events& changed) {
        if constexpr (requires(cancellation c) { indoubt::cancel(std::move(op), std::move(c)); }) {
            record const& r = op.stored();
            if (r.cancel_requested) return success();
            cancellation word(r.stamp(), caller, book_.now());
            BOOST_OUTCOME_TRY(auto after,
                              book_.write(indoubt::cancel(std::move(op), std::move(word))));
            changed.add(S::id, after.stored());
        }
        return success();
    }

    /// The deadline was over before anything was asked: what the journal says still counts.
    error not_started(identity const& id) {
        auto known = recorded(id);
        if (!known && known.error().rule() == rule::storage_failed) {
            return std::move(known).error();
        }
        return known ? error_despite(known.value(), rule::deadline_reached)
                     : error(rule::deadline_reached).of(printable(id));
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
