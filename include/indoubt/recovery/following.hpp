// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef INDOUBT_RECOVERY_FOLLOWING_HPP
#define INDOUBT_RECOVERY_FOLLOWING_HPP

#include <indoubt/core/transitions.hpp>

#include <utility>

// The transition that each piece of evidence leads to, under one name: for whoever acts on an
// answer of decide. What has no function here asks for something else than a transition.

namespace indoubt::detail {

template <state S> auto follow(operation<S>&& op, clearance&& e) {
    return dispatch(std::move(op), std::move(e));
}
template <state S> auto follow(operation<S>&& op, resend_clearance&& e) {
    return resend(std::move(op), std::move(e));
}
template <state S> auto follow(operation<S>&& op, match&& e) {
    return confirm(std::move(op), std::move(e));
}
template <state S> auto follow(operation<S>&& op, non_application&& e) {
    return reopen(std::move(op), std::move(e));
}
template <state S> auto follow(operation<S>&& op, refusal&& e) {
    return reject(std::move(op), std::move(e));
}
template <state S> auto follow(operation<S>&& op, attempt_outcome&& e) {
    return record_outcome(std::move(op), std::move(e));
}
template <state S> auto follow(operation<S>&& op, cancellation&& e) {
    return cancel(std::move(op), std::move(e));
}
template <state S> auto follow(operation<S>&& op, doubt&& e) {
    return refer(std::move(op), std::move(e));
}
template <state S> auto follow(operation<S>&& op, contradiction&& e) {
    return refer(std::move(op), std::move(e));
}

} // namespace indoubt::detail

#endif
