// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef INDOUBT_RECOVERY_WEIGH_HPP
#define INDOUBT_RECOVERY_WEIGH_HPP

#include <indoubt/core/operation.hpp>
#include <indoubt/policy/provider.hpp>
#include <indoubt/recovery/effects.hpp>
#include <indoubt/recovery/observation.hpp>

#include <concepts>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>

// weigh turns a provider's plain data into an observation, exactly as the reply table says
// (docs/states_and_evidence.md). It is pure.

namespace indoubt {

namespace detail {

constexpr rule refusal_rule(refused const& r) {
    if (!r.for_good) return rule::refused_for_now;
    switch (r.because) {
    case refusal_class::invalid_input: return rule::refused_input;
    case refusal_class::permission: return rule::refused_permission;
    default: return rule::refused_by_provider;
    }
}

/// An acceptance, under whatever name: proof if the contract says so and our key came back.
template <class Receipt> void weigh_acceptance(observation& o, Receipt const* receipt, bool proof) {
    o.what = seen::no_news;
    if (receipt == nullptr) return;
    auto bytes = encoded(*receipt);
    if (!bytes || bytes.value().empty() || bytes.value().size() > longest_receipt) return;
    o.receipt = std::move(bytes).value();
    o.what = proof ? seen::proof : seen::accepted;
}

inline void weigh_closing(observation& o, terms const& t, attempt_outcome_id outcome, rule why) {
    // With retries below submit an earlier inner try may have been applied.
    if (t.inner_attempts != 1) {
        o.what = seen::no_news;
        return;
    }
    o.what = seen::attempt_closed;
    o.outcome = outcome;
    o.why = why;
}

/// The reply table: what a reply to one attempt proves.
template <class Receipt> struct reply_weigher {
    observation& o;
    record const& r;
    terms const& t;

    /// The key that the attempt carried; nothing echoes an unknown one.
    bool echoes(std::string_view key) const {
        std::uint32_t const generation = r.attempts[o.attempt - 1].generation;
        if (generation == r.generation) return key == r.key();
        auto const& former = r.notes_or_none().former_keys;
        return generation - 1 < former.size() && key == former[generation - 1];
    }

    void operator()(unknown&& x) const {
        o.what = seen::no_news;
        o.remarks = std::move(x.hints);
        if (o.remarks.size() > longest_hint) o.remarks.resize(longest_hint);
    }
    void operator()(accepted<Receipt>&& x) const { weigh_acceptance(o, &x.receipt, false); }
    void operator()(accepted_with_key<Receipt>&& x) const {
        if (!echoes(x.echoed_key)) {
            // Somebody else's acceptance, perhaps: not even its receipt is worth keeping.
            o.what = seen::no_news;
            return;
        }
        weigh_acceptance(o, &x.receipt, t.reply_is_proof);
    }
    void operator()(duplicate<Receipt>&& x) const {
        if (!x.echoed_key.empty() && !echoes(x.echoed_key)) {
            o.what = seen::no_news; // a repeat of somebody else's call
            return;
        }
        bool const proof = t.duplicate_is_proof && echoes(x.echoed_key);
        weigh_acceptance(o, x.receipt ? &*x.receipt : nullptr, proof);
    }
    void operator()(refused&& x) const {
        o.retry_after = x.retry_after;
        weigh_closing(o, t,
                      x.for_good ? attempt_outcome_id::refused_for_good
                                 : attempt_outcome_id::refused_for_now,
                      refusal_rule(x));
    }
    void operator()(not_sent&&) const {
        weigh_closing(o, t, attempt_outcome_id::not_sent, rule::none);
    }
    void operator()(conflict&& x) const {
        o.what = x.other_parameters ? seen::key_reused : seen::existed;
    }
    void operator()(in_progress&& x) const {
        o.what = seen::busy;
        o.retry_after = x.retry_after;
    }
};

/// A reply to an attempt of an earlier generation: all of those surely were not applied.
inline void weigh_former(observation& o) {
    bool const accepted = o.what == seen::accepted || o.what == seen::proof;
    o.what = accepted ? seen::former_key : seen::no_news;
    o.outcome = attempt_outcome_id::open;
    o.why = rule::none;
    o.remarks.clear();
    if (accepted) add_name(o.remarks, "ours: ", o.receipt);
}

template <class T> inline constexpr bool is_reply = false;
template <class R> inline constexpr bool is_reply<reply<R>> = true;
template <class R> inline constexpr bool is_reply<keyed_reply<R>> = true;
template <class T> struct receipt_of;
template <class R> struct receipt_of<reply<R>> {
    using type = R;
};
template <class R> struct receipt_of<keyed_reply<R>> {
    using type = R;
};

} // namespace detail

/// What a reply to attempt number `attempt` (0: the last one) proves under this contract: nothing,
/// if no such attempt is on record.
template <class Contract, state S, class Reply>
    requires(detail::is_reply<std::remove_cvref_t<Reply>>)
observation weigh(Contract const& contract, operation<S> const& op, Reply&& reply,
                  std::uint32_t attempt = 0) {
    using reply_type = std::remove_cvref_t<Reply>;
    if constexpr (!std::same_as<Reply, reply_type>) {
        return weigh(contract, op, reply_type(reply), attempt);
    } else {
        record const& r = op.stored();
        observation o{.of = op.stamp()};
        o.attempt = attempt != 0 ? attempt : static_cast<std::uint32_t>(r.attempts.size());
        if (o.attempt == 0 || o.attempt > r.attempts.size()) {
            o.what = seen::no_news;
            return o;
        }
        auto const t = detail::terms_of(contract);
        detail::reply_weigher<typename detail::receipt_of<reply_type>::type> const weigher{o, r, t};
        std::move(reply).visit([&](auto&& x) -> void { weigher(std::move(x)); });
        if (r.attempts[o.attempt - 1].generation != r.generation) detail::weigh_former(o);
        return o;
    }
}

/// What a look-up shows. equal(record const&, Request const&) says whether a found request has the
/// content that was asked for; by default its encoding must be the stored bytes. It may have
/// differing_members(record const&, Request const&), which names them for people.
template <class Contract, state S, class Request, class Receipt, class Equal = detail::equal_bytes>
observation weigh(Contract const& contract, operation<S> const& op,
                  answer<Request, Receipt> const& found, Equal const& equal = {}) {
    return detail::weigh_answer(detail::terms_of(contract), op.stored(), found, equal);
}

/// What an effect shows that another channel told of: a webhook, a stream, a file. It is compared
/// like one that was looked up. It is never an absence, and says nothing of other effects, so one
/// with another receipt than the recorded one counts as a second.
template <class Contract, state S, class Request, class Receipt, class Equal = detail::equal_bytes>
observation weigh(Contract const& contract, operation<S> const& op,
                  effect<Request, Receipt> const& told, Equal const& equal = {}) {
    return detail::weigh_told(detail::terms_of(contract), op.stored(), told, equal);
}

} // namespace indoubt

#endif
