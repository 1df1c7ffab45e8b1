// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)

// What examples/journal_tool promises, by running it on journals that the library made.

#include "../../examples/common/temporary_directory.hpp"
#include "spawned.hpp"

#include <indoubt/adapter/log_storage.hpp>
#include <indoubt/adapter/sqlite_storage.hpp>
#include <indoubt/testing/sample_records.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef JOURNAL_TOOL_PROGRAM
#error "JOURNAL_TOOL_PROGRAM is the path of the command under test"
#endif

namespace {

using namespace std::string_view_literals;
using indoubt::identity;
using indoubt::log_storage;
using indoubt::record;
using indoubt::rule;
using indoubt::sqlite_storage;
using indoubt::state_id;
namespace fs = std::filesystem;

bool has(std::string_view text, std::string_view part) {
    return text.find(part) != std::string_view::npos;
}

std::string bytes_of(fs::path const& file) {
    std::ifstream in(file, std::ios::binary);
    std::string bytes(static_cast<std::size_t>(fs::file_size(file)), '\0');
    in.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    return bytes;
}

std::vector<std::string> sorted_lines_of(fs::path const& file) {
    std::ifstream in(file, std::ios::binary);
    std::vector<std::string> lines;
    for (std::string line; std::getline(in, line);)
        lines.push_back(line);
    std::ranges::sort(lines);
    return lines;
}

void overwrite(fs::path const& file, std::size_t at, std::string_view bytes) {
    std::fstream out(file, std::ios::binary | std::ios::in | std::ios::out);
    out.seekp(static_cast<std::streamoff>(at));
    out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

struct finished {
    int status = -1;
    std::string out, err;
};

struct scene {
    temporary_directory folder{"journal_tool"};

    fs::path operator/(std::string_view name) const { return folder / name; }

    finished run(std::vector<std::string> words) const {
        words.insert(words.begin(), JOURNAL_TOOL_PROGRAM);
        auto const out = folder / "out", err = folder / "err";
        pid_t const child = spawned(std::move(words), out, err);
        int status = 0;
        REQUIRE(::waitpid(child, &status, 0) == child);
        return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, bytes_of(out), bytes_of(err)};
    }
};

bool nothing_unfinished(scene const& s) {
    return std::ranges::none_of(fs::directory_iterator((s / "any").parent_path()),
                                [](auto& left) { return has(left.path().string(), "unfinished"); });
}

// ---- journals -----------------------------------------------------------------------------------

constexpr auto name = "receipt\0shop\0r-1\0"sv;

record order(std::uint64_t number, state_id state) {
    auto r = indoubt::testing::plain_record({"shop", "order-" + std::to_string(number)}, number);
    r.state = state;
    r.begun_at = r.written_at =
        indoubt::time_point(indoubt::milliseconds(1'700'000'000'000 + 1'000 * number));
    return r;
}

/// One operation in each state, one that was changed, a tombstone, and one with all there is.
std::vector<record> orders() {
    std::vector<record> all;
    for (std::uint64_t n = 1; n <= 7; ++n)
        all.push_back(order(n, state_id{static_cast<std::uint8_t>(n)}));
    all[2].receipt = "r-1\n\x80";
    all[2].attempts.push_back({.sent_at = all[2].begun_at, .guarantee = {}});
    all[5].reason = rule::several_effects;
    all.push_back(order(8, state_id::pending));
    all.push_back(order(9, state_id::confirmed));
    all.back().tombstone = true;
    all.push_back(indoubt::testing::full_record({"shop", "order \xc3\xa9"}, 10));
    all.back().tombstone = false;
    return all;
}

template <class Storage> void fill(Storage& s, std::vector<record>& all) {
    for (record const& r : all) {
        REQUIRE(s.insert(r));
        REQUIRE(s.flush());
    }
    record& changed = all[7];
    auto const before = changed.version;
    changed.version = {s.facts().epoch, 2};
    changed.state = state_id::uncertain;
    changed.attempts.push_back({.sent_at = changed.begun_at, .guarantee = {}});
    changed.claim = {s.facts().epoch, 77};
    REQUIRE(s.replace(changed, before));
    REQUIRE(s.bind(name, all[2].identity()));
    REQUIRE(s.flush());
}

template <class Storage> std::vector<record> make(fs::path const& path) {
    auto all = orders();
    {
        auto made = Storage::create(path);
        REQUIRE_MESSAGE(made, made.error().message());
        fill(made.value(), all);
    }
    REQUIRE(Storage::open(path)); // a second life, which is a second segment of a log
    return all;
}

/// All files below, with the time of their last change.
using state_of_files = std::map<std::string, std::pair<std::string, fs::file_time_type>>;
state_of_files files_at(fs::path const& path) {
    state_of_files all;
    auto const add = [&](fs::path const& p) {
        all[p.string()] = {bytes_of(p), fs::last_write_time(p)};
    };
    for (auto const& beside : fs::directory_iterator(path.parent_path())) {
        bool const of_it = beside.path().string().starts_with(path.string());
        if (of_it && beside.is_regular_file()) add(beside.path());
    }
    if (fs::is_directory(path)) {
        for (auto const& inside : fs::directory_iterator(path))
            add(inside.path());
    }
    return all;
}

TEST_SUITE_BEGIN("journal_tool");

TEST_CASE_TEMPLATE("what is whole is shown, counted and verified, and not changed", storage,
                   log_storage, sqlite_storage) {
    scene const s;
    auto const path = s / "journal";
    make<storage>(path);
    auto const before = files_at(path);

    auto const seen = s.run({"inspect", path});
    CHECK(seen.status == 0);
    CHECK(seen.err.empty());
    CHECK(std::ranges::count(seen.out, '\n') == 10);
    CHECK(has(seen.out, "shop/order-3  confirmed  attempts 1  receipt \"r-1\\x0a\\x80\"  "
                        "begun 2023-11-14T22:13:23.000Z"));
    CHECK(has(seen.out, "shop/order-6  in_review  reason \"ambiguous: "));
    CHECK(has(seen.out, "shop/order-8  uncertain  attempts 1"));
    CHECK(!has(seen.out, "item"));

    auto const some = s.run({"inspect", path, "--state", "confirmed", "--most", "1", "--requests"});
    CHECK(some.status == 0);
    CHECK(std::ranges::count(some.out, '\n') == 1);
    CHECK(has(some.out, R"(request "{"item":7}")"));

    auto const sound = s.run({"verify", path});
    CHECK(sound.status == 0);
    CHECK(sound.out == "10 operations, 1 names, whole\n");

    auto const counts = s.run({"stats", path});
    CHECK(counts.status == 0);
    CHECK(has(counts.out, "operations 10\n  pending 1\n  uncertain 2\n  confirmed 2\n"
                          "  rejected 1\n  cancelled 1\n  in_review 2\n  abandoned 1\n"
                          "tombstones 1\nnames 1\n"));
    CHECK(has(counts.out, "oldest unsettled shop/order \\xc3\\xa9  in_review"));

    auto const saved = s.run({"salvage", path, s / "lines"});
    CHECK(saved.status == 0);
    CHECK(saved.out == "10 operations, 1 names, nothing was skipped\n");
    CHECK(sorted_lines_of(s / "lines").size() == 11);
    CHECK(files_at(path) == before);
    REQUIRE(storage::open(path));
}

TEST_CASE("both kinds are salvaged in the same words") {
    scene const s;
    make<log_storage>(s / "log");
    make<sqlite_storage>(s / "sqlite");
    CHECK(s.run({"salvage", s / "log", s / "of_log"}).status == 0);
    CHECK(s.run({"salvage", s / "sqlite", s / "of_sqlite"}).status == 0);
    CHECK(sorted_lines_of(s / "of_log") == sorted_lines_of(s / "of_sqlite"));
    CHECK(has(bytes_of(s / "of_log"), R"("name":"receipt\u0000shop\u0000r-1\u0000")"));
}

TEST_CASE_TEMPLATE("a journal in use is refused, and left alone", storage, log_storage,
                   sqlite_storage) {
    scene const s;
    auto const path = s / "journal";
    auto const open = storage::create(path);
    REQUIRE(open);
    for (char const* command : {"inspect", "verify", "stats"}) {
        auto const refused = s.run({command, path});
        CHECK(refused.status == 2);
        CHECK(has(refused.err, "the journal is in use"));
    }
    CHECK(s.run({"salvage", path, s / "lines"}).status == 2);
    CHECK(s.run({"convert", path, s / "new", "--to", "log"}).status == 2);
    CHECK(!fs::exists(s / "new"));
    CHECK(fs::exists(path));
}

TEST_CASE("what is no journal is refused") {
    scene const s;
    std::ofstream(s / "list") << "shopping list";
    fs::create_directory(s / "folder");
    for (char const* path : {"list", "folder", "nothing"}) {
        CHECK(s.run({"verify", s / path}).status == 2);
        CHECK(s.run({"salvage", s / path, s / "lines"}).status == 2);
        CHECK(!fs::exists(s / "lines"));
    }
    CHECK(s.run({"inspect", s / "list", "--state", "none"}).status == 2);
    CHECK(s.run({"--help"}).status == 0);
}

// ---- a damaged log ------------------------------------------------------------------------------

TEST_CASE("a frame of a log that was durable and is not whole") {
    scene const s;
    auto const path = s / "journal";
    make<log_storage>(path);
    auto const segment = path / "00000002.log";
    overwrite(segment, 8192 + 70, "?"); // the first order, which was pending: without a copy
    auto const before = files_at(path);

    for (char const* command : {"verify", "inspect", "stats"}) {
        auto const bad = s.run({command, path});
        CHECK(bad.status == 1);
        CHECK(has(bad.err, segment.string() + " at offset 8192 "));
    }
    auto const refused = s.run({"convert", path, s / "new", "--to", "sqlite"});
    CHECK(refused.status == 1);
    CHECK(!fs::exists(s / "new"));

    auto const saved = s.run({"salvage", path, s / "lines"});
    CHECK(saved.status == 1);
    CHECK(has(saved.out, segment.string() + " at offset 8192: 512 bytes are in no whole frame"));
    CHECK(has(saved.out, "frames 1 to 1 are missing"));
    CHECK(has(saved.out, "\n9 operations, 1 names; "));
    auto const lines = bytes_of(s / "lines");
    CHECK(!has(lines, R"("key":"order-1")"));
    for (char const* key : {"order-2", "order-7", "order-8", "order \xc3\xa9"})
        CHECK(has(lines, R"("key":")" + std::string(key) + '"'));
    CHECK(files_at(path) == before);
}

TEST_CASE("a frame of a log that its copy repairs") {
    scene const s;
    auto const path = s / "journal";
    make<log_storage>(path);
    auto const segment = path / "00000002.log";
    overwrite(segment, 8192 + 512 + 70, "?"); // the second order, which was uncertain
    auto const before = files_at(path);

    auto const told = s.run({"verify", path});
    CHECK(told.status == 1);
    CHECK(has(told.out, segment.string() + " at offset 8704: is not whole; its copy is"));
    CHECK(has(told.out, "10 operations, 1 names, not whole\n"));
    CHECK(has(s.run({"inspect", path}).out, "shop/order-2  uncertain"));
    auto const saved = s.run({"salvage", path, s / "lines"});
    CHECK(has(saved.out, "at offset 8704: not whole, or not to be checked: taken"));
    CHECK(has(saved.out, "\n10 operations, 1 names"));
    CHECK(files_at(path) == before);
}

TEST_CASE("what nothing but a full check finds in a log") {
    scene const s;
    auto const path = s / "journal";
    make<log_storage>(path);
    auto const segment = path / "00000002.log";
    SUBCASE("a copy") {
        overwrite(segment, 8192 + 1024 + 70, "?");
        CHECK(has(s.run({"verify", path}).out, "at offset 9216: the copy of a frame is not whole"));
    }
    SUBCASE("a header") {
        overwrite(segment, 4096 + 70, "?");
        CHECK(has(s.run({"verify", path}).out, "at offset 4096: a copy of the header"));
    }
    SUBCASE("what was being written when the power went") {
        overwrite(path / "00000003.log", 8192, "?");
        CHECK(has(s.run({"verify", path}).out, "00000003.log at offset 8192: begins what"));
    }
    CHECK(s.run({"verify", path}).status == 1);
    REQUIRE(log_storage::open(path));
}

TEST_CASE("a log without its first segment is salvaged without intents") {
    scene const s;
    auto const path = s / "journal";
    auto const all = make<log_storage>(path);
    {
        auto again = log_storage::open(path);
        REQUIRE(again);
        record later = all[7];
        later.version = {again.value().facts().epoch, 1};
        later.receipt = "r-8";
        REQUIRE(again.value().replace(later, all[7].version));
        REQUIRE(again.value().flush());
    }
    fs::remove(path / "00000002.log");
    CHECK(s.run({"verify", path}).status == 1);
    auto const saved = s.run({"salvage", path, s / "lines"});
    CHECK(saved.status == 1);
    CHECK(has(saved.out, " are missing"));
    auto const lines = bytes_of(s / "lines");
    CHECK(has(lines, R"({"digest_high":)"));
    CHECK(!has(lines, R"("key")"));
    CHECK(has(lines, R"("receipt":"r-8")"));
}

TEST_CASE("a salvaged log is not written in, and no file is overwritten") {
    scene const s;
    auto const path = s / "journal";
    make<log_storage>(path);
    auto const before = files_at(path);
    CHECK(s.run({"salvage", path, path / "lines"}).status == 2);
    CHECK(s.run({"salvage", path, path / "lock"}).status == 2);
    CHECK(files_at(path) == before);
}

// ---- a damaged SQLite journal -------------------------------------------------------------------

TEST_CASE("a page of a SQLite journal that cannot be read") {
    scene const s;
    auto const path = s / "journal";
    {
        auto made = sqlite_storage::create(path);
        REQUIRE(made);
        for (std::uint64_t n = 1; n <= 300; ++n)
            REQUIRE(made.value().insert(order(n, state_id::uncertain)));
    }
    // A page of the table `operations`: of a table (13), with keys and states.
    auto const bytes = bytes_of(path);
    constexpr std::size_t page = 4096;
    std::size_t bad = 0;
    for (std::size_t at = page; at < bytes.size(); at += page) {
        std::string_view const here(bytes.data() + at, page);
        if (here[0] == 13 && has(here, "order-150") && has(here, "uncertain")) bad = at;
    }
    REQUIRE(bad != 0);
    overwrite(path, bad, std::string(page, '\xff'));
    auto const before = files_at(path);

    auto const told = s.run({"verify", path});
    CHECK(told.status == 1);
    CAPTURE(told.out);
    CAPTURE(told.err);
    CHECK(has(told.out, path.string() + " at offset " + std::to_string(bad) + ": "));
    CHECK(s.run({"inspect", path}).status == 1);
    CHECK(s.run({"convert", path, s / "new", "--to", "log"}).status == 1);
    CHECK(!fs::exists(s / "new"));
    CHECK(nothing_unfinished(s));

    auto const saved = s.run({"salvage", path, s / "lines"});
    CHECK(saved.status == 1);
    CAPTURE(saved.out);
    CHECK(has(saved.out, "skipped: "));
    auto const lines = bytes_of(s / "lines");
    CHECK(has(lines, R"("key":"order-1",)"));
    CHECK(!has(lines, R"("key":"order-150")"));
    CHECK(has(lines, R"("key":"order-300")"));
    auto const left = std::ranges::count(lines, '\n');
    CHECK(left > 250);
    CHECK(left < 300);
    CHECK(files_at(path) == before);
}

TEST_CASE("the log that a crash left beside a SQLite journal is read, and left as it is") {
    scene const s;
    auto const path = s / "journal";
    std::vector<record> all = orders();
    {
        auto made = sqlite_storage::create(s / "alive");
        REQUIRE(made);
        fill(made.value(), all);
        fs::copy_file(s / "alive", path);
        fs::copy_file(s / "alive-wal", s / "journal-wal");
    }
    auto const before = files_at(path);
    CHECK(s.run({"verify", path}).out == "10 operations, 1 names, whole\n");
    CHECK(has(s.run({"stats", path}).out, "  journal-wal "));
    CHECK(s.run({"salvage", path, s / "lines"}).status == 0);
    CHECK(files_at(path) == before);

    CHECK(s.run({"convert", path, s / "new", "--to", "log"}).status == 0);
    CHECK(fs::exists(s / "journal.retired-wal"));
    CHECK(!fs::exists(s / "journal-wal"));
    REQUIRE(log_storage::open_restored(s / "new"));
}

// ---- conversion ---------------------------------------------------------------------------------

template <class From, class To> void check_conversion(char const* kind) {
    scene const s;
    auto const path = s / "journal", made = s / "new";
    auto const all = make<From>(path);
    std::uint32_t epoch = 0;
    for (int life = 0; life != 3; ++life) {
        auto const open = From::open(path);
        REQUIRE(open);
        auto from = From::open(path); // its own lock
        CHECK(!from);
    }
    {
        auto open = From::open(path);
        REQUIRE(open);
        epoch = open.value().facts().epoch;
    }
    auto const converted = s.run({"convert", path, made, "--to", kind});
    CHECK(converted.err == "");
    CHECK(converted.status == 0);
    CHECK(converted.out == "10 operations, 1 names; open it with open_restored\n");
    CHECK(From::open(path).error().rule() == rule::journal_missing);
    CHECK(fs::exists(s / "journal.retired"));
    CHECK(s.run({"verify", made}).out == "10 operations, 1 names, whole\n");

    auto const refused = To::open(made);
    REQUIRE(!refused);
    CHECK(refused.error().rule() == rule::restored_copy);
    {
        auto taken = To::open_restored(made);
        REQUIRE_MESSAGE(taken, taken.error().message());
        auto& storage = taken.value();
        CHECK(storage.facts().epoch > epoch);
        CHECK(storage.facts().restored);
        for (record r : all) {
            auto const found = storage.find(r.identity());
            REQUIRE(found);
            REQUIRE(found.value());
            r.restored = r.restored || indoubt::may_have_gone_on(r);
            CHECK(indoubt::testing::same(*found.value(), r));
        }
        CHECK(storage.bind(name, all[2].identity()).value());
        CHECK(!storage.bind(name, all[3].identity()).value());
    }
    REQUIRE(To::open(made));
    CHECK(nothing_unfinished(s));
}

TEST_CASE("a log becomes a SQLite journal") {
    check_conversion<log_storage, sqlite_storage>("sqlite");
}
TEST_CASE("a SQLite journal becomes a log") {
    check_conversion<sqlite_storage, log_storage>("log");
}
TEST_CASE("a journal becomes a new one of its own kind") {
    check_conversion<log_storage, log_storage>("log");
    check_conversion<sqlite_storage, sqlite_storage>("sqlite");
}

TEST_CASE("a log that was compacted") {
    scene const s;
    auto const path = s / "journal";
    make<log_storage>(path);
    CHECK(s.run({"salvage", path, s / "before"}).status == 0);
    {
        auto open = log_storage::open(path);
        REQUIRE(open);
        REQUIRE(open.value().compact());
    }
    REQUIRE(!fs::exists(path / "00000001.log"));
    CHECK(s.run({"verify", path}).out == "10 operations, 1 names, whole\n");
    CHECK(s.run({"salvage", path, s / "after"}).status == 0);
    CHECK(sorted_lines_of(s / "before") == sorted_lines_of(s / "after"));
    CHECK(s.run({"convert", path, s / "new", "--to", "sqlite"}).status == 0);
    CHECK(s.run({"salvage", s / "new", s / "converted"}).status == 0);
    CHECK(sorted_lines_of(s / "before") == sorted_lines_of(s / "converted"));
}

TEST_CASE("more than one flush takes, and a path that means something in an address") {
    scene const s;
    auto const path = s / "a?b#c%20d";
    {
        auto made = sqlite_storage::create(path);
        REQUIRE(made);
        for (std::uint64_t n = 1; n <= 2'500; ++n)
            REQUIRE(made.value().insert(order(n, state_id::confirmed)));
    }
    CHECK(s.run({"convert", path, s / "log", "--to", "log"}).status == 0);
    CHECK(s.run({"convert", s / "log", s / "again", "--to", "sqlite"}).status == 0);
    CHECK(s.run({"salvage", path.string() + ".retired", s / "first"}).status == 0);
    CHECK(s.run({"salvage", s / "again", s / "last"}).status == 0);
    CHECK(sorted_lines_of(s / "first").size() == 2'500);
    CHECK(sorted_lines_of(s / "first") == sorted_lines_of(s / "last"));
}

TEST_CASE("nothing is converted over something else") {
    scene const s;
    auto const path = s / "journal";
    make<log_storage>(path);
    auto const before = files_at(path);
    std::ofstream(s / "new") << "a file";
    CHECK(s.run({"convert", path, s / "new", "--to", "sqlite"}).status == 2);
    CHECK(bytes_of(s / "new") == "a file");
    std::ofstream(s / "journal.retired") << "a file";
    CHECK(s.run({"convert", path, s / "other", "--to", "sqlite"}).status == 2);
    CHECK(!fs::exists(s / "other"));
    fs::remove(s / "journal.retired");
    CHECK(files_at(path) == before);
    REQUIRE(log_storage::open(path));
}

TEST_SUITE_END();

} // namespace
