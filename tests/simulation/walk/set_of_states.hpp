// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef TESTS_SIMULATION_WALK_SET_OF_STATES_HPP
#define TESTS_SIMULATION_WALK_SET_OF_STATES_HPP

#include "state.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

// The states that were reached, in the order in which they were, each with the step that led there.

namespace walk {

class set_of_states {
public:
    /// How a state was reached first.
    struct origin_of {
        std::uint32_t from = 0;
        std::uint16_t step = 0; ///< among those that follow `from`
    };

    /// bytes: how much of a state counts; the rest is as in a state that was just made.
    explicit set_of_states(std::size_t bytes) : bytes_(bytes), slots_(1U << 10) {}

    std::uint32_t size() const { return static_cast<std::uint32_t>(origins_.size()); }

    snapshot at(std::uint32_t i) const {
        snapshot s;
        std::memcpy(&s, &kept_[i * bytes_], bytes_);
        return s;
    }
    origin_of origin(std::uint32_t i) const { return origins_[i]; }

    void insert(snapshot const& s, origin_of origin) {
        std::uint64_t const h = hash(&s, bytes_);
        std::size_t i = h & (slots_.size() - 1);
        auto const tag = static_cast<std::uint32_t>(h >> 32);
        for (; slots_[i].index != 0; i = (i + 1) & (slots_.size() - 1)) {
            bool const same = slots_[i].tag == tag &&
                              std::memcmp(&kept_[(slots_[i].index - 1) * bytes_], &s, bytes_) == 0;
            if (same) return;
        }
        auto const* const from = reinterpret_cast<unsigned char const*>(&s);
        kept_.insert(kept_.end(), from, from + bytes_);
        origins_.push_back(origin);
        hashes_.push_back(h);
        slots_[i] = {tag, size()};
        if (origins_.size() * 2 > slots_.size()) grow();
    }

    static std::uint64_t hash(void const* bytes, std::size_t size) {
        auto const* at = static_cast<unsigned char const*>(bytes);
        std::uint64_t h = size;
        for (std::size_t done = 0; done < size; done += 8) {
            std::uint64_t word = 0;
            std::memcpy(&word, at + done, size - done < 8 ? size - done : 8);
            h = (h ^ word) * 0x9e3779b97f4a7c15U;
            h ^= h >> 29;
        }
        return h ^ h >> 32;
    }

private:
    struct slot {
        std::uint32_t tag = 0, index = 0; ///< index + 1; 0: free
    };

    void grow() {
        slots_.assign(slots_.size() * 2, {});
        for (std::uint32_t n = 0; n != size(); ++n) {
            std::size_t i = hashes_[n] & (slots_.size() - 1);
            while (slots_[i].index != 0)
                i = (i + 1) & (slots_.size() - 1);
            slots_[i] = {static_cast<std::uint32_t>(hashes_[n] >> 32), n + 1};
        }
    }

    std::size_t bytes_;
    std::vector<unsigned char> kept_;
    std::vector<origin_of> origins_;
    std::vector<std::uint64_t> hashes_;
    std::vector<slot> slots_;
};

} // namespace walk

#endif
