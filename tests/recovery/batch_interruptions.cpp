// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#include <recovery/batches.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <stop_token>
#include <utility>

// What interrupts a batch: exceptions, stops, deadlines, late permits, a journal that fails and
// power cuts, at every step.

namespace {

using namespace scene;
using shop = provider_of<std::string>;

auto const applied = shop_of<decltype(bare)>::applied;
auto const applied_reply_lost = shop_of<decltype(bare)>::applied_reply_lost;
auto const request_lost = shop_of<decltype(bare)>::request_lost;
auto const truthful = shop_of<decltype(bare)>::truthful;

TEST_SUITE_BEGIN("interrupted batches");

// ---- exceptions, stops, deadlines ---------------------------------------------------------------

TEST_CASE("an exception in the middle of the sends is told for that operation") {
    for (bool arrived : {true, false}) {
        one_shop s(bare);
        auto const all = orders(3);
        s.shop.on_submit(applied);
        s.shop.on_submit([&](shop::attempt const& a, world& w) -> shop::keyed_reply {
            if (arrived) w.apply(a.key(), a.bytes());
            throw std::runtime_error("the client library gave up");
        });
        auto told = run_all(s, all);
        CHECK(told[0]);
        CHECK(told[1].error().rule() == rule::interrupted);
        CHECK(told[1].error().in_doubt());
        CHECK(told[2]);
        check_effects(s, all, told);
        CHECK(s.stored(all[1].first).state == state_id::uncertain);
        CHECK(s.stored(all[1].first).claim == claim{});
        CHECK(s.journal.unflushed() == 0);
        told = run_all(s, all);
        CHECK(told[1].has_value() == arrived);
        CHECK(s.truth->sends() == 3);
    }
}

TEST_CASE("an exception that is none of the standard ones ends the batch, and what was not sent "
          "is recorded as that") {
    one_shop s(bare);
    auto p = s.start();
    auto const all = orders(3);
    s.shop.on_submit(applied);
    s.shop.on_submit([&](shop::attempt const&, world&) -> shop::keyed_reply { throw 1; });
    CHECK_THROWS_AS((void)p.run_all(all), int);
    CHECK(s.truth->sends() == 2);
    for (auto const& [id, wanted] : all)
        CHECK(s.stored(id).claim == claim{});
    CHECK(s.stored(all[2].first).state == state_id::pending);
    CHECK(s.journal.unflushed() == 0);
    s.cut_power();
    (void)run_all(s, all);
    CHECK(s.truth->sends() == 3);
    CHECK(s.truth->effects() == 2);
}

TEST_CASE("exceptions of look-ups, keys, observers and hooks are each of one operation") {
    staged_shop s(bare);
    auto p = s.start();
    auto const all = orders(3);
    s.shop.on_lookup([](shop::query const&, world&) -> shop::answer {
        throw std::runtime_error("the connection was reset");
    });
    s.shop.on_submit(shop_of<decltype(bare)>::replies(refused{}));
    s.hook->then = [](unapplied_operation const&) -> bool { throw std::runtime_error("full"); };
    auto const told = p.run_all(all);
    CHECK(told[0].error().rule() == rule::interrupted);
    CHECK_FALSE(told[0].error().in_doubt());
    CHECK(told[1].error().rule() == rule::interrupted);
    CHECK(told[1].error().state() == state_id::rejected);
    CHECK(told[2]);
    CHECK(s.calls() == 1);
    CHECK(s.truth->effects() == 1);
    CHECK(s.journal.unflushed() == 0);
}

TEST_CASE("a stop in the middle ends the batch: what is not sent by then is not sent") {
    for (std::size_t at : {0U, 1U, 2U}) {
        CAPTURE(at);
        one_shop s(bare);
        auto const all = orders(3);
        std::stop_source stop;
        for (std::size_t i = 0; i != at; ++i)
            s.shop.on_submit(applied);
        s.shop.on_submit([&](shop::attempt const& a, world& w) {
            stop.request_stop();
            return applied_reply_lost(a, w);
        });
        auto const told = run_all(s, all, {.stop = stop.get_token()});
        CHECK(s.truth->sends() == at + 1);
        for (std::size_t i = 0; i != 3; ++i) {
            CHECK(told[i].error().rule() == rule::stopped);
            CHECK(told[i].error().in_doubt() == (i <= at));
            CHECK(s.stored(all[i].first).claim == claim{});
        }
        CHECK(s.journal.unflushed() == 0);
        check_effects(s, all, told);
        CHECK(confirmed_of(run_all(s, all)) == 3);
        CHECK(s.truth->effects() == 3);
        CHECK(s.truth->sends() == 3);
    }
}

TEST_CASE("a stop during the look-ups ends the batch before anything is sent") {
    one_shop s(bare);
    std::stop_source stop;
    s.shop.on_lookup(truthful);
    s.shop.on_lookup([&](shop::query const& q, world& w) {
        stop.request_stop();
        return truthful(q, w);
    });
    auto const told = run_all(s, orders(3), {.stop = stop.get_token()});
    for (auto const& one : told) {
        CHECK(one.error().rule() == rule::stopped);
        CHECK_FALSE(one.error().in_doubt());
    }
    CHECK(s.truth->looks() == 2);
    CHECK(s.truth->sends() == 0);
}

TEST_CASE("the deadline is that of the whole batch") {
    one_shop s(bare);
    auto const all = orders(3);
    s.shop.on_submit([&](shop::attempt const& a, world& w) {
        CHECK(a.time_left() == 5s);
        s.clock.advance(5s);
        return applied(a, w);
    });
    auto told = run_all(s, all, {.deadline = 5s});
    CHECK(s.truth->sends() == 1);
    for (std::size_t i = 0; i != 3; ++i) {
        CHECK(told[i].error().rule() == rule::deadline_reached);
        CHECK(told[i].error().in_doubt() == (i == 0));
    }
    told = run_all(s, all, {.deadline = 0ms});
    CHECK(told[1].error().rule() == rule::deadline_reached);
    CHECK(s.truth->sends() == 1);
    CHECK(confirmed_of(run_all(s, all)) == 3);
    CHECK(s.truth->effects() == 3);
    CHECK(s.truth->sends() == 3);
}

TEST_CASE("a send that comes too late after the flush is looked up again, and goes out once") {
    one_shop s(prompt); // call_timeout is a second
    auto const all = orders(5);
    for (int i = 0; i != 5; ++i) {
        s.shop.on_submit([&](shop::attempt const& a, world& w) {
            s.clock.advance(600ms);
            return applied(a, w);
        });
    }
    auto const told = run_all(s, all);
    CHECK(confirmed_of(told) == 5);
    check_effects(s, all, told);
    CHECK(s.truth->sends() == 5);
}

// ---- one remote call ----------------------------------------------------------------------------

TEST_CASE("an exception of the one call leaves all of them as they are recorded") {
    for (bool arrived : {true, false}) {
        bulk<decltype(deduplicating)> s(deduplicating);
        auto const all = orders(3);
        *s.shop.fails = true;
        if (!arrived) {
            for (int i = 0; i != 3; ++i)
                s.shop.on_submit(request_lost);
        }
        auto told = run_all(s, all);
        for (std::size_t i = 0; i != 3; ++i) {
            CHECK(told[i].error().rule() == rule::interrupted);
            CHECK(told[i].error().in_doubt());
            CHECK(s.stored(all[i].first).state == state_id::uncertain);
            CHECK(s.stored(all[i].first).claim == claim{});
        }
        CHECK(s.shop.calls->size() == 1);
        CHECK(s.journal.unflushed() == 0);
        *s.shop.fails = false;
        told = run_all(s, all);
        CHECK(confirmed_of(told) == 3);
        CHECK(s.truth->effects() == 3);
        CHECK(s.truth->sends() == (arrived ? 3 : 6));
    }
}

TEST_CASE("a call of run, or of what another call needs, is for one attempt") {
    bulk<decltype(prompt)> s(prompt);
    CHECK(s.run());
    CHECK(s.shop.calls->empty());
    CHECK(confirmed_of(run_all(s, orders(1))) == 1);
    CHECK(*s.shop.calls == std::vector<std::size_t>{1});
}

// ---- power cuts and failures --------------------------------------------------------------------

/// A batch of three whose n-th step of the journal fails, for every n.
template <class Scene> void fail_every_step(std::function<void(Scene&)> const& script) {
    auto const all = orders(3);
    for (std::uint64_t n = 1; n != 100; ++n) {
        Scene probe(prompt);
        script(probe);
        probe.journal.fail_at(n);
        auto const told = run_all(probe, all);
        auto const steps = probe.journal.steps();
        auto const unflushed = probe.journal.unflushed();
        for (std::size_t kept = 0; kept <= unflushed; ++kept) {
            CAPTURE(n);
            CAPTURE(kept);
            Scene s(prompt);
            script(s);
            s.journal.fail_at(n);
            auto const now = run_all(s, all);
            check_effects(s, all, now);
            s.journal.power_cut(kept);
            for (auto const& [id, wanted] : all) // no bytes without a durable attempt
                CHECK(s.stored(id).attempts.size() >= s.truth->effects(id.key));
            for (std::size_t i = 0; i != 3; ++i) {
                if (now[i]) CHECK(s.stored(all[i].first).state == state_id::confirmed);
            }
            s.shop.always_on_lookup(truthful);
            (void)run_all(s, all);
            for (auto const& [id, wanted] : all)
                CHECK(s.truth->effects(id.key) <= 1);
            if (now[0]) CHECK(run_all(s, all)[0]);
        }
        if (steps < n) {
            CHECK(n > 15);
            CHECK(told[2]);
            return;
        }
    }
    FAIL("it never got through");
}

TEST_CASE("whichever step of the journal fails: nothing told is lost, and nothing is doubled") {
    using plain = one_shop<std::remove_const_t<decltype(prompt)>>;
    fail_every_step<plain>([](plain&) {});
    fail_every_step<plain>([](plain& s) {
        s.shop.on_submit(applied_reply_lost);
        s.shop.on_submit(shop_of<std::remove_const_t<decltype(prompt)>>::replies(refused{}));
    });
    using together = bulk<std::remove_const_t<decltype(prompt)>>;
    fail_every_step<together>([](together& s) { *s.shop.answered = 2; });
}

/// The power goes when the provider is called for the n-th time: the process is gone with it.
struct power_is_gone {};

TEST_CASE("a power cut at each call of the provider: what was sent is on record") {
    auto const all = orders(3);
    for (int n = 0; n != 9; ++n) {
        CAPTURE(n);
        one_shop s(prompt);
        int calls = 0;
        bool gone = false;
        auto const at = [&] {
            if (calls++ != n) return;
            s.cut_power();
            gone = true;
            throw power_is_gone();
        };
        for (int i = 0; i != 6; ++i) {
            s.shop.on_lookup([&](shop::query const& q, world& w) {
                if (!gone) at();
                return truthful(q, w);
            });
            s.shop.on_submit([&](shop::attempt const& a, world& w) {
                auto const reply = applied(a, w);
                if (!gone) at();
                return reply;
            });
        }
        {
            auto p = s.start();
            CHECK_THROWS_AS((void)p.run_all(all), power_is_gone);
        }
        s.cut_power();
        for (auto const& [id, wanted] : all)
            CHECK(s.stored(id).attempts.size() >= s.truth->effects(id.key));
        auto const told = run_all(s, all);
        CHECK(confirmed_of(told) == 3);
        check_effects(s, all, told);
    }
}

TEST_SUITE_END();

} // namespace
