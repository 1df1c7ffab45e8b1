// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef INDOUBT_RECOVERY_OBSERVATION_HPP
#define INDOUBT_RECOVERY_OBSERVATION_HPP

#include <indoubt/core/operation.hpp>
#include <indoubt/policy/provider.hpp>

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

// What a reply or an answer shows of one operation. weigh turns the provider's plain data into an
// observation, exactly as the reply table says (docs/states_and_evidence.md); it is pure.

namespace indoubt {

/// What was seen. One sentence each.
enum class seen : std::uint8_t {
    not_asked, ///< nobody has asked yet, or what was learned is already recorded

    // a look-up
    match,           ///< complete: exactly one effect of ours, with the content asked for
    several,         ///< complete: more than one effect of ours
    contents_differ, ///< complete: our key with another content
    only_candidates, ///< complete: records at the place or name, none provably ours
    nothing,         ///< complete: nothing at all
    under_way,       ///< complete: an effect of ours that is not done yet
    failed,          ///< complete: an effect of ours that failed, not documented as final
    failed_for_good, ///< complete: every open attempt is documented as failed for good
    incomplete,      ///< a page or part is missing, or an answer makes no sense
    unavailable,     ///< nobody answered
    denied,          ///< the credentials do not allow looking
    unsupported,     ///< the contract documents no look-up
    no_target,       ///< documented: there is nothing to act on
    former_key,      ///< complete: an effect under the key of an earlier generation

    // a reply
    proof,          ///< accepted, and documented as proof: our key came back
    accepted,       ///< accepted, with a receipt to look for
    attempt_closed, ///< this attempt surely was not applied
    existed,        ///< refused because something is there already
    key_reused,     ///< refused because our key is known with other parameters
    busy,           ///< a call with our key is still at work
    no_news,        ///< the reply proves nothing

    // either
    receipt_taken, ///< its receipt is already bound to another operation
};
inline constexpr unsigned kinds_seen = static_cast<unsigned>(seen::receipt_taken) + 1;

constexpr std::string_view to_string(seen s) {
    constexpr std::string_view names[kinds_seen] = {"not asked",       "one equal and ours",
                                                    "several of ours", "our key, other content",
                                                    "only candidates", "none",
                                                    "under way",       "failed",
                                                    "failed for good", "incomplete",
                                                    "unavailable",     "denied",
                                                    "unsupported",     "nothing to act on",
                                                    "a former key",    "reply: proof",
                                                    "reply: accepted", "reply: surely not applied",
                                                    "reply: existed",  "reply: key reused",
                                                    "reply: busy",     "reply: no news",
                                                    "receipt taken"};
    return names[static_cast<unsigned>(s)];
}

/// Belongs to one operation as of one version of its record, like evidence.
struct observation {
    stamp of{};
    seen what = seen::not_asked;
    std::string receipt{}; ///< encoded; of the match, or named by the reply
    std::string remarks{}; ///< hints of a reply; of a look-up, for people, what was found instead
    std::uint32_t attempt = 0; ///< the attempt a reply is about, counting from 1
    attempt_outcome_id outcome = attempt_outcome_id::open; ///< with attempt_closed
    rule why = rule::none;                                 ///< with attempt_closed
    milliseconds retry_after{};                            ///< with attempt_closed and busy
    std::string target_id{};                               ///< of a look-up: of what is acted on
    bool from_outside = false; ///< told by another channel: about one effect, never an absence
};

namespace detail {

/// codec::encode, whether it can fail or not.
template <class T> result<std::string> encoded(T const& value) {
    return codec<T>::encode(value);
}

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

    bool echoes(std::string_view key) const { return key == r.key(); }

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

/// Sorts the effects of a complete look-up into ours and candidates.
struct sorting {
    unsigned applied = 0, differing = 0, former = 0, under_way = 0, failed = 0, failed_for_good = 0;
    bool malformed = false;
    std::string receipt{};    // of the last equal effect of ours
    std::string candidates{}; // receipts, for people
    std::string members{};    // in which the content differs, for people
};

/// Lists receipts for people.
inline void add_name(std::string& list, std::string_view what, std::string_view receipt) {
    if (list.size() < 1000) list.append(list.empty() ? what : ", ").append(printable(receipt));
}

inline bool contains(std::vector<std::string> const& all, std::string_view one) {
    return std::ranges::find(all, one) != all.end();
}

/// Ours: it carries our provider key, or the receipt our record holds; at a unique name also
/// without a key, while an attempt may have made it and did not find it there. Never if it belongs
/// to another owner.
inline bool is_ours(record const& r, terms const& t, std::string_view key, std::string_view receipt,
                    bool owner_fits) {
    if (!owner_fits) return false;
    if (!key.empty()) return key == r.key();
    if (!r.receipt.empty() && receipt == r.receipt) return true;
    bool const may_be = r.open_attempts() != 0 || r.ever_confirmed;
    return t.identifies == identified::by_name && may_be && !r.existed_before_us();
}

template <class Request, class Receipt, class Equal>
void sort(sorting& s, effect<Request, Receipt> const& e, record const& r, terms const& t,
          Equal const& equal) {
    auto receipt = encoded(e.receipt);
    if (!receipt || receipt.value().size() > longest_receipt) {
        s.malformed = true;
        return;
    }
    case_notes const& notes = r.notes_or_none();
    if (contains(notes.set_aside, receipt.value())) return;
    if (e.ours && contains(notes.former_keys, e.key)) {
        // One that failed is no effect. Any other was made by an attempt that surely was not
        // applied.
        if (e.status == effect_status::applied || e.status == effect_status::under_way) ++s.former;
        return;
    }
    if (!is_ours(r, t, e.key, receipt.value(), e.ours)) {
        return add_name(s.candidates, "candidates: ", receipt.value());
    }
    switch (e.status) {
    case effect_status::under_way: ++s.under_way; return;
    case effect_status::failed: ++s.failed; return;
    case effect_status::failed_for_good: ++s.failed_for_good; return;
    case effect_status::applied: break;
    }
    if (receipt.value().empty()) {
        s.malformed = true; // an effect without an id cannot be told from another
    } else if (!e.request || !equal(r, *e.request)) {
        ++s.differing;
        if constexpr (requires { equal.differing_members(r, *e.request); }) {
            if (e.request) s.members = equal.differing_members(r, *e.request);
        }
    } else {
        // The effect that was confirmed counts even when another one stands in its place.
        bool const another = r.ever_confirmed && receipt.value() != r.receipt;
        s.applied += another ? 2 : 1;
        s.receipt = std::move(receipt).value();
    }
}

/// How often the provider may have been asked, retries below submit included.
inline std::uint64_t tries_of(record const& r, terms const& t) {
    return std::uint64_t{r.sent_attempts()} * std::max(t.inner_attempts, 1U);
}

inline void conclude(observation& o, sorting&& s, record const& r, terms const& t) {
    o.remarks = std::move(s.candidates);
    if (s.former != 0) {
        o.what = seen::former_key;
    } else if (s.applied > 1 || (s.applied == 1 && s.differing != 0)) {
        o.what = seen::several;
    } else if (s.differing != 0) {
        o.what = seen::contents_differ;
    } else if (s.malformed) {
        o.what = seen::incomplete;
    } else if (s.under_way != 0) {
        o.what = seen::under_way; // also beside one that is applied: that would make two
    } else if (s.applied == 1) {
        o.what = seen::match;
        o.receipt = std::move(s.receipt);
    } else if (s.failed + s.failed_for_good != 0) {
        // Final only if each attempt is accounted for: one that failed may be an earlier one.
        bool const all = s.failed == 0 && s.failed_for_good >= tries_of(r, t);
        o.what = all && r.open_attempts() != 0 ? seen::failed_for_good : seen::failed;
    } else {
        o.what = o.remarks.empty() ? seen::nothing : seen::only_candidates;
    }
}

/// The person who is asked to sort them out must know which they are, and how they differ.
template <class Request, class Receipt>
void name_ours(observation& o, std::span<effect<Request, Receipt> const> effects, record const& r,
               terms const& t, std::string const& members) {
    case_notes const& notes = r.notes_or_none();
    std::string ours;
    for (auto const& e : effects) {
        auto const receipt = encoded(e.receipt);
        if (!receipt || contains(notes.set_aside, receipt.value())) continue;
        bool const former = e.ours && contains(notes.former_keys, e.key);
        if (former || is_ours(r, t, e.key, receipt.value(), e.ours)) {
            add_name(ours, "ours: ", receipt.value());
        }
    }
    if (!members.empty()) ours.append("; differs: ").append(members);
    o.remarks = o.remarks.empty() ? ours : ours + "; " + o.remarks;
}

/// Same content: the codec's bytes are the stored ones.
struct equal_bytes {
    template <class Request> bool operator()(record const& r, Request const& found) const {
        auto bytes = encoded(found);
        return bytes && bytes.value() == r.intent->request;
    }
};

template <class Request, class Receipt, class Equal>
void weigh_effects(observation& o, terms const& t, record const& r,
                   std::span<effect<Request, Receipt> const> effects, Equal const& equal) {
    sorting s;
    for (auto const& e : effects)
        sort(s, e, r, t, equal);
    std::string const members = std::move(s.members);
    conclude(o, std::move(s), r, t);
    if (o.what == seen::several || o.what == seen::contents_differ || o.what == seen::former_key) {
        name_ours(o, effects, r, t, members);
    }
}

template <class Request, class Receipt, class Equal>
observation weigh_answer(terms const& t, record const& r, answer<Request, Receipt> const& found,
                         Equal const& equal) {
    observation o{.of = r.stamp()};
    if (auto const* all = found.template get_if<complete<Request, Receipt>>()) {
        weigh_effects(o, t, r, std::span(all->effects), equal);
        o.target_id = all->target_id;
        if (o.target_id.size() > longest_receipt) o.what = seen::incomplete;
    } else if (auto const* nobody = found.template get_if<unavailable>()) {
        o.what = seen::unavailable;
        o.remarks = nobody->why.substr(0, longest_hint);
    } else if (found.template holds<no_target>()) {
        o.what = seen::no_target;
    } else {
        o.what = found.template holds<denied>() ? seen::denied : seen::incomplete;
    }
    return o;
}

/// One effect says what it is, and nothing about the others there may be.
template <class Request, class Receipt, class Equal>
observation weigh_told(terms const& t, record const& r, effect<Request, Receipt> const& told,
                       Equal const& equal) {
    observation o{.of = r.stamp()};
    o.from_outside = true;
    weigh_effects(o, t, r, std::span(&told, 1), equal);
    bool const second = o.what == seen::match && !r.receipt.empty() && o.receipt != r.receipt;
    if (second) o.what = seen::several;
    switch (o.what) {
    case seen::match:
    case seen::several:
    case seen::contents_differ:
    case seen::former_key:
    case seen::failed_for_good: break;
    default: o.what = seen::no_news; o.remarks.clear();
    }
    return o;
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

/// What a reply to attempt number `attempt` (0: the last one) proves under this contract.
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
        auto const t = detail::terms_of(contract);
        detail::reply_weigher<typename detail::receipt_of<reply_type>::type> const weigher{o, r, t};
        std::move(reply).visit([&](auto&& x) -> void { weigher(std::move(x)); });
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
