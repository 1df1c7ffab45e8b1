// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#include <scene.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <barrier>
#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

// Many threads, one operation: whoever wins, it is sent once. Built with a thread sanitizer, too.

namespace {

using namespace scene;
using shop = provider_of<std::string>;

auto const applied = shop_of<decltype(bare)>::applied;
auto const empty = shop_of<decltype(bare)>::empty;

constexpr std::size_t many = 32;

/// Calls job(n) in so many threads, all at once.
template <class Job> void all_at_once(std::size_t threads, Job job) {
    std::barrier start(static_cast<std::ptrdiff_t>(threads));
    std::vector<std::jthread> running;
    for (std::size_t n = 0; n != threads; ++n) {
        running.emplace_back([&, n] {
            start.arrive_and_wait();
            job(n);
        });
    }
}

/// What each thread was told. doctest's checks are made after the threads have ended.
struct answers {
    std::atomic<unsigned> confirmed{0}, in_progress{0}, other{0};
    template <class Outcome> void count(Outcome const& o) {
        if (o) {
            ++confirmed;
        } else if (o.error().rule() == rule::in_progress) {
            ++in_progress;
        } else {
            ++other;
        }
    }
};

/// Counts what it is told, from any thread.
struct careful_listener {
    struct log {
        std::mutex mutex;
        std::vector<std::pair<state_id, state_id>> heard;
    };
    std::shared_ptr<log> kept = std::make_shared<log>();
    void on_transition(transition_event const& e) {
        std::scoped_lock const lock(kept->mutex);
        kept->heard.emplace_back(e.from, e.to);
    }
};

template <class Storage, class Contract>
using process = recovery<policies<shop_of<Contract>, Storage, exact_fingerprint, bounded_budget,
                                  manual_clock, careful_listener>>;

struct scene_of_many {
    manual_clock clock;
    std::shared_ptr<world> truth = std::make_shared<world>(clock);
    shop_of<contract<never, complete_lookup, hint>> service{bare, truth};
    bounded_budget budget = plain_budget;
    careful_listener ears;
    identity id{"shop", "order-1"};
};

TEST_SUITE_BEGIN("threads: recovery");

TEST_CASE("32 threads run one identity: one send, one effect, the others hear of it") {
    for (int round = 0; round != 20; ++round) {
        scene_of_many s;
        process<memory_storage, contract<never, complete_lookup, hint>> p(
            {s.service, {}, {}, s.budget, s.clock, s.ears});
        answers told;
        all_at_once(many, [&](std::size_t) { told.count(p.run(s.id, "one notebook")); });
        CHECK(told.other == 0);
        CHECK(told.confirmed >= 1);
        CHECK(told.confirmed + told.in_progress == many);
        CHECK(s.truth->sends() == 1);
        CHECK(s.truth->effects() == 1);
        CHECK(p.recorded(s.id).value().state == state_id::confirmed);
        auto const sent = std::pair(state_id::pending, state_id::uncertain);
        CHECK(std::ranges::count(s.ears.kept->heard, sent) == 1);
    }
}

TEST_CASE("two recoveries over one storage, each with its threads: one send") {
    for (int round = 0; round != 20; ++round) {
        scene_of_many s;
        lossy_storage shared;
        using either = process<lossy_storage&, contract<never, complete_lookup, hint>>;
        either one({s.service, shared, {}, s.budget, s.clock, s.ears});
        either other({s.service, shared, {}, s.budget, s.clock, s.ears});
        answers told;
        all_at_once(many, [&](std::size_t n) {
            auto& p = n % 2 == 0 ? one : other;
            if (n % 8 == 7) {
                (void)p.unsettled([](unsettled_operation const&) {});
            } else if (n % 8 == 6) {
                auto const found = p.reconcile(s.id);
                if (found) ++told.confirmed;
            } else {
                told.count(p.run(s.id, "one notebook"));
            }
        });
        CHECK(told.other == 0);
        CHECK(told.confirmed >= 1);
        CHECK(s.truth->sends() == 1);
        CHECK(s.truth->effects() == 1);
        shared.power_cut();
        CHECK(shared.find(s.id).value()->state == state_id::confirmed);
    }
}

TEST_CASE("32 threads run 32 identities and one that all want") {
    scene_of_many s;
    process<memory_storage, contract<never, complete_lookup, hint>> p(
        {s.service, {}, {}, s.budget, s.clock, s.ears});
    answers own, shared;
    all_at_once(many, [&](std::size_t n) {
        own.count(p.run({"shop", std::to_string(n)}, "a pen"));
        shared.count(p.run(s.id, "one notebook"));
    });
    CHECK(own.confirmed == many);
    CHECK(shared.other == 0);
    CHECK(s.truth->sends() == many + 1);
    CHECK(s.truth->effects() == many + 1);
    CHECK(s.truth->effects("order-1") == 1);
}

TEST_CASE("cancel against run: told as cancelled it is never sent, else it is sent once at most") {
    for (int round = 0; round != 100; ++round) {
        scene_of_many s;
        process<memory_storage, contract<never, complete_lookup, hint>> p(
            {s.service, {}, {}, s.budget, s.clock, s.ears});
        s.service.on_lookup(shop_of<decltype(bare)>::down, s.budget.looks);
        (void)p.run(s.id, "one notebook"); // pending: there is something to cancel
        std::atomic<bool> told_cancelled{false};
        all_at_once(4, [&](std::size_t n) {
            if (n % 2 == 0) {
                (void)p.run(s.id, "one notebook");
                return;
            }
            for (int tries = 0; tries != 3; ++tries) {
                auto const asked = p.cancel(s.id);
                if (asked && asked.value().state == state_id::cancelled) told_cancelled = true;
            }
        });
        auto const r = p.recorded(s.id).value();
        CHECK(s.truth->sends() <= 1);
        CHECK(s.truth->sends() == s.truth->effects());
        if (told_cancelled) {
            CHECK(s.truth->sends() == 0);
            CHECK(r.state == state_id::cancelled);
        } else {
            // A cancel that met the attempt before it was sent is settled by the run.
            bool const withdrawn = r.state == state_id::cancelled && s.truth->sends() == 0;
            CHECK((r.state == state_id::confirmed || withdrawn));
        }
        CHECK(r.claim == claim{});
    }
}

TEST_CASE("a cancel wakes a run that waits, at once and without a send [W01]") {
    one_shop s(deduplicating);
    s.budget.first_delay = s.budget.longest_delay = 30s;
    s.budget.first_look_delay = 0ms;
    s.shop.on_submit(shop_of<decltype(deduplicating)>::request_lost);
    s.shop.always_on_lookup(empty);
    auto p = s.start();
    s.clock.hold_waits();
    auto const begun = s.clock.elapsed();
    std::atomic<bool> in_doubt{false};
    std::jthread runner([&] {
        auto const done = p.run(s.id, s.request);
        in_doubt =
            !done && done.error().in_doubt() && done.error().rule() == rule::cancelled_by_caller;
    });
    s.clock.until_waiting();
    CHECK(s.truth->sends() == 1);
    auto const asked = p.cancel(s.id);
    CHECK(asked.value().cancel_requested);
    runner.join(); // no time passes
    CHECK(in_doubt);
    CHECK(s.clock.elapsed() == begun);
    CHECK(s.truth->sends() == 1);
}

TEST_CASE("a stop wakes a run that waits, and leaves the operation to the next") {
    one_shop s(deduplicating);
    s.budget.first_delay = s.budget.longest_delay = 30s;
    s.shop.on_submit(shop_of<decltype(deduplicating)>::request_lost);
    auto p = s.start();
    s.clock.hold_waits();
    std::atomic<bool> stopped{false};
    std::stop_source stop;
    std::jthread runner([&] {
        auto const done = p.run(s.id, s.request, {.stop = stop.get_token()});
        stopped = !done && done.error().rule() == rule::stopped;
    });
    s.clock.until_waiting();
    stop.request_stop();
    runner.join();
    CHECK(stopped);
    CHECK(s.state() == state_id::uncertain);
    CHECK(s.stored().claim == claim{});
    s.clock.release_waits();
    CHECK(p.run(s.id, s.request));
    CHECK(s.truth->effects() == 1);
}

TEST_CASE("a cancel wakes whoever waits on this operation, and nobody else") {
    one_shop s(deduplicating);
    s.budget.first_delay = s.budget.longest_delay = 30s;
    s.budget.first_look_delay = 0ms;
    for (int i = 0; i != 2; ++i)
        s.shop.on_submit(shop_of<decltype(deduplicating)>::request_lost);
    auto p = s.start();
    s.clock.hold_waits();
    identity const other{"shop", "order-2"};
    std::jthread one([&] { (void)p.run(s.id, s.request); });
    std::jthread two([&] { (void)p.run(other, s.request); });
    s.clock.until_waiting(2);
    REQUIRE(p.cancel(s.id));
    one.join();
    CHECK(s.stored(other).state == state_id::uncertain);
    CHECK(s.truth->sends() == 2);
    s.clock.release_waits();
    two.join();
    CHECK(s.stored(other).state == state_id::confirmed);
    CHECK(s.stored().state != state_id::confirmed);
    CHECK(s.truth->sends() == 3);
}

TEST_CASE("a recovery that runs while another one sends takes nothing from it [J07]") {
    scene_of_many s;
    lossy_storage shared;
    using either = process<lossy_storage&, contract<never, complete_lookup, hint>>;
    either sender({s.service, shared, {}, s.budget, s.clock, s.ears});
    either starter({s.service, shared, {}, s.budget, s.clock, s.ears});
    std::atomic<bool> sending{false}, finish{false};
    s.service.on_submit([&](shop::attempt const& a, world& w) -> shop::keyed_reply {
        sending = true;
        sending.notify_all();
        finish.wait(false);
        return applied(a, w);
    });
    std::jthread runner([&] { (void)sender.run(s.id, "one notebook"); });
    sending.wait(false);
    std::vector<identity> found;
    CHECK(starter.unsettled(
        [&](unsettled_operation const& u) { found.push_back(u.stored.identity()); }));
    REQUIRE(found.size() == 1);
    CHECK(starter.reconcile(found[0]).error().rule() == rule::in_progress);
    CHECK(starter.run(s.id, "one notebook").error().rule() == rule::in_progress);
    finish = true;
    finish.notify_all();
    runner.join();
    CHECK(s.truth->sends() == 1);
    CHECK(starter.run(s.id, "one notebook"));
}

TEST_SUITE_END();

} // namespace
