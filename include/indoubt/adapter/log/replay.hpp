// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef INDOUBT_ADAPTER_LOG_REPLAY_HPP
#define INDOUBT_ADAPTER_LOG_REPLAY_HPP

#include <indoubt/adapter/log/store.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

// What a log says: read from the beginning, frame by frame.

namespace indoubt::detail {

/// Fills a store with what stands in the segments of its folder.
template <log_files Files> class log_replay {
public:
    explicit log_replay(log_store<Files>& s) : store_(s) {}

    result<void> go() {
        auto& f = store_.folder;
        BOOST_OUTCOME_TRY(numbers_, f.numbers());
        if (numbers_.empty())
            return about_log_file(rule::not_a_journal, f.path(), "holds no segment");
        // Of what was retired some may be there: only what follows the last gap counts.
        auto first = numbers_.end() - 1;
        while (first != numbers_.begin() && first[-1] + 1 == *first)
            --first;
        first_ = *first;
        auto const done = read_from(first);
        // Whatever does not fit then is about this.
        if (first_ > 1 && retired_ < first_ - 1 && (done || is_damage(done.error())))
            return f.damaged(first_ - 1, 0, "is missing");
        return done;
    }

    // ---- what it found
    // ----------------------------------------------------------------------------

    log_header const& last_header() const { return last_; }
    log_end const& end() const { return end_; }              ///< of the last segment with frames
    std::uint64_t end_number() const { return end_number_; } ///< which that is
    log_buffer& end_bytes() { return bytes_; }               ///< all of it
    time_point high_water() const { return high_water_; }

    /// What stood in the segments up to this number stands elsewhere.
    std::uint64_t retired() const { return retired_; }
    /// The segments that nobody needs: made ahead and never used, or retired.
    std::vector<std::uint64_t> unneeded() const {
        std::vector<std::uint64_t> out;
        for (std::uint64_t const n : numbers_)
            if (n <= retired_ || n == unused_) out.push_back(n);
        return out;
    }

    /// A segment that begins as a restored copy says it, now and at every later open, of all that
    /// is open there.
    void mark_restored() {
        store_.contents.each_live([](log_live& l) {
            if (may_have_gone_on(l.kept)) l.kept.restored = true;
        });
    }

private:
    static bool is_damage(error const& e) { return e.rule() == rule::journal_damaged; }

    result<void> read_from(std::vector<std::uint64_t>::const_iterator first) {
        auto& f = store_.folder;
        log_buffer bytes;
        for (auto number = first; number != numbers_.end(); ++number) {
            BOOST_OUTCOME_TRY(auto s, f.open(*number, bytes));
            log_header h;
            auto const found = best_header(bytes, h);
            if (found == header_is::newer)
                return about_log_file(rule::newer_format, f.in(f.name_of(*number)), "is newer");
            bool const whole = found == header_is::whole && h.number == *number;
            if (!whole && number != first && *number == numbers_.back() && is_unused(bytes)) {
                unused_ = *number;
                break;
            }
            if (!whole)
                return number == first
                           ? about_log_file(rule::not_a_journal, f.in(f.name_of(*number)),
                                            "does not begin like a segment of a log")
                           : f.damaged(*number, 0, "has no header");
            if (h.length != s.size)
                return f.damaged(*number, s.size, "is not as long as it was made");
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

    /// It goes on from the segment before, if that was read.
    result<void> fits(log_header const& h) {
        auto const& f = store_.folder;
        if (end_number_ != 0) {
            if (h.journal != last_.journal || h.before_number != end_number_)
                return f.damaged(h.number, 0, "does not follow the segment before it");
            if (h.before_end != end_.offset || h.before_checksum != end_.checksum)
                return f.damaged(end_number_, end_.offset,
                                 "ends earlier than the segment after it says");
        } else if (h.before_number != first_ - 1) {
            return f.damaged(h.number, 0, "does not follow the segment before it");
        }
        high_water_ = std::max(high_water_, h.high_water);
        last_ = h;
        if (h.came == log_format::origin::restored) mark_restored();
        return success();
    }

    result<void> read(log_segment<Files> segment, log_header const& h) {
        std::uint64_t const number = segment.number;
        end_number_ = number;
        // Older segments are complete: what they say is asked of while this one is read.
        store_.tail.add_older(std::move(segment));
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
            auto mended = store_.folder.files().write_durably(
                store_.tail.at(number)->file, offset,
                std::span<char const>(whole.data(), whole.size()));
            return mended || unreadable(std::move(mended).error());
        };
        end_ = log_walk(bytes_, h, apply, mend).go();
        if (failed_) return *failed_;
        if (end_.how == log_end::kind::damaged)
            return store_.folder.damaged(number, bad_at != 0 ? bad_at : end_.offset,
                                         "was durable, and is not whole");
        store_.tail.ends(end_.sequence, end_.offset, end_.checksum);
        return success();
    }

    // ---- what the entries say -------------------------------------------------------------------

    bool take(log_entry const& e, log_place place) {
        switch (e.kind) {
        case log_format::entry::whole: return take_record(e.payload, place);
        case log_format::entry::change: return take_changed(e.payload, place);
        case log_format::entry::name: return take_name(e.payload, place);
        case log_format::entry::retired: return take_retired(e.payload);
        }
        return false;
    }

    bool take_record(std::string_view payload, log_place place) {
        record r;
        if (!take_whole(payload, r)) return false;
        log_digest const d = log_digest_of(r.identity());
        auto const known = store_.place_of_record(d, r.identity());
        if (!known) return unreadable(known.error());
        store_.stands(d, known.value(), r, place, place);
        return seen(r);
    }

    bool take_changed(std::string_view payload, log_place place) {
        auto const c = take_change(payload);
        if (!c) return false;
        record r;
        log_reader in(c->state);
        if (!take_state(in, r)) return false;
        // Its intent was retired: the record stands behind this one, in a later version or the
        // same.
        if (segment_of(c->whole) < first_) return seen(r);
        auto const found = store_.place_of_intent(c->digest, c->whole);
        if (!found) return unreadable(found.error());
        log_place const known = found.value();
        if (known == 0) return false;
        auto before = store_.load(known);
        if (!before) return unreadable(before.error());
        r.intent = before.value().intent;
        r.operation = before.value().operation;
        store_.stands(c->digest, known, r, c->whole, place);
        return seen(r);
    }

    /// One that was written again stands there already.
    bool take_name(std::string_view payload, log_place place) {
        log_reader in(payload);
        auto const name = in.text();
        identity id{std::string(in.text()), {}};
        id.key = in.text();
        if (!in.good() || !in.at_end()) return false;
        log_digest const d = log_digest_of(name);
        auto const found = store_.place_of_name(d, name, [](log_reader&) {});
        if (!found) return unreadable(found.error());
        log_place const known = found.value();
        if (known == 0) {
            store_.contents.index().insert(d, place);
        } else {
            store_.contents.index().move(d, known, place);
        }
        return true;
    }

    bool take_retired(std::string_view payload) {
        log_reader in(payload);
        retired_ = std::max(retired_, in.fixed());
        return in.good() && in.at_end();
    }

    bool seen(record const& r) {
        high_water_ = std::max(high_water_, r.written_at);
        return true;
    }
    bool unreadable(error e) {
        failed_ = std::move(e);
        return false;
    }

    log_store<Files>& store_;
    std::vector<std::uint64_t> numbers_{};
    std::uint64_t first_ = 0;   ///< that is read
    std::uint64_t retired_ = 0; ///< up to which nothing is needed
    std::uint64_t unused_ = 0;  ///< a segment at the end that holds nothing; 0: none
    log_buffer bytes_{};        ///< of the last segment that was used
    log_header last_{};
    log_end end_{}; ///< of that segment
    std::uint64_t end_number_ = 0;
    time_point high_water_{};
    std::optional<error> failed_{};
};

} // namespace indoubt::detail

#endif
