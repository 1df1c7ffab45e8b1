// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef INDOUBT_ADAPTER_SQLITE_STORAGE_HPP
#define INDOUBT_ADAPTER_SQLITE_STORAGE_HPP

#include <indoubt/adapter/sqlite/session.hpp>
#include <indoubt/policy/storage.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

// The default journal: one SQLite file that a person can read with `sqlite3` once it is closed, or
// in a copy. Its tables are described in docs/sqlite_journal.md.
//
// Promise: what was flushed is there after the death of the process or the machine. It holds on a
// local file system and a disk that keep what they were told to sync. Where a failure is noticed,
// the storage refuses to go on. A backup that is copied over the file in place is not noticed.

namespace indoubt {

struct sqlite_options {
    /// How long to wait for another owner to go; 0: refuse at once.
    milliseconds wait{0};
};

/// A storage in one SQLite file, which has one owner at a time.
///
/// Thread safety: all functions may be called from several threads at once, under one mutex; what
/// several threads wrote before they flush is made durable by one commit.
/// After a failed write or flush every call is rule::storage_failed, with SQLite's extended code
/// as cause(), and nothing more is written.
/// After a crash: opening it again finds everything flushed, and of the rest nothing, unless it
/// was closed in order.
/// A child that was forked cannot use its parent's storage: every call is rule::storage_failed. As
/// long as it lives and starts no other program, the journal stays in use.
/// It is handed over by moving, before other threads know of it; a moved-from storage may only be
/// destroyed or assigned to.
class sqlite_storage {
public:
    using options = sqlite_options;

    sqlite_storage(sqlite_storage const&) = delete;
    sqlite_storage(sqlite_storage&&) noexcept = default;
    sqlite_storage& operator=(sqlite_storage const&) = delete;
    sqlite_storage& operator=(sqlite_storage&&) noexcept = default;
    /// Effects: commits what was written and not flushed, unless something failed before.
    ~sqlite_storage() = default;

    /// Makes a journal at a path where there is no file, private to this user. There is no call
    /// that opens or creates: a journal that is missing must not read as "nothing happened yet".
    ///
    /// Errors: journal_exists; journal_missing if its folder does not exist; storage_failed.
    /// After a crash: either a whole journal is there, or nothing; in its folder an unfinished file
    /// may be left, "<name>.unfinished-...", which nobody needs.
    static result<sqlite_storage> create(std::string const& path) {
        BOOST_OUTCOME_TRY(auto session, detail::sqlite_session::create(path));
        return sqlite_storage(std::move(session));
    }

    /// Opens a journal where it was made. It may have been renamed, but not copied.
    ///
    /// Effects: makes a new epoch durable.
    /// Errors: journal_missing; journal_in_use, with the owner's name where that is certain;
    /// not_a_journal for what is empty, zeroed, foreign, or not a regular private file of this
    /// user with one name; newer_format; journal_damaged; restored_copy; storage_failed. On all of
    /// them the file is as it was.
    static result<sqlite_storage> open(std::string const& path, options o = {}) {
        return open(path, false, o);
    }

    /// Opens a journal that was restored from a backup or copied, and takes it over.
    ///
    /// Effects: as open(). What is not settled counts as possibly sent from now on: its record says
    /// restored, now and after every later open. What was begun after the copy was made is not in
    /// it and may be done twice: see docs/guarantees.md.
    static result<sqlite_storage> open_restored(std::string const& path, options o = {}) {
        return open(path, true, o);
    }

    storage_facts facts() { return session_->facts(); }
    result<std::optional<record>> insert(record const& r) { return session_->insert(r); }
    result<void> replace(record const& r, version expected) {
        return session_->replace(r, expected);
    }
    result<std::optional<record>> find(identity const& id) { return session_->find(id); }
    result<bool> is_current(identity const& id, version v) { return session_->is_current(id, v); }
    result<bool> bind(std::string_view name, identity const& id) {
        return session_->bind(name, id);
    }
    template <class Visitor> result<std::size_t> visit_unsettled(page p, Visitor&& visit) {
        BOOST_OUTCOME_TRY(auto const shown, session_->unsettled(p));
        for (record const& r : shown)
            visit(r);
        return shown.size();
    }
    /// Effects: the oldest records that may_shrink() become shrunk(), at most so many. The file
    /// keeps its size; the room is used for what is written later.
    /// Returns: how many.
    result<std::size_t> shrink_settled(time_point written_before, std::size_t most) {
        return session_->shrink_settled(written_before, most);
    }
    result<void> flush() { return session_->flush(); }

    /// Writes a whole copy of the journal to a path where there is no file, private to this user.
    /// Only open_restored() opens it, and everything in it that is not settled counts as possibly
    /// sent then.
    ///
    /// Effects: flushes first. Other calls wait until it is done. The copy is durable.
    /// Errors: journal_exists; journal_missing if the folder does not exist; not_a_journal if the
    /// path is no name of a file; storage_failed. On all of them there is no file, and the storage
    /// goes on unless the flush failed.
    /// After a crash: either the whole copy is there, or nothing; see create().
    result<void> backup(std::string const& path) { return session_->backup(path); }

private:
    explicit sqlite_storage(std::unique_ptr<detail::sqlite_session> session)
        : session_(std::move(session)) {}

    static result<sqlite_storage> open(std::string const& path, bool restored, options o) {
        constexpr milliseconds between{5};
        auto const start = std::chrono::steady_clock::now();
        for (;;) {
            auto session = detail::sqlite_session::open(path, restored);
            if (session) return sqlite_storage(std::move(session).value());
            auto const waited =
                std::chrono::duration_cast<milliseconds>(std::chrono::steady_clock::now() - start);
            if (session.error().rule() != rule::journal_in_use || waited >= o.wait)
                return std::move(session).error();
            std::this_thread::sleep_for(std::min(between, o.wait - waited));
        }
    }

    std::unique_ptr<detail::sqlite_session> session_;
};

} // namespace indoubt

#endif
