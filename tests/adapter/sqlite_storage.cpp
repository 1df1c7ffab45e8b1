// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#include <adapter/other_process.hpp>
#include <adapter/sqlite_shell.hpp>
#include <adapter/temporary_folder.hpp>
#include <indoubt/adapter/sqlite_storage.hpp>
#include <indoubt/testing/sample_records.hpp>

#include <doctest/doctest.h>

#include <array>
#include <chrono>
#include <climits>
#include <csignal>
#include <cstdint>
#include <fcntl.h>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <semaphore>
#include <set>
#include <sqlite3.h>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <thread>
#include <type_traits>
#include <unistd.h>
#include <utility>

// Which files a journal is opened from, who may have it, and what is there after its owner died.

namespace {

using namespace indoubt;
using namespace std::chrono_literals;
using indoubt::testing::full_record;
using indoubt::testing::plain_record;
using indoubt::testing::same;
using tests::asked;
using tests::bytes_of;
using tests::in_shell;
using tests::other_process;
using tests::temporary_folder;
using tests::write_bytes;

static_assert(storage_policy<sqlite_storage>);
static_assert(compares_versions<sqlite_storage>);
static_assert(shrinks_settled<sqlite_storage>);
static_assert(!std::is_copy_constructible_v<sqlite_storage>);
static_assert(std::is_nothrow_move_constructible_v<sqlite_storage>);

record numbered(std::uint64_t n) {
    return plain_record({"scope", std::to_string(n)}, n);
}

bool there(sqlite_storage& s, std::uint64_t n) {
    return s.find({"scope", std::to_string(n)}).value().has_value();
}

template <class T> rule rule_of(result<T> const& r) {
    return r.has_error() ? r.error().rule() : rule::none;
}

/// Makes a journal with one flushed record and closes it.
void make_journal(std::string const& path) {
    auto s = sqlite_storage::create(path).value();
    REQUIRE(s.insert(numbered(1)));
    REQUIRE(s.flush());
}

/// A process that opens the journal, and closes it again, whenever it is asked to.
class outsider {
public:
    explicit outsider(std::string const& path)
        : process_([path](auto const& parent) {
              while (!parent.hear().empty()) {
                  auto const opened = sqlite_storage::open(path);
                  parent(opened ? std::string("opened") : std::string(opened.error().detail()));
              }
              return 0;
          }) {}
    /// Returns: "opened", or what the error said.
    std::string tries() {
        process_.tell("try");
        return process_.hear();
    }

private:
    other_process process_;
};

std::set<std::string> files_in(temporary_folder const& folder) {
    std::set<std::string> names;
    for (auto const& entry : std::filesystem::directory_iterator(folder.path()))
        names.insert(entry.path().filename().string());
    return names;
}

unsigned mode_of(std::string const& path) {
    struct stat s{};
    REQUIRE(::stat(path.c_str(), &s) == 0);
    return s.st_mode & 07777U;
}

TEST_SUITE_BEGIN("sqlite_storage");

// ---- creating -----------------------------------------------------------------------------------

TEST_CASE("a journal begins with epoch 1, and each open begins the next") {
    temporary_folder const folder;
    CHECK(sqlite_storage::create(folder / "journal").value().facts().epoch == 1);
    for (std::uint32_t epoch = 2; epoch < 5; ++epoch)
        CHECK(sqlite_storage::open(folder / "journal").value().facts().epoch == epoch);
}

TEST_CASE("create refuses every path at which something is") {
    temporary_folder const folder;
    write_bytes(folder / "empty", "");
    write_bytes(folder / "text", "text");
    std::filesystem::create_directory(folder / "folder");
    std::filesystem::create_symlink(folder / "nowhere", folder / "dangling");
    make_journal(folder / "journal");
    for (auto const* name : {"empty", "text", "folder", "dangling", "journal"}) {
        CAPTURE(name);
        auto const made = sqlite_storage::create(folder / name);
        CHECK(rule_of(made) == rule::journal_exists);
        CHECK(made.error().detail().find(folder / name) != std::string_view::npos);
    }
    CHECK(bytes_of(folder / "text") == "text");
    CHECK_FALSE(std::filesystem::exists(folder / "nowhere"));
    CHECK(sqlite_storage::open(folder / "journal"));
}

TEST_CASE("create refuses where the log of a removed journal was left: it may hold operations") {
    temporary_folder const folder;
    for (auto const* ending : {"-wal", "-journal"}) {
        write_bytes(folder / "journal" + ending, "left");
        CHECK(rule_of(sqlite_storage::create(folder / "journal")) == rule::journal_exists);
        CHECK(std::filesystem::remove(folder / "journal" + ending));
    }
    CHECK(sqlite_storage::create(folder / "journal"));
}

TEST_CASE("what a killed creation left is in nobody's way") {
    temporary_folder const folder;
    std::string const left = "journal.unfinished-" + std::to_string(::getpid()) + "-0";
    write_bytes(folder / left, "half a journal");
    make_journal(folder / "journal");
    CHECK(bytes_of(folder / left) == "half a journal");
    CHECK(files_in(folder) == std::set<std::string>{"journal", left});
    CHECK(sqlite_storage::open(folder / "journal"));
}

TEST_CASE("a name may be as long as the file system takes it, with the log's ending") {
    temporary_folder const folder;
    std::string const longest(255 - std::string_view("-journal").size(), 'j');
    make_journal(folder / longest);
    CHECK(sqlite_storage::open(folder / longest));
    CHECK(files_in(folder) == std::set<std::string>{longest});
    CHECK(rule_of(sqlite_storage::create(folder / std::string(256, 'j'))) == rule::not_a_journal);
    CHECK(files_in(folder).size() == 1);
}

TEST_CASE("a path that somebody took while a journal was made there is left alone") {
    temporary_folder const folder;
    auto file = detail::owned_file::draft(folder / "journal");
    REQUIRE(file);
    write_bytes(folder / "journal", "another's");
    CHECK(rule_of(file.value().put_in_place(folder / "journal")) == rule::journal_exists);
    CHECK(bytes_of(folder / "journal") == "another's");
    file.value().remove();
    CHECK(files_in(folder) == std::set<std::string>{"journal"});
}

TEST_CASE("create needs a folder and a name") {
    temporary_folder const folder;
    CHECK(rule_of(sqlite_storage::create(folder / "no/journal")) == rule::journal_missing);
    // Nor one that SQLite would take for a file of its own, or that leaves no room for one.
    for (std::string const& name :
         {folder.path() + "/", folder / ".", folder / "..", std::string(),
          folder / std::string_view("a\0b", 3), folder / "journal-wal", folder / "journal-journal",
          folder / "journal-shm", folder / std::string(255, 'j'), folder / std::string(248, 'j')}) {
        CHECK(rule_of(sqlite_storage::create(name)) == rule::not_a_journal);
        CHECK(rule_of(sqlite_storage::open(name)) == rule::not_a_journal);
    }
}

TEST_CASE("all files are private, whatever the umask") {
    for (mode_t mask : {mode_t{0}, mode_t{0777}, mode_t{022}}) {
        temporary_folder const folder;
        mode_t const before = ::umask(mask);
        {
            auto s = sqlite_storage::create(folder / "journal").value();
            REQUIRE(s.insert(full_record({"scope", "key"}, 1)));
            REQUIRE(s.flush());
            CHECK(mode_of(folder / "journal") == 0600);
            CHECK(mode_of(folder / "journal-wal") == 0600);
            CHECK_FALSE(std::filesystem::exists(folder / "journal-shm"));
        }
        auto s = sqlite_storage::open(folder / "journal").value();
        CHECK(mode_of(folder / "journal-wal") == 0600);
        ::umask(before);
    }
}

TEST_CASE("a path may have links and strange characters in its folders, and in its name") {
    temporary_folder const folder;
    std::filesystem::create_directory(folder / "real ?#%file:\n");
    std::filesystem::create_symlink(folder / "real ?#%file:\n", folder / "link");
    make_journal(folder / "link/journal?mode=memory\xff");
    CHECK(std::filesystem::exists(folder / "real ?#%file:\n/journal?mode=memory\xff"));
    auto const second = sqlite_storage::create(folder / "link/journal?mode=memory\xff");
    CHECK(second.error().detail().find("file:\\x0a/journal?mode=memory\\xff exists") !=
          std::string_view::npos);
}

// ---- opening ------------------------------------------------------------------------------------

TEST_CASE("open never makes a journal") {
    temporary_folder const folder;
    auto const opened = sqlite_storage::open(folder / "journal");
    CHECK(rule_of(opened) == rule::journal_missing);
    CHECK(opened.error().message() ==
          "there is no journal at this path (" + folder / "journal" + " is missing)");
    CHECK_FALSE(std::filesystem::exists(folder / "journal"));
}

TEST_CASE("open refuses what is not surely a whole journal, and leaves it as it is") {
    struct damage {
        std::string name;
        rule expected;
        std::function<void(std::string const& path)> make;
    };
    auto const changed = [](auto change) {
        return [change](std::string const& path) {
            make_journal(path);
            std::string bytes = bytes_of(path);
            change(bytes);
            write_bytes(path, bytes);
        };
    };
    auto const after = [](std::string const& sql) {
        return [sql](std::string const& path) {
            make_journal(path);
            in_shell(path, sql);
        };
    };
    std::array const kinds{
        damage{"empty", rule::not_a_journal, changed([](auto& b) { b.clear(); })},
        damage{"zeros", rule::not_a_journal, changed([](auto& b) { b.assign(b.size(), '\0'); })},
        damage{"a zeroed first page", rule::not_a_journal,
               changed([](auto& b) { b.replace(0, 4096, 4096, '\0'); })},
        damage{"one zero byte", rule::not_a_journal, changed([](auto& b) { b.assign(1, '\0'); })},
        damage{"text", rule::not_a_journal, changed([](auto& b) { b = "nothing happened yet\n"; })},
        damage{"half a header", rule::not_a_journal, changed([](auto& b) { b.resize(50); })},
        damage{"another database", rule::not_a_journal,
               [](std::string const& path) {
                   in_shell(path, "CREATE TABLE operations (operation)");
                   std::filesystem::permissions(path, std::filesystem::perms{0600});
               }},
        damage{"another application", rule::not_a_journal, after("PRAGMA application_id = 7")},
        damage{"a newer format", rule::newer_format, after("PRAGMA user_version = 3")},
        damage{"an older format than its tables", rule::journal_damaged,
               after("PRAGMA user_version = 1")},
        damage{"the newest format", rule::newer_format, changed([](auto& b) { b[60] = '\x7f'; })},
        damage{"no format", rule::journal_damaged, after("PRAGMA user_version = 0")},
        damage{"cut off", rule::journal_damaged,
               changed([](auto& b) { b.resize(b.size() / 2 / 4096 * 4096); })},
        damage{"a header alone", rule::journal_damaged, changed([](auto& b) { b.resize(100); })},
        damage{"garbage in its schema", rule::journal_damaged,
               changed([](auto& b) { b.replace(100, 3996, 3996, '\x55'); })},
        damage{"a page size of 3", rule::journal_damaged, changed([](auto& b) {
                   b[16] = 0;
                   b[17] = 3;
               })},
        damage{"no row of its own", rule::journal_damaged, after("DELETE FROM meta")},
        damage{"no epoch", rule::journal_damaged, after("UPDATE meta SET epoch = 0")},
        damage{"an impossible epoch", rule::journal_damaged, after("UPDATE meta SET epoch = -1")},
        damage{"a table missing", rule::journal_damaged, after("DROP TABLE attempts")},
        damage{"a table changed", rule::journal_damaged,
               after("ALTER TABLE operations ADD COLUMN more TEXT")},
        damage{"an index missing", rule::journal_damaged, after("DROP INDEX unsettled_operations")},
        damage{"a folder", rule::not_a_journal,
               [](std::string const& path) { std::filesystem::create_directory(path); }},
        damage{"a pipe", rule::not_a_journal,
               [](std::string const& path) { REQUIRE(::mkfifo(path.c_str(), 0600) == 0); }},
        damage{"a symbolic link", rule::not_a_journal,
               [](std::string const& path) {
                   make_journal(path + ".real");
                   std::filesystem::create_symlink(path + ".real", path);
               }},
        damage{"a second name", rule::not_a_journal,
               [](std::string const& path) {
                   make_journal(path);
                   std::filesystem::create_hard_link(path, path + ".second");
               }},
        damage{"open to the group", rule::not_a_journal,
               [](std::string const& path) {
                   make_journal(path);
                   std::filesystem::permissions(path, std::filesystem::perms{0640});
               }},
        damage{"a linked log", rule::not_a_journal,
               [](std::string const& path) {
                   make_journal(path);
                   write_bytes(path + ".other", "");
                   std::filesystem::create_symlink(path + ".other", path + "-wal");
               }},
    };
    for (auto const& kind : kinds) {
        CAPTURE(kind.name);
        temporary_folder const folder;
        kind.make(folder / "journal");
        auto const files = files_in(folder);
        bool const readable = std::filesystem::is_regular_file(folder / "journal");
        std::string const before = readable ? bytes_of(folder / "journal") : std::string();
        for (auto open : {&sqlite_storage::open, &sqlite_storage::open_restored}) {
            auto const opened = open(folder / "journal", {});
            CHECK(rule_of(opened) == kind.expected);
            if (opened) continue;
            CAPTURE(opened.error().message());
            CHECK(opened.error().detail().starts_with(folder / "journal"));
            if (readable) CHECK(bytes_of(folder / "journal") == before);
            CHECK(files_in(folder) == files);
        }
    }
}

TEST_CASE("open refuses a journal of another user") {
    if (::geteuid() != 0) return;
    temporary_folder const folder;
    make_journal(folder / "journal");
    REQUIRE(::chown((folder / "journal").c_str(), 12'345, static_cast<gid_t>(-1)) == 0);
    CHECK(rule_of(sqlite_storage::open(folder / "journal")) == rule::not_a_journal);
}

TEST_CASE("what a person may add with a shell does not close a journal, and triggers do not run") {
    temporary_folder const folder;
    make_journal(folder / "journal");
    in_shell(folder / "journal",
             "ANALYZE; CREATE VIEW mine AS SELECT count(*) FROM operations; DROP VIEW unsettled;"
             "CREATE TRIGGER t AFTER INSERT ON operations BEGIN DELETE FROM operations; END;"
             "VACUUM");
    auto s = sqlite_storage::open(folder / "journal").value();
    REQUIRE(s.insert(numbered(2)));
    CHECK(there(s, 1));
    CHECK(there(s, 2));
}

TEST_CASE("a rollback journal mode that somebody set is changed back") {
    temporary_folder const folder;
    make_journal(folder / "journal");
    in_shell(folder / "journal", "PRAGMA journal_mode = DELETE");
    auto s = sqlite_storage::open(folder / "journal").value();
    CHECK(std::filesystem::exists(folder / "journal-wal"));
    CHECK(there(s, 1));
}

TEST_CASE("an SQLite that is too old or was built without threads is refused in words") {
    CHECK(detail::objection_to_sqlite(3'036'999, 1) == "needs SQLite 3.37 or newer");
    CHECK(detail::objection_to_sqlite(3'040'001, 0) ==
          "needs an SQLite that was built for threads");
    CHECK(detail::objection_to_sqlite(3'037'000, 2).empty());
}

// ---- copies -------------------------------------------------------------------------------------

TEST_CASE("a copy is refused until it is taken over, and then what is open may have been sent") {
    temporary_folder const folder;
    {
        auto s = sqlite_storage::create(folder / "journal").value();
        record uncertain = numbered(2);
        uncertain.state = state_id::uncertain;
        REQUIRE(s.insert(numbered(1)));
        REQUIRE(s.insert(uncertain));
        REQUIRE(s.flush());
        CHECK_FALSE(s.facts().restored);
    }
    std::filesystem::copy(folder / "journal", folder / "copy");
    std::string const before = bytes_of(folder / "copy");
    auto const refused = sqlite_storage::open(folder / "copy");
    CHECK(rule_of(refused) == rule::restored_copy);
    CHECK(refused.error().detail().ends_with("open_restored takes it over"));
    CHECK(bytes_of(folder / "copy") == before);
    CHECK(files_in(folder) == std::set<std::string>{"journal", "copy"});
    {
        auto s = sqlite_storage::open_restored(folder / "copy").value();
        CHECK(s.facts().restored);
        CHECK(s.facts().epoch == 2);
        CHECK(s.find({"scope", "1"}).value()->restored);
        CHECK(s.find({"scope", "2"}).value()->restored);
        CHECK(sqlite_storage::open(folder / "journal")); // the original is another journal
    }
    auto s = sqlite_storage::open(folder / "copy").value();
    CHECK_FALSE(s.facts().restored);
    CHECK(s.find({"scope", "1"}).value()->restored);
}

TEST_CASE("a copy made by VACUUM INTO is a whole journal, and a copy") {
    temporary_folder const folder;
    make_journal(folder / "journal");
    in_shell(folder / "journal", "VACUUM INTO '" + folder / "copy" + "'");
    std::filesystem::permissions(folder / "copy", std::filesystem::perms{0600});
    CHECK(rule_of(sqlite_storage::open(folder / "copy")) == rule::restored_copy);
    auto s = sqlite_storage::open_restored(folder / "copy").value();
    CHECK(there(s, 1));
}

/// Record n is in this state.
record in_state(std::uint64_t n, state_id state) {
    record r = numbered(n);
    r.state = state;
    return r;
}

TEST_CASE("a backup holds what was written before it, and is opened as a restored copy only") {
    temporary_folder const folder;
    auto s = sqlite_storage::create(folder / "journal").value();
    REQUIRE(s.insert(in_state(1, state_id::pending)));
    REQUIRE(s.insert(in_state(2, state_id::uncertain)));
    REQUIRE(s.insert(in_state(3, state_id::in_review)));
    REQUIRE(s.flush());
    REQUIRE(s.insert(in_state(4, state_id::confirmed)));
    REQUIRE(s.bind("name", {"scope", "4"}));
    REQUIRE(s.backup(folder / "copy"));
    CHECK(mode_of(folder / "copy") == 0600);
    CHECK(files_in(folder) == std::set<std::string>{"journal", "journal-wal", "copy"});
    REQUIRE(s.insert(numbered(5)));
    REQUIRE(s.flush());
    auto const bytes = bytes_of(folder / "copy");
    for (auto const* where : {"copy", "journal"})
        CHECK(rule_of(s.backup(folder / where)) == rule::journal_exists);
    CHECK(bytes_of(folder / "copy") == bytes);
    CHECK(asked(folder / "copy", "SELECT count(*) FROM readable") == "4");
    CHECK(asked(folder / "copy", "PRAGMA integrity_check") == "ok");

    CHECK(rule_of(sqlite_storage::open(folder / "copy")) == rule::restored_copy);
    auto copy = std::optional(sqlite_storage::open_restored(folder / "copy").value());
    CHECK(copy->facts().restored);
    CHECK(copy->facts().epoch == 2);
    for (std::uint64_t n = 1; n <= 4; ++n) {
        CAPTURE(n);
        CHECK(copy->find({"scope", std::to_string(n)}).value()->restored == (n != 4));
    }
    CHECK_FALSE(there(*copy, 5));
    CHECK_FALSE(copy->bind("name", {"scope", "5"}).value());
    CHECK(there(s, 5)); // the original goes on beside it
    CHECK_FALSE(s.find({"scope", "1"}).value()->restored);

    // A backup of it tells the same, and counts what was begun in it as well.
    REQUIRE(copy->insert(in_state(6, state_id::pending)));
    REQUIRE(copy->backup(folder / "second copy"));
    copy.reset();
    CHECK(sqlite_storage::open(folder / "copy"));
    CHECK(rule_of(sqlite_storage::open(folder / "second copy")) == rule::restored_copy);
    auto second = sqlite_storage::open_restored(folder / "second copy").value();
    for (std::uint64_t n : {1U, 3U, 6U})
        CHECK(second.find({"scope", std::to_string(n)}).value().value().restored);
}

TEST_CASE("a backup is refused in words, and the journal goes on") {
    temporary_folder const folder;
    auto s = sqlite_storage::create(folder / "journal").value();
    REQUIRE(s.insert(numbered(1)));
    CHECK(rule_of(s.backup(folder / "no/copy")) == rule::journal_missing);
    CHECK(rule_of(s.backup(folder / ".")) == rule::not_a_journal);
    CHECK(rule_of(s.backup("/proc/copy")) == rule::storage_failed);
    write_bytes(folder / "copy-wal", "the log of another journal");
    CHECK(rule_of(s.backup(folder / "copy")) == rule::journal_exists);
    if (::geteuid() != 0) {
        std::filesystem::create_directory(folder / "locked");
        std::filesystem::permissions(folder / "locked", std::filesystem::perms{0500});
        CHECK(rule_of(s.backup(folder / "locked/copy")) == rule::storage_failed);
    }
    REQUIRE(s.insert(numbered(2)));
    CHECK(s.flush());
    CHECK(s.backup(folder / "another copy"));
}

TEST_CASE("a backup is as large as the journal, whatever pages it has") {
    temporary_folder const folder;
    auto s = sqlite_storage::create(folder / "journal").value();
    for (std::uint64_t n = 1; n <= 200; ++n)
        REQUIRE(s.insert(full_record({"scope", std::to_string(n)}, n)));
    REQUIRE(s.replace(numbered(9), {9, 9}).has_error()); // opens a transaction, writes nothing
    REQUIRE(s.backup(folder / "copy"));
    REQUIRE(s.replace(numbered(9), {9, 9}).has_error());
    REQUIRE(s.backup(folder / "copy 2"));
    CHECK(bytes_of(folder / "copy") == bytes_of(folder / "copy 2"));
    auto copy = sqlite_storage::open_restored(folder / "copy").value();
    for (std::uint64_t n = 1; n <= 200; ++n) {
        auto const id = identity{"scope", std::to_string(n)};
        CHECK(same(copy.find(id).value().value(), full_record(id, n)));
    }
}

TEST_CASE("a journal may be renamed") {
    temporary_folder const folder;
    make_journal(folder / "journal");
    std::filesystem::create_directory(folder / "folder");
    std::filesystem::rename(folder / "journal", folder / "folder/moved");
    auto s = sqlite_storage::open(folder / "folder/moved").value();
    CHECK(there(s, 1));
}

TEST_CASE("a copy with the same inode number is told by the time it was made") {
    detail::file_marks const original{.inode = 7, .device = 1, .born_ns = 100};
    CHECK(original.same_file_as({.inode = 7, .device = 1, .born_ns = 100}));
    CHECK(original.same_file_as({.inode = 7, .device = 2, .born_ns = 100})); // after a reboot
    CHECK_FALSE(original.same_file_as({.inode = 7, .device = 1, .born_ns = 101}));
    CHECK_FALSE(original.same_file_as({.inode = 8, .device = 1, .born_ns = 100}));
    CHECK(original.same_file_as({.inode = 7, .device = 1, .born_ns = 0}));
    CHECK_FALSE(original.same_file_as({.inode = 7, .device = 2, .born_ns = 0}));
}

// ---- one owner ----------------------------------------------------------------------------------

TEST_CASE("a second handle of this process is refused by whatever name it comes") {
    temporary_folder const folder;
    outsider other(folder / "journal");
    auto s = sqlite_storage::create(folder / "journal").value();
    REQUIRE(s.insert(numbered(1)));
    REQUIRE(s.flush());
    std::filesystem::create_symlink(folder.path(), folder / "link");
    auto const check_refused = [](std::string const& path) {
        CAPTURE(path);
        auto const second = sqlite_storage::open(path);
        CHECK(rule_of(second) == rule::journal_in_use);
        CHECK(second.error().detail().ends_with("is in use by this process"));
    };
    check_refused(folder / "journal");
    check_refused(folder / "./link/journal");
    check_refused(std::filesystem::relative(folder / "journal").string());
    std::filesystem::create_hard_link(folder / "journal", folder / "second");
    check_refused(folder / "second");
    std::filesystem::remove(folder / "second");
    CHECK(rule_of(sqlite_storage::create(folder / "journal")) == rule::journal_exists);

    // None of that has cost the first one SQLite's lock, by which it is known.
    CHECK(other.tries().find("by process " + std::to_string(::getpid())) != std::string::npos);
    REQUIRE(s.insert(numbered(2)));
    CHECK(s.flush());
}

TEST_CASE("the lock outlives a descriptor of the file that this process opened and closed") {
    temporary_folder const folder;
    outsider other(folder / "journal");
    auto s = sqlite_storage::create(folder / "journal").value();
    CHECK_FALSE(bytes_of(folder / "journal").empty()); // now SQLite's own locks are gone
    // Nobody can tell any more who it is, so nobody is named.
    CHECK(other.tries() == folder / "journal" + " is in use by another process");
}

TEST_CASE("another process hears who has the journal, and gets it once it is closed") {
    temporary_folder const folder;
    outsider other(folder / "journal");
    auto s = std::optional(sqlite_storage::create(folder / "journal").value());
    std::string name = bytes_of("/proc/self/comm");
    name.resize(name.find('\n'));
    CHECK(other.tries() == folder / "journal" + " is in use by process " +
                               std::to_string(::getpid()) + " (" + printable(name) + ")");
    s.reset();
    CHECK(other.tries() == "opened");
    CHECK(sqlite_storage::open(folder / "journal", {.wait = 10s})); // the other one closes it
}

TEST_CASE("a shell that looks at the journal is an owner too") {
    temporary_folder const folder;
    make_journal(folder / "journal");
    other_process shell([&](auto tell) {
        sqlite3* db = nullptr;
        sqlite3_open(folder.operator/("journal").c_str(), &db);
        sqlite3_exec(db, "BEGIN; SELECT * FROM operations", nullptr, nullptr, nullptr);
        tell("looking");
        ::pause();
        return 0;
    });
    REQUIRE(shell.hear() == "looking");
    auto const opened = sqlite_storage::open(folder / "journal");
    CHECK(rule_of(opened) == rule::journal_in_use);
    CHECK(opened.error().detail().find("by process " + std::to_string(shell.id()) + " (") !=
          std::string_view::npos);
    shell.kill();
    CHECK(sqlite_storage::open(folder / "journal"));
}

TEST_CASE("open waits for the owner to go, as long as it was told to") {
    temporary_folder const folder;
    make_journal(folder / "journal");
    other_process owner([&](auto tell) {
        auto s = sqlite_storage::open(folder / "journal");
        tell(s ? "has it" : "failed");
        ::usleep(300'000);
        return 0;
    });
    REQUIRE(owner.hear() == "has it");
    auto const start = std::chrono::steady_clock::now();
    CHECK(rule_of(sqlite_storage::open(folder / "journal")) == rule::journal_in_use);
    CHECK(rule_of(sqlite_storage::open(folder / "journal", {.wait = -1ms})) ==
          rule::journal_in_use);
    CHECK(rule_of(sqlite_storage::open(folder / "journal", {.wait = 50ms})) ==
          rule::journal_in_use);
    CHECK(std::chrono::steady_clock::now() - start >= 50ms);
    CHECK(sqlite_storage::open(folder / "journal", {.wait = milliseconds::max()}));
    CHECK(owner.wait() == 0);
}

TEST_CASE("a program that is started does not inherit the journal") {
    temporary_folder const folder;
    auto s = sqlite_storage::create(folder / "journal").value();
    REQUIRE(s.insert(numbered(1)));
    REQUIRE(s.flush());
    int found = 0;
    for (auto const& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
        std::error_code gone;
        auto const target = std::filesystem::read_symlink(entry, gone).string();
        if (!target.starts_with(folder.path())) continue;
        ++found;
        CHECK((::fcntl(std::stoi(entry.path().filename()), F_GETFD) & FD_CLOEXEC) != 0);
    }
    CHECK(found == 3); // ours, SQLite's, and the log
}

TEST_CASE("a forked child cannot use the storage, and harms nothing when it closes it") {
    temporary_folder const folder;
    auto s = std::optional(sqlite_storage::create(folder / "journal").value());
    REQUIRE(s->insert(numbered(1)));
    REQUIRE(s->flush());
    REQUIRE(s->insert(numbered(2)));
    other_process child([&](auto tell) {
        for (rule r :
             {rule_of(s->insert(numbered(3))), rule_of(s->find({"scope", "1"})),
              rule_of(s->flush()), rule_of(s->bind("name", {"scope", "1"})),
              rule_of(s->shrink_settled(time_point::max(), 1)), rule_of(s->backup(folder / "copy")),
              rule_of(s->is_current({"s", "k"}, {})), rule_of(s->replace(numbered(1), {1, 1})),
              rule_of(s->visit_unsettled({}, [](record const&) {}))}) {
            if (r != rule::storage_failed) tell(std::string(to_string(r)));
        }
        s.reset();
        return 0;
    });
    CHECK(child.hear_all().empty());
    CHECK(child.wait() == 0);
    CHECK(there(*s, 2));
    REQUIRE(s->insert(numbered(3)));
    CHECK(s->flush());
    s.reset();
    auto again = sqlite_storage::open(folder / "journal").value();
    CHECK(there(again, 3));
}

TEST_CASE("a forked child closes it even where other threads of its parent held every mutex") {
    temporary_folder const folder;
    auto s = std::optional(sqlite_storage::create(folder / "journal").value());
    REQUIRE(s->insert(numbered(1)));
    std::binary_semaphore held(0), forked(0);
    std::jthread const busy([&] {
        std::scoped_lock files(detail::open_files::of_this_process().mutex);
        sqlite3_mutex* const memory = sqlite3_mutex_alloc(SQLITE_MUTEX_STATIC_MEM);
        sqlite3_mutex_enter(memory);
        held.release();
        forked.acquire();
        sqlite3_mutex_leave(memory);
    });
    held.acquire();
    other_process child([&](auto) {
        ::alarm(20); // the test fails then, and does not wait for ever
        s.reset();
        return 0;
    });
    CHECK(child.wait() == 0);
    forked.release();
    CHECK(s->flush());
}

// ---- between two lives --------------------------------------------------------------------------

TEST_CASE("closing in order keeps what was not flushed") {
    temporary_folder const folder;
    record r = numbered(1);
    r.written_at = time_point(7ms);
    {
        auto s = sqlite_storage::create(folder / "journal").value();
        REQUIRE(s.insert(r));
    }
    CHECK_FALSE(std::filesystem::exists(folder / "journal-wal"));
    auto s = sqlite_storage::open(folder / "journal").value();
    CHECK(there(s, 1));
    CHECK(s.facts().high_water == r.written_at);
}

TEST_CASE("after a kill everything flushed is there, and nothing else") {
    temporary_folder const folder;
    other_process owner([&](auto tell) {
        auto s = sqlite_storage::create(folder / "journal").value();
        for (std::uint64_t n = 1; n <= 3; ++n)
            s.insert(numbered(n)).value();
        s.flush().value();
        s.insert(numbered(4)).value();
        s.replace(full_record({"scope", "1"}, 1, {1, 2}), {1, 1}).value();
        tell("flushed");
        ::pause();
        return 0;
    });
    REQUIRE(owner.hear() == "flushed");
    owner.kill();
    auto s = sqlite_storage::open(folder / "journal").value();
    CHECK(s.facts().epoch == 2);
    CHECK(same(*s.find({"scope", "1"}).value(), numbered(1)));
    CHECK(there(s, 3));
    CHECK_FALSE(there(s, 4));
}

TEST_CASE("whenever it is killed, what it was told is durable is there") {
    constexpr int kills = 30;
    temporary_folder const folder;
    make_journal(folder / "journal");
    std::uint64_t told = 1;
    for (int n = 0; n < kills; ++n) {
        other_process owner([&](auto tell) {
            auto s = sqlite_storage::open(folder / "journal").value();
            for (std::uint64_t next = told + 1;; ++next) {
                s.insert(numbered(next)).value();
                s.flush().value();
                tell(".");
            }
            return 0;
        });
        told += owner.hear().size();
        ::usleep(static_cast<useconds_t>(n * 137 % 1'000));
        owner.kill();
        told += owner.hear_all().size();
        auto s = sqlite_storage::open(folder / "journal").value();
        CHECK(s.facts().epoch == 3U + 2U * static_cast<unsigned>(n));
        for (std::uint64_t i = 1; i <= told; ++i)
            REQUIRE(there(s, i));
        if (there(s, told + 1)) ++told; // flushed, and killed before it could say so
        CHECK_FALSE(there(s, told + 1));
    }
    CHECK(told > kills);
}

/// What format 1 could not say has its default.
record as_of_format_1(record r) {
    r.hook_due = r.tombstone = false;
    r.edit_notes([](case_notes& n) {
        n.former_keys.clear();
        n.set_aside.clear();
        for (auto& d : n.decisions)
            d.id.clear();
    });
    return r;
}

TEST_CASE("a journal of format 1 is read as it was written, and goes on in this format") {
    // Made once, with full_record and a bound name, by the version that brought this format.
    record const kept = as_of_format_1(full_record({"scope", "key"}, 7, {41, 9}));
    record const next = full_record({"scope", "key"}, 7, {42, 1});
    for (bool in_place : {true, false}) {
        CAPTURE(in_place);
        temporary_folder const folder;
        tests::make_from_sql(folder / "old", "sqlite_format_1.sql");
        if (in_place) tests::put_marks(folder / "old");
        CHECK(bytes_of(folder / "old")[63] == 1);
        {
            auto opened = in_place ? sqlite_storage::open(folder / "old")
                                   : sqlite_storage::open_restored(folder / "old");
            REQUIRE_MESSAGE(opened, opened.error().message());
            CHECK(bytes_of(folder / "old")[63] == 2); // an older program refuses it from now on
            auto s = std::move(opened).value();
            CHECK(s.facts().epoch == 42);
            CHECK(s.facts().high_water == kept.written_at);
            auto const found = s.find({"scope", "key"});
            REQUIRE(found.value());
            CHECK(same(*found.value(), kept));
            CHECK_FALSE(s.bind(std::string_view("a\0name", 6), {"scope", "other"}).value());
            REQUIRE(s.insert(full_record({"scope", "new"}, 8)));
            REQUIRE(s.replace(next, kept.version));
        }
        auto s = sqlite_storage::open(folder / "old").value();
        CHECK(s.facts().epoch == 43);
        CHECK(same(*s.find({"scope", "key"}).value(), next));
        CHECK(same(*s.find({"scope", "new"}).value(), full_record({"scope", "new"}, 8)));
        CHECK(s.visit_unsettled({}, [](record const&) {}).value() == 2);
    }
}

TEST_CASE("an upgraded journal is what a new one is") {
    temporary_folder const folder;
    tests::make_from_sql(folder / "old", "sqlite_format_1.sql");
    CHECK(sqlite_storage::open_restored(folder / "old"));
    make_journal(folder / "new");
    auto const ask_both = [&](std::string const& sql) {
        CHECK(asked(folder / "old", sql) == asked(folder / "new", sql));
    };
    ask_both("SELECT group_concat(replace(replace(sql, ' ', ''), char(10), ''), ';') FROM "
             "(SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name)");
    ask_both(
        "SELECT group_concat(reason || sentence) FROM (SELECT * FROM reasons ORDER BY reason)");
    CHECK(asked(folder / "old", "PRAGMA integrity_check") == "ok");
}

TEST_CASE("a table of somebody's in the way of an upgrade leaves the journal as it was") {
    temporary_folder const folder;
    tests::make_from_sql(folder / "old", "sqlite_format_1.sql");
    in_shell(folder / "old", "CREATE TABLE notes (mine)");
    CHECK(rule_of(sqlite_storage::open_restored(folder / "old")) == rule::storage_failed);
    CHECK(bytes_of(folder / "old")[63] == 1);
    in_shell(folder / "old", "DROP TABLE notes");
    CHECK(sqlite_storage::open_restored(folder / "old"));
}

TEST_CASE("a journal of format 2 is read as it was written") {
    // Made once, with full_record and a bound name, by the version that brought this format.
    temporary_folder const folder;
    tests::make_from_sql(folder / "old", "sqlite_format_2.sql");
    auto opened = sqlite_storage::open_restored(folder / "old");
    REQUIRE_MESSAGE(opened, opened.error().message());
    auto s = std::move(opened).value();
    CHECK(s.facts().epoch == 42);
    CHECK(s.facts().high_water == full_record({"scope", "key"}, 7).written_at);
    auto const found = s.find({"scope", "key"});
    REQUIRE(found.value());
    CHECK(same(*found.value(), full_record({"scope", "key"}, 7, {41, 9})));
    CHECK_FALSE(s.bind(std::string_view("a\0name", 6), {"scope", "other"}).value());
}

TEST_CASE("what shrinks leaves room for what comes later") {
    constexpr std::uint64_t many = 300;
    temporary_folder const folder;
    auto s = std::optional(sqlite_storage::create(folder / "journal").value());
    auto const settled = [](std::uint64_t n) {
        record r = numbered(n);
        intent inside = *r.intent;
        inside.request.assign(4'000, 'x');
        r.intent = std::make_shared<intent const>(inside);
        r.state = state_id::confirmed;
        return r;
    };
    for (std::uint64_t n = 1; n <= many; ++n)
        REQUIRE(s->insert(settled(n)));
    s.reset();
    auto const before = std::filesystem::file_size(folder / "journal");
    s.emplace(sqlite_storage::open(folder / "journal").value());
    CHECK(s->shrink_settled(time_point::max(), SIZE_MAX).value() == many);
    for (std::uint64_t n = 1; n <= many; ++n)
        REQUIRE(s->insert(settled(many + n)));
    s.reset();
    CHECK(std::filesystem::file_size(folder / "journal") < before + before / 4);
}

TEST_CASE("a person reads what is unsettled in words") {
    temporary_folder const folder;
    {
        auto s = sqlite_storage::create(folder / "journal").value();
        record r = numbered(1);
        r.state = state_id::in_review;
        r.reason = rule::several_effects;
        r.begun_at = time_point(1'700'000'000'000ms);
        record done = numbered(2);
        done.state = state_id::confirmed;
        REQUIRE(s.insert(r));
        REQUIRE(s.insert(done));
    }
    CHECK(asked(folder / "journal",
                "SELECT group_concat(scope || '/' || key || ' ' || state || ': ' || reason "
                "|| ', begun ' || begun_at || ' ' || request) FROM unsettled") ==
          "scope/1 in_review: ambiguous: more than one effect of ours exists, begun "
          "2023-11-14 22:13:20 {\"item\":7}");
}

TEST_SUITE_END();

} // namespace
