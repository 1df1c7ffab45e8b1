// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef INDOUBT_POLICY_HOOKS_HPP
#define INDOUBT_POLICY_HOOKS_HPP

#include <indoubt/core/error.hpp>
#include <indoubt/core/identity.hpp>

#include <concepts>
#include <string_view>
#include <type_traits>

// What a program does once an operation surely was not applied, such as deleting what was staged
// for it or giving money back. Done while the outcome is unknown, it would destroy what the effect
// points to; so there is no hook for "failed".

namespace indoubt {

/// An operation that is rejected or cancelled. The references are good for the length of the call.
struct unapplied_operation {
    indoubt::identity const& identity;
    state_id state = state_id::rejected;
    rule why = rule::none;
    std::string_view request; ///< encoded, as it is stored; codec<request>::decode reads it
};

/// | expression          | returns | what must hold                                               |
/// |---------------------|---------|--------------------------------------------------------------|
/// | h.on_unapplied(u)   | bool    | true: done; false: to be called again by the next run        |
///
/// Called for an operation that is rejected or cancelled, and for no other: after the flush that
/// made the state durable, and before it is told. That it returned true is recorded afterwards, so
/// it is called at least once, and again after a crash in between: it must be safe to repeat.
/// Never called while an attempt may have been applied. After a supersession it is called for the
/// new generation, too. Thread safety: calls may be concurrent, also for one operation. An
/// exception reaches whoever asked, and counts as false.
template <class H>
concept hooks_policy = requires(H& h, unapplied_operation const& u) {
    { h.on_unapplied(u) } -> std::same_as<bool>;
};

/// Nothing to clean up, at no cost.
struct no_hooks {
    bool on_unapplied(unapplied_operation const&) const { return true; }
};

/// Whether records must remember that a hook is due.
template <class H>
inline constexpr bool has_hooks = !std::same_as<std::remove_cvref_t<H>, no_hooks>;

template <class H> constexpr bool explain_hooks() {
    constexpr bool on_unapplied = requires(H& h, unapplied_operation const& u) {
        { h.on_unapplied(u) } -> std::same_as<bool>;
    };
    static_assert(on_unapplied, "hooks: add  bool on_unapplied(unapplied_operation const&)");
    return on_unapplied;
}

} // namespace indoubt

#endif
