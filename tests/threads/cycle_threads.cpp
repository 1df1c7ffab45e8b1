// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#include <scene.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <cstddef>
#include <string>
#include <thread>
#include <vector>

// Cycles of recovery beside threads that are at work. Built with a thread sanitizer, too.

namespace {

using namespace scene;
using shop = provider_of<std::string>;

auto const applied = shop_of<decltype(bare)>::applied;

/// For the observer of a scene is not made for several threads.
template <class Contract>
using quiet = recovery<
    policies<shop_of<Contract>, lossy_storage&, exact_fingerprint, bounded_budget, manual_clock>>;

/// So many orders that were not sent yet.
template <class Contract> void begin(one_shop<Contract>& s, unsigned count) {
    s.shop.on_lookup(shop_of<Contract>::down, count * s.budget.looks);
    for (unsigned n = 0; n != count; ++n)
        CHECK(s.run({"shop", std::to_string(n)}, s.request).has_error());
    REQUIRE(s.truth->sends() == 0);
}

TEST_SUITE_BEGIN("threads: cycles");

TEST_CASE("a cycle and a run leave the work of another thread alone [J07]") {
    one_shop s(bare);
    quiet<std::remove_cvref_t<decltype(bare)>> p({s.shop, s.journal, {}, s.budget, s.clock});
    std::atomic<bool> sending{false}, finish{false}, confirmed{false};
    s.shop.on_submit([&](shop::attempt const& a, world& w) -> shop::keyed_reply {
        sending = true;
        sending.notify_all();
        finish.wait(false);
        return applied(a, w);
    });
    std::jthread sender([&] { confirmed = p.run(s.id, s.request).has_value(); });
    sending.wait(false);
    std::atomic<unsigned> told{0}, in_progress{0};
    std::jthread cycle([&] { (void)p.resume_all([&](identity const&, auto const&) { ++told; }); });
    std::jthread other([&] {
        auto const done = p.run(s.id, s.request);
        if (!done && done.error().rule() == rule::in_progress) ++in_progress;
    });
    cycle.join();
    other.join();
    CHECK(told == 0);
    CHECK(in_progress == 1);
    CHECK(s.truth->sends() == 1);
    finish = true;
    finish.notify_all();
    sender.join();
    CHECK(confirmed);
    CHECK(s.truth->sends() == 1);
    CHECK(s.truth->effects() == 1);
}

TEST_CASE("several cycles at once, beside runs: each order is sent once, and all are finished") {
    constexpr unsigned orders = 24, threads = 6;
    for (int round = 0; round != 10; ++round) {
        one_shop s(bare);
        begin(s, orders);
        quiet<std::remove_cvref_t<decltype(bare)>> p({s.shop, s.journal, {}, s.budget, s.clock});
        std::atomic<unsigned> failed{0};
        {
            std::vector<std::jthread> running;
            for (unsigned n = 0; n != threads; ++n) {
                running.emplace_back([&, n] {
                    if (n % 3 == 2) {
                        for (unsigned order = 0; order != orders; ++order)
                            (void)p.run({"shop", std::to_string(order)}, s.request);
                    } else if (!p.resume_all([](identity const&, auto const&) {})) {
                        ++failed;
                    }
                });
            }
        }
        CHECK(failed == 0);
        CHECK(s.truth->sends() == orders);
        CHECK(s.truth->effects() == orders);
        CHECK(s.unsettled().empty());
    }
}

TEST_CASE("retention beside runs of the same orders: nothing is sent again [J05]") {
    constexpr unsigned orders = 16;
    for (int round = 0; round != 10; ++round) {
        one_shop s(bare);
        begin(s, orders);
        quiet<std::remove_cvref_t<decltype(bare)>> p({s.shop, s.journal, {}, s.budget, s.clock});
        std::atomic<unsigned> wrong{0}, running{3};
        std::atomic<std::size_t> shrunk{0};
        {
            std::vector<std::jthread> at_work;
            for (unsigned n = 0; n != 3; ++n) {
                at_work.emplace_back([&] {
                    for (unsigned order = 0; order != orders; ++order) {
                        auto const done = p.run({"shop", std::to_string(order)}, s.request);
                        if (!done && done.error().rule() != rule::in_progress) ++wrong;
                        s.clock.advance(1ms);
                    }
                    --running;
                });
            }
            at_work.emplace_back([&] {
                while (running != 0)
                    shrunk += p.shrink_settled(0ms, 3).value();
            });
        }
        CHECK(wrong == 0);
        CHECK(s.truth->sends() == orders);
        CHECK(s.truth->effects() == orders);
        shrunk += p.shrink_settled(0ms).value();
        CHECK(shrunk == orders);
        for (unsigned order = 0; order != orders; ++order) {
            auto const r = s.stored({"shop", std::to_string(order)});
            CHECK(r.tombstone);
            CHECK(r.state == state_id::confirmed);
        }
    }
}

TEST_SUITE_END();

} // namespace
