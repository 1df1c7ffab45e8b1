// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef INDOUBT_RECOVERY_RECOVERY_HPP
#define INDOUBT_RECOVERY_RECOVERY_HPP

#include <indoubt/policy/policies.hpp>
#include <indoubt/recovery/amendment.hpp>
#include <indoubt/recovery/batch.hpp>
#include <indoubt/recovery/journal.hpp>
#include <indoubt/recovery/pursuit.hpp>
#include <indoubt/recovery/review.hpp>
#include <indoubt/recovery/schedule.hpp>
#include <indoubt/recovery/waiting_room.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <string>
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
                    explain_observer<detail::observer_in<Policies>>() &&
                    explain_hooks<detail::hooks_in<Policies>>()),
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
        : with_(std::move(policies)), book_(with_.storage, with_.clock) {
        book_.hooked_ = hooked;
    }
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
        call.begin(id, wanted);
        return call.finish();
    }

    /// The same as run for each of many pairs (identity, request), with one flush for all sends and
    /// one before anything is told. Where the provider has a submit for several attempts, they go
    /// out with one call of it.
    ///
    /// What happens to one operation leaves the others alone. Deadline and stop are those of the
    /// whole call. An identity that stands there twice is run once, and has one outcome.
    /// Returns: one outcome for each pair, in order: what run would return, or interrupted where a
    /// std::exception of a policy ended it. Any other exception reaches the caller.
    template <detail::pairs_of<request> Pairs>
    [[nodiscard("only its results say whether the effects exist")]] std::vector<outcome>
    run_all(Pairs const& wanted, run_options const& options = {}) {
        detail::batch<Policies> call(with_, book_, waiting_, options);
        for (auto const& [id, one] : wanted)
            call.add(id, one);
        return call.run();
    }

    /// Finds out what happened, and never sends.
    /// Errors: as run; not_recorded if the journal holds no such operation, conflicting_intent if
    /// it was a write to another target, nothing_sent if there is nothing and never was.
    [[nodiscard("only its result says whether the effect exists")]] outcome
    reconcile(identity const& id, run_options const& options = {}) {
        pursuit call(with_, book_, waiting_, options, true);
        call.find(id);
        return call.finish();
    }

    /// What the journal says; the provider is not asked.
    /// Errors: not_recorded, storage_failed.
    [[nodiscard]] result<record> recorded(identity const& id) {
        BOOST_OUTCOME_TRY(auto found, with_.storage.find(id));
        BOOST_OUTCOME_TRY(book_.flush()); // after reading: others write meanwhile
        if (!found) return error(rule::not_recorded).of(printable(id));
        return std::move(*found);
    }

    // ---- evidence from outside ------------------------------------------------------------------

    /// What a webhook, a stream or a file told of an effect. It is compared like one that was
    /// looked up; the provider is not asked. A run that waits wakes, and does not send again.
    ///
    /// Returns: a confirmation, if the operation is confirmed by then.
    /// Errors: as reconcile. An effect that is not ours changes nothing: another_owner. One of an
    /// operation that is rejected, cancelled or abandoned sends it to review: late_effect; a second
    /// receipt does so too: several_effects.
    [[nodiscard("only its result says whether the effect exists")]] outcome
    observe(identity const& id, effect<request, receipt> const& told) {
        return amendment().observe(id, [&]<state S>(operation<S> const& op) {
            return weigh(with_.provider.contract, op, told, detail::same_content<Policies>{with_});
        });
    }

    /// A reply to attempt number `attempt` (from 1) that came after its call was given up.
    /// Recorded on its attempt; it settles what the same reply would have settled in time.
    template <class Reply>
        requires(detail::is_reply<Reply>)
    [[nodiscard("only its result says whether the effect exists")]] outcome
    observe(identity const& id, Reply const& late, std::uint32_t attempt) {
        return amendment().observe(id, [&]<state S>(operation<S> const& op) {
            return weigh(with_.provider.contract, op, late, attempt);
        });
    }

    // ---- the caller's and other people's words --------------------------------------------------
    //
    // Each is compared with the record as it stands and written against that version: of two people
    // who decide at once one wins, and the other hears illegal_decision. A word with an id of its
    // own changes nothing when it is given again. Returned is the record as it then stands. A run
    // that waits on the operation wakes.
    //
    // Errors of all: not_recorded, storage_failed, in_progress (other writers kept winning, or a
    // live call has the operation). Errors of decisions: illegal_decision, also without who and
    // why.

    /// Settles the operation as cancelled if surely nothing was applied. Otherwise it is never sent
    /// again and still looked for. A settled one stays what it is.
    /// Errors: restored_copy (pending, but it may have been sent from the original);
    /// conflicting_intent if it is a write to another target.
    [[nodiscard]] result<record> cancel(identity const& id, by caller = {}) {
        return amendment().cancel(id, caller);
    }

    /// In review: the effect exists, and this is its receipt. Where the provider can be asked it is
    /// looked up once, and must be there with the content asked for; else it is the person's word.
    /// Other effects of ours that the look-up shows are known from then on, and do not contradict.
    /// Errors: not_shown, another_owner, contents_differ, under_way, look_up_failed, receipt_taken,
    /// conflicting_intent and incomparable as run: nothing is changed then.
    [[nodiscard]] result<record> adopt(identity const& id, receipt const& named, by person) {
        return review().adopt(id, named, person);
    }

    /// In review: no attempt was applied, nor ever will be. The next run sends it again, with the
    /// grant. Not for what was ever confirmed or settled, nor while a call may be under way.
    [[nodiscard]] result<record> rule_out(identity const& id, by person, grant more = {}) {
        return review().rule_out(id, person, more);
    }

    /// In review by doubt: go on under the same identity and key, with more attempts and time.
    [[nodiscard]] result<record> resume(identity const& id, by person, grant more = {}) {
        return review().resume(id, person, more);
    }

    /// In review after it was settled: what was seen is none of ours. Back to the state it came
    /// from; effects with these receipts do not count from then on.
    [[nodiscard]] result<record> dismiss(identity const& id, by person,
                                         std::vector<receipt> const& none_of_ours = {}) {
        std::vector<std::string> encoded;
        for (receipt const& r : none_of_ours) {
            BOOST_OUTCOME_TRY(encoded.emplace_back(), detail::encoded(r));
        }
        return review().dismiss(id, person, encoded);
    }

    /// In review: nobody will ever know. The identity and its key stay blocked for ever.
    [[nodiscard]] result<record> abandon(identity const& id, by person) {
        return review().abandon(id, person);
    }

    /// Rejected or cancelled: the same intent again, under a new provider key, its attempts counted
    /// anew. Refused while an attempt is open or its hook is due, and after most_generations.
    /// Errors: unfit_key, key_taken.
    [[nodiscard]] result<record> supersede(identity const& id, by person, grant more = {}) {
        return review().supersede(id, person, more);
    }

    // ---- coming back ----------------------------------------------------------------------------

    /// Calls visitor(unsettled_operation const&) for what is pending, uncertain or in review, a
    /// page at a time, oldest first.
    /// Returns: the next page, or nothing after the last one.
    template <class Visitor>
    [[nodiscard]] result<std::optional<page>> unsettled(Visitor visitor, page where = {}) {
        BOOST_OUTCOME_TRY(auto const found, read(where));
        time_point const now = book_.now();
        for (record const& r : found)
            visitor(unsettled_operation{r, r.reason, now - r.begun_at});
        return after(found, where);
    }

    /// The same for what a run of this recovery could do something about at that moment: of its
    /// target, not claimed by a live call, not waiting for a later moment, and not left to a
    /// person. Calls visitor(due_operation const&).
    template <class Visitor>
    [[nodiscard]] result<std::optional<page>> due(time_point when, Visitor visitor,
                                                  page where = {}) {
        BOOST_OUTCOME_TRY(auto const found, read(where));
        for (record const& r : found) {
            auto const from = due_from(r, when);
            if (from && *from <= when) visitor(due_operation{r, *from});
        }
        return after(found, where);
    }

    /// One cycle of recovery: runs again what is due, a page of it and oldest first. What is sent
    /// are the recorded bytes. Calls on_each(identity const&, outcome const&). A std::exception of
    /// a policy is told there, as interrupted, and keeps no other operation from its turn.
    ///
    /// Returns: where the next cycle goes on, or nothing after the last page. A cycle ends early
    /// when its look-ups are used up or a stop is requested.
    /// Errors: storage_failed.
    template <class F>
    [[nodiscard]] result<std::optional<page>> resume_all(F on_each, cycle c = {}) {
        BOOST_OUTCOME_TRY(auto const found, read(c.where));
        unsigned looks = 0;
        for (record const& listed : found) {
            if (looks >= std::max(c.most_looks, 1U) || c.each.stop.stop_requested()) {
                return page{.after = listed.operation - 1, .most = c.where.most};
            }
            BOOST_OUTCOME_TRY(auto r, book_.find_record(listed.identity()));
            auto const now = book_.now();
            auto const from = r ? due_from(*r, now) : std::nullopt;
            if (!from || *from > now) continue;
            auto const done = in_turn(std::move(r), c.each, looks);
            on_each(listed.identity(), done);
        }
        return after(found, c.where);
    }

    /// Retention, for the whole journal: of the operations that are confirmed, rejected or
    /// cancelled and were last written longer ago than that, the oldest shrink to what answers a
    /// repeat. Never done by itself. A repeat is then answered as recorded, without a look-up; the
    /// request stays on record only where the fingerprint cannot answer for it (exact_fingerprint).
    ///
    /// Returns: how many, at most `most`: call it again while it returns that many.
    /// Errors: storage_failed.
    [[nodiscard]] result<std::size_t> shrink_settled(milliseconds settled_for,
                                                     std::size_t most = 1000)
        requires shrinks_settled<typename with::storage>
    {
        milliseconds const age = std::max(settled_for, milliseconds::zero());
        milliseconds const now = book_.now().time_since_epoch();
        if (age > now) return std::size_t{0};
        BOOST_OUTCOME_TRY(auto const shrunk,
                          with_.storage.shrink_settled(time_point(now - age), most));
        BOOST_OUTCOME_TRY(book_.flush());
        return shrunk;
    }

    /// The journal, to drive the machine by hand beside run.
    [[nodiscard]] typename with::journal& journal() { return book_; }

private:
    using pursuit = detail::pursuit<Policies>;
    static constexpr bool hooked = has_hooks<detail::hooks_in<Policies>>;

    detail::amendment<Policies> amendment() { return {with_, book_, waiting_}; }
    detail::review<Policies> review() { return {with_, book_, waiting_}; }

    /// A page of what is unsettled, durable.
    result<std::vector<record>> read(page where) {
        std::vector<record> found;
        auto keep = [&](record const& r) { found.push_back(r); };
        BOOST_OUTCOME_TRY(with_.storage.visit_unsettled(where, keep));
        BOOST_OUTCOME_TRY(book_.flush()); // after reading: others write meanwhile
        return found;
    }
    static std::optional<page> after(std::vector<record> const& found, page where) {
        if (found.empty() || found.size() != where.most) return std::nullopt;
        return page{.after = found.back().operation, .most = where.most};
    }

    std::optional<time_point> due_from(record const& r, time_point when) {
        if (r.intent->target != std::string_view(with_.provider.target)) return std::nullopt;
        if (is_final(r.state) && !hooked) return std::nullopt; // the hook of another program
        auto const& documented = with_.provider.contract;
        moment m = book_.moment(r, with_.budget, documented, {.at = when});
        return detail::due_from(r, detail::terms_of(documented), m);
    }

    outcome in_turn(detail::scribe::box r, run_options const& each, unsigned& looks) {
        auto const about = r->intent;
        auto go_on = [&] {
            pursuit call(with_, book_, waiting_, each, false);
            call.take_up(std::move(r));
            auto done = call.finish();
            looks += call.looks_made();
            return done;
        };
#if defined(__cpp_exceptions)
        try {
#endif
            return go_on();
#if defined(__cpp_exceptions)
        } catch (std::exception const&) {
            ++looks;
            BOOST_OUTCOME_TRY(auto const now, recorded(about->identity));
            return error_despite(now, rule::interrupted);
        }
#endif
    }

    Policies with_;
    typename with::journal book_;
    detail::waiting_room waiting_;
};

} // namespace indoubt

#endif
