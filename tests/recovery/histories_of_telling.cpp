// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#include <recovery/by_hand.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <functional>
#include <string>

// What was told stays at least that true after any power cut [H1]. Each history tells something,
// cuts the power, and lets the world change in the way that would do harm if it were forgotten.

namespace {

using namespace scene;
using shop = provider_of<std::string>;

auto const applied_reply_lost = shop_of<decltype(bare)>::applied_reply_lost;
auto const request_lost = shop_of<decltype(bare)>::request_lost;
auto const down = shop_of<decltype(bare)>::down;

auto reply_with(shop::keyed_reply r) {
    return [r](shop::attempt const&, world&) { return r; };
}

/// A reply that is proof, repeats that are dropped, and a look-up.
constexpr contract everything{.resend = deduplicated_by_key{.window = 1h, .documented_at = cited},
                              .lookup = complete_lookup{.visible_after = 0ms},
                              .reply = proof{.documented_at = cited},
                              .call_timeout = 1s,
                              .arrives_within = 1min};

TEST_SUITE_BEGIN("histories: what was told");

TEST_CASE("cancelled, told, power cut: not sent by the next run [H1]") {
    one_shop s(bare);
    s.shop.on_lookup(down, s.budget.looks);
    CHECK(s.run().has_error());
    auto const told = s.cancel();
    REQUIRE(told);
    CHECK(told.value().state == state_id::cancelled);
    s.cut_power();
    CHECK(s.run().error().state() == state_id::cancelled);
    CHECK(s.truth->sends() == 0);
}

TEST_CASE("rejected, told, power cut: not sent again though repeats are dropped [H1]") {
    one_shop s(deduplicating);
    s.shop.on_submit(reply_with(refused{}));
    CHECK(s.run().error().state() == state_id::rejected);
    s.cut_power();
    CHECK(s.state() == state_id::rejected);
    CHECK(s.run().has_error());
    CHECK(s.truth->sends() == 1);
    CHECK(s.truth->effects() == 0);
}

TEST_CASE("'will not be sent again', told, power cut: it is not [H1]") {
    one_shop s(deduplicating);
    s.shop.on_submit(request_lost);
    CHECK(s.run({.deadline = 50ms}).has_error());
    REQUIRE(s.cancel());
    s.cut_power();
    CHECK(s.stored().cancel_requested);
    CHECK(s.run().has_error());
    CHECK(s.truth->sends() == 1);
}

TEST_CASE("confirmed by a reply, told, power cut, effect removed: not made again [H1]") {
    for (auto const told_how : {tell::durable, tell::early}) {
        one_shop s(everything);
        REQUIRE(s.run({.tell = told_how}));
        CHECK(s.truth->looks() == 1); // the reply was enough
        CHECK(s.journal.unflushed() == 0);
        s.cut_power();
        CHECK(s.stored().basis == basis::reply);
        s.truth->remove(s.id.key);
        auto const after = s.run();
        REQUIRE(after.has_error());
        CHECK(after.error().rule() == rule::effect_missing);
        CHECK(s.truth->sends() == 1);
    }
}

TEST_CASE("a contradiction, told, power cut, the stranger goes away: nothing is sent [H1]") {
    one_shop s(bare);
    s.truth->put({.key = s.id.key, .request = "something else", .receipt = "theirs"});
    CHECK(s.run().error().rule() == rule::contents_differ);
    s.cut_power();
    s.truth->remove(s.id.key);
    for (int runs = 0; runs != 2; ++runs) {
        auto const after = s.run();
        REQUIRE(after.has_error());
        CHECK(after.error().rule() == rule::contents_differ);
        CHECK(after.error().state() == state_id::in_review);
    }
    CHECK(s.truth->sends() == 0);
}

/// What a told answer says must still be there: the state, and what was promised with it.
template <class Scene, class Outcome> void check_still_true(Scene& s, Outcome const& told) {
    auto const r = s.stored();
    if (told) {
        CHECK(r.state == state_id::confirmed);
    } else if (told.error().rule() != rule::storage_failed) {
        CHECK(r.state == told.error().state());
    } else if (!told.error().in_doubt()) {
        CHECK(s.truth->effects() == 0);
    }
}

TEST_CASE("a power cut after any telling, at any step of any run, takes nothing back [H1]") {
    std::function<shop::keyed_reply(shop::attempt const&, world&)> const replies[] = {
        shop_of<decltype(bare)>::applied,
        applied_reply_lost,
        request_lost,
        reply_with(refused{}),
        reply_with(refused{.for_good = false}),
        reply_with(not_sent{}),
        [](shop::attempt const& a, world& w) -> shop::keyed_reply {
            w.apply(a.key(), "something else");
            return unknown{};
        }};
    for (auto const& reply : replies) {
        for (bool looks_work : {true, false}) {
            std::uint64_t steps = 1;
            for (std::uint64_t step = 0; step <= steps; ++step) { // step 0 does not fail
                CAPTURE(step);
                one_shop s(bare);
                s.shop.on_submit(reply);
                s.shop.always_on_lookup([&](shop::query const& q, world& w) {
                    bool const works = looks_work || w.sends() == 0;
                    return works ? shop_of<decltype(bare)>::truthful(q, w) : down(q, w);
                });
                if (step != 0) s.journal.fail_at(step);
                auto const told = s.run();
                if (step == 0) steps = s.journal.steps();
                if (!told && told.error().rule() != rule::storage_failed) {
                    CHECK(s.journal.unflushed() == 0);
                }
                auto const may_survive = s.journal.unflushed();
                s.journal.power_cut(step % (may_survive + 1));
                check_still_true(s, told);
                CHECK(s.truth->effects() <= 1);
            }
        }
    }
}

TEST_CASE("early telling: only what a look-up gave, and nothing is doubled by it [H1]") {
    for (bool power_goes : {true, false}) {
        one_shop s(bare);
        auto const told = s.run({.tell = tell::early});
        REQUIRE(told);
        CHECK(s.journal.unflushed() > 0); // the confirmation itself may be lost
        if (power_goes) {
            s.cut_power();
            CHECK(s.state() == state_id::uncertain);
        }
        auto const again = s.run();
        REQUIRE(again);
        CHECK(again.value().receipt == told.value().receipt);
        CHECK(s.truth->sends() == 1);
        CHECK(s.truth->effects() == 1);
    }
}

TEST_CASE("early telling costs one flush an operation, durable telling two [H1]") {
    auto const flushes = [](tell how) {
        one_shop s(bare);
        CHECK(s.run({.tell = how}));
        return s.journal.steps();
    };
    CHECK(flushes(tell::durable) == flushes(tell::early) + 1);
}

TEST_CASE("early telling is for confirmations alone: everything else is flushed [H1]") {
    one_shop refusing(bare);
    refusing.shop.on_submit(reply_with(refused{}));
    CHECK(refusing.run({.tell = tell::early}).error().state() == state_id::rejected);
    CHECK(refusing.journal.unflushed() == 0);

    one_shop doubtful(bare);
    doubtful.shop.on_submit(request_lost);
    CHECK(doubtful.run({.tell = tell::early}).error().in_doubt());
    CHECK(doubtful.journal.unflushed() == 0);

    one_shop waiting(bare);
    waiting.shop.always_on_lookup(down);
    CHECK(waiting.run({.tell = tell::early}).error().state() == state_id::pending);
    CHECK(waiting.journal.unflushed() == 0);
}

TEST_CASE("whoever tells what somebody else wrote makes it durable first [H1]") {
    for (int how = 0; how != 4; ++how) {
        one_shop s(bare);
        auto p = s.start();
        REQUIRE(s.run({.tell = tell::early}));
        REQUIRE(s.journal.unflushed() > 0);
        switch (how) {
        case 0: CHECK(p.recorded(s.id)); break;
        case 1: CHECK(p.unsettled([](auto const&) {})); break;
        case 2: CHECK(p.run(s.id, "another request").has_error()); break;
        default: CHECK(p.run(s.id, s.request, {.deadline = 0ms}).has_error()); break;
        }
        CHECK(s.journal.unflushed() == 0);
        s.cut_power();
        CHECK(s.state() == state_id::confirmed);
    }
}

TEST_CASE("told early is what this call has looked up, never what somebody else has just written") {
    one_shop s(bare);
    hooked_storage storage(s.journal);
    hooked_process<decltype(s.shop.contract)> p({s.shop, storage, {}, s.budget, s.clock, s.ears});
    s.shop.on_submit(applied_reply_lost);
    s.shop.always_on_lookup([](shop::query const& q, world& w) -> shop::answer {
        shop::complete all;
        if (w.sends() == 0) return all;
        for (auto const* receipt : {"r-1", "r-2"})
            all.effects.push_back({receipt, std::string(q.key), std::string("one notebook")});
        return all;
    });
    CHECK(s.run().error().rule() == rule::several_effects);
    bool told = false;
    storage.before_flush = [&] { // between the write and the flush of the adoption
        auto const now = s.run({.trust_record = true, .tell = tell::early});
        told = now.has_value();
        CHECK(s.journal.unflushed() == 0);
    };
    REQUIRE(p.adopt(s.id, "r-1", {"ann", "support says so"}));
    CHECK(told);
}

TEST_CASE("a call from within a look-up is told what is durable") {
    one_shop s(bare);
    auto p = s.start();
    bool asked = false;
    s.shop.on_lookup([&](shop::query const&, world&) -> shop::answer {
        auto const inner = p.run(s.id, s.request);
        CHECK(inner.error().rule() == rule::in_progress);
        CHECK(s.journal.unflushed() == 0);
        asked = true;
        return shop::complete{};
    });
    CHECK(p.run(s.id, s.request));
    CHECK(asked);
}

TEST_SUITE_END();

} // namespace
