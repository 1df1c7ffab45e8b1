// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef INDOUBT_POLICY_POLICIES_HPP
#define INDOUBT_POLICY_POLICIES_HPP

#include <indoubt/policy/clock.hpp>
#include <indoubt/policy/fingerprint.hpp>
#include <indoubt/policy/hooks.hpp>
#include <indoubt/policy/observer.hpp>
#include <indoubt/policy/provider.hpp>
#include <indoubt/policy/retry_budget.hpp>
#include <indoubt/policy/storage.hpp>

#include <concepts>
#include <type_traits>

// All policies of one recovery, by name:
//     policies{.provider = shop{}, .storage = std::move(journal), .budget = {.attempts = 3}}
// Any struct with these members will do, without hooks, too; storage may be a reference to one that
// is shared.

namespace indoubt {

// The defaults; <indoubt.hpp> includes them.
struct exact_fingerprint;
struct bounded_budget;
struct system_clock;

namespace detail {
struct no_storage {}; // stands where none was named
} // namespace detail

template <class Provider, class Storage = detail::no_storage, class Fingerprint = exact_fingerprint,
          class Budget = bounded_budget, class Clock = system_clock, class Observer = no_observer,
          class Hooks = no_hooks>
struct policies {
    Provider provider;
    Storage storage{};
    Fingerprint fingerprint{};
    Budget budget{};
    Clock clock{};
    Observer observer{};
    Hooks hooks{};
};

namespace detail {
template <class P>
concept has_the_six_members = requires(P& p) {
    p.provider;
    p.storage;
    p.fingerprint;
    p.budget;
    p.clock;
    p.observer;
};
template <class P> using provider_in = std::remove_cvref_t<decltype(P::provider)>;
template <class P> using storage_in = std::remove_cvref_t<decltype(P::storage)>;
template <class P> using fingerprint_in = std::remove_cvref_t<decltype(P::fingerprint)>;
template <class P> using budget_in = std::remove_cvref_t<decltype(P::budget)>;
template <class P> using clock_in = std::remove_cvref_t<decltype(P::clock)>;
template <class P> using observer_in = std::remove_cvref_t<decltype(P::observer)>;

template <class P> struct hooks_of {
    using type = no_hooks;
};
template <class P>
    requires requires(P& p) { p.hooks; }
struct hooks_of<P> {
    using type = std::remove_cvref_t<decltype(P::hooks)>;
};
template <class P> using hooks_in = typename hooks_of<P>::type;

template <class P>
concept names_a_storage =
    has_the_six_members<P> && !std::same_as<storage_in<P>, detail::no_storage>;
} // namespace detail

template <class P>
concept policy_bundle =
    detail::names_a_storage<P> && provider_policy<detail::provider_in<P>> &&
    storage_policy<detail::storage_in<P>> && fingerprint_policy<detail::fingerprint_in<P>> &&
    retry_budget_policy<detail::budget_in<P>> && clock_policy<detail::clock_in<P>> &&
    observer_policy<detail::observer_in<P>> && hooks_policy<detail::hooks_in<P>>;

/// Says in words what a bundle lacks; explain_provider, explain_storage and so on say it of its
/// policies.
template <class P> constexpr bool explain_policies() {
    constexpr bool six = detail::has_the_six_members<P>;
    constexpr bool named = detail::names_a_storage<P> || !six;
    static_assert(six, "policies: write  policies{.provider = ..., .storage = ...}");
    static_assert(named, "policies: name a storage, .storage = ...");
    return six && named;
}

} // namespace indoubt

#endif
