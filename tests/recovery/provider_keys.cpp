// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#include <recovery/by_hand.hpp>

#include <doctest/doctest.h>

#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

// Which key stands for an operation at the provider: as the identity has it, or as a mapping makes
// it; within the provider's rules; for ever. New generations are in generations.cpp.

namespace {

using namespace scene;
using shop = provider_of<std::string>;

auto const applied_reply_lost = shop_of<decltype(bare)>::applied_reply_lost;
auto const empty = shop_of<decltype(bare)>::empty;

using mapping = std::function<std::string(identity const&, unsigned)>;

/// A shop whose keys are made of identities.
template <class Contract> struct mapping_shop : shop_of<Contract> {
    using shop_of<Contract>::shop_of;
    std::string key_for(identity const& id, unsigned generation) const {
        return (*map)(id, generation);
    }
    std::shared_ptr<mapping> map = std::make_shared<mapping>([](identity const& id, unsigned n) {
        return id.scope + ":" + id.key + std::string(n, '!');
    });
};
template <class Contract> using mapped_scene = one_shop<Contract, mapping_shop<Contract>>;
using mapped = mapped_scene<std::remove_const_t<decltype(bare)>>;

constexpr contract narrow{.lookup = complete_lookup{},
                          .keys = {.longest = 8, .alphabet = "abcdefghijklmnopqrstuvwxyz-1234"}};

TEST_SUITE_BEGIN("provider keys");

// ---- the identity's key as it is ----------------------------------------------------------------

TEST_CASE("a key that the provider would not take is refused before anything is written") {
    for (auto const* unfit : {"order-123", "Order-1", "order 1", "order-9", "ordr\xc3\xa9"}) {
        CAPTURE(unfit);
        one_shop s(narrow);
        s.id.key = unfit;
        auto const steps = s.journal.steps();
        auto const done = s.run();
        REQUIRE(done.has_error());
        CHECK(done.error().rule() == rule::unfit_key);
        CHECK_FALSE(done.error().in_doubt());
        CHECK(s.state() == state_id::none);
        CHECK(s.journal.steps() - steps <= 1); // the flush before it is told
        CHECK(s.truth->sends() == 0);
        CHECK(s.truth->looks() == 0);
    }
    one_shop s(narrow);
    s.id.key = "order-12"; // eight of the alphabet
    CHECK(s.run());
}

// ---- mapped keys --------------------------------------------------------------------------------

TEST_CASE("a mapped key is sent, echoed, looked up by and stored") {
    mapped s(bare);
    s.shop.on_lookup(empty);
    s.shop.on_lookup([](shop::query const& q, world& w) {
        CHECK(q.key == "shop:order-1!");
        CHECK(q.identity.key == "order-1");
        return shop_of<decltype(bare)>::truthful(q, w);
    });
    s.shop.on_submit([](shop::attempt const& a, world& w) {
        CHECK(a.key() == "shop:order-1!");
        CHECK(a.identity().key == "order-1");
        return shop_of<decltype(bare)>::applied(a, w);
    });
    CHECK(s.run());
    CHECK(s.stored().provider_key == "shop:order-1!");
    CHECK(s.stored().generation == 1);
    CHECK(s.truth->effects("shop:order-1!") == 1);
    CHECK(s.truth->effects() == 1);
    s.cut_power();
    CHECK(s.run());
    CHECK(s.truth->sends() == 1);
}

TEST_CASE("a later program with another mapping goes on under the stored key [H9]") {
    mapped_scene<std::remove_const_t<decltype(deduplicating)>> s(deduplicating);
    s.shop.on_submit(applied_reply_lost);
    s.shop.always_on_lookup(empty);
    CHECK(s.run({.deadline = 50ms}).has_error());
    s.shop.always_on_lookup(shop_of<decltype(bare)>::truthful);
    *s.shop.map = [](identity const& id, unsigned) { return "v2/" + id.key; };
    s.clock.advance(10min);
    CHECK(s.run());
    CHECK(s.stored().key() == "shop:order-1!");
    CHECK(s.truth->effects() == 1);
    CHECK(s.truth->distinct_keys() == 1);
    CHECK(s.run({"shop", "order-2"}, s.request)); // a new one has the new key
    CHECK(s.stored({"shop", "order-2"}).key() == "v2/order-2");
}

TEST_CASE("a mapping that answers what it is asked leaves the identity's key as it is") {
    mapped s(bare);
    *s.shop.map = [](identity const& id, unsigned) { return id.key; };
    CHECK(s.run());
    CHECK(s.stored().provider_key.empty());
    CHECK(s.truth->effects("order-1") == 1);
}

TEST_CASE("two identities that a mapping brings together are one too many [I04a]") {
    mapped s(bare);
    *s.shop.map = [](identity const& id, unsigned) { return id.key.substr(0, 5); };
    REQUIRE(s.run({"shop", "order-1"}, "one notebook"));
    for (identity const& other : {identity{"shop", "order-2"}, {"another scope", "order-1"}}) {
        auto const done = s.run(other, "one notebook");
        REQUIRE(done.has_error());
        CHECK(done.error().rule() == rule::key_taken);
        CHECK_FALSE(done.error().in_doubt());
        CHECK(s.stored(other).state == state_id::none);
    }
    CHECK(s.truth->sends() == 1);
    CHECK(s.run({"shop", "order-1"}, "one notebook"));
    s.cut_power();
    CHECK(s.run({"shop", "order-2"}, "one notebook").error().rule() == rule::key_taken);
}

TEST_CASE("the keys of two scopes may be equal where the mapping tells them apart") {
    mapped s(bare);
    CHECK(s.run({"a", "order-1"}, "one notebook"));
    CHECK(s.run({"b", "order-1"}, "one notebook"));
    CHECK(s.truth->effects() == 2);
    CHECK(s.truth->effects("a:order-1!") == 1);
    CHECK(s.truth->effects("b:order-1!") == 1);
}

TEST_CASE("a mapped key may not be the identity's key of another operation") {
    mapped s(bare);
    *s.shop.map = [](identity const& id, unsigned) { return id.key == "b" ? "a" : id.key; };
    REQUIRE(s.run({"shop", "a"}, "one notebook"));
    CHECK(s.run({"shop", "b"}, "one notebook").error().rule() == rule::key_taken);
    CHECK(s.truth->sends() == 1);
}

TEST_CASE("a mapped key is held to the provider's rules, and is never none") {
    for (std::string const& unfit :
         {std::string(), std::string(256, 'x'), std::string("a\0b", 3), std::string("a\nb")}) {
        CAPTURE(unfit.size());
        mapped s(bare);
        *s.shop.map = [&](identity const&, unsigned) { return unfit; };
        CHECK(s.run().error().rule() == rule::unfit_key);
        CHECK(s.state() == state_id::none);
        CHECK(s.truth->sends() == 0);
    }
    mapped_scene<std::remove_const_t<decltype(narrow)>> s(narrow);
    CHECK(s.run().error().rule() == rule::unfit_key); // shop:order-1! is too long
    *s.shop.map = [](identity const&, unsigned) { return "order"; };
    s.id.key = "an identity need not fit, only what it is mapped to";
    CHECK(s.run());
    CHECK(s.truth->effects("order") == 1);
}

TEST_CASE("a mapped key is bound to its own target: another shop may use it") {
    struct elsewhere : mapping_shop<std::remove_const_t<decltype(bare)>> {
        elsewhere(mapping_shop const& s, std::string t) : mapping_shop(s), target(std::move(t)) {}
        std::string target;
    };
    mapped s(bare);
    *s.shop.map = [](identity const&, unsigned) { return "the one key"; };
    REQUIRE(s.run());
    recovery<policies<elsewhere, lossy_storage&, exact_fingerprint, bounded_budget, manual_clock>>
        p({elsewhere(s.shop, "another shop"), s.journal, {}, s.budget, s.clock});
    s.truth->remove("the one key");
    s.truth->deduplicate(0ms);
    CHECK(p.run({"shop", "order-2"}, s.request));
}

TEST_SUITE_END();

} // namespace
