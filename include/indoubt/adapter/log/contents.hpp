// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef INDOUBT_ADAPTER_LOG_CONTENTS_HPP
#define INDOUBT_ADAPTER_LOG_CONTENTS_HPP

#include <indoubt/adapter/log/index.hpp>
#include <indoubt/adapter/log/settled.hpp>
#include <indoubt/policy/storage.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

// What a log keeps in memory: the index, and the records that are unsettled. Of everything settled
// it knows the place only, and of what may shrink how old it is.

namespace indoubt::detail {

/// An unsettled record and where its intent stands.
struct log_live {
    record kept{};
    log_place whole = 0;
    log_digest digest{};
    bool used = false;
};

/// A place with this bit is the number of an unsettled record in memory.
inline constexpr log_place in_memory = std::uint64_t{1} << 63U;

class log_contents {
public:
    log_index& index() { return index_; }
    log_settled& settled() { return settled_; }
    static bool is_live(log_place p) { return (p & in_memory) != 0; }
    log_live& live(log_place p) { return live_[static_cast<std::size_t>(p & ~in_memory)]; }

    /// Returns: the place of the record in memory.
    log_place keep(record const& r, log_place whole, log_digest const& d) {
        if (free_.empty()) {
            live_.emplace_back();
            free_.push_back(live_.size() - 1);
        }
        log_place const p = in_memory | free_.back();
        auto const later = std::ranges::upper_bound(in_order_, r.operation, {}, &shown::operation);
        in_order_.insert(later, shown{r.operation, p});
        free_.pop_back();
        log_live& l = live(p);
        l.kept = r;
        l.whole = whole;
        l.digest = d;
        l.used = true;
        return p;
    }

    void drop(log_place p) {
        log_live& l = live(p);
        auto const at =
            std::ranges::lower_bound(in_order_, l.kept.operation, {}, &shown::operation);
        for (auto i = at; i != in_order_.end() && i->operation == l.kept.operation; ++i) {
            if (i->place != p) continue;
            i->place = 0; // the others keep their places: erasing each one would move all behind it
            ++dropped_;
            break;
        }
        l = log_live{};
        free_.push_back(static_cast<std::size_t>(p & ~in_memory));
        if (dropped_ > 64 && 2 * dropped_ > in_order_.size()) {
            std::erase_if(in_order_, [](shown const& s) { return s.place == 0; });
            dropped_ = 0;
        }
    }

    /// A page of what is unsettled, in the order of record::operation.
    std::vector<record> page_of(page p) {
        std::vector<record> out;
        auto at = std::ranges::upper_bound(in_order_, p.after, {}, &shown::operation);
        for (; at != in_order_.end() && out.size() < p.most; ++at) {
            if (at->place != 0) out.push_back(live(at->place).kept);
        }
        return out;
    }
    std::size_t live_count() const { return live_.size() - free_.size(); }
    template <class F> void each_live(F f) {
        for (log_live& l : live_)
            if (l.used) f(l);
    }

private:
    struct shown {
        std::uint64_t operation;
        log_place place; ///< 0: settled meanwhile
    };

    log_index index_{};
    log_settled settled_{};
    std::deque<log_live> live_{};
    std::vector<std::size_t> free_{};
    std::vector<shown> in_order_{};
    std::size_t dropped_ = 0;
};

} // namespace indoubt::detail

#endif
