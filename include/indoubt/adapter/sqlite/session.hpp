// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef INDOUBT_ADAPTER_SQLITE_SESSION_HPP
#define INDOUBT_ADAPTER_SQLITE_SESSION_HPP

#include <indoubt/adapter/sqlite/backup.hpp>
#include <indoubt/adapter/sqlite/connection.hpp>
#include <indoubt/adapter/sqlite/file.hpp>
#include <indoubt/adapter/sqlite/opening.hpp>
#include <indoubt/adapter/sqlite/rows.hpp>
#include <indoubt/core/error.hpp>
#include <indoubt/policy/storage.hpp>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <sqlite3.h>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

// An open journal: one connection under one mutex, and one transaction that a flush commits.

namespace indoubt::detail {

class sqlite_session {
public:
    /// Errors: journal_exists, storage_failed. A creation that fails leaves no file.
    static result<std::unique_ptr<sqlite_session>> create(std::string const& path) {
        BOOST_OUTCOME_TRY(auto const full_path, located(path));
        BOOST_OUTCOME_TRY(auto file, owned_file::draft(full_path));
        auto made = filled(file, full_path);
        if (!made) {
            file.remove();
            return std::move(made).error();
        }
        return start(std::move(file), std::move(made).value(), {.epoch = 1});
    }

    /// Errors: journal_missing, not_a_journal, newer_format, journal_damaged, journal_in_use,
    /// storage_failed; restored_copy if it is a copy and is not to be taken over.
    static result<std::unique_ptr<sqlite_session>> open(std::string const& path, bool restored) {
        BOOST_OUTCOME_TRY(auto const full_path, located(path));
        BOOST_OUTCOME_TRY(auto file, owned_file::claim(full_path));
        BOOST_OUTCOME_TRY(check_header(file));
        BOOST_OUTCOME_TRY(secure_log(file));
        BOOST_OUTCOME_TRY(auto db, connect(file));
        if (int const code = sqlite_execute(db.get(), "PRAGMA locking_mode = EXCLUSIVE");
            code != SQLITE_OK) {
            return about_sqlite(code, file, "cannot be locked");
        }
        BOOST_OUTCOME_TRY(auto const format, check_tables(db.get(), file));
        BOOST_OUTCOME_TRY(auto const meta, read_meta(db.get(), file));
        if (!restored && !meta.marks.same_file_as(file.marks())) {
            return about_file(rule::restored_copy, file.path(),
                              "was copied or restored: open_restored takes it over");
        }
        if (meta.epoch == std::numeric_limits<std::uint32_t>::max())
            return about_file(rule::storage_failed, file.path(), "has used up its epochs");
        BOOST_OUTCOME_TRY(configure(db.get(), file));
        BOOST_OUTCOME_TRY(take_over_log(db.get(), file));
        BOOST_OUTCOME_TRY(begin_epoch(db.get(), file, meta.epoch + 1, format, restored));
        return start(
            std::move(file), std::move(db),
            {.epoch = meta.epoch + 1, .high_water = meta.high_water, .restored = restored});
    }

    sqlite_session(sqlite_session const&) = delete;
    sqlite_session& operator=(sqlite_session const&) = delete;

    /// Effects: commits what was written, unless something failed before; takes over the log.
    ~sqlite_session() {
        if (::getpid() != process_) return; // see sqlite_close
        if (failed_code_ == SQLITE_OK && committed_ != written_) (void)commit();
        // After a failure nothing is written any more; the next to open it takes over the log.
        int const keeps_log = failed_code_ != SQLITE_OK ? 1 : 0;
        sqlite3_db_config(db_.get(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, keeps_log, nullptr);
    }

    storage_facts facts() {
        if (::getpid() != process_) return facts_; // a forked child: the mutex may be held for ever
        std::scoped_lock lock(mutex_);
        return facts_;
    }

    result<std::optional<record>> insert(record const& r) {
        BOOST_OUTCOME_TRY(in_this_process());
        auto const lock = lock_to_write();
        whole_or_failed const guard(failed_code_);
        BOOST_OUTCOME_TRY(begin());
        bool is_new = false;
        if (int const code = rows_.insert(r, is_new); code != SQLITE_OK) return failed(code);
        if (is_new) {
            wrote(r.written_at);
            return std::optional<record>();
        }
        return found(r.identity());
    }

    result<void> replace(record const& r, version expected) {
        BOOST_OUTCOME_TRY(in_this_process());
        auto const lock = lock_to_write();
        whole_or_failed const guard(failed_code_);
        BOOST_OUTCOME_TRY(begin());
        sqlite_rows::standing standing;
        if (int const code = rows_.look(r.identity(), standing); code != SQLITE_OK)
            return failed(code);
        bool const stale = standing.state == state_id::none || standing.version != expected ||
                           standing.operation != r.operation;
        if (stale) return error(rule::stale_version, standing.state);
        if (int const code = rows_.replace(r, standing); code != SQLITE_OK) return failed(code);
        wrote(r.written_at);
        return success();
    }

    result<std::optional<record>> find(identity const& id) {
        BOOST_OUTCOME_TRY(in_this_process());
        std::scoped_lock lock(mutex_);
        whole_or_failed const guard(failed_code_);
        BOOST_OUTCOME_TRY(usable());
        return found(id);
    }

    result<bool> is_current(identity const& id, version v) {
        BOOST_OUTCOME_TRY(in_this_process());
        std::scoped_lock lock(mutex_);
        whole_or_failed const guard(failed_code_);
        BOOST_OUTCOME_TRY(usable());
        sqlite_rows::standing standing;
        if (int const code = rows_.look(id, standing); code != SQLITE_OK) return failed(code);
        return standing.state != state_id::none && standing.version == v;
    }

    result<bool> bind(std::string_view name, identity const& id) {
        BOOST_OUTCOME_TRY(in_this_process());
        auto const lock = lock_to_write();
        whole_or_failed const guard(failed_code_);
        BOOST_OUTCOME_TRY(begin());
        bool is_new = false, is_theirs = false;
        if (int const code = rows_.bind(name, id, is_new, is_theirs); code != SQLITE_OK)
            return failed(code);
        if (is_new) wrote(time_point::min());
        return is_theirs;
    }

    result<std::vector<record>> unsettled(page p) {
        BOOST_OUTCOME_TRY(in_this_process());
        std::scoped_lock lock(mutex_);
        whole_or_failed const guard(failed_code_);
        BOOST_OUTCOME_TRY(usable());
        std::vector<record> shown;
        if (int const code = rows_.unsettled(p, shown); code != SQLITE_OK) return failed(code);
        return shown;
    }

    result<std::size_t> shrink_settled(time_point written_before, std::size_t most) {
        BOOST_OUTCOME_TRY(in_this_process());
        auto const lock = lock_to_write();
        whole_or_failed const guard(failed_code_);
        BOOST_OUTCOME_TRY(begin());
        std::size_t done = 0;
        for (; done < most; ++done) {
            std::optional<record> whole;
            if (int const code = rows_.shrinkable(written_before, whole); code != SQLITE_OK)
                return failed(code);
            if (!whole) break;
            if (int const code = rows_.shrink(shrunk(*whole, facts_.epoch), *whole);
                code != SQLITE_OK) {
                return failed(code);
            }
        }
        if (done != 0) wrote(time_point::min());
        return done;
    }

    /// Others wait until the copy is made.
    result<void> backup(std::string const& path) {
        BOOST_OUTCOME_TRY(in_this_process());
        BOOST_OUTCOME_TRY(auto const full_path, located(path));
        auto const lock = lock_to_write();
        BOOST_OUTCOME_TRY(usable());
        if (in_transaction_) {
            whole_or_failed const guard(failed_code_);
            BOOST_OUTCOME_TRY(commit());
        }
        return write_backup(db_.get(), full_path);
    }

    result<void> flush() {
        BOOST_OUTCOME_TRY(in_this_process());
        std::unique_lock lock(mutex_);
        whole_or_failed const guard(failed_code_);
        BOOST_OUTCOME_TRY(usable());
        std::uint64_t const mine = written_;
        // Whoever waits to write comes along: one commit for all of them.
        for (int round = 0; round < most_rounds && committed_ < mine && writers_waiting_ != 0;
             ++round) {
            lock.unlock();
            std::this_thread::yield();
            lock.lock();
        }
        BOOST_OUTCOME_TRY(usable());
        if (committed_ >= mine) return success();
        return commit();
    }

private:
    sqlite_session(owned_file file, sqlite_connection db, storage_facts facts, int& code)
        : file_(std::move(file)), db_(std::move(db)), rows_(db_.get(), code),
          begin_(db_.get(), "BEGIN IMMEDIATE", code), commit_(db_.get(), "COMMIT", code),
          raise_high_water_(db_.get(), sql::raise_high_water, code),
          log_path_(file_.path() + "-wal"), facts_(facts), stored_high_water_(facts.high_water) {
        if (code == SQLITE_OK && ::lstat(log_path_.c_str(), &log_) != 0) code = SQLITE_IOERR_FSTAT;
    }

    /// Makes a whole journal of a draft, puts it in its place and opens it there.
    static result<sqlite_connection> filled(owned_file& file, std::string const& full_path) {
        {
            BOOST_OUTCOME_TRY(auto db, connect_draft(file));
            BOOST_OUTCOME_TRY(make_tables(db.get(), file));
        }
        BOOST_OUTCOME_TRY(file.put_in_place(full_path));
        BOOST_OUTCOME_TRY(auto db, connect(file));
        BOOST_OUTCOME_TRY(configure(db.get(), file));
        BOOST_OUTCOME_TRY(take_over_log(db.get(), file));
        if (!sync_folder_of(file.path()))
            return about_file(rule::storage_failed, file.path(), "cannot be made durable", errno);
        return db;
    }

    static result<std::unique_ptr<sqlite_session>> start(owned_file&& file, sqlite_connection&& db,
                                                         storage_facts facts) {
        int code = SQLITE_OK;
        std::unique_ptr<sqlite_session> session(
            new sqlite_session(std::move(file), std::move(db), facts, code));
        if (code == SQLITE_OK) return session;
        if (facts.epoch == 1) session->file_.remove(); // it was just created
        return session->failed(code);
    }

    std::unique_lock<std::mutex> lock_to_write() {
        ++writers_waiting_;
        std::unique_lock lock(mutex_);
        --writers_waiting_;
        return lock;
    }

    /// Asked before the mutex: a thread of the parent may have held it at the fork, for ever.
    result<void> in_this_process() const {
        if (::getpid() == process_) return success();
        return about_file(rule::storage_failed, file_.path(),
                          "was opened by the parent of this process");
    }

    result<void> usable() const {
        if (failed_code_ != SQLITE_OK) return failure();
        return success();
    }

    /// Out of memory in the middle of a write leaves a part of it behind.
    class whole_or_failed {
    public:
        explicit whole_or_failed(int& failed_code) : failed_code_(failed_code) {}
        whole_or_failed(whole_or_failed const&) = delete;
        whole_or_failed& operator=(whole_or_failed const&) = delete;
        ~whole_or_failed() {
            bool const thrown = std::uncaught_exceptions() > entered_;
            if (thrown && failed_code_ == SQLITE_OK) failed_code_ = SQLITE_NOMEM;
        }

    private:
        int& failed_code_;
        int entered_ = std::uncaught_exceptions();
    };

    result<void> begin() {
        BOOST_OUTCOME_TRY(usable());
        if (in_transaction_) return success();
        if (int const code = sqlite_run(begin_.get()).finish(); code != SQLITE_OK)
            return failed(code);
        in_transaction_ = true;
        return success();
    }

    void wrote(time_point at) {
        ++written_;
        facts_.high_water = std::max(facts_.high_water, at);
    }

    result<std::optional<record>> found(identity const& id) {
        result<std::optional<record>> out{std::optional<record>()};
        if (int const code = rows_.find(id, out.assume_value()); code != SQLITE_OK)
            return failed(code);
        return out;
    }

    result<void> commit() {
        if (facts_.high_water > stored_high_water_) {
            sqlite_run run(raise_high_water_.get());
            run.put_number(facts_.high_water.time_since_epoch().count());
            if (int const code = run.finish(); code != SQLITE_OK) return failed(code);
        }
        if (int const code = sqlite_run(commit_.get()).finish(); code != SQLITE_OK)
            return failed(code);
        in_transaction_ = false;
        // A commit to files that no path leads to any more is lost when they are closed.
        if (!file_.in_place() || !leads_to(log_path_, log_)) return failed(SQLITE_READONLY_DBMOVED);
        committed_ = written_;
        stored_high_water_ = facts_.high_water;
        return success();
    }

    /// Keeps the first failure for every later call: after one, SQLite may have taken back what
    /// was written before, so that no later commit could be believed.
    error failed(int code) {
        if (failed_code_ == SQLITE_OK) failed_code_ = code;
        return failure();
    }
    error failure() const {
        std::string what = "failed: ";
        what += sqlite3_errstr(failed_code_);
        return about_file(rule::storage_failed, file_.path(), what, failed_code_);
    }

    static constexpr int most_rounds = 64;

    owned_file file_; // closed last: see file.hpp
    sqlite_connection db_;
    sqlite_rows rows_;
    sqlite_statement begin_, commit_, raise_high_water_;
    std::string log_path_;
    struct stat log_{};

    std::mutex mutex_;
    std::atomic<int> writers_waiting_ = 0;
    storage_facts facts_;
    time_point stored_high_water_;
    std::uint64_t written_ = 0;   ///< how many writes were made,
    std::uint64_t committed_ = 0; ///< and how many of them are durable
    bool in_transaction_ = false;
    int failed_code_ = SQLITE_OK; ///< of the first failure
    pid_t process_ = ::getpid();
};

} // namespace indoubt::detail

#endif
