// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef INDOUBT_RECOVERY_SENDING_HPP
#define INDOUBT_RECOVERY_SENDING_HPP

#include <indoubt/core/attempt.hpp>
#include <indoubt/recovery/journal.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

// What one call has out of its operation: the claim it made, and from the decision to send until
// the reply the departure and the permit. On every way out of the call the claim is given back, and
// a permit that was not used is withdrawn.

namespace indoubt::detail {

template <class Request, class Journal> class sending {
public:
    explicit sending(Journal& book) : book_(book), holder_(next_number()) {}
    sending(sending const&) = delete;
    sending& operator=(sending const&) = delete;
    ~sending() {
        if (give_back()) (void)book_.flush();
    }

    std::uint64_t holder() const { return holder_; } ///< of the claim

    /// The decision is made: nothing is written yet.
    void prepare(std::shared_ptr<intent const> about, Request&& decoded,
                 result<departure>&& decided) {
        claimed_ = std::move(about);
        request_.emplace(std::move(decoded));
        departure_.emplace(std::move(decided));
    }
    /// What is to be written; null if nothing is.
    result<departure>* departing() { return departure_ ? &*departure_ : nullptr; }

    /// It was written, and flushed.
    void take(permit&& p) {
        departure_.reset();
        permit_.emplace(std::move(p));
    }
    bool is_permitted() const { return permit_.has_value(); }

    /// Right before the bytes go out.
    result<attempt<Request>> open(call_limits limits) {
        auto out = limits.stop.stop_requested()
                       ? result<attempt<Request>>(book_.withdrawn(*permit_, rule::stopped))
                       : book_.template open_attempt<Request>(*permit_, std::move(limits),
                                                              std::move(*request_));
        if (!out) cease();
        return out;
    }

    /// The bytes went out: the operation, to weigh the reply with.
    operation<uncertain> sent() {
        auto op = std::move(*permit_).operation();
        cease();
        return op;
    }

    /// Nothing is under way any more; the claim stays.
    void cease() {
        departure_.reset();
        permit_.reset();
        request_.reset();
    }

    /// The claim was given up with a write, or somebody else has it.
    void let_go() { claimed_ = nullptr; }

    /// Whoever throws, the provider or a policy: the operation stays as it is recorded, free for
    /// the next one who asks. A second exception must not leave this.
    /// Returns: something was written.
    bool give_back() noexcept {
        if (!claimed_) return false;
#if defined(__cpp_exceptions)
        try {
#endif
            bool const unused = permit_ && scribe::use(*permit_);
            if (unused) (void)book_.withdrawn(*permit_, rule::interrupted);
            auto latest = book_.find_record(claimed_->identity);
            claimed_ = nullptr;
            bool const mine = latest && latest.value() && latest.value()->claim.holder == holder_;
            return (mine && book_.release_record(*latest.value())) || unused;
#if defined(__cpp_exceptions)
        } catch (...) {
            return false;
        }
#endif
    }

private:
    Journal& book_;
    std::uint64_t holder_;
    std::shared_ptr<intent const> claimed_{}; // what this call claimed and has not given back
    std::optional<Request> request_{};
    std::optional<result<departure>> departure_{};
    std::optional<permit> permit_{};
};

} // namespace indoubt::detail

#endif
