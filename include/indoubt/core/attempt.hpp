// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef INDOUBT_CORE_ATTEMPT_HPP
#define INDOUBT_CORE_ATTEMPT_HPP

#include <indoubt/core/operation.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>

// The way to the provider. A permit exists only after the attempt was written and flushed; from
// it comes, once, an attempt, and an attempt is the only thing a provider's submit accepts.

namespace indoubt {

class permit;

/// How long one call may take, and what stops it early.
struct call_limits {
    milliseconds time_left = milliseconds::max();
    std::stop_token stop{};
};

/// What submit receives. Views stay valid as long as the attempt exists.
template <class Request> class attempt {
public:
    attempt(attempt&&) noexcept = default;
    attempt& operator=(attempt&&) noexcept = default;

    indoubt::identity const& identity() const { return intent_->identity; }
    /// The provider's key for this operation: the same in every attempt of one generation.
    std::string_view key() const { return key_ ? *key_ : identity().key; }
    /// Decoded from bytes().
    Request const& request() const { return request_; }
    /// The stored request, byte for byte the same in every attempt.
    std::string_view bytes() const { return intent_->request; }
    /// What the first look-up captured as the thing to act on; empty if it captured none.
    std::string_view target_id() const {
        return notes_ ? std::string_view(notes_->target_id) : std::string_view();
    }
    /// Counts from 1 over the life of the operation.
    unsigned number() const { return number_; }
    /// What is left for this call when the attempt was made: never more than call_timeout.
    milliseconds time_left() const { return limits_.time_left; }
    std::stop_token const& stop() const { return limits_.stop; }

private:
    friend detail::scribe;
    attempt(record const& r, Request&& request, call_limits&& limits)
        : intent_(r.intent), notes_(r.notes), request_(std::move(request)),
          number_(static_cast<unsigned>(r.attempts.size())), limits_(std::move(limits)) {
        if (!r.provider_key.empty()) key_ = r.provider_key;
    }

    std::shared_ptr<intent const> intent_;
    std::shared_ptr<case_notes const> notes_;
    std::optional<std::string> key_{}; // none: the identity's key
    Request request_;
    unsigned number_;
    call_limits limits_;
};

/// Leave to send once. Dropping it unused is safe: the journal then holds an attempt that was
/// never made, which is looked for like any other.
class [[nodiscard]] permit {
public:
    permit(permit&&) noexcept = default;
    permit& operator=(permit&&) noexcept = default;

    /// The attempt, right before the bytes go out.
    ///
    /// Effects: reads the record again; compares its version and the moment after which the
    /// evidence for this send no longer holds. If either fails, the attempt is closed in the
    /// journal as never sent.
    /// Errors: foreign_evidence (another journal granted it; nothing is changed then),
    /// stale_version (the record moved on, or this permit was used), deadline_reached or
    /// window_closed (too late), undecodable, storage_failed. On each of them nothing may be sent;
    /// find the operation again to go on.
    template <class Request, class Journal>
    result<indoubt::attempt<Request>> attempt(Journal& journal, call_limits limits = {}) {
        return journal.template open_attempt<Request>(*this, std::move(limits));
    }

    /// The operation, to weigh the reply with.
    indoubt::operation<uncertain> operation() && {
        return indoubt::operation<uncertain>(std::move(record_));
    }

private:
    friend detail::scribe;
    permit(std::unique_ptr<record> r, time_point send_before, std::uint64_t journal)
        : record_(std::move(r)), send_before_(send_before), journal_(journal) {}
    std::unique_ptr<record> record_;
    time_point send_before_;
    std::uint64_t journal_; // the one that granted it
    bool used_ = false;
};

} // namespace indoubt

#endif
