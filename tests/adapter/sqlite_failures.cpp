// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#include <adapter/faulty_disk.hpp>
#include <adapter/other_process.hpp>
#include <adapter/sqlite_shell.hpp>
#include <adapter/temporary_folder.hpp>
#include <indoubt/adapter/sqlite_storage.hpp>
#include <indoubt/testing/sample_records.hpp>
#include <indoubt/testing/seeded_random.hpp>
#include <indoubt/testing/storage_laws.hpp>
#include <support/instrumented.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <sys/resource.h>
#include <unistd.h>
#include <utility>

// Every step at which SQLite changes a file fails once, kills the process once, and is once the
// last before a power cut. Whatever was told to be durable is there afterwards.

namespace {

using namespace indoubt;
using indoubt::testing::plain_record;
using tests::faulty_disk;
using tests::other_process;
using tests::temporary_folder;

record numbered(std::uint64_t n) {
    record r = plain_record({"scope", std::to_string(n)}, n);
    r.written_at = time_point(milliseconds(n));
    return r;
}

record changed(std::uint64_t n) {
    record r = numbered(n);
    r.version.counter = 2;
    r.state = state_id::uncertain;
    r.attempts.emplace_back();
    return r;
}

bool there(sqlite_storage& s, record const& r) {
    auto const found = s.find(r.identity());
    return found && found.value() && testing::same(*found.value(), r);
}

template <class T> rule rule_of(result<T> const& r) {
    return r.has_error() ? r.error().rule() : rule::none;
}

/// What the life of a journal got done before something stopped it.
struct progress {
    bool opened = false;
    int flushed = 0; ///< how many of the two flushes succeeded
};

/// Two flushes, and a write that is never flushed.
template <class Tell> progress live(result<sqlite_storage> opened, Tell tell) {
    progress done;
    if (!opened) return done;
    done.opened = true;
    tell("o");
    auto s = std::move(opened).value();
    if (!s.insert(numbered(1)) || !s.bind("name", {"scope", "1"}) || !s.flush()) return done;
    done.flushed = 1;
    tell("1");
    if (!s.replace(changed(1), numbered(1).version) || !s.insert(numbered(2)) || !s.flush())
        return done;
    done.flushed = 2;
    tell("2");
    if (!s.insert(numbered(3))) return done;
    tell("3");
    return done;
}

/// The journal holds what was told, and otherwise only what was written.
void check_journal(sqlite_storage& s, int flushed) {
    if (flushed >= 1) {
        CHECK((there(s, numbered(1)) || there(s, changed(1))));
        CHECK_FALSE(s.bind("name", {"scope", "2"}).value());
    }
    if (flushed >= 2) {
        CHECK(there(s, changed(1)));
        CHECK(there(s, numbered(2)));
        CHECK(s.facts().high_water >= numbered(2).written_at);
    }
    // One commit is there as a whole or not at all.
    CHECK(there(s, changed(1)) == there(s, numbered(2)));
    CHECK(s.insert(numbered(9)));
    CHECK(s.flush());
}

/// Makes a journal that was killed, so that opening it has a log to take over.
void make_killed(std::string const& path) {
    other_process owner([&](auto) {
        auto s = sqlite_storage::create(path).value();
        s.insert(plain_record({"scope", "old"}, 100)).value();
        s.flush().value();
        s.insert(plain_record({"scope", "older"}, 101)).value();
        s.flush().value();
        ::_exit(0); // without closing it
        return 0;
    });
    REQUIRE(owner.wait() == 0);
    REQUIRE(std::filesystem::file_size(path + "-wal") > 0);
}

constexpr auto silent = [](char const*) {};

TEST_SUITE_BEGIN("sqlite_failures");

/// All hooks of the law suite, on real files with a disk that can be told to fail.
struct subject {
    sqlite_storage& fresh() {
        disk.work_again();
        open.reset();
        path = folder / std::to_string(++number);
        return open.emplace(sqlite_storage::create(path).value());
    }
    sqlite_storage& reopen() {
        open.reset();
        disk.work_again();
        return open.emplace(sqlite_storage::open(path).value());
    }
    /// To the file it is as if the process died: nothing more is written.
    sqlite_storage& crash() {
        fail_next();
        return reopen();
    }
    void fail_next() { disk.fail(disk.steps() + 1); }

    temporary_folder folder;
    faulty_disk disk;
    std::string path;
    std::optional<sqlite_storage> open;
    int number = 0;
};

TEST_CASE("sqlite_storage keeps the laws of a storage") {
    auto const laws = testing::check_storage_laws(subject{});
    CHECK_MESSAGE(laws.hold(), laws.report());
    CHECK(laws.checked() > 500);
}

TEST_CASE("a creation that fails at any step leaves nothing, and can be repeated") {
    for (bool once : {true, false}) {
        for (std::uint64_t step = 1;; step += next_step) {
            CAPTURE(step);
            temporary_folder const folder;
            faulty_disk disk;
            disk.fail(step, once ? step : UINT64_MAX);
            auto const made = sqlite_storage::create(folder / "journal");
            if (made) {
                CHECK(step > 10);
                break;
            }
            CHECK(rule_of(made) == rule::storage_failed);
            CHECK(made.error().cause() != 0);
            CHECK(std::filesystem::is_empty(folder.path()));
            disk.work_again();
            CHECK(sqlite_storage::create(folder / "journal"));
        }
    }
}

/// Everything in a folder but what a creation or a backup that died has left.
std::size_t finished_files(temporary_folder const& folder) {
    std::size_t finished = 0;
    for (auto const& entry : std::filesystem::directory_iterator(folder.path()))
        finished += entry.path().string().find(".unfinished-") == std::string::npos ? 1U : 0U;
    return finished;
}

TEST_CASE("a creation that dies at any step leaves a whole journal or a free path") {
    int free = 0, whole = 0;
    for (bool cut : {false, true}) {
        for (std::uint64_t step = 1;; step += next_step) {
            CAPTURE(cut);
            CAPTURE(step);
            temporary_folder const folder;
            faulty_disk const without_syncs;
            other_process creator([&](auto tell) {
                faulty_disk disk;
                testing::seeded_random random(step);
                disk.at(step, [&] {
                    if (cut) disk.cut_power(random);
                    ::_exit(7);
                });
                auto const made = sqlite_storage::create(folder / "journal");
                tell(made ? "made" : "failed");
                return 0;
            });
            std::string const heard = creator.hear_all();
            int const ended = creator.wait();
            if (std::filesystem::exists(folder / "journal")) {
                CHECK(sqlite_storage::open(folder / "journal"));
                CHECK(rule_of(sqlite_storage::create(folder / "journal")) == rule::journal_exists);
                whole += heard.empty() ? 1 : 0;
            } else {
                CHECK(heard.empty());
                CHECK(finished_files(folder) == 0);
                CHECK(sqlite_storage::create(folder / "journal"));
                ++free;
            }
            if (ended == 0) break;
        }
    }
    CHECK(free > 5);
    CHECK(whole > 2);
}

TEST_CASE("a backup that fails at any step leaves nothing, and the journal goes on") {
    for (bool once : {true, false}) {
        for (std::uint64_t step = 1;; step += next_step) {
            CAPTURE(once);
            CAPTURE(step);
            temporary_folder const folder;
            faulty_disk disk;
            auto s = sqlite_storage::create(folder / "journal").value();
            REQUIRE(s.insert(numbered(1)));
            REQUIRE(s.flush());
            disk.fail(disk.steps() + step, once ? disk.steps() + step : UINT64_MAX);
            auto const made = s.backup(folder / "copy");
            disk.work_again();
            CHECK(std::filesystem::exists(folder / "copy") == made.has_value());
            CHECK(finished_files(folder) == (made ? 3 : 2)); // with the log
            REQUIRE(s.insert(numbered(2)));
            CHECK(s.flush());
            if (made) {
                CHECK(step > 5);
                break;
            }
            CHECK(rule_of(made) == rule::storage_failed);
            CHECK(made.error().cause() != 0);
            CHECK(s.backup(folder / "copy"));
        }
    }
}

TEST_CASE("a backup that cannot flush fails, and so does everything after it") {
    temporary_folder const folder;
    faulty_disk disk;
    auto s = sqlite_storage::create(folder / "journal").value();
    REQUIRE(s.insert(numbered(1)));
    disk.fail(disk.steps() + 1, disk.steps() + 1);
    CHECK(rule_of(s.backup(folder / "copy")) == rule::storage_failed);
    CHECK(finished_files(folder) == 2);
    CHECK(rule_of(s.backup(folder / "copy")) == rule::storage_failed);
    CHECK(rule_of(s.flush()) == rule::storage_failed);
}

TEST_CASE("a backup that dies at any step leaves a whole copy or a free path") {
    for (bool cut : {false, true}) {
        for (std::uint64_t step = 1;; step += next_step) {
            CAPTURE(cut);
            CAPTURE(step);
            temporary_folder const folder;
            faulty_disk const without_syncs;
            other_process owner([&](auto tell) {
                faulty_disk disk;
                testing::seeded_random random(step);
                auto s = sqlite_storage::create(folder / "journal").value();
                s.insert(numbered(1)).value();
                disk.at(disk.steps() + step, [&] {
                    if (cut) disk.cut_power(random);
                    ::_exit(7);
                });
                tell(s.backup(folder / "copy") ? "made" : "failed");
                ::_exit(0); // without closing it
                return 0;
            });
            std::string const heard = owner.hear_all();
            int const ended = owner.wait();
            auto original = sqlite_storage::open(folder / "journal").value();
            if (std::filesystem::exists(folder / "copy")) {
                auto copy = sqlite_storage::open_restored(folder / "copy").value();
                record expected = numbered(1);
                expected.restored = true;
                CHECK(there(copy, expected));
                CHECK(there(original, numbered(1)));
            } else {
                CHECK(heard.empty());
                CHECK(original.backup(folder / "copy"));
            }
            if (ended == 0) break;
        }
    }
}

TEST_CASE("whatever step fails, what was told is there, and the handle was poisoned") {
    for (bool once : {true, false}) {
        for (std::uint64_t step = 1, first = 0;; step += next_step) {
            CAPTURE(step);
            temporary_folder const folder;
            faulty_disk disk;
            auto s = sqlite_storage::create(folder / "journal");
            REQUIRE(s);
            if (first == 0) first = disk.steps();
            disk.fail(first + step, once ? first + step : UINT64_MAX);
            progress const done = live(std::move(s), silent);
            bool const failed_at_all = disk.steps() >= first + step;
            disk.work_again();
            {
                auto again = sqlite_storage::open(folder / "journal");
                REQUIRE(again);
                auto opened = std::move(again).value();
                check_journal(opened, done.flushed);
            }
            if (!failed_at_all) {
                CHECK(done.flushed == 2);
                CHECK(step > 10);
                break;
            }
        }
    }
}

TEST_CASE("an open that fails at any step can be repeated") {
    for (bool once : {true, false}) {
        for (std::uint64_t step = 1;; step += next_step) {
            CAPTURE(step);
            temporary_folder const folder;
            faulty_disk disk;
            make_killed(folder / "journal");
            disk.fail(step, once ? step : UINT64_MAX);
            progress const done = live(sqlite_storage::open(folder / "journal"), silent);
            bool const failed_at_all = disk.steps() >= step;
            disk.work_again();
            auto again = sqlite_storage::open(folder / "journal");
            REQUIRE_MESSAGE(again, again.error().message());
            auto s = std::move(again).value();
            CHECK(there(s, plain_record({"scope", "older"}, 101)));
            CHECK(s.facts().epoch >= (done.opened ? 3U : 2U));
            check_journal(s, done.flushed);
            if (!failed_at_all) break;
        }
    }
}

TEST_CASE("killed before any step, it reopens with what was told") {
    for (std::uint64_t step = 1;; step += next_step) {
        CAPTURE(step);
        temporary_folder const folder;
        faulty_disk const without_syncs;
        make_killed(folder / "journal");
        other_process owner([&](auto tell) {
            faulty_disk disk;
            disk.at(step, [] { ::_exit(7); });
            live(sqlite_storage::open(folder / "journal"), tell);
            return 0;
        });
        std::string const told = owner.hear_all();
        int const ended = owner.wait();
        auto again = sqlite_storage::open(folder / "journal");
        REQUIRE_MESSAGE(again, again.error().message());
        auto s = std::move(again).value();
        CHECK(there(s, plain_record({"scope", "older"}, 101)));
        CHECK(s.facts().epoch >= (told.empty() ? 2U : 3U));
        check_journal(s, static_cast<int>(std::ranges::count_if(
                             told, [](char c) { return c == '1' || c == '2'; })));
        if (ended == 0) {
            CHECK(told == "o123");
            break;
        }
    }
}

TEST_CASE("after a power cut before any step, it reopens with what was told") {
    for (std::uint64_t seed = 1; seed <= 2; ++seed) {
        for (std::uint64_t step = 1;; step += next_step) {
            CAPTURE(seed);
            CAPTURE(step);
            temporary_folder const folder;
            faulty_disk const without_syncs;
            make_killed(folder / "journal");
            other_process owner([&](auto tell) {
                faulty_disk disk;
                testing::seeded_random random(seed * 1'000 + step);
                disk.at(step, [&] {
                    disk.cut_power(random);
                    ::_exit(7);
                });
                live(sqlite_storage::open(folder / "journal"), tell);
                return 0;
            });
            std::string const told = owner.hear_all();
            int const ended = owner.wait();
            auto again = sqlite_storage::open(folder / "journal");
            REQUIRE_MESSAGE(again, again.error().message());
            auto s = std::move(again).value();
            CHECK(there(s, plain_record({"scope", "older"}, 101)));
            check_journal(s, static_cast<int>(std::ranges::count_if(
                                 told, [](char c) { return c == '1' || c == '2'; })));
            if (ended == 0) break;
        }
    }
}

/// A journal of an older format, in its place, with one record.
void make_old(std::string const& path) {
    tests::make_from_sql(path, "sqlite_format_1.sql");
    tests::put_marks(path);
}

void check_upgraded(std::string const& path) {
    int const format = tests::bytes_of(path)[63];
    CHECK((format == 1 || format == 2));
    auto again = sqlite_storage::open(path);
    REQUIRE_MESSAGE(again, again.error().message());
    CHECK(tests::bytes_of(path)[63] == 2);
    auto s = std::move(again).value();
    CHECK(s.facts().epoch >= 42);
    CHECK(s.find({"scope", "key"}).value().value().attempts.size() == 3);
    CHECK(s.insert(numbered(9)));
    CHECK(s.flush());
}

TEST_CASE("an upgrade that fails at any step can be repeated") {
    for (bool once : {true, false}) {
        for (std::uint64_t step = 1;; step += next_step) {
            CAPTURE(step);
            temporary_folder const folder;
            make_old(folder / "journal");
            faulty_disk disk;
            disk.fail(step, once ? step : UINT64_MAX);
            auto const opened_at_once = sqlite_storage::open(folder / "journal").has_value();
            bool const failed_at_all = disk.steps() >= step;
            disk.work_again();
            check_upgraded(folder / "journal");
            if (!failed_at_all) {
                CHECK(opened_at_once);
                CHECK(step > 10);
                break;
            }
        }
    }
}

TEST_CASE("after a kill or a power cut in an upgrade a journal has one format or the other") {
    bool seen[3] = {};
    for (bool cut : {false, true}) {
        for (std::uint64_t step = 1;; step += next_step) {
            CAPTURE(cut);
            CAPTURE(step);
            temporary_folder const folder;
            make_old(folder / "journal");
            faulty_disk const without_syncs;
            other_process owner([&](auto tell) {
                faulty_disk disk;
                testing::seeded_random random(step);
                disk.at(step, [&] {
                    if (cut) disk.cut_power(random);
                    ::_exit(7);
                });
                if (sqlite_storage::open(folder / "journal")) tell("opened");
                ::_exit(0); // without closing it
                return 0;
            });
            std::string const told = owner.hear_all();
            int const ended = owner.wait();
            auto const format = static_cast<std::size_t>(tests::bytes_of(folder / "journal")[63]);
            REQUIRE(format < 3);
            seen[format] = true;
            if (told == "opened") CHECK(format == 2);
            check_upgraded(folder / "journal");
            if (ended == 0) break;
        }
    }
    CHECK(seen[1]);
    CHECK(seen[2]);
}

TEST_CASE("a log that was left is written once more before it is trusted") {
    temporary_folder const folder;
    make_killed(folder / "journal");
    std::string const log = folder / "journal-wal";
    std::string const before = tests::bytes_of(log);
    auto const old = std::filesystem::last_write_time(log) - std::chrono::hours(1);
    std::filesystem::last_write_time(log, old);
    auto const file = detail::owned_file::claim(folder / "journal");
    REQUIRE(file);
    CHECK(detail::secure_log(file.value()));
    CHECK(std::filesystem::last_write_time(log) > old);
    CHECK(tests::bytes_of(log) == before);
    std::filesystem::remove(log);
    CHECK(detail::secure_log(file.value()));
    std::filesystem::create_directory(log);
    CHECK(rule_of(detail::secure_log(file.value())) == rule::storage_failed);
}

TEST_CASE("a refused journal keeps its log, and a copy is taken over with it") {
    temporary_folder const folder;
    make_killed(folder / "journal");
    std::filesystem::copy(folder / "journal", folder / "copy");
    std::filesystem::copy(folder / "journal-wal", folder / "copy-wal");
    CHECK(rule_of(sqlite_storage::open(folder / "copy")) == rule::restored_copy);
    for (auto const* ending : {"", "-wal"}) {
        CHECK(tests::bytes_of(folder / "copy" + ending) ==
              tests::bytes_of(folder / "journal" + ending));
    }
    auto s = sqlite_storage::open_restored(folder / "copy").value();
    record older = plain_record({"scope", "older"}, 101);
    older.restored = true;
    CHECK(there(s, older));
}

TEST_CASE("after a failed flush no later one succeeds, though the disk works again") {
    temporary_folder const folder;
    faulty_disk disk;
    {
        auto s = sqlite_storage::create(folder / "journal").value();
        REQUIRE(s.insert(numbered(3)));
        REQUIRE(s.flush());
        REQUIRE(s.insert(numbered(1)));
        disk.fail(disk.steps() + 1, disk.steps() + 1);
        auto const flushed = s.flush();
        REQUIRE(flushed.has_error());
        CHECK(flushed.error().rule() == rule::storage_failed);
        CHECK(flushed.error().cause() == SQLITE_IOERR_WRITE);
        CHECK(flushed.error().detail() == folder / "journal" + " failed: disk I/O error");
        for (int times = 0; times < 3; ++times) {
            CHECK(s.flush().error().cause() == SQLITE_IOERR_WRITE);
            CHECK(rule_of(s.insert(numbered(2))) == rule::storage_failed);
        }
    }
    // To a disk that fails nothing more is written, and nothing is removed from it.
    CHECK(std::filesystem::file_size(folder / "journal-wal") > 0);
    auto s = sqlite_storage::open(folder / "journal").value();
    CHECK(there(s, numbered(3)));
    CHECK_FALSE(there(s, numbered(1)));
    CHECK_FALSE(there(s, numbered(2)));
}

TEST_CASE("a full disk is a failed flush, and nothing told is lost") {
    temporary_folder const folder;
    auto const before = std::signal(SIGXFSZ, SIG_IGN);
    {
        auto s = sqlite_storage::create(folder / "journal").value();
        REQUIRE(s.insert(numbered(1)));
        REQUIRE(s.flush());
        rlimit limit{};
        REQUIRE(::getrlimit(RLIMIT_FSIZE, &limit) == 0);
        rlimit small = limit;
        small.rlim_cur = std::filesystem::file_size(folder / "journal-wal") + 5'000;
        record large = numbered(2);
        large.intent = std::make_shared<intent const>(
            intent{large.identity(), "target", std::string(1U << 20, 'x'), "", "rule"});
        REQUIRE(s.insert(large));
        ::setrlimit(RLIMIT_FSIZE, &small);
        auto const flushed = s.flush();
        ::setrlimit(RLIMIT_FSIZE, &limit);
        CHECK(rule_of(flushed) == rule::storage_failed);
        CHECK(rule_of(s.flush()) == rule::storage_failed);
    }
    std::signal(SIGXFSZ, before);
    auto s = sqlite_storage::open(folder / "journal").value();
    CHECK(there(s, numbered(1)));
    CHECK_FALSE(s.find({"scope", "2"}).value());
}

TEST_CASE("a stale replace is no failure") {
    temporary_folder const folder;
    auto s = sqlite_storage::create(folder / "journal").value();
    REQUIRE(s.insert(changed(1)));
    auto const replaced = s.replace(changed(1), {9, 9});
    CHECK(rule_of(replaced) == rule::stale_version);
    CHECK(replaced.error().state() == state_id::uncertain);
    CHECK(rule_of(s.replace(numbered(2), {1, 1})) == rule::stale_version);
    CHECK(s.insert(numbered(2)));
    CHECK(s.flush());
}

TEST_CASE("a record that cannot be what was written is a failure, not a guess") {
    for (auto const* sql :
         {"UPDATE operations SET basis = 'rumour'", "UPDATE operations SET generation = -1",
          "UPDATE operations SET reason = 256", "UPDATE operations SET version_counter = -1",
          "DELETE FROM attempts", "UPDATE attempts SET outcome = ''",
          "UPDATE operations SET former_keys = 1", "UPDATE operations SET set_aside = -1"}) {
        CAPTURE(sql);
        temporary_folder const folder;
        {
            auto s = sqlite_storage::create(folder / "journal").value();
            REQUIRE(s.insert(changed(1)));
        }
        tests::in_shell(folder / "journal", sql);
        {
            auto s = sqlite_storage::open(folder / "journal").value();
            REQUIRE(s.insert(numbered(2)));
            if (std::string_view(sql).find("version") != std::string_view::npos) {
                CHECK(s.replace(changed(1), {1, 2}).error().cause() == SQLITE_CORRUPT);
            }
            CHECK(s.find({"scope", "1"}).error().cause() == SQLITE_CORRUPT);
            CHECK(rule_of(s.flush()) == rule::storage_failed);
        }
        // Nothing was committed after that, not even when it was closed.
        auto s = sqlite_storage::open(folder / "journal").value();
        CHECK_FALSE(s.find({"scope", "2"}).value());
    }
}

TEST_CASE("a flush with nothing written is free, and one flush serves all who wrote before it") {
    temporary_folder const folder;
    faulty_disk disk;
    auto s = sqlite_storage::create(folder / "journal").value();
    auto const syncs_of = [&](auto f) {
        auto const before = disk.syncs();
        f();
        return disk.syncs() - before;
    };
    CHECK(syncs_of([&] { CHECK(s.flush()); }) == 0);
    for (std::uint64_t n = 1; n <= 100; ++n)
        REQUIRE(s.insert(numbered(n)));
    CHECK(syncs_of([&] { CHECK(s.flush()); }) <= 2); // a new log also syncs its header
    CHECK(syncs_of([&] { CHECK(s.flush()); }) == 0);
    REQUIRE(s.insert(numbered(101)));
    CHECK(syncs_of([&] { CHECK(s.flush()); }) == 1);
    CHECK(syncs_of([&] {
              CHECK(s.insert(numbered(101)).value());
              CHECK(s.replace(numbered(1), {9, 9}).has_error());
              CHECK(s.flush());
          }) == 0);
}

TEST_CASE("a flush to a journal that was moved or removed meanwhile fails") {
    temporary_folder const folder;
    auto const fails_after = [&](std::string const& name, auto change) {
        auto s = sqlite_storage::create(folder / name).value();
        REQUIRE(s.insert(numbered(1)));
        REQUIRE(s.flush());
        change(folder / name);
        REQUIRE(s.insert(numbered(2)));
        CHECK(s.flush().error().cause() == SQLITE_READONLY_DBMOVED);
        CHECK(rule_of(s.flush()) == rule::storage_failed);
    };
    fails_after("removed", [](auto path) { std::filesystem::remove(path); });
    fails_after("moved", [](auto path) { std::filesystem::rename(path, path + ".moved"); });
    fails_after("replaced", [](auto path) {
        std::filesystem::copy(path, path + ".copy");
        std::filesystem::rename(path + ".copy", path);
    });
    fails_after("without its log", [](auto path) { std::filesystem::remove(path + "-wal"); });
}

TEST_SUITE_END();

} // namespace
