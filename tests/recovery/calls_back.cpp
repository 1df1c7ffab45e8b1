// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#include <scene.hpp>

#include <doctest/doctest.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>

// Policies that call the library back, from within a call: about their own operation they hear that
// it is in progress, about another one they are answered. For hooks see hooks_in_company.cpp.

namespace {

using namespace scene;
using shop = provider_of<std::string>;

auto const applied = shop_of<decltype(bare)>::applied;
auto const truthful = shop_of<decltype(bare)>::truthful;
by const ann{"ann", "asked the shop"};

/// Asks for the operation of the scene, and for another one of its own each time.
struct caller {
    template <class Process, class Scene> void call(Process& p, Scene& s) {
        ++calls;
        for (auto const& inner : {p.run(s.id, s.request), p.reconcile(s.id)}) {
            REQUIRE(inner.has_error());
            CHECK(inner.error().rule() == rule::in_progress);
            CHECK(inner.error().in_doubt());
        }
        auto const other = p.run({"shop", "inner-" + std::to_string(calls)}, "a pen");
        CHECK(other);
    }
    unsigned calls = 0;
};

/// Tells whoever it is set to tell; it is not called from within itself.
struct talker {
    std::shared_ptr<std::function<void(transition_event const&)>> to =
        std::make_shared<std::function<void(transition_event const&)>>();
    void on_transition(transition_event const& e) {
        if (auto now = std::exchange(*to, nullptr)) {
            now(e);
            *to = std::move(now);
        }
    }
};

template <class Contract>
using talking = recovery<policies<shop_of<Contract>, lossy_storage&, exact_fingerprint,
                                  bounded_budget, manual_clock, talker>>;

TEST_SUITE_BEGIN("calls back");

TEST_CASE("submit that calls back sends its own operation no second time [T5]") {
    one_shop s(deduplicating); // a second send would be allowed
    auto p = s.start();
    caller inner;
    s.shop.on_submit([&](shop::attempt const& a, world& w) -> shop::keyed_reply {
        inner.call(p, s);
        CHECK(p.resume_all([](identity const&, auto const&) { CHECK(false); }));
        return applied(a, w);
    });
    CHECK(p.run(s.id, s.request));
    CHECK(inner.calls == 1);
    CHECK(s.truth->effects(s.id.key) == 1);
    CHECK(s.truth->sends() == 2); // its own and the other's
}

TEST_CASE("a look-up that calls back leaves its own operation to whoever asked it [T5]") {
    for (bool sent : {false, true}) {
        one_shop s(deduplicating);
        auto p = s.start();
        caller inner;
        auto const look = [&](shop::query const& q, world& w) {
            inner.call(p, s);
            return truthful(q, w);
        };
        if (sent) s.shop.on_lookup(truthful);
        s.shop.on_lookup(look);
        CHECK(p.run(s.id, s.request));
        CHECK(inner.calls == 1);
        CHECK(s.truth->effects(s.id.key) == 1);
        CHECK(s.truth->sends() == 2);
    }
}

TEST_CASE("an observer that calls back is answered in the same way [T5]") {
    one_shop s(deduplicating);
    talker ears;
    talking<std::remove_cvref_t<decltype(deduplicating)>> p(
        {s.shop, s.journal, {}, s.budget, s.clock, ears});
    caller inner;
    *ears.to = [&](transition_event const& e) {
        if (e.identity == s.id) inner.call(p, s);
    };
    CHECK(p.run(s.id, s.request));
    CHECK(inner.calls == 4); // pending, sent, its receipt recorded, confirmed
    CHECK(s.truth->effects(s.id.key) == 1);
    CHECK(s.truth->sends() == 1 + 4);
    CHECK(s.truth->effects() == 1 + 4);
}

TEST_CASE("an observer of a cancel or of what was told calls back in vain, too [T5]") {
    for (bool cancels : {true, false}) {
        one_shop s(bare);
        s.shop.on_lookup(shop_of<decltype(bare)>::down, s.budget.looks);
        CHECK(s.run().has_error());
        REQUIRE(s.state() == state_id::pending);
        talker ears;
        talking<std::remove_cvref_t<decltype(bare)>> p(
            {s.shop, s.journal, {}, s.budget, s.clock, ears});
        caller inner;
        *ears.to = [&](transition_event const& e) {
            if (e.identity == s.id) inner.call(p, s);
        };
        if (cancels) {
            REQUIRE(p.cancel(s.id));
            CHECK(s.state() == state_id::cancelled);
        } else {
            CHECK(p.observe(s.id, shop::effect{"r-9", s.id.key, s.request}));
            CHECK(s.state() == state_id::confirmed);
        }
        CHECK(inner.calls == 1);
        CHECK(s.truth->sends() == 1); // the other one's
    }
}

TEST_CASE("the look-up of an adoption calls back in vain, too [T5]") {
    one_shop s(bare);
    s.shop.on_submit(shop_of<decltype(bare)>::request_lost);
    CHECK(s.run().has_error());
    REQUIRE(s.state() == state_id::in_review);
    s.truth->put({.key = s.id.key, .request = s.request, .receipt = "r-9"});
    auto p = s.start();
    caller inner;
    s.shop.on_lookup([&](shop::query const& q, world& w) {
        inner.call(p, s);
        return truthful(q, w);
    });
    REQUIRE(p.adopt(s.id, "r-9", ann));
    CHECK(s.state() == state_id::confirmed);
    CHECK(inner.calls == 1);
    CHECK(s.stored().receipt == "r-9");
}

TEST_CASE("from within submit what another channel tells is taken [T5]") {
    one_shop s(deduplicating);
    auto p = s.start();
    s.shop.on_submit([&](shop::attempt const& a, world& w) -> shop::keyed_reply {
        auto const receipt = w.apply(a.key(), a.bytes());
        CHECK(p.observe(s.id, shop::effect{receipt, s.id.key, s.request}));
        return unknown{};
    });
    auto const done = p.run(s.id, s.request);
    REQUIRE(done);
    CHECK(done.value().receipt == "r-1");
    CHECK(s.state() == state_id::confirmed);
    CHECK(s.stored().claim == claim{});
    CHECK(s.truth->sends() == 1);
}

TEST_SUITE_END();

} // namespace
