// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef INDOUBT_ADAPTER_LOG_SEGMENTS_HPP
#define INDOUBT_ADAPTER_LOG_SEGMENTS_HPP

#include <indoubt/adapter/log/frame.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// The files of a log: one folder, a lock, and segments that are filled one after the other. A
// segment is written full of zeros before it is used, so that a flush changes no metadata.

namespace indoubt::detail {

/// One segment, open for reading; the last one is written to.
template <log_files Files> struct log_segment {
    typename Files::file file{};
    std::uint64_t number = 0, size = 0;
    std::uint64_t end = 0; ///< of its frames, once it is full
};

/// A segment as it is at some moment: its frames end there.
struct log_extent {
    std::uint64_t number = 0, size = 0, end = 0;
};

/// How large the first segment of each life is. The files of a test may say less.
template <log_files Files> constexpr std::size_t smallest_segment() {
    if constexpr (requires { Files::smallest_segment; }) return Files::smallest_segment;
    return log_format::smallest_segment;
}

template <log_files Files> class log_folder {
public:
    using file = typename Files::file;
    using segment = log_segment<Files>;

    log_folder(Files files, std::string path) : files_(std::move(files)), path_(std::move(path)) {}

    Files& files() { return files_; }
    std::string const& path() const { return path_; }
    std::string in(std::string_view name) const { return path_ + '/' + std::string(name); }

    static std::string name_of(std::uint64_t number) {
        constexpr std::string_view digits = "0123456789abcdef";
        std::string name(8, '0');
        for (std::size_t i = 8; i-- != 0; number >>= 4U)
            name[i] = digits[number & 15U];
        return name + ".log";
    }
    /// Returns: 0 if it is no name of a segment.
    static std::uint64_t number_of(std::string_view name) {
        if (name.size() != 12 || !name.ends_with(".log")) return 0;
        std::uint64_t number = 0;
        for (char const c : name.substr(0, 8)) {
            bool const digit = c >= '0' && c <= '9', letter = c >= 'a' && c <= 'f';
            if (!digit && !letter) return 0;
            number = number << 4U | static_cast<std::uint64_t>(digit ? c - '0' : c - 'a' + 10);
        }
        return number;
    }

    /// A file of zeros in the place of a segment. It counts as blank until it gets a header.
    result<segment> make_blank(std::uint64_t number, std::size_t size) {
        std::string const name = in(name_of(number)), unfinished = name + ".new";
        BOOST_OUTCOME_TRY(auto made, files_.create(unfinished));
        std::vector<char> const zeros(std::min(size, std::size_t{1} << 20));
        for (std::size_t at = 0; at < size; at += zeros.size()) {
            std::size_t const part = std::min(zeros.size(), size - at);
            BOOST_OUTCOME_TRY(files_.write(made, at, std::span(zeros).first(part)));
        }
        BOOST_OUTCOME_TRY(files_.sync(made));
        BOOST_OUTCOME_TRY(files_.rename(unfinished, name));
        BOOST_OUTCOME_TRY(files_.sync_folder(path_));
        return segment{std::move(made), number, size};
    }

    /// The numbers of all segments, ascending. What a crash left unfinished is removed.
    result<std::vector<std::uint64_t>> numbers() {
        BOOST_OUTCOME_TRY(auto const names, files_.list(path_));
        std::vector<std::uint64_t> found;
        for (auto const& name : names) {
            if (std::uint64_t const number = number_of(name); number != 0) found.push_back(number);
            if (name.ends_with(".log.new")) {
                BOOST_OUTCOME_TRY(files_.remove(in(name)));
            }
        }
        std::ranges::sort(found);
        return found;
    }

    /// Opens a segment and reads all of it.
    result<segment> open(std::uint64_t number, log_buffer& bytes) {
        std::string const name = in(name_of(number));
        BOOST_OUTCOME_TRY(auto f, files_.open(name));
        BOOST_OUTCOME_TRY(auto const size, files_.size(f));
        if (size > log_format::largest_segment) return damaged(number, size, "is too long");
        bytes.shrink_to(0);
        char* const at = bytes.add(static_cast<std::size_t>(size));
        BOOST_OUTCOME_TRY(auto const read, files_.read(f, 0, {at, static_cast<std::size_t>(size)}));
        if (read != size) return damaged(number, read, "ends early");
        return segment{std::move(f), number, size};
    }

    /// What an attempt to make it that failed has left.
    void discard_blank(std::uint64_t number) {
        std::string const name = in(name_of(number));
        (void)files_.remove(name + ".new");
        (void)files_.remove(name);
    }

    result<void> remove(std::uint64_t number) {
        BOOST_OUTCOME_TRY(files_.remove(in(name_of(number))));
        return files_.sync_folder(path_);
    }

    /// What followed a torn frame is kept beside the segment, and zeroed in it.
    result<void> cut_off(segment& s, log_buffer const& bytes, std::size_t from) {
        std::string const name = in(name_of(s.number) + ".torn");
        std::size_t last = bytes.size(); // the zeros behind it say nothing
        while (last > from && bytes.data()[last - 1] == 0)
            --last;
        (void)files_.remove(name); // of an earlier attempt to open
        BOOST_OUTCOME_TRY(auto kept, files_.create(name));
        BOOST_OUTCOME_TRY(files_.write(kept, 0, std::span(bytes.data() + from, last - from)));
        BOOST_OUTCOME_TRY(files_.sync(kept));
        BOOST_OUTCOME_TRY(files_.sync_folder(path_));
        std::vector<char> const zeros(last - from);
        BOOST_OUTCOME_TRY(files_.write(s.file, from, zeros));
        return files_.sync(s.file);
    }

    error damaged(std::uint64_t number, std::uint64_t offset, std::string_view what) const {
        return about_log_file(rule::journal_damaged, in(name_of(number)),
                              "at offset " + std::to_string(offset) + " " + std::string(what));
    }

private:
    Files files_;
    std::string path_;
};

// ---- reading a segment --------------------------------------------------------------------------

/// How a segment ends, and why.
struct log_end {
    std::uint64_t offset = 0; ///< of the first byte that is no frame
    std::uint64_t last = 0;   ///< where the last frame begins; 0: there is none
    std::uint64_t sequence = 0, checksum = 0;
    enum class kind {
        clean,   ///< zeros, or what another segment left
        torn,    ///< a frame that was being written; nothing proves that it was durable
        damaged, ///< a frame that was durable, and is not whole
    } how = kind::clean;
};

/// Calls apply(std::string_view entries, offset of the first) -> bool for each frame in its order.
/// It is false for entries that cannot have been written. A frame that is not whole is made from
/// its copy first, by mend(offset, log_buffer const&) -> bool.
template <class Apply, class Mend> class log_walk {
public:
    log_walk(log_buffer& bytes, log_header const& h, Apply apply, Mend mend)
        : bytes_(bytes), nonce_(h.nonce), apply_(std::move(apply)), mend_(std::move(mend)),
          end_{.offset = log_format::data, .sequence = h.before_sequence, .checksum = h.checksum} {}

    log_end go() {
        using enum log_end::kind;
        while (step()) {
        }
        if (end_.how == damaged) return end_;
        // Does anything behind prove that this place was durable once?
        bool zeros = true;
        for (std::size_t at = end_.offset; at + log_format::sector <= bytes_.size();
             at += log_format::sector) {
            auto const f = frame_at(rest(at), nonce_);
            if (f && f->synced_upto > end_.offset) {
                end_.how = damaged;
                return end_;
            }
            zeros = zeros && are_zeros(bytes_.view(at, log_format::sector));
        }
        end_.how = zeros ? clean : torn;
        return end_;
    }

private:
    std::string_view rest(std::size_t at) const { return bytes_.view(at, bytes_.size() - at); }

    bool step() {
        using namespace log_format;
        if (end_.offset + sector > bytes_.size()) return false;
        auto const f = frame_at(rest(end_.offset), nonce_);
        bool const next = f && f->kind == entries && f->sequence == end_.sequence + 1;
        if (!next || !is_intact(bytes_.data() + end_.offset, *f, end_.checksum)) return from_copy();
        return take(*f);
    }

    /// The frame is not whole. Its copy may be: it stands where the frame ended.
    bool from_copy() {
        using namespace log_format;
        for (std::size_t at = end_.offset; at + sector <= bytes_.size(); at += sector) {
            auto const c = frame_at(rest(at), nonce_);
            if (!c || c->kind != copy || c->sequence != end_.sequence + 1 ||
                in_whole_sectors(c->size) != at - end_.offset)
                continue;
            if (!is_intact(bytes_.data() + at, *c, copy_seed(nonce_, c->sequence))) return false;
            log_buffer whole(at - end_.offset);
            log_link const link{nonce_, c->sequence, end_.offset, end_.checksum};
            // A copy that goes on from another frame than the one before it: that one is not ours.
            if (!put_original(whole, bytes_.data() + at, *c, link) || !mend_(end_.offset, whole)) {
                end_.how = log_end::kind::damaged;
                return false;
            }
            std::memcpy(bytes_.data() + end_.offset, whole.data(), whole.size());
            return take(*frame_at(rest(end_.offset), nonce_));
        }
        return false;
    }

    bool take(log_frame const& f) {
        using log_format::frame_header;
        std::size_t const at = end_.offset + frame_header;
        if (!apply_(bytes_.view(at, f.size - frame_header), at)) {
            end_.how = log_end::kind::damaged;
            return false;
        }
        end_.last = end_.offset;
        end_.sequence = f.sequence;
        end_.checksum = f.checksum;
        end_.offset += in_whole_sectors(f.size) + in_whole_sectors(f.other);
        return true;
    }

    log_buffer& bytes_;
    std::uint64_t nonce_;
    Apply apply_;
    Mend mend_;
    log_end end_;
};

} // namespace indoubt::detail

#endif
