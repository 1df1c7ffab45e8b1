// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#include <indoubt/adapter/composed_lookup.hpp>
#include <scene.hpp>

#include <doctest/doctest.h>

#include <functional>
#include <string>
#include <string_view>
#include <utility>

// Effects that are listed over pages, life stages and single reads: what the whole of them shows.

namespace {

using namespace scene;
using shop = provider_of<std::string>;
using page = lookup_page<std::string, std::string>;
using paged = page_answer<std::string, std::string>;
using look = std::function<shop::answer(shop::query const&, world&)>;

auto const applied_reply_lost = shop_of<decltype(bare)>::applied_reply_lost;
auto const empty = shop_of<decltype(bare)>::empty;
auto const down = shop_of<decltype(bare)>::down;
auto const half = shop_of<decltype(bare)>::half;
auto const truthful = shop_of<decltype(bare)>::truthful;

/// The look-up before the send shows nothing; after it, as given.
look once_sent(look then) {
    return [=](shop::query const& q, world& w) -> shop::answer {
        return w.sends() == 0 ? shop::complete{} : then(q, w);
    };
}

/// The look-up of a provider whose effects are listed in two parts.
look in_parts(look first, look second) {
    return [=](shop::query const& q, world& w) {
        auto const of = [&w](look const& part) {
            return [&](shop::query const& asked) { return part(asked, w); };
        };
        return composed_lookup(q, of(first), of(second));
    };
}

TEST_SUITE_BEGIN("cases: listings");

// ---- life stages --------------------------------------------------------------------------------

TEST_CASE("what is open is one part of two: without the closed ones it shows no absence [U09]") {
    one_shop s(bare);
    s.budget.first_look_delay = 1min; // one look-up a call
    s.budget.longest_delay = 1min;
    s.shop.on_submit(applied_reply_lost); // and closed at once
    s.shop.always_on_lookup(once_sent(in_parts(empty, half)));
    for (int calls = 0; calls != 2; ++calls) {
        auto const done = s.run({.deadline = 10s});
        REQUIRE(done.has_error());
        CHECK(done.error().rule() == rule::look_up_failed);
        CHECK(done.error().in_doubt());
        CHECK(s.state() == state_id::uncertain);
        s.clock.advance(1min);
    }
    CHECK(s.truth->sends() == 1);
    CHECK(s.truth->effects() == 1);
}

TEST_CASE("an effect that is closed already is found among the closed ones [U09]") {
    one_shop s(bare);
    s.shop.on_submit(applied_reply_lost);
    s.shop.always_on_lookup(in_parts(empty, truthful));
    auto const done = s.run();
    REQUIRE(done);
    CHECK(done.value().receipt == "r-1");
    CHECK(s.truth->sends() == 1);
    CHECK(s.truth->effects() == 1);
}

TEST_CASE("while the closed ones cannot be listed, nothing is sent and nothing confirmed [U09]") {
    one_shop s(bare);
    s.shop.always_on_lookup(in_parts(truthful, down));
    auto const before = s.run();
    REQUIRE(before.has_error());
    CHECK(before.error().rule() == rule::look_up_failed);
    CHECK_FALSE(before.error().in_doubt());
    CHECK(s.truth->sends() == 0);

    s.shop.on_submit(applied_reply_lost);
    s.shop.always_on_lookup(once_sent(in_parts(truthful, down)));
    auto const after = s.run();
    REQUIRE(after.has_error());
    CHECK(after.error().rule() == rule::look_up_failed);
    CHECK(after.error().in_doubt());

    s.shop.always_on_lookup(in_parts(truthful, empty));
    CHECK(s.run());
    CHECK(s.truth->sends() == 1);
    CHECK(s.truth->effects() == 1);
}

TEST_CASE("an effect that is closed while it is listed is seen twice and counts once [U09]") {
    one_shop s(bare);
    s.shop.on_submit(applied_reply_lost);
    look const still_open = [](shop::query const& q, world& w) {
        w.set_status(q.key, effect_status::under_way);
        auto found = truthful(q, w);
        w.set_status(q.key, effect_status::applied);
        return found;
    };
    s.shop.always_on_lookup(in_parts(still_open, truthful));
    auto const done = s.run();
    REQUIRE(done);
    CHECK(done.value().receipt == "r-1");
    CHECK(s.truth->looks() == 2);
    CHECK(s.truth->effects() == 1);
}

// ---- pages --------------------------------------------------------------------------------------

page with_all(shop::query const& q, world& w, std::string next = {}) {
    return {std::move(truthful(q, w).get_if<shop::complete>()->effects), std::move(next), {}};
}

/// Three pages; what the second one is, is up to the test.
look three_pages(std::function<paged(shop::query const&, world&)> second) {
    return [=](shop::query const& q, world& w) {
        return paged_lookup(q, [&](std::string_view cursor) -> paged {
            if (cursor.empty()) return page{.next = "second"};
            if (cursor == "second") return second(q, w);
            return with_all(q, w);
        });
    };
}
paged empty_one(shop::query const&, world&) {
    return page{.next = "third"};
}

TEST_CASE("an effect on the last of three pages, with empty ones before it, is found") {
    one_shop s(bare);
    s.shop.on_submit(applied_reply_lost);
    s.shop.always_on_lookup(three_pages(empty_one));
    auto const done = s.run();
    REQUIRE(done);
    CHECK(done.value().receipt == "r-1");
    CHECK(s.truth->effects() == 1);
}

TEST_CASE("an effect that is shown on two pages is one effect") {
    one_shop s(bare);
    s.shop.on_submit(applied_reply_lost);
    s.shop.always_on_lookup(three_pages(
        [](shop::query const& q, world& w) -> paged { return with_all(q, w, "third"); }));
    CHECK(s.run());
    CHECK(s.truth->effects() == 1);
}

/// Under a guarantee, where an absence would be leave to send again.
std::size_t sends_with(look listing) {
    one_shop s(deduplicating);
    s.shop.on_submit(applied_reply_lost);
    s.shop.always_on_lookup(once_sent(std::move(listing)));
    auto const done = s.run({.deadline = 5s});
    if (s.truth->sends() == 1) {
        REQUIRE(done.has_error());
        CHECK(done.error().in_doubt());
        CHECK(s.state() == state_id::uncertain);
    }
    CHECK(s.truth->effects() == 1);
    return s.truth->sends();
}

TEST_CASE("pages that were not all read are no absence, even where one would allow a resend") {
    auto const failing = [](paged with) {
        return three_pages([=](shop::query const&, world&) { return with; });
    };
    CHECK(sends_with(failing(unavailable{})) == 1);
    CHECK(sends_with(failing(denied{})) == 1);
    CHECK(sends_with(failing(incomplete{})) == 1);
    CHECK(sends_with(failing(page{.next = "second"})) == 1); // for ever
    look const capped = [](shop::query const& q, world&) {
        auto const more = [](std::string_view cursor) -> paged {
            return page{.next = std::string(cursor) + '+'};
        };
        return paged_lookup(q, more, {.most_pages = 4});
    };
    CHECK(sends_with(capped) == 1);
    // All of them read, and nothing there: that is one.
    CHECK(sends_with(failing(page{})) > 1);
}

// ---- reads that go back -------------------------------------------------------------------------

TEST_CASE("a confirmed effect that one read does not show is read again before it is missed [L3]") {
    one_shop s(bare);
    REQUIRE(s.run());
    auto const looked = s.truth->looks();
    s.shop.on_lookup(empty, 2);
    auto const again = s.run();
    REQUIRE(again);
    CHECK(again.value().receipt == "r-1");
    CHECK(s.truth->looks() == looked + 3);
    CHECK(s.state() == state_id::confirmed);
    CHECK(s.truth->sends() == 1);
}

TEST_CASE("two effects, and later one of them: that stays with a person [L3]") {
    one_shop s(bare);
    s.shop.on_submit(applied_reply_lost);
    s.shop.on_lookup(empty);
    s.shop.on_lookup([](shop::query const& q, world& w) -> shop::answer {
        shop::complete two = *truthful(q, w).get_if<shop::complete>();
        two.effects.push_back(two.effects.front());
        two.effects.back().receipt = "r-2";
        return two;
    });
    for (int runs = 0; runs != 3; ++runs) {
        auto const done = s.run();
        REQUIRE(done.has_error());
        CHECK(done.error().rule() == rule::several_effects);
        CHECK(done.error().state() == state_id::in_review);
    }
    CHECK(s.stored().notes_or_none().remarks == "ours: r-1, r-2");
    CHECK(s.truth->sends() == 1);
}

// ---- reading back by receipt --------------------------------------------------------------------

/// GET by the receipt that the reply gave. Without one there is nothing to ask for, and what is not
/// found says nothing of what stands under another id: it is one part, and the list is the other.
shop::answer by_receipt(shop::query const& q, world& w) {
    shop::complete found;
    if (q.receipt.empty()) return found;
    for (auto const& f : w.visible(q.key)) {
        if (f.receipt == q.receipt) found.effects.push_back({f.receipt, f.key, f.request});
    }
    return found;
}

TEST_CASE("with a receipt it is read back at once, though the list does not show it yet") {
    one_shop s(bare);
    s.shop.always_on_lookup(in_parts(by_receipt, empty));
    auto const done = s.run();
    REQUIRE(done);
    CHECK(done.value().receipt == "r-1");
    CHECK(s.truth->looks() == 2);
    CHECK(s.truth->sends() == 1);
}

TEST_CASE("without a receipt the list alone finds it") {
    one_shop s(bare);
    s.shop.on_submit(applied_reply_lost);
    s.shop.always_on_lookup(in_parts(by_receipt, truthful));
    CHECK(s.run());
    CHECK(s.truth->effects() == 1);
}

TEST_CASE("'not found' by the receipt is no absence until the list was read, too") {
    for (bool const listed : {false, true}) {
        one_shop s(deduplicating);
        s.truth->hide_effects_for(3s); // the receipt is known and not found
        s.shop.on_submit([](shop::attempt const& a, world& w) -> shop::keyed_reply {
            return shop::accepted_with_key{w.apply(a.key(), a.bytes()), std::string(a.key())};
        });
        s.shop.always_on_lookup(once_sent(in_parts(by_receipt, listed ? truthful : down)));
        auto const done = s.run({.deadline = 2s});
        REQUIRE(done.has_error());
        CHECK(done.error().in_doubt());
        CHECK(s.stored().receipt == "r-1");
        CHECK((s.truth->sends() > 1) == listed);
        CHECK(s.truth->effects() == 1);
    }
}

// ---- a write that ends with a call on a handle --------------------------------------------------

/// An upload is finished by a call that may be repeated. Once it is finished its handle is gone;
/// the thing stands at a name that is derived from the identity.
constexpr contract finishing{.resend =
                                 unique_target{.undisturbed_for = 24h, .documented_at = cited},
                             .lookup = complete_lookup{},
                             .arrives_within = 1min,
                             .identifies = identified::by_name};

/// The service does not know the handle: it is finished, or was thrown away. Nobody knows which, so
/// this is no refusal.
shop::keyed_reply no_such_handle(shop::attempt const&, world&) {
    return unknown{"no such upload"};
}

/// What stands at the name bears no key. It is not shown before the second call.
shop::answer at_the_name(shop::query const& q, world& w) {
    shop::complete found;
    if (w.sends() < 2) return found;
    for (auto const& f : w.visible(q.key))
        found.effects.push_back({.receipt = f.receipt, .request = f.request});
    return found;
}

TEST_CASE("a handle that is gone after a lost reply: the thing itself confirms it [U16]") {
    one_shop s(finishing);
    s.shop.on_submit(applied_reply_lost);
    s.shop.on_submit(no_such_handle);
    s.shop.always_on_lookup(at_the_name);
    auto const done = s.run();
    REQUIRE(done);
    CHECK(done.value().receipt == "r-1");
    CHECK(done.value().attempts == 2);
    CHECK(s.truth->sends() == 2);
    CHECK(s.truth->effects() == 1);
}

TEST_CASE("a handle that is gone, and another thing at the name: a person decides [U16]") {
    one_shop s(finishing);
    s.truth->put({.key = "", .request = "another thing", .receipt = "was there"});
    s.shop.on_submit(no_such_handle);
    s.shop.on_submit(no_such_handle);
    s.shop.always_on_lookup(at_the_name);
    for (int runs = 0; runs != 2; ++runs) {
        auto const done = s.run();
        REQUIRE(done.has_error());
        CHECK(done.error().rule() == rule::contents_differ);
        CHECK(done.error().state() == state_id::in_review);
    }
    CHECK(s.truth->sends() == 2);
    CHECK(s.truth->effects() == 0);
}

TEST_CASE("a handle that is gone, and nothing at the name: neither rejected nor confirmed [U16]") {
    one_shop s(finishing);
    for (unsigned tries = 0; tries != s.budget.attempts; ++tries)
        s.shop.on_submit(no_such_handle);
    s.shop.always_on_lookup(at_the_name);
    for (int runs = 0; runs != 2; ++runs) {
        auto const done = s.run();
        REQUIRE(done.has_error());
        CHECK(done.error().state() == state_id::in_review);
        CHECK(done.error().rule() == rule::attempts_spent);
        CHECK(done.error().in_doubt());
    }
    CHECK(s.stored().open_attempts() == 3);
    CHECK(s.truth->sends() == 3);
    CHECK(s.truth->effects() == 0);
}

TEST_SUITE_END();

} // namespace
