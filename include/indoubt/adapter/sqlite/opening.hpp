// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef INDOUBT_ADAPTER_SQLITE_OPENING_HPP
#define INDOUBT_ADAPTER_SQLITE_OPENING_HPP

#include <indoubt/adapter/sqlite/connection.hpp>
#include <indoubt/adapter/sqlite/file.hpp>
#include <indoubt/adapter/sqlite/schema.hpp>
#include <indoubt/adapter/sqlite/upgrade.hpp>
#include <indoubt/core/error.hpp>
#include <indoubt/policy/storage.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <fcntl.h>
#include <sqlite3.h>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

// How a journal comes to be open. Whatever is not surely a whole journal in its place is refused
// before anything is changed: reading one as "nothing happened yet" is how work is done twice.

namespace indoubt::detail {

/// What an SQLite code means while a journal is being opened.
inline error about_sqlite(int code, owned_file const& file, std::string_view doing) {
    std::string what(doing);
    what.append(": ").append(sqlite3_errstr(code));
    switch (code & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED: return file.in_use();
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB: return about_file(rule::journal_damaged, file.path(), what, code);
    default: return about_file(rule::storage_failed, file.path(), what, code);
    }
}

/// Why this SQLite must not be used; empty if it may. 3.37 is the first with STRICT tables, which
/// keep a column to its type. (Releases up to 3.51.2 can damage a journal when two connections
/// write its log; a journal has one, and nobody else gets in.)
inline std::string_view objection_to_sqlite(int version, int threads) {
    constexpr int first_with_strict_tables = 3'037'000;
    if (version < first_with_strict_tables) return "needs SQLite 3.37 or newer";
    if (threads == 0) return "needs an SQLite that was built for threads";
    return {};
}

inline error newer_format(owned_file const& file, std::uint32_t format) {
    std::string what = "has format ";
    what.append(std::to_string(format)).append(", this program knows ");
    what.append(std::to_string(journal_format));
    return about_file(rule::newer_format, file.path(), what);
}

/// Looks at the first bytes of the file without SQLite, which would begin to repair it.
///
/// Errors: not_a_journal, newer_format, storage_failed.
inline result<void> check_header(owned_file const& file) {
    std::array<char, 100> header{};
    ssize_t got = 0;
    do {
        got = ::pread(file.descriptor(), header.data(), header.size(), 0);
    } while (got < 0 && errno == EINTR);
    int const cause = errno;
    std::string_view const bytes(header.data(), header.size());
    auto const number_at = [&](std::size_t at) {
        std::uint32_t n = 0;
        for (char c : bytes.substr(at, 4))
            n = n << 8U | static_cast<unsigned char>(c);
        return n;
    };
    auto const refused = [&](rule why, std::string_view what) {
        return about_file(why, file.path(), what);
    };
    if (got < 0) return about_file(rule::storage_failed, file.path(), "cannot be read", cause);
    if (got == 0) return refused(rule::not_a_journal, "is empty: never written, or cut off");
    if (std::ranges::count(bytes, '\0') == 100)
        return refused(rule::not_a_journal, "begins with zeros: never written, or overwritten");
    using namespace std::string_view_literals;
    if (got < 100 || !bytes.starts_with("SQLite format 3\0"sv))
        return refused(rule::not_a_journal, "is not an SQLite database");
    if (number_at(68) != journal_application_id)
        return refused(rule::not_a_journal, "is an SQLite database, but not a whole journal");
    if (number_at(60) > journal_format) return newer_format(file, number_at(60));
    return success();
}

/// Opens the file with SQLite. If there is a log, closing the file leaves it as it is, until that
/// is changed; if there is none, no empty one is left.
inline result<sqlite_connection> connect(owned_file const& file) {
    if (auto const why = objection_to_sqlite(sqlite3_libversion_number(), sqlite3_threadsafe());
        !why.empty()) {
        return about_file(rule::storage_failed, file.path(), why);
    }
    sqlite3* raw = nullptr;
    int code = sqlite3_open_v2(file.path().c_str(), &raw,
                               SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW |
                                   SQLITE_OPEN_PRIVATECACHE | SQLITE_OPEN_EXRESCODE,
                               nullptr);
    sqlite_connection db(raw);
    struct stat log{};
    bool const has_log = ::lstat((file.path() + "-wal").c_str(), &log) == 0 && log.st_size != 0;
    std::array const settings{std::pair{SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, has_log ? 1 : 0},
                              std::pair{SQLITE_DBCONFIG_DEFENSIVE, 1},
                              std::pair{SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
                              std::pair{SQLITE_DBCONFIG_ENABLE_TRIGGER, 0}};
    for (auto [setting, value] : settings) {
        if (code == SQLITE_OK) code = sqlite3_db_config(db.get(), setting, value, nullptr);
    }
    if (code != SQLITE_OK) return about_sqlite(code, file, "cannot be opened");
    int moved = 0;
    code = sqlite3_file_control(db.get(), nullptr, SQLITE_FCNTL_HAS_MOVED, &moved);
    // SQLite opened the path; this is the same file only if the path leads to both.
    if (code != SQLITE_OK || moved != 0 || !file.in_place())
        return about_file(rule::storage_failed, file.path(), "was replaced while it was opened");
    return db;
}

/// Opens a draft. It needs no log and no file beside it: until it is whole, nobody has its name.
inline result<sqlite_connection> connect_draft(owned_file const& file) {
    BOOST_OUTCOME_TRY(auto db, connect(file));
    int const code = sqlite_execute(db.get(), "PRAGMA locking_mode = EXCLUSIVE;"
                                              "PRAGMA journal_mode = MEMORY");
    if (code != SQLITE_OK) return about_sqlite(code, file, "cannot be set up");
    return db;
}

/// Sets what the promises rest on, and asks whether it was taken: SQLite ignores in silence what
/// it cannot do.
inline result<void> configure(sqlite3* db, owned_file const& file) {
    struct setting {
        std::string_view name, value, answer;
    };
    // Without the exclusive lock first, the log would be shared through one more file.
    constexpr std::array settings{setting{"locking_mode", "EXCLUSIVE", "exclusive"},
                                  setting{"journal_mode", "WAL", "wal"},
                                  setting{"synchronous", "FULL", "2"},
                                  setting{"fullfsync", "ON", "1"},
                                  setting{"checkpoint_fullfsync", "ON", "1"},
                                  setting{"cell_size_check", "ON", "1"},
                                  setting{"temp_store", "MEMORY", "2"}};
    for (auto const& s : settings) {
        std::string const pragma = "PRAGMA " + std::string(s.name);
        int code = sqlite_execute(db, pragma + " = " + std::string(s.value));
        std::string const answer = sqlite_ask(db, pragma, code);
        if (code != SQLITE_OK) return about_sqlite(code, file, "cannot be set up");
        if (answer != s.answer) {
            std::string what = "cannot be set up: " + std::string(s.name) + " is " + answer;
            return about_file(rule::storage_failed, file.path(), what);
        }
    }
    return success();
}

/// Writes the log of an earlier process over itself and syncs it, before SQLite trusts it. After a
/// sync that failed, what was written may be in the cache and nowhere else, and a second sync
/// would say that all is well.
inline result<void> secure_log(owned_file const& file) {
    std::string const path = file.path() + "-wal";
    int const fd = ::open(path.c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0 && errno == ENOENT) return success();
    std::array<char, std::size_t{1} << 16U> piece;
    bool whole = fd >= 0;
    for (off_t at = 0; whole;) {
        ssize_t const got = ::pread(fd, piece.data(), piece.size(), at);
        if (got < 0 && errno == EINTR) continue;
        if (got == 0) break;
        whole = got > 0 && ::pwrite(fd, piece.data(), static_cast<std::size_t>(got), at) == got;
        at += got;
    }
    whole = whole && ::fsync(fd) == 0;
    int const cause = errno;
    if (fd >= 0) ::close(fd);
    if (!whole) return about_file(rule::storage_failed, path, "cannot be secured", cause);
    return success();
}

/// Writes all of the log into the database and empties it, so that a journal that is open rests on
/// nothing but what it has synced itself.
inline result<void> take_over_log(sqlite3* db, owned_file const& file) {
    int in_log = 0, taken = 0;
    int const code =
        sqlite3_wal_checkpoint_v2(db, nullptr, SQLITE_CHECKPOINT_TRUNCATE, &in_log, &taken);
    if (code != SQLITE_OK) return about_sqlite(code, file, "cannot take over its log");
    return success();
}

/// Makes the tables of a new journal, in one transaction.
inline result<void> make_tables(sqlite3* db, owned_file const& file) {
    std::string sql =
        "BEGIN IMMEDIATE; PRAGMA application_id = " + std::to_string(journal_application_id) +
        "; PRAGMA user_version = " + std::to_string(journal_format) + ";";
    for (auto const& object : journal_objects)
        sql.append(object.sql).append(";");
    int code = sqlite_execute(db, sql);
    if (code == SQLITE_OK) code = put_reasons(db);
    if (code == SQLITE_OK) {
        sqlite_statement const insert(
            db, "INSERT INTO meta VALUES (1, lower(hex(randomblob(16))), 1, 0, ?, ?, ?)", code);
        sqlite_run run(insert.get());
        file_marks const marks = file.marks();
        run.put_bits(marks.inode);
        run.put_bits(marks.device);
        run.put_number(marks.born_ns);
        if (code == SQLITE_OK) code = run.finish();
    }
    if (code == SQLITE_OK) code = sqlite_execute(db, "COMMIT");
    if (code != SQLITE_OK) return about_sqlite(code, file, "cannot be made");
    return success();
}

/// The format of a journal whose tables are exactly those of its format.
///
/// Errors: not_a_journal after a creation that was cut off, newer_format, journal_damaged.
inline result<std::uint32_t> check_tables(sqlite3* db, owned_file const& file) {
    int code = SQLITE_OK;
    // Asked again through SQLite, which by now has taken back an unfinished transaction.
    std::string const id = sqlite_ask(db, "PRAGMA application_id", code);
    sqlite_statement const ask_format(db, "PRAGMA user_version", code);
    sqlite_run answer(ask_format.get());
    auto const format = answer.next() ? answer.take<std::uint32_t>() : 0;
    if (code == SQLITE_OK) code = answer.code();
    if (code != SQLITE_OK) return about_sqlite(code, file, "cannot be read");
    if (id != std::to_string(journal_application_id)) {
        return about_file(rule::not_a_journal, file.path(),
                          "is an SQLite database, but not a whole journal");
    }
    if (format == 0) return about_file(rule::journal_damaged, file.path(), "has no format");
    if (format > journal_format) return newer_format(file, format);
    sqlite_statement const ask(db, "SELECT sql FROM sqlite_schema WHERE name = ?", code);
    for (auto const& object : journal_objects) {
        auto const expected = statement_of(object, format);
        // Views are only read by people. What a later format adds is nobody's concern yet.
        if (expected.empty() || expected.starts_with("CREATE VIEW")) continue;
        sqlite_run run(ask.get());
        run.put_text(object.name);
        bool const as_made =
            code == SQLITE_OK && run.next() && same_statement(run.take_text(), expected);
        if (code == SQLITE_OK) code = run.code();
        if (code != SQLITE_OK) return about_sqlite(code, file, "cannot be read");
        if (!as_made) {
            std::string what = "differs from its format in " + std::string(object.name);
            return about_file(rule::journal_damaged, file.path(), what);
        }
    }
    return format;
}

/// What the one row of `meta` says.
struct journal_meta {
    std::uint32_t epoch = 0;
    time_point high_water{};
    file_marks marks;
};

inline result<journal_meta> read_meta(sqlite3* db, owned_file const& file) {
    int code = SQLITE_OK;
    sqlite_statement const ask(db, "SELECT epoch, high_water_ms, inode, device, born_ns FROM meta",
                               code);
    if (code != SQLITE_OK) return about_sqlite(code, file, "cannot be read");
    sqlite_run run(ask.get());
    journal_meta m;
    if (run.next()) {
        m.epoch = run.take<std::uint32_t>();
        m.high_water = time_point(milliseconds(run.take_number()));
        m.marks.inode = run.take_bits();
        m.marks.device = run.take_bits();
        m.marks.born_ns = run.take_number();
    }
    if (run.code() != SQLITE_OK) return about_sqlite(run.code(), file, "cannot be read");
    if (m.epoch == 0) return about_file(rule::journal_damaged, file.path(), "has no epoch");
    return m;
}

/// Makes the next epoch durable, before any other write of this life, and with the same commit a
/// journal of an older format one of this format. A copy that is taken over gets a name of its own,
/// and everything in it that is not settled counts as possibly sent by the original.
inline result<void> begin_epoch(sqlite3* db, owned_file const& file, std::uint32_t epoch,
                                std::uint32_t format, bool is_copy) {
    int code = sqlite_execute(db, "BEGIN IMMEDIATE");
    if (code == SQLITE_OK && format != journal_format) {
        code = upgrade(db, format);
        if (code != SQLITE_OK) return about_sqlite(code, file, "cannot be upgraded");
        // What this SQLite made of it must be what every later open expects.
        BOOST_OUTCOME_TRY(check_tables(db, file));
    }
    if (code == SQLITE_OK) {
        sqlite_statement const update(
            db, "UPDATE meta SET epoch = ?, inode = ?, device = ?, born_ns = ?", code);
        sqlite_run run(update.get());
        file_marks const marks = file.marks();
        run.put_number(epoch);
        run.put_bits(marks.inode);
        run.put_bits(marks.device);
        run.put_number(marks.born_ns);
        if (code == SQLITE_OK) code = run.finish();
    }
    if (code == SQLITE_OK && is_copy) {
        code = sqlite_execute(db, "UPDATE meta SET journal = lower(hex(randomblob(16)));"
                                  "UPDATE operations SET restored = 1 "
                                  "WHERE state IN ('pending', 'uncertain', 'in_review')");
    }
    if (code == SQLITE_OK) code = sqlite_execute(db, "COMMIT");
    if (code != SQLITE_OK) return about_sqlite(code, file, "cannot begin its next epoch");
    // So that a program of the older format reads in the first bytes what the file is now.
    if (format != journal_format) return take_over_log(db, file);
    return success();
}

} // namespace indoubt::detail

#endif
