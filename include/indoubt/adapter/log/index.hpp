// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef INDOUBT_ADAPTER_LOG_INDEX_HPP
#define INDOUBT_ADAPTER_LOG_INDEX_HPP

#include <indoubt/adapter/log/entry.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

// Where everything is: from the digest of an identity or a name to a place. A slot holds 32 bits of
// the digest and the place, and 10 more bits chose the shard. So a hit is only likely: whoever asks
// compares what stands at the place.

namespace indoubt::detail {

/// Nothing is ever removed from it: operations and names stay for ever.
///
/// Memory: 12 bytes a slot; a shard is between 70 and 88 % full once it has grown. Growing moves
/// one shard of 1,024, which is well below a millisecond for ten million entries.
class log_index {
public:
    std::size_t size() const { return size_; }

    /// Calls same(place) for the likely ones until it says yes. Returns: that place, or 0.
    template <class Same> log_place find(log_digest const& d, Same same) const {
        shard const& s = shard_of(d);
        if (s.capacity == 0) return 0;
        std::uint32_t const tag = tag_of(d);
        for (std::size_t i = home(tag_of(d), s.capacity);; i = i + 1 == s.capacity ? 0 : i + 1) {
            slot const& at = s.slots[i];
            if (at.is_empty()) return 0;
            if (at.tag == tag && same(at.place())) return at.place();
        }
    }

    bool holds(log_digest const& d, log_place place) const {
        return find(d, [&](log_place p) { return p == place; }) != 0;
    }

    /// It must not be there yet. place is not 0.
    void insert(log_digest const& d, log_place place) {
        shard& s = shard_of(d);
        if (8 * (s.used + 1) > 7 * s.capacity) grow(s);
        put(s, slot(tag_of(d), place));
        ++s.used;
        ++size_;
    }

    /// What stood at `from` stands at `to` now. Returns: whether it stood there.
    bool move(log_digest const& d, log_place from, log_place to) {
        shard& s = shard_of(d);
        if (s.capacity == 0) return false;
        for (std::size_t i = home(tag_of(d), s.capacity);; i = i + 1 == s.capacity ? 0 : i + 1) {
            slot& at = s.slots[i];
            if (at.is_empty()) return false;
            if (at.place() == from && at.tag == tag_of(d)) {
                at = slot(at.tag, to);
                return true;
            }
        }
    }

private:
    /// Three words, so that it needs no padding.
    struct slot {
        std::uint32_t tag = 0, place_low = 0, place_high = 0;

        slot() = default;
        slot(std::uint32_t t, log_place p)
            : tag(t), place_low(static_cast<std::uint32_t>(p)),
              place_high(static_cast<std::uint32_t>(p >> 32U)) {}
        bool is_empty() const { return (place_low | place_high) == 0; }
        log_place place() const { return log_place{place_high} << 32U | place_low; }
    };
    struct shard {
        std::unique_ptr<slot[]> slots{};
        std::size_t capacity = 0, used = 0;
    };

    static constexpr unsigned shard_bits = 10;
    static constexpr std::size_t first_capacity = 16;

    // The shard is of one word of the digest; the tag, which says where a slot has its home, of the
    // other: so a shard can grow by what is in its slots.
    static std::uint32_t tag_of(log_digest const& d) { return static_cast<std::uint32_t>(d.low); }
    static std::size_t home(std::uint32_t tag, std::size_t capacity) {
        return static_cast<std::size_t>((std::uint64_t{tag} * capacity) >> 32U);
    }
    shard& shard_of(log_digest const& d) { return shards_[d.high >> (64 - shard_bits)]; }
    shard const& shard_of(log_digest const& d) const {
        return shards_[d.high >> (64 - shard_bits)];
    }

    static void put(shard& s, slot const& fresh) {
        std::size_t i = home(fresh.tag, s.capacity);
        while (!s.slots[i].is_empty())
            i = i + 1 == s.capacity ? 0 : i + 1;
        s.slots[i] = fresh;
    }

    static void grow(shard& s) {
        shard more;
        more.capacity = std::max(first_capacity, s.capacity + s.capacity / 4);
        more.used = s.used;
        more.slots = std::make_unique<slot[]>(more.capacity);
        for (std::size_t i = 0; i != s.capacity; ++i) {
            if (!s.slots[i].is_empty()) put(more, s.slots[i]);
        }
        s = std::move(more);
    }

    std::array<shard, std::size_t{1} << shard_bits> shards_{};
    std::size_t size_ = 0;
};

} // namespace indoubt::detail

#endif
