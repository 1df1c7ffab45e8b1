// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef INDOUBT_RECOVERY_SIGHTING_HPP
#define INDOUBT_RECOVERY_SIGHTING_HPP

#include <indoubt/policy/policies.hpp>
#include <indoubt/recovery/journal.hpp>
#include <indoubt/recovery/same_content.hpp>
#include <indoubt/recovery/weigh.hpp>

#include <utility>

// What one call has seen of its operation: the last answer of the provider, as long as it is not
// recorded, and how often the provider was asked.

namespace indoubt::detail {

template <class Policies, class Journal> class sighting {
public:
    sighting(Policies& policies, Journal& book) : with_(policies), book_(book) {}

    observation const& latest() const { return seen_; }
    bool shows_effect() const { return seen_.what == seen::match || seen_.what == seen::proof; }
    unsigned looks() const { return looks_; }         ///< since the last send of this call
    unsigned all_looks() const { return all_looks_; } ///< over the whole call

    /// Look-ups are so far apart as the budget says.
    allowance spaced(allowance may_look, time_point now) const {
        bool const too_soon = may_look.what == allowance::kind::now && next_look_ > now;
        return too_soon ? allowance{allowance::kind::later, next_look_} : may_look;
    }

    /// Errors: storage_failed.
    template <class Request>
    result<void> look(record const& r, Request const& asked_for, call_limits const& limits) {
        auto found = with_.provider.lookup(query_for(r, asked_for, limits));
        ++looks_;
        ++all_looks_;
        if constexpr (spaces_looks<budget_in<Policies>>) {
            next_look_ = later(book_.now(), with_.budget.look_delay(r, looks_));
        }
        seen_ = weigh_answer(terms_of(with_.provider.contract), r, found,
                             same_content<Policies>{with_});
        return seen_.what == seen::match ? check_receipt(r) : success();
    }

    /// Errors: storage_failed.
    template <class Reply> result<void> hear(operation<uncertain> const& sent, Reply reply) {
        looks_ = 0;
        next_look_ = {};
        seen_ = weigh(with_.provider.contract, sent, std::move(reply));
        return check_receipt(sent.stored());
    }

    /// It is recorded, or too old to count.
    void forget() {
        seen_.what = seen::not_asked;
        seen_.attempt = 0;
    }

    /// The record moved on to this. A reply still proves what it proves of its attempt; a look-up
    /// must be made again.
    void carry_over_to(record const& r) {
        if (seen_.attempt == 0 || seen_.attempt > r.attempts.size()) return forget();
        seen_.of = r.stamp();
        if (r.attempts[seen_.attempt - 1].generation != r.generation) weigh_former(seen_);
    }

private:
    /// A receipt belongs to one operation for ever.
    result<void> check_receipt(record const& r) {
        if (seen_.receipt.empty()) return success();
        BOOST_OUTCOME_TRY(bool const ours, book_.bind_receipt(r, seen_.receipt));
        if (!ours) seen_.what = seen::receipt_taken;
        return success();
    }

    Policies& with_;
    Journal& book_;
    observation seen_{};
    unsigned looks_ = 0, all_looks_ = 0;
    time_point next_look_{};
};

} // namespace indoubt::detail

#endif
