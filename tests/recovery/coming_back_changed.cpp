// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#include <scene.hpp>

#include <doctest/doctest.h>

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

// A program that comes back in another version: it reads requests in another way, knows the service
// better, or compares by another rule.

namespace {

struct second_version {
    std::string text;
};

} // namespace

template <> struct indoubt::codec<second_version> {
    static std::string encode(second_version const& v) { return "2:" + v.text; }
    static result<second_version> decode(std::string_view bytes) {
        if (!bytes.starts_with("2:")) return error(rule::undecodable);
        return second_version{std::string(bytes.substr(2))};
    }
};

namespace {

using namespace scene;
using shop = provider_of<std::string>;

auto const request_lost = shop_of<decltype(bare)>::request_lost;
auto const empty = shop_of<decltype(bare)>::empty;
auto const down = shop_of<decltype(bare)>::down;

struct newer_shop : provider_of<second_version> {
    static constexpr auto target = shop_of<decltype(bare)>::target;
    static constexpr indoubt::contract contract = bare;

    explicit newer_shop(std::shared_ptr<world> w) : truth(std::move(w)) {}
    reply submit(attempt const& a) {
        truth->count_send(a.key(), a.bytes());
        return accepted{truth->apply(a.key(), a.bytes())};
    }
    answer lookup(query const& q) {
        truth->count_look();
        complete all;
        for (auto const& f : truth->visible(q.key)) {
            auto content = codec<second_version>::decode(f.request);
            if (content) all.effects.push_back({f.receipt, f.key, content.value()});
        }
        return all;
    }
    std::shared_ptr<world> truth;
};

struct other_rule : exact_fingerprint {
    static constexpr std::string_view rule() { return "exact/2"; }
};

/// What a cycle of recovery tells.
template <class Process> std::map<std::string, rule> cycle_of(Process& p) {
    std::map<std::string, rule> told;
    auto const more = p.resume_all([&](identity const& who, auto const& done) {
        told[who.key] = done ? rule::none : done.error().rule();
    });
    CHECK(more);
    return told;
}

/// The same program with another contract.
template <class Documented, class Contract> auto as(Documented documented, one_shop<Contract>& s) {
    shop_of<Documented> known(documented, s.truth);
    return std::make_unique<recovery<policies<shop_of<Documented>, lossy_storage&,
                                              exact_fingerprint, bounded_budget, manual_clock>>>(
        policies<shop_of<Documented>, lossy_storage&, exact_fingerprint, bounded_budget,
                 manual_clock>{known, s.journal, {}, s.budget, s.clock});
}

TEST_SUITE_BEGIN("coming back: another version");

TEST_CASE("requests that it cannot read are told and left; the others are finished") {
    one_shop s(bare);
    s.shop.on_lookup(down, s.budget.looks);
    CHECK(s.run({"shop", "pending"}, "a pen").has_error());
    s.shop.on_submit(request_lost);
    CHECK(s.run({"shop", "uncertain"}, "a pen", {.deadline = 50ms}).has_error());
    s.shop.on_lookup(down, s.budget.looks);
    CHECK(s.run({"shop", "readable"}, "2:a pen").has_error());
    auto const pending = s.stored({"shop", "pending"}), uncertain = s.stored({"shop", "uncertain"});
    REQUIRE(pending.state == state_id::pending);
    REQUIRE(uncertain.state == state_id::uncertain);
    s.cut_power();

    recovery<policies<newer_shop, lossy_storage&, exact_fingerprint, bounded_budget, manual_clock>>
        newer({newer_shop(s.truth), s.journal, {}, s.budget, s.clock});
    auto const sends = s.truth->sends();
    auto const told = cycle_of(newer);
    CHECK(told == std::map<std::string, rule>{{"pending", rule::undecodable},
                                              {"uncertain", rule::undecodable},
                                              {"readable", rule::none}});
    CHECK(s.truth->sends() == sends + 1);
    CHECK(s.truth->effects("readable") == 1);
    CHECK(s.stored(pending.identity()).version == pending.version);
    CHECK(s.stored(uncertain.identity()).version == uncertain.version);
    CHECK(s.stored(uncertain.identity()).claim == claim{});

    CHECK(cycle_of(newer).size() == 2); // told again, until somebody does something
    auto p = s.start();                 // such as starting the old version
    CHECK(p.run(pending.identity(), "a pen"));
}

TEST_CASE("a guarantee that it knows now is none of the attempts before [H9]") {
    one_shop s(bare);
    s.shop.on_submit(request_lost);
    CHECK(s.run({.deadline = 50ms}).has_error());
    REQUIRE(s.state() == state_id::uncertain);
    s.cut_power();
    auto p = as(deduplicating, s);
    CHECK(cycle_of(*p).at(s.id.key) == rule::no_guarantee);
    CHECK(s.state() == state_id::in_review);
    CHECK(s.truth->sends() == 1);
    CHECK(p->run({"shop", "new"}, "a pen"));
}

TEST_CASE("a guarantee that it knows no more is not used [H9]") {
    one_shop s(deduplicating);
    s.shop.on_submit(request_lost);
    s.shop.always_on_lookup(empty);
    CHECK(s.run({.deadline = 50ms}).has_error());
    REQUIRE(s.state() == state_id::uncertain);
    s.cut_power();
    auto p = as(bare, s);
    CHECK(cycle_of(*p).at(s.id.key) == rule::no_guarantee);
    CHECK(s.state() == state_id::in_review);
    CHECK(s.truth->sends() == 1);
}

TEST_CASE("a guarantee that is the same in both versions is used [H9]") {
    one_shop s(deduplicating);
    s.shop.on_submit(request_lost);
    s.shop.on_lookup(empty);
    CHECK(s.run({.deadline = 50ms}).has_error());
    REQUIRE(s.state() == state_id::uncertain);
    s.cut_power();
    auto p = as(deduplicating, s);
    CHECK(cycle_of(*p).at(s.id.key) == rule::none);
    CHECK(s.truth->sends() == 2);
    CHECK(s.truth->effects() == 1);
}

TEST_CASE("under another fingerprint rule nothing is done and nothing changes [H24]") {
    one_shop s(bare);
    s.shop.on_lookup(down, s.budget.looks);
    CHECK(s.run({"shop", "pending"}, "a pen").has_error());
    s.shop.on_submit(request_lost);
    CHECK(s.run({"shop", "uncertain"}, "a pen", {.deadline = 50ms}).has_error());
    CHECK(s.run({"shop", "confirmed"}, "a pen"));
    s.cut_power();
    recovery<policies<shop_of<std::remove_cvref_t<decltype(bare)>>, lossy_storage&, other_rule,
                      bounded_budget, manual_clock>>
        p({s.shop, s.journal, {}, s.budget, s.clock});
    auto const sends = s.truth->sends(), looks = s.truth->looks();
    auto const steps = s.journal.unflushed();
    CHECK(cycle_of(p) == std::map<std::string, rule>{{"pending", rule::incomparable},
                                                     {"uncertain", rule::incomparable}});
    struct known {
        char const* name;
        bool in_doubt;
    };
    for (auto const& [name, in_doubt] :
         {known{"pending", false}, known{"uncertain", true}, known{"confirmed", true}}) {
        CAPTURE(name);
        identity const who{"shop", name};
        auto const before = s.stored(who).version;
        for (auto const& done : {p.run(who, "a pen"), p.reconcile(who)}) {
            REQUIRE(done.has_error());
            CHECK(done.error().rule() == rule::incomparable);
            CHECK(done.error().in_doubt() == in_doubt);
        }
        CHECK(s.stored(who).version == before);
    }
    CHECK(s.journal.unflushed() == steps);
    CHECK(s.truth->sends() == sends);
    CHECK(s.truth->looks() == looks);
    CHECK(s.run({"shop", "pending"}, "a pen")); // the old version still can
}

TEST_SUITE_END();

} // namespace
