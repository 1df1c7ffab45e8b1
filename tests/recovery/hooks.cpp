// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#include <recovery/staged_shop.hpp>

#include <doctest/doctest.h>

#include <stdexcept>
#include <string>

// What a program cleans up once an operation surely was not applied, and when it is asked to.

namespace {

using namespace scene;
using shop = provider_of<std::string>;

auto const applied_reply_lost = shop_of<decltype(bare)>::applied_reply_lost;
auto const request_lost = shop_of<decltype(bare)>::request_lost;
auto const down = shop_of<decltype(bare)>::down;

/// The first look-up, before anything is sent, works; then nobody answers.
auto const down_once_sent = [](shop::query const&, world& w) -> shop::answer {
    if (w.sends() == 0) return shop::complete{};
    return unavailable{};
};
auto refuses(refused how = {}) {
    return [how](shop::attempt const&, world&) -> shop::keyed_reply { return how; };
}
bool not_yet(unapplied_operation const&) {
    return false;
}
by const ann{"ann", "asked the shop"};

/// Rejected, and its hook has returned what `then` says.
template <class Contract> void get_rejected(staged_shop<Contract>& s) {
    s.shop.on_submit(refuses());
    CHECK(s.run().has_error());
    REQUIRE(s.state() == state_id::rejected);
}
/// An effect of the operation turns up after all.
template <class Contract> void effect_turns_up(staged_shop<Contract>& s) {
    auto p = s.start();
    auto const told =
        p.observe(s.id, shop::effect{.receipt = "r-9", .key = s.id.key, .request = s.request});
    CHECK(told.has_error());
    REQUIRE(s.state() == state_id::in_review);
}

TEST_SUITE_BEGIN("hooks");

TEST_CASE("nothing is cleaned up while the outcome is unknown, or after a confirmation [U05]") {
    staged_shop s(deduplicating);
    s.shop.on_submit(applied_reply_lost);
    s.shop.always_on_lookup(down_once_sent);
    CHECK(s.run().has_error());
    REQUIRE(s.state() == state_id::uncertain);
    s.shop.on_lookup([](shop::query const&, world&) -> shop::answer {
        throw std::runtime_error("the look-up");
    });
    CHECK_THROWS_AS((void)s.run(), std::runtime_error);
    CHECK(s.state() == state_id::uncertain);
    CHECK(s.calls() == 0);
    CHECK(s.cancel()); // the abort of the workflow around it
    CHECK(s.calls() == 0);
    s.shop.always_on_lookup(shop_of<decltype(bare)>::truthful);
    CHECK(s.run());
    CHECK(s.run());
    CHECK(s.truth->effects() == 1);
    CHECK(s.calls() == 0);
}

TEST_CASE("nothing is cleaned up while a person is asked, nor once he gave up [U05]") {
    staged_shop s(bare);
    s.shop.on_submit(request_lost);
    CHECK(s.run().has_error());
    REQUIRE(s.state() == state_id::in_review);
    (void)s.resume();
    CHECK(s.calls() == 0);
    REQUIRE(s.start().abandon(s.id, ann));
    CHECK(s.run().has_error());
    CHECK(s.calls() == 0);
    CHECK(s.shown().empty());
}

TEST_CASE("what is rejected is cleaned up once, and a rerun does not repeat it [U05]") {
    staged_shop s(bare);
    s.shop.on_submit(refuses({.because = refusal_class::permission}));
    for (int runs = 0; runs != 3; ++runs) {
        auto const done = s.run();
        REQUIRE(done.has_error());
        CHECK(done.error().state() == state_id::rejected);
        REQUIRE(s.calls() == 1);
    }
    auto const& call = s.hook->calls[0];
    CHECK(call.of == s.id);
    CHECK(call.state == state_id::rejected);
    CHECK(call.why == rule::refused_permission);
    CHECK(codec<std::string>::decode(call.request).value() == s.request);
    CHECK(s.shown().empty());
    CHECK(s.resume().empty());
    CHECK(s.calls() == 1);
}

TEST_CASE("what is cancelled is cleaned up once, whoever or whatever cancelled it [U05]") {
    staged_shop by_caller(bare);
    by_caller.shop.on_lookup(down, by_caller.budget.looks);
    CHECK(by_caller.run().has_error());
    CHECK(by_caller.calls() == 0);
    REQUIRE(by_caller.cancel());
    REQUIRE(by_caller.calls() == 1);
    CHECK(by_caller.hook->calls[0].state == state_id::cancelled);
    CHECK(by_caller.hook->calls[0].why == rule::cancelled_by_caller);
    CHECK(by_caller.cancel());
    CHECK(by_caller.run().has_error());
    CHECK(by_caller.calls() == 1);

    staged_shop spent(bare);
    for (unsigned sends = 0; sends != spent.budget.attempts; ++sends)
        spent.shop.on_submit(refuses({.for_good = false}));
    CHECK(spent.run().has_error());
    CHECK(spent.run().has_error());
    REQUIRE(spent.calls() == 1);
    CHECK(spent.hook->calls[0].why == rule::attempts_spent);

    staged_shop late(bare);
    late.budget.overall = 0ms;
    CHECK(late.run().has_error());
    CHECK(late.run().has_error());
    REQUIRE(late.calls() == 1);
    CHECK(late.hook->calls[0].why == rule::deadline_reached);
}

TEST_CASE("it is called after the flush that made the state durable [H29]") {
    for (bool cancelled : {false, true}) {
        staged_shop s(bare);
        state_id before_the_cut{};
        s.hook->then = [&](unapplied_operation const& u) {
            before_the_cut = u.state;
            s.cut_power();
            throw std::runtime_error("the power");
            return true;
        };
        if (cancelled) {
            s.shop.on_lookup(down, s.budget.looks);
            CHECK(s.run().has_error());
            CHECK_THROWS_AS((void)s.cancel(), std::runtime_error);
        } else {
            s.shop.on_submit(refuses());
            CHECK_THROWS_AS((void)s.run(), std::runtime_error);
        }
        REQUIRE(s.calls() == 1);
        CHECK(s.hook->calls[0].unflushed == 0);
        CHECK(s.state() == before_the_cut);
        CHECK(s.stored().hook_due);
        s.hook->then = nullptr;
        CHECK(s.run().has_error());
        CHECK(s.calls() == 2);
    }
}

TEST_CASE("it is called before the caller is told, and after the observer [H29]") {
    staged_shop s(bare);
    std::size_t heard = 0;
    s.hook->then = [&](unapplied_operation const&) {
        heard = s.ears.heard->size();
        return true;
    };
    get_rejected(s);
    CHECK(heard == 3); // none to pending, to uncertain, to rejected
    CHECK(s.ears.heard->size() == heard);
}

TEST_CASE("a power cut before its return is recorded: it is called again, at least once [H29]") {
    staged_shop s(bare);
    get_rejected(s);
    CHECK(s.calls() == 1);
    CHECK_FALSE(s.stored().hook_due);
    CHECK(s.journal.unflushed() == 1);
    s.cut_power();
    CHECK(s.stored().hook_due);
    CHECK(s.run().has_error());
    CHECK(s.calls() == 2);
    CHECK(s.run().has_error()); // which flushes before it tells
    s.cut_power();
    CHECK(s.run().has_error());
    CHECK(s.calls() == 2);
}

TEST_CASE("whichever write or flush fails, nothing is cleaned up that is not durable [J02]") {
    auto const refused_after = [](auto& s) { s.shop.on_submit(refuses()); };
    staged_shop clean(bare);
    refused_after(clean);
    CHECK(clean.run().has_error());
    auto const steps = clean.journal.steps();
    unsigned before_the_hook = 0;
    for (std::uint64_t step = 1; step <= steps; ++step) {
        CAPTURE(step);
        staged_shop s(bare);
        refused_after(s);
        s.journal.fail_at(step);
        auto const done = s.run();
        REQUIRE(done.has_error());
        CHECK(done.error().rule() == rule::storage_failed);
        if (s.calls() == 0) ++before_the_hook;
        bool const called = s.calls() != 0;
        s.cut_power();
        if (called) CHECK(s.state() == state_id::rejected);
    }
    CHECK(before_the_hook == steps - 1); // only the record of its return comes after it
}

TEST_CASE("one that says not yet is called again by the next run, and by a cycle [H29]") {
    staged_shop s(bare);
    s.hook->then = not_yet;
    get_rejected(s);
    CHECK(s.run().has_error());
    CHECK(s.calls() == 2);
    CHECK(s.reconcile().has_error());
    CHECK(s.calls() == 3);
    CHECK(s.resume().size() == 1);
    CHECK(s.calls() == 4);
    auto const shown = s.shown();
    REQUIRE(shown.size() == 1);
    CHECK(shown[0].hook_due);
    CHECK(shown[0].state == state_id::rejected);
    s.hook->then = nullptr;
    CHECK(s.resume().size() == 1);
    CHECK(s.calls() == 5);
    CHECK(s.resume().empty());
    CHECK(s.shown().empty());
    CHECK(s.truth->sends() == 1);
}

TEST_CASE("an exception of it reaches the caller and counts as not yet [H29]") {
    staged_shop s(bare);
    s.hook->then = [](unapplied_operation const&) -> bool { throw std::runtime_error("hook"); };
    s.shop.on_submit(refuses());
    CHECK_THROWS_AS((void)s.run(), std::runtime_error);
    CHECK(s.state() == state_id::rejected);
    CHECK(s.stored().claim == claim{});
    auto p = s.start();
    CHECK_THROWS_AS((void)p.run(s.id, s.request), std::runtime_error);
    CHECK_THROWS_AS((void)p.cancel(s.id), std::runtime_error);
    CHECK(p.resume_all([](identity const&, auto const& told) {
        CHECK(told.error().rule() == rule::interrupted);
        CHECK(told.error().state() == state_id::rejected);
    }));
    CHECK(s.calls() == 4);
    s.hook->then = nullptr;
    CHECK(p.run(s.id, s.request).has_error()); // the same process goes on
    CHECK(s.calls() == 5);
    CHECK(s.shown().empty());
}

TEST_CASE("a dismissal back to rejected does not repeat what was done [H29]") {
    staged_shop s(bare);
    get_rejected(s);
    effect_turns_up(s);
    CHECK(s.calls() == 1);
    REQUIRE(s.start().dismiss(s.id, ann, {"r-9"}));
    CHECK(s.state() == state_id::rejected);
    CHECK(s.run().has_error());
    CHECK(s.calls() == 1);
    CHECK(s.shown().empty());
}

TEST_CASE("a dismissal back to rejected does what was not done yet [H29]") {
    staged_shop s(bare);
    s.hook->then = not_yet;
    get_rejected(s);
    effect_turns_up(s);
    s.hook->then = nullptr;
    CHECK(s.run().has_error());
    CHECK(s.calls() == 1); // not while a person is asked
    REQUIRE(s.start().dismiss(s.id, ann, {"r-9"}));
    CHECK(s.calls() == 2);
    CHECK(s.shown().empty());
}

TEST_CASE("what was to be cleaned up and turns out to be there is not, nor shown as due [H29]") {
    staged_shop s(bare);
    s.hook->then = not_yet;
    get_rejected(s);
    effect_turns_up(s);
    s.truth->put({s.id.key, s.request, "r-9"});
    REQUIRE(s.start().adopt(s.id, "r-9", ann));
    CHECK(s.state() == state_id::confirmed);
    CHECK(s.calls() == 1);
    CHECK_FALSE(s.stored().hook_due);
    CHECK(s.shown().empty());

    staged_shop given_up(bare);
    given_up.hook->then = not_yet;
    get_rejected(given_up);
    effect_turns_up(given_up);
    REQUIRE(given_up.start().abandon(given_up.id, ann));
    CHECK(given_up.shown().empty());
    CHECK(given_up.resume().empty());
}

TEST_CASE("a supersession owes it again, for the new generation [H29]") {
    staged_shop s(bare);
    get_rejected(s);
    REQUIRE(s.start().supersede(s.id, ann));
    CHECK(s.calls() == 1);
    CHECK_FALSE(s.stored().hook_due);
    s.shop.on_submit(refuses());
    CHECK(s.run().has_error());
    CHECK(s.calls() == 2);
    REQUIRE(s.start().supersede(s.id, ann));
    CHECK(s.run()); // this one is placed
    CHECK(s.calls() == 2);
    CHECK(s.truth->effects() == 1);
}

TEST_CASE("a program without hooks owes none, and leaves those of another to it [H29]") {
    one_shop plain(bare);
    plain.shop.on_submit(refuses());
    CHECK(plain.run().has_error());
    CHECK(plain.state() == state_id::rejected);
    CHECK_FALSE(plain.stored().hook_due);
    CHECK(plain.unsettled().empty());

    staged_shop s(bare);
    s.hook->then = not_yet;
    get_rejected(s);
    auto p = s.plain().start();
    unsigned due = 0;
    CHECK(p.due(s.clock.wall(), [&](due_operation const&) { ++due; }));
    CHECK(due == 0); // it could do nothing about it
    CHECK(p.run(s.id, s.request).has_error());
    CHECK(s.stored().hook_due);
    CHECK(s.calls() == 1);
}

TEST_SUITE_END();

} // namespace
