// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef INDOUBT_CORE_RECORD_HPP
#define INDOUBT_CORE_RECORD_HPP

#include <indoubt/core/contract.hpp>
#include <indoubt/core/error.hpp>
#include <indoubt/core/identity.hpp>
#include <indoubt/core/states.hpp>

#include <boost/container/small_vector.hpp>

#include <compare>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// What a journal keeps of one operation. Plain data: storages write it and read it back, the
// transitions are the only code that changes it.

namespace indoubt {

/// The largest encoded request and receipt, in bytes: checked before anything is written.
inline constexpr std::size_t longest_request = std::size_t{1} << 20;
inline constexpr std::size_t longest_receipt = std::size_t{1} << 16;
/// How often an intent may be made anew under another provider key, the first time included.
inline constexpr std::uint32_t most_generations = 16;
/// Hints, and what an unavailable provider says, are cut at this many bytes.
inline constexpr std::size_t longest_hint = 4096;

/// What was asked for. Written once, never changed, shared by every copy of the record.
struct intent {
    indoubt::identity identity;
    std::string target;           ///< the provider's name for what is written to
    std::string request;          ///< the encoded request; every attempt sends these bytes
    std::string fingerprint;      ///< what the fingerprint rule stores; may be empty
    std::string fingerprint_rule; ///< which rule made it, such as "exact/1"
};

/// Which write of a record this is. A new epoch begins at each open of the journal, so that a
/// version lost with a power cut is never used again.
struct version {
    std::uint32_t epoch = 0, counter = 0;
    friend auto operator<=>(version const&, version const&) = default;
};

/// One operation, as of one version of its record. Evidence carries it; nothing is allocated.
struct stamp {
    std::uint64_t operation = 0;
    indoubt::version version;
    friend bool operator==(stamp const&, stamp const&) = default;
};

/// What is known of one attempt. The numbers are stored in journals: never renumber them.
enum class attempt_outcome_id : std::uint8_t {
    open = 0,                 ///< it may have been applied, or may still be
    applied = 1,              ///< the confirmed effect is counted to it
    not_sent = 2,             ///< no byte left this machine
    refused_for_now = 3,      ///< documented: not applied; asking again may help
    refused_for_good = 4,     ///< documented: not applied, and never will be
    declared_not_applied = 5, ///< a person said so
};

struct attempt_record {
    time_point sent_at{};
    indoubt::guarantee guarantee; ///< under which it was sent
    attempt_outcome_id outcome = attempt_outcome_id::open;
    std::uint32_t generation = 1; ///< the provider key it carried
};

/// On what a confirmation rests. The numbers are stored in journals: never renumber them.
enum class basis : std::uint8_t {
    none = 0,
    looked_up = 1, ///< a complete look-up showed exactly one effect of ours
    reply = 2,     ///< a reply that the provider documents as proof; nobody has looked yet
    outside = 3,   ///< a webhook or another channel
    person = 4,    ///< a person's word
};

/// Why an operation is in review. The numbers are stored in journals: never renumber them.
enum class concern : std::uint8_t {
    none = 0,
    doubt = 1,          ///< evidence is missing; new evidence may settle it
    contradiction = 2,  ///< evidence contradicts itself; only a person settles it
    effect_missing = 3, ///< the confirmed effect is gone; seeing it again settles it
};

/// Who is sending right now. It lives while its epoch is the journal's current one.
struct claim {
    std::uint32_t epoch = 0; ///< 0: nobody
    std::uint64_t holder = 0;
    friend bool operator==(claim const&, claim const&) = default;
};

/// Who decided, and why; both are shown to people and stored with the decision. id names the
/// decision: given again with the same id it changes nothing. Empty: each call is one of its own.
struct by {
    std::string who, why, id{};
};

struct decision {
    std::string what, who, why, id{};
    time_point at{};
};

/// The parts of a record that few operations have.
struct case_notes {
    std::string hints;     ///< what replies said that may help to find the effect
    std::string target_id; ///< of what is acted on, captured before the first attempt
    std::string remarks;   ///< for people: candidates seen, members that differ
    std::string owner;     ///< who looks after the review
    std::vector<std::string> former_keys; ///< provider keys of the generations before this one
    std::vector<std::string> set_aside; ///< receipts of effects a person knows, and wants uncounted
    std::vector<decision> decisions;
};

struct record {
    std::shared_ptr<indoubt::intent const> intent; ///< never null in a stored record
    std::uint64_t operation = 0;                   ///< unique in the journal, set at insert
    indoubt::version version;
    state_id state = state_id::pending;
    indoubt::basis basis = basis::none;
    indoubt::concern concern = concern::none;
    rule reason = rule::none;            ///< why it is in this state
    state_id came_from = state_id::none; ///< the state it went to review from
    bool ever_confirmed = false;
    bool cancel_requested = false;
    bool clean_up_due = false; ///< confirmed after a cancel was requested
    /// Pending, or in review, when a restored copy was opened: it counts as possibly sent.
    bool restored = false;
    /// Rejected or cancelled, and the program's hook has not returned for it yet.
    bool hook_due = false;
    /// Retention left only what answers a repeat: key, fingerprint, state and receipt.
    bool tombstone = false;
    std::uint32_t generation = 1;     ///< grows with each supersession
    std::uint32_t extra_attempts = 0; ///< granted by a person beyond the budget
    indoubt::claim claim;
    boost::container::small_vector<attempt_record, 1> attempts;
    time_point begun_at{};
    time_point written_at{};                 ///< the library's clock at the last write
    time_point deadline = time_point::max(); ///< of the operation; max() if there is none
    time_point confirmed_at{};
    time_point next_check{};  ///< when looking or sending again may help
    std::string provider_key; ///< empty: the identity's key as it is
    std::string receipt; ///< of the effect if ever_confirmed, else of an accepted attempt: a hint
    std::shared_ptr<case_notes const> notes; ///< null: all empty

    indoubt::identity const& identity() const { return intent->identity; }
    std::string_view key() const {
        return provider_key.empty() ? std::string_view(intent->identity.key)
                                    : std::string_view(provider_key);
    }
    indoubt::stamp stamp() const { return {operation, version}; }

    bool is_open(attempt_record const& a) const { return a.outcome == attempt_outcome_id::open; }
    unsigned open_attempts() const {
        unsigned open = 0;
        for (auto const& a : attempts)
            open += is_open(a) ? 1U : 0U;
        return open;
    }
    /// Attempts under the present provider key: what a budget counts.
    std::size_t tries() const {
        std::size_t made = 0;
        for (auto const& a : attempts)
            made += a.generation == generation ? 1U : 0U;
        return made;
    }
    /// Attempts under the present provider key that may have left something at the provider, be it
    /// only the trace of a failure.
    unsigned sent_attempts() const {
        unsigned sent = 0;
        for (auto const& a : attempts) {
            bool const left = a.outcome != attempt_outcome_id::not_sent;
            sent += left && a.generation == generation ? 1U : 0U;
        }
        return sent;
    }
    /// An attempt was refused for good; it decides once no attempt is open.
    bool refused_for_good() const {
        for (auto const& a : attempts) {
            if (a.generation == generation && a.outcome == attempt_outcome_id::refused_for_good) {
                return true;
            }
        }
        return false;
    }
    /// The first call that may have arrived was answered with "exists already": what stands there
    /// is not ours.
    bool existed_before_us() const { return reason == rule::existed_before; }
    /// When the first attempt under the present provider key was sent; max() if none was.
    time_point first_sent() const {
        for (auto const& a : attempts) {
            if (a.generation == generation) return a.sent_at;
        }
        return time_point::max();
    }
    /// min() if nothing was ever sent.
    time_point last_sent() const {
        return attempts.empty() ? time_point::min() : attempts.back().sent_at;
    }
    void allow_attempts(std::uint32_t more) {
        constexpr auto most = std::numeric_limits<std::uint32_t>::max();
        extra_attempts = more > most - extra_attempts ? most : extra_attempts + more;
    }
    case_notes const& notes_or_none() const {
        static case_notes const none;
        return notes ? *notes : none;
    }
    /// Changes the notes of this copy alone.
    template <class F> void edit_notes(F edit) {
        case_notes mine = notes_or_none();
        edit(mine);
        notes = std::make_shared<case_notes const>(std::move(mine));
    }
};

/// An error about this operation, with its name and its state.
inline error error_about(record const& r, rule why) {
    bool const doubtful = may_be_applied(r.state) || r.restored || why == rule::in_progress;
    return error(why, r.state)
        .of(printable(r.identity()))
        .until(is_final(r.state) ? time_point{} : r.next_check)
        .doubtful(doubtful);
}

/// The same where the operation itself is asked for and the call cannot say what became of it: a
/// confirmed effect exists all the same.
inline error error_despite(record const& r, rule why) {
    bool const exists = r.state == state_id::confirmed || may_be_applied(r.state) || r.restored;
    return error_about(r, why).doubtful(exists);
}

namespace detail {
/// A decision that the record does not allow; why is for people.
inline error not_open(record const& r, std::string why) {
    return error_about(r, rule::illegal_decision).saying(std::move(why));
}
} // namespace detail

} // namespace indoubt

#endif
