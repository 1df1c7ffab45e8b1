// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef INDOUBT_ADAPTER_LOG_FRAME_HPP
#define INDOUBT_ADAPTER_LOG_FRAME_HPP

#include <indoubt/adapter/log/entry.hpp>
#include <indoubt/adapter/log/files.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

// What is written at once: the header of a segment, and a frame with everything that one flush
// makes durable. Each frame's checksum goes on from the one before, so one that is missing, moved
// or left over from another segment does not fit.

namespace indoubt::detail {

/// Where a frame stands in the chain of its segment.
struct log_link {
    std::uint64_t nonce = 0;       ///< of the segment
    std::uint64_t sequence = 0;    ///< of the frame, over all segments; the first is 1
    std::uint64_t synced_upto = 0; ///< everything before this offset was durable
    std::uint64_t chain = 0;       ///< the checksum of the frame before, or of the header
};

// ---- the header of a segment --------------------------------------------------------------------

struct log_header {
    std::array<std::uint64_t, 2> journal{}; ///< what this journal is called among all journals
    std::uint64_t number = 0, nonce = 0;
    std::uint32_t epoch = 0;
    log_format::origin came = log_format::origin::created;
    log_file_marks marks{};
    std::uint64_t before_number = 0, before_end = 0; ///< the segment before; 0: none
    std::uint64_t before_sequence = 0, before_checksum = 0;
    time_point high_water{};
    std::uint64_t length = 0; ///< of the file
    std::uint64_t checksum = 0;
};

/// Fills the first `log_format::data` bytes of a segment.
inline void put_header(log_buffer& out, log_header& h) {
    using namespace log_format;
    char* const at = out.add(data);
    std::memset(at, 0, data);
    std::memcpy(at, magic.data(), magic.size());
    store(at + at_major, major);
    store(at + at_minor, minor);
    store(at + at_sector, static_cast<std::uint32_t>(sector));
    store(at + at_journal, h.journal[0]);
    store(at + at_journal + 8, h.journal[1]);
    store(at + at_number, h.number);
    store(at + at_nonce, h.nonce);
    store(at + at_epoch, h.epoch);
    store(at + at_origin, static_cast<std::uint32_t>(h.came));
    store(at + at_inode, h.marks.inode);
    store(at + at_device, h.marks.device);
    store(at + at_born, h.marks.born_ns);
    store(at + at_before_number, h.before_number);
    store(at + at_before_end, h.before_end);
    store(at + at_before_sequence, h.before_sequence);
    store(at + at_before_checksum, h.before_checksum);
    store(at + at_high_water, log_writer::bits(h.high_water));
    store(at + at_length, h.length);
    h.checksum = XXH3_64bits(at, at_header_checksum);
    store(at + at_header_checksum, h.checksum);
    std::memcpy(at + header_copy, at, header_size);
}

enum class header_is {
    whole,
    blank,   ///< zeros: made ahead, and never used
    foreign, ///< no header of a log, or one of a copy that cannot be read
    newer,   ///< of a format that this program does not know
};

/// at: the beginning of one copy, with at least header_size bytes.
inline header_is take_header(char const* at, log_header& h) {
    using namespace log_format;
    if (are_zeros({at, header_size})) return header_is::blank;
    bool const ours =
        std::string_view(at, magic.size()) == magic &&
        load<std::uint64_t>(at + at_header_checksum) == XXH3_64bits(at, at_header_checksum);
    if (!ours) return header_is::foreign;
    if (load<std::uint16_t>(at + at_major) != major ||
        load<std::uint32_t>(at + at_incompatible) != 0 ||
        load<std::uint32_t>(at + at_sector) != sector) {
        return header_is::newer;
    }
    h.journal = {load<std::uint64_t>(at + at_journal), load<std::uint64_t>(at + at_journal + 8)};
    h.number = load<std::uint64_t>(at + at_number);
    h.nonce = load<std::uint64_t>(at + at_nonce);
    h.epoch = load<std::uint32_t>(at + at_epoch);
    h.came = origin{load<std::uint32_t>(at + at_origin)};
    h.marks = {load<std::uint64_t>(at + at_inode), load<std::uint64_t>(at + at_device),
               load<std::int64_t>(at + at_born)};
    h.before_number = load<std::uint64_t>(at + at_before_number);
    h.before_end = load<std::uint64_t>(at + at_before_end);
    h.before_sequence = load<std::uint64_t>(at + at_before_sequence);
    h.before_checksum = load<std::uint64_t>(at + at_before_checksum);
    h.high_water = time_point(milliseconds(load<std::int64_t>(at + at_high_water)));
    h.length = load<std::uint64_t>(at + at_length);
    h.checksum = load<std::uint64_t>(at + at_header_checksum);
    return header_is::whole;
}

// ---- frames -------------------------------------------------------------------------------------

inline std::uint16_t frame_check(char const* header) {
    using namespace log_format;
    char rest[frame_header];
    std::memcpy(rest, header, frame_header);
    std::memset(rest + at_check, 0, 2);
    std::memset(rest + at_checksum, 0, 8);
    return static_cast<std::uint16_t>(XXH3_64bits(rest, frame_header));
}

/// Over the header up to the checksum, and everything after it.
inline std::uint64_t frame_checksum(char const* frame, std::size_t size, std::uint64_t chain) {
    using namespace log_format;
    std::uint64_t const head = XXH3_64bits_withSeed(frame, at_checksum, chain);
    return XXH3_64bits_withSeed(frame + at_checksum + 8, size - at_checksum - 8, head);
}

/// What a copy's checksum goes on from: it is no part of the chain.
constexpr std::uint64_t copy_seed(std::uint64_t nonce, std::uint64_t sequence) {
    return nonce ^ (sequence * 0x9e3779b97f4a7c15U) ^ 0x636f7079U;
}

/// other: of a frame the size of its copy, 0 without one; of a copy the checksum of its frame.
struct log_frame {
    std::uint32_t size = 0, count = 0; ///< size: with its header, without padding
    std::uint8_t kind = 0, flags = 0;
    std::uint64_t sequence = 0, synced_upto = 0, checksum = 0, other = 0;
};

inline void put_frame_header(char* frame, log_frame const& f, std::uint64_t nonce,
                             std::uint64_t seed) {
    using namespace log_format;
    std::memset(frame, 0, frame_header);
    store(frame + at_size, f.size);
    store(frame + at_kind, f.kind);
    store(frame + at_flags, f.flags);
    store(frame + at_frame_nonce, nonce);
    store(frame + at_sequence, f.sequence);
    store(frame + at_synced_upto, f.synced_upto);
    store(frame + at_count, f.count);
    store(frame + at_other, f.other);
    store(frame + at_check, frame_check(frame));
    store(frame + at_checksum, frame_checksum(frame, f.size, seed));
}

/// The header of a frame, if what stands there can be one of this segment.
inline std::optional<log_frame> frame_at(std::string_view bytes, std::uint64_t nonce) {
    using namespace log_format;
    if (bytes.size() < frame_header) return std::nullopt;
    char const* const at = bytes.data();
    log_frame f;
    f.size = load<std::uint32_t>(at + at_size);
    f.count = load<std::uint32_t>(at + at_count);
    f.kind = load<std::uint8_t>(at + at_kind);
    f.flags = load<std::uint8_t>(at + at_flags);
    f.sequence = load<std::uint64_t>(at + at_sequence);
    f.synced_upto = load<std::uint64_t>(at + at_synced_upto);
    f.checksum = load<std::uint64_t>(at + at_checksum);
    f.other = load<std::uint64_t>(at + at_other);
    bool const fits = f.size >= frame_header && f.size <= bytes.size() &&
                      (f.kind == entries || f.kind == copy) &&
                      load<std::uint64_t>(at + at_frame_nonce) == nonce &&
                      load<std::uint16_t>(at + at_check) == frame_check(at);
    return fits ? std::optional(f) : std::nullopt;
}

/// What it says of itself is true.
inline bool is_intact(char const* at, log_frame const& f, std::uint64_t seed) {
    return frame_checksum(at, f.size, seed) == f.checksum;
}

constexpr std::size_t in_whole_sectors(std::size_t bytes) {
    return (bytes + log_format::sector - 1) / log_format::sector * log_format::sector;
}

/// Appends the copy of a frame that stands at an offset of a buffer, which may be the same one.
inline void put_copy(log_buffer& out, log_buffer const& from, std::size_t at, log_frame const& f,
                     std::uint64_t nonce, std::uint8_t flags = 0) {
    using namespace log_format;
    char* const second = out.add(f.size);
    std::memcpy(second, from.data() + at, f.size);
    log_frame c = f;
    c.kind = copy;
    c.flags = flags;
    c.other = f.checksum;
    put_frame_header(second, c, nonce, copy_seed(nonce, f.sequence));
    out.pad(sector);
}

/// The frame that a copy is of, in whole sectors. Returns: false if it was not in this chain.
inline bool put_original(log_buffer& out, char const* second, log_frame const& c,
                         log_link const& link) {
    using namespace log_format;
    char* const first = out.add(c.size);
    std::memcpy(first, second, c.size);
    log_frame f = c;
    f.kind = entries;
    f.flags = 0;
    f.other = (c.flags & lent) != 0 ? 0 : c.size;
    put_frame_header(first, f, link.nonce, link.chain);
    bool const same = load<std::uint64_t>(first + at_checksum) == c.other;
    out.pad(sector);
    return same;
}

/// The frame that is being filled. One that holds evidence is written twice.
class log_draft {
public:
    log_draft() { clear(); }

    bool is_empty() const { return count_ == 0; }
    std::size_t size() const { return bytes_.size(); } ///< with its header
    log_buffer& bytes() { return bytes_; }
    log_buffer const& bytes() const { return bytes_; }

    /// How much of a segment it takes, with `more` bytes of further entries.
    std::size_t room(std::size_t more = 0) const {
        std::size_t const once = in_whole_sectors(bytes_.size() + more);
        return evidence_ || more != 0 ? 2 * once : once;
    }

    /// Appends what put(log_buffer&) puts, as one entry. Returns: where in the frame it begins.
    template <class Put> std::size_t add(bool evidence, Put put) {
        std::size_t const from = bytes_.size();
        put(bytes_);
        ++count_;
        evidence_ = evidence_ || evidence;
        return from;
    }

    /// Makes it what is written to disk: with its header, its copy, and whole sectors. The entries
    /// stay where they are, if there is room for it all.
    /// Returns: its checksum.
    std::uint64_t seal(log_link const& link) {
        using namespace log_format;
        log_frame f{
            .size = static_cast<std::uint32_t>(bytes_.size()), .count = count_, .kind = entries};
        f.sequence = link.sequence;
        f.synced_upto = link.synced_upto;
        f.other = evidence_ ? f.size : 0;
        put_frame_header(bytes_.data(), f, link.nonce, link.chain);
        f.checksum = load<std::uint64_t>(bytes_.data() + at_checksum);
        bytes_.pad(sector);
        if (evidence_) put_copy(bytes_, bytes_, 0, f, link.nonce);
        return f.checksum;
    }

    void clear() {
        bytes_.shrink_to(0);
        bytes_.add(log_format::frame_header);
        evidence_ = false;
        count_ = 0;
    }

private:
    log_buffer bytes_{};
    std::uint32_t count_ = 0;
    bool evidence_ = false;
};

} // namespace indoubt::detail

#endif
