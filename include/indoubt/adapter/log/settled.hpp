// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef INDOUBT_ADAPTER_LOG_SETTLED_HPP
#define INDOUBT_ADAPTER_LOG_SETTLED_HPP

#include <indoubt/adapter/log/entry.hpp>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>

// Which settled records are whole, the oldest first.

namespace indoubt::detail {

/// Where they stood when they were written; whoever takes one looks whether it still does.
///
/// Memory: 16 bytes each. A heap for each segment, which goes with its segment, so that nothing
/// large is ever moved.
class log_settled {
public:
    struct standing {
        time_point written_at;
        log_place place;
    };

    void add(time_point written_at, log_place place) {
        auto& heap = heaps_[segment_of(place)];
        heap.push_back({written_at, place});
        std::ranges::push_heap(heap, later);
    }

    /// The one that was written first. Null if there is none.
    standing const* first() const {
        standing const* found = nullptr;
        for (auto const& [segment, heap] : heaps_) {
            if (!heap.empty() && (found == nullptr || later(*found, heap.front())))
                found = &heap.front();
        }
        return found;
    }
    void remove_first() {
        auto const heap = heaps_.find(segment_of(first()->place));
        std::ranges::pop_heap(heap->second, later);
        heap->second.pop_back();
        if (heap->second.empty()) heaps_.erase(heap);
    }

    /// These segments hold nothing any more.
    void drop_upto(std::uint64_t segment) {
        heaps_.erase(heaps_.begin(), heaps_.upper_bound(segment));
    }

private:
    static bool later(standing const& a, standing const& b) { return a.written_at > b.written_at; }

    std::map<std::uint64_t, std::deque<standing>> heaps_{};
};

} // namespace indoubt::detail

#endif
