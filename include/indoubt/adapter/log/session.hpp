// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef INDOUBT_ADAPTER_LOG_SESSION_HPP
#define INDOUBT_ADAPTER_LOG_SESSION_HPP

#include <indoubt/adapter/log/cleaning.hpp>
#include <indoubt/adapter/log/fork_mark.hpp>
#include <indoubt/adapter/log/new_folder.hpp>
#include <indoubt/adapter/log/retention.hpp>
#include <indoubt/adapter/log/store.hpp>
#include <indoubt/adapter/log/turns.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// An open log. Writes go to a draft in memory; a flush makes the draft a frame on disk. Whoever
// flushes first writes for all. A failed write or flush ends the handle.

namespace indoubt::detail {

template <log_files Files> class log_session {
public:
    log_session(log_folder<Files> f, typename Files::file lock)
        : store_(std::move(f)), lock_(std::move(lock)) {}
    log_session(log_session const&) = delete;
    log_session& operator=(log_session const&) = delete;

    /// Effects: flushes what was written, unless something failed before.
    ~log_session() {
        if (!fork_.is_in_a_child() && !failed_) (void)flush();
    }

    storage_facts facts() {
        if (fork_.is_in_a_child()) return facts_; // a forked child: the mutex may be held for ever
        std::scoped_lock lock(mutex_);
        return facts_;
    }

    result<std::optional<record>> insert(record const& r) {
        log_digest const d = log_digest_of(r.identity());
        BOOST_OUTCOME_TRY(in_this_process());
        std::unique_lock lock(mutex_);
        BOOST_OUTCOME_TRY(make_room(lock, r));
        BOOST_OUTCOME_TRY(auto const place, found(store_.place_of_record(d, r.identity())));
        if (place != 0) return stored(place);
        log_place const whole =
            store_.append(is_evidence(r), [&](log_buffer& b) { put_whole(b, r); });
        store_.stands(d, 0, r, whole, whole);
        wrote(r);
        return std::optional<record>();
    }

    result<void> replace(record const& r, version expected) {
        log_digest const d = log_digest_of(r.identity());
        BOOST_OUTCOME_TRY(in_this_process());
        std::unique_lock lock(mutex_);
        BOOST_OUTCOME_TRY(make_room(lock, r));
        BOOST_OUTCOME_TRY(auto const place, found(store_.place_of_record(d, r.identity())));
        if (place == 0) return error(rule::stale_version);
        BOOST_OUTCOME_TRY(auto const whole, found(store_.whole_of(place)));
        std::optional<record> settled;
        if (!log_contents::is_live(place)) {
            BOOST_OUTCOME_TRY(settled, found(store_.load(place)));
        }
        record const& before = settled ? *settled : store_.contents.live(place).kept;
        if (before.version != expected || before.operation != r.operation)
            return error(rule::stale_version, before.state);
        log_place const changed =
            store_.append(is_evidence(r), [&](log_buffer& b) { put_change(b, d, whole, r); });
        if (settled && is_unsettled(r)) {
            record again = r;
            again.intent = before.intent; // which never changes
            store_.stands(d, place, again, whole, changed);
        } else {
            store_.stands(d, place, r, whole, changed);
        }
        wrote(r);
        return success();
    }

    result<std::optional<record>> find(identity const& id) {
        log_digest const d = log_digest_of(id);
        BOOST_OUTCOME_TRY(in_this_process());
        std::scoped_lock lock(mutex_);
        BOOST_OUTCOME_TRY(usable());
        BOOST_OUTCOME_TRY(auto const place, found(store_.place_of_record(d, id)));
        if (place == 0) return std::optional<record>();
        return stored(place);
    }

    result<bool> is_current(identity const& id, version v) {
        log_digest const d = log_digest_of(id);
        BOOST_OUTCOME_TRY(in_this_process());
        std::scoped_lock lock(mutex_);
        BOOST_OUTCOME_TRY(usable());
        BOOST_OUTCOME_TRY(auto const place, found(store_.place_of_record(d, id)));
        if (place == 0) return false;
        if (log_contents::is_live(place)) return store_.contents.live(place).kept.version == v;
        BOOST_OUTCOME_TRY(auto const r, found(store_.load(place)));
        return r.version == v;
    }

    result<bool> bind(std::string_view name, identity const& id) {
        log_digest const d = log_digest_of(name);
        BOOST_OUTCOME_TRY(in_this_process());
        std::unique_lock lock(mutex_);
        BOOST_OUTCOME_TRY(
            make_room(lock, name.size() + id.scope.size() + id.key.size() + 64, true));
        bool ours = false;
        BOOST_OUTCOME_TRY(auto const known,
                          found(store_.place_of_name(d, name, [&](log_reader& in) {
                              ours = in.text() == id.scope && in.text() == id.key;
                          })));
        if (known != 0) return ours;
        store_.contents.index().insert(
            d, store_.append(false, [&](log_buffer& b) { put_name(b, name, id); }));
        return true;
    }

    result<std::vector<record>> unsettled(page p) {
        BOOST_OUTCOME_TRY(in_this_process());
        std::scoped_lock lock(mutex_);
        BOOST_OUTCOME_TRY(usable());
        return store_.contents.page_of(p);
    }

    result<std::size_t> shrink_settled(time_point before, std::size_t most) {
        BOOST_OUTCOME_TRY(in_this_process());
        std::unique_lock lock(mutex_);
        log_retention<Files> retention(store_);
        for (;;) {
            BOOST_OUTCOME_TRY(usable());
            BOOST_OUTCOME_TRY(auto const bytes, found(retention.choose(before, most)));
            // In one frame, so that a crash takes back all of it.
            if (store_.tail.has_room(store_.draft->room(bytes))) break;
            retention.put_back();
            BOOST_OUTCOME_TRY(make_room(lock, bytes, true));
        }
        return retention.shrink(facts_.epoch);
    }

    result<void> flush() {
        BOOST_OUTCOME_TRY(in_this_process());
        std::unique_lock lock(mutex_);
        BOOST_OUTCOME_TRY(usable());
        return flush_all(lock);
    }

    /// A pass through all that is there, with a flush for each slice: others write meanwhile.
    result<void> compact() {
        BOOST_OUTCOME_TRY(in_this_process());
        std::unique_lock lock(mutex_);
        do {
            BOOST_OUTCOME_TRY(usable());
            BOOST_OUTCOME_TRY(flush_all(lock));
        } while (turns_.taken() || !store_.draft->is_empty());
        BOOST_OUTCOME_TRY(roll());
        cleaning_.begin();
        while (cleaning_.is_under_way()) {
            BOOST_OUTCOME_TRY(usable());
            BOOST_OUTCOME_TRY(found(cleaning_.go_on(slice, begun_ + 1)));
            if (store_.draft->is_empty() && !turns_.taken()) {
                BOOST_OUTCOME_TRY(roll()); // there was no room for one entry
            } else {
                BOOST_OUTCOME_TRY(flush_all(lock));
            }
        }
        return success();
    }

    /// A copy of all segments as they are now. Others write meanwhile; nothing is removed.
    result<void> backup(std::string const& path) {
        BOOST_OUTCOME_TRY(in_this_process());
        std::unique_lock lock(mutex_);
        BOOST_OUTCOME_TRY(usable());
        BOOST_OUTCOME_TRY(flush_all(lock));
        std::vector<log_extent> const all = store_.tail.extents();
        cleaning_.keep_files(true);
        lock.unlock();
        auto done = copy_log(store_.folder, all, path);
        lock.lock();
        cleaning_.keep_files(false);
        return done;
    }

private:
    template <log_files> friend class log_opening;

    static constexpr std::size_t slice = std::size_t{32} << 10;       ///< of a pass, bytes
    static constexpr std::size_t most_waiting = std::size_t{1} << 20; ///< bytes without a flush
    static constexpr milliseconds longest_waiting{1000};

    result<void> in_this_process() const {
        if (!fork_.is_in_a_child()) return success();
        return about_log_file(rule::storage_failed, store_.folder.path(),
                              "was opened by the parent of this process");
    }
    result<void> usable() const {
        if (failed_) return *failed_;
        return success();
    }
    error failed(error&& e) {
        if (!failed_) failed_ = std::move(e).in(state_id::none);
        return *failed_;
    }
    /// What cannot be read ends the handle.
    template <class T> result<T> found(result<T>&& r) {
        if (!r) return failed(std::move(r).error());
        return std::move(r);
    }
    result<std::optional<record>> stored(log_place place) {
        BOOST_OUTCOME_TRY(auto r, found(store_.load(place)));
        return std::optional<record>(std::move(r));
    }

    void wrote(record const& r) { facts_.high_water = std::max(facts_.high_water, r.written_at); }

    // ---- writing --------------------------------------------------------------------------------

    /// For a new version of a record. What waits for the next flush does not wait longer than so.
    result<void> make_room(std::unique_lock<std::mutex>& lock, record const& r) {
        if (!store_.draft->is_empty() && r.written_at - waits_since_ > longest_waiting) {
            BOOST_OUTCOME_TRY(usable());
            BOOST_OUTCOME_TRY(flush_all(lock));
        }
        if (store_.draft->is_empty()) waits_since_ = r.written_at;
        bool const settles = r.state != state_id::pending && r.state != state_id::uncertain;
        return make_room(lock, most_bytes(r), settles);
    }

    /// Until the draft has room for so many bytes more, which may be evidence. The mutex may be
    /// given back meanwhile. Where the disk is full, what settles something has what is left.
    result<void> make_room(std::unique_lock<std::mutex>& lock, std::size_t bytes, bool settles) {
        constexpr std::size_t most = log_format::largest_segment / 4;
        if (bytes > most) return error(rule::too_large);
        for (;;) {
            BOOST_OUTCOME_TRY(usable());
            std::size_t const kept_free = settles ? 0 : reserve();
            bool const fits = store_.tail.has_room(store_.draft->room(bytes) + kept_free);
            if (fits && store_.draft->size() < most_waiting) return success();
            if (!store_.draft->is_empty() || turns_.taken()) {
                BOOST_OUTCOME_TRY(flush_all(lock));
            } else {
                BOOST_OUTCOME_TRY(roll());
            }
        }
    }

    /// For a confirmation, or what a person says, of each operation that is not settled: two
    /// sectors, if each is flushed alone. The last one is asked for more than it takes.
    std::size_t reserve() const {
        return std::min(store_.tail.size() / 8,
                        2 * log_format::sector * (store_.contents.live_count() + 4));
    }

    /// The next segment. Nothing is being written. A full disk changes nothing.
    result<void> roll() {
        BOOST_OUTCOME_TRY(found(in_place()));
        if (auto ready = store_.tail.prepare_next(); !ready) {
            int const cause = ready.error().cause();
            if (cause == ENOSPC || cause == EDQUOT) return std::move(ready).error();
            return failed(std::move(ready).error());
        }
        BOOST_OUTCOME_TRY(found(store_.tail.begin_next(header(log_format::origin::continued))));
        cleaning_.begin_if_due();
        return success();
    }

    /// The folder has its name still: else the next segment would be made in another one.
    result<void> in_place() {
        auto& folder = store_.folder;
        auto const moved = [&] {
            return about_log_file(rule::storage_failed, folder.path(),
                                  "was moved or replaced while it was open");
        };
        auto named = folder.files().open(folder.in("lock"));
        if (!named) return named.error().rule() == rule::storage_failed ? named.error() : moved();
        BOOST_OUTCOME_TRY(auto const theirs, folder.files().marks(named.value()));
        BOOST_OUTCOME_TRY(auto const ours, folder.files().marks(lock_));
        return theirs.same_file_as(ours) ? result<void>(success()) : moved();
    }

    /// Nothing new: what is being written now is what was written before this call.
    result<void> flush_all(std::unique_lock<std::mutex>& lock) {
        return flush_upto(lock, store_.draft->is_empty() ? begun_ : begun_ + 1);
    }

    result<void> flush_upto(std::unique_lock<std::mutex>& lock, std::uint64_t number) {
        while (done_ < number) {
            if (failed_) { // whoever was woken to write next does not
                turns_.wake_all();
                return *failed_;
            }
            if (turns_.taken()) {
                turns_.wait(lock, number);
            } else {
                lead(lock);
            }
        }
        return success();
    }

    log_header header(log_format::origin came) {
        log_header h;
        h.journal = journal_;
        h.nonce = random_();
        h.epoch = facts_.epoch;
        h.came = came;
        h.high_water = facts_.high_water;
        return h;
    }

    /// Writes the draft for everybody who waits for it, and a slice of the pass with it: four times
    /// as much, so that a pass ends before what it goes through has doubled.
    void lead(std::unique_lock<std::mutex>& lock) {
        if (cleaning_.is_under_way()) {
            auto const gone_on =
                cleaning_.go_on(std::min(slice, 4 * store_.draft->size()), begun_ + 1);
            if (!gone_on) {
                (void)failed(error(gone_on.error()));
                return;
            }
        }
        turns_.take();
        std::uint64_t const number = ++begun_;
        auto const [frame, link] = store_.launch(number);
        lock.unlock();
        std::uint64_t const checksum = frame->seal(link);
        auto const written = store_.tail.write(
            link, std::span<char const>(frame->bytes().data(), frame->bytes().size()));
        lock.lock();
        std::vector<log_segment<Files>> free;
        if (written) {
            store_.tail.wrote(link, checksum);
            done_ = number;
            free = cleaning_.free_after(number);
            if (makes_ahead_) store_.tail.make_ahead();
        } else {
            (void)failed(error(written.error()));
        }
        store_.landed();
        turns_.pass_on(lock, number);
        // One that stays is removed at the next open.
        for (log_segment<Files>& s : free) {
            s.file = {};
            auto& folder = store_.folder;
            (void)folder.files().remove(folder.in(folder.name_of(s.number)));
        }
        lock.lock();
    }

    log_store<Files> store_;
    log_cleaning<Files> cleaning_{store_};
    typename Files::file lock_;
    std::mutex mutex_;
    log_turns turns_;
    storage_facts facts_{};
    std::array<std::uint64_t, 2> journal_{};
    std::function<std::uint64_t()> random_;
    std::optional<error> failed_{};
    fork_mark fork_;

    std::uint64_t begun_ = 0, done_ = 0; ///< the last frame that was taken, and made durable
    time_point waits_since_{};           ///< when the first record of the draft was written
    bool makes_ahead_ = true;
};

} // namespace indoubt::detail

#endif
