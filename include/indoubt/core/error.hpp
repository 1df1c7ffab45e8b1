// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef INDOUBT_CORE_ERROR_HPP
#define INDOUBT_CORE_ERROR_HPP

#include <boost/outcome/basic_result.hpp>
#include <boost/outcome/try.hpp>

#include <boost/outcome/policy/base.hpp>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

// The one error type of the library and the result that carries it. A caller needs to ask an error
// one question, in_doubt(); rule() names what stopped the operation, message() is for people.
// No payload, receipt or credential ever enters an error.

namespace indoubt {

using std::chrono::milliseconds;

/// A moment of the library's clock, in milliseconds since the Unix epoch.
using time_point = std::chrono::sys_time<milliseconds>;

/// t + d, or the end of time: a caller may mean "no limit", a provider may answer anything.
constexpr time_point later(time_point t, milliseconds d) {
    bool const too_far = d > d.zero() && t > time_point::max() - d;
    return too_far ? time_point::max() : t + d;
}

/// Where the journal has an operation. The numbers are stored in journals: never renumber them.
enum class state_id : std::uint8_t {
    none = 0,      ///< the journal holds no such operation
    pending = 1,   ///< recorded; every attempt so far, often none, was surely not applied
    uncertain = 2, ///< an attempt was recorded before it was sent and may have been applied
    confirmed = 3, ///< a matching effect was observed
    rejected = 4,  ///< the provider documents that it was not applied and never will be
    cancelled = 5, ///< stopped while surely nothing was applied
    in_review = 6, ///< evidence is missing or contradicts itself; a person decides
    abandoned = 7, ///< a person closed it with the outcome unknown; its key stays blocked
};

constexpr std::string_view to_string(state_id id) {
    switch (id) {
    case state_id::none: return "none";
    case state_id::pending: return "pending";
    case state_id::uncertain: return "uncertain";
    case state_id::confirmed: return "confirmed";
    case state_id::rejected: return "rejected";
    case state_id::cancelled: return "cancelled";
    case state_id::in_review: return "in_review";
    case state_id::abandoned: return "abandoned";
    }
    return "none";
}

/// In these states an attempt was, or may have been, or may still be applied.
constexpr bool may_be_applied(state_id s) {
    return s == state_id::uncertain || s == state_id::in_review || s == state_id::abandoned;
}

/// The rule that stopped an operation, or the reason recorded with its state.
/// The numbers are stored in journals: never renumber them.
enum class rule : std::uint8_t {
    none = 0,

    // the call itself
    malformed_identity = 1, ///< scope or key is empty, longer than 255 bytes, or has control bytes
    unfit_key = 2,          ///< the provider's key rules do not allow this key
    key_taken = 3,          ///< another scope already uses this key at this target
    too_large = 4,          ///< the request or a receipt exceeds its limit; nothing was written
    malformed_request = 5,  ///< the request has no canonical form (NaN, infinity, bad UTF-8)
    undecodable = 6,        ///< stored or received bytes do not decode to the expected type
    conflicting_intent = 7, ///< this identity already stands for another intent
    incomparable = 8,       ///< stored under a fingerprint rule this program does not know
    not_recorded = 9,       ///< the journal holds no such operation
    stopped = 10,           ///< the caller's stop token was triggered

    // the machine
    foreign_evidence = 20, ///< the evidence was made for another operation
    stale_version = 21,    ///< the record has moved on since this was made
    in_progress = 22,      ///< a live holder is sending this operation
    illegal_decision = 23, ///< this decision is not open for this record

    // what is known of the effect
    not_yet_visible = 40,   ///< an effect may exist that look-ups do not show yet
    look_up_failed = 41,    ///< look-ups were incomplete, unavailable or denied
    no_guarantee = 42,      ///< nothing documented makes another send safe
    window_closed = 43,     ///< the documented guarantee no longer covers another send
    attempts_spent = 44,    ///< the retry budget allows no further attempt
    deadline_reached = 45,  ///< the deadline of the operation or of this call is over
    under_way = 46,         ///< the provider shows the effect as under way
    restored_copy = 47,     ///< a restored journal: it may have been sent in another life
    contents_differ = 48,   ///< the effect has another content than was asked for, or none
    several_effects = 49,   ///< more than one effect of ours exists
    another_owner = 50,     ///< only records that are not provably ours were found
    existed_before = 51,    ///< the provider says it existed before our first attempt
    receipt_taken = 52,     ///< the receipt is already bound to another operation
    late_effect = 53,       ///< an effect appeared after the operation was settled
    effect_missing = 54,    ///< the confirmed effect is no longer shown
    nothing_sent = 55,      ///< nothing is there, and nothing was sent
    accepted_unproven = 56, ///< the provider accepted it, and nothing can prove it
    no_target = 57,         ///< what it would act on is not there
    not_shown = 58,         ///< the effect that a person named is not shown
    interrupted = 59,       ///< an exception of a policy ended the call

    // settled against the caller
    refused_by_provider = 60, ///< refused for good
    refused_input = 61,       ///< refused for good: the input is invalid
    refused_permission = 62,  ///< refused for good: the credentials do not allow it
    refused_for_now = 63,     ///< surely not applied; the provider was busy or asks to come back
    cancelled_by_caller = 64, ///< the caller cancelled
    abandoned_by_person = 65, ///< a person closed it with the outcome unknown

    // the journal
    storage_failed = 80,  ///< a read, write or flush of the journal failed
    journal_exists = 81,  ///< create was asked for a path that already exists
    journal_missing = 82, ///< open was asked for a path that does not exist
    journal_in_use = 83,  ///< another owner has the journal
    not_a_journal = 84,   ///< empty, zeroed, foreign or not a regular private file
    newer_format = 85,    ///< written by a newer version of this library
    journal_damaged = 86, ///< a checksum or structure of the journal does not hold
};

/// One sentence for people, without a full stop.
constexpr std::string_view to_string(rule r) {
    switch (r) {
    case rule::none: return "no rule";
    case rule::malformed_identity:
        return "scope and key must be 1 to 255 bytes each, without control characters";
    case rule::unfit_key: return "the provider's key rules do not allow this key";
    case rule::key_taken: return "another scope already uses this key at this target";
    case rule::too_large: return "the request or receipt is larger than the limit";
    case rule::malformed_request: return "the request has no canonical form";
    case rule::undecodable: return "the bytes do not decode to the expected type";
    case rule::conflicting_intent: return "this identity already stands for another intent";
    case rule::incomparable: return "recorded under a fingerprint rule this program does not know";
    case rule::not_recorded: return "the journal holds no such operation";
    case rule::stopped: return "the caller asked to stop";
    case rule::foreign_evidence: return "the evidence was made for another operation";
    case rule::stale_version: return "the record has moved on since this was made";
    case rule::in_progress: return "the operation is in progress elsewhere";
    case rule::illegal_decision: return "this decision is not open for this record";
    case rule::not_yet_visible: return "an effect may exist that is not shown yet";
    case rule::look_up_failed: return "no complete look-up could be made";
    case rule::no_guarantee:
        return "an attempt may have been applied; nothing documented allows a resend";
    case rule::window_closed: return "the documented guarantee no longer covers a resend";
    case rule::attempts_spent: return "the allowed attempts are exhausted";
    case rule::deadline_reached: return "the deadline is over";
    case rule::under_way: return "the provider shows the effect as under way";
    case rule::restored_copy: return "the journal is a restored copy; it may have been sent before";
    case rule::contents_differ: return "the effect has another content than was asked for, or none";
    case rule::several_effects: return "ambiguous: more than one effect of ours exists";
    case rule::another_owner: return "only records that are not provably ours were found";
    case rule::existed_before: return "it was there before our first attempt";
    case rule::receipt_taken: return "the receipt is already bound to another operation";
    case rule::late_effect: return "an effect appeared after the operation was settled";
    case rule::effect_missing: return "the previously confirmed effect is absent";
    case rule::nothing_sent: return "nothing is there, and nothing was sent";
    case rule::accepted_unproven: return "the provider accepted it, and nothing can prove it";
    case rule::no_target: return "what it would act on is not there";
    case rule::not_shown: return "the named effect is not shown";
    case rule::interrupted: return "an exception ended the call; it stays as it is recorded";
    case rule::refused_by_provider: return "the provider refused it for good";
    case rule::refused_input: return "the provider refused it for good: invalid input";
    case rule::refused_permission: return "the provider refused it for good: no permission";
    case rule::refused_for_now: return "the provider refused it for now";
    case rule::cancelled_by_caller: return "cancelled by the caller";
    case rule::abandoned_by_person: return "abandoned by a person";
    case rule::storage_failed: return "the journal could not be read or written";
    case rule::journal_exists: return "the journal already exists";
    case rule::journal_missing: return "there is no journal at this path";
    case rule::journal_in_use: return "the journal is in use";
    case rule::not_a_journal: return "the file is not a journal";
    case rule::newer_format: return "the journal was written by a newer version";
    case rule::journal_damaged: return "the journal is damaged";
    }
    return "unknown rule";
}

/// Why a call did not end in a confirmation.
///
/// Errors are cheap to carry (24 bytes and, for the text, one allocation) and safe to log: they
/// hold the operation's name, escaped and capped, and never a payload, receipt or credential.
class error {
public:
    explicit error(indoubt::rule r, state_id state = state_id::none)
        : rule_(r), state_(state),
          in_doubt_(r == rule::in_progress || is_unreadable(r) || may_be_applied(state)) {}

    error(error const& other)
        : rule_(other.rule_), state_(other.state_), in_doubt_(other.in_doubt_),
          cause_(other.cause_), again_at_(other.again_at_),
          text_(other.text_ ? std::make_unique<text>(*other.text_) : nullptr) {}
    error(error&&) noexcept = default;
    error& operator=(error const& other) { return *this = error(other); }
    error& operator=(error&&) noexcept = default;
    ~error() = default;

    /// The effect may exist, or may come to exist: keep the identity and run it again later. True
    /// also where the journal could not be read, for it may hold an attempt.
    bool in_doubt() const noexcept { return in_doubt_; }
    indoubt::rule rule() const noexcept { return rule_; }
    state_id state() const noexcept { return state_; }
    /// "scope/key" of the operation, escaped and capped; empty if no operation is concerned.
    std::string_view operation() const noexcept {
        return text_ ? std::string_view(text_->operation) : std::string_view();
    }
    /// What the rule alone does not say, such as the owner of a journal in use. May be empty.
    std::string_view detail() const noexcept {
        return text_ ? std::string_view(text_->detail) : std::string_view();
    }
    /// errno or the storage's own code; 0 if there is none.
    int cause() const noexcept { return cause_; }
    /// When asking again may help; the epoch if that is not known.
    time_point again_at() const noexcept { return again_at_; }
    /// One line for people: "scope/key: sentence (detail)".
    std::string message() const {
        std::string line(operation());
        if (!line.empty()) line += ": ";
        line += to_string(rule_);
        if (!detail().empty()) line.append(" (").append(detail()).append(")");
        return line;
    }

    // For the makers of errors: each returns the error itself, so that they can be chained.
    error&& of(std::string operation) && {
        writable().operation = std::move(operation);
        return std::move(*this);
    }
    error&& saying(std::string detail) && {
        writable().detail = std::move(detail);
        return std::move(*this);
    }
    error&& because(int cause) && {
        cause_ = cause;
        return std::move(*this);
    }
    error&& until(time_point again) && {
        again_at_ = again;
        return std::move(*this);
    }
    /// The maker knows more than the state tells: a flush that failed after bytes went out, say.
    error&& doubtful(bool in_doubt) && {
        in_doubt_ = in_doubt;
        return std::move(*this);
    }
    error&& in(state_id state) && {
        state_ = state;
        return std::move(*this);
    }

private:
    /// The journal, and what it may hold, could not be read.
    static bool is_unreadable(indoubt::rule r) {
        return r >= rule::storage_failed && r != rule::journal_exists;
    }
    struct text {
        std::string operation, detail;
    };
    text& writable() {
        if (!text_) text_ = std::make_unique<text>();
        return *text_;
    }

    indoubt::rule rule_;
    state_id state_;
    bool in_doubt_;
    int cause_ = 0;
    time_point again_at_{};
    std::unique_ptr<text> text_;
};

namespace detail {

/// Asking a result for what it does not hold is a mistake of the program: it says which rule was
/// overlooked and aborts, in every build, with or without exceptions.
struct say_and_terminate : boost::outcome_v2::policy::base {
    template <class Impl> static constexpr void wide_value_check(Impl&& self) {
        if (!base::_has_value(self)) stop(base::_error(self).message().c_str());
    }
    template <class Impl> static constexpr void wide_error_check(Impl&& self) {
        if (!base::_has_error(self)) stop("it holds a value, not an error");
    }
    template <class Impl> static constexpr void wide_exception_check(Impl&&) {}

private:
    [[noreturn]] static void stop(char const* why) {
        std::fprintf(stderr, "indoubt: a result was used without a check: %s\n", why);
        std::abort();
    }
};

} // namespace detail

/// A value, or the error that says why there is none. BOOST_OUTCOME_TRY passes errors on.
template <class T>
using result = boost::outcome_v2::basic_result<T, error, detail::say_and_terminate>;

using boost::outcome_v2::success;

} // namespace indoubt

#endif
