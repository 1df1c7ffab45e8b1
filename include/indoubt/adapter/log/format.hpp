// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef INDOUBT_ADAPTER_LOG_FORMAT_HPP
#define INDOUBT_ADAPTER_LOG_FORMAT_HPP

#include <cstddef>
#include <cstdint>
#include <string_view>

// The numbers of the format on disk, version 1. All integers are little-endian. Readers refuse
// another major version and incompatible bits they do not know.

namespace indoubt::detail::log_format {

using namespace std::string_view_literals;

inline constexpr auto magic = "indoubt log\n\x1a\n\0\0"sv; ///< 16 bytes
inline constexpr std::uint16_t major = 1, minor = 0;

inline constexpr std::size_t sector = 512;       ///< what a power cut tears is a multiple of this
inline constexpr std::size_t header_copy = 4096; ///< where the second copy of a header begins
inline constexpr std::size_t data = 8192;        ///< where the frames of a segment begin
inline constexpr std::size_t smallest_segment = std::size_t{4} << 20;
inline constexpr std::size_t largest_segment = std::size_t{64} << 20;

// The header of a segment: offsets from its beginning.
inline constexpr std::size_t at_major = 16, at_minor = 18, at_incompatible = 20, at_ignorable = 24,
                             at_sector = 28, at_journal = 32, at_number = 48, at_nonce = 56,
                             at_epoch = 64, at_origin = 68, at_inode = 72, at_device = 80,
                             at_born = 88, at_before_number = 96, at_before_end = 104,
                             at_before_sequence = 112, at_before_checksum = 120,
                             at_high_water = 128, at_length = 136, at_header_checksum = 144,
                             header_size = 152;

/// How a segment came to be (at_origin).
enum class origin : std::uint32_t {
    created = 0,   ///< with the journal
    opened = 1,    ///< as the journal was opened
    continued = 2, ///< the one before it was full
    restored = 3,  ///< as a copy was taken over
};

// A frame: what one flush wrote. Offsets from its beginning, which is a multiple of `sector`.
inline constexpr std::size_t at_size = 0, at_kind = 4, at_flags = 5, at_check = 6,
                             at_frame_nonce = 8, at_sequence = 16, at_synced_upto = 24,
                             at_checksum = 32, at_count = 40, at_other = 48, frame_header = 56;
inline constexpr std::uint8_t entries = 1, copy = 2;
/// Flag of a copy: its frame has no copy of its own, and is just being written again.
inline constexpr std::uint8_t lent = 1;

enum class entry : std::uint8_t {
    whole = 1,  ///< a record with its intent
    change = 2, ///< a later version of a record, without its intent
    name = 3,   ///< a name and the identity that it stands for
    /// What stood in the segments up to this number stands elsewhere: they may be missing.
    retired = 4,
};

} // namespace indoubt::detail::log_format

#endif
