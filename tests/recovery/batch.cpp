// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#include <recovery/batches.hpp>
#include <recovery/by_hand.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <string>
#include <vector>

// Many operations in one call: how often it flushes, what goes out together, and that what happens
// to one of them leaves the others alone.

namespace {

using namespace scene;
using shop = provider_of<std::string>;

auto const applied = shop_of<decltype(bare)>::applied;
auto const applied_reply_lost = shop_of<decltype(bare)>::applied_reply_lost;
auto const truthful = shop_of<decltype(bare)>::truthful;
auto const request_lost = shop_of<decltype(bare)>::request_lost;

TEST_SUITE_BEGIN("batch");

static_assert(provider_policy<bulk_shop<decltype(prompt)>>);
static_assert(detail::submits_many<bulk_shop<decltype(prompt)>>);
static_assert(!detail::submits_many<shop_of<decltype(prompt)>>);

// ---- flushes ------------------------------------------------------------------------------------

TEST_CASE("a batch of a hundred costs two flushes, and one where its look-ups are told early") {
    for (tell how : {tell::durable, tell::early}) {
        one_shop s(prompt);
        hooked_storage counted(s.journal);
        auto p = over(s, counted);
        auto const all = orders(100);
        auto const told = p.run_all(all, {.tell = how});
        CHECK(confirmed_of(told) == 100);
        check_effects(s, all, told);
        CHECK(counted.flushes == (how == tell::early ? 1 : 2));
        CHECK((s.journal.unflushed() == 0) == (how == tell::durable));
        CHECK(s.ears.heard->size() == 400); // begun, sent, a receipt, confirmed
        CHECK(s.truth->sends() == 100);
        CHECK(s.truth->looks() == 200);
        s.cut_power();
        CHECK(confirmed_of(run_all(s, all)) == 100);
        CHECK(s.truth->sends() == 100);
    }
}

TEST_CASE("where one of them may not be told early, all are flushed") {
    one_shop s(prompt);
    hooked_storage counted(s.journal);
    auto p = over(s, counted);
    s.shop.on_submit(shop_of<decltype(prompt)>::replies(refused{}));
    auto const told = p.run_all(orders(3), {.tell = tell::early});
    CHECK(confirmed_of(told) == 2);
    CHECK(told[0].error().rule() == rule::refused_by_provider);
    CHECK(counted.flushes == 2);
    CHECK(s.journal.unflushed() == 0);
}

TEST_CASE("every look-up comes before the flush, and every send after it") {
    one_shop s(prompt);
    auto const all = orders(3);
    for (std::size_t i = 0; i != 3; ++i) {
        s.shop.on_submit([&, i](shop::attempt const& a, world& w) {
            CHECK(w.looks() == 3);
            CHECK(s.journal.unflushed() <= 2 * i); // what the ones before it left
            for (auto const& [id, wanted] : all)
                CHECK(s.stored(id).attempts.size() == 1);
            return applied(a, w);
        });
    }
    auto const told = run_all(s, all);
    CHECK(confirmed_of(told) == 3);
}

TEST_CASE("a thousand operations, with one call of the provider or a thousand") {
    auto const all = orders(1000);
    one_shop s(prompt);
    auto told = run_all(s, all);
    CHECK(confirmed_of(told) == 1000);
    check_effects(s, all, told);

    bulk<decltype(prompt)> b(prompt);
    told = run_all(b, all);
    CHECK(confirmed_of(told) == 1000);
    check_effects(b, all, told);
    CHECK(*b.shop.calls == std::vector<std::size_t>{1000});
    CHECK(run_all(s, {}).empty());
}

TEST_CASE("what must be tried again, or waited for, goes out together once more") {
    one_shop s(deduplicating);
    hooked_storage counted(s.journal);
    auto p = over(s, counted);
    for (int i = 0; i != 3; ++i)
        s.shop.on_submit(request_lost);
    auto const all = orders(4);
    auto const told = p.run_all(all);
    CHECK(confirmed_of(told) == 4);
    check_effects(s, all, told);
    CHECK(s.truth->sends() == 7);
    CHECK(s.truth->distinct_keys() == 4);
    CHECK(counted.flushes <= 5);
}

// ---- one of them --------------------------------------------------------------------------------

TEST_CASE("a lost compare-and-set drops that operation alone, and it is not sent [H25]") {
    for (bool cancelled : {true, false}) {
        CAPTURE(cancelled);
        one_shop s(bare);
        auto const all = orders(3);
        hooked_storage hooked(s.journal);
        auto p = over(s, hooked);
        s.shop.on_lookup(truthful, 2);
        s.shop.on_lookup([&](shop::query const& q, world& w) {
            hooked.before_replace = [&] { // all have looked; the first is about to be written
                auto other = s.start();
                if (cancelled) REQUIRE(other.cancel(all[1].first));
                if (!cancelled) REQUIRE(other.run(all[1].first, all[1].second));
            };
            return truthful(q, w);
        });
        auto const told = p.run_all(all);
        CHECK(told[0]);
        CHECK(told[1].has_value() == !cancelled);
        CHECK(told[2]);
        check_effects(s, all, told);
        CHECK(s.truth->sends() == (cancelled ? 2 : 3));
        if (cancelled) CHECK(told[1].error().rule() == rule::cancelled_by_caller);
    }
}

TEST_CASE("what another process has under way is left to it, and the rest goes on [H25]") {
    one_shop s(bare);
    auto const all = orders(3);
    auto other = s.start();
    auto p = s.start();
    std::vector<rule> heard;
    s.shop.on_submit([&](shop::attempt const& a, world& w) {
        auto const told = p.run_all(all);
        CHECK(told[0]);
        heard.push_back(told[1].error().rule());
        CHECK(told[2]);
        return applied(a, w);
    });
    CHECK(other.run(all[1].first, all[1].second));
    CHECK(heard == std::vector{rule::in_progress});
    CHECK(s.truth->effects() == 3);
    CHECK(s.truth->sends() == 3);
}

TEST_CASE("what cannot be begun is told, each by itself [H25]") {
    one_shop s(bare);
    REQUIRE(s.run({"shop", "order-1"}, "something else"));
    auto all = orders(3);
    all.push_back({{"shop", ""}, "no key"});
    all.push_back({{"shop", "large"}, std::string(longest_request + 1, 'x')});
    auto const told = run_all(s, all);
    CHECK(told[0]);
    CHECK(told[1].error().rule() == rule::conflicting_intent);
    CHECK(told[2]);
    CHECK(told[3].error().rule() == rule::malformed_identity);
    CHECK(told[4].error().rule() == rule::too_large);
    CHECK(s.truth->sends() == 3);
    CHECK(s.truth->effects() == 3);
}

TEST_CASE("a key is that of its operation, and so is what a contract guarantees for it [H25]") {
    one_shop s(deduplicating);
    s.budget.attempts = 1;
    auto const all = orders(2);
    s.shop.on_submit(request_lost);
    CHECK_FALSE(run_all(s, {all[0]}, {.deadline = 50ms})[0]);
    s.clock.advance(2h); // the window of the first is over
    s.budget.attempts = 3;
    s.shop.on_submit(request_lost);
    auto const told = run_all(s, all);
    CHECK_FALSE(told[0]);
    CHECK(s.stored(all[0].first).state == state_id::in_review);
    CHECK(told[1]);
    CHECK(s.truth->sends() == 3); // one of the first, two of the second
    CHECK(s.truth->effects(all[1].first.key) == 1);
}

TEST_CASE("an identity twice in a batch is run once, and both hear of it") {
    one_shop s(bare);
    auto all = orders(2);
    all.push_back(all[0]);
    all.push_back({all[1].first, "another request"});
    s.shop.on_submit(applied_reply_lost);
    auto const told = run_all(s, all);
    REQUIRE(told[0]);
    REQUIRE(told[2]);
    CHECK(told[0].value().receipt == told[2].value().receipt);
    CHECK_FALSE(told[2].value().before_this_run);
    CHECK(told[1]);
    CHECK(told[3].error().rule() == rule::conflicting_intent);
    CHECK(s.truth->sends() == 2);
    CHECK(s.truth->effects() == 2);
}

TEST_CASE("a call about one of them from within its own is answered in_progress") {
    bulk<decltype(bare)> s(bare);
    auto p = s.start();
    auto const all = orders(2);
    s.shop.on_submit([&](shop::attempt const& a, world& w) {
        for (auto const& inner : p.run_all(all))
            CHECK(inner.error().rule() == rule::in_progress);
        CHECK(p.run(all[1].first, all[1].second).error().rule() == rule::in_progress);
        return applied(a, w);
    });
    auto const told = p.run_all(all);
    CHECK(confirmed_of(told) == 2);
    CHECK(s.truth->sends() == 2);
}

TEST_SUITE_END();

} // namespace
