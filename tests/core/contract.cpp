// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#include <indoubt/core/contract.hpp>

#include <doctest/doctest.h>
#include <support/last_words.hpp>

#include <chrono>
#include <concepts>
#include <string_view>

// What a contract says when it says little, the one formula for windows at its edges, and contracts
// that are built at run time.

namespace {

using namespace indoubt;
using namespace std::chrono_literals;

constexpr time_point at(milliseconds since) {
    return time_point(since);
}

constexpr auto cited = "https://shop.example/keys";
constexpr contract bare{.lookup = complete_lookup{}};
constexpr contract keyed{
    .resend = deduplicated_by_key{.window = 24h, .scope = "eu", .documented_at = cited},
    .lookup = complete_lookup{.visible_after = 5s},
    .call_timeout = 30s,
    .arrives_within = 10min,
    .inner_attempts = 3,
    .margin = 2s,
    .identifies = identified::by_name};
constexpr contract named{.resend = unique_target{.undisturbed_for = 1h, .documented_at = cited},
                         .lookup = complete_lookup{},
                         .arrives_within = 1min};
constexpr contract stated{
    .resend = naturally_idempotent{.undisturbed_for = unlimited, .documented_at = cited},
    .lookup = from_outside{}};

// ---- what is documented, as types ---------------------------------------------------------------

static_assert(!documents_a_resend_guarantee<decltype(bare)>);
static_assert(documents_a_resend_guarantee<decltype(keyed)>);
static_assert(documents_a_resend_guarantee<decltype(named)>);
static_assert(documents_a_resend_guarantee<decltype(stated)>);
static_assert(documents_a_lookup<decltype(bare)>);
static_assert(!documents_a_lookup<decltype(stated)>, "nobody can be asked");
static_assert(!documents_reply_as_proof<decltype(bare)>);

constexpr contract proven{.reply = proof{.documented_at = cited}};
static_assert(documents_reply_as_proof<decltype(proven)>);
static_assert(!documents_a_lookup<decltype(proven)>);

// A citation is a text, and never an empty one by accident: it has no default.
static_assert(!std::default_initializable<citation>);
static_assert(!std::default_initializable<window>);
static_assert(!std::default_initializable<undisturbed>);

TEST_CASE("a contract that says little promises little") {
    contract<never, complete_lookup> const c{};
    CHECK(c.call_timeout == 10s);
    CHECK(c.arrives_within == 0ms);
    CHECK(c.inner_attempts == 1);
    CHECK(c.margin == 1s);
    CHECK(c.keys.longest == 255);
    CHECK(c.keys.alphabet.empty());
    CHECK(c.identifies == identified::by_key);
    CHECK_FALSE(c.lookup.visible_after.has_value());
    CHECK(c.lookup.covers == std::string_view());
}

TEST_CASE("a guarantee by key returns the original and compares nothing, unless it says so") {
    constexpr deduplicated_by_key g{.window = unlimited, .documented_at = cited};
    CHECK(g.window.length == milliseconds::max());
    CHECK(g.on_reuse == reuse::returns_original);
    CHECK_FALSE(g.compares_parameters);
    CHECK(g.scope == std::string_view());
    CHECK(g.documented_at.address == std::string_view(cited));
}

// ---- the terms ----------------------------------------------------------------------------------

TEST_CASE("the terms of a contract without a guarantee") {
    constexpr auto t = detail::terms_of(bare);
    CHECK(t.resend.kind == guarantee_kind::none);
    CHECK(t.resend.lasts == 0ms);
    CHECK(t.has_lookup);
    CHECK_FALSE(t.reply_is_proof);
    CHECK_FALSE(t.duplicate_is_proof);
    CHECK_FALSE(t.visible_after);
    CHECK(t.call_timeout == 10s);
    CHECK(t.arrives_within == 10s); // not documented: taken as call_timeout
    CHECK(t.resend.arrives_within == 10s);
    CHECK(t.inner_attempts == 1);
    CHECK(t.identifies == identified::by_key);
}

TEST_CASE("the terms of a guarantee by key") {
    constexpr auto t = detail::terms_of(keyed);
    CHECK(t.resend.kind == guarantee_kind::by_key);
    CHECK(t.resend.lasts == 24h);
    CHECK(t.resend.arrives_within == 10min);
    CHECK(t.arrives_within == 10min);
    CHECK(t.visible_after == 5s);
    CHECK(t.call_timeout == 30s);
    CHECK(t.margin == 2s);
    CHECK(t.inner_attempts == 3);
    CHECK(t.identifies == identified::by_name);
}

TEST_CASE("the terms of guarantees by name and by state") {
    constexpr auto by_name = detail::terms_of(named);
    CHECK(by_name.resend.kind == guarantee_kind::by_name);
    CHECK(by_name.resend.lasts == 1h);
    CHECK(by_name.resend.domain == 0);
    constexpr auto by_state = detail::terms_of(stated);
    CHECK(by_state.resend.kind == guarantee_kind::by_state);
    CHECK(by_state.resend.lasts == milliseconds::max());
    CHECK_FALSE(by_state.has_lookup);
}

TEST_CASE("keys are shared where the scope has the same words, and nowhere else") {
    auto const domain = [](char const* scope) {
        deduplicated_by_key g{.window = unlimited, .documented_at = cited};
        g.scope = scope;
        contract<deduplicated_by_key, complete_lookup> const c{.resend = g};
        return detail::terms_of(c).resend.domain;
    };
    CHECK(domain("eu") == domain("eu"));
    CHECK(domain("eu") != domain("us"));
    CHECK(domain("") != domain("eu"));
    CHECK(domain("ab") != domain("ba"));
    CHECK(domain("\xc3\xa9") != domain("\xc3\xa8"));
}

TEST_CASE(
    "a duplicate is proof if the reply is, and replays are compared and return the original") {
    auto const is_proof = [](reuse on_reuse, bool compares) {
        deduplicated_by_key g{.window = unlimited, .documented_at = cited};
        g.on_reuse = on_reuse;
        g.compares_parameters = compares;
        contract<deduplicated_by_key, no_lookup, proof> const c{.resend = g,
                                                                .reply = {.documented_at = cited}};
        auto const t = detail::terms_of(c);
        CHECK(t.reply_is_proof);
        return t.duplicate_is_proof;
    };
    CHECK(is_proof(reuse::returns_original, true));
    CHECK_FALSE(is_proof(reuse::returns_original, false));
    CHECK_FALSE(is_proof(reuse::rejects, true));
    CHECK_FALSE(is_proof(reuse::rejects, false));

    constexpr contract hinting{.resend = deduplicated_by_key{.window = unlimited,
                                                             .compares_parameters = true,
                                                             .documented_at = cited},
                               .lookup = complete_lookup{}};
    CHECK_FALSE(detail::terms_of(hinting).duplicate_is_proof);
}

// ---- when a window closes -----------------------------------------------------------------------

TEST_CASE("a send must start before first_sent + lasts - arrives_within - margin") {
    constexpr guarantee g{guarantee_kind::by_key, 100ms, 30ms};
    constexpr auto closes = closes_at(g, at(1000ms), 5ms);
    CHECK(closes == at(1065ms));
    // The last moment at which a call still arrives inside the window, by every clock.
    CHECK(closes - 1ms + g.arrives_within + 5ms < at(1000ms) + g.lasts);
    CHECK_FALSE(closes + g.arrives_within + 5ms < at(1000ms) + g.lasts);
}

TEST_CASE("a window that is no longer than a call and the margin is closed before it opens") {
    constexpr guarantee g{guarantee_kind::by_key, 31ms, 30ms};
    CHECK(closes_at(g, at(1000ms), 0ms) == at(1001ms));
    CHECK(closes_at(g, at(1000ms), 1ms) == at(1000ms)); // not before the first send
    CHECK(closes_at(g, at(1000ms), 9ms) < at(1000ms));
}

TEST_CASE("without a guarantee nothing is open; an unlimited one never closes") {
    CHECK(closes_at(guarantee{}, at(0ms), 0ms) == time_point::min());
    constexpr guarantee for_ever{guarantee_kind::by_state, milliseconds::max(), 30ms};
    CHECK(closes_at(for_ever, at(1000ms), 1h) == time_point::max());
    // Even what was first sent at the end of time does not wrap around.
    CHECK(closes_at(for_ever, time_point::max(), 1h) == time_point::max());
}

TEST_CASE("the kind of the guarantee does not change the formula") {
    for (auto const kind :
         {guarantee_kind::by_key, guarantee_kind::by_name, guarantee_kind::by_state}) {
        CHECK(closes_at({kind, 1h, 1min, 7}, at(0ms), 1s) == at(1h - 1min - 1s));
    }
}

TEST_CASE("two guarantees are equal if every part is") {
    guarantee const g{guarantee_kind::by_key, 1h, 1min, 7};
    CHECK(g == guarantee{guarantee_kind::by_key, 1h, 1min, 7});
    CHECK(g != guarantee{guarantee_kind::by_name, 1h, 1min, 7});
    CHECK(g != guarantee{guarantee_kind::by_key, 2h, 1min, 7});
    CHECK(g != guarantee{guarantee_kind::by_key, 1h, 2min, 7});
    CHECK(g != guarantee{guarantee_kind::by_key, 1h, 1min, 8});
}

// ---- contracts that are built at run time -------------------------------------------------------

using plain = contract<never, complete_lookup>;
using by_key = contract<deduplicated_by_key, complete_lookup>;
constexpr deduplicated_by_key for_an_hour{.window = 1h, .documented_at = cited};

TEST_CASE("a contract that is built at run time says which rule it breaks, and aborts") {
    auto const timeout = [](milliseconds t) { return [t] { return plain{.call_timeout = t}; }; };
    CHECK(last_words_of(timeout(0ms)) == "indoubt: contract: call_timeout must be positive\n");
    CHECK(last_words_of(timeout(-1ms)) == "indoubt: contract: call_timeout must be positive\n");
    CHECK(last_words_of([] { return plain{.call_timeout = 2ms, .arrives_within = 1ms}; }) ==
          "indoubt: contract: arrives_within must not be shorter than call_timeout\n");
    CHECK(last_words_of([] { return plain{.inner_attempts = 2}; }) ==
          "indoubt: contract: without a guarantee inner_attempts must be 1\n");
    CHECK(last_words_of([] { return plain{.inner_attempts = 0}; }) ==
          "indoubt: contract: inner_attempts must be positive\n");
    CHECK(last_words_of([] { return by_key{.resend = for_an_hour}; }) ==
          "indoubt: contract: a finite window needs arrives_within\n");
    CHECK(last_words_of([] { return by_key{.resend = for_an_hour, .arrives_within = 1h}; }) ==
          "indoubt: contract: arrives_within and margin must be shorter than the window\n");
    CHECK(last_words_of([] { return by_key{.resend = for_an_hour, .arrives_within = 1h - 1s}; }) ==
          "indoubt: contract: arrives_within and margin must be shorter than the window\n");
    CHECK(last_words_of([] { return contract<>{}; }) ==
          "indoubt: contract: nothing could ever confirm: add a look-up, a proof or "
          "from_outside\n");
}

TEST_CASE("a contract that is built at run time and keeps the rules is one") {
    milliseconds const read_from_a_file = 1h - 1s - 1ms; // the margin is a second
    by_key const c{.resend = for_an_hour, .call_timeout = 1ms, .arrives_within = read_from_a_file};
    CHECK(detail::terms_of(c).resend.arrives_within == read_from_a_file);
    plain const shortest{.call_timeout = 1ms, .arrives_within = 1ms};
    CHECK(detail::terms_of(shortest).arrives_within == 1ms);
    contract<naturally_idempotent, complete_lookup> const retrying{
        .resend = {.undisturbed_for = unlimited, .documented_at = cited}, .inner_attempts = 5};
    CHECK(detail::terms_of(retrying).inner_attempts == 5);
}

} // namespace
