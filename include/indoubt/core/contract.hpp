// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef INDOUBT_CORE_CONTRACT_HPP
#define INDOUBT_CORE_CONTRACT_HPP

#include <indoubt/core/error.hpp>

#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string_view>

// What a service documents about one kind of write, as data. A contract is checked when it is
// evaluated: at compile time for a constexpr contract, which is how contracts are meant to be
// written. A contract that breaks a rule names the rule in the compiler's error.

namespace indoubt {

struct citation;
struct window;
struct undisturbed;

namespace detail {

// Each of these functions is a rule. None is constexpr, so that breaking the rule in a constant
// expression is an error that names it.

// These three stand where a field was left out. They exist nowhere: a contract that is built at
// run time without the field does not compile either.
[[gnu::error("a guarantee must cite where it is documented")]]
citation a_guarantee_must_cite_where_it_is_documented();
[[gnu::error("a guarantee by key must state its window")]]
window a_guarantee_by_key_must_state_its_window();
[[gnu::error("say how long nobody removes or rewrites the target")]]
undisturbed a_guarantee_by_name_or_state_must_say_how_long_nobody_disturbs_it();

// The others a contract that is built at run time says, and aborts.
[[noreturn]] inline void a_rule_of_the_contract_is_broken(char const* in_words) {
    std::fprintf(stderr, "indoubt: contract: %s\n", in_words);
    std::abort();
}
[[noreturn]] inline void a_finite_window_needs_arrives_within() {
    a_rule_of_the_contract_is_broken("a finite window needs arrives_within");
}
[[noreturn]] inline void arrives_within_must_be_shorter_than_the_window() {
    a_rule_of_the_contract_is_broken("arrives_within and margin must be shorter than the window");
}
[[noreturn]] inline void arrives_within_must_not_be_shorter_than_call_timeout() {
    a_rule_of_the_contract_is_broken("arrives_within must not be shorter than call_timeout");
}
[[noreturn]] inline void call_timeout_must_be_positive() {
    a_rule_of_the_contract_is_broken("call_timeout must be positive");
}
[[noreturn]] inline void inner_attempts_must_be_positive() {
    a_rule_of_the_contract_is_broken("inner_attempts must be positive");
}
[[noreturn]] inline void without_a_guarantee_inner_attempts_must_be_one() {
    a_rule_of_the_contract_is_broken("without a guarantee inner_attempts must be 1");
}
[[noreturn]] inline void nothing_could_ever_confirm_add_a_lookup_a_proof_or_from_outside() {
    a_rule_of_the_contract_is_broken("nothing could ever confirm: add a look-up, a proof or "
                                     "from_outside");
}

} // namespace detail

/// Where a guarantee is documented: the address of the service's own page. Leaving it out does
/// not compile.
struct citation {
    consteval citation(char const* where) : address(where) {
        if (where == nullptr || *where == '\0') {
            detail::a_guarantee_must_cite_where_it_is_documented();
        }
    }
    char const* address;
};

struct unlimited_t {};
inline constexpr unlimited_t unlimited{};

/// How long a provider drops repeats of one key, from its first acceptance. No default.
struct window {
    template <class Rep, class Period>
    consteval window(std::chrono::duration<Rep, Period> stated) : length(stated) {
        if (stated <= stated.zero()) detail::a_guarantee_by_key_must_state_its_window();
    }
    consteval window(unlimited_t) : length(milliseconds::max()) {}
    milliseconds length;
};

/// How long nobody else removes or rewrites the target, from the first send. No default.
struct undisturbed {
    template <class Rep, class Period>
    consteval undisturbed(std::chrono::duration<Rep, Period> stated) : length(stated) {
        if (stated <= stated.zero()) {
            detail::a_guarantee_by_name_or_state_must_say_how_long_nobody_disturbs_it();
        }
    }
    consteval undisturbed(unlimited_t) : length(milliseconds::max()) {}
    milliseconds length;
};

/// What the provider answers to a known key.
enum class reuse : std::uint8_t {
    returns_original, ///< the first result again, or its current state
    rejects,          ///< an error that names the key as used
};

// ---- what makes a second send safe --------------------------------------------------------------

/// Nothing documented: an uncertain write is never sent again.
struct never {};

/// The provider drops repeats that carry our key.
struct deduplicated_by_key {
    indoubt::window window = detail::a_guarantee_by_key_must_state_its_window();
    reuse on_reuse = reuse::returns_original;
    /// A repeat with other parameters is refused, so that a replay is of our own request.
    bool compares_parameters = false;
    /// Endpoints, regions or accounts that share the keys; a resend to another one is refused.
    char const* scope = "";
    citation documented_at = detail::a_guarantee_must_cite_where_it_is_documented();
};

/// The provider refuses a second target of the same name, and nobody removes the first one in
/// the stated time. "Unique while it is open" is `never`.
struct unique_target {
    undisturbed undisturbed_for =
        detail::a_guarantee_by_name_or_state_must_say_how_long_nobody_disturbs_it();
    citation documented_at = detail::a_guarantee_must_cite_where_it_is_documented();
};

/// Repeating the write changes nothing, and nobody else rewrites the target in the stated time.
struct naturally_idempotent {
    undisturbed undisturbed_for =
        detail::a_guarantee_by_name_or_state_must_say_how_long_nobody_disturbs_it();
    citation documented_at = detail::a_guarantee_must_cite_where_it_is_documented();
};

// ---- what can show the effect -------------------------------------------------------------------

/// Nobody can be asked.
struct no_lookup {};

/// Effects can be listed completely.
struct complete_lookup {
    /// How long after it was applied an effect may still be hidden. Unknown by default: then one
    /// empty look-up is never enough.
    std::optional<milliseconds> visible_after{};
    /// For people: which parts and life stages the look-up covers.
    char const* covers = "";
};

/// Only webhooks, streams or people can confirm.
struct from_outside {};

// ---- what a reply is worth ----------------------------------------------------------------------

/// An accepted reply says where to look; it confirms nothing.
struct hint {};

/// An accepted reply that echoes our key proves the effect.
struct proof {
    citation documented_at = detail::a_guarantee_must_cite_where_it_is_documented();
};

// ---- the guarantee as it is stored with every attempt -------------------------------------------

/// The numbers are stored in journals: never renumber them.
enum class guarantee_kind : std::uint8_t {
    none = 0,    ///< never
    by_key = 1,  ///< deduplicated_by_key
    by_name = 2, ///< unique_target
    by_state = 3 ///< naturally_idempotent
};

/// Under what an attempt was sent. A resend needs the guarantee of every open attempt.
struct guarantee {
    guarantee_kind kind = guarantee_kind::none;
    milliseconds lasts{};          ///< from the first send; max() if unlimited
    milliseconds arrives_within{}; ///< the longest time the call can be under way
    std::uint64_t domain = 0;      ///< digest of the scope text; equal domains share keys

    friend bool operator==(guarantee const&, guarantee const&) = default;
};

/// The moment from which a resend is no longer covered: a send must start before it. The one
/// formula for every guarantee: now + arrives_within + margin < first_sent + lasts.
constexpr time_point closes_at(guarantee const& g, time_point first_sent, milliseconds margin) {
    if (g.kind == guarantee_kind::none) return time_point::min();
    if (g.lasts == milliseconds::max()) return time_point::max();
    return later(first_sent, g.lasts - g.arrives_within - margin);
}

// ---- the contract -------------------------------------------------------------------------------

template <class R>
concept resend_guarantee = std::same_as<R, deduplicated_by_key> || std::same_as<R, unique_target> ||
                           std::same_as<R, naturally_idempotent>;

/// Which keys the provider takes. By default the identity's key is sent unchanged, where it fits.
struct key_rules {
    std::size_t longest = 255;
    std::string_view alphabet{}; ///< the characters allowed; empty: all that an identity allows
};

/// How an effect is known to be ours.
enum class identified : std::uint8_t {
    by_key,  ///< it carries our provider key, or a receipt that our record holds
    by_name, ///< also by standing at the target's unique name, once an attempt was made
};

template <class Resend, class Lookup, class Reply> struct contract;

namespace detail {

/// Ties the fields of a contract together. Its place at the end of the contract makes the check
/// part of every contract's initialisation.
struct contract_check {
    template <class Resend, class Lookup, class Reply>
    constexpr explicit contract_check(contract<Resend, Lookup, Reply> const& c) {
        if (c.call_timeout <= milliseconds::zero()) call_timeout_must_be_positive();
        if (c.inner_attempts == 0) inner_attempts_must_be_positive();
        if (c.arrives_within != milliseconds::zero() && c.arrives_within < c.call_timeout) {
            arrives_within_must_not_be_shorter_than_call_timeout();
        }
        if constexpr (resend_guarantee<Resend>) {
            milliseconds const lasts = duration_of(c.resend);
            if (lasts != milliseconds::max()) {
                if (c.arrives_within == milliseconds::zero()) {
                    a_finite_window_needs_arrives_within();
                }
                if (c.arrives_within >= lasts || c.margin >= lasts - c.arrives_within) {
                    arrives_within_must_be_shorter_than_the_window();
                }
            }
        } else if (c.inner_attempts != 1) {
            without_a_guarantee_inner_attempts_must_be_one();
        }
        // Asked of a value, not of the types alone: GCC 12 names the rule only then.
        if (std::same_as<Lookup, no_lookup> && std::same_as<Reply, hint> && c.inner_attempts != 0) {
            nothing_could_ever_confirm_add_a_lookup_a_proof_or_from_outside();
        }
    }
    static constexpr milliseconds duration_of(deduplicated_by_key const& g) {
        return g.window.length;
    }
    template <class G> static constexpr milliseconds duration_of(G const& g) {
        return g.undisturbed_for.length;
    }
};

/// FNV-1a; only ever compared with itself.
constexpr std::uint64_t digest_of(std::string_view text) {
    std::uint64_t digest = 0xcbf29ce484222325U;
    for (char c : text)
        digest = (digest ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
    return digest;
}

} // namespace detail

/// What the service documents. Every field has a conservative default: never resend, nothing can
/// be looked up, replies prove nothing; so a contract must at least say what could confirm.
template <class Resend = never, class Lookup = no_lookup, class Reply = hint> struct contract {
    Resend resend{};
    Lookup lookup{};
    Reply reply{};
    /// One call takes at most this long on our side.
    milliseconds call_timeout{10'000};
    /// The longest time a call can be under way, queues and proxies included. 0: not documented,
    /// taken as call_timeout; must be stated where a window is finite.
    milliseconds arrives_within{};
    /// How often the SDK below submit() sends by itself; 1 unless it retries.
    unsigned inner_attempts = 1;
    /// Safety margin of every window: pauses of this process and clock error.
    milliseconds margin{1'000};
    key_rules keys{};
    identified identifies = identified::by_key;
    detail::contract_check checked{*this};
};

template <class C>
concept documents_a_resend_guarantee = resend_guarantee<decltype(C::resend)>;

template <class C>
concept documents_a_lookup = std::same_as<decltype(C::lookup), complete_lookup>;

template <class C>
concept documents_reply_as_proof = std::same_as<decltype(C::reply), proof>;

namespace detail {

/// A contract without its types: what the tables of the machine need to know of it.
struct terms {
    guarantee resend;
    bool has_lookup = false;
    bool reply_is_proof = false;
    bool duplicate_is_proof = false; ///< a replay is documented as compared with our request
    std::optional<milliseconds> visible_after;
    milliseconds call_timeout{};
    milliseconds arrives_within{}; ///< never shorter than call_timeout
    milliseconds margin{};
    unsigned inner_attempts = 1;
    identified identifies = identified::by_key;
};

template <class Resend, class Lookup, class Reply>
constexpr terms terms_of(contract<Resend, Lookup, Reply> const& c) {
    terms t;
    t.has_lookup = std::same_as<Lookup, complete_lookup>;
    t.reply_is_proof = std::same_as<Reply, proof>;
    if constexpr (std::same_as<Lookup, complete_lookup>) t.visible_after = c.lookup.visible_after;
    t.call_timeout = c.call_timeout;
    t.arrives_within = c.arrives_within < c.call_timeout ? c.call_timeout : c.arrives_within;
    t.margin = c.margin;
    t.inner_attempts = c.inner_attempts;
    t.identifies = c.identifies;
    if constexpr (resend_guarantee<Resend>) {
        t.resend.lasts = contract_check::duration_of(c.resend);
    }
    t.resend.arrives_within = t.arrives_within;
    if constexpr (std::same_as<Resend, deduplicated_by_key>) {
        t.resend.kind = guarantee_kind::by_key;
        t.resend.domain = digest_of(c.resend.scope);
        t.duplicate_is_proof = t.reply_is_proof && c.resend.compares_parameters &&
                               c.resend.on_reuse == reuse::returns_original;
    } else if constexpr (std::same_as<Resend, unique_target>) {
        t.resend.kind = guarantee_kind::by_name;
    } else if constexpr (std::same_as<Resend, naturally_idempotent>) {
        t.resend.kind = guarantee_kind::by_state;
    }
    return t;
}

} // namespace detail

} // namespace indoubt

#endif
