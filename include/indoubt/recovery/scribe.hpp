// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef INDOUBT_RECOVERY_SCRIBE_HPP
#define INDOUBT_RECOVERY_SCRIBE_HPP

#include <indoubt/core/attempt.hpp>
#include <indoubt/core/operation.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

// What a journal writes with: the one door between records and typed operations, the numbers that
// tell operations and holders apart, and the names that keys and receipts are bound by.

namespace indoubt {

namespace detail {

/// Unique in this process: operation numbers and holders of claims are made of it.
inline std::uint64_t next_number() {
    static std::atomic<std::uint64_t> last{0};
    return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

/// The one door between records and operations.
class scribe {
public:
    using box = std::unique_ptr<record>;

    template <state S> static operation<S> make(box r) { return operation<S>(std::move(r)); }

    static any_operation any(box r) {
        switch (r->state) {
        case state_id::uncertain: return make<uncertain>(std::move(r));
        case state_id::confirmed: return make<confirmed>(std::move(r));
        case state_id::rejected: return make<rejected>(std::move(r));
        case state_id::cancelled: return make<cancelled>(std::move(r));
        case state_id::in_review: return make<in_review>(std::move(r));
        case state_id::abandoned: return make<abandoned>(std::move(r));
        default: return make<pending>(std::move(r));
        }
    }

    /// The record inside an operation, step, departure or permit.
    template <class Holder> static box& of(Holder& h) { return h.record_; }

    static permit grant(departure&& d, std::uint64_t journal) {
        return permit(std::move(d.record_), d.send_before_, journal);
    }
    static bool is_of(permit const& p, std::uint64_t journal) { return p.journal_ == journal; }
    static time_point send_before(permit const& p) { return p.send_before_; }
    static bool use(permit& p) { return !std::exchange(p.used_, true); }
    template <class Request>
    static attempt<Request> open(permit const& p, Request&& request, call_limits&& limits) {
        return attempt<Request>(*p.record_, std::move(request), std::move(limits));
    }
};

/// A name for storage::bind: kind, target and key or receipt, each ended by NUL, so that none runs
/// into another. Made without allocation where it is short.
class binding_name {
public:
    binding_name(std::string_view kind, std::string_view target, std::string_view what)
        : size_(kind.size() + target.size() + what.size() + 3) {
        char* to = short_;
        if (size_ > sizeof short_) {
            long_.resize(size_);
            to = long_.data();
        }
        for (std::string_view part : {kind, target, what}) {
            to = std::copy(part.begin(), part.end(), to);
            *to++ = '\0';
        }
    }
    operator std::string_view() const { return {long_.empty() ? short_ : long_.data(), size_}; }

private:
    std::size_t size_;
    std::string long_;
    char short_[320];
};

} // namespace detail

} // namespace indoubt

#endif
