// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef INDOUBT_ADAPTER_LOG_CLEANING_HPP
#define INDOUBT_ADAPTER_LOG_CLEANING_HPP

#include <indoubt/adapter/log/store.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

// Keeps the disk from filling with what was overwritten. A pass goes through the segments from the
// oldest on and writes what still stands there once more, behind everything else, a slice with each
// flush; a segment that was gone through is removed.

namespace indoubt::detail {

/// Thread safety: none.
template <log_files Files> class log_cleaning {
public:
    explicit log_cleaning(log_store<Files>& s) : store_(s) {}
    log_cleaning(log_cleaning const&) = delete;
    log_cleaning& operator=(log_cleaning const&) = delete;

    bool is_under_way() const { return last_ != 0; }

    /// Begins a pass, if the last one left less than half of what there is now.
    void begin_if_due() {
        if (!is_under_way() && store_.tail.older_bytes() >= std::max(2 * left_, least())) begin();
    }
    /// Through all segments but the one that is being filled.
    void begin() { last_ = store_.tail.newest_older(); }

    /// Writes again about so many bytes of what stands in the segments of the pass, as far as the
    /// frame that is being filled has room.
    ///
    /// frame: the number that this frame will have.
    /// Errors: journal_damaged, storage_failed.
    result<void> go_on(std::size_t bytes, std::uint64_t frame) {
        std::size_t done = 0;
        while (is_under_way() && done < bytes) {
            if (!entries_.empty()) {
                std::size_t const before = entries_.size();
                BOOST_OUTCOME_TRY(bool const fitted, one_entry());
                if (!fitted) return success();
                done += before - entries_.size();
            } else if (auto* const s = oldest(); s != nullptr && segment_ != s->number) {
                BOOST_OUTCOME_TRY(begin_segment(*s));
            } else if (s != nullptr && at_ < s->end) {
                BOOST_OUTCOME_TRY(next_frame());
            } else if (!end_of_segment(frame)) {
                return success();
            }
        }
        return success();
    }

    /// Which segments may be removed now that this frame is durable. They are not read any more.
    std::vector<log_segment<Files>> free_after(std::uint64_t frame) {
        std::vector<log_segment<Files>> out;
        if (kept_ != 0) return out;
        auto const waits =
            std::ranges::find_if(gone_, [&](gone const& g) { return g.frame > frame; });
        for (auto g = gone_.begin(); g != waits; ++g)
            out.push_back(store_.tail.take_oldest());
        gone_.erase(gone_.begin(), waits);
        return out;
    }

    /// Until it is called with false as often, no segment may be removed.
    void keep_files(bool keep) { kept_ += keep ? 1U : -1U; }

private:
    struct gone {
        std::uint64_t segment, frame;
    };
    static constexpr std::size_t window = std::size_t{256} << 10;

    /// Below this a pass is not worth its writing.
    static constexpr std::size_t least() { return 16 * smallest_segment<Files>(); }

    /// The segment that is gone through; those before it wait to be removed. Null after the last.
    log_segment<Files>* oldest() { return store_.tail.older(gone_.size()); }

    /// Returns: false if the frame has no room for it.
    result<bool> one_entry() {
        std::string_view rest = entries_;
        auto const e = next_entry(rest);
        log_place const place = place_of(segment_, entry_at_);
        if (!e) return store_.unreadable(place);
        std::size_t const size = entries_.size() - rest.size();
        BOOST_OUTCOME_TRY(bool const fitted, write_again(*e, place, size));
        if (fitted) {
            entries_ = rest;
            entry_at_ += size;
        }
        return fitted;
    }

    result<bool> write_again(log_entry const& e, log_place place, std::size_t size) {
        switch (e.kind) {
        case log_format::entry::whole: return record_again(e.payload, place);
        case log_format::entry::name: return name_again(e.payload, place, size);
        // Its record stood before it, and was written again as it is now.
        case log_format::entry::change:
        case log_format::entry::retired: return true;
        }
        return store_.unreadable(place);
    }

    result<bool> record_again(std::string_view payload, log_place place) {
        identity const id = identity_of_whole(payload);
        log_digest const d = log_digest_of(id);
        // By where it stands: another identity with this digest stands elsewhere.
        BOOST_OUTCOME_TRY(log_place const known, store_.place_of_intent(d, place));
        if (known == 0) return true;
        BOOST_OUTCOME_TRY(record const r, store_.load(known));
        if (!has_room(most_bytes(r))) return false;
        log_place const again =
            store_.append(is_evidence(r), [&](log_buffer& b) { put_whole(b, r); });
        store_.stands(d, known, r, again, again);
        return true;
    }

    result<bool> name_again(std::string_view payload, log_place place, std::size_t size) {
        log_reader in(payload);
        auto const name = in.text();
        identity const id{std::string(in.text()), std::string(in.text())};
        log_digest const d = log_digest_of(name);
        if (!store_.contents.index().holds(d, place)) return true;
        if (!has_room(size)) return false;
        store_.contents.index().move(
            d, place, store_.append(false, [&](log_buffer& b) { put_name(b, name, id); }));
        return true;
    }

    bool has_room(std::size_t bytes) const {
        return store_.tail.has_room(store_.draft->room(bytes));
    }

    /// Returns: false if the frame has no room for the mark.
    bool end_of_segment(std::uint64_t frame) {
        auto const* const s = oldest();
        std::uint64_t const number = s == nullptr ? last_ : s->number;
        if (s != nullptr) {
            if (!has_room(log_entry_header + sizeof number)) return false;
            store_.append(true, [&](log_buffer& b) { put_retired(b, number); });
            store_.contents.settled().drop_upto(number);
            gone_.push_back({number, frame});
        }
        segment_ = at_ = 0;
        if (number >= last_) {
            last_ = 0;
            left_ = store_.tail.older_bytes();
            for (std::size_t i = 0; i != gone_.size(); ++i)
                left_ -= store_.tail.older(i)->size;
        }
        return true;
    }

    /// Its entries are in memory after that. What has rotted is not written again.
    result<void> next_frame() {
        auto& s = *oldest();
        std::uint64_t const from = at_;
        BOOST_OUTCOME_TRY(auto bytes, look(s, at_, log_format::sector));
        std::size_t const size = load<std::uint32_t>(bytes.data() + log_format::at_size);
        if (size > s.end - at_) return damaged(s, from);
        BOOST_OUTCOME_TRY(bytes, look(s, at_, size));
        auto const f = frame_at(bytes, nonce_);
        if (!f || !is_intact(bytes.data(), *f, chain_)) return damaged(s, from);
        chain_ = f->checksum;
        at_ += in_whole_sectors(f->size) + in_whole_sectors(f->other);
        entry_at_ = from + log_format::frame_header;
        entries_ = bytes.substr(log_format::frame_header, f->size - log_format::frame_header);
        return success();
    }

    result<void> begin_segment(log_segment<Files>& s) {
        held_ = 0;
        BOOST_OUTCOME_TRY(auto const bytes, look(s, 0, log_format::data));
        log_header h;
        if (take_header(bytes.data(), h) != header_is::whole &&
            take_header(bytes.data() + log_format::header_copy, h) != header_is::whole)
            return damaged(s, 0);
        segment_ = s.number;
        nonce_ = h.nonce;
        chain_ = h.checksum;
        at_ = log_format::data;
        return success();
    }

    error damaged(log_segment<Files> const& s, std::uint64_t offset) const {
        return store_.folder.damaged(s.number, offset, "was durable, and is not whole");
    }

    /// So many bytes of a segment, from what was read at once.
    result<std::string_view> look(log_segment<Files>& s, std::uint64_t from, std::size_t bytes) {
        if (held_ == 0 || from < held_from_ || from + bytes > held_from_ + held_) {
            std::size_t const size = std::max(bytes, window);
            held_ = 0;
            bytes_.shrink_to(0);
            char* const to = bytes_.add(size);
            BOOST_OUTCOME_TRY(auto const got,
                              store_.folder.files().read(s.file, from, std::span<char>(to, size)));
            if (got < bytes) return damaged(s, from + got);
            held_ = got;
            held_from_ = from;
        }
        return bytes_.view(static_cast<std::size_t>(from - held_from_), bytes);
    }

    log_store<Files>& store_;
    std::uint64_t last_ = 0; ///< of the pass; 0: none is under way
    std::size_t left_ = 0;   ///< in older segments, after the last pass
    std::vector<gone> gone_{};
    unsigned kept_ = 0; ///< by so many copies that are being made

    // Where it is: the segment, its next frame, and the entries that are left of this one.
    std::uint64_t segment_ = 0, at_ = 0, entry_at_ = 0;
    std::uint64_t nonce_ = 0, chain_ = 0;
    std::string_view entries_{};
    log_buffer bytes_{window};
    std::uint64_t held_from_ = 0;
    std::size_t held_ = 0;
};

} // namespace indoubt::detail

#endif
