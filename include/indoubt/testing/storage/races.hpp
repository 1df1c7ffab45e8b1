// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef INDOUBT_TESTING_STORAGE_RACES_HPP
#define INDOUBT_TESTING_STORAGE_RACES_HPP

#include <indoubt/policy/storage.hpp>
#include <indoubt/testing/laws.hpp>
#include <indoubt/testing/sample_records.hpp>
#include <indoubt/testing/storage/checks.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <latch>
#include <optional>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

// The laws of a storage under threads: of two racing calls one wins and the other hears of it.
// Run it under ThreadSanitizer too, which sees what the counting of winners cannot.

namespace indoubt::testing {

namespace detail {

inline constexpr std::size_t racers = 8;

/// Calls race(n) for n = 0 to 7, each in a thread of its own, all at once.
template <class Race> void all_at_once(Race race) {
    std::latch ready(racers);
    std::vector<std::thread> threads;
    for (std::size_t n = 0; n < racers; ++n) {
        threads.emplace_back([&ready, &race, n] {
            ready.arrive_and_wait();
            race(n);
        });
    }
    for (auto& t : threads)
        t.join();
}

/// What racer n would write in a round.
inline record entry_of(std::size_t n, std::uint64_t round) {
    record r = plain_record({"race", std::to_string(round)}, 1 + round * racers + n);
    r.receipt = std::to_string(n);
    return r;
}

template <class S> void racing_inserts(S& s, std::uint64_t round, laws& law) {
    std::vector<std::optional<record>> heard(racers);
    std::atomic<std::size_t> winners = 0;
    all_at_once([&](std::size_t n) {
        auto const before = s.insert(entry_of(n, round));
        if (!before) return;
        if (before.value()) {
            heard[n] = before.value();
        } else {
            ++winners;
        }
    });
    auto const stored = s.find(entry_of(0, round).identity());
    law.expect(winners == 1, "race: of several inserts exactly one wins");
    for (auto const& r : heard) {
        law.expect(!r || (stored && stored.value() && same(*r, *stored.value())),
                   "race: an insert that lost hears what stands");
    }
}

template <class S> void racing_replaces(S& s, identity const& id, laws& law) {
    auto const standing = s.find(id);
    if (!standing || !standing.value()) return;
    record const before = *standing.value();
    std::atomic<std::size_t> winners = 0, winner = racers, stale = 0;
    all_at_once([&](std::size_t n) {
        record next = before;
        next.version.counter += 1;
        next.receipt = std::to_string(n);
        auto const replaced = s.replace(next, before.version);
        if (replaced) {
            ++winners;
            winner = n;
        } else if (replaced.error().rule() == rule::stale_version) {
            ++stale;
        }
    });
    auto const stored = s.find(id);
    law.expect(winners == 1 && stale == racers - 1,
               "race: of several replaces of one version exactly one wins, the others are stale");
    law.expect(stored && stored.value() && stored.value()->receipt == std::to_string(winner),
               "race: what is stored is the winner's");
}

template <class S> void racing_binds(S& s, std::string const& name, laws& law) {
    auto const named = [](std::size_t n) { return identity{"racer", std::to_string(n)}; };
    std::atomic<std::size_t> winners = 0, winner = racers;
    all_at_once([&](std::size_t n) {
        auto const bound = s.bind(name, named(n));
        if (!bound || !bound.value()) return;
        ++winners;
        winner = n;
    });
    auto const again = s.bind(name, named(winner));
    law.expect(winners == 1 && again && again.value(),
               "race: of several binds of one name exactly one wins");
}

/// Two threads walk one record through its versions, the others look at it, flush and visit.
template <class S> void readers_see_whole_records(S& s, laws& law) {
    identity const id{"race", "whole"};
    constexpr std::uint32_t last = 200;
    auto const as_of = [&](std::uint32_t counter) {
        record r = plain_record(id, 900, {1, counter});
        r.attempts.resize(1 + counter % 3);
        r.receipt = std::string(1 + counter % 40, static_cast<char>('a' + counter % 26));
        r.written_at = time_point(milliseconds(counter));
        return r;
    };
    std::atomic<bool> whole = true, done = false;
    auto const check = [&](record const& r) {
        if (r.identity() == id && !same(r, as_of(r.version.counter))) whole = false;
    };
    (void)s.insert(as_of(1));
    all_at_once([&](std::size_t n) {
        if (n < 2) {
            for (std::uint32_t c = 1; c < last; ++c)
                (void)s.replace(as_of(c + 1), {1, c});
            done = true;
        }
        while (!done) {
            if (auto const found = s.find(id); found && found.value()) check(*found.value());
            if (n == 3 && !s.flush()) whole = false;
            if (n == 4) (void)s.visit_unsettled({.after = 899, .most = 1}, check);
            if (n == 5 && s.facts().epoch == 0) whole = false;
        }
    });
    law.expect(whole, "race: readers see whole records");
    law.expect(holds(s, as_of(last)), "race: no replace is lost");
}

/// For storages that offer it: shrinking, replacing and reading at once.
template <class S> void racing_shrinks(S& s, laws& law) {
    constexpr std::uint64_t many = 100;
    auto const settled = [](std::uint64_t n) {
        return settled_record(5'000 + n, state_id::confirmed, static_cast<int>(n));
    };
    for (std::uint64_t n = 1; n <= many; ++n)
        (void)s.insert(settled(n));
    std::atomic<std::size_t> shrank = 0, replaced = 0;
    std::atomic<bool> whole = true;
    all_at_once([&](std::size_t racer) {
        for (std::uint64_t n = 1; n <= many; ++n) {
            record const r = settled(n);
            if (racer % 2 == 0) {
                auto const some = s.shrink_settled(retained_from, 3);
                if (some) shrank += some.value();
            } else if (racer == 1) {
                record changed = next_of(r);
                changed.written_at = retained_from;
                if (s.replace(changed, r.version)) ++replaced;
            } else if (auto const found = s.find(r.identity()); found && found.value()) {
                // Whoever was first: it shrank, or it was replaced and is too young to.
                auto const& seen = *found.value();
                if (seen.tombstone != seen.attempts.empty()) whole = false;
            }
        }
    });
    law.expect(whole, "race: readers see whole records");
    law.expect(shrank + replaced == many, "race: each record shrinks once or is replaced");
}

/// Every thread writes and flushes for itself; returns what all of them were told is durable.
template <class S> std::vector<record> racing_flushes(S& s, laws& law) {
    std::vector<std::vector<record>> told(racers);
    all_at_once([&](std::size_t n) {
        for (std::uint64_t i = 0; i < 20; ++i) {
            record const r =
                plain_record({"flush", std::to_string(n * 100 + i)}, 1'000 + n * 100 + i);
            if (s.insert(r) && s.flush()) told[n].push_back(r);
        }
    });
    std::vector<record> all;
    for (auto const& mine : told)
        all.insert(all.end(), mine.begin(), mine.end());
    law.expect(all.size() == racers * 20, "race: flushes succeed");
    return all;
}

} // namespace detail

/// The part of check_storage_laws() that uses threads.
template <class Subject> void check_storage_races(Subject& subject, laws& law) {
    auto& s = subject.fresh();
    for (std::uint64_t round = 0; round < 20; ++round) {
        identity const id = detail::entry_of(0, round).identity();
        detail::racing_inserts(s, round, law);
        detail::racing_replaces(s, id, law);
        detail::racing_binds(s, "name " + id.key, law);
    }
    detail::readers_see_whole_records(s, law);
    if constexpr (shrinks_settled<std::remove_reference_t<decltype(s)>>)
        detail::racing_shrinks(s, law);
    auto const told = detail::racing_flushes(s, law);
    auto const all_there = [&told](auto& storage) {
        return std::ranges::all_of(told,
                                   [&](record const& r) { return detail::holds(storage, r); });
    };
    law.expect(all_there(s), "race: what was flushed is found");
    if constexpr (requires { subject.crash(); }) {
        law.expect(all_there(subject.crash()), "race: what was flushed survives a crash");
    }
}

} // namespace indoubt::testing

#endif
