// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef TESTS_SCENE_HPP
#define TESTS_SCENE_HPP

#include <indoubt.hpp>
#include <indoubt/testing/lossy_storage.hpp>
#include <indoubt/testing/manual_clock.hpp>
#include <indoubt/testing/scripted_provider.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

// Where most tests of the recovery begin: one journal that can lose power, one service that does
// what it is told and keeps the truth, one clock that only the test moves. A "process" is a
// recovery over them; a rerun is a new process over the same journal.

namespace scene {

using namespace indoubt;
using namespace std::chrono_literals;
using testing::lossy_storage;
using testing::manual_clock;
using testing::scripted_provider;
using testing::world;

inline constexpr char const* cited = "https://shop.test/keys";

/// Nothing documented but a look-up, and not even how soon that shows an effect.
inline constexpr contract bare{.lookup = complete_lookup{}};
/// The same, and an effect is visible at once.
inline constexpr contract prompt{.lookup = complete_lookup{.visible_after = 0ms},
                                 .call_timeout = 1s};
/// Repeats of one key are dropped for an hour.
inline constexpr contract deduplicating{
    .resend = deduplicated_by_key{.window = 1h, .documented_at = cited},
    .lookup = complete_lookup{},
    .call_timeout = 1s,
    .arrives_within = 1min};
/// The same without a look-up; a reply that echoes our key is proof.
inline constexpr contract proving{.resend =
                                      deduplicated_by_key{.window = 1h, .documented_at = cited},
                                  .reply = proof{.documented_at = cited},
                                  .call_timeout = 1s,
                                  .arrives_within = 1min};
/// Nobody can be asked; only another channel can confirm.
inline constexpr contract from_elsewhere{.lookup = from_outside{}};

/// Three tries, 100 ms, 200 ms ... apart, and five look-ups.
inline bounded_budget const plain_budget{.attempts = 3,
                                         .jitter = jitter::none,
                                         .first_delay = 100ms,
                                         .longest_delay = 10s,
                                         .looks = 5,
                                         .first_look_delay = 100ms,
                                         .seed = 1};

template <class C> using shop_of = scripted_provider<C>;

/// Counts what an observer is told.
struct listener {
    std::shared_ptr<std::vector<std::pair<state_id, state_id>>> heard =
        std::make_shared<std::vector<std::pair<state_id, state_id>>>();
    void on_transition(transition_event const& e) { heard->emplace_back(e.from, e.to); }
};

template <class Contract, class Provider = shop_of<Contract>> struct one_shop {
    explicit one_shop(Contract documented)
        : truth(std::make_shared<world>(clock)), shop(documented, truth) {
        // The service keeps the promise that its contract makes.
        if constexpr (requires { documented.resend.window; }) {
            truth->deduplicate(documented.resend.window.length);
        }
    }

    using process = recovery<policies<Provider, lossy_storage&, exact_fingerprint, bounded_budget,
                                      manual_clock, listener>>;

    /// A process that starts on the journal as it is.
    process start() { return process({shop, journal, {}, budget, clock, ears}); }

    /// In a process of its own.
    auto run(run_options const& options = {}) { return run(id, request, options); }
    auto run(identity const& who, std::string const& what, run_options const& options = {}) {
        auto p = start();
        return p.run(who, what, options);
    }
    auto reconcile(run_options const& options = {}) {
        auto p = start();
        return p.reconcile(id, options);
    }
    auto cancel(by who = {}) {
        auto p = start();
        return p.cancel(id, std::move(who));
    }

    /// The power goes and comes back: what was not flushed is gone.
    void cut_power() { journal.power_cut(); }

    /// The record as the journal has it now; none: an empty one without a state.
    record stored() { return stored(id); }
    record stored(identity const& who) {
        auto found = journal.find(who);
        if (found && found.value()) return std::move(*found.value());
        record none;
        none.state = state_id::none;
        return none;
    }
    state_id state() { return stored().state; }

    /// What the program would be shown as unsettled.
    std::vector<record> unsettled() {
        std::vector<record> shown;
        auto p = start();
        (void)p.unsettled([&](unsettled_operation const& u) { shown.push_back(u.stored); });
        return shown;
    }

    manual_clock clock;
    std::shared_ptr<world> truth;
    Provider shop;
    lossy_storage journal;
    bounded_budget budget = plain_budget;
    listener ears;
    identity id{"shop", "order-1"};
    std::string request = "one notebook";
};

template <class C> one_shop(C) -> one_shop<C>;

} // namespace scene

#endif
