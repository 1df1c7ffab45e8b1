// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef EXAMPLES_JOURNAL_TOOL_SQLITE_JOURNAL_HPP
#define EXAMPLES_JOURNAL_TOOL_SQLITE_JOURNAL_HPP

#include "journal.hpp"
#include "read_only_files.hpp"

#include <indoubt/adapter/sqlite/connection.hpp>
#include <indoubt/adapter/sqlite/file.hpp>
#include <indoubt/adapter/sqlite/rows.hpp>
#include <indoubt/adapter/sqlite/schema.hpp>
#include <indoubt/adapter/sqlite/upgrade.hpp>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sqlite3.h>
#include <stdlib.h>

namespace journal_tool {

namespace db = indoubt::detail;

/// A private folder, gone with all that is in it at the end.
class private_folder {
public:
    private_folder() {
        std::error_code bad;
        auto pattern = (std::filesystem::temp_directory_path(bad) / "journal.XXXXXX").string();
        if (!bad && ::mkdtemp(pattern.data()) != nullptr) path_ = pattern;
    }
    private_folder(private_folder&& o) noexcept : path_(std::exchange(o.path_, {})) {}
    private_folder& operator=(private_folder&&) = delete;
    ~private_folder() {
        std::error_code ignored;
        if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
    }
    std::string const& path() const { return path_; }

private:
    std::string path_;
};

/// The file of a SQLite journal, opened so that SQLite changes nothing. What SQLite would have to
/// take over first, a log beside it or an older format, it takes over in a private copy.
class sqlite_reading {
public:
    /// Errors: journal_in_use, not_a_journal, newer_format, journal_damaged, storage_failed.
    static result<sqlite_reading> open(std::string const& path) {
        sqlite_reading r;
        r.path_ = path;
        r.lock_ = descriptor(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
        if (!r.lock_) return about(indoubt::rule::journal_missing, path, "cannot be opened", errno);
        if (r.is_in_use())
            return about(indoubt::rule::journal_in_use, path, "is in use by another process");
        bool const as_it_is = !r.has_beside("-wal") && !r.has_beside("-journal");
        BOOST_OUTCOME_TRY(as_it_is ? r.connect() : r.connect_to_copy());
        BOOST_OUTCOME_TRY(auto const format, r.format());
        if (format == db::journal_format) return r;
        if (as_it_is) {
            BOOST_OUTCOME_TRY(r.connect_to_copy());
        }
        if (int const code = db::upgrade(r.get(), format); code != SQLITE_OK)
            return r.failed(code, "is of an older format and cannot be read");
        return r;
    }

    sqlite3* get() const { return connection_.get(); }
    std::string const& path() const { return path_; }

    indoubt::error failed(int code, std::string_view what) const {
        auto const why = (code & 0xff) == SQLITE_CORRUPT || (code & 0xff) == SQLITE_NOTADB
                             ? indoubt::rule::journal_damaged
                             : indoubt::rule::storage_failed;
        std::string text(what);
        return about(why, path_, text.append(": ").append(sqlite3_errstr(code)), code);
    }

private:
    sqlite_reading() = default;

    static indoubt::error about(indoubt::rule why, std::string const& path, std::string_view what,
                                int cause = 0) {
        return db::about_file(why, path, what, cause);
    }

    bool has_beside(char const* ending) const {
        std::error_code missing;
        auto const size = std::filesystem::file_size(path_ + ending, missing);
        return !missing && size != 0;
    }

    /// The byte by which a journal is owned, taken together with other readers; and SQLite's own.
    bool is_in_use() const {
        struct flock byte{};
        byte.l_type = F_RDLCK;
        byte.l_whence = SEEK_SET;
        byte.l_start = off_t{1} << 62;
        byte.l_len = 1;
        if (::fcntl(lock_.get(), F_OFD_SETLK, &byte) != 0) return true;
        byte.l_type = F_RDLCK;
        byte.l_start = 0x40000000;
        byte.l_len = 512;
        return ::fcntl(lock_.get(), F_OFD_GETLK, &byte) == 0 && byte.l_type != F_UNLCK;
    }

    /// Nothing else can open the file meanwhile: so SQLite need not lock it, or look beside it.
    result<void> connect() {
        std::string uri = "file://";
        for (char const c : std::filesystem::absolute(path_).string()) {
            constexpr std::string_view digits = "0123456789abcdef";
            auto const byte = static_cast<unsigned char>(c);
            if (c == '%' || c == '?' || c == '#') {
                uri.append("%").append(1, digits[byte >> 4U]).append(1, digits[byte & 15U]);
            } else {
                uri += c;
            }
        }
        return connect(uri + "?immutable=1", SQLITE_OPEN_READONLY | SQLITE_OPEN_URI);
    }

    result<void> connect_to_copy() {
        connection_.reset();
        copy_.emplace();
        std::error_code bad;
        std::string const name = copy_->path() + "/journal.db";
        for (char const* ending : {"", "-wal", "-journal"}) {
            std::string const from = path_ + ending;
            if (*ending != '\0' && !std::filesystem::exists(from)) continue;
            std::filesystem::copy_file(from, name + ending, bad);
            if (bad)
                return about(indoubt::rule::storage_failed, from,
                             "cannot be copied to " + copy_->path(), bad.value());
            std::filesystem::permissions(name + ending, std::filesystem::perms::owner_read |
                                                            std::filesystem::perms::owner_write);
        }
        return connect(name, SQLITE_OPEN_READWRITE);
    }

    result<void> connect(std::string const& name, int flags) {
        sqlite3* raw = nullptr;
        int code = sqlite3_open_v2(name.c_str(), &raw, flags | SQLITE_OPEN_EXRESCODE, nullptr);
        connection_.reset(raw);
        for (int const setting : {SQLITE_DBCONFIG_DEFENSIVE, SQLITE_DBCONFIG_ENABLE_TRIGGER}) {
            int const value = setting == SQLITE_DBCONFIG_DEFENSIVE ? 1 : 0;
            if (code == SQLITE_OK) code = sqlite3_db_config(raw, setting, value, nullptr);
        }
        if (code == SQLITE_OK)
            code =
                db::sqlite_execute(raw, "PRAGMA cell_size_check = ON; PRAGMA trusted_schema = 0");
        if (code != SQLITE_OK) return failed(code, "cannot be opened");
        return indoubt::success();
    }

    result<std::uint32_t> format() const {
        int code = SQLITE_OK;
        auto const id = db::sqlite_ask(get(), "PRAGMA application_id", code);
        auto const format = db::sqlite_ask(get(), "PRAGMA user_version", code);
        if ((code & 0xff) == SQLITE_NOTADB)
            return about(indoubt::rule::not_a_journal, path_, "is not an SQLite database", code);
        if (code != SQLITE_OK) return failed(code, "cannot be read");
        using indoubt::rule;
        if (id != std::to_string(db::journal_application_id))
            return about(rule::not_a_journal, path_, "is an SQLite database, but not a journal");
        for (std::uint32_t known = 1; known <= db::journal_format; ++known)
            if (format == std::to_string(known)) return known;
        return about(format == "0" ? rule::journal_damaged : rule::newer_format, path_,
                     "has format " + format);
    }

    std::string path_{};
    descriptor lock_{};
    std::optional<private_folder> copy_{};
    db::sqlite_connection connection_{};
};

class sqlite_journal final : public journal {
public:
    static result<std::unique_ptr<journal>> open(std::string const& path) {
        BOOST_OUTCOME_TRY(auto reading, sqlite_reading::open(path));
        int code = SQLITE_OK;
        auto made = std::make_unique<sqlite_journal>(std::move(reading), code);
        if (code != SQLITE_OK) return made->reading_.failed(code, "cannot be read");
        return std::unique_ptr<journal>(std::move(made));
    }

    sqlite_journal(sqlite_reading reading, int& code)
        : reading_(std::move(reading)), rows_(reading_.get(), code) {
        db::sqlite_statement const ask(reading_.get(), "SELECT epoch, high_water_ms FROM meta",
                                       code);
        if (code != SQLITE_OK) return;
        db::sqlite_run run(ask.get());
        if (run.next()) {
            epoch_ = run.take<std::uint32_t>();
            high_water_ = indoubt::time_point(indoubt::milliseconds(run.take_number()));
        } else {
            run.damaged();
        }
        code = run.code();
    }

    result<void> each_operation(see_operation const& see) override {
        int code = SQLITE_OK;
        db::sqlite_statement const ask(reading_.get(),
                                       "SELECT operation, scope, key FROM operations NOT INDEXED "
                                       "ORDER BY operation",
                                       code);
        if (code != SQLITE_OK) return reading_.failed(code, "cannot be read");
        db::sqlite_run run(ask.get());
        while (run.next()) {
            auto const number = std::to_string(run.take_bits());
            indoubt::identity id{std::string(run.take_text()), {}};
            id.key = run.take_text();
            std::optional<indoubt::record> r;
            code = rows_.find(id, r);
            if (code == SQLITE_OK && !r) code = SQLITE_CORRUPT;
            if (code != SQLITE_OK)
                return reading_.failed(code, "operation " + number + " cannot be read");
            if (!see(*r)) return indoubt::success();
        }
        if (run.code() != SQLITE_OK) return reading_.failed(run.code(), "cannot be read");
        return indoubt::success();
    }

    result<void> each_name(see_name const& see) override {
        int code = SQLITE_OK;
        db::sqlite_statement const ask(reading_.get(), "SELECT name, scope, key FROM names", code);
        if (code != SQLITE_OK) return reading_.failed(code, "cannot be read");
        db::sqlite_run run(ask.get());
        while (run.next()) {
            auto const name = run.take_text();
            indoubt::identity id{std::string(run.take_text()), {}};
            id.key = run.take_text();
            if (!see(name, id)) return indoubt::success();
        }
        if (run.code() != SQLITE_OK) return reading_.failed(run.code(), "names cannot be read");
        return indoubt::success();
    }

    result<std::vector<std::string>> flaws() override {
        std::vector<std::string> found;
        int code = SQLITE_OK;
        db::sqlite_statement const check(reading_.get(), "PRAGMA integrity_check", code);
        db::sqlite_statement const schema(reading_.get(),
                                          "SELECT sql FROM sqlite_schema WHERE name = ?", code);
        if (code != SQLITE_OK) return reading_.failed(code, "cannot be checked");
        db::sqlite_run run(check.get());
        auto const page_size = number_in(db::sqlite_ask(reading_.get(), "PRAGMA page_size", code));
        while (run.next()) {
            std::string_view said = run.take_text();
            while (!said.empty()) { // one row may have several lines
                auto const line = said.substr(0, said.find('\n'));
                said.remove_prefix(std::min(line.size() + 1, said.size()));
                if (line == "ok" || line.starts_with("***")) continue;
                auto const page = line.find("age "); // Page, or page
                auto const number =
                    page == line.npos ? 0 : number_in(line.substr(page + std::size("age ") - 1));
                std::string where = reading_.path();
                if (number != 0) where += " at offset " + std::to_string((number - 1) * page_size);
                found.push_back(where.append(": ").append(line));
            }
        }
        if (run.code() != SQLITE_OK) // the check itself came upon what cannot be read
            found.push_back(reading_.path() + ": " + sqlite3_errstr(run.code()));
        for (auto const& object : db::journal_objects) {
            if (object.sql.starts_with("CREATE VIEW")) continue; // for people only
            db::sqlite_run asked(schema.get());
            asked.put_text(object.name);
            if (!asked.next() || !db::same_statement(asked.take_text(), object.sql))
                found.push_back(reading_.path() + ": differs from its format in " +
                                std::string(object.name));
        }
        return found;
    }

    std::vector<file> files() override {
        std::vector<file> all;
        for (char const* ending : {"", "-wal"}) {
            std::filesystem::path const path = reading_.path() + ending;
            std::error_code missing;
            auto const size = std::filesystem::file_size(path, missing);
            if (!missing) all.push_back({path.filename().string(), size});
        }
        return all;
    }
    std::uint32_t epoch() const override { return epoch_; }
    indoubt::time_point high_water() const override { return high_water_; }

private:
    /// At the front of a text; 0 if there is none.
    static std::uint64_t number_in(std::string_view text) {
        std::uint64_t number = 0;
        (void)std::from_chars(text.data(), text.data() + text.size(), number);
        return number;
    }

    sqlite_reading reading_;
    db::sqlite_rows rows_;
    std::uint32_t epoch_ = 0;
    indoubt::time_point high_water_{};
};

} // namespace journal_tool

#endif
