// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef INDOUBT_CORE_STATES_HPP
#define INDOUBT_CORE_STATES_HPP

#include <indoubt/core/error.hpp>

#include <concepts>

// The seven states as types. An operation<S> can only exist while the journal has it in state S.

namespace indoubt {

/// Known: the intent is recorded; every attempt so far, often none, was surely not applied.
/// Not known: nothing that matters. Entered by: begin, reopen, rule_out, resume,
/// supersede. Left by: dispatch, confirm, reject, refer, cancel. Not terminal.
struct pending {
    static constexpr state_id id = state_id::pending;
};

/// Known: at least one attempt was recorded before it was sent. Not known: whether it was applied,
/// or may still be. Entered by: dispatch, resend, resume.
/// Left by: confirm, reject, reopen, refer. Not terminal.
struct uncertain {
    static constexpr state_id id = state_id::uncertain;
};

/// Known: a matching effect was observed; the record says on what basis.
/// Not known: whether it still exists. Entered by: confirm, adopt, dismiss.
/// Left by: refer, with a contradiction such as the effect being gone. Terminal otherwise.
struct confirmed {
    static constexpr state_id id = state_id::confirmed;
};

/// Known: the provider documents that it was not applied and never will be.
/// Entered by: reject, dismiss. Left by: refer (a late effect), supersede. Terminal otherwise.
struct rejected {
    static constexpr state_id id = state_id::rejected;
};

/// Known: stopped while surely nothing was applied. Entered by: cancel, dismiss.
/// Left by: refer (a late effect), supersede. Terminal otherwise.
struct cancelled {
    static constexpr state_id id = state_id::cancelled;
};

/// Known: evidence is missing or contradicts itself. Not known: what happened.
/// Entered by: refer. Left by: confirm, reject and reopen while the concern is doubt; otherwise by
/// a person: adopt, rule_out, resume, dismiss, abandon. Not terminal.
struct in_review {
    static constexpr state_id id = state_id::in_review;
};

/// Known: a person closed it with the outcome unknown; its key stays blocked for ever.
/// Entered by: abandon, dismiss. Left by: refer (a late effect). Terminal otherwise.
struct abandoned {
    static constexpr state_id id = state_id::abandoned;
};

template <class S>
concept state = requires {
    { S::id } -> std::convertible_to<state_id>;
};

constexpr bool is_final(state_id id) {
    return id == state_id::confirmed || id == state_id::rejected || id == state_id::cancelled ||
           id == state_id::abandoned;
}

} // namespace indoubt

#endif
