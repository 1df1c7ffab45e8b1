// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#include <recovery/by_hand.hpp>

#include <doctest/doctest.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

// The journal by itself: where records are written and operations come from.

namespace {

using namespace scene;
using shop = provider_of<std::string>;

exact_fingerprint const exactly;

std::shared_ptr<intent> asking(std::string const& what, std::string_view target = "shop") {
    return std::move(intend(target, what, exactly).value());
}

TEST_SUITE_BEGIN("journal");

// ---- begin and find -----------------------------------------------------------------------------

TEST_CASE("a begun operation is pending, with its intent, its time and its deadline") {
    shelf s;
    auto book = s.open();
    auto const deadline = s.clock.wall() + 1h;
    auto op = book.begin(s.id, asking("one"), exactly, {.deadline = deadline});
    REQUIRE(op);
    REQUIRE(op.value().holds<operation<pending>>());
    record const r = s.stored();
    CHECK(r.identity() == s.id);
    CHECK(r.intent->request == "one");
    CHECK(r.intent->target == "shop");
    CHECK(r.intent->fingerprint_rule == "exact/1");
    CHECK(r.begun_at == s.clock.wall());
    CHECK(r.deadline == deadline);
    CHECK(r.version == version{1, 1});
    CHECK(r.key() == "key");
    CHECK(s.kept.unflushed() == 2); // the key's binding and the record: relaxed
}

TEST_CASE("an operation begun again is the one that stands, whatever became of it") {
    shelf s;
    auto book = s.open();
    auto first = begun(book, s);
    auto const stamp = first.stamp();
    auto again = book.begin(s.id, asking("one"), exactly, {.deadline = s.clock.wall()});
    REQUIRE(again);
    CHECK(again.value().get_if<operation<pending>>()->stamp() == stamp);
    CHECK(s.stored().deadline == time_point::max()); // only a person extends it

    (void)departed(book, s, bare);
    auto sent = book.begin(s.id, asking("one"), exactly);
    REQUIRE(sent);
    CHECK(sent.value().holds<operation<uncertain>>());
}

TEST_CASE("operations have numbers of their own") {
    shelf s;
    auto book = s.open();
    auto one = begun(book, s);
    s.id = {"scope", "another"};
    auto other = begun(book, s);
    CHECK(one.stamp().operation != other.stamp().operation);
    s.kept.power_cut(9);
    auto next_life = s.open();
    s.id = {"scope", "a third"};
    CHECK(begun(next_life, s).stamp().operation > other.stamp().operation);
}

TEST_CASE("a name that is none is refused before anything is written") {
    std::string const long_one(longest_name + 1, 'x');
    for (identity const& bad : {identity{"", "key"}, identity{"scope", ""}, identity{"a\n", "key"},
                                identity{"scope", std::string("a\0b", 3)}, identity{long_one, "k"},
                                identity{"scope", long_one}, identity{"scope", "\x7f"}}) {
        shelf s;
        auto book = s.open();
        auto refused = book.begin(bad, asking("one"), exactly);
        REQUIRE(refused.has_error());
        CHECK(refused.error().rule() == rule::malformed_identity);
        CHECK_FALSE(refused.error().in_doubt());
        CHECK(s.kept.steps() == 0);
    }
    shelf s;
    auto book = s.open();
    for (std::string_view const target : {"", "a\tb"}) {
        auto const refused = book.begin(s.id, asking("one", target), exactly);
        CHECK(refused.error().rule() == rule::malformed_identity);
    }
    CHECK(s.kept.steps() == 0);
    std::string const longest(longest_name, '\xff');
    CHECK(book.begin({longest, longest}, asking("one"), exactly));
}

TEST_CASE("a key that the provider does not take is refused before anything is written") {
    key_rules const rules{.longest = 8, .alphabet = "abcdefgh-0123456789"};
    shelf s;
    auto book = s.open();
    for (auto const* key : {"abcdefghi", "abcX", "a b"}) {
        auto const refused = book.begin({"scope", key}, asking("one"), exactly, {.keys = rules});
        REQUIRE(refused.has_error());
        CHECK(refused.error().rule() == rule::unfit_key);
    }
    CHECK(s.kept.steps() == 0);
    CHECK(book.begin({"any Scope!", "abc-1234"}, asking("one"), exactly, {.keys = rules}));
    CHECK(book.begin({"scope", "Any Key Fits"}, asking("one"), exactly, {.keys = {}}));
    // What was begun before the rules became so strict is not forgotten.
    CHECK(book.begin({"scope", "Any Key Fits"}, asking("one"), exactly, {.keys = rules}));
}

TEST_CASE("a key stands for one scope, at one target") {
    shelf s;
    auto book = s.open();
    std::string const target(longest_name, 't'), key(longest_name, 'k');
    REQUIRE(book.begin({"a", key}, asking("one", target), exactly));
    CHECK(book.begin({"b", key}, asking("one", target), exactly).error().rule() == rule::key_taken);
    CHECK(book.begin({"b", "l" + key.substr(1)}, asking("one", target), exactly));
    REQUIRE(book.begin({"a", "key"}, asking("one"), exactly));
    auto const taken_by_b = book.begin({"b", "key"}, asking("one"), exactly);
    REQUIRE(taken_by_b.has_error());
    CHECK(taken_by_b.error().rule() == rule::key_taken);
    CHECK_FALSE(s.kept.find({"b", "key"}).value());
    CHECK(book.begin({"b", "key"}, asking("one", "another shop"), exactly));
}

TEST_CASE("another intent under the same identity is refused, and binds no key") {
    shelf s;
    auto book = s.open();
    (void)begun(book, s);
    auto const writes = s.kept.unflushed();
    for (auto const& other : {asking("two"), asking("one", "another shop"), asking("")}) {
        auto refused = book.begin(s.id, other, exactly);
        REQUIRE(refused.has_error());
        CHECK(refused.error().rule() == rule::conflicting_intent);
        CHECK(refused.error().state() == state_id::pending);
        CHECK(refused.error().operation() == "scope/key");
        CHECK(s.stored().intent->request == "one");
    }
    CHECK(s.kept.unflushed() == writes);
}

struct other_rule : exact_fingerprint {
    static constexpr std::string_view rule() { return "exact/2"; }
};

TEST_CASE("an intent recorded under a rule that this program does not know is incomparable") {
    shelf s;
    auto book = s.open();
    (void)begun(book, s);
    auto const before = s.stored().version;
    auto refused = book.begin(s.id, asking("one"), other_rule());
    REQUIRE(refused.has_error());
    CHECK(refused.error().rule() == rule::incomparable);
    CHECK(s.stored().version == before);
}

TEST_CASE("a request that has no form, or is too large, is never recorded") {
    CHECK(intend("shop", std::string(longest_request, 'x'), exactly));
    auto const large = intend("shop", std::string(longest_request + 1, 'x'), exactly);
    REQUIRE(large.has_error());
    CHECK(large.error().rule() == rule::too_large);
}

TEST_CASE("an operation is found in the state it is in") {
    one_shop s(bare);
    auto p = s.start();
    auto& book = p.journal();
    s.shop.on_submit([](auto const&, world&) -> shop::keyed_reply { return refused{}; });
    CHECK(p.run(s.id, s.request).has_error());
    CHECK(book.find(s.id).value().value().holds<operation<rejected>>());

    s.id = {"shop", "order-2"};
    s.shop.on_submit(shop_of<decltype(bare)>::request_lost);
    CHECK(p.run(s.id, s.request).has_error());
    auto op = taken<in_review>(book, s.id);
    abandonment word(op.stamp(), {"ann", "nobody knows"}, book.now());
    REQUIRE(book.write(abandon(std::move(op), std::move(word))));
    CHECK(book.find(s.id).value().value().holds<operation<abandoned>>());
    auto const blocked = p.run(s.id, s.request);
    CHECK(blocked.error().rule() == rule::abandoned_by_person);
    CHECK(blocked.error().in_doubt());
    CHECK(s.truth->sends() == 2);
}

TEST_CASE("what nobody began is not found") {
    shelf s;
    auto book = s.open();
    auto const found = book.find({"scope", "nothing"});
    REQUIRE(found);
    CHECK_FALSE(found.value());
}

TEST_SUITE_END();

} // namespace
