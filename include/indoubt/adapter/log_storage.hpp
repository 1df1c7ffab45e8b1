// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef INDOUBT_ADAPTER_LOG_STORAGE_HPP
#define INDOUBT_ADAPTER_LOG_STORAGE_HPP

#include <indoubt/adapter/log/opening.hpp>
#include <indoubt/adapter/log/posix_files.hpp>
#include <indoubt/policy/storage.hpp>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

// A journal in a folder of append-only segments. All threads that flush at the same time share
// one write to the disk. What was overwritten is given back bit by bit. Its bytes are described in
// docs/log_format.md.
//
// Promise: what was flushed is there after the death of the process or the machine. It holds on a
// local file system and a disk that keep what they were told to sync. What was durable and is not
// whole any more is refused, with the place named.

namespace indoubt {

/// A storage in a folder, which has one owner at a time. Files is what it reaches the disk by.
///
/// Memory: what is unsettled, 14 to 18 bytes for each operation and each bound name, and 16 for
/// each settled operation that is no tombstone. On a full disk insert and sends are
/// rule::storage_failed with the cause ENOSPC; room is kept to settle what is open. Thread safety:
/// all functions may be called from several threads at once, under one mutex, which is not held
/// while a flush writes. After a failed write or flush every call is rule::storage_failed, and
/// nothing more is written. After a crash: opening it again finds everything flushed, and of the
/// rest nothing or a part that was written before the rest. A child that was forked cannot use its
/// parent's storage: every call is rule::storage_failed. It is handed over by moving, before other
/// threads know of it; a moved-from storage may only be destroyed or assigned to.
template <detail::log_files Files> class basic_log_storage {
public:
    basic_log_storage(basic_log_storage const&) = delete;
    basic_log_storage(basic_log_storage&&) noexcept = default;
    basic_log_storage& operator=(basic_log_storage const&) = delete;
    basic_log_storage& operator=(basic_log_storage&&) noexcept = default;
    /// Effects: flushes what was written, unless something failed before.
    ~basic_log_storage() = default;

    /// Makes a journal at a path where there is nothing, private to this user.
    ///
    /// Errors: journal_exists; journal_missing if the folder above it does not exist;
    /// not_a_journal if the path is no name of a folder; storage_failed.
    /// After a crash: either a whole journal is there, or nothing; beside it an unfinished folder
    /// may be left, "<name>.unfinished-...", which nobody needs.
    static result<basic_log_storage> create(std::string const& path, Files files = {}) {
        return made(detail::log_opening<Files>::create(std::move(files), path));
    }

    /// Opens a journal where it was made. Its folder may have been renamed, but not copied.
    ///
    /// Effects: reads all of it; begins a new segment and a new epoch. What was being written when
    /// the power went is moved to a file "<segment>.torn" beside its segment.
    /// Errors: journal_missing; journal_in_use; not_a_journal for what is empty, foreign, or not
    /// private to this user; newer_format; journal_damaged, with segment and offset; restored_copy;
    /// storage_failed.
    static result<basic_log_storage> open(std::string const& path, Files files = {}) {
        return made(detail::log_opening<Files>::open(std::move(files), path, false));
    }

    /// Opens a journal that was restored from a backup or copied, and takes it over.
    ///
    /// Effects: as open(). What is not settled counts as possibly sent from now on: its record says
    /// restored, now and after every later open.
    static result<basic_log_storage> open_restored(std::string const& path, Files files = {}) {
        return made(detail::log_opening<Files>::open(std::move(files), path, true));
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
    /// At most as many as fit one write of 8 MiB.
    result<std::size_t> shrink_settled(time_point written_before, std::size_t most) {
        return session_->shrink_settled(written_before, most);
    }
    /// One write to the disk for all threads that wait for it.
    result<void> flush() { return session_->flush(); }

    /// Gives back the room of what was overwritten or shrank, as it is done a little with each
    /// flush once half of the journal can be given back.
    ///
    /// Effects: writes again what is there, which takes as long as writing it; others go on
    /// meanwhile, and wait no longer for it than for a write of 64 KiB.
    /// Errors: storage_failed; journal_damaged.
    result<void> compact() { return session_->compact(); }

    /// Copies the journal to a path where there is nothing. Only open_restored() opens the copy,
    /// and everything in it that is not settled counts as possibly sent then.
    ///
    /// Effects: flushes first. Other calls go on meanwhile, but no segment is removed. The copy is
    /// durable. What was durable when it began is in it.
    /// Errors: as of create(); on all of them the storage goes on unless the flush failed.
    /// After a crash, or an error: as after create().
    result<void> backup(std::string const& path) { return session_->backup(path); }

private:
    using session = detail::log_session<Files>;

    explicit basic_log_storage(std::unique_ptr<session> s) : session_(std::move(s)) {}
    static result<basic_log_storage> made(result<std::unique_ptr<session>>&& s) {
        if (!s) return std::move(s).error();
        return basic_log_storage(std::move(s).value());
    }

    std::unique_ptr<session> session_;
};

/// On the files of this machine.
using log_storage = basic_log_storage<detail::posix_files>;

} // namespace indoubt

#endif
