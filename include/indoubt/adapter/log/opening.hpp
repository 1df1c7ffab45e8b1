// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef INDOUBT_ADAPTER_LOG_OPENING_HPP
#define INDOUBT_ADAPTER_LOG_OPENING_HPP

#include <indoubt/adapter/log/new_folder.hpp>
#include <indoubt/adapter/log/replay.hpp>
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

// How a log is made and opened. What was being written when the power went is cut off; what was
// durable and is not whole is refused, with the place named. Each open goes on in a segment of its
// own.

namespace indoubt::detail {

template <log_files Files> class log_opening {
public:
    using session = log_session<Files>;
    using folder = log_folder<Files>;

    static result<std::unique_ptr<session>> create(Files files, std::string const& path) {
        BOOST_OUTCOME_TRY(auto made, log_new_folder<Files>::begin(files, path));
        {
            log_opening draft(folder(files, made.draft()), made.take_lock());
            session& s = *draft.session_;
            s.journal_ = {random_number(), random_number()};
            s.facts_.epoch = 0; // each open begins the next one
            BOOST_OUTCOME_TRY(s.store_.tail.begin_next(s.header(log_format::origin::created)));
        }
        BOOST_OUTCOME_TRY(made.finish());
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
        auto const named = files.sync_folder(log_new_folder<Files>::above(path));
        if (!named && named.error().cause() != EACCES) return named.error();
        log_opening opening(folder(std::move(files), path), std::move(lock));
        BOOST_OUTCOME_TRY(opening.replay_.go());
        BOOST_OUTCOME_TRY(opening.begin(restored));
        return std::move(opening.session_);
    }

private:
    static constexpr char const* lock_name = log_new_folder<Files>::lock_name;

    log_opening(folder f, typename Files::file lock)
        : session_(std::make_unique<session>(std::move(f), std::move(lock))) {
        session_->random_ = &random_number;
    }

    // ---- a new life -----------------------------------------------------------------------------

    result<void> begin(bool restored) {
        session& s = *session_;
        folder& f = s.store_.folder;
        log_header const& last = replay_.last_header();
        BOOST_OUTCOME_TRY(auto const marks, f.files().marks(s.store_.tail.at(last.number)->file));
        if (!restored && !last.marks.same_file_as(marks))
            return about_log_file(rule::restored_copy, f.path(),
                                  "was copied or restored: open_restored takes it over");
        if (last.epoch == std::numeric_limits<std::uint32_t>::max())
            return about_log_file(rule::storage_failed, f.path(), "has used up its epochs");
        BOOST_OUTCOME_TRY(settle_the_end());
        s.journal_ = last.journal;
        s.facts_.epoch = last.epoch + 1;
        s.facts_.restored = restored;
        s.facts_.high_water = replay_.high_water();
        s.begun_ = s.done_ = replay_.end().sequence;
        using log_format::origin;
        BOOST_OUTCOME_TRY(
            s.store_.tail.begin_next(s.header(restored ? origin::restored : origin::opened)));
        if (restored) replay_.mark_restored();
        s.cleaning_.begin_if_due();
        return success();
    }

    /// What an earlier life left at the end is made what it would have been.
    result<void> settle_the_end() {
        auto& store = session_->store_;
        log_end const& end = replay_.end();
        auto& last = *store.tail.at(replay_.end_number());
        BOOST_OUTCOME_TRY(write_again(last));
        if (end.how == log_end::kind::torn) {
            BOOST_OUTCOME_TRY(store.folder.cut_off(last, replay_.end_bytes(), end.offset));
        }
        for (std::uint64_t const number : replay_.unneeded()) {
            if (store.tail.older(0)->number == number) (void)store.tail.take_oldest();
            BOOST_OUTCOME_TRY(store.folder.remove(number));
        }
        store.contents.settled().drop_upto(replay_.retired());
        return success();
    }

    /// The last write may be in the cache only, though it is read, and though later syncs succeed.
    /// Each is written in two parts of which one is enough: so the power may go meanwhile. (But a
    /// frame without a copy that fills its segment to the end is written as it is.)
    result<void> write_again(log_segment<Files>& last) {
        using namespace log_format;
        auto const write = [&](std::uint64_t at, log_buffer const& bytes) {
            return session_->store_.folder.files().write_durably(
                last.file, at, std::span<char const>(bytes.data(), bytes.size()));
        };
        log_buffer& all = replay_.end_bytes();
        log_end const& end = replay_.end();
        log_header const& h_last = replay_.last_header();
        log_buffer first, second;
        if (end.last == 0) {
            log_header h;
            bool const one = take_header(all.data(), h) == header_is::whole;
            first.add(header_copy);
            std::memcpy(first.data(), all.data() + (one ? 0 : header_copy), header_copy);
            BOOST_OUTCOME_TRY(write(one ? header_copy : 0, first));
            return write(one ? 0 : header_copy, first);
        }
        std::size_t const at = end.last;
        auto const f = *frame_at(all.view(at, all.size() - at), h_last.nonce);
        std::size_t const length = in_whole_sectors(f.size);
        std::memcpy(first.add(length), all.data() + at, length);
        put_copy(second, all, at, f, h_last.nonce, f.other == 0 ? lent : std::uint8_t{0});
        bool const copied = at + length + second.size() <= all.size();
        if (copied) {
            BOOST_OUTCOME_TRY(write(at + length, second));
        }
        BOOST_OUTCOME_TRY(write(at, first));
        if (f.other != 0 || !copied) return success();
        std::memset(second.data(), 0, second.size());
        return write(at + length, second);
    }

    std::unique_ptr<session> session_;
    log_replay<Files> replay_{session_->store_};
};

} // namespace indoubt::detail

#endif
