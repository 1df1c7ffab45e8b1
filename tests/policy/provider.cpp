// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#include <indoubt/adapter/callable_provider.hpp>
#include <indoubt/core/evidence.hpp>
#include <indoubt/policy/provider.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <concepts>
#include <string>
#include <type_traits>
#include <utility>

// The smallest providers, and near misses named by the one thing they lack.

namespace {

using namespace indoubt;
using namespace std::chrono_literals;

constexpr contract looked_up{.lookup = complete_lookup{}};
constexpr contract proven{.reply = proof{.documented_at = "https://shop.example/keys"}};
constexpr contract told_from_outside{.lookup = from_outside{}};

// ---- archetypes ---------------------------------------------------------------------------------

struct archetype {
    using request = std::string;
    using receipt = std::string;
    static constexpr char const* target = "archetype";
    static constexpr indoubt::contract contract = looked_up;
    reply<std::string> submit(attempt<std::string> const&) { return unknown{}; }
    answer<std::string, std::string> lookup(query<std::string> const&) { return unavailable{}; }
};
struct archetype_of_proof : provider_of<std::string> {
    static constexpr auto target = "archetype";
    static constexpr indoubt::contract contract = proven;
    keyed_reply submit(attempt const&);
};
struct archetype_told_from_outside : provider_of<std::string> {
    static constexpr auto target = "archetype";
    static constexpr indoubt::contract contract = told_from_outside;
    reply submit(attempt const&);
};
struct archetype_that_says_more_than_it_must : provider_of<std::string> {
    static constexpr auto target = "archetype";
    static constexpr indoubt::contract contract = looked_up;
    keyed_reply submit(attempt const&) const;
    answer lookup(query const&) const;
    request normalise(request) const;
};
struct archetype_with_members {
    using request = std::string;
    using receipt = std::string;
    std::string target;
    indoubt::contract<never, complete_lookup> contract;
    reply<std::string> submit(attempt<std::string> const&);
    answer<std::string, std::string> lookup(query<std::string> const&);
};

static_assert(provider_policy<archetype>);
static_assert(provider_policy<archetype_of_proof>);
static_assert(provider_policy<archetype_told_from_outside>);
static_assert(provider_policy<archetype_that_says_more_than_it_must>);
static_assert(provider_policy<archetype_with_members>);
static_assert(explain_provider<archetype>());
static_assert(explain_provider<archetype_of_proof>());
static_assert(explain_provider<archetype_told_from_outside>());
static_assert(explain_provider<archetype_that_says_more_than_it_must>());
static_assert(explain_provider<archetype_with_members>());

// ---- near misses --------------------------------------------------------------------------------

struct not_encodable {};

struct provider_without_request : archetype {
private:
    using request = std::string;
};
struct provider_without_receipt : archetype {
private:
    using receipt = std::string;
};
struct provider_without_target : archetype {
private:
    static constexpr char const* target = "";
};
struct provider_whose_target_is_a_number : archetype {
    static constexpr int target = 7;
};
struct provider_without_contract : archetype {
private:
    static constexpr indoubt::contract contract = looked_up;
};
struct provider_whose_contract_is_a_sentence : archetype {
    static constexpr char const* contract = "we never lose an order";
};
struct provider_without_submit : archetype {
private:
    using archetype::submit;
};
struct provider_that_answers_yes_or_no : archetype {
    bool submit(attempt<std::string> const&);
};
struct provider_that_submits_a_request : archetype {
    reply<std::string> submit(std::string const&);
};
struct provider_that_wants_to_change_the_attempt : archetype {
    reply<std::string> submit(attempt<std::string>&);
};
struct provider_that_takes_the_attempt_away : archetype {
    reply<std::string> submit(attempt<std::string>);
};
struct provider_with_another_receipt : archetype {
    using receipt = int;
};
struct provider_of_proof_without_the_key : archetype_of_proof {
    reply submit(attempt const&);
};
struct provider_without_lookup : archetype {
private:
    using archetype::lookup;
};
struct provider_that_looks_by_identity : archetype {
    answer<std::string, std::string> lookup(identity const&);
};
struct provider_that_finds_or_not : archetype {
    bool lookup(query<std::string> const&);
};
struct provider_of_a_request_without_a_codec : provider_of<not_encodable> {
    static constexpr auto target = "archetype";
    static constexpr indoubt::contract contract = told_from_outside;
    reply submit(attempt const&);
};
struct provider_of_a_receipt_without_a_codec : provider_of<std::string, not_encodable> {
    static constexpr auto target = "archetype";
    static constexpr indoubt::contract contract = told_from_outside;
    reply submit(attempt const&);
};

static_assert(!provider_policy<provider_without_request>);
static_assert(!provider_policy<provider_without_receipt>);
static_assert(!provider_policy<provider_without_target>);
static_assert(!provider_policy<provider_whose_target_is_a_number>);
static_assert(!provider_policy<provider_without_contract>);
static_assert(!provider_policy<provider_whose_contract_is_a_sentence>);
static_assert(!provider_policy<provider_without_submit>);
static_assert(!provider_policy<provider_that_answers_yes_or_no>);
static_assert(!provider_policy<provider_that_submits_a_request>);
static_assert(!provider_policy<provider_that_wants_to_change_the_attempt>);
static_assert(!provider_policy<provider_that_takes_the_attempt_away>);
static_assert(!provider_policy<provider_with_another_receipt>);
static_assert(!provider_policy<provider_of_proof_without_the_key>);
static_assert(!provider_policy<provider_without_lookup>);
static_assert(!provider_policy<provider_that_looks_by_identity>);
static_assert(!provider_policy<provider_that_finds_or_not>);
static_assert(!provider_policy<provider_of_a_request_without_a_codec>);
static_assert(!provider_policy<provider_of_a_receipt_without_a_codec>);
static_assert(!provider_policy<int>);

// ---- optional parts -----------------------------------------------------------------------------

struct provider_that_normalises_in_place : archetype {
    void normalise(std::string&) const;
};
struct provider_that_normalises_once_only : archetype {
    std::string normalise(std::string);
};

static_assert(detail::normalises<archetype_that_says_more_than_it_must>);
static_assert(!detail::normalises<archetype>);
static_assert(!detail::normalises<provider_that_normalises_in_place>);
static_assert(!detail::normalises<provider_that_normalises_once_only>, "this one is not const");

// ---- names --------------------------------------------------------------------------------------

// The base is names alone: it may not make a provider larger, nor say what it does.
static_assert(std::is_empty_v<provider_of<std::string, int>>);
static_assert(!provider_policy<provider_of<std::string>>);
static_assert(std::same_as<provider_of<std::string, int>::reply, reply<int>>);
static_assert(std::same_as<provider_of<std::string, int>::keyed_reply, keyed_reply<int>>);
static_assert(std::same_as<provider_of<std::string, int>::answer, answer<std::string, int>>);
static_assert(std::same_as<provider_of<std::string>::receipt, std::string>);

// A provider can say what came back and what was seen. It cannot make evidence, nor an attempt.
template <class E>
concept anyone_can_make = std::default_initializable<E> || std::constructible_from<E, stamp>;
static_assert(!anyone_can_make<match> && !anyone_can_make<refusal> && !anyone_can_make<doubt>);
static_assert(!std::constructible_from<reply<std::string>, match>);
static_assert(!std::constructible_from<reply<std::string>, accepted_with_key<std::string>>,
              "a plain reply has no key to compare");
static_assert(!std::constructible_from<keyed_reply<std::string>, accepted<std::string>>,
              "a reply that can be proof comes with the key");
static_assert(!std::default_initializable<attempt<std::string>>);
static_assert(!std::copy_constructible<attempt<std::string>>);
static_assert(
    !std::constructible_from<attempt<std::string>, record const&, std::string, call_limits>);

TEST_CASE("what a reply or an answer leaves out counts against nobody") {
    CHECK(unknown{}.hints.empty());
    CHECK_FALSE(duplicate<std::string>{}.receipt);
    CHECK(duplicate<std::string>{}.echoed_key.empty());
    CHECK(refused{}.for_good);
    CHECK(refused{}.because == refusal_class::other);
    CHECK(refused{}.retry_after == 0ms);
    CHECK_FALSE(conflict{}.other_parameters);
    CHECK(in_progress{}.retry_after == 0ms);
    CHECK(complete<std::string, std::string>{}.effects.empty());
    effect<std::string, std::string> const found{.receipt = "r-1", .request = "a notebook"};
    CHECK(found.key.empty());
    CHECK(found.ours);
    CHECK(found.status == effect_status::applied);
}

// ---- two functions as a provider ----------------------------------------------------------------

reply<std::string> send(attempt<std::string> const&) {
    return accepted<std::string>{"r-1"};
}
answer<std::string, std::string> look(query<std::string> const& q) {
    return complete<std::string, std::string>{{{.receipt = "r-1", .request = q.request}}};
}

using both = decltype(callable_provider<std::string>("orders", looked_up, send, look));
using send_alone = decltype(callable_provider<std::string>("orders", told_from_outside, send));
using look_up_left_out = decltype(callable_provider<std::string>("orders", looked_up, send));
using sends_nothing = decltype(callable_provider<std::string>("orders", looked_up, look, look));

static_assert(provider_policy<both>);
static_assert(provider_policy<send_alone>);
static_assert(!provider_policy<look_up_left_out>);
static_assert(!provider_policy<sends_nothing>);
static_assert(explain_provider<both>());

TEST_CASE("two functions are a provider") {
    int asked = 0;
    auto shop = callable_provider<std::string>(
        "orders", looked_up, send,
        [&](query<std::string> const& q) -> answer<std::string, std::string> {
            ++asked;
            return look(q);
        });
    static_assert(provider_policy<decltype(shop)>);
    CHECK(shop.target == "orders");
    CHECK(shop.contract.call_timeout == looked_up.call_timeout);
    identity const id{"shop", "order-1"};
    auto const seen = shop.lookup({id, "order-1", "a notebook", "", 1s, {}});
    CHECK(asked == 1);
    auto const* all = seen.get_if<complete<std::string, std::string>>();
    REQUIRE(all != nullptr);
    REQUIRE(all->effects.size() == 1);
    CHECK(all->effects.front().request == "a notebook");
}

} // namespace
