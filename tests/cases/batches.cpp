// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#include <recovery/batches.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

// Part of a batch worked. A batch of three goes out with one call, and comes back with one reply
// for each, or with fewer, or with none.

namespace {

using namespace scene;
using shop = provider_of<std::string>;

auto const applied = shop_of<decltype(bare)>::applied;
auto const request_lost = shop_of<decltype(bare)>::request_lost;
auto const down = shop_of<decltype(bare)>::down;
auto const truthful = shop_of<decltype(bare)>::truthful;
auto const refuses = shop_of<decltype(bare)>::replies(refused{});

constexpr contract guaranteed_and_proving{
    .resend = deduplicated_by_key{.window = 1h, .documented_at = cited},
    .lookup = complete_lookup{.visible_after = 0ms},
    .reply = proof{.documented_at = cited},
    .call_timeout = 1s,
    .arrives_within = 1s};
/// The same, but a repeat may have a second effect.
constexpr contract only_proving{.lookup = complete_lookup{.visible_after = 0ms},
                                .reply = proof{.documented_at = cited},
                                .call_timeout = 1s};

TEST_SUITE_BEGIN("batches");

/// a is applied, b is refused, and of c nothing comes back: it is the last one, and cut off.
template <class Contract> struct three {
    explicit three(Contract documented) : s(documented) {
        s.budget.looks = 2;
        s.shop.on_submit(applied);
        s.shop.on_submit(refuses);
        s.shop.on_submit(request_lost);
        *s.shop.answered = 2;
        s.shop.on_lookup(truthful, 3);
        s.shop.always_on_lookup(down); // nobody answers after the call
    }
    auto run() { return run_all(s, all, {.deadline = 100ms}); }
    state_id state(std::size_t i) { return s.stored(all[i].first).state; }

    bulk<Contract> s;
    pairs all{{{"shop", "a"}, "1"}, {{"shop", "b"}, "2"}, {{"shop", "c"}, "3"}};
};

TEST_CASE("one is applied, one refused, one not answered: each has an outcome of its own [W07]") {
    three t(guaranteed_and_proving);
    auto const told = t.run();
    CHECK(told[0]);
    CHECK(told[1].error().rule() == rule::refused_by_provider);
    CHECK_FALSE(told[1].error().in_doubt());
    CHECK(told[2].error().in_doubt());
    CHECK(t.state(0) == state_id::confirmed);
    CHECK(t.state(1) == state_id::rejected);
    CHECK(t.state(2) == state_id::uncertain);
    CHECK(*t.s.shop.calls == std::vector<std::size_t>{3});
    CHECK(t.s.truth->effects("a") == 1);
}

TEST_CASE("the next call contains what is open, and only under a guarantee [W07]") {
    three t(guaranteed_and_proving);
    (void)t.run();
    *t.s.shop.answered = 3;
    t.s.shop.always_on_lookup(truthful);
    t.s.clock.advance(3s);
    auto const told = t.run();
    CHECK(told[0]);
    CHECK(told[1].error().rule() == rule::refused_by_provider);
    CHECK(told[2]);
    CHECK(*t.s.shop.calls == std::vector<std::size_t>{3, 1});
    CHECK(t.s.truth->sends() == 4);
    CHECK(t.s.truth->effects("a") == 1);
    CHECK(t.s.truth->effects("b") == 0);
    CHECK(t.s.truth->effects("c") == 1);
    CHECK(t.s.truth->distinct_bodies() == 3);

    three u(only_proving);
    (void)u.run();
    u.s.shop.always_on_lookup(truthful);
    u.s.clock.advance(3s);
    auto const without = u.run();
    CHECK(without[0]);
    CHECK_FALSE(without[2]);
    CHECK(without[2].error().in_doubt());
    CHECK(*u.s.shop.calls == std::vector<std::size_t>{3});
    CHECK(u.s.truth->sends() == 3);
    CHECK(u.s.truth->effects("a") == 1);
    CHECK(u.s.truth->effects("c") == 0);
}

TEST_CASE("an unreadable reply leaves all of them uncertain [W07]") {
    for (bool thrown : {true, false}) {
        three t(guaranteed_and_proving);
        *t.s.shop.answered = 0;
        *t.s.shop.fails = thrown;
        auto const told = t.run();
        for (std::size_t i = 0; i != 3; ++i) {
            CHECK(told[i].error().in_doubt());
            CHECK(t.state(i) == state_id::uncertain);
        }
        *t.s.shop.answered = 3;
        *t.s.shop.fails = false;
        t.s.shop.always_on_lookup(truthful);
        t.s.shop.on_submit(refuses); // b and c were not applied, and go out again
        t.s.clock.advance(3s);
        auto const next = t.run();
        CHECK(next[0]);
        CHECK(*t.s.shop.calls == std::vector<std::size_t>{3, 2});
        CHECK(t.s.truth->effects("a") == 1);
        // Of the first attempt to b nothing is known: a refusal of the second proves nothing of it.
        CHECK(t.state(1) == state_id::uncertain);
        CHECK(t.state(2) == state_id::confirmed);
    }
}

TEST_CASE("a refusal of the whole batch is a refusal of none of them for good [H25]") {
    // What a provider makes of "the batch is too large": it says nothing of any operation.
    three t(guaranteed_and_proving);
    bulk<std::remove_const_t<decltype(guaranteed_and_proving)>> s(guaranteed_and_proving);
    s.budget.attempts = 2;
    for (int i = 0; i != 3; ++i)
        s.shop.on_submit(shop_of<decltype(bare)>::replies(refused{.for_good = false}));
    auto const told = run_all(s, t.all);
    CHECK(confirmed_of(told) == 3);
    CHECK(*s.shop.calls == std::vector<std::size_t>{3, 3});
    check_effects(s, t.all, told);
}

TEST_CASE("every attempt of a batch carries the key and the bytes of its operation [H25]") {
    struct keys : bulk_shop<std::remove_const_t<decltype(prompt)>> {
        using bulk = bulk_shop<std::remove_const_t<decltype(prompt)>>;
        using bulk::bulk_shop;
        using bulk::submit;
        std::string key_for(identity const& id, unsigned generation) const {
            return "k-" + id.key + "-" + std::to_string(generation);
        }
    };
    one_shop<std::remove_const_t<decltype(prompt)>, keys> s(prompt);
    auto const told = run_all(s, orders(3));
    CHECK(confirmed_of(told) == 3);
    CHECK(s.truth->distinct_keys() == 3);
    CHECK(s.truth->distinct_bodies() == 3);
    CHECK(s.truth->effects("k-order-1-1") == 1);
}

TEST_SUITE_END();

} // namespace
