// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#include <recovery/staged_shop.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

// A remote cancel, which is a write like any other; and attempts that come to different ends.

namespace {

using namespace scene;
using shop = provider_of<std::string>;

struct exchange {
    enum class status {
        open,
        filled,
        cancelled
    };
    status order = status::open;
    std::string cancelled_under{};
    std::size_t calls = 0;
    bool replies_lost = false, fills_first = false;

    bool cancel(std::string_view key) {
        ++calls;
        if (fills_first) order = status::filled;
        if (order != status::open) return false;
        order = status::cancelled;
        cancelled_under = key;
        return true;
    }
};

struct canceller : provider_of<std::string> {
    static constexpr auto target = "exchange/cancels";
    static constexpr indoubt::contract contract = prompt;

    reply submit(attempt const& a) {
        bool const done = market->cancel(a.key());
        if (market->replies_lost) return unknown{};
        if (!done) return refused{};
        return accepted{a.request()};
    }
    answer lookup(query const& q) {
        complete all{.target_id = q.request};
        bool const asked = !q.target_id.empty();
        switch (market->order) {
        case exchange::status::open: break;
        case exchange::status::filled:
            if (!asked) return no_target{};
            all.effects.push_back(
                {q.request, std::string(q.key), q.request, true, effect_status::failed_for_good});
            break;
        case exchange::status::cancelled:
            all.effects.push_back({q.request, market->cancelled_under, q.request});
        }
        return all;
    }
    std::shared_ptr<exchange> market = std::make_shared<exchange>();
};

struct trading {
    using process = recovery<
        policies<canceller, lossy_storage&, exact_fingerprint, bounded_budget, manual_clock>>;
    auto run() {
        process p({service, journal, {}, plain_budget, clock});
        return p.run({"cancels", "of order 7"}, "7");
    }
    canceller service;
    exchange& market = *service.market;
    lossy_storage journal;
    manual_clock clock;
};

TEST_SUITE_BEGIN("cases: cancels and attempts");

TEST_CASE("a cancel of an order is an operation of its own, and is made once [H22]") {
    for (bool lost : {false, true}) {
        trading s;
        s.market.replies_lost = lost;
        CHECK(s.run());
        CHECK(s.run());
        CHECK(s.market.order == exchange::status::cancelled);
        CHECK(s.market.calls == 1);
    }
}

TEST_CASE("a cancel that loses to a fill is rejected, with its reply or without [H22]") {
    for (bool lost : {false, true}) {
        trading s;
        s.market.fills_first = true;
        s.market.replies_lost = lost;
        for (int runs = 0; runs != 2; ++runs) {
            auto const done = s.run();
            REQUIRE(done.has_error());
            CHECK(done.error().state() == state_id::rejected);
            CHECK(done.error().rule() == rule::refused_by_provider);
            CHECK_FALSE(done.error().in_doubt());
        }
        CHECK(s.market.order == exchange::status::filled);
        CHECK(s.market.calls == 1);
    }
}

TEST_CASE("a cancel of an order that is filled already is not even sent [H22]") {
    trading s;
    s.market.order = exchange::status::filled;
    auto const done = s.run();
    REQUIRE(done.has_error());
    CHECK(done.error().rule() == rule::no_target);
    CHECK(s.market.calls == 0);
}

// ---- attempts of one operation, each with an outcome of its own ---------------------------------

/// Both attempts of the order, as the service shows them.
void show(world& w, std::string const& key, std::string const& request, effect_status first,
          effect_status second) {
    w.remove(key);
    w.put({.key = key, .request = request, .receipt = "r-1", .status = first});
    w.put({.key = key, .request = request, .receipt = "r-2", .status = second});
}

TEST_CASE("one attempt failed for good and the other is under way: nobody knows yet [U12a]") {
    staged_shop s(deduplicating);
    s.shop.on_lookup(shop_of<decltype(bare)>::empty, 2);
    s.shop.on_submit(shop_of<decltype(bare)>::request_lost);
    s.shop.on_submit([&](shop::attempt const&, world& w) -> shop::keyed_reply {
        show(w, s.id.key, s.request, effect_status::under_way, effect_status::failed_for_good);
        return unknown{};
    });
    for (int runs = 0; runs != 2; ++runs) {
        auto const done = s.run();
        REQUIRE(done.has_error());
        CHECK(done.error().in_doubt());
        CHECK(done.error().rule() == rule::under_way);
        CHECK(s.state() == state_id::uncertain);
        CHECK(s.truth->sends() == 2);
        CHECK(s.stored().open_attempts() == 2);
    }
    CHECK(s.calls() == 0); // nothing is given back
    show(*s.truth, s.id.key, s.request, effect_status::applied, effect_status::failed_for_good);
    auto const done = s.run();
    REQUIRE(done);
    CHECK(done.value().receipt == "r-1");
    CHECK(s.state() == state_id::confirmed);
    CHECK(s.truth->sends() == 2);
    CHECK(s.calls() == 0);
}

TEST_CASE("only when both attempts failed for good is it rejected, and given back [U12a]") {
    staged_shop s(deduplicating);
    s.shop.on_lookup(shop_of<decltype(bare)>::empty, 2);
    s.shop.on_submit(shop_of<decltype(bare)>::request_lost);
    s.shop.on_submit([&](shop::attempt const&, world& w) -> shop::keyed_reply {
        w.put({.key = s.id.key,
               .request = s.request,
               .receipt = "r-2",
               .status = effect_status::failed_for_good});
        return unknown{};
    });
    CHECK(s.run().has_error());
    CHECK(s.state() == state_id::uncertain); // where is the first one?
    CHECK(s.calls() == 0);
    show(*s.truth, s.id.key, s.request, effect_status::failed_for_good,
         effect_status::failed_for_good);
    auto const done = s.run();
    REQUIRE(done.has_error());
    CHECK(done.error().state() == state_id::rejected);
    CHECK(s.calls() == 1);
    CHECK(s.truth->sends() == 2);
}

TEST_SUITE_END();

} // namespace
