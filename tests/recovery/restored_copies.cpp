// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#include <recovery/by_hand.hpp>

#include <doctest/doctest.h>

#include <stdexcept>
#include <string>
#include <utility>

// A journal that was opened as a restored copy: the original may have gone on from there, so what
// was not settled counts as sent, and only a person lets it be sent from here.

namespace {

using namespace scene;
using shop = provider_of<std::string>;

auto const request_lost = shop_of<decltype(bare)>::request_lost;
auto const empty = shop_of<decltype(bare)>::empty;
by const ann{"ann", "asked them"};

TEST_SUITE_BEGIN("restored copies");

TEST_CASE("what is uncertain in a copy is not sent, whatever becomes of its attempts [J06]") {
    for (bool const for_good : {false, true}) {
        CAPTURE(for_good);
        one_shop s(bare);
        s.truth->hide_effects_for(10min);
        s.shop.on_submit(request_lost);
        CHECK(s.run({.deadline = 50ms}).has_error());
        REQUIRE(s.state() == state_id::uncertain);
        s.journal.restore();
        // The original has heard a refusal, and sent again: that is applied, and not shown yet.
        (void)s.truth->apply(s.id.key, s.request);
        auto p = s.start();
        CHECK(p.observe(s.id,
                        shop::reply(refused{.because = refusal_class::busy, .for_good = for_good}),
                        1)
                  .has_error());
        CHECK(s.state() == state_id::uncertain);
        auto const sends = s.truth->sends();
        CHECK(s.run().error().in_doubt());
        CHECK(s.state() == state_id::in_review);
        CHECK(s.stored().reason == rule::restored_copy);
        CHECK(s.truth->sends() == sends);
        REQUIRE(s.start().cancel(s.id));
        CHECK(s.run().error().in_doubt());
        CHECK(s.state() == state_id::in_review); // and not cancelled
        s.clock.advance(10min);
        CHECK(s.run());
        CHECK(s.truth->effects() == 1);
    }
}

TEST_CASE("a guarantee covers no resend from a copy [J06]") {
    one_shop s(deduplicating);
    s.shop.on_submit(request_lost);
    s.shop.always_on_lookup(empty);
    CHECK(s.run({.deadline = 50ms}).has_error());
    REQUIRE(s.state() == state_id::uncertain);
    s.journal.restore();
    CHECK(s.run().error().rule() == rule::restored_copy);
    CHECK(s.state() == state_id::in_review);
    CHECK(s.truth->sends() == 1);
}

TEST_CASE("where the look-up never says anything, a person is asked [H3]") {
    auto const silent = {0, 1};
    for (int const how : silent) {
        CAPTURE(how);
        one_shop s(bare);
        s.shop.on_lookup(shop_of<decltype(bare)>::down, s.budget.looks);
        CHECK(s.run().has_error());
        REQUIRE(s.state() == state_id::pending);
        s.journal.restore();
        s.shop.always_on_lookup([how](shop::query const&, world&) -> shop::answer {
            if (how == 0) return no_target{}; // the original has removed it
            return denied{};
        });
        CHECK(s.run().error().in_doubt());
        CHECK(s.state() == state_id::in_review);
        CHECK(s.stored().reason == rule::restored_copy);
        auto p = s.start();
        CHECK(p.abandon(s.id, ann));
        CHECK(s.truth->sends() == 0);
    }
}

TEST_CASE("a refusal that is told of what is pending in a copy settles nothing [J06]") {
    one_shop s(bare);
    s.shop.on_submit([](shop::attempt const&, world&) { return refused{.for_good = false}; });
    bool defect = false;
    s.shop.always_on_lookup([&](shop::query const&, world& w) -> shop::answer {
        if (defect) throw std::runtime_error("a defect of the provider");
        if (w.sends() == 0) return shop::complete{};
        return unavailable{};
    });
    CHECK(s.run({.deadline = 1min}).has_error());
    REQUIRE(s.state() == state_id::pending);
    REQUIRE(s.stored().attempts.size() == 1);
    s.journal.restore();
    auto p = s.start();
    auto const told = p.observe(s.id, shop::reply(refused{}), 1);
    REQUIRE(told.has_error());
    CHECK(told.error().in_doubt());
    CHECK(s.state() == state_id::pending);
    defect = true;
    CHECK(p.resume_all([](identity const&, auto const& outcome) {
        CHECK(outcome.error().rule() == rule::interrupted);
        CHECK(outcome.error().in_doubt()); // the original may have sent it
    }));
}

TEST_SUITE_END();

} // namespace
