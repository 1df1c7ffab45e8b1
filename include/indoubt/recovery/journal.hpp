// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef INDOUBT_RECOVERY_JOURNAL_HPP
#define INDOUBT_RECOVERY_JOURNAL_HPP

#include <indoubt/core/attempt.hpp>
#include <indoubt/core/transitions.hpp>
#include <indoubt/policy/clock.hpp>
#include <indoubt/policy/codec.hpp>
#include <indoubt/policy/fingerprint.hpp>
#include <indoubt/policy/policies.hpp>
#include <indoubt/policy/retry_budget.hpp>
#include <indoubt/policy/storage.hpp>
#include <indoubt/recovery/decide.hpp>
#include <indoubt/recovery/effects.hpp>
#include <indoubt/recovery/intending.hpp>
#include <indoubt/recovery/scribe.hpp>
#include <indoubt/recovery/timeline.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// The only place where records are written and operations come from. It keeps the two doors of
// durability: before bytes go out, and before anything is told, everything written is flushed.
// Between the doors writes are relaxed.

namespace indoubt {

namespace detail {
template <class Policies> class pursuit;               // recovery/pursuit.hpp
template <class Policies> struct beginning;            // recovery/beginning.hpp
template <class Policies> class conclusion;            // recovery/conclusion.hpp
template <class Request, class Journal> class sending; // recovery/sending.hpp
template <class Policies> class telling;               // recovery/telling.hpp
template <class Policies> class amendment;             // recovery/amendment.hpp
template <class Policies> class review;                // recovery/review.hpp
} // namespace detail

/// Who asks for a moment.
struct asker {
    std::uint64_t holder = 0; ///< of the claims he makes; 0: the journal itself
    unsigned looks = 0;       ///< look-ups he made for this operation since its last send
    time_point at{};          ///< the time he read a moment ago; unset: now
};

template <class Policies> class recovery; // recovery/recovery.hpp

/// Thread safety: as that of the storage and the clock; an operation or permit belongs to one
/// thread at a time. The storage must outlive the journal.
template <class Storage, class Clock> class journal {
public:
    explicit journal(Storage& storage, Clock clock = {})
        : storage_(storage), clock_(std::move(clock)), facts_(storage.facts()),
          timeline_(clock_, facts_.high_water), holder_(detail::next_number()) {}

    time_point now() { return timeline_.now(clock_); }
    /// Returns at t, or soon after a stop is requested.
    void wait_until(time_point t, std::stop_token const& stop) {
        clock_.wait_until(timeline_.elapsed_at(t), stop);
    }

    /// A new operation in state pending, or the one that stands for this identity, as it stands.
    ///
    /// Effects: a relaxed write; flush before telling anybody that the intent is safe.
    /// Errors: malformed_identity, unfit_key, key_taken, conflicting_intent, incomparable,
    /// storage_failed. On each of them nothing is changed.
    template <class Fingerprint>
    result<any_operation> begin(identity const& id, std::shared_ptr<intent> wanted,
                                Fingerprint const& fingerprint, begin_options const& options = {}) {
        BOOST_OUTCOME_TRY(auto r, begin_record(id, std::move(wanted), fingerprint, options, now()));
        return detail::scribe::any(std::move(r));
    }

    result<std::optional<any_operation>> find(identity const& id) {
        BOOST_OUTCOME_TRY(auto r, find_record(id));
        std::optional<any_operation> found;
        if (r) found.emplace(detail::scribe::any(std::move(r)));
        return found;
    }

    /// Effects: a relaxed write; flush before telling anybody.
    /// Errors: what made the step fail; stale_version if the record has moved on meanwhile, or
    /// storage_failed. On each of them nothing is written.
    template <state To> result<operation<To>> write(result<step<To>>&& decided) {
        if (!decided) return std::move(decided).error();
        auto& r = detail::scribe::of(decided.value());
        r->written_at = std::min(r->written_at, now()); // whatever time a person's word gave
        BOOST_OUTCOME_TRY(put(*r));
        return detail::scribe::make<To>(std::move(r));
    }

    /// Effects: writes and flushes; only then is there a permit to send.
    /// Errors: as above. After storage_failed the journal is unusable, and nothing may be sent.
    result<permit> write(result<departure>&& decided) {
        auto written = put(decided);
        if (written) written = storage_.flush();
        return permitted(decided, std::move(written));
    }

    /// The same for several, with one flush for all of them. Each is compared by itself: one that
    /// fails leaves the others alone.
    /// Returns: one answer for each, in order.
    std::vector<result<permit>> write_all(std::span<result<departure>> decided) {
        std::vector<result<void>> written;
        for (auto& d : decided)
            written.push_back(put(d));
        result<void> const flushed = storage_.flush();
        std::vector<result<permit>> permits;
        for (std::size_t i = 0; i != decided.size(); ++i) {
            permits.push_back(permitted(decided[i], written[i] ? flushed : std::move(written[i])));
        }
        return permits;
    }

    /// The door before telling: everything written so far survives.
    result<void> flush() { return storage_.flush(); }

    /// Called by permit::attempt.
    template <class Request> result<attempt<Request>> open_attempt(permit& p, call_limits limits) {
        record const& r = *detail::scribe::of(p);
        if (!detail::scribe::is_of(p, holder_)) return error_about(r, rule::foreign_evidence);
        if (!detail::scribe::use(p)) return error_about(r, rule::stale_version);
        auto request = codec<Request>::decode(r.intent->request);
        if (!request) return withdrawn(p, rule::undecodable);
        return open_used<Request>(p, std::move(limits), std::move(request).value());
    }

    /// Gives the claim back without a transition: the operation stays what it is, for the next one
    /// who asks. For a program that stops driving an operation which it sent.
    template <state S> result<void> release(operation<S>&& op) {
        return release_record(std::move(*detail::scribe::of(op)));
    }

    /// True if the receipt stands for this operation, now or already. A receipt is bound once, for
    /// ever.
    result<bool> bind_receipt(record const& r, std::string_view receipt) {
        return storage_.bind(detail::binding_name("receipt", r.intent->target, receipt),
                             r.identity());
    }

    /// Everything decide needs of this moment.
    template <class Budget, class Contract>
    indoubt::moment moment(record const& r, Budget& budget, Contract const& contract,
                           asker const& who = {}) {
        indoubt::moment m;
        m.now = who.at != time_point{} ? who.at : now();
        m.closed_until = timeline_.closed_until();
        m.epoch = facts_.epoch;
        m.holder = who.holder != 0 ? who.holder : holder_;
        m.may_send = contract.inner_attempts > 1 && !r.attempts.empty()
                         ? budget.may_send(as_tries(r, contract.inner_attempts), m.now,
                                           contract.call_timeout)
                         : budget.may_send(r, m.now, contract.call_timeout);
        m.may_look = budget.may_look(r, m.now, contract.call_timeout, who.looks);
        return m;
    }

    /// A provider key stands for one identity at its target, for ever.
    /// Errors: unfit_key, key_taken, storage_failed.
    result<void> bind_key(identity const& id, std::string_view target, std::string_view key,
                          key_rules const& rules) {
        if (!fits(key, rules)) return error(rule::unfit_key).of(printable(id));
        BOOST_OUTCOME_TRY(bool const ours,
                          storage_.bind(detail::binding_name("key", target, key), id));
        if (!ours) return error(rule::key_taken).of(printable(id));
        return success();
    }

private:
    template <class> friend class detail::pursuit;
    template <class> friend struct detail::beginning;
    template <class> friend class detail::conclusion;
    template <class, class> friend class detail::sending;
    template <class> friend class detail::telling;
    template <class> friend class detail::amendment;
    template <class> friend class detail::review;
    template <class> friend class recovery;

    std::uint32_t epoch() const { return facts_.epoch; }

    // Records as they are, without a type for each state: for the loop of recovery alone.

    template <class Fingerprint>
    result<detail::scribe::box> begin_record(identity const& id, std::shared_ptr<intent> wanted,
                                             Fingerprint const& fingerprint,
                                             begin_options const& options, time_point at) {
        if (!well_formed(id)) return error(rule::malformed_identity).of(printable(id));
        if (!well_formed_name(wanted->target)) {
            return error(rule::malformed_identity).of(printable(id)).saying("the target's name");
        }
        BOOST_OUTCOME_TRY(auto standing, find_record(id));
        if (standing)
            return detail::same_intent(std::move(standing), *wanted, fingerprint, options);
        std::string const& key = options.provider_key ? *options.provider_key : id.key;
        BOOST_OUTCOME_TRY(bind_key(id, wanted->target, key, options.keys));

        wanted->identity = id;
        auto fresh = std::make_unique<record>();
        fresh->intent = std::move(wanted);
        fresh->operation = (std::uint64_t{facts_.epoch} << 32U) | (detail::next_number() & ~0U);
        fresh->version = {facts_.epoch, 1};
        fresh->begun_at = fresh->written_at = at;
        fresh->deadline = options.deadline;
        if (key != id.key) fresh->provider_key = key;
        BOOST_OUTCOME_TRY(auto other, storage_.insert(*fresh));
        if (!other) return fresh;
        standing = std::make_unique<record>(std::move(*other));
        return detail::same_intent(std::move(standing), *fresh->intent, fingerprint, options);
    }

    /// Null if the journal holds no such operation.
    result<detail::scribe::box> find_record(identity const& id) {
        BOOST_OUTCOME_TRY(auto r, storage_.find(id));
        return r ? std::make_unique<record>(std::move(*r)) : detail::scribe::box();
    }

    /// The same with a request that was decoded from the stored bytes already.
    template <class Request>
    result<attempt<Request>> open_attempt(permit& p, call_limits limits, Request&& decoded) {
        if (!detail::scribe::use(p)) {
            return error_about(*detail::scribe::of(p), rule::stale_version);
        }
        return open_used<Request>(p, std::move(limits), std::move(decoded));
    }

    template <class Request>
    result<attempt<Request>> open_used(permit& p, call_limits limits, Request&& decoded) {
        record const& r = *detail::scribe::of(p);
        BOOST_OUTCOME_TRY(bool const moved_on, has_moved_on(r));
        time_point const at = now();
        if (moved_on || at >= detail::scribe::send_before(p)) {
            bool const covered_others = r.open_attempts() > 1 && at < r.deadline;
            return withdrawn(p, moved_on         ? rule::stale_version
                                : covered_others ? rule::window_closed
                                                 : rule::deadline_reached);
        }
        if (r.deadline != time_point::max()) {
            limits.time_left = std::min(limits.time_left, r.deadline - at);
        }
        return detail::scribe::open(p, std::move(decoded), std::move(limits));
    }

    /// Whatever was written about the operation since. Nothing to do if the claim is gone.
    result<void> release_record(record r) {
        claim const given = r.claim;
        for (int tries = 0; tries != most_collisions; ++tries) {
            r.claim = {};
            auto written = put(r);
            if (written || written.error().rule() != rule::stale_version) return written;
            BOOST_OUTCOME_TRY(auto latest, storage_.find(r.identity()));
            if (!latest || latest->claim != given) return success();
            r = std::move(*latest);
        }
        return error_about(r, rule::in_progress);
    }

    /// The hook has returned. Nothing is lost if the record moved on: it is called once more.
    result<void> hook_returned(record& r) {
        r.hook_due = false;
        auto written = put(r);
        if (!written && written.error().rule() == rule::stale_version) return success();
        return written;
    }

    result<void> put(result<departure>& decided) {
        if (!decided) return decided.error();
        return put(*detail::scribe::of(decided.value()));
    }

    /// Every permit is made here. durable: what became of its write and of the flush after it.
    result<permit> permitted(result<departure>& decided, result<void> durable) {
        if (!decided) return std::move(decided).error();
        if (!durable) {
            record const& r = *detail::scribe::of(decided.value());
            bool const open_before = r.open_attempts() > 1;
            return std::move(durable).error().of(printable(r.identity())).doubtful(open_before);
        }
        return detail::scribe::grant(std::move(decided).value(), holder_);
    }

    /// The next version of this record, if it is still the stored one.
    result<void> put(record& r) {
        version const expected = r.version;
        r.version = {facts_.epoch, expected.epoch == facts_.epoch ? expected.counter + 1 : 1};
        return storage_.replace(r, expected);
    }

    result<bool> has_moved_on(record const& r) {
        if constexpr (compares_versions<Storage>) {
            BOOST_OUTCOME_TRY(bool const current, storage_.is_current(r.identity(), r.version));
            return !current;
        } else {
            BOOST_OUTCOME_TRY(auto const latest, storage_.find(r.identity()));
            return !latest || latest->stamp() != r.stamp();
        }
    }

    /// A permit that nobody may use. Returns: why, and the state of its operation.
    error withdrawn(permit& p, rule why) {
        auto const now_in = withdraw(p);
        if (!now_in) return now_in.error();
        bool const doubtful = may_be_applied(now_in.value());
        return error_about(*detail::scribe::of(p), why).in(now_in.value()).doubtful(doubtful);
    }

    /// Closes the permit's attempt as never sent, in the newest version of the record: only the
    /// holder of a permit can know that.
    /// Returns: the state it is in then.
    result<state_id> withdraw(permit& p) {
        record const& mine = *detail::scribe::of(p);
        auto const number = static_cast<std::uint32_t>(mine.attempts.size());
        for (int tries = 0; tries != most_collisions; ++tries) {
            BOOST_OUTCOME_TRY(auto r, find_record(mine.identity()));
            bool const undecided =
                r && r->operation == mine.operation &&
                (r->state == state_id::uncertain || r->state == state_id::in_review);
            if (!undecided) return r ? r->state : state_id::none;
            auto closed = r->state == state_id::uncertain
                              ? never_sent(detail::scribe::make<uncertain>(std::move(r)), number)
                              : never_sent(detail::scribe::make<in_review>(std::move(r)), number);
            if (closed || closed.error().rule() != rule::stale_version) return closed;
        }
        return error_about(mine, rule::in_progress);
    }

    template <state S> result<state_id> never_sent(operation<S>&& op, std::uint32_t number) {
        observation o{.of = op.stamp(), .what = seen::attempt_closed, .attempt = number};
        o.outcome = attempt_outcome_id::not_sent;
        detail::terms const no_terms;
        indoubt::moment no_moment;
        no_moment.now = now();
        record const known = op.stored();
        detail::situation const s{known, o, no_terms, no_moment};
        auto const& row = detail::deciding_row(s);
        detail::mint const evidence(s, row.why.of(s));
        if (row.next == action::reopen) return write_only(reopen(std::move(op), evidence));
        if (row.next == action::reject) return write_only(reject(std::move(op), evidence));
        return write_only(record_outcome(std::move(op), evidence));
    }

    template <state To> result<state_id> write_only(result<step<To>>&& decided) {
        if (!decided) return std::move(decided).error();
        record& r = *detail::scribe::of(decided.value());
        r.hook_due |= hooked_ && To::id == state_id::rejected;
        BOOST_OUTCOME_TRY(put(r));
        return To::id;
    }

    /// A budget counts tries. Where the client library below submit repeats by itself, each attempt
    /// is as many, and so is the one that is asked for.
    static record as_tries(record r, unsigned inner_attempts) {
        auto const more = (r.tries() + 1) * (inner_attempts - 1);
        r.attempts.insert(r.attempts.begin(), more, attempt_record(r.attempts.back()));
        return r;
    }

    static bool fits(std::string_view key, key_rules const& rules) {
        bool const allowed = rules.alphabet.empty()
                                 ? !has_control_bytes(key)
                                 : key.find_first_not_of(rules.alphabet) == std::string_view::npos;
        return !key.empty() && key.size() <= rules.longest && allowed;
    }

    static constexpr int most_collisions = 100; ///< with other writers of one record

    Storage& storage_;
    Clock clock_;
    storage_facts facts_;
    timeline timeline_;
    std::uint64_t holder_;
    bool hooked_ = false; ///< by the recovery around it: what is rejected owes a hook
};

template <class Storage> journal(Storage&) -> journal<Storage, system_clock>;

} // namespace indoubt

#endif
