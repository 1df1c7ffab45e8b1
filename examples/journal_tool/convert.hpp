// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef EXAMPLES_JOURNAL_TOOL_CONVERT_HPP
#define EXAMPLES_JOURNAL_TOOL_CONVERT_HPP

#include "journal.hpp"

#include <indoubt/adapter/log_storage.hpp>
#include <indoubt/adapter/sqlite_storage.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <sys/stat.h>
#include <unistd.h>

// A journal of the other kind, with everything that one holds. It says of itself that it was made
// in another file, so that it is opened as a restored copy only; and its epochs go on from those of
// the first one, so that no claim and no version in it is taken for one of a later life.

namespace journal_tool {

inline std::string folder_of(std::string const& path) {
    auto const slash = path.find_last_of('/');
    return slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
}

struct converted {
    std::size_t operations = 0, names = 0;
};

template <class Storage> result<converted> fill(Storage& to, journal& from) {
    constexpr std::size_t at_once = 1'000;
    converted done;
    std::optional<indoubt::error> bad;
    auto const flushed = [&](std::size_t count) {
        if (count % at_once != 0) return true;
        auto const f = to.flush();
        if (!f) bad = f.error();
        return !bad;
    };
    BOOST_OUTCOME_TRY(from.each_operation([&](indoubt::record const& r) {
        auto const stood = to.insert(r);
        if (!stood) bad = stood.error();
        if (stood && stood.value()) {
            bad = indoubt::error(indoubt::rule::journal_damaged)
                      .of(indoubt::printable(r.identity()))
                      .saying("stands there twice");
        }
        return !bad && flushed(++done.operations);
    }));
    if (bad) return std::move(*bad);
    BOOST_OUTCOME_TRY(from.each_name([&](std::string_view name, indoubt::identity const& id) {
        auto const bound = to.bind(name, id);
        if (!bound) bad = bound.error();
        if (bound && !bound.value()) {
            bad = indoubt::error(indoubt::rule::journal_damaged)
                      .of(indoubt::printable(id))
                      .saying("has a name that another operation has, too");
        }
        return !bad && flushed(++done.names);
    }));
    if (bad) return std::move(*bad);
    BOOST_OUTCOME_TRY(to.flush());
    return done;
}

/// What a journal that is being made takes from the first one: no file is like it, so that only
/// open_restored() opens it.
struct foreign_marks {
    std::uint32_t epoch = 0;
    indoubt::time_point high_water{};
};

/// In the header of a segment that was begun for it and holds nothing.
inline result<void> make_foreign_log(std::string const& path, foreign_marks const& m) {
    namespace log = indoubt::detail;
    if (auto const begun = indoubt::log_storage::open(path); !begun) return begun.error();
    using files = log::posix_files;
    BOOST_OUTCOME_TRY(auto const names, files::list(path));
    std::uint64_t last = 0;
    for (auto const& name : names)
        last = std::max(last, log::log_folder<files>::number_of(name));
    std::string const segment = path + "/" + log::log_folder<files>::name_of(last);
    BOOST_OUTCOME_TRY(auto file, files::open(segment));
    log::log_buffer bytes;
    char* const at = bytes.add(log::log_format::data);
    BOOST_OUTCOME_TRY(auto const got, files::read(file, 0, {at, log::log_format::data}));
    log::log_header h;
    if (got != log::log_format::data || log::take_header(at, h) != log::header_is::whole)
        return log::about_log_file(indoubt::rule::storage_failed, segment, "has no header");
    h.epoch = std::max(h.epoch, m.epoch);
    h.high_water = std::max(h.high_water, m.high_water);
    h.marks = {};
    bytes.shrink_to(0);
    log::put_header(bytes, h);
    BOOST_OUTCOME_TRY(files::write(file, 0, {bytes.data(), bytes.size()}));
    return files::sync(file);
}

inline result<void> make_foreign_file(std::string const& path, foreign_marks const& m) {
    namespace db = indoubt::detail;
    {
        sqlite3* raw = nullptr;
        int code = sqlite3_open_v2(path.c_str(), &raw, SQLITE_OPEN_READWRITE, nullptr);
        db::sqlite_connection const connection(raw);
        if (code == SQLITE_OK) {
            code = db::sqlite_execute(
                raw, "PRAGMA locking_mode = EXCLUSIVE; PRAGMA synchronous = FULL;"
                     "UPDATE meta SET inode = 0, device = 0, born_ns = 0, epoch = max(epoch, " +
                         std::to_string(m.epoch) + "), high_water_ms = max(high_water_ms, " +
                         std::to_string(m.high_water.time_since_epoch().count()) + ")");
        }
        if (code != SQLITE_OK)
            return db::about_file(indoubt::rule::storage_failed, path, sqlite3_errstr(code), code);
    }
    struct stat there;
    if (::lstat((path + "-wal").c_str(), &there) == 0)
        return db::about_file(indoubt::rule::storage_failed, path, "has a log still");
    BOOST_OUTCOME_TRY(auto file, db::posix_files::open(path));
    return db::posix_files::sync(file);
}

/// Writes a journal of kind Storage to a path where nothing is.
///
/// After a crash: either the whole journal is there, or nothing; beside it "<path>.unfinished-..."
/// may be left, which nobody needs.
template <class Storage, class Finish>
result<converted> write_journal(std::string const& path, journal& from, Finish finish) {
    using files = indoubt::detail::posix_files;
    struct stat there;
    for (char const* ending : {"", "-wal", "-journal"}) {
        if (::lstat((path + ending).c_str(), &there) == 0)
            return indoubt::detail::about_log_file(indoubt::rule::journal_exists, path + ending,
                                                   "exists");
    }
    std::string const draft = path + ".unfinished-" + std::to_string(::getpid()) + "-convert";
    auto to = Storage::create(draft);
    if (!to) return to.error();
    auto const made = [&]() -> result<converted> {
        result<converted> const done = fill(to.value(), from);
        {
            auto const closed = std::move(to);
        }
        if (!done) return done.error();
        BOOST_OUTCOME_TRY(finish(draft, foreign_marks{from.epoch(), from.high_water()}));
        BOOST_OUTCOME_TRY(files::rename(draft, path));
        BOOST_OUTCOME_TRY(files::sync_folder(folder_of(path)));
        return done.value();
    }();
    if (!made) {
        std::error_code ignored;
        for (char const* ending : {"", "-wal"})
            std::filesystem::remove_all(draft + ending, ignored);
    }
    return made;
}

/// Moves a journal out of the way, with the log that SQLite may have beside it.
inline result<void> retire(std::string const& path) {
    using files = indoubt::detail::posix_files;
    std::string const retired = path + ".retired";
    BOOST_OUTCOME_TRY(files::rename(path, retired));
    struct stat there;
    // Second: without its file this is no journal, and without it the file would be an older one.
    if (::lstat((path + "-wal").c_str(), &there) == 0) {
        BOOST_OUTCOME_TRY(files::rename(path + "-wal", retired + "-wal"));
    }
    return files::sync_folder(folder_of(path));
}

} // namespace journal_tool

#endif
