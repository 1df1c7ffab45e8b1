// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#include <recovery/by_hand.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <thread>
#include <utility>
#include <vector>

// What another channel tells of an effect: it counts like one that was looked up, and nobody asks
// the provider. Late replies are in late_replies.cpp.

namespace {

using namespace scene;
using shop = provider_of<std::string>;

auto const applied_reply_lost = shop_of<decltype(bare)>::applied_reply_lost;
auto const request_lost = shop_of<decltype(bare)>::request_lost;
auto const down = shop_of<decltype(bare)>::down;
auto const empty = shop_of<decltype(bare)>::empty;

/// The effect as a webhook tells of it.
template <class Scene> shop::effect told_of(Scene const& s, std::string receipt = "r-1") {
    return {.receipt = std::move(receipt), .key = s.id.key, .request = s.request};
}
template <class Scene> auto observe(Scene& s, shop::effect const& e) {
    auto p = s.start();
    return p.observe(s.id, e);
}

/// A scene whose one operation is in this state; where it may be, its call was applied.
template <class Scene> void bring_to(Scene& s, state_id wanted) {
    using enum state_id;
    if (wanted == pending || wanted == cancelled) s.shop.on_lookup(down, s.budget.looks);
    if (wanted == uncertain || wanted == in_review) s.shop.on_submit(applied_reply_lost);
    if (wanted == abandoned) s.shop.on_submit(request_lost);
    if (wanted == rejected) {
        s.shop.on_submit([](shop::attempt const&, world&) -> shop::keyed_reply {
            return refused{.because = refusal_class::invalid_input};
        });
    }
    bool const unseen = wanted == uncertain || wanted == in_review || wanted == abandoned;
    if (unseen) s.shop.always_on_lookup(empty);
    (void)s.run(wanted == uncertain ? run_options{.deadline = 50ms} : run_options{});
    if (wanted == cancelled) REQUIRE(s.cancel());
    if (wanted == abandoned) {
        auto p = s.start();
        REQUIRE(p.abandon(s.id, {"ann", "nobody will know"}));
    }
    s.shop.always_on_lookup(shop_of<decltype(bare)>::truthful);
    REQUIRE(s.state() == wanted);
}

TEST_SUITE_BEGIN("outside evidence");

// ---- it confirms --------------------------------------------------------------------------------

TEST_CASE("a told effect confirms what is pending, uncertain or in review by doubt") {
    for (auto const from : {state_id::pending, state_id::uncertain, state_id::in_review}) {
        CAPTURE(to_string(from));
        one_shop s(bare);
        bring_to(s, from);
        auto const looks = s.truth->looks();
        auto const sends = s.truth->sends();
        auto const done = observe(s, told_of(s));
        REQUIRE(done);
        CHECK(done.value().receipt == "r-1");
        CHECK(done.value().seen_now);
        CHECK_FALSE(done.value().before_this_run);
        auto const r = s.stored();
        CHECK(r.state == state_id::confirmed);
        CHECK(r.basis == basis::outside);
        CHECK(r.receipt == "r-1");
        CHECK(r.concern == concern::none);
        CHECK(s.truth->looks() == looks); // nobody was asked
        CHECK(s.truth->sends() == sends);
        CHECK(s.ears.heard->back() == std::pair(from, state_id::confirmed));

        s.cut_power(); // what was told is durable
        CHECK(s.state() == state_id::confirmed);
        // And the receipt is this operation's, for ever.
        auto p = s.start();
        record other = r;
        other.intent = std::make_shared<intent const>(
            intent{{"shop", "another"}, r.intent->target, "", "", ""});
        CHECK_FALSE(p.journal().bind_receipt(other, "r-1").value());
        CHECK(p.journal().bind_receipt(r, "r-1").value());
    }
}

TEST_CASE("where nobody can be asked, another channel is what confirms") {
    one_shop s(from_elsewhere);
    CHECK(s.run().error().rule() == rule::accepted_unproven);
    REQUIRE(s.state() == state_id::in_review);
    CHECK(observe(s, told_of(s)));
    CHECK(s.stored().basis == basis::outside);
    CHECK(s.run());
    CHECK(s.truth->effects() == 1);
    CHECK(s.truth->sends() == 1);
}

TEST_CASE("what is confirmed by its effect after a cancel is due for cleaning up") {
    one_shop s(bare);
    bring_to(s, state_id::uncertain);
    REQUIRE(s.cancel());
    CHECK(observe(s, told_of(s)));
    CHECK(s.stored().clean_up_due);
}

TEST_CASE("the missing effect, told of again, settles the review that it began") {
    one_shop s(prompt);
    REQUIRE(s.run());
    s.shop.on_lookup(empty);
    CHECK(s.run().error().rule() == rule::effect_missing);
    CHECK(observe(s, told_of(s)));
    CHECK(s.state() == state_id::confirmed);
}

// ---- it contradicts -----------------------------------------------------------------------------

TEST_CASE("told other content under our key goes to a person, whatever the operation waits for") {
    for (auto const from :
         {state_id::pending, state_id::uncertain, state_id::in_review, state_id::confirmed}) {
        CAPTURE(to_string(from));
        one_shop s(bare);
        bring_to(s, from);
        auto e = told_of(s);
        e.request = "two notebooks";
        auto const done = observe(s, e);
        REQUIRE(done.has_error());
        CHECK(done.error().rule() == rule::contents_differ);
        CHECK(done.error().in_doubt());
        auto const r = s.stored();
        CHECK(r.state == state_id::in_review);
        CHECK(r.concern == concern::contradiction);
        CHECK(r.notes_or_none().remarks == "ours: r-1");
        // From now on not even the right effect confirms it by itself.
        auto const sends = s.truth->sends();
        CHECK(observe(s, told_of(s)).has_error());
        CHECK(s.run().has_error());
        CHECK(s.state() == state_id::in_review);
        CHECK(s.truth->sends() == sends);
    }
}

TEST_CASE("an effect after a final state is neither ignored nor silently confirmed [H27, U12c]") {
    for (auto const from : {state_id::rejected, state_id::cancelled, state_id::abandoned}) {
        for (bool const equal : {true, false}) {
            CAPTURE(to_string(from));
            CAPTURE(equal);
            one_shop s(bare);
            bring_to(s, from);
            s.ears.heard->clear();
            auto e = told_of(s);
            if (!equal) e.request = "two notebooks";
            auto const done = observe(s, e);
            REQUIRE(done.has_error());
            CHECK(done.error().rule() == rule::late_effect);
            CHECK(done.error().in_doubt());
            CHECK(s.stored().concern == concern::contradiction);
            CHECK(s.stored().came_from == from);
            // Counted by the observer.
            using heard = std::pair<state_id, state_id>;
            CHECK(*s.ears.heard == std::vector<heard>{{from, state_id::in_review}});
            CHECK(observe(s, e).has_error()); // the channel repeats itself
            CHECK(s.stored().came_from == from);
            s.cut_power();
            CHECK(s.state() == state_id::in_review);
            CHECK(s.run().has_error());
            CHECK(s.state() == state_id::in_review);
        }
    }
}

TEST_CASE("a receipt that is bound to another operation sends this one to a person") {
    using enum state_id;
    for (auto const from : {pending, uncertain, in_review, rejected, cancelled, abandoned}) {
        CAPTURE(to_string(from));
        one_shop s(bare);
        bring_to(s, from);
        s.truth->put({.key = "order-7", .request = "a pen", .receipt = "r-9"});
        REQUIRE(s.run({"shop", "order-7"}, "a pen"));
        REQUIRE(s.stored({"shop", "order-7"}).receipt == "r-9");
        auto const done = observe(s, told_of(s, "r-9"));
        REQUIRE(done.has_error());
        bool const settled = is_final(from);
        CHECK(done.error().rule() == (settled ? rule::late_effect : rule::receipt_taken));
        CHECK(s.state() == in_review);
        CHECK(s.stored().concern == concern::contradiction);
        CHECK(s.stored({"shop", "order-7"}).state == confirmed);
    }
}

TEST_CASE("a confirmed operation hears of its effect again, and of a second one") {
    one_shop s(bare);
    bring_to(s, state_id::confirmed);
    auto const before = s.stored().version;
    auto const again = observe(s, told_of(s));
    REQUIRE(again);
    CHECK(again.value().before_this_run);
    CHECK(again.value().seen_now);
    CHECK(s.stored().version == before);
    CHECK(s.stored().basis == basis::looked_up);

    auto const second = observe(s, told_of(s, "r-2"));
    REQUIRE(second.has_error());
    CHECK(second.error().rule() == rule::several_effects);
    CHECK(s.state() == state_id::in_review);
    CHECK(s.stored().receipt == "r-1"); // the confirmed one is still known
    CHECK(s.truth->sends() == 1);
}

TEST_CASE("an accepted receipt and a told one that is another are two effects") {
    one_shop s(bare);
    s.shop.always_on_lookup(empty);
    CHECK(s.run().has_error()); // accepted with r-1, and not shown
    REQUIRE(s.stored().receipt == "r-1");
    CHECK(observe(s, told_of(s, "r-2")).error().rule() == rule::several_effects);
    CHECK(s.state() == state_id::in_review);
}

// ---- it says nothing ----------------------------------------------------------------------------

TEST_CASE("what is not ours changes nothing, and is never counted as absence") {
    using enum state_id;
    for (auto const from :
         {pending, uncertain, in_review, confirmed, rejected, cancelled, abandoned}) {
        CAPTURE(to_string(from));
        one_shop s(bare);
        bring_to(s, from);
        auto const before = s.stored();
        auto of_another = told_of(s, "theirs");
        of_another.ours = false;
        auto other_key = told_of(s, "theirs");
        other_key.key = "order-2";
        auto no_key = told_of(s, "theirs");
        no_key.key.clear();
        for (auto const& e : {of_another, other_key, no_key}) {
            auto const done = observe(s, e);
            CHECK(done.has_value() == (from == confirmed));
            bool const waits = from == pending || from == uncertain;
            if (waits) CHECK(done.error().rule() == rule::another_owner);
            if (waits) CHECK(done.error().in_doubt());
            if (is_final(from) && from != confirmed) CHECK(done.error().rule() == before.reason);
        }
        CHECK(s.stored().version == before.version);
        // Nobody took the receipt for this operation.
        auto p = s.start();
        record other = before;
        other.intent = std::make_shared<intent const>(
            intent{{"shop", "another"}, before.intent->target, "", "", ""});
        CHECK(p.journal().bind_receipt(other, "theirs").value());
    }
}

TEST_CASE("what is under way, or failed and may be tried again, changes nothing") {
    using enum state_id;
    for (auto const from : {pending, uncertain, in_review, confirmed, rejected}) {
        CAPTURE(to_string(from));
        for (auto const status : {effect_status::under_way, effect_status::failed}) {
            one_shop s(bare);
            bring_to(s, from);
            auto const before = s.stored().version;
            auto e = told_of(s);
            e.status = status;
            auto const done = observe(s, e);
            CHECK(done.has_value() == (from == confirmed));
            if (from == uncertain || from == pending) {
                bool const goes_on = status == effect_status::under_way;
                CHECK(done.error().rule() == (goes_on ? rule::under_way : rule::not_yet_visible));
            }
            CHECK(s.stored().version == before);
        }
    }
}

TEST_CASE("failed for good settles it if that accounts for every attempt") {
    for (auto const from : {state_id::uncertain, state_id::in_review}) {
        one_shop s(bare);
        bring_to(s, from);
        auto e = told_of(s);
        e.status = effect_status::failed_for_good;
        auto const done = observe(s, e);
        REQUIRE(done.has_error());
        CHECK(done.error().rule() == rule::refused_by_provider);
        CHECK_FALSE(done.error().in_doubt());
        CHECK(s.state() == state_id::rejected);
        CHECK(s.stored().open_attempts() == 0);
    }
    one_shop two(deduplicating);
    two.shop.on_submit(request_lost);
    two.shop.on_submit(request_lost);
    two.shop.always_on_lookup(empty);
    CHECK(two.run({.deadline = 150ms}).has_error());
    REQUIRE(two.stored().open_attempts() == 2);
    auto e = told_of(two);
    e.status = effect_status::failed_for_good;
    CHECK(observe(two, e).error().in_doubt()); // the other one may still land
    CHECK(two.state() == state_id::uncertain);
    CHECK(two.stored().open_attempts() == 2);
}

template <class Shop> struct elsewhere : Shop {
    explicit elsewhere(Shop const& s) : Shop(s) {}
    static constexpr auto target = "another shop";
};

TEST_CASE("what cannot be compared is an error of the call, and changes nothing") {
    one_shop s(bare);
    bring_to(s, state_id::uncertain);
    auto const before = s.stored().version;
    auto p = s.start();
    CHECK(p.observe({"shop", "unheard of"}, told_of(s)).error().rule() == rule::not_recorded);

    recovery<policies<elsewhere<decltype(s.shop)>, lossy_storage&, exact_fingerprint,
                      bounded_budget, manual_clock>>
        other({elsewhere(s.shop), s.journal, {}, s.budget, s.clock});
    CHECK(other.observe(s.id, told_of(s)).error().rule() == rule::conflicting_intent);

    struct newer : exact_fingerprint {
        static constexpr std::string_view rule() { return "exact/2"; }
    };
    recovery<policies<decltype(s.shop), lossy_storage&, newer, bounded_budget, manual_clock>> later(
        {s.shop, s.journal, {}, s.budget, s.clock});
    auto const incomparable = later.observe(s.id, told_of(s));
    CHECK(incomparable.error().rule() == rule::incomparable);
    CHECK(incomparable.error().in_doubt());
    CHECK(s.stored().version == before);
    CHECK(s.run()); // by the truth
}

// ---- a run that is at work ----------------------------------------------------------------------

TEST_CASE("told between the mark and the call: the first send is not made [H8]") {
    one_shop s(bare);
    hooked_storage pausing(s.journal);
    hooked_process<decltype(s.shop.contract)> p({s.shop, pausing, {}, s.budget, s.clock, s.ears});
    pausing.before_flush = [&] { // the first flush is that of the mark
        REQUIRE(s.state() == state_id::uncertain);
        s.truth->put({.key = s.id.key, .request = s.request, .receipt = "from another life"});
        CHECK(p.observe(s.id, told_of(s, "from another life")));
    };
    auto const done = p.run(s.id, s.request);
    REQUIRE(done);
    CHECK(done.value().receipt == "from another life");
    CHECK(s.truth->sends() == 0);
}

TEST_CASE("told between the mark and the call: the resend is not made [H8]") {
    one_shop s(deduplicating);
    bring_to(s, state_id::uncertain);
    s.truth->deduplicate(0ms); // a second call would make a second effect
    s.clock.advance(10min);
    s.shop.on_lookup(empty);
    hooked_storage pausing(s.journal);
    hooked_process<decltype(s.shop.contract)> p({s.shop, pausing, {}, s.budget, s.clock, s.ears});
    pausing.before_flush = [&] {
        REQUIRE(s.stored().open_attempts() == 2);
        CHECK(p.observe(s.id, told_of(s)));
    };
    CHECK(p.run(s.id, s.request));
    CHECK(s.truth->sends() == 1);
    CHECK(s.truth->effects() == 1);
}

TEST_CASE("told while a look-up shows nothing: the clearance it led to is not used [H8]") {
    one_shop s(deduplicating);
    bring_to(s, state_id::uncertain);
    s.truth->deduplicate(0ms);
    s.clock.advance(10min);
    auto p = s.start();
    s.shop.on_lookup([&](shop::query const&, world&) -> shop::answer {
        CHECK(p.observe(s.id, told_of(s)));
        return shop::complete{}; // an answer that is a moment older
    });
    CHECK(p.run(s.id, s.request));
    CHECK(s.truth->sends() == 1);
    CHECK(s.truth->effects() == 1);
    CHECK(s.stored().attempts.size() == 1);
}

TEST_CASE("a run that waits is woken by what is told, and does not send again [H8]") {
    one_shop s(deduplicating);
    s.budget.first_delay = s.budget.longest_delay = 20s;
    s.shop.on_submit(applied_reply_lost);
    s.shop.always_on_lookup(empty);
    s.truth->deduplicate(0ms);
    s.clock.hold_waits();
    auto p = s.start();
    auto const began = s.clock.elapsed();
    bool confirmed = false;
    {
        run_options const trusting{.trust_record = true}; // a look would wait for its own time
        std::jthread const runs([&] { confirmed = p.run(s.id, s.request, trusting).has_value(); });
        s.clock.until_waiting();
        s.shop.always_on_lookup(shop_of<decltype(bare)>::truthful);
        auto const told = p.observe(s.id, told_of(s));
        CHECK(told.has_value());
        if (!told) s.clock.release_waits();
    }
    CHECK(confirmed);
    CHECK(s.clock.elapsed() == began); // nobody waited for the end of the wait
    CHECK(s.truth->sends() == 1);
    CHECK(s.truth->effects() == 1);
    CHECK(s.stored().basis == basis::outside);
}

TEST_SUITE_END();

} // namespace
