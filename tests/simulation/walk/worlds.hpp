// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef TESTS_SIMULATION_WALK_WORLDS_HPP
#define TESTS_SIMULATION_WALK_WORLDS_HPP

#include "state.hpp"

#include <indoubt/core/contract.hpp>

#include <array>
#include <string_view>
#include <variant>

// The worlds that are walked: for each what its contract documents, what its provider really does,
// and what may go wrong in it.

namespace walk {

template <class Lookup, class Reply> using plain = contract<never, Lookup, Reply>;
template <class Lookup, class Reply> using keyed = contract<deduplicated_by_key, Lookup, Reply>;

/// Every contract of the worlds. Each type costs compile time, once for each state.
using documented =
    std::variant<plain<complete_lookup, hint>, plain<complete_lookup, proof>,
                 plain<no_lookup, proof>, plain<from_outside, hint>, keyed<complete_lookup, hint>,
                 keyed<complete_lookup, proof>, keyed<no_lookup, proof>, keyed<from_outside, hint>,
                 contract<unique_target, complete_lookup, hint>,
                 contract<naturally_idempotent, complete_lookup, hint>>;

/// What the provider does with a repeat of a call that it has taken.
enum class repeats : byte {
    are_made,        ///< every call makes an effect
    share_a_key,     ///< dropped for as long as the window lasts
    exist_once,      ///< refused while the first effect exists
    were_ever_there, ///< refused for ever
};

/// States and transitions that the model counts for the same world; 0 where it has no such world.
struct figures {
    unsigned states = 0, transitions = 0;
};

struct world {
    std::string_view name;
    documented contract;
    repeats provider = repeats::are_made;
    figures model{};

    unsigned attempts = 2; ///< that the budget allows
    unsigned grants = 1;   ///< attempts that a person grants, as the budget counts them
    tick lasts = 0;        ///< time that passes in it; 0: none does
    tick deadline = never_ends;
    tick window = 99;         ///< of the provider, where repeats share a key
    tick visible_after = 0;   ///< until then an effect may be hidden
    tick arrives_within = -1; ///< a call can be under way so long; -1: for ever
    unsigned workers = 1;
    bool incomplete_looks = true;
    bool refusals = true;       ///< the provider refuses now and then, and says so
    bool inner_repeats = false; ///< the client library sends again by itself
    bool hasty = false;         ///< people decide while calls are under way
    bool restored = false;      ///< the journal is an older copy; the effect exists already
    bool pauses = false;        ///< a tick may pass between the last check and the bytes going out
    bool notices_steps = false; ///< no restart with a clock that was set back unnoticed
    std::array<tick, 2> steps{-4, 2}; ///< of the wall clock
    documented next_contract{};       ///< of the program's second version
    faults may{};
};

namespace documents {

inline constexpr milliseconds one{1}, none{0};
inline constexpr char const* page = "https://provider.test/keys";

// How soon an effect is visible is stated in the worlds in which time passes. In the others an
// empty look-up counts once the look-ups of a run are spent.
inline constexpr complete_lookup at_once{.visible_after = none}, late{.visible_after = 2 * one},
    some_time{};
inline constexpr deduplicated_by_key long_window{
    .window = 99 * one, .compares_parameters = true, .documented_at = page};
inline constexpr deduplicated_by_key short_window{.window = 4 * one, .documented_at = page};
inline constexpr proof proves{.documented_at = page};

inline constexpr contract nothing{.lookup = some_time, .call_timeout = one, .margin = none};
inline constexpr contract nothing_timed{.lookup = at_once, .call_timeout = one, .margin = none};
inline constexpr contract nothing_late{.lookup = late, .call_timeout = one, .margin = none};
inline constexpr contract proof_only{
    .lookup = some_time, .reply = proves, .call_timeout = one, .margin = none};
inline constexpr contract proof_late{
    .lookup = late, .reply = proves, .call_timeout = one, .margin = none};
inline constexpr contract proof_blind{.reply = proves, .call_timeout = one, .margin = none};
inline constexpr contract blind{.lookup = from_outside{}, .call_timeout = one, .margin = none};

inline constexpr contract by_key{.resend = long_window,
                                 .lookup = some_time,
                                 .call_timeout = one,
                                 .arrives_within = one,
                                 .margin = none};
inline constexpr contract by_key_timed{.resend = long_window,
                                       .lookup = at_once,
                                       .call_timeout = one,
                                       .arrives_within = one,
                                       .margin = none};
inline constexpr contract by_key_late{.resend = long_window,
                                      .lookup = late,
                                      .call_timeout = one,
                                      .arrives_within = one,
                                      .margin = none};
inline constexpr contract by_key_four{.resend = short_window,
                                      .lookup = at_once,
                                      .call_timeout = one,
                                      .arrives_within = one,
                                      .margin = none};
inline constexpr contract by_key_repeating{.resend = long_window,
                                           .lookup = some_time,
                                           .call_timeout = one,
                                           .arrives_within = one,
                                           .inner_attempts = 2,
                                           .margin = none};
inline constexpr contract by_key_proof{.resend = long_window,
                                       .lookup = some_time,
                                       .reply = proves,
                                       .call_timeout = one,
                                       .arrives_within = one,
                                       .margin = none};
inline constexpr contract by_key_proof_blind{.resend = long_window,
                                             .reply = proves,
                                             .call_timeout = one,
                                             .arrives_within = one,
                                             .margin = none};
inline constexpr contract by_key_blind{.resend = long_window,
                                       .lookup = from_outside{},
                                       .call_timeout = one,
                                       .arrives_within = one,
                                       .margin = none};
inline constexpr contract by_key_four_blind{
    .resend =
        deduplicated_by_key{.window = 4 * one, .compares_parameters = true, .documented_at = page},
    .reply = proves,
    .call_timeout = one,
    .arrives_within = one,
    .margin = none};
inline constexpr contract by_key_four_blind_with_margin{
    .resend =
        deduplicated_by_key{.window = 4 * one, .compares_parameters = true, .documented_at = page},
    .reply = proves,
    .call_timeout = one,
    .arrives_within = one,
    .margin = one};
inline constexpr contract by_name{
    .resend = unique_target{.undisturbed_for = unlimited, .documented_at = page},
    .lookup = some_time,
    .call_timeout = one,
    .margin = none};
inline constexpr contract by_state{
    .resend = naturally_idempotent{.undisturbed_for = unlimited, .documented_at = page},
    .lookup = some_time,
    .call_timeout = one,
    .margin = none};

} // namespace documents

} // namespace walk

#endif
