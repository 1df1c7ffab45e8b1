// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef INDOUBT_POLICY_PROVIDER_HPP
#define INDOUBT_POLICY_PROVIDER_HPP

#include <indoubt/core/attempt.hpp>
#include <indoubt/core/contract.hpp>
#include <indoubt/core/one_of.hpp>
#include <indoubt/policy/codec.hpp>

#include <concepts>
#include <cstdint>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

// The service that is written to. A provider says in one contract what its service documents, and
// answers two questions as plain data: what came back from a send, and what a look-up showed.
// What an answer proves is decided elsewhere: a provider cannot make evidence.

namespace indoubt {

// ---- replies to submit --------------------------------------------------------------------------

/// Whatever the contract does not give a meaning to: a timeout, a cut reply, an unlisted code.
struct unknown {
    std::string hints{}; ///< may help to find the effect; stored with the record, never logged
};

/// The provider says it did it.
template <class Receipt> struct accepted {
    Receipt receipt;
};

/// The provider says it did it, and returned the key it did it under.
template <class Receipt> struct accepted_with_key {
    Receipt receipt;
    std::string echoed_key;
};

/// The provider dropped this call as a repeat of one it had taken.
template <class Receipt> struct duplicate {
    std::optional<Receipt> receipt{};
    std::string echoed_key{};
};

/// What kind of refusal, so that the caller can tell them apart.
enum class refusal_class : std::uint8_t {
    invalid_input, ///< the request must change
    permission,    ///< the credentials or the account must change
    busy,          ///< nothing must change: ask again later
    other,
};

/// Documented: this call was not applied. for_good: and no repeat of it ever will be.
struct refused {
    refusal_class because = refusal_class::other;
    bool for_good = true;
    milliseconds retry_after{};
};

/// No byte of the request left this machine.
struct not_sent {};

/// The provider refuses because something is there already.
struct conflict {
    bool other_parameters = false; ///< it knows our key, with another request
};

/// The provider is still at work on a call with this key.
struct in_progress {
    milliseconds retry_after{};
};

template <class Receipt>
using reply = one_of<unknown, accepted<Receipt>, duplicate<Receipt>, refused, not_sent, conflict,
                     in_progress>;

/// The reply of a provider whose acceptance can be proof: it comes with the key it was made under.
template <class Receipt>
using keyed_reply = one_of<unknown, accepted_with_key<Receipt>, duplicate<Receipt>, refused,
                           not_sent, conflict, in_progress>;

// ---- answers to lookup --------------------------------------------------------------------------

enum class effect_status : std::uint8_t {
    applied,
    under_way,       ///< accepted, not done yet
    failed,          ///< not done; may still be retried by the provider
    failed_for_good, ///< documented as final
};

/// One thing the look-up showed.
template <class Request, class Receipt> struct effect {
    Receipt receipt;
    std::string key{}; ///< the provider key it carries; empty if it shows none
    /// Its content, as far as the provider can tell; nothing if that is no request of this kind.
    std::optional<Request> request{};
    bool ours = true; ///< false: it belongs to another owner or account
    effect_status status = effect_status::applied;
};

/// Every effect there is, over all pages and parts. Only this can be an absence.
template <class Request, class Receipt> struct complete {
    std::vector<effect<Request, Receipt>> effects{};
    /// Of what the write acts on, such as the thing to delete: kept with the first attempt and from
    /// then on given back as query::target_id. A name may stand for another thing by then.
    std::string target_id{};
};

/// A page, a part or a life stage is missing.
struct incomplete {};

/// Nobody answered.
struct unavailable {
    std::string why{}; ///< for people; no credentials
};

/// The credentials do not allow looking.
struct denied {};

/// Documented: there is nothing to act on, and a call would be refused for good. Not for what an
/// earlier attempt may have removed: that is its effect.
struct no_target {};

template <class Request, class Receipt>
using answer = one_of<unavailable, complete<Request, Receipt>, incomplete, denied, no_target>;

/// What lookup receives.
template <class Request> struct query {
    indoubt::identity const& identity;
    std::string_view key; ///< the provider key of the present generation
    Request const& request;
    std::string_view receipt; ///< encoded; empty if none is known
    milliseconds time_left;
    std::stop_token stop;
    std::string_view target_id{}; ///< as an earlier look-up captured it; empty before that
    std::span<std::string const> former_keys{}; ///< of earlier generations: look for these, too
};

// ---- the policy ---------------------------------------------------------------------------------

/// A base that holds nothing but names, so that a provider can write `reply submit(attempt
/// const&)`.
template <class Request, class Receipt = std::string> struct provider_of {
    using request = Request;
    using receipt = Receipt;
    using attempt = indoubt::attempt<Request>;
    using query = indoubt::query<Request>;
    using reply = indoubt::reply<Receipt>;
    using keyed_reply = indoubt::keyed_reply<Receipt>;
    using answer = indoubt::answer<Request, Receipt>;
    using effect = indoubt::effect<Request, Receipt>;
    using complete = indoubt::complete<Request, Receipt>;
    using accepted = indoubt::accepted<Receipt>;
    using accepted_with_key = indoubt::accepted_with_key<Receipt>;
    using duplicate = indoubt::duplicate<Receipt>;
    using unknown = indoubt::unknown;
    using refused = indoubt::refused;
    using not_sent = indoubt::not_sent;
    using conflict = indoubt::conflict;
    using in_progress = indoubt::in_progress;
    using incomplete = indoubt::incomplete;
    using unavailable = indoubt::unavailable;
    using denied = indoubt::denied;
    using no_target = indoubt::no_target;
};

namespace detail {

/// The key that stands for an identity at this provider.
template <class P>
std::string provider_key(P const& provider, identity const& id, std::uint32_t generation) {
    if constexpr (requires { provider.key_for(id, generation); }) {
        return provider.key_for(id, generation);
    } else {
        return generation == 1 ? id.key : id.key + '-' + std::to_string(generation);
    }
}

/// What the record knows that helps to find the effect.
template <class Request>
query<Request> query_for(record const& r, Request const& request, call_limits const& limits) {
    case_notes const& notes = r.notes_or_none();
    return {r.identity(),     r.key(),     request,         r.receipt,
            limits.time_left, limits.stop, notes.target_id, notes.former_keys};
}

template <class P>
concept names_its_types = requires {
    typename P::request;
    typename P::receipt;
};

template <class P>
concept states_its_target = requires(P const& p) {
    { p.target } -> std::convertible_to<std::string_view>;
};

template <class C> inline constexpr bool is_contract = false;
template <class R, class L, class Y> inline constexpr bool is_contract<contract<R, L, Y>> = true;

template <class P>
concept has_a_contract =
    requires(P const& p) { p.contract; } && is_contract<std::remove_cvref_t<decltype(P::contract)>>;

template <class P>
concept submits_plainly = requires(P& p, attempt<typename P::request> const& a) {
    { p.submit(a) } -> std::same_as<reply<typename P::receipt>>;
};

template <class P>
concept submits_with_key = requires(P& p, attempt<typename P::request> const& a) {
    { p.submit(a) } -> std::same_as<keyed_reply<typename P::receipt>>;
};

template <class P>
concept submits_many_plainly = requires(P& p, std::span<attempt<typename P::request> const> all) {
    { p.submit(all) } -> std::same_as<std::vector<reply<typename P::receipt>>>;
};
template <class P>
concept submits_many_with_key = requires(P& p, std::span<attempt<typename P::request> const> all) {
    { p.submit(all) } -> std::same_as<std::vector<keyed_reply<typename P::receipt>>>;
};

template <class P>
concept looks_up = requires(P& p, query<typename P::request> const& q) {
    { p.lookup(q) } -> std::same_as<answer<typename P::request, typename P::receipt>>;
};

template <class P>
concept normalises = requires(P const& p, typename P::request r) {
    { p.normalise(std::move(r)) } -> std::same_as<typename P::request>;
};

/// The provider says which key stands for an identity.
template <class P>
concept maps_keys = requires(P const& p, identity const& id, unsigned generation) {
    { p.key_for(id, generation) } -> std::same_as<std::string>;
};

// A member of this name that does not fit would be ignored in silence. The name is ambiguous in a
// class that has it twice, also where it is private or overloaded.
struct has_the_names {
    void normalise();
    void key_for();
};
template <class P> struct names_twice : P, has_the_names {};
template <class P>
concept names_normalise = (std::is_final_v<P> && requires { &P::normalise; }) ||
                          (!std::is_final_v<P> && !requires { &names_twice<P>::normalise; });
template <class P>
concept names_key_for = (std::is_final_v<P> && requires { &P::key_for; }) ||
                        (!std::is_final_v<P> && !requires { &names_twice<P>::key_for; });

template <class P> using contract_of = std::remove_cvref_t<decltype(P::contract)>;

/// Sends several attempts with one remote call.
template <class P>
concept submits_many = submits_many_with_key<P> ||
                       (submits_many_plainly<P> && !documents_reply_as_proof<contract_of<P>>);

/// A submit beside the one that every provider has takes several attempts, in some way or other.
template <class P>
concept names_submit_of_many =
    !requires { &P::submit; } &&
    (requires(P& p, std::span<attempt<typename P::request> const> all) { p.submit(all); } ||
     requires(P& p, std::span<attempt<typename P::request>> all) { p.submit(all); } ||
     requires(P& p, std::vector<attempt<typename P::request>>& all) { p.submit(all); });

} // namespace detail

/// | member                           | required                  | what must hold              |
/// |----------------------------------|---------------------------|-----------------------------|
/// | request, receipt                 | always; from provider_of  | both encodable              |
/// | target                           | always                    | names what is written to;   |
/// |                                  |                           | part of every intent        |
/// | contract                         | always                    | an indoubt::contract; true  |
/// | reply submit(attempt const&)     | always; keyed_reply if    | sends at most               |
/// |                                  | the reply is proof        | inner_attempts times, within|
/// |                                  |                           | time_left                   |
/// | std::vector<reply> submit(       | optional; one remote call | a reply for each, in order; |
/// |   std::span<attempt const>)      | for a batch; keyed_reply  | each is of that attempt; a  |
/// |                                  | as above                  | missing one is unknown      |
/// | answer lookup(query const&)      | if a look-up is documented| complete only if every page |
/// |                                  |                           | and part was read           |
/// | request normalise(request) const | optional                  | what the provider does to a |
/// |                                  |                           | request (rounding, case)    |
/// | std::string key_for(identity     | optional; by default the  | the provider key: pure, one |
/// |   const&, unsigned) const        | identity's key, and from  | for each identity and       |
/// |                                  | generation 2 on           | generation (from 1), within |
/// |                                  | key-<generation>          | contract.keys. Asked once   |
/// |                                  |                           | each, then stored           |
///
/// All of them answer data. submit may throw: the operation then stays uncertain and the
/// exception reaches the caller; a look-up that throws proves nothing. Thread safety: calls for
/// different operations may be concurrent.
template <class P>
concept provider_policy =
    detail::names_its_types<P> && detail::states_its_target<P> && detail::has_a_contract<P> &&
    encodable<typename P::request> && encodable<typename P::receipt> &&
    (documents_reply_as_proof<detail::contract_of<P>>
         ? detail::submits_with_key<P>
         : detail::submits_plainly<P> || detail::submits_with_key<P>) &&
    (detail::submits_many<P> || !detail::names_submit_of_many<P>) &&
    (!documents_a_lookup<detail::contract_of<P>> || detail::looks_up<P>) &&
    (detail::normalises<P> || !detail::names_normalise<P>) &&
    (detail::maps_keys<P> || !detail::names_key_for<P>);

/// Says in words what a provider lacks.
template <class P> constexpr bool explain_provider() {
    constexpr bool names = detail::names_its_types<P>;
    static_assert(names, "provider: derive it from  indoubt::provider_of<Request, Receipt>");
    constexpr bool target = detail::states_its_target<P>;
    static_assert(target, "provider: add  static constexpr auto target = \"...\"");
    constexpr bool contract = detail::has_a_contract<P>;
    static_assert(contract, "provider: add  static constexpr indoubt::contract contract{...}");
    if constexpr (names && contract) {
        constexpr bool coded =
            explain_codec<typename P::request>() && explain_codec<typename P::receipt>();
        constexpr bool proof = documents_reply_as_proof<detail::contract_of<P>>;
        constexpr bool plain = detail::submits_plainly<P>;
        constexpr bool keyed = detail::submits_with_key<P>;
        constexpr bool echoes = keyed || !proof;
        constexpr bool submits = plain || keyed || !echoes;
        static_assert(echoes, "provider: a reply is proof only if it echoes our key; submit must "
                              "return keyed_reply");
        static_assert(submits, "provider: add  reply submit(attempt const&)");
        constexpr bool many = detail::submits_many<P> || !detail::names_submit_of_many<P>;
        static_assert(many, "provider: write it  std::vector<reply> submit(std::span<attempt "
                            "const>), with keyed_reply if a reply is proof");
        constexpr bool looks = !documents_a_lookup<detail::contract_of<P>> || detail::looks_up<P>;
        static_assert(looks, "provider: the contract documents a look-up; add  answer "
                             "lookup(query const&)");
        constexpr bool normalises = detail::normalises<P> || !detail::names_normalise<P>;
        static_assert(normalises, "provider: write it  request normalise(request) const");
        constexpr bool maps = detail::maps_keys<P> || !detail::names_key_for<P>;
        static_assert(maps, "provider: write it  std::string key_for(identity const&, unsigned "
                            "generation) const");
        return target && coded && echoes && submits && many && looks && normalises && maps;
    } else {
        return false;
    }
}

} // namespace indoubt

#endif
