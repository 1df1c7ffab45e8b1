// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef INDOUBT_ADAPTER_LOG_OPENING_HPP
#define INDOUBT_ADAPTER_LOG_OPENING_HPP

#include <indoubt/adapter/log/session.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <utility>

// How a log is made and opened. What is there is read from the beginning, frame by frame; what was
// being written when the power went is cut off; what was durable and is not whole is refused, with
// the place named. Each open goes on in a segment of its own.

namespace indoubt::detail {

inline std::uint64_t random_number() {
    std::random_device device;
    return std::uint64_t{device()} << 32U | device();
}

template <log_files Files> class log_opening {
public:
    using session = log_session<Files>;
    using folder = log_folder<Files>;

    /// Under another name first: whoever dies on the way leaves the path free.
    static result<std::unique_ptr<session>> create(Files files, std::string const& path) {
        auto const slash = path.find_last_of('/');
        std::string const name = path.substr(slash == std::string::npos ? 0 : slash + 1);
        std::string const parent = folder_above(path);
        if (name.empty() || name == "." || name == ".." || path.find('\0') != std::string::npos)
            return about_log_file(rule::not_a_journal, path, "is not the name of a folder");
        // Asked first, so that nothing is made in vain; the rename asks again.
        auto const there = files.open(path);
        if (there || there.error().rule() == rule::not_a_journal)
            return about_log_file(rule::journal_exists, path, "exists");
        if (there.error().rule() != rule::journal_missing) return there.error();
        std::string const unfinished = path + ".unfinished-" + std::to_string(::getpid()) + '-' +
                                       std::to_string(random_number());
        if (auto const made = files.make_folder(unfinished); !made) {
            return made.error().cause() == ENOENT
                       ? about_log_file(rule::journal_missing, parent, "is missing")
                       : made.error();
        }
        {
            BOOST_OUTCOME_TRY(auto lock, files.create(unfinished + lock_name));
            BOOST_OUTCOME_TRY(files.sync(lock));
            log_opening draft(folder(files, unfinished), std::move(lock));
            session& s = *draft.session_;
            s.journal_ = {random_number(), random_number()};
            s.facts_.epoch = 0; // each open begins the next one
            BOOST_OUTCOME_TRY(s.tail_.begin_next(s.header(log_format::origin::created)));
        }
        BOOST_OUTCOME_TRY(files.rename(unfinished, path));
        BOOST_OUTCOME_TRY(files.sync_folder(parent));
        return open(std::move(files), path, false);
    }

    static result<std::unique_ptr<session>> open(Files files, std::string const& path,
                                                 bool restored) {
        auto opened = files.open(path + lock_name);
        if (!opened) {
            BOOST_OUTCOME_TRY(files.list(path)); // else it is the folder that is missing
            if (opened.error().rule() != rule::journal_missing) return opened.error();
            return about_log_file(rule::not_a_journal, path, "has no file named lock");
        }
        auto lock = std::move(opened).value();
        BOOST_OUTCOME_TRY(bool const ours, files.lock(lock));
        if (!ours) return about_log_file(rule::journal_in_use, path, "has another owner");
        // Whoever made it may have died before its name was durable.
        auto const named = files.sync_folder(folder_above(path));
        if (!named && named.error().cause() != EACCES) return named.error();
        log_opening opening(folder(std::move(files), path), std::move(lock));
        BOOST_OUTCOME_TRY(opening.read_all());
        BOOST_OUTCOME_TRY(opening.begin(restored));
        return std::move(opening.session_);
    }

private:
    static constexpr char const* lock_name = "/lock";

    static std::string folder_above(std::string const& path) {
        auto const slash = path.find_last_of('/');
        return slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
    }

    log_opening(folder f, typename Files::file lock)
        : session_(std::make_unique<session>(std::move(f), std::move(lock))) {
        session_->random_ = &random_number;
    }

    result<void> read_all() {
        folder& f = session_->folder_;
        BOOST_OUTCOME_TRY(auto const numbers, f.numbers());
        if (numbers.empty())
            return about_log_file(rule::not_a_journal, f.path(), "holds no segment");
        log_buffer bytes;
        for (std::uint64_t const number : numbers) {
            BOOST_OUTCOME_TRY(auto s, f.open(number, bytes));
            log_header h;
            auto const found = best_header(bytes, h);
            if (found == header_is::newer)
                return about_log_file(rule::newer_format, f.in(f.name_of(number)), "is newer");
            bool const whole = found == header_is::whole && h.number == number;
            if (!whole && !first_ && number == numbers.back() && is_unused(bytes)) {
                unused_ = number;
                break;
            }
            if (!whole)
                return first_ ? about_log_file(rule::not_a_journal, f.in(f.name_of(number)),
                                               "does not begin like a segment of a log")
                              : f.damaged(number, 0, "has no header");
            if (h.length != s.size)
                return f.damaged(number, s.size, "is not as long as it was made");
            std::swap(bytes, bytes_);
            BOOST_OUTCOME_TRY(fits(h));
            BOOST_OUTCOME_TRY(read(std::move(s), h));
        }
        return success();
    }

    /// Made ahead, or the power went while its header was written: no frame was, for that comes
    /// after the header.
    static bool is_unused(log_buffer const& bytes) {
        using log_format::data;
        return bytes.size() >= data && are_zeros(bytes.view(data, bytes.size() - data));
    }

    /// Of its two copies, if both tell a format that this program knows.
    header_is best_header(log_buffer const& bytes, log_header& h) const {
        using namespace log_format;
        if (bytes.size() < data) return header_is::foreign;
        auto const one = take_header(bytes.data(), h);
        if (one == header_is::whole || one == header_is::newer) return one;
        auto const two = take_header(bytes.data() + header_copy, h);
        return two == header_is::blank ? one : two;
    }

    /// It goes on from the segment before.
    result<void> fits(log_header const& h) {
        session& s = *session_;
        folder& f = s.folder_;
        if (first_) s.journal_ = h.journal;
        if (h.journal != s.journal_ || h.before_number != end_number_)
            return f.damaged(h.number, 0, "does not follow the segment before it");
        if (!std::exchange(first_, false) &&
            (h.before_end != end_.offset || h.before_checksum != end_.checksum))
            return f.damaged(end_number_, end_.offset,
                             "ends earlier than the segment after it says");
        s.facts_.epoch = h.epoch;
        s.facts_.high_water = std::max(s.facts_.high_water, h.high_water);
        last_ = h;
        if (h.came == log_format::origin::restored) mark_restored();
        return success();
    }

    result<void> read(log_segment<Files> segment, log_header const& h) {
        session& s = *session_;
        std::uint64_t const number = segment.number;
        end_number_ = number;
        // Older segments are complete: what they say is asked of while this one is read.
        s.tail_.add_older(std::move(segment));
        std::uint64_t bad_at = 0;
        auto const apply = [&](std::string_view entries, std::size_t offset) {
            while (!entries.empty()) {
                auto const left = entries.size();
                auto const e = next_entry(entries);
                if (!e || !take(*e, place_of(number, offset))) {
                    bad_at = offset;
                    return false;
                }
                offset += left - entries.size();
            }
            return true;
        };
        auto const mend = [&](std::uint64_t offset, log_buffer const& whole) {
            auto mended =
                s.folder_.files().write_durably(s.tail_.at(number)->file, offset,
                                                std::span<char const>(whole.data(), whole.size()));
            return mended || unreadable(std::move(mended).error());
        };
        end_ = log_walk(bytes_, h, apply, mend).go();
        if (failed_) return *failed_;
        if (end_.how == log_end::kind::damaged)
            return s.folder_.damaged(number, bad_at != 0 ? bad_at : end_.offset,
                                     "was durable, and is not whole");
        s.tail_.ends(end_.sequence, end_.offset, end_.checksum);
        return success();
    }

    // ---- what the entries say -------------------------------------------------------------------

    bool take(log_entry const& e, log_place place) {
        switch (e.kind) {
        case log_format::entry::whole: return take_record(e.payload, place);
        case log_format::entry::change: return take_changed(e.payload, place);
        case log_format::entry::name: {
            log_reader in(e.payload);
            auto const name = in.text();
            (void)in.text();
            (void)in.text();
            if (!in.good() || !in.at_end()) return false;
            session_->contents_.index().insert(log_digest_of(name), place);
            return true;
        }
        }
        return false;
    }

    bool take_record(std::string_view payload, log_place place) {
        record r;
        if (!take_whole(payload, r)) return false;
        log_digest const d = log_digest_of(r.identity());
        log_contents& all = session_->contents_;
        auto const known = session_->place_of_record(d, r.identity());
        if (!known) return unreadable(known.error());
        log_place const to = is_unsettled(r) ? all.keep(r, place, d) : place;
        if (known.value() == 0) {
            all.index().insert(d, to);
        } else {
            all.index().move(d, known.value(), to);
            if (log_contents::is_live(known.value())) all.drop(known.value());
        }
        return seen(r);
    }

    bool take_changed(std::string_view payload, log_place place) {
        auto const c = take_change(payload);
        if (!c) return false;
        log_contents& all = session_->contents_;
        record r;
        log_reader in(c->state);
        if (!take_state(in, r)) return false;
        std::optional<error> not_read;
        log_place const known = all.index().find(c->digest, [&](log_place p) {
            if (log_contents::is_live(p)) return all.live(p).whole == c->whole;
            auto const whole = session_->whole_of(p);
            if (!whole) not_read = whole.error();
            return whole && whole.value() == c->whole;
        });
        if (not_read) return unreadable(std::move(*not_read));
        if (known == 0) return false;
        if (log_contents::is_live(known)) {
            record const& before = all.live(known).kept;
            r.intent = before.intent;
            r.operation = before.operation;
        } else {
            auto before = session_->load(known);
            if (!before) return unreadable(before.error());
            r.intent = before.value().intent;
            r.operation = before.value().operation;
        }
        if (is_unsettled(r)) {
            if (log_contents::is_live(known)) {
                all.live(known).kept = r;
            } else {
                all.index().move(c->digest, known, all.keep(r, c->whole, c->digest));
            }
        } else {
            all.index().move(c->digest, known, place);
            if (log_contents::is_live(known)) all.drop(known);
        }
        return seen(r);
    }

    bool seen(record const& r) {
        session_->wrote(r);
        return true;
    }
    bool unreadable(error e) {
        failed_ = std::move(e);
        return false;
    }

    // ---- a new life -----------------------------------------------------------------------------

    result<void> begin(bool restored) {
        session& s = *session_;
        folder& f = s.folder_;
        auto* const last = s.tail_.at(last_.number);
        BOOST_OUTCOME_TRY(auto const marks, f.files().marks(last->file));
        if (!restored && !last_.marks.same_file_as(marks))
            return about_log_file(rule::restored_copy, f.path(),
                                  "was copied or restored: open_restored takes it over");
        if (s.facts_.epoch == std::numeric_limits<std::uint32_t>::max())
            return about_log_file(rule::storage_failed, f.path(), "has used up its epochs");
        BOOST_OUTCOME_TRY(settle_the_end());
        ++s.facts_.epoch;
        s.facts_.restored = restored;
        s.begun_ = s.done_ = end_.sequence;
        using log_format::origin;
        BOOST_OUTCOME_TRY(
            s.tail_.begin_next(s.header(restored ? origin::restored : origin::opened)));
        if (restored) mark_restored();
        return success();
    }

    /// A segment that begins so says it, now and at every later open, of all that is open there.
    void mark_restored() {
        session_->contents_.each_live([](log_live& l) {
            if (may_have_gone_on(l.kept)) l.kept.restored = true;
        });
    }

    /// What an earlier life left at the end is made what it would have been.
    result<void> settle_the_end() {
        session& s = *session_;
        if (unused_ != 0) {
            BOOST_OUTCOME_TRY(s.folder_.remove(unused_));
        }
        auto& last = *s.tail_.at(end_number_);
        BOOST_OUTCOME_TRY(write_again(last));
        if (end_.how != log_end::kind::torn) return success();
        return s.folder_.cut_off(last, bytes_, end_.offset);
    }

    /// The last write may be in the cache only, though it is read, and though later syncs succeed.
    /// Each is written in two parts of which one is enough: so the power may go meanwhile. (But a
    /// frame without a copy that fills its segment to the end is written as it is.)
    result<void> write_again(log_segment<Files>& last) {
        using namespace log_format;
        auto const write = [&](std::uint64_t at, log_buffer const& bytes) {
            return session_->folder_.files().write_durably(
                last.file, at, std::span<char const>(bytes.data(), bytes.size()));
        };
        log_buffer first, second;
        if (end_.last == 0) {
            log_header h;
            bool const one = take_header(bytes_.data(), h) == header_is::whole;
            first.add(header_copy);
            std::memcpy(first.data(), bytes_.data() + (one ? 0 : header_copy), header_copy);
            BOOST_OUTCOME_TRY(write(one ? header_copy : 0, first));
            return write(one ? 0 : header_copy, first);
        }
        std::size_t const at = end_.last;
        auto const f = *frame_at(bytes_.view(at, bytes_.size() - at), last_.nonce);
        std::size_t const length = in_whole_sectors(f.size);
        std::memcpy(first.add(length), bytes_.data() + at, length);
        put_copy(second, bytes_, at, f, last_.nonce, f.other == 0 ? lent : std::uint8_t{0});
        bool const copied = at + length + second.size() <= bytes_.size();
        if (copied) {
            BOOST_OUTCOME_TRY(write(at + length, second));
        }
        BOOST_OUTCOME_TRY(write(at, first));
        if (f.other != 0 || !copied) return success();
        std::memset(second.data(), 0, second.size());
        return write(at + length, second);
    }

    std::unique_ptr<session> session_;
    log_buffer bytes_{}; ///< of the last segment that was used
    log_header last_{};
    log_end end_{}; ///< of that segment
    std::uint64_t end_number_ = 0;
    std::uint64_t unused_ = 0; ///< a segment behind it that holds nothing; 0: none
    bool first_ = true;
    std::optional<error> failed_{};
};

} // namespace indoubt::detail

#endif
