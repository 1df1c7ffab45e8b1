// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#include <adapter/temporary_folder.hpp>
#include <indoubt/adapter/memory_storage.hpp>
#include <indoubt/adapter/sqlite_storage.hpp>
#include <indoubt/testing/lossy_storage.hpp>
#include <indoubt/testing/storage_laws.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <optional>
#include <string>
#include <utility>

// The storages under threads; what counting winners cannot see, ThreadSanitizer does.

namespace {

using namespace indoubt;
using indoubt::testing::plain_record;

struct in_memory {
    memory_storage& fresh() { return kept.emplace(); }
    std::optional<memory_storage> kept;
};

struct lossy {
    testing::lossy_storage& fresh() { return kept.emplace(); }
    testing::lossy_storage& crash() {
        kept->power_cut();
        return *kept;
    }
    std::optional<testing::lossy_storage> kept;
};

struct on_disk {
    sqlite_storage& fresh() {
        open.reset();
        path = folder / std::to_string(++number);
        return open.emplace(sqlite_storage::create(path).value());
    }
    tests::temporary_folder folder;
    std::string path;
    std::optional<sqlite_storage> open;
    int number = 0;
};

template <class Subject> void check_races() {
    Subject subject;
    testing::laws law;
    testing::check_storage_races(subject, law);
    CHECK_MESSAGE(law.hold(), law.report());
    CHECK(law.checked() > 50);
}

TEST_SUITE_BEGIN("storage_races");

TEST_CASE("of racing calls to a memory_storage one wins") {
    check_races<in_memory>();
}
TEST_CASE("of racing calls to a lossy_storage one wins") {
    check_races<lossy>();
}
TEST_CASE("of racing calls to a sqlite_storage one wins") {
    check_races<on_disk>();
}

TEST_CASE("of several threads that open one journal one gets it") {
    tests::temporary_folder const folder;
    std::atomic<int> created = 0;
    std::optional<sqlite_storage> winner[testing::detail::racers];
    testing::detail::all_at_once([&](std::size_t n) {
        auto made = sqlite_storage::create(folder / "journal");
        if (!made) return;
        winner[n].emplace(std::move(made).value());
        ++created;
    });
    CHECK(created == 1);
    for (auto& w : winner)
        w.reset();
    CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 1);

    std::atomic<int> opened = 0, refused = 0;
    testing::detail::all_at_once([&](std::size_t n) {
        auto opening = sqlite_storage::open(folder / "journal");
        if (opening) {
            winner[n].emplace(std::move(opening).value());
            ++opened;
        } else if (opening.error().rule() == rule::journal_in_use) {
            ++refused;
        }
    });
    CHECK(opened == 1);
    CHECK(refused == static_cast<int>(testing::detail::racers) - 1);
}

TEST_CASE("threads that wait for a journal get it one after the other") {
    tests::temporary_folder const folder;
    (void)sqlite_storage::create(folder / "journal").value();
    std::atomic<int> got = 0, at_once = 0;
    std::atomic<bool> together = false;
    testing::detail::all_at_once([&](std::size_t n) {
        auto s = sqlite_storage::open(folder / "journal", {.wait = milliseconds(30'000)});
        if (!s) return;
        if (++at_once != 1) together = true;
        if (s.value().insert(plain_record({"thread", std::to_string(n)}, n + 1))) ++got;
        --at_once;
    });
    CHECK(got == static_cast<int>(testing::detail::racers));
    CHECK_FALSE(together);
    CHECK(sqlite_storage::open(folder / "journal").value().facts().epoch ==
          2 + testing::detail::racers);
}

TEST_CASE("a backup that is made while others write holds each one's writes up to some moment") {
    constexpr std::uint64_t writes = 60;
    tests::temporary_folder const folder;
    auto s = sqlite_storage::create(folder / "journal").value();
    auto const write_of = [](std::size_t racer, std::uint64_t n) {
        return plain_record({"racer " + std::to_string(racer), std::to_string(n)},
                            racer * writes + n + 1);
    };
    std::atomic<int> backups = 0;
    std::atomic<bool> sound = true;
    testing::detail::all_at_once([&](std::size_t racer) {
        if (racer == 0) {
            for (int n = 0; n < 4; ++n)
                backups += s.backup(folder / ("copy " + std::to_string(n))) ? 1 : 0;
            return;
        }
        for (std::uint64_t n = 0; n < writes; ++n) {
            if (!s.insert(write_of(racer, n)) || (racer % 2 == 0 && !s.flush())) sound = false;
        }
    });
    CHECK(sound);
    CHECK(backups == 4);
    for (int n = 0; n < backups; ++n) {
        auto copy = sqlite_storage::open_restored(folder / ("copy " + std::to_string(n))).value();
        for (std::size_t racer = 1; racer < testing::detail::racers; ++racer) {
            bool before = true;
            for (std::uint64_t w = 0; w < writes; ++w) {
                bool const there = copy.find(write_of(racer, w).identity()).value().has_value();
                CHECK((before || !there));
                before = there;
            }
        }
    }
}

TEST_SUITE_END();

} // namespace
