// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#include <adapter/temporary_folder.hpp>
#include <indoubt/adapter/memory_storage.hpp>
#include <indoubt/adapter/sqlite_storage.hpp>
#include <indoubt/testing/lossy_storage.hpp>
#include <indoubt/testing/storage_laws.hpp>

#include <doctest/doctest.h>

#include <atomic>
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

TEST_SUITE_END();

} // namespace
