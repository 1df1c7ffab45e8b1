// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef TESTS_SIMULATION_WALK_TRANSITION_OF_HPP
#define TESTS_SIMULATION_WALK_TRANSITION_OF_HPP

#include <indoubt/core/transitions.hpp>

#include <concepts>
#include <string_view>
#include <utility>

// Which transition takes which evidence, and how a history tells it.

namespace walk {

using namespace indoubt;

template <class Evidence>
inline constexpr bool sends =
    std::same_as<Evidence, clearance> || std::same_as<Evidence, resend_clearance>;

/// The transition that takes this evidence.
template <state S, class Evidence> auto transition_of(operation<S>& op, Evidence& e) {
    if constexpr (std::same_as<Evidence, clearance>) {
        return dispatch(std::move(op), std::move(e));
    } else if constexpr (std::same_as<Evidence, resend_clearance>) {
        return resend(std::move(op), std::move(e));
    } else if constexpr (std::same_as<Evidence, match>) {
        return confirm(std::move(op), std::move(e));
    } else if constexpr (std::same_as<Evidence, non_application>) {
        return reopen(std::move(op), std::move(e));
    } else if constexpr (std::same_as<Evidence, refusal>) {
        return reject(std::move(op), std::move(e));
    } else if constexpr (std::same_as<Evidence, attempt_outcome>) {
        return record_outcome(std::move(op), std::move(e));
    } else if constexpr (std::same_as<Evidence, cancellation>) {
        return cancel(std::move(op), std::move(e));
    } else {
        return refer(std::move(op), std::move(e));
    }
}

inline std::string_view in_words(clearance const&) {
    return "sends, recorded and flushed";
}
inline std::string_view in_words(resend_clearance const&) {
    return "sends again, recorded and flushed";
}
inline std::string_view in_words(match const&) {
    return "confirms";
}
inline std::string_view in_words(non_application const&) {
    return "pending again";
}
inline std::string_view in_words(refusal const&) {
    return "rejected";
}
inline std::string_view in_words(attempt_outcome const&) {
    return "kept";
}
inline std::string_view in_words(cancellation const&) {
    return "cancelled";
}
inline std::string_view in_words(contradiction const&) {
    return "to review";
}
inline std::string_view in_words(doubt const&) {
    return "to review";
}

} // namespace walk

#endif
