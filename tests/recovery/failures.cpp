// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#include <recovery/by_hand.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

// What the policies below a recovery can do to it: reads that fail, other writers that always win,
// records that vanish, bytes that do not decode. Nothing is sent twice, and nothing runs for ever.

namespace {

using namespace scene;
using shop = provider_of<std::string>;

auto const applied = shop_of<decltype(bare)>::applied;
auto const applied_reply_lost = shop_of<decltype(bare)>::applied_reply_lost;
auto const request_lost = shop_of<decltype(bare)>::request_lost;
auto const down = shop_of<decltype(bare)>::down;

TEST_SUITE_BEGIN("failures");

/// A lossy_storage whose n-th call fails, reads included, and all after it.
struct brittle_storage {
    explicit brittle_storage(lossy_storage& s) : kept(s) {}
    storage_facts facts() const { return kept.facts(); }
    result<std::optional<record>> insert(record const& r) {
        if (fails()) return failed();
        return kept.insert(r);
    }
    result<void> replace(record const& r, version v) {
        if (fails()) return failed();
        return kept.replace(r, v);
    }
    result<std::optional<record>> find(identity const& id) {
        if (fails()) return failed();
        return kept.find(id);
    }
    result<bool> bind(std::string_view name, identity const& id) {
        if (fails()) return failed();
        return kept.bind(name, id);
    }
    template <class F> result<std::size_t> visit_unsettled(page p, F&& visit) {
        if (fails()) return failed();
        return kept.visit_unsettled(p, visit);
    }
    result<void> flush() {
        if (fails()) return failed();
        return kept.flush();
    }
    result<bool> is_current(identity const& id, version v) {
        if (fails()) return failed();
        return kept.is_current(id, v);
    }
    static error failed() { return error(rule::storage_failed); }
    bool fails() { return ++calls >= failing; }

    std::uint64_t calls = 0, failing = std::numeric_limits<std::uint64_t>::max();
    lossy_storage& kept;
};

template <class Contract, class Storage>
using process_on = recovery<policies<shop_of<Contract>, Storage&, exact_fingerprint, bounded_budget,
                                     manual_clock, listener>>;

/// Does something with every call failing in turn, until it is done without one.
template <class Contract, class Prepare, class Do>
void fail_every_call(Contract documented, Prepare prepare, Do what) {
    for (std::uint64_t n = 1; n != 100; ++n) {
        CAPTURE(n);
        one_shop<Contract> s(documented);
        prepare(s);
        auto const before = s.truth->effects();
        brittle_storage brittle(s.journal);
        process_on<Contract, brittle_storage> p({s.shop, brittle, {}, s.budget, s.clock, s.ears});
        brittle.failing = brittle.calls + n;
        auto const failed = what(p, s);
        bool const met = brittle.calls >= brittle.failing;
        if (met) {
            REQUIRE(failed);
            CHECK(failed->rule() == rule::storage_failed);
            if (s.truth->effects() != before) CHECK(failed->in_doubt());
        }
        s.cut_power();
        CHECK(s.stored().attempts.size() >= s.truth->effects());
        s.shop.always_on_lookup(shop_of<Contract>::truthful);
        (void)s.run();
        CHECK(s.truth->effects() <= 1);
        if (!met) return;
    }
    FAIL("it never got through");
}

template <class Outcome> std::optional<error> error_of(Outcome&& o) {
    return o ? std::optional<error>() : std::optional<error>(std::move(o).error());
}

TEST_CASE("whichever call of the storage fails during a run: doubt is told, nothing is doubled") {
    auto const nothing = [](auto&) {};
    auto const runs = [](auto& p, auto& s) { return error_of(p.run(s.id, s.request)); };
    fail_every_call(bare, nothing, runs);
    fail_every_call(
        deduplicating, [](auto& s) { s.shop.on_submit(request_lost); },
        [](auto& p, auto& s) { return error_of(p.run(s.id, s.request)); });
    auto const stuck = [](auto& p, auto& s) -> std::optional<error> {
        auto done = p.run(s.id, s.request, {.deadline = 50ms});
        if (done || done.error().rule() != rule::storage_failed) return {};
        return std::move(done).error();
    };
    fail_every_call(
        deduplicating,
        [](auto& s) {
            s.shop.on_submit(applied_reply_lost);
            s.shop.always_on_lookup(shop_of<decltype(bare)>::empty);
        },
        stuck);
    fail_every_call(
        bare, [](auto& s) { s.shop.on_lookup(down, s.budget.looks); },
        [](auto& p, auto& s) -> std::optional<error> {
            auto done = p.run(s.id, s.request);
            if (done.error().rule() != rule::storage_failed) return {};
            return std::move(done).error();
        });
    // A record that moves on between the mark and the call.
    fail_every_call(
        bare,
        [](auto& s) {
            s.shop.on_submit([&](shop::attempt const& a, world& w) {
                (void)s.cancel();
                return applied(a, w);
            });
        },
        runs);
}

TEST_CASE("whichever call fails while something is asked or cancelled: it is said") {
    auto const uncertain_one = [](auto& s) {
        s.shop.on_submit(request_lost);
        CHECK(s.run({.deadline = 50ms}).has_error());
        s.cut_power();
    };
    fail_every_call(deduplicating, uncertain_one, [](auto& p, auto& s) -> std::optional<error> {
        auto done = p.reconcile(s.id, {.deadline = 50ms});
        if (done.error().rule() != rule::storage_failed) return {};
        return std::move(done).error();
    });
    fail_every_call(deduplicating, uncertain_one,
                    [](auto& p, auto& s) { return error_of(p.cancel(s.id)); });
    fail_every_call(deduplicating, uncertain_one,
                    [](auto& p, auto& s) { return error_of(p.recorded(s.id)); });
    fail_every_call(deduplicating, uncertain_one,
                    [](auto& p, auto&) { return error_of(p.unsettled([](auto const&) {})); });
    fail_every_call(deduplicating, uncertain_one, [](auto& p, auto& s) -> std::optional<error> {
        auto done = p.run(s.id, s.request, {.deadline = 0ms});
        if (done.error().rule() != rule::storage_failed) return {};
        return std::move(done).error();
    });
}

/// Somebody else always writes first.
struct contested_storage : hooked_storage {
    using hooked_storage::hooked_storage;
    result<void> replace(record const& r, version v) {
        if (!contested) return hooked_storage::replace(r, v);
        ++lost;
        return error(rule::stale_version);
    }
    bool contested = true;
    unsigned lost = 0;
};

TEST_CASE("other writers who always win: a run and a cancel end, and nothing is sent") {
    one_shop s(bare);
    contested_storage contested(s.journal);
    process_on<decltype(s.shop.contract), contested_storage> p(
        {s.shop, contested, {}, s.budget, s.clock, s.ears});
    auto const done = p.run(s.id, s.request);
    REQUIRE(done.has_error());
    CHECK(s.truth->sends() == 0);
    CHECK(contested.lost > 1);
    contested.lost = 0;
    auto const cancelled = p.cancel(s.id);
    REQUIRE(cancelled.has_error());
    CHECK(cancelled.error().rule() == rule::in_progress);
    CHECK(contested.lost == 100);
}

TEST_CASE("a claim and an unused permit give up against writers who always win") {
    one_shop s(bare);
    contested_storage contested(s.journal);
    journal<contested_storage, manual_clock> book(contested, s.clock);
    contested.contested = false;
    (void)departed(book, s, bare);
    contested.contested = true;
    auto given_back = book.release(taken<uncertain>(book, s.id));
    REQUIRE(given_back.has_error());
    CHECK(given_back.error().rule() == rule::in_progress);
    CHECK(contested.lost == 100);

    s.id = {"shop", "order-2"};
    contested.contested = false;
    auto wanted = intend(s.shop.target, s.request, exact_fingerprint{});
    REQUIRE(book.begin(s.id, std::move(wanted).value(), exact_fingerprint{},
                       {.deadline = book.now() + 1min}));
    auto late = departed(book, s, bare);
    s.clock.advance(1min);
    contested.contested = true;
    auto withdrawn = late.attempt<std::string>(book);
    REQUIRE(withdrawn.has_error());
    CHECK(withdrawn.error().rule() == rule::in_progress);
    CHECK(withdrawn.error().in_doubt());
}

TEST_CASE("a record that is written by another one while this one begins is taken as it stands") {
    for (bool same : {true, false}) {
        one_shop s(bare);
        hooked_storage shared(s.journal);
        hooked_process<decltype(s.shop.contract)> p(
            {s.shop, shared, {}, s.budget, s.clock, s.ears});
        shared.after_find = [&] { // nothing is there yet
            s.shop.on_lookup(down, s.budget.looks);
            CHECK(s.run(s.id, same ? s.request : "another request").has_error());
        };
        auto const done = p.run(s.id, s.request);
        CHECK(done.has_value() == same);
        if (!same) CHECK(done.error().rule() == rule::conflicting_intent);
        CHECK(s.truth->sends() == (same ? 1 : 0));
    }
}

/// Forgets what it was given once it is told to.
struct forgetful_storage : hooked_storage {
    using hooked_storage::hooked_storage;
    result<std::optional<record>> find(identity const& id) {
        if (gone) return std::optional<record>();
        return hooked_storage::find(id);
    }
    bool gone = false;
};

TEST_CASE("a record that vanishes during a run is told as not recorded, and nothing is sent") {
    one_shop s(deduplicating);
    forgetful_storage forgetful(s.journal);
    process_on<decltype(s.shop.contract), forgetful_storage> p(
        {s.shop, forgetful, {}, s.budget, s.clock, s.ears});
    s.shop.on_submit([&](shop::attempt const& a, world& w) {
        forgetful.gone = true;
        return request_lost(a, w);
    });
    s.shop.always_on_lookup(shop_of<decltype(bare)>::empty);
    auto const done = p.run(s.id, s.request);
    REQUIRE(done.has_error());
    CHECK(done.error().rule() == rule::not_recorded);
    CHECK(s.truth->sends() == 1);
}

TEST_CASE("a permit whose record has vanished gives no attempt") {
    one_shop s(bare);
    forgetful_storage forgetful(s.journal);
    journal<forgetful_storage, manual_clock> book(forgetful, s.clock);
    auto allowed = departed(book, s, bare);
    auto op = taken<uncertain>(book, s.id);
    cancellation word(op.stamp());
    REQUIRE(book.write(cancel(std::move(op), std::move(word))));
    auto stale = std::move(allowed);
    forgetful.gone = true;
    auto out = stale.attempt<std::string>(book);
    REQUIRE(out.has_error());
    CHECK(out.error().rule() == rule::stale_version);
    CHECK(out.error().state() == state_id::none);
    CHECK(book.release(std::move(stale).operation()));
}

// ---- bytes that do not decode -------------------------------------------------------------------

struct picky {
    std::string text;
};

} // namespace

/// Writes more than it can read, as a program does after an update.
template <> struct indoubt::codec<picky> {
    static result<std::string> encode(picky const& p) {
        if (p.text == "no form") return error(rule::malformed_request);
        return p.text;
    }
    static result<picky> decode(std::string_view bytes) {
        if (bytes == "unreadable") return error(rule::undecodable);
        return picky{std::string(bytes)};
    }
};

namespace {

template <class Contract> struct picky_shop : provider_of<picky, picky> {
    explicit picky_shop(Contract c, std::shared_ptr<world> w) : contract(c), truth(std::move(w)) {}
    keyed_reply submit(attempt const& a) {
        truth->count_send(a.key(), a.bytes());
        truth->apply(a.key(), a.bytes());
        return accepted_with_key{{receipt_text}, std::string(a.key())};
    }
    answer lookup(query const& q) {
        truth->count_look();
        complete all;
        for (auto const& f : truth->visible(q.key))
            all.effects.push_back({.receipt = {receipt_text},
                                   .key = f.key,
                                   .request = picky{found.empty() ? f.request : found}});
        return all;
    }
    picky normalise(picky p) const { return p; }
    static constexpr auto target = "picky";
    Contract contract;
    std::shared_ptr<world> truth;
    std::string receipt_text = "r-1", found;
};

template <class Contract> struct picky_scene {
    using process = recovery<policies<picky_shop<Contract>, lossy_storage&, exact_fingerprint,
                                      bounded_budget, manual_clock>>;
    explicit picky_scene(Contract c) : service(c, truth) {}
    auto run(std::string const& what) {
        process p({service, journal, {}, {}, clock});
        return p.run(id, {what});
    }
    manual_clock clock;
    std::shared_ptr<world> truth = std::make_shared<world>(clock);
    lossy_storage journal;
    picky_shop<Contract> service;
    identity id{"shop", "order-1"};
};

TEST_CASE("a request without a canonical form is refused before anything is recorded") {
    picky_scene s(bare);
    auto const done = s.run("no form");
    REQUIRE(done.has_error());
    CHECK(done.error().rule() == rule::malformed_request);
    CHECK(done.error().operation() == "shop/order-1");
    CHECK(s.journal.steps() <= 1);
}

TEST_CASE("a stored request that this program cannot read is neither looked for nor sent") {
    picky_scene looks(bare);
    CHECK(looks.run("unreadable").error().rule() == rule::undecodable);
    picky_scene sends(proving);
    CHECK(sends.run("unreadable").error().rule() == rule::undecodable);
    CHECK(looks.truth->looks() + looks.truth->sends() + sends.truth->sends() == 0);
}

TEST_CASE("a receipt that this program cannot read confirms in the journal and says so") {
    picky_scene s(bare);
    s.service.receipt_text = "unreadable";
    auto const done = s.run("fine");
    REQUIRE(done.has_error());
    CHECK(done.error().rule() == rule::undecodable);
    CHECK(done.error().state() == state_id::confirmed);
    CHECK(done.error().in_doubt()); // not known here, but surely not undone
    CHECK(s.journal.find(s.id).value()->state == state_id::confirmed);
}

TEST_CASE("a found request that has no form is not ours") {
    picky_scene s(bare);
    s.service.found = "no form";
    CHECK(s.run("fine").error().rule() == rule::contents_differ);
    s.service.found = "other";
    CHECK(s.run("fine").error().rule() == rule::contents_differ);
}

TEST_CASE("memory that runs out as a claim is given back: nothing stays claimed") {
    one_shop s(deduplicating);
    hooked_storage storage(s.journal);
    hooked_process<decltype(s.shop.contract)> p({s.shop, storage, {}, s.budget, s.clock, s.ears});
    s.shop.on_submit([&](shop::attempt const&, world&) -> shop::keyed_reply {
        storage.before_replace = [] { throw std::bad_alloc(); };
        return unknown{};
    });
    CHECK_THROWS_AS((void)p.run(s.id, s.request, {.deadline = 50ms}), std::bad_alloc);
    CHECK(s.state() == state_id::uncertain);
    CHECK(s.stored().claim == claim{});
    CHECK(p.run(s.id, s.request));
    CHECK(s.truth->effects() == 1);
}

TEST_SUITE_END();

} // namespace
