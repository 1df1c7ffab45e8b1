// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef INDOUBT_ADAPTER_LOG_RETENTION_HPP
#define INDOUBT_ADAPTER_LOG_RETENTION_HPP

#include <indoubt/adapter/log/store.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

// Shrinks what is long settled, the oldest first.

namespace indoubt::detail {

template <log_files Files> class log_retention {
public:
    explicit log_retention(log_store<Files>& s) : store_(s) {}

    /// Chooses what shrinks; fewer than `most` if more would not fit one frame.
    ///
    /// Returns: the bytes that it takes then, at most.
    result<std::size_t> choose(time_point before, std::size_t most) {
        constexpr std::size_t most_bytes_of_all = log_format::largest_segment / 8;
        std::size_t bytes = 0;
        while (chosen_.size() < most && bytes < most_bytes_of_all) {
            auto const* const next = store_.contents.settled().first();
            if (next == nullptr || next->written_at >= before) break;
            BOOST_OUTCOME_TRY(take_all_written_at(next->written_at, before));
            std::ranges::sort(equal_, written_earlier, &chosen::whole);
            for (chosen& c : equal_) {
                if (chosen_.size() == most || bytes >= most_bytes_of_all) {
                    remember(c);
                } else {
                    bytes += most_bytes(c.whole);
                    chosen_.push_back(std::move(c));
                }
            }
            equal_.clear();
        }
        return bytes;
    }
    /// Nothing shrinks after all.
    void put_back() {
        for (chosen const& c : chosen_)
            remember(c);
        chosen_.clear();
    }
    /// Returns: how many.
    std::size_t shrink(std::uint32_t epoch) {
        for (chosen& c : chosen_) {
            record const small = shrunk(std::move(c.whole), epoch);
            log_place const at = store_.append(true, [&](log_buffer& b) { put_whole(b, small); });
            store_.stands(c.digest, c.place, small, at, at);
        }
        return std::exchange(chosen_, {}).size();
    }

private:
    struct chosen {
        record whole;
        log_place place;
        log_digest digest;
    };

    /// Those of one time, as their order is that of their numbers.
    result<void> take_all_written_at(time_point at, time_point before) {
        for (auto const* next = store_.contents.settled().first();
             next != nullptr && next->written_at == at; next = store_.contents.settled().first()) {
            log_place const place = next->place;
            BOOST_OUTCOME_TRY(auto const d, store_.digest_at(place));
            store_.contents.settled().remove_first();
            // Asked first: the intent of one that was overwritten may be gone.
            if (!store_.contents.index().holds(d, place)) continue;
            BOOST_OUTCOME_TRY(auto r, store_.load(place));
            if (may_shrink(r, before)) equal_.push_back({std::move(r), place, d});
        }
        return success();
    }
    void remember(chosen const& c) { store_.contents.settled().add(c.whole.written_at, c.place); }

    log_store<Files>& store_;
    std::vector<chosen> chosen_{}, equal_{};
};

} // namespace indoubt::detail

#endif
