// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#include <scene.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <string>

// A journal that fails, a process that dies, and two who want the same operation.

namespace {

using namespace scene;
using shop = provider_of<std::string>;

auto const applied = shop_of<decltype(bare)>::applied;
auto const applied_reply_lost = shop_of<decltype(bare)>::applied_reply_lost;
auto const request_lost = shop_of<decltype(bare)>::request_lost;
auto const empty = shop_of<decltype(bare)>::empty;

TEST_SUITE_BEGIN("cases: journal");

/// One run in which the step fails that has this number; then a new life with what the disk kept.
/// Returns: whether the disk could have kept more.
template <class Contract, class Reply>
bool fail_and_go_on(Contract documented, Reply reply, std::uint64_t step, std::size_t kept) {
    one_shop s(documented);
    s.shop.on_submit(reply);
    s.journal.fail_at(step);
    {
        auto p = s.start();
        auto const done = p.run(s.id, s.request);
        REQUIRE(done.has_error());
        CHECK(done.error().rule() == rule::storage_failed);
        if (s.truth->sends() != 0) CHECK(done.error().in_doubt());
        auto const sent = s.truth->sends();
        auto const again = p.run(s.id, s.request);
        REQUIRE(again.has_error());
        CHECK(again.error().rule() == rule::storage_failed);
        CHECK(again.error().in_doubt()); // nobody can read what was sent
        CHECK(s.truth->sends() == sent);
    }
    bool const more = kept < s.journal.unflushed();
    s.journal.power_cut(kept);
    auto const sent = s.truth->sends();
    auto const left = s.stored();
    if (sent != 0) CHECK(left.state != state_id::none);
    if (sent != 0) CHECK(left.state != state_id::pending);

    auto const looks = s.truth->looks();
    auto const done = s.run();
    if (left.state == state_id::uncertain) CHECK(s.truth->looks() > looks);
    if (s.truth->sends() != sent) CHECK(looks < s.truth->looks());
    CHECK(s.truth->effects() <= 1);
    auto const now = s.stored().version; // no number is used twice
    CHECK((now == left.version || now.epoch == s.journal.facts().epoch));
    if (s.truth->effects() == 1) CHECK(done);
    if (documents_a_resend_guarantee<Contract>) {
        CHECK(done);
    } else {
        CHECK(s.truth->sends() <= 1);
    }
    return more;
}

template <class Contract, class Reply> void fail_at_every_step(Contract documented, Reply reply) {
    one_shop clean(documented);
    clean.shop.on_submit(reply);
    REQUIRE(clean.run());
    auto const steps = clean.journal.steps();
    REQUIRE(steps >= 5);
    for (std::uint64_t step = 1; step <= steps; ++step) {
        CAPTURE(step);
        std::size_t kept = 0;
        while (fail_and_go_on(documented, reply, step, kept))
            ++kept;
    }
}

TEST_CASE("whichever write or flush fails: no second effect, and no send without its mark [J02]") {
    fail_at_every_step(bare, applied);
    fail_at_every_step(bare, applied_reply_lost);
    fail_at_every_step(deduplicating, applied);
    fail_at_every_step(deduplicating, applied_reply_lost);
    fail_at_every_step(deduplicating, request_lost);
}

TEST_CASE("a mark that could not be flushed is no leave to send [J02]") {
    for (std::size_t kept : {0U, 8U}) {
        one_shop s(bare);
        s.journal.fail_at(4); // bind, insert, the mark, its flush
        auto const done = s.run();
        REQUIRE(done.has_error());
        CHECK(done.error().rule() == rule::storage_failed);
        CHECK_FALSE(done.error().in_doubt()); // surely nothing was sent
        CHECK(s.truth->sends() == 0);
        s.journal.power_cut(kept);
        CHECK(s.state() == (kept == 0 ? state_id::none : state_id::uncertain));
    }
}

TEST_CASE("a receipt that was never saved makes no second effect, crash after crash [J04]") {
    one_shop s(bare);
    s.shop.always_on_lookup(empty);
    s.journal.fail_at(5); // the receipt, right after the mark and its flush
    CHECK(s.run().has_error());
    REQUIRE(s.truth->sends() == 1);
    s.cut_power();
    for (int lives = 0; lives != 4; ++lives) {
        CHECK(s.stored().receipt.empty());
        s.journal.fail_at(s.journal.steps() + 1); // whatever it wants to write
        CHECK(s.run().has_error());
        s.cut_power();
    }
    s.shop.always_on_lookup(shop_of<decltype(bare)>::truthful);
    auto const done = s.run();
    REQUIRE(done);
    CHECK(done.value().attempts == 1);
    CHECK(s.truth->sends() == 1);
    CHECK(s.truth->effects() == 1);
}

/// Everything that is not settled, as a program does it when it starts.
template <class Process> std::size_t recover_all(Process& p) {
    std::vector<identity> found;
    std::optional<page> where = page{};
    while (where) {
        auto next = p.unsettled(
            [&](unsettled_operation const& u) { found.push_back(u.stored.identity()); }, *where);
        REQUIRE(next);
        where = next.value();
    }
    for (auto const& id : found)
        (void)p.reconcile(id);
    return found.size();
}

TEST_CASE("who comes while another one is sending hears so, and sends nothing [J07]") {
    one_shop s(bare);
    auto first = s.start();
    auto second = s.start();
    unsigned heard = 0;
    s.shop.on_submit([&](shop::attempt const& a, world& w) -> shop::keyed_reply {
        for (auto* p : {&first, &second}) { // from inside the call, as another thread would
            for (auto const& other : {p->run(s.id, s.request), p->reconcile(s.id)}) {
                REQUIRE(other.has_error());
                CHECK(other.error().rule() == rule::in_progress);
                CHECK(other.error().in_doubt());
                ++heard;
            }
            CHECK(recover_all(*p) == 1);
        }
        return applied(a, w);
    });
    CHECK(first.run(s.id, s.request));
    CHECK(heard == 4);
    CHECK(s.truth->sends() == 1);
    CHECK(s.truth->effects() == 1);
}

TEST_CASE("when the sender has died, recovery takes the operation and looks first [J07]") {
    one_shop s(bare);
    s.shop.on_submit([&](shop::attempt const& a, world& w) -> shop::keyed_reply {
        w.apply(a.key(), a.bytes());
        s.journal.fail_at(s.journal.steps() + 1); // its last words are lost
        return unknown{};
    });
    s.shop.on_lookup(empty); // before the send
    CHECK(s.run().has_error());
    CHECK(s.truth->sends() == 1);
    s.cut_power();
    CHECK(s.stored().claim.epoch != 0);
    auto const looks = s.truth->looks();
    auto heir = s.start();
    CHECK(recover_all(heir) == 1);
    CHECK(s.truth->looks() > looks);
    CHECK(s.state() == state_id::confirmed);
    CHECK(s.truth->sends() == 1);
}

TEST_CASE("of two who read the same version one sends, the other does not [J07]") {
    one_shop s(bare);
    auto first = s.start();
    auto second = s.start();
    // The second one sees the same absence, between the first one's look-up and its mark.
    s.shop.on_lookup([&](shop::query const& q, world& w) {
        auto const inner = second.run(s.id, s.request);
        CHECK(inner);
        return empty(q, w);
    });
    auto const done = first.run(s.id, s.request);
    REQUIRE(done);
    CHECK(s.truth->sends() == 1);
    CHECK(s.truth->effects() == 1);
}

TEST_SUITE_END();

} // namespace
