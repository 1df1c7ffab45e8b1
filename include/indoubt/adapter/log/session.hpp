// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef INDOUBT_ADAPTER_LOG_SESSION_HPP
#define INDOUBT_ADAPTER_LOG_SESSION_HPP

#include <indoubt/adapter/log/contents.hpp>
#include <indoubt/adapter/log/tail.hpp>
#include <indoubt/adapter/log/turns.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

// An open log. Writes go to a draft in memory; a flush makes the draft a frame on disk. Whoever
// flushes first writes for all. A failed write or flush ends the handle.

namespace indoubt::detail {

template <log_files Files> class log_session {
public:
    using folder = log_folder<Files>;

    log_session(folder f, typename Files::file lock)
        : folder_(std::move(f)), lock_(std::move(lock)) {}
    log_session(log_session const&) = delete;
    log_session& operator=(log_session const&) = delete;

    /// Effects: flushes what was written, unless something failed before.
    ~log_session() {
        if (::getpid() == process_ && !failed_) (void)flush();
    }

    storage_facts facts() {
        if (::getpid() != process_) return facts_; // a forked child: the mutex may be held for ever
        std::scoped_lock lock(mutex_);
        return facts_;
    }

    result<std::optional<record>> insert(record const& r) {
        log_digest const d = log_digest_of(r.identity());
        BOOST_OUTCOME_TRY(in_this_process());
        std::unique_lock lock(mutex_);
        BOOST_OUTCOME_TRY(make_room(lock, most_bytes(r)));
        BOOST_OUTCOME_TRY(auto const place, place_of_record(d, r.identity()));
        if (place != 0) {
            BOOST_OUTCOME_TRY(auto stored, load(place));
            return std::optional<record>(std::move(stored));
        }
        log_place const whole = append(is_evidence(r), [&](log_buffer& b) { put_whole(b, r); });
        contents_.index().insert(d, is_unsettled(r) ? contents_.keep(r, whole, d) : whole);
        wrote(r);
        return std::optional<record>();
    }

    result<void> replace(record const& r, version expected) {
        log_digest const d = log_digest_of(r.identity());
        BOOST_OUTCOME_TRY(in_this_process());
        std::unique_lock lock(mutex_);
        BOOST_OUTCOME_TRY(make_room(lock, most_bytes(r)));
        BOOST_OUTCOME_TRY(auto const place, place_of_record(d, r.identity()));
        if (place == 0) return error(rule::stale_version);
        bool const was_live = log_contents::is_live(place);
        record settled;
        log_place whole = 0;
        if (!was_live) {
            BOOST_OUTCOME_TRY(settled, load(place));
            BOOST_OUTCOME_TRY(whole, whole_of(place));
        } else {
            whole = contents_.live(place).whole;
        }
        record const& stored = was_live ? contents_.live(place).kept : settled;
        if (stored.version != expected || stored.operation != r.operation)
            return error(rule::stale_version, stored.state);
        auto const intent = stored.intent; // which never changes
        log_place const changed =
            append(is_evidence(r), [&](log_buffer& b) { put_change(b, d, whole, r); });
        if (is_unsettled(r)) {
            if (was_live) {
                contents_.live(place).kept = r;
                contents_.live(place).kept.intent = intent;
            } else {
                record again = r;
                again.intent = intent;
                contents_.index().move(d, place, contents_.keep(again, whole, d));
            }
        } else {
            contents_.index().move(d, place, changed);
            if (was_live) contents_.drop(place);
        }
        wrote(r);
        return success();
    }

    result<std::optional<record>> find(identity const& id) {
        log_digest const d = log_digest_of(id);
        BOOST_OUTCOME_TRY(in_this_process());
        std::scoped_lock lock(mutex_);
        BOOST_OUTCOME_TRY(usable());
        BOOST_OUTCOME_TRY(auto const place, place_of_record(d, id));
        if (place == 0) return std::optional<record>();
        BOOST_OUTCOME_TRY(auto stored, load(place));
        return std::optional<record>(std::move(stored));
    }

    result<bool> is_current(identity const& id, version v) {
        log_digest const d = log_digest_of(id);
        BOOST_OUTCOME_TRY(in_this_process());
        std::scoped_lock lock(mutex_);
        BOOST_OUTCOME_TRY(usable());
        BOOST_OUTCOME_TRY(auto const place, place_of_record(d, id));
        if (place == 0) return false;
        if (log_contents::is_live(place)) return contents_.live(place).kept.version == v;
        BOOST_OUTCOME_TRY(auto const stored, load(place));
        return stored.version == v;
    }

    result<bool> bind(std::string_view name, identity const& id) {
        log_digest const d = log_digest_of(name);
        BOOST_OUTCOME_TRY(in_this_process());
        std::unique_lock lock(mutex_);
        BOOST_OUTCOME_TRY(make_room(lock, name.size() + id.scope.size() + id.key.size() + 64));
        std::optional<bool> ours;
        std::optional<error> unreadable;
        contents_.index().find(d, [&](log_place p) {
            if (log_contents::is_live(p)) return false;
            auto const e = read(p);
            if (!e) unreadable = e.error();
            if (!e || e.value().kind != log_format::entry::name) return false;
            log_reader in(e.value().payload);
            if (in.text() != name) return false;
            ours = in.text() == id.scope && in.text() == id.key;
            return true;
        });
        if (unreadable) return failed(std::move(*unreadable));
        if (ours) return *ours;
        contents_.index().insert(d, append(false, [&](log_buffer& b) { put_name(b, name, id); }));
        return true;
    }

    result<std::vector<record>> unsettled(page p) {
        BOOST_OUTCOME_TRY(in_this_process());
        std::scoped_lock lock(mutex_);
        BOOST_OUTCOME_TRY(usable());
        return contents_.page_of(p);
    }

    result<void> flush() {
        BOOST_OUTCOME_TRY(in_this_process());
        std::unique_lock lock(mutex_);
        BOOST_OUTCOME_TRY(usable());
        // Nothing new: what is being written now is what was written before this call.
        return flush_upto(lock, draft_->is_empty() ? begun_ : begun_ + 1);
    }

private:
    template <log_files> friend class log_opening;

    struct entry_read {
        log_format::entry kind;
        std::string payload;
    };

    /// Evidence is written twice: that something was sent, how it ended, and what a person said.
    static bool is_evidence(record const& r) { return r.state != state_id::pending; }

    /// At least what its entry takes.
    static std::size_t most_bytes(record const& r) {
        auto const& i = *r.intent;
        std::size_t n = 512 + i.request.size() + i.fingerprint.size() + i.fingerprint_rule.size() +
                        i.target.size() + r.receipt.size() + r.provider_key.size() +
                        i.identity.scope.size() + i.identity.key.size() + 64 * r.attempts.size();
        if (r.notes) {
            auto const& [hints, target_id, remarks, owner, former_keys, set_aside, decisions] =
                *r.notes;
            n += hints.size() + target_id.size() + remarks.size() + owner.size() + 128;
            for (auto const* list : {&former_keys, &set_aside})
                for (auto const& text : *list)
                    n += text.size() + 10;
            for (auto const& d : decisions)
                n += d.what.size() + d.who.size() + d.why.size() + d.id.size() + 64;
        }
        return n;
    }

    result<void> in_this_process() const {
        if (::getpid() == process_) return success();
        return about_log_file(rule::storage_failed, folder_.path(),
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

    void wrote(record const& r) { facts_.high_water = std::max(facts_.high_water, r.written_at); }

    template <class Put> log_place append(bool evidence, Put put) {
        std::size_t const from = draft_->add(evidence, put);
        return place_of(tail_.number(), tail_.base() + from);
    }

    // ---- reading --------------------------------------------------------------------------------

    /// Returns: 0 if the log holds no such operation.
    result<log_place> place_of_record(log_digest const& d, identity const& id) {
        std::optional<error> unreadable;
        log_place const place = contents_.index().find(d, [&](log_place p) {
            if (log_contents::is_live(p)) return contents_.live(p).kept.identity() == id;
            auto const whole = whole_of(p);
            auto const e = whole ? read(whole.value()) : result<entry_read>(whole.error());
            if (!e) unreadable = e.error();
            return e && e.value().kind == log_format::entry::whole &&
                   is_whole_of(e.value().payload, id);
        });
        if (unreadable) return failed(std::move(*unreadable));
        return place;
    }

    /// The place of the intent of a record that is not in memory.
    result<log_place> whole_of(log_place p) {
        BOOST_OUTCOME_TRY(auto const e, read(p));
        if (e.kind != log_format::entry::change) return p;
        auto const c = take_change(e.payload);
        return c ? c->whole : p;
    }

    result<record> load(log_place p) {
        if (log_contents::is_live(p)) return contents_.live(p).kept;
        BOOST_OUTCOME_TRY(auto const e, read(p));
        record r;
        auto const c = e.kind == log_format::entry::change ? take_change(e.payload) : std::nullopt;
        if (!c) {
            if (take_whole(e.payload, r)) return r;
            return failed(unreadable(p));
        }
        BOOST_OUTCOME_TRY(auto const whole, read(c->whole));
        record first;
        log_reader in(c->state);
        if (!take_whole(whole.payload, first) || !take_state(in, r)) return failed(unreadable(p));
        r.intent = std::move(first.intent);
        r.operation = first.operation;
        return r;
    }

    error unreadable(log_place p) const {
        return folder_.damaged(segment_of(p), offset_of(p), "has an entry that cannot be read");
    }

    /// The entry at a place, from memory while it is not on disk.
    result<entry_read> read(log_place p) {
        std::uint64_t const offset = offset_of(p);
        bool const here = segment_of(p) == tail_.number();
        if (here && offset >= tail_.base())
            return taken(draft_->bytes(), draft_->size(), offset - tail_.base(), p);
        if (here && turns_.taken() && offset >= flying_base_)
            return taken(flying_->bytes(), flying_size_, offset - flying_base_, p);
        auto* const s = tail_.at(segment_of(p));
        if (s == nullptr) return unreadable(p);
        std::array<char, 512> first{};
        BOOST_OUTCOME_TRY(auto const got, folder_.files().read(s->file, offset, first));
        if (got < log_entry_header) return unreadable(p);
        auto const length = std::size_t{::indoubt::detail::load<std::uint32_t>(first.data() + 1)};
        entry_read e{log_format::entry{static_cast<std::uint8_t>(first[0])}, std::string()};
        if (length > log_format::largest_segment) return unreadable(p);
        e.payload.resize(length);
        std::size_t const part = std::min(length, got - log_entry_header);
        std::copy_n(first.data() + log_entry_header, part, e.payload.data());
        if (part < length) {
            std::span<char> const rest(e.payload.data() + part, length - part);
            BOOST_OUTCOME_TRY(
                auto const more,
                folder_.files().read(s->file, offset + log_entry_header + part, rest));
            if (more != rest.size()) return unreadable(p);
        }
        return e;
    }
    result<entry_read> taken(log_buffer const& b, std::size_t size, std::uint64_t from,
                             log_place p) const {
        if (from >= size) return unreadable(p);
        auto rest = b.view(static_cast<std::size_t>(from), size - static_cast<std::size_t>(from));
        auto const e = next_entry(rest);
        if (!e) return unreadable(p);
        return entry_read{e->kind, std::string(e->payload)};
    }
    // ---- writing --------------------------------------------------------------------------------

    /// Until the draft has room for one more entry, which may be evidence. The mutex may be given
    /// back meanwhile.
    result<void> make_room(std::unique_lock<std::mutex>& lock, std::size_t bytes) {
        constexpr std::size_t most = log_format::largest_segment / 4;
        if (bytes > most) return error(rule::too_large);
        for (;;) {
            BOOST_OUTCOME_TRY(usable());
            if (tail_.has_room(draft_->room(bytes))) return success();
            if (!draft_->is_empty() || turns_.taken()) {
                BOOST_OUTCOME_TRY(flush_upto(lock, draft_->is_empty() ? begun_ : begun_ + 1));
            } else if (auto rolled = tail_.begin_next(header(log_format::origin::continued));
                       !rolled) {
                return failed(std::move(rolled).error());
            }
        }
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

    /// Writes the draft for everybody who waits for it.
    void lead(std::unique_lock<std::mutex>& lock) {
        std::size_t const length = draft_->room();
        draft_->bytes().reserve(length); // whoever reads an entry meanwhile: it stays where it is
        turns_.take();
        std::uint64_t const number = ++begun_;
        std::swap(draft_, flying_);
        flying_base_ = tail_.base();
        flying_size_ = flying_->size(); // which grows while it is sealed
        log_link const link = tail_.take(number, length);
        lock.unlock();
        std::uint64_t const checksum = flying_->seal(link);
        auto const written = folder_.files().write_durably(
            tail_.file(), link.synced_upto,
            std::span<char const>(flying_->bytes().data(), flying_->bytes().size()));
        lock.lock();
        if (written) {
            tail_.wrote(link, checksum);
            done_ = number;
            if (makes_ahead_) tail_.make_ahead();
        } else {
            (void)failed(error(written.error()));
        }
        flying_->clear();
        turns_.pass_on(lock, number);
        lock.lock();
    }

    folder folder_;
    typename Files::file lock_;
    log_tail<Files> tail_{folder_};
    std::mutex mutex_;
    log_turns turns_;
    log_contents contents_;
    storage_facts facts_{};
    std::array<std::uint64_t, 2> journal_{};
    std::function<std::uint64_t()> random_;
    std::optional<error> failed_{};
    pid_t process_ = ::getpid();

    std::uint64_t flying_base_ = 0;      ///< where the frame begins that is being written
    std::size_t flying_size_ = 0;        ///< up to its last entry
    std::uint64_t begun_ = 0, done_ = 0; ///< the last frame that was taken, and made durable
    std::unique_ptr<log_draft> draft_ = std::make_unique<log_draft>();
    std::unique_ptr<log_draft> flying_ = std::make_unique<log_draft>();
    bool makes_ahead_ = true;
};

} // namespace indoubt::detail

#endif
