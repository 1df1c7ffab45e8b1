// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#include <indoubt/adapter/bounded_budget.hpp>
#include <indoubt/adapter/exact_fingerprint.hpp>
#include <indoubt/adapter/memory_storage.hpp>
#include <indoubt/adapter/system_clock.hpp>
#include <indoubt/policy/policies.hpp>

#include <doctest/doctest.h>

#include <concepts>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

// Bundles: by designators, by hand, with a storage that is shared or can only be moved; and near
// misses named by the one thing they lack.

namespace {

using namespace indoubt;

struct shop : provider_of<std::string> {
    static constexpr auto target = "shop/orders";
    static constexpr indoubt::contract contract{.lookup = complete_lookup{}};
    reply submit(attempt const&);
    answer lookup(query const&);
    int orders = 0;
};

// ---- by designators -----------------------------------------------------------------------------

template <class Storage> using with = policies<shop, Storage>;

static_assert(std::is_aggregate_v<with<memory_storage>>);
static_assert(policy_bundle<with<memory_storage>>);
static_assert(policy_bundle<with<memory_storage&>>, "a journal may be shared");
static_assert(explain_policies<with<memory_storage>>());
static_assert(explain_policies<with<memory_storage&>>());
static_assert(!std::copy_constructible<memory_storage>, "what is shared is said to be");
static_assert(!std::copy_constructible<with<memory_storage>>);
static_assert(std::move_constructible<with<memory_storage>>);

// Everything but the provider has a default; the storage's is one that is told apart.
using deduced = decltype(policies{.provider = shop{}});
static_assert(std::same_as<decltype(deduced::fingerprint), exact_fingerprint>);
static_assert(std::same_as<decltype(deduced::budget), bounded_budget>);
static_assert(std::same_as<decltype(deduced::clock), system_clock>);
static_assert(std::same_as<decltype(deduced::observer), no_observer>);
static_assert(detail::has_the_six_members<deduced>);
static_assert(!detail::names_a_storage<deduced>);
static_assert(!policy_bundle<deduced>);

// ---- by hand ------------------------------------------------------------------------------------

struct by_hand {
    shop provider;
    memory_storage& storage;
    exact_fingerprint fingerprint;
    bounded_budget budget;
    system_clock clock;
    no_observer observer;
    int and_more = 0;
};
static_assert(policy_bundle<by_hand>);
static_assert(explain_policies<by_hand>());

struct by_hand_with_references {
    shop& provider;
    memory_storage& storage;
    exact_fingerprint const& fingerprint;
    bounded_budget const& budget;
    system_clock& clock;
    no_observer& observer;
};
static_assert(policy_bundle<by_hand_with_references>);

struct bundle_without_observer {
    shop provider;
    memory_storage& storage;
    exact_fingerprint fingerprint;
    bounded_budget budget;
    system_clock clock;
};
static_assert(!policy_bundle<bundle_without_observer>);
static_assert(!detail::has_the_six_members<bundle_without_observer>);

struct bundle_that_keeps_its_storage_private : by_hand {
private:
    using by_hand::storage;
};
static_assert(!policy_bundle<bundle_that_keeps_its_storage_private>);

// ---- one policy that is none, at each place -----------------------------------------------------

struct nothing {};
using good = policies<shop, memory_storage, exact_fingerprint, bounded_budget, system_clock>;
static_assert(policy_bundle<good>);
static_assert(!policy_bundle<policies<nothing, memory_storage>>);
static_assert(!policy_bundle<policies<shop, nothing>>);
static_assert(!policy_bundle<policies<shop, memory_storage, nothing>>);
static_assert(!policy_bundle<policies<shop, memory_storage, exact_fingerprint, nothing>>);
static_assert(
    !policy_bundle<policies<shop, memory_storage, exact_fingerprint, bounded_budget, nothing>>);
static_assert(!policy_bundle<policies<shop, memory_storage, exact_fingerprint, bounded_budget,
                                      system_clock, nothing>>);
static_assert(!policy_bundle<int>);

TEST_CASE("a bundle takes what it is given, and defaults for the rest") {
    policies const given{.provider = shop{{}, 7},
                         .storage = memory_storage{},
                         .budget = bounded_budget{.attempts = 2}};
    CHECK(given.provider.orders == 7);
    CHECK(given.budget.attempts == 2);
    CHECK(given.fingerprint.rule() == "exact/1");
}

TEST_CASE("braces alone take the default budget") {
    policies const given{
        .provider = shop{{}, 1}, .storage = memory_storage{}, .budget = {.attempts = 5}};
    static_assert(std::same_as<std::remove_cv_t<decltype(given.budget)>, bounded_budget>);
    CHECK(given.budget.attempts == 5);
}

TEST_CASE("a storage that can only be moved is moved in; a shared one is the same one") {
    record one;
    one.intent = std::make_shared<intent const>(
        intent{{"shop", "order-1"}, "shop/orders", "a notebook", "", "exact/1"});
    memory_storage journal;
    REQUIRE(journal.insert(one));

    with<memory_storage&> shared{.provider = shop{}, .storage = journal};
    CHECK(&shared.storage == &journal);

    policies owned{.provider = shop{}, .storage = std::move(journal)};
    static_assert(std::same_as<decltype(owned.storage), memory_storage>);
    auto const found = owned.storage.find(one.identity());
    REQUIRE(found);
    CHECK(found.value().has_value());
}

} // namespace
