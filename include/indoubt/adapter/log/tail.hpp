// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef INDOUBT_ADAPTER_LOG_TAIL_HPP
#define INDOUBT_ADAPTER_LOG_TAIL_HPP

#include <indoubt/adapter/log/segments.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <span>
#include <sys/types.h>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

// Where a log is written: the segment that is being filled, those before it, and the next one,
// which is made while the second half of this one is filled.

namespace indoubt::detail {

/// Thread safety: none but that of the thread which makes the next segment.
template <log_files Files> class log_tail {
public:
    using folder = log_folder<Files>;
    using segment = log_segment<Files>;

    explicit log_tail(folder& f) : folder_(f) {}
    log_tail(log_tail const&) = delete;
    log_tail& operator=(log_tail const&) = delete;
    ~log_tail() {
        if (!maker_.joinable()) return;
        // A forked child has no such thread.
        ::getpid() == process_ ? maker_.join() : maker_.detach();
    }

    std::uint64_t number() const { return current_.number; }
    std::uint64_t base() const { return base_; } ///< where the next frame begins
    std::size_t size() const { return static_cast<std::size_t>(current_.size); }
    typename Files::file& file() { return current_.file; }
    bool has_room(std::size_t bytes) const { return base_ + bytes <= current_.size; }

    /// Null if there is none.
    segment* at(std::uint64_t number) {
        if (number == current_.number && number != 0) return &current_;
        auto const s = std::ranges::lower_bound(older_, number, {}, &segment::number);
        return s != older_.end() && s->number == number ? &*s : nullptr;
    }

    /// A segment that is read at open; nothing more is written to it.
    void add_older(segment s) {
        number_ = s.number;
        older_.push_back(std::move(s));
    }
    /// How the last of them ends.
    void ends(std::uint64_t sequence, std::uint64_t offset, std::uint64_t checksum) {
        older_.back().end = offset;
        sequence_ = sequence;
        base_ = offset;
        chain_ = checksum;
    }

    // Those before the segment that is being filled, the oldest first.
    segment* older(std::size_t i) { return i < older_.size() ? &older_[i] : nullptr; }
    std::uint64_t newest_older() const { return older_.empty() ? 0 : older_.back().number; }
    std::size_t older_bytes() const {
        std::size_t sum = 0;
        for (segment const& s : older_)
            sum += static_cast<std::size_t>(s.size);
        return sum;
    }
    /// All segments, up to what is durable.
    std::vector<log_extent> extents() const {
        std::vector<log_extent> out;
        for (segment const& s : older_)
            out.push_back({s.number, s.size, s.end});
        out.push_back({current_.number, current_.size, durable_});
        return out;
    }
    segment take_oldest() {
        segment out = std::move(older_.front());
        older_.erase(older_.begin());
        return out;
    }

    /// The place of the frame with this number, which is so long.
    log_link take(std::uint64_t sequence, std::size_t length) {
        log_link const link{nonce_, sequence, base_, chain_};
        base_ += length;
        return link;
    }
    /// A frame, to its place. Other threads may use the tail meanwhile, but for this.
    result<void> write(log_link const& link, std::span<char const> bytes) {
        BOOST_OUTCOME_TRY(auto const size, folder_.files().size(current_.file));
        if (size < current_.size)
            return about_log_file(rule::storage_failed, folder_.in(folder::name_of(number_)),
                                  "was truncated while it was open");
        return folder_.files().write_durably(current_.file, link.synced_upto, bytes);
    }
    void wrote(log_link const& link, std::uint64_t checksum) {
        chain_ = checksum;
        sequence_ = link.sequence;
        durable_ = base_; // the next frame is begun only after this
    }

    /// Makes the next segment, if that is not done. A failure leaves nothing behind.
    result<void> prepare_next() {
        if (maker_.joinable()) {
            maker_.join();
            if (!ahead_) folder_.discard_blank(number_ + 1);
        }
        if (!ahead_) {
            auto made = folder_.make_blank(number_ + 1, next_size());
            if (!made) {
                folder_.discard_blank(number_ + 1);
                return std::move(made).error();
            }
            ahead_ = std::make_unique<segment>(std::move(made).value());
        }
        return success();
    }

    /// Begins the next segment; h says what is not about its place in the chain. Nothing may be
    /// under way. Effects: its header is durable.
    result<void> begin_next(log_header h) {
        BOOST_OUTCOME_TRY(prepare_next());
        h.number = ahead_->number;
        h.length = ahead_->size;
        BOOST_OUTCOME_TRY(h.marks, folder_.files().marks(ahead_->file));
        h.before_number = number_;
        h.before_end = base_;
        h.before_sequence = sequence_;
        h.before_checksum = chain_;
        log_buffer bytes;
        put_header(bytes, h);
        BOOST_OUTCOME_TRY(folder_.files().write_durably(
            ahead_->file, 0, std::span<char const>(bytes.data(), bytes.size())));
        current_.end = base_;
        if (current_.number != 0) older_.push_back(std::move(current_));
        current_ = std::move(*ahead_);
        ahead_.reset();
        number_ = current_.number;
        nonce_ = h.nonce;
        chain_ = h.checksum;
        base_ = durable_ = log_format::data;
        return success();
    }

    /// If it cannot be made now, begin_next() tries again, and says so.
    void make_ahead() {
        // The files of a test may want all steps in one order.
        if constexpr (requires { Files::makes_nothing_ahead; }) return;
        if (maker_.joinable() || base_ <= current_.size / 2) return;
#if defined(__cpp_exceptions)
        try {
#endif
            maker_ = std::thread([this, number = number_ + 1, size = next_size()] {
                auto made = folder_.make_blank(number, size);
                if (made) ahead_ = std::make_unique<segment>(std::move(made).value());
            });
#if defined(__cpp_exceptions)
        } catch (std::exception const&) { // no thread, or no memory, for now
        }
#endif
    }

private:
    /// Half as long as all that is there, so that a small journal stays small.
    std::size_t next_size() const {
        std::size_t const half = (older_bytes() + size()) / 2;
        std::size_t const in_pages = half / log_format::header_copy * log_format::header_copy;
        return std::clamp(in_pages, smallest_segment<Files>(), log_format::largest_segment);
    }

    folder& folder_;
    segment current_{};
    std::vector<segment> older_{};
    std::uint64_t number_ = 0;   ///< of the last segment
    std::uint64_t sequence_ = 0; ///< of the last frame that is durable
    std::uint64_t nonce_ = 0, chain_ = 0, base_ = 0, durable_ = 0;
    std::unique_ptr<segment> ahead_{}; ///< written by maker_, read once that is joined
    std::thread maker_{};
    pid_t process_ = ::getpid();
};

} // namespace indoubt::detail

#endif
