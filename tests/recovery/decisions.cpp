// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#include <recovery/by_hand.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

// What all decisions of people share: who and why, a name of their own, one winner, and that they
// are durable once told.

namespace {

using namespace scene;
using shop = provider_of<std::string>;

auto const request_lost = shop_of<decltype(bare)>::request_lost;
auto const applied_reply_lost = shop_of<decltype(bare)>::applied_reply_lost;
auto const down = shop_of<decltype(bare)>::down;
auto const empty = shop_of<decltype(bare)>::empty;
auto const truthful = shop_of<decltype(bare)>::truthful;

by const ann{"ann", "she asked them"};

template <class Scene> void doubtful(Scene& s) {
    s.shop.on_submit(request_lost);
    CHECK(s.run().has_error());
    REQUIRE(s.state() == state_id::in_review);
    s.clock.advance(1min); // no call can be under way any more
}
/// An effect by its receipt, as a look-up shows it.
template <class Scene> shop::effect effect_of(Scene const& s, std::string receipt) {
    return {.receipt = std::move(receipt), .key = s.id.key, .request = s.request};
}
/// The look-up shows the effect that the adoptions here name.
template <class Scene> void show_the_named_one(Scene& s) {
    s.shop.always_on_lookup([e = effect_of(s, "r-7")](shop::query const&, world&) -> shop::answer {
        return shop::complete{{e}};
    });
}

/// All of them, by the same person.
template <class Process>
std::vector<std::pair<std::string, std::function<result<record>(by const&)>>>
all_decisions(Process& p, identity const& id) {
    return {{"adopt", [&](by const& who) { return p.adopt(id, "r-7", who); }},
            {"rule_out", [&](by const& who) { return p.rule_out(id, who); }},
            {"resume", [&](by const& who) { return p.resume(id, who); }},
            {"dismiss", [&](by const& who) { return p.dismiss(id, who); }},
            {"abandon", [&](by const& who) { return p.abandon(id, who); }},
            {"supersede", [&](by const& who) { return p.supersede(id, who); }}};
}

/// Brings a scene to where this decision is open.
template <class Scene> void open_for(Scene& s, std::string const& what) {
    if (what == "dismiss" || what == "supersede") {
        s.shop.on_submit([](shop::attempt const&, world&) { return refused{}; });
        CHECK(s.run().error().state() == state_id::rejected);
        auto p = s.start();
        if (what == "dismiss") CHECK(p.observe(s.id, effect_of(s, "late")).has_error());
    } else {
        doubtful(s);
        show_the_named_one(s);
    }
}
std::vector<std::string> const each{"adopt",   "rule_out", "resume",
                                    "dismiss", "abandon",  "supersede"};
template <class Process>
result<record> decide(Process& p, identity const& id, std::string const& what, by const& who) {
    for (auto const& [name, make] : all_decisions(p, id)) {
        if (name == what) return make(who);
    }
    return error(rule::none);
}

TEST_SUITE_BEGIN("decisions");

TEST_CASE("who and why are asked for, and recorded with the moment [W03]") {
    for (auto const& what : each) {
        CAPTURE(what);
        one_shop s(bare);
        open_for(s, what);
        auto const before = s.stored().version;
        auto p = s.start();
        for (by const& nobody : {by{"", "no reason"}, by{"ann", ""}, by{}, by{"", "", "d-1"}}) {
            auto const refused = decide(p, s.id, what, nobody);
            REQUIRE(refused.has_error());
            CHECK(refused.error().rule() == rule::illegal_decision);
            CHECK(refused.error().detail() == "it needs who and why");
            CHECK(refused.error().state() == s.state());
            CHECK(s.stored().version == before);
        }
        auto const made = decide(p, s.id, what, {"ann", "she asked them", "d-1"});
        REQUIRE(made);
        s.cut_power(); // what was told is durable
        auto const r = s.stored();
        CHECK(r.version == made.value().version);
        CHECK(r.state == made.value().state);
        REQUIRE(r.notes_or_none().decisions.size() == 1);
        auto const& d = r.notes_or_none().decisions[0];
        CHECK(d.what == what);
        CHECK(d.who == "ann");
        CHECK(d.why == "she asked them");
        CHECK(d.id == "d-1");
        CHECK(d.at == s.clock.wall());
    }
}

TEST_CASE("a decision that is given again changes nothing, and is not recorded twice") {
    for (auto const& what : each) {
        CAPTURE(what);
        one_shop s(bare);
        open_for(s, what);
        auto p = s.start();
        REQUIRE(decide(p, s.id, what, {"ann", "she asked them", "d-1"}));
        auto const once = s.stored();
        s.clock.advance(1h);
        auto const looks = s.truth->looks();
        auto const again = decide(p, s.id, what, {"ann", "she asked them", "d-1"});
        REQUIRE(again); // the request was lost on its way back, say
        CHECK(again.value().version == once.version);
        CHECK(again.value().state == once.state);
        CHECK(s.stored().version == once.version);
        CHECK(s.stored().notes_or_none().decisions.size() == 1);
        CHECK(s.truth->looks() == looks); // nor does it ask anybody
        CHECK(s.stored().generation == once.generation);
    }
}

TEST_CASE("given again after the operation went on, it still changes nothing") {
    one_shop s(bare);
    doubtful(s);
    auto p = s.start();
    REQUIRE(p.rule_out(s.id, {"ann", "she asked them", "d-1"}));
    CHECK(s.run());
    auto const again = p.rule_out(s.id, {"ann", "she asked them", "d-1"});
    REQUIRE(again);
    CHECK(again.value().state == state_id::confirmed);
    CHECK(s.truth->sends() == 2);
}

TEST_CASE("an id stands for one decision: for another one it is refused") {
    one_shop s(bare);
    doubtful(s);
    show_the_named_one(s);
    auto p = s.start();
    REQUIRE(p.resume(s.id, {"ann", "she asked them", "d-1"}));
    s.shop.always_on_lookup(empty);
    CHECK(s.run().error().state() == state_id::in_review);
    auto const before = s.stored().version;
    for (auto const& what : each) {
        if (what == "resume") continue;
        CHECK(decide(p, s.id, what, {"ann", "she asked them", "d-1"}).error().rule() ==
              rule::illegal_decision);
    }
    CHECK(s.stored().version == before);
    // Without an id, or under another one, each call is one of its own.
    REQUIRE(p.resume(s.id, ann));
    CHECK(s.run().error().state() == state_id::in_review);
    REQUIRE(p.resume(s.id, ann));
    CHECK(s.stored().notes_or_none().decisions.size() == 3);
    // And an id is known for its operation only.
    s.id = {"shop", "order-2"};
    doubtful(s);
    CHECK(p.abandon(s.id, {"ann", "she asked them", "d-1"}));
}

// ---- two at once --------------------------------------------------------------------------------

TEST_CASE("of two people who decide at once one wins, and the other hears of it [W03]") {
    for (auto const& first : {"adopt", "rule_out", "resume", "abandon"}) {
        for (auto const& second : {"adopt", "rule_out", "resume", "abandon"}) {
            CAPTURE(first);
            CAPTURE(second);
            one_shop s(bare);
            doubtful(s);
            show_the_named_one(s);
            hooked_storage shared(s.journal);
            hooked_process<decltype(s.shop.contract)> p(
                {s.shop, shared, {}, s.budget, s.clock, s.ears});
            auto other = s.start();
            // Both have read the record; the other one writes first.
            shared.after_find = [&] { CHECK(decide(other, s.id, second, {"ben", "enough"})); };
            auto const late = decide(p, s.id, first, ann);
            REQUIRE(late.has_error());
            CHECK(late.error().rule() == rule::illegal_decision);
            auto const r = s.stored();
            REQUIRE(r.notes_or_none().decisions.size() == 1);
            CHECK(r.notes_or_none().decisions[0].what == second);
            CHECK(r.notes_or_none().decisions[0].who == "ben");
            CHECK(s.journal.unflushed() == 0); // also what the loser tells
        }
    }
}

TEST_CASE("the same decision from two at once, under one id, is one decision") {
    one_shop s(bare);
    doubtful(s);
    hooked_storage shared(s.journal);
    hooked_process<decltype(s.shop.contract)> p({s.shop, shared, {}, s.budget, s.clock, s.ears});
    auto other = s.start();
    shared.after_find = [&] { CHECK(other.rule_out(s.id, {"ann", "she asked them", "d-1"})); };
    CHECK(p.rule_out(s.id, {"ann", "she asked them", "d-1"}));
    CHECK(s.stored().notes_or_none().decisions.size() == 1);
    CHECK(s.stored().extra_attempts == 1);
}

TEST_CASE("a decision against evidence that has just come loses to it") {
    one_shop s(bare);
    doubtful(s);
    hooked_storage shared(s.journal);
    hooked_process<decltype(s.shop.contract)> p({s.shop, shared, {}, s.budget, s.clock, s.ears});
    auto other = s.start();
    shared.after_find = [&] { CHECK(other.observe(s.id, effect_of(s, "r-7"))); };
    CHECK(p.rule_out(s.id, ann).error().rule() == rule::illegal_decision);
    CHECK(s.state() == state_id::confirmed);
    s.truth->put({.key = s.id.key, .request = s.request, .receipt = "r-7"});
    CHECK(s.run());
    CHECK(s.truth->sends() == 1);
}

// ---- where none is open -------------------------------------------------------------------------

TEST_CASE("what is not in review is decided by nobody; only what is settled is superseded") {
    using enum state_id;
    for (auto const where : {none, pending, uncertain, confirmed, rejected, cancelled}) {
        CAPTURE(to_string(where));
        one_shop s(deduplicating);
        bool const down_at_first = where == pending || where == cancelled;
        if (down_at_first) s.shop.on_lookup(down, s.budget.looks);
        if (where == uncertain) s.shop.on_submit(request_lost);
        if (where == rejected) {
            s.shop.on_submit([](shop::attempt const&, world&) { return refused{}; });
        }
        if (where != none) (void)s.run({.deadline = where == uncertain ? 50ms : 10'000ms});
        if (where == cancelled) REQUIRE(s.cancel());
        REQUIRE(s.state() == where);
        auto const before = s.stored().version;
        auto p = s.start();
        for (auto const& what : each) {
            CAPTURE(what);
            if (what == "supersede" && (where == rejected || where == cancelled)) continue;
            auto const made = decide(p, s.id, what, ann);
            REQUIRE(made.has_error());
            CHECK(made.error().rule() ==
                  (where == none ? rule::not_recorded : rule::illegal_decision));
            CHECK(made.error().state() == where);
            if (where != none) {
                CHECK(made.error().detail() == "it is " + std::string(to_string(where)));
            }
        }
        CHECK(s.stored().version == before);
    }
}

TEST_CASE("what a live call is sending is decided by nobody [H10]") {
    one_shop s(bare);
    auto p = s.start();
    s.shop.on_submit([&](shop::attempt const& a, world& w) {
        auto other = s.start();
        for (auto const& what : each) {
            CAPTURE(what);
            CHECK(decide(p, s.id, what, ann).error().rule() == rule::in_progress);
            CHECK(decide(other, s.id, what, ann).error().rule() == rule::in_progress);
        }
        return shop_of<decltype(bare)>::applied(a, w);
    });
    CHECK(p.run(s.id, s.request));
    CHECK(s.stored().notes_or_none().decisions.empty());
    CHECK(s.truth->sends() == 1);
}

TEST_CASE("a failed write tells no decision, and the next life knows whether it was made") {
    for (auto const& what : each) {
        for (std::uint64_t later = 1; later != 4; ++later) {
            CAPTURE(what);
            CAPTURE(later);
            one_shop s(bare);
            open_for(s, what);
            auto const before = s.stored().version;
            s.journal.fail_at(s.journal.steps() + later);
            auto p = s.start();
            auto const made = decide(p, s.id, what, ann);
            if (made) continue; // it took fewer steps
            CHECK(made.error().rule() == rule::storage_failed);
            s.cut_power();
            CHECK(s.stored().version == before);
            CHECK(s.stored().notes_or_none().decisions.empty());
        }
    }
}

// ---- the whole of it ----------------------------------------------------------------------------

TEST_CASE("settled by hand: adopted, sent again, resumed, closed, each with its trace [W03]") {
    one_shop s(deduplicating);
    s.budget.attempts = 1;
    std::vector<identity> const orders{
        {"shop", "adopt"}, {"shop", "rule_out"}, {"shop", "resume"}, {"shop", "abandon"}};
    s.shop.always_on_lookup(empty);
    for (auto const& order : orders) {
        s.shop.on_submit(order.key == "adopt" ? shop_of<decltype(bare)>::applied_reply_lost
                                              : shop_of<decltype(bare)>::request_lost);
        CHECK(s.run(order, s.request).error().rule() == rule::attempts_spent);
    }
    CHECK(s.unsettled().size() == 4);
    s.clock.advance(2min);
    s.shop.always_on_lookup(truthful);
    auto p = s.start();
    CHECK(p.adopt(orders[0], "r-9", ann).error().rule() == rule::not_shown);
    REQUIRE(p.adopt(orders[0], "r-1", ann));
    REQUIRE(p.rule_out(orders[1], ann));
    REQUIRE(p.resume(orders[2], ann));
    REQUIRE(p.abandon(orders[3], ann));
    s.cut_power();
    for (std::size_t i = 0; i != 4; ++i) {
        CHECK(s.run(orders[i], s.request).has_value() == (i != 3));
        REQUIRE(s.stored(orders[i]).notes_or_none().decisions.size() == 1);
        CHECK(s.stored(orders[i]).notes_or_none().decisions[0].what == orders[i].key);
        CHECK(s.truth->effects(orders[i].key) == (i != 3 ? 1U : 0U));
    }
    CHECK(s.truth->sends() == 4 + 2);
    CHECK(s.truth->distinct_keys() == 4);
    CHECK(s.unsettled().empty());
}

TEST_CASE("an adoption that is given again names the same effect") {
    one_shop s(from_elsewhere);
    s.shop.on_submit(applied_reply_lost);
    CHECK(s.run().has_error());
    auto p = s.start();
    by const word{"ann", "on their page", "t-1"};
    REQUIRE(p.adopt(s.id, "r-1", word));
    CHECK(p.adopt(s.id, "r-1", word));
    auto const other = p.adopt(s.id, "r-2", word);
    REQUIRE(other.has_error());
    CHECK(other.error().detail() == "its id stands for another decision");
    CHECK(s.stored().receipt == "r-1");
}

TEST_CASE("an effect without a receipt cannot be dismissed: it could not be told from others") {
    one_shop s(bare);
    s.shop.on_submit([](shop::attempt const&, world&) { return refused{}; });
    CHECK(s.run().has_error());
    auto p = s.start();
    CHECK(p.observe(s.id, shop::effect{"r-1", s.id.key, s.request}).has_error());
    auto const refused_word = p.dismiss(s.id, ann, {"r-1", ""});
    REQUIRE(refused_word.has_error());
    CHECK(refused_word.error().detail() == "a receipt is empty");
    CHECK(s.state() == state_id::in_review);
}

TEST_CASE("grants add up, and never to less") {
    one_shop s(bare);
    doubtful(s);
    auto p = s.start();
    constexpr auto most = std::numeric_limits<std::uint32_t>::max();
    REQUIRE(p.resume(s.id, ann, {.extra_attempts = most}));
    CHECK(s.run().has_error());
    REQUIRE(s.state() == state_id::in_review);
    s.clock.advance(1min);
    REQUIRE(p.rule_out(s.id, ann));
    CHECK(s.stored().extra_attempts == most);
}

TEST_SUITE_END();

} // namespace
