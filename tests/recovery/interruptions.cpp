// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#include <recovery/by_hand.hpp>

#include <doctest/doctest.h>

#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>

// What interrupts a run: a stop, an exception of the provider, a cancel, endless waits.

namespace {

using namespace scene;
using shop = provider_of<std::string>;

auto const applied = shop_of<decltype(bare)>::applied;
auto const applied_reply_lost = shop_of<decltype(bare)>::applied_reply_lost;
auto const request_lost = shop_of<decltype(bare)>::request_lost;
auto const down = shop_of<decltype(bare)>::down;
auto const empty = shop_of<decltype(bare)>::empty;
auto const truthful = shop_of<decltype(bare)>::truthful;

TEST_SUITE_BEGIN("interruptions");

TEST_CASE("a stop that was requested before stops before anything is asked") {
    one_shop s(bare);
    std::stop_source stop;
    stop.request_stop();
    auto const done = s.run({.stop = stop.get_token()});
    REQUIRE(done.has_error());
    CHECK(done.error().rule() == rule::stopped);
    CHECK_FALSE(done.error().in_doubt());
    CHECK(s.state() == state_id::pending);
    CHECK(s.truth->looks() + s.truth->sends() == 0);
    CHECK(s.run());
}

TEST_CASE("a stop during a look-up stops before the send, and one during the send after it") {
    one_shop s(bare);
    std::stop_source stop;
    s.shop.on_lookup([&](shop::query const& q, world& w) {
        CHECK_FALSE(q.stop.stop_requested());
        stop.request_stop();
        CHECK(q.stop.stop_requested());
        return truthful(q, w);
    });
    CHECK(s.run({.stop = stop.get_token()}).error().rule() == rule::stopped);
    CHECK(s.truth->sends() == 0);

    stop = {};
    s.shop.on_submit([&](shop::attempt const& a, world& w) {
        stop.request_stop();
        CHECK(a.stop().stop_requested());
        return applied_reply_lost(a, w);
    });
    auto const done = s.run({.stop = stop.get_token()});
    CHECK(done.error().rule() == rule::stopped);
    CHECK(done.error().in_doubt());
    CHECK(s.state() == state_id::uncertain);
    CHECK(s.stored().claim == claim{});
}

TEST_CASE("a provider that asks for endless time is left alone, and nothing overflows") {
    for (shop::keyed_reply const& said :
         {shop::keyed_reply(in_progress{.retry_after = milliseconds::max()}),
          shop::keyed_reply(refused{.for_good = false, .retry_after = milliseconds::max()})}) {
        one_shop s(deduplicating);
        s.budget.overall = std::nullopt;
        s.shop.on_submit([&](shop::attempt const&, world&) { return said; });
        auto const done = s.run({.deadline = milliseconds::max()});
        REQUIRE(done.has_error());
        CHECK(s.truth->sends() == 1);
    }
}

// ---- exceptions ---------------------------------------------------------------------------------

TEST_CASE("an exception of submit reaches the caller and leaves the operation to the next") {
    for (bool cancelled_meanwhile : {false, true}) {
        one_shop s(bare);
        auto p = s.start();
        s.shop.on_submit([&](shop::attempt const& a, world& w) -> shop::keyed_reply {
            w.apply(a.key(), a.bytes());
            if (cancelled_meanwhile) REQUIRE(p.cancel(s.id));
            throw std::runtime_error("the client library gave up");
        });
        CHECK_THROWS_AS((void)p.run(s.id, s.request), std::runtime_error);
        CHECK(s.state() == state_id::uncertain);
        CHECK(s.stored().claim == claim{});
        CHECK(s.journal.unflushed() == 0);
        CHECK(p.run(s.id, s.request));
        CHECK(s.stored().clean_up_due == cancelled_meanwhile);
        CHECK(s.truth->sends() == 1);
        CHECK(s.truth->effects() == 1);
    }
}

TEST_CASE("an exception of lookup proves nothing: nothing is sent, and the claim is given back") {
    one_shop s(bare);
    auto p = s.start();
    auto const throws = [](shop::query const&, world&) -> shop::answer {
        throw std::runtime_error("the connection was reset");
    };
    s.shop.on_lookup(throws);
    CHECK_THROWS_AS((void)p.run(s.id, s.request), std::runtime_error);
    CHECK(s.state() == state_id::pending);
    CHECK(s.truth->sends() == 0);

    s.shop.on_lookup(truthful);
    s.shop.on_lookup(throws); // after the send
    CHECK_THROWS_AS((void)p.run(s.id, s.request), std::runtime_error);
    CHECK(s.state() == state_id::uncertain);
    CHECK(s.stored().claim == claim{});
    CHECK(p.run(s.id, s.request));
    CHECK(s.truth->sends() == 1);
}

TEST_CASE("a cancel while a call is out leaves no claim behind, whatever the call brings") {
    for (bool stays_open : {true, false}) {
        one_shop s(bare);
        auto p = s.start();
        s.shop.on_submit([&](shop::attempt const& a, world& w) -> shop::keyed_reply {
            REQUIRE(p.cancel(s.id));
            return stays_open ? request_lost(a, w) : applied(a, w);
        });
        s.shop.on_lookup(truthful);
        s.shop.on_lookup([&](shop::query const& q, world& w) { return down(q, w); });
        (void)p.run(s.id, s.request, {.deadline = 50ms});
        CHECK(s.stored().claim == claim{});
        auto const next = p.run(s.id, s.request);
        CHECK(next.has_value() == !stays_open);
        if (!next) CHECK(next.error().rule() != rule::in_progress);
    }
}

TEST_CASE("a cancel right before a pause is not slept through") {
    one_shop s(deduplicating);
    s.budget.first_delay = s.budget.longest_delay = 30s;
    s.budget.first_look_delay = 0ms;
    auto p = s.start();
    s.shop.on_submit(request_lost);
    s.shop.on_lookup(empty);
    s.shop.on_lookup([&](shop::query const& q, world& w) {
        REQUIRE(p.cancel(s.id)); // the answer leads to a pause before the resend
        return empty(q, w);
    });
    s.shop.always_on_lookup(empty);
    auto const begun = s.clock.elapsed();
    auto const done = p.run(s.id, s.request);
    CHECK(done.error().rule() == rule::cancelled_by_caller);
    CHECK(done.error().in_doubt());
    CHECK(s.clock.elapsed() == begun);
    CHECK(s.truth->sends() == 1);
}

TEST_SUITE_END();

} // namespace
