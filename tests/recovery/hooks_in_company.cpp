// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#include <recovery/staged_shop.hpp>

#include <doctest/doctest.h>

#include <string>
#include <type_traits>
#include <utility>

// What a program cleans up when others have a part in it: late replies, another provider in the
// same journal, a person who supersedes, and hooks that call back.

namespace {

using namespace scene;
using shop = provider_of<std::string>;

auto const request_lost = shop_of<decltype(bare)>::request_lost;
auto const empty = shop_of<decltype(bare)>::empty;
auto const down = shop_of<decltype(bare)>::down;

auto refuses(refused how = {}) {
    return [how](shop::attempt const&, world&) -> shop::keyed_reply { return how; };
}
bool not_yet(unapplied_operation const&) {
    return false;
}
by const ann{"ann", "asked the shop"};

template <class C> struct mail_of : shop_of<C> {
    using shop_of<C>::scripted_provider;
    static constexpr auto target = "mail";
};
using plain_contract = std::remove_const_t<decltype(bare)>;

TEST_SUITE_BEGIN("hooks: in company");

TEST_CASE("a refusal that comes late by another channel is cleaned up after, too [H29]") {
    staged_shop s(bare);
    s.shop.on_submit(request_lost);
    s.shop.always_on_lookup([](shop::query const&, world& w) -> shop::answer {
        if (w.sends() == 0) return shop::complete{};
        return unavailable{};
    });
    CHECK(s.run().has_error());
    REQUIRE(s.state() == state_id::in_review);
    CHECK(s.calls() == 0);
    auto const late = s.start().observe(s.id, shop::keyed_reply(refused{}), 1);
    REQUIRE(late.has_error());
    CHECK(late.error().state() == state_id::rejected);
    REQUIRE(s.calls() == 1);
    CHECK(s.hook->calls[0].unflushed == 0);
    CHECK(s.run().has_error());
    CHECK(s.calls() == 1);
}

TEST_CASE("an effect that is told as failed for good is cleaned up after, too [H29]") {
    staged_shop s(deduplicating);
    s.shop.on_submit(request_lost);
    s.shop.on_lookup(empty);
    s.shop.on_lookup(down, s.budget.looks);
    CHECK(s.run().has_error());
    REQUIRE(s.state() == state_id::uncertain);
    auto const told =
        s.start().observe(s.id, shop::effect{.receipt = "r-1",
                                             .key = s.id.key,
                                             .request = s.request,
                                             .status = effect_status::failed_for_good});
    REQUIRE(told.has_error());
    CHECK(s.state() == state_id::rejected);
    CHECK(s.calls() == 1);
}

TEST_CASE("an attempt that is taken back beside one that was refused for good [H29]") {
    staged_shop s(deduplicating);
    s.budget.first_delay = 0ms;
    hooked_storage storage(s.journal);
    auto p = s.start_over<hooked_storage&>(storage);
    s.shop.on_submit(request_lost);
    s.shop.on_lookup(empty);
    s.shop.on_lookup([&](shop::query const& q, world& w) {
        // The next flush is that of the second attempt: just then the first one's reply arrives.
        storage.after_flush = [&] {
            auto other = s.start();
            CHECK(other.observe(s.id, shop::keyed_reply(refused{}), 1).has_error());
            REQUIRE(s.stored().attempts.size() == 2);
        };
        return empty(q, w);
    });
    auto const done = p.run(s.id, s.request);
    REQUIRE(done.has_error());
    CHECK(done.error().state() == state_id::rejected);
    CHECK(s.truth->sends() == 1);
    CHECK(s.stored().attempts[1].outcome == attempt_outcome_id::not_sent);
    CHECK(s.calls() == 1);
}

TEST_CASE("another provider's program does not clean up after this one [H29]") {
    staged_shop s(bare);
    staged_shop<plain_contract, mail_of<plain_contract>> mail(bare);
    s.hook->then = not_yet;
    s.shop.on_submit(refuses());
    CHECK(s.run().has_error());
    REQUIRE(s.calls() == 1);
    auto other = mail.start_over<lossy_storage&>(s.journal);
    CHECK(other.reconcile(s.id).error().rule() == rule::conflicting_intent);
    CHECK(other.run(s.id, s.request).error().rule() == rule::conflicting_intent);
    CHECK(other.cancel(s.id).error().rule() == rule::conflicting_intent);
    CHECK(other.resume_all([](identity const&, auto const&) { CHECK(false); }));
    CHECK(mail.calls() == 0);
    CHECK(s.stored().hook_due);
    CHECK(s.resume().size() == 1);
    CHECK(s.calls() == 2);
}

TEST_CASE(
    "another provider's program cannot cancel it: it would not know whose hook it owes [H29]") {
    staged_shop s(bare);
    s.shop.on_lookup(down, s.budget.looks);
    CHECK(s.run().has_error());
    staged_shop<plain_contract, mail_of<plain_contract>> mail(bare);
    auto other = mail.start_over<lossy_storage&>(s.journal);
    CHECK(other.cancel(s.id).error().rule() == rule::conflicting_intent);
    CHECK(s.state() == state_id::pending);
    CHECK(mail.calls() == 0);
}

TEST_CASE("nothing is superseded before its hook has returned: it would clean up too much [H29]") {
    staged_shop s(bare);
    hooked_storage storage(s.journal);
    auto p = s.start_over<hooked_storage&>(storage);
    s.shop.on_submit([&](shop::attempt const&, world&) -> shop::keyed_reply {
        storage.before_flush = [&] {
            REQUIRE(s.state() == state_id::rejected);
            auto const early = s.plain().start().supersede(s.id, ann);
            REQUIRE(early.has_error());
            CHECK(early.error().detail() == "its hook is due");
        };
        return refused{};
    });
    CHECK(p.run(s.id, s.request).has_error());
    CHECK(s.calls() == 1);
    REQUIRE(s.start().supersede(s.id, ann));
    CHECK(s.run());
    CHECK(s.truth->effects() == 1);
    CHECK(s.calls() == 1);
}

TEST_CASE("a hook that calls back about its own operation is called once for it [T5]") {
    for (bool cancelled : {false, true}) {
        staged_shop s(bare);
        auto p = s.start();
        unsigned heard = 0;
        s.hook->then = [&](unapplied_operation const& u) {
            if (s.calls() != 1) return false;
            for (auto const& inner : {p.run(u.identity, s.request), p.reconcile(u.identity)}) {
                REQUIRE(inner.has_error());
                CHECK(inner.error().rule() == rule::in_progress);
                ++heard;
            }
            auto const asked = p.cancel(u.identity);
            REQUIRE(asked);
            CHECK(asked.value().state == u.state);
            CHECK(p.recorded(u.identity).value().hook_due);
            CHECK(p.resume_all([&](identity const&, auto const& told) {
                CHECK(told.error().rule() == rule::in_progress);
                ++heard;
            }));
            CHECK(p.run({"shop", "another"}, "a pen"));
            return true;
        };
        if (cancelled) {
            s.shop.on_lookup(down, s.budget.looks);
            CHECK(p.run(s.id, s.request).has_error());
            REQUIRE(p.cancel(s.id));
        } else {
            s.shop.on_submit(refuses());
            CHECK(p.run(s.id, s.request).has_error());
        }
        CHECK(heard == 3);
        CHECK(s.calls() == 1);
        CHECK_FALSE(s.stored().hook_due);
        CHECK(s.truth->effects() == 1); // the other order
    }
}

TEST_CASE("a hook cannot supersede its operation; the next generation has a hook of its own [T5]") {
    staged_shop s(bare);
    auto p = s.start();
    s.hook->then = [&](unapplied_operation const& u) {
        if (s.calls() == 1) CHECK(p.supersede(u.identity, ann).has_error());
        return true;
    };
    s.shop.on_submit(refuses());
    CHECK(p.run(s.id, s.request).has_error());
    REQUIRE(p.supersede(s.id, ann));
    CHECK(s.stored().generation == 2);
    CHECK(s.state() == state_id::pending);
    REQUIRE(p.cancel(s.id));
    CHECK(s.calls() == 2);
    CHECK(s.shown().empty());
}

TEST_SUITE_END();

} // namespace
