// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef INDOUBT_POLICY_OBSERVER_HPP
#define INDOUBT_POLICY_OBSERVER_HPP

#include <indoubt/core/error.hpp>
#include <indoubt/core/identity.hpp>

#include <concepts>
#include <type_traits>

// Who is told of transitions: metrics, logs, traces. An observer is told what is already durable
// and decides nothing. It never sees a payload, a receipt or a credential.

namespace indoubt {

/// One operation has changed its state. The reference is good for the length of the call.
struct transition_event {
    indoubt::identity const& identity; ///< not secret; escape it (printable) before it is logged
    state_id from = state_id::none;    ///< none: the operation has just begun
    state_id to = state_id::none;
    rule why = rule::none; ///< the reason recorded with the new state
    unsigned attempts = 0; ///< recorded so far, over the whole life of the operation
    time_point at{};       ///< the library's clock when the transition was written
};

/// | expression           | returns | what must hold                                              |
/// |----------------------|---------|-------------------------------------------------------------|
/// | o.on_transition(e)   | void    | called after the flush that made e durable, in the order of |
/// |                      |         | one operation's transitions; a crash between the flush and  |
/// |                      |         | the call loses the call, never the transition               |
///
/// Where a caller asks for tell::early, the events of a confirmation are told as early as it is.
/// A type with  static constexpr bool observes = false  is never called, and nothing is collected
/// for it. Thread safety: all calls may be concurrent. Nothing throws.
template <class O>
concept observer_policy = requires(O& o, transition_event const& e) {
    { o.on_transition(e) } -> std::same_as<void>;
};

/// Listens to nothing, at no cost.
struct no_observer {
    static constexpr bool observes = false;
    void on_transition(transition_event const&) const {}
};

/// Whether events must be collected for an observer of this type.
template <class O> constexpr bool observes() {
    using observer = std::remove_cvref_t<O>;
    if constexpr (requires { bool(observer::observes); }) {
        return observer::observes;
    } else {
        return true;
    }
}

template <class O> constexpr bool explain_observer() {
    constexpr bool on_transition = requires(O& o, transition_event const& e) {
        { o.on_transition(e) } -> std::same_as<void>;
    };
    static_assert(on_transition, "observer: add  void on_transition(transition_event const&)");
    return on_transition;
}

} // namespace indoubt

#endif
