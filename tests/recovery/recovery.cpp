// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#include <recovery/by_hand.hpp>

#include <doctest/doctest.h>

#include <stdexcept>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

// run, reconcile, recorded, cancel and unsettled: what each does beside deciding.

namespace {

using namespace scene;
using shop = provider_of<std::string>;
using heard = std::vector<std::pair<state_id, state_id>>;

auto const request_lost = shop_of<decltype(bare)>::request_lost;
auto const down = shop_of<decltype(bare)>::down;

TEST_SUITE_BEGIN("recovery");

// ---- run and reconcile --------------------------------------------------------------------------

TEST_CASE("a run looks, marks, sends, looks and tells") {
    one_shop s(bare);
    auto const done = s.run();
    REQUIRE(done);
    CHECK(done.value().receipt == "r-1");
    CHECK(done.value().attempts == 1);
    CHECK_FALSE(done.value().before_this_run);
    CHECK(done.value().seen_now);
    CHECK(s.truth->looks() == 2);
    CHECK(s.clock.waits().empty());
}

TEST_CASE("what was there before the first send is found and not sent again") {
    one_shop s(bare);
    s.truth->put({.key = s.id.key, .request = s.request, .receipt = "from another life"});
    auto const done = s.run();
    REQUIRE(done);
    CHECK(done.value().receipt == "from another life");
    CHECK(done.value().attempts == 0);
    CHECK(s.truth->sends() == 0);
}

TEST_CASE("a reconcile never sends, whatever would allow it") {
    one_shop fresh(bare);
    CHECK(fresh.reconcile().error().rule() == rule::not_recorded);
    CHECK(fresh.truth->looks() == 0);
    fresh.shop.on_lookup(down, fresh.budget.looks);
    CHECK(fresh.run().has_error());
    auto const absent = fresh.reconcile();
    REQUIRE(absent.has_error());
    CHECK(absent.error().rule() == rule::nothing_sent);
    CHECK(absent.error().state() == state_id::pending);
    CHECK(fresh.truth->sends() == 0);

    one_shop covered(deduplicating);
    covered.shop.on_submit(request_lost);
    CHECK(covered.run({.deadline = 50ms}).has_error());
    covered.clock.advance(1min);
    auto const open = covered.reconcile();
    REQUIRE(open.has_error());
    CHECK(open.error().rule() == rule::not_yet_visible);
    CHECK(open.error().state() == state_id::uncertain);
    CHECK(covered.truth->sends() == 1);
}

template <class Shop> struct elsewhere : Shop {
    explicit elsewhere(Shop const& s) : Shop(s) {}
    static constexpr auto target = "another shop";
};

TEST_CASE("a recovery of another target leaves an operation alone, also a trusting one") {
    one_shop s(bare);
    REQUIRE(s.run());
    recovery<policies<elsewhere<decltype(s.shop)>, lossy_storage&, exact_fingerprint,
                      bounded_budget, manual_clock>>
        other({elsewhere(s.shop), s.journal, {}, s.budget, s.clock});
    auto const looks = s.truth->looks();
    for (bool trusting : {false, true}) {
        auto const done = other.reconcile(s.id, {.trust_record = trusting});
        REQUIRE(done.has_error());
        CHECK(done.error().rule() == rule::conflicting_intent);
    }
    CHECK(s.truth->looks() == looks);
}

TEST_CASE("a confirmed record that is trusted is told without a look") {
    one_shop s(bare);
    REQUIRE(s.run());
    auto const looks = s.truth->looks();
    s.truth->remove(s.id.key);
    for (auto const& done : {s.run({.trust_record = true}), s.reconcile({.trust_record = true})}) {
        REQUIRE(done);
        CHECK(done.value().before_this_run);
        CHECK_FALSE(done.value().seen_now);
    }
    CHECK(s.truth->looks() == looks);
    CHECK(s.run().has_error());                       // not trusted
    CHECK(s.run({.trust_record = true}).has_error()); // in review now: that is not told as done
}

TEST_CASE("a call whose deadline is over tells what is recorded, and does nothing") {
    one_shop s(bare);
    s.shop.on_submit(request_lost);
    CHECK(s.run().has_error());
    auto const looks = s.truth->looks();
    for (auto const& done : {s.run({.deadline = 0ms}), s.reconcile({.deadline = 0ms})}) {
        REQUIRE(done.has_error());
        CHECK(done.error().rule() == rule::deadline_reached);
        CHECK(done.error().state() == state_id::in_review);
        CHECK(done.error().in_doubt());
    }
    CHECK(s.truth->looks() == looks);

    one_shop done_already(bare);
    REQUIRE(done_already.run());
    auto const late = done_already.run({.deadline = 0ms});
    REQUIRE(late.has_error());
    CHECK(late.error().state() == state_id::confirmed);
    CHECK(late.error().in_doubt()); // whoever hears "not done" might do it again
}

// ---- recorded, unsettled and the observer -------------------------------------------------------

TEST_CASE("what is recorded can be read without asking anybody") {
    one_shop s(bare);
    auto p = s.start();
    CHECK(p.recorded(s.id).error().rule() == rule::not_recorded);
    REQUIRE(s.run());
    auto const looks = s.truth->looks();
    auto const r = p.recorded(s.id);
    REQUIRE(r);
    CHECK(r.value().state == state_id::confirmed);
    CHECK(r.value().receipt == "r-1");
    CHECK(s.truth->looks() == looks);
}

TEST_CASE("what another one writes while it is read is durable before it is told") {
    for (int how = 0; how != 2; ++how) {
        one_shop s(bare);
        s.shop.on_lookup(down, s.budget.looks);
        CHECK(s.run().has_error());
        hooked_storage shared(s.journal);
        hooked_process<decltype(s.shop.contract)> reader(
            {s.shop, shared, {}, s.budget, s.clock, s.ears});
        // After the reader's first flush, if it makes one before it reads.
        shared.after_flush = [&] { CHECK(s.run({.tell = tell::early})); };
        state_id told{};
        if (how == 0) {
            told = reader.recorded(s.id).value().state;
        } else {
            CHECK(reader.unsettled([&](unsettled_operation const& u) { told = u.stored.state; }));
        }
        if (told == state_id::confirmed) CHECK(s.journal.unflushed() == 0);
        CHECK(told == state_id::pending);
    }
}

TEST_CASE("what is unsettled is shown page by page, oldest first, and nothing twice") {
    one_shop s(bare);
    s.shop.always_on_lookup(down);
    std::vector<std::string> begun;
    for (int i = 0; i != 7; ++i) {
        std::string const key = "order-" + std::to_string(9 - i);
        CHECK(s.run({"shop", key}, s.request).has_error());
        begun.push_back(key);
    }
    for (std::size_t most : {1U, 3U, 7U, 100U}) {
        std::vector<std::string> shown;
        auto p = s.start();
        std::optional<page> where = page{.most = most};
        unsigned pages = 0;
        while (where && pages != 10) {
            std::size_t on_this_page = 0;
            auto next = p.unsettled(
                [&](unsettled_operation const& u) {
                    shown.push_back(u.stored.identity().key);
                    ++on_this_page;
                    CHECK(p.recorded(u.stored.identity())); // the visitor may ask
                },
                *where);
            REQUIRE(next);
            CHECK(on_this_page <= most);
            where = next.value();
            ++pages;
        }
        CHECK(shown == begun);
    }
}

TEST_CASE("the observer hears each transition once, in order, after the flush") {
    one_shop s(bare);
    struct checks_durability : listener {
        lossy_storage const* journal = nullptr;
        void on_transition(transition_event const& e) {
            CHECK(journal->unflushed() == 0);
            listener::on_transition(e);
        }
    };
    checks_durability ears;
    ears.journal = &s.journal;
    recovery<policies<decltype(s.shop), lossy_storage&, exact_fingerprint, bounded_budget,
                      manual_clock, checks_durability>>
        p({s.shop, s.journal, {}, s.budget, s.clock, ears});
    using enum state_id;
    s.shop.on_submit([](shop::attempt const&, world&) -> shop::keyed_reply { return not_sent{}; });
    CHECK(p.run(s.id, s.request));
    CHECK(*ears.heard == heard{{none, pending},
                               {pending, uncertain},
                               {uncertain, pending},
                               {pending, uncertain},
                               {uncertain, uncertain}, // the receipt
                               {uncertain, confirmed}});
    ears.heard->clear();
    CHECK(p.run(s.id, s.request));
    CHECK(p.run(s.id, "another").has_error());
    CHECK(p.cancel(s.id));
    CHECK(ears.heard->empty()); // nothing happened

    s.shop.on_lookup(down, s.budget.looks);
    CHECK(p.run({"shop", "order-2"}, s.request).has_error());
    CHECK(p.cancel({"shop", "order-2"}));
    CHECK(*ears.heard == heard{{none, pending}, {pending, cancelled}});
}

TEST_CASE("an event tells of the record and of no secret") {
    one_shop s(bare);
    struct keeps : listener {
        std::shared_ptr<std::vector<transition_event>> events =
            std::make_shared<std::vector<transition_event>>();
        void on_transition(transition_event const& e) { events->push_back(e); }
    } ears;
    recovery<policies<decltype(s.shop), lossy_storage&, exact_fingerprint, bounded_budget,
                      manual_clock, keeps>>
        p({s.shop, s.journal, {}, s.budget, s.clock, ears});
    s.shop.on_submit([](shop::attempt const&, world&) -> shop::keyed_reply { return refused{}; });
    CHECK(p.run(s.id, s.request).has_error());
    REQUIRE(ears.events->size() == 3);
    auto const& last = ears.events->back();
    CHECK(last.to == state_id::rejected);
    CHECK(last.why == rule::refused_by_provider);
    CHECK(last.attempts == 1);
    CHECK(last.at == s.clock.wall());
}

// ---- what cannot be read ------------------------------------------------------------------------

TEST_CASE("a budget that breaks its laws cannot keep a run from ending") {
    struct endless {
        std::optional<time_point> deadline(time_point) { return std::nullopt; }
        allowance may_send(record const&, time_point now, milliseconds) {
            return {.what = allowance::kind::later, .not_before = now};
        }
        allowance may_look(record const&, time_point, milliseconds, unsigned) { return {}; }
    };
    one_shop s(bare);
    s.shop.always_on_lookup(down);
    recovery<policies<decltype(s.shop), lossy_storage&, exact_fingerprint, endless, manual_clock>>
        p({s.shop, s.journal, {}, {}, s.clock});
    auto const done = p.run(s.id, s.request);
    REQUIRE(done.has_error());
    CHECK(s.state() == state_id::pending);
}

TEST_SUITE_END();

} // namespace
