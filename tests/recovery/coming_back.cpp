// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#include <recovery/staged_shop.hpp>

#include <doctest/doctest.h>

#include <map>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

// Which operations are worth coming back to, when, and what a cycle of recovery makes of them.

namespace {

using namespace scene;
using shop = provider_of<std::string>;

auto const applied_reply_lost = shop_of<decltype(bare)>::applied_reply_lost;
auto const request_lost = shop_of<decltype(bare)>::request_lost;
auto const empty = shop_of<decltype(bare)>::empty;
auto const down = shop_of<decltype(bare)>::down;
auto const truthful = shop_of<decltype(bare)>::truthful;

inline constexpr contract slow{.lookup = complete_lookup{.visible_after = 15min},
                               .call_timeout = 1s};

template <class C> struct mail_of : shop_of<C> {
    using shop_of<C>::scripted_provider;
    static constexpr auto target = "mail";
};

/// The first look-up, before anything is sent, works; then nobody answers.
auto const down_once_sent = [](shop::query const&, world& w) -> shop::answer {
    if (w.sends() == 0) return shop::complete{};
    return unavailable{};
};
auto refuses(refused how) {
    return [how](shop::attempt const&, world&) -> shop::keyed_reply { return how; };
}

/// What is due then: name and since when, in the order it is shown.
template <class Scene>
std::vector<std::pair<std::string, time_point>> due(Scene& s, time_point when, page where = {}) {
    std::vector<std::pair<std::string, time_point>> shown;
    auto p = s.start();
    auto const more = p.due(
        when, [&](due_operation const& d) { shown.emplace_back(d.stored.identity().key, d.from); },
        where);
    REQUIRE(more);
    return shown;
}
template <class Scene> std::size_t due_now(Scene& s) {
    return due(s, s.clock.wall()).size();
}

/// One whole pass over the journal, cycle by cycle. Returns: what was told of each operation.
template <class Process> std::map<std::string, std::vector<rule>> pass(Process& p, cycle c = {}) {
    std::map<std::string, std::vector<rule>> told;
    for (std::optional<page> next = c.where; next;) {
        c.where = *next;
        auto more = p.resume_all(
            [&](identity const& who, auto const& done) {
                told[who.key].push_back(done ? rule::none : done.error().rule());
            },
            c);
        REQUIRE(more);
        next = more.value();
    }
    return told;
}

/// So many orders, "1" and so on, each reply lost. All are placed but the one that never arrives.
template <class Contract> void place(one_shop<Contract>& s, int count, int never_arrives = 0) {
    s.shop.always_on_lookup([](shop::query const& q, world& w) -> shop::answer {
        if (w.sends() < std::stoul(std::string(q.key))) return shop::complete{};
        return unavailable{};
    });
    for (int n = 1; n <= count; ++n) {
        s.shop.on_submit(n == never_arrives ? request_lost : applied_reply_lost);
        CHECK(s.run({"shop", std::to_string(n)}, s.request).has_error());
    }
    s.shop.always_on_lookup(truthful);
}

TEST_SUITE_BEGIN("coming back: due");

TEST_CASE("what is uncertain is due at once, or when its effect must be visible [U06]") {
    one_shop quick(deduplicating);
    quick.shop.on_submit(applied_reply_lost);
    quick.shop.always_on_lookup(down_once_sent);
    CHECK(quick.run().has_error());
    REQUIRE(quick.state() == state_id::uncertain);
    CHECK(due_now(quick) == 1);

    one_shop s(slow);
    s.truth->hide_effects_for(15min);
    s.shop.on_submit(applied_reply_lost);
    auto const sent_at = s.clock.wall();
    CHECK(s.run().has_error());
    REQUIRE(s.state() == state_id::uncertain);
    auto const visible_at = sent_at + slow.call_timeout + 15min;
    for (milliseconds const wait : {0min, 1min, 5min, 14min})
        CHECK(due(s, sent_at + wait).empty());
    CHECK(due(s, visible_at - 1ms).empty());
    auto const since = std::vector{std::pair(s.id.key, visible_at)};
    CHECK(due(s, visible_at) == since);
    CHECK(due(s, visible_at + 1h) == since);
    auto p = s.start();
    CHECK(pass(p).empty()); // nobody is asked before that
    s.clock.advance(16min);
    CHECK(pass(p).at(s.id.key) == std::vector{rule::none});
    CHECK(s.truth->sends() == 1);
}

TEST_CASE("after a crash it is due at once: the life before may not have looked [W04]") {
    one_shop s(slow);
    s.shop.on_submit(applied_reply_lost);
    s.shop.always_on_lookup(empty);
    CHECK(s.run().has_error());
    REQUIRE(s.state() == state_id::uncertain);
    CHECK(due_now(s) == 0); // this life goes by what the contract says

    s.journal.power_cut();
    CHECK(due_now(s) == 1);
    s.shop.always_on_lookup(truthful);
    auto p = s.start();
    CHECK(pass(p).at(s.id.key) == std::vector{rule::none});
    CHECK(s.truth->sends() == 1);
}

TEST_CASE("what was refused for now is due when the provider and the budget allow [W04]") {
    struct wish {
        milliseconds provider, budget, expected;
    };
    for (auto const& [provider, budget, expected] :
         {wish{5min, 2min, 5min}, wish{0ms, 2min, 2min}, wish{1min, 2min, 2min}}) {
        one_shop s(bare);
        s.budget.first_delay = s.budget.longest_delay = budget;
        s.shop.on_submit(refuses({.for_good = false, .retry_after = provider}));
        auto const sent_at = s.clock.wall();
        CHECK(s.run({.deadline = 10s}).has_error());
        REQUIRE(s.state() == state_id::pending);
        CHECK(due(s, sent_at + expected - 1ms).empty());
        CHECK(due(s, sent_at + expected).size() == 1);
    }
}

TEST_CASE("what a person asked to cancel, and what nobody could look up, is due at once [W01]") {
    one_shop s(bare);
    s.shop.on_lookup(down, s.budget.looks);
    CHECK(s.run().has_error());
    REQUIRE(s.state() == state_id::pending);
    CHECK(due_now(s) == 1);
    REQUIRE(s.cancel());
    CHECK(due_now(s) == 0); // nothing is left to do
}

TEST_CASE("what is claimed by live work is not due, and is when its holder has died [J07]") {
    one_shop s(bare);
    auto other = s.start();
    bool asked = false;
    s.shop.on_submit([&](shop::attempt const&, world&) -> shop::keyed_reply {
        CHECK(due_now(s) == 0);
        CHECK(pass(other).empty());
        asked = true;
        s.journal.fail_at(s.journal.steps() + 1); // its last words are lost
        return unknown{};
    });
    CHECK(s.run().has_error());
    REQUIRE(asked);
    s.cut_power();
    REQUIRE(s.stored().claim.epoch != 0);
    CHECK(due_now(s) == 1);
}

TEST_CASE("in review: due by doubt, where somebody can be asked; a contradiction is not [W04]") {
    one_shop doubt(bare);
    doubt.shop.on_submit(request_lost);
    CHECK(doubt.run().has_error());
    REQUIRE(doubt.stored().concern == concern::doubt);
    CHECK(due_now(doubt) == 1);

    one_shop contradiction(bare);
    contradiction.shop.on_submit([](shop::attempt const& a, world& w) -> shop::keyed_reply {
        w.apply(a.key(), a.bytes());
        w.apply(a.key(), a.bytes());
        return unknown{};
    });
    CHECK(contradiction.run().has_error());
    REQUIRE(contradiction.stored().concern == concern::contradiction);
    CHECK(due_now(contradiction) == 0);
    auto p = contradiction.start();
    CHECK(pass(p).empty());

    one_shop nobody(from_elsewhere);
    nobody.shop.on_submit(request_lost);
    CHECK(nobody.run().has_error());
    REQUIRE(nobody.stored().concern == concern::doubt);
    CHECK(due_now(nobody) == 0);
}

TEST_CASE("operations of another target are not due here, and a page goes on behind them") {
    one_shop s(deduplicating);
    place(s, 3);
    using mail = mail_of<std::remove_const_t<decltype(deduplicating)>>;
    one_shop<std::remove_const_t<decltype(deduplicating)>, mail> other(deduplicating);
    decltype(other)::process mails({other.shop, s.journal, {}, s.budget, s.clock, s.ears});
    unsigned shown = 0;
    CHECK(mails.due(s.clock.wall(), [&](due_operation const&) { ++shown; }));
    CHECK(shown == 0);
    CHECK(pass(mails).empty());
    CHECK(other.truth->looks() + other.truth->sends() == 0);

    auto p = s.start();
    std::vector<std::string> names;
    auto const name = [&](due_operation const& d) { names.push_back(d.stored.identity().key); };
    auto next = p.due(s.clock.wall(), name, {.most = 2});
    REQUIRE(next);
    REQUIRE(next.value());
    CHECK(names == std::vector<std::string>{"1", "2"});
    next = p.due(s.clock.wall(), name, *next.value());
    REQUIRE(next);
    CHECK_FALSE(next.value());
    CHECK(names == std::vector<std::string>{"1", "2", "3"});
}

TEST_SUITE_END();

TEST_SUITE_BEGIN("coming back: resume_all");

TEST_CASE("it finishes what can be finished, and tells each outcome once [W04]") {
    one_shop s(deduplicating);
    place(s, 3, 2);
    s.shop.on_lookup(down, s.budget.looks);
    CHECK(s.run({"shop", "4"}, "a pen").has_error());
    REQUIRE(s.unsettled().size() == 4);
    s.cut_power(); // a restart
    auto p = s.start();
    auto const sends = s.truth->sends();
    for (auto const& [name, told] : pass(p, {.where = {.most = 2}})) {
        CAPTURE(name);
        CHECK(told == std::vector{rule::none});
    }
    CHECK(s.unsettled().empty());
    CHECK(pass(p).empty());
    CHECK(s.truth->sends() == sends + 2); // the second again, the fourth for the first time
    for (auto const* name : {"1", "2", "3", "4"})
        CHECK(s.truth->effects(name) == 1);
}

TEST_CASE("a cycle looks no more often than it may, and the next one goes on after it") {
    for (unsigned most : {1U, 2U, 3U, 7U, 500U}) {
        one_shop s(bare);
        place(s, 7);
        auto p = s.start();
        std::vector<std::string> told;
        unsigned cycles = 0;
        std::optional<page> next(std::in_place);
        while (next) {
            REQUIRE(++cycles < 20);
            auto const looks = s.truth->looks();
            auto const more =
                p.resume_all([&](identity const& who, auto const&) { told.push_back(who.key); },
                             {.where = *next, .most_looks = most});
            REQUIRE(more);
            CHECK(s.truth->looks() - looks <= most); // each of them takes one
            next = more.value();
        }
        CHECK(told == std::vector<std::string>{"1", "2", "3", "4", "5", "6", "7"});
        CHECK(s.unsettled().empty());
        if (most == 500U) CHECK(cycles == 1);
    }
}

TEST_CASE("a stop ends a cycle, and what was not reached is next") {
    one_shop s(bare);
    place(s, 3);
    auto p = s.start();
    std::stop_source stop;
    std::vector<std::string> told;
    auto const more = p.resume_all(
        [&](identity const& who, auto const& done) {
            CHECK(done);
            told.push_back(who.key);
            stop.request_stop();
        },
        {.each = {.stop = stop.get_token()}});
    REQUIRE(more);
    REQUIRE(more.value());
    CHECK(told == std::vector<std::string>{"1"});
    CHECK(s.unsettled().size() == 2);
    CHECK(pass(p, {.where = *more.value()}).size() == 2);
    CHECK(s.unsettled().empty());
}

TEST_CASE("after a restart the look-up comes before any person [W04]") {
    one_shop s(bare);
    s.shop.on_submit(applied_reply_lost);
    s.shop.always_on_lookup(down_once_sent);
    CHECK(s.run().has_error());
    REQUIRE(s.state() == state_id::in_review);
    s.cut_power();
    s.shop.always_on_lookup(truthful);
    auto p = s.start();
    CHECK(pass(p).at(s.id.key) == std::vector{rule::none});
    CHECK(s.state() == state_id::confirmed);
    CHECK(s.stored().notes_or_none().decisions.empty());
    CHECK(s.truth->sends() == 1);
}

TEST_CASE("what is pending in a restored copy is looked for, never sent [J06]") {
    one_shop s(deduplicating);
    s.shop.on_lookup(down, s.budget.looks);
    CHECK(s.run().has_error());
    REQUIRE(s.state() == state_id::pending);
    s.journal.restore();
    s.truth->apply("order-2", s.request); // the original went on with others
    auto p = s.start();
    auto const told = pass(p);
    CHECK(told.at(s.id.key) == std::vector{rule::restored_copy});
    CHECK(s.state() == state_id::in_review);
    CHECK(pass(p).at(s.id.key) == std::vector{rule::restored_copy});
    CHECK(s.truth->sends() == 0);
    s.truth->apply(s.id.key, s.request); // as the original did
    CHECK(pass(p).at(s.id.key) == std::vector{rule::none});
    CHECK(s.truth->sends() == 0);
}

TEST_CASE("one that throws does not keep the others from their turn") {
    one_shop s(deduplicating);
    place(s, 3);
    s.shop.always_on_lookup([](shop::query const& q, world& w) -> shop::answer {
        if (q.key == "1") throw std::runtime_error("a defect of the provider");
        return truthful(q, w);
    });
    auto p = s.start();
    for (int cycles = 0; cycles != 2; ++cycles) {
        auto const told = pass(p);
        CHECK(told.at("1") == std::vector{rule::interrupted});
        if (cycles == 0) CHECK(told.size() == 3);
    }
    auto const r = s.stored({"shop", "1"});
    CHECK(r.state == state_id::uncertain);
    CHECK(r.claim == claim{});
    CHECK(s.stored({"shop", "2"}).state == state_id::confirmed);
    CHECK(s.stored({"shop", "3"}).state == state_id::confirmed);
    s.shop.always_on_lookup(truthful);
    CHECK(pass(p).at("1") == std::vector{rule::none});
}

TEST_CASE("a cycle without look-ups makes one, and ends") {
    one_shop s(deduplicating);
    place(s, 2);
    auto p = s.start();
    CHECK(pass(p, {.most_looks = 0}).size() == 2);
}

TEST_CASE("what stays under way beyond the deadline is for a person [W04]") {
    one_shop s(prompt);
    s.shop.on_submit(applied_reply_lost);
    s.shop.always_on_lookup([](shop::query const& q, world& w) -> shop::answer {
        shop::complete all;
        if (w.sends() == 0) return all;
        all.effects.push_back({.receipt = "r-1",
                               .key = std::string(q.key),
                               .request = "one notebook",
                               .status = effect_status::under_way});
        return all;
    });
    CHECK(s.run().error().rule() == rule::under_way);
    REQUIRE(s.state() == state_id::uncertain);
    s.clock.advance(s.stored().deadline - s.clock.wall());
    CHECK(s.run().error().rule() == rule::under_way);
    CHECK(s.state() == state_id::in_review);
    s.shop.always_on_lookup(truthful);
    CHECK(s.run()); // and its look-up may still settle it
    CHECK(s.truth->sends() == 1);
}

TEST_SUITE_END();

} // namespace
