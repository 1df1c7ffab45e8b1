// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef TESTS_SIMULATION_WALK_PROVIDER_TRUTH_HPP
#define TESTS_SIMULATION_WALK_PROVIDER_TRUTH_HPP

#include "record_image.hpp"

#include <indoubt/policy/provider.hpp>

#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

// What is true at the provider: which calls have landed, which effects stand, what a look-up may
// show of them and what a reply may say. The library never sees this; the invariants are judged by
// it.

namespace walk {

using shop = provider_of<std::string>;

inline bool is_ours(standing const& e) {
    return e.made_by != by_a_stranger;
}

inline bool any_effect_ever(snapshot const& s) {
    for (unsigned e = 0; e != s.effects; ++e)
        if (is_ours(s.effect_of[e])) return true;
    return false;
}
inline unsigned effects_now(snapshot const& s) {
    unsigned alive = 0;
    for (unsigned e = 0; e != s.effects; ++e)
        alive += is_ours(s.effect_of[e]) && s.effect_of[e].alive ? 1U : 0U;
    return alive;
}
inline bool stranger_now(snapshot const& s) {
    for (unsigned e = 0; e != s.effects; ++e)
        if (!is_ours(s.effect_of[e]) && s.effect_of[e].alive) return true;
    return false;
}

/// The number of an effect of ours among them, which is that of its receipt.
inline tick number_of(snapshot const& s, unsigned effect) {
    if (!is_ours(s.effect_of[effect])) return number_of_the_foreign;
    tick number = 0;
    for (unsigned e = 0; e != effect; ++e)
        number = narrow(number + (is_ours(s.effect_of[e]) ? 1 : 0));
    return number;
}

inline void add_effect(snapshot& s, tick made_by, byte generation) {
    if (s.effects == most_effects) std::abort();
    s.effect_of[s.effects++] = {made_by, true, s.now, generation};
}

/// Whether the provider makes an effect of this call, and remembers its key.
inline bool makes_an_effect(world const& w, snapshot& s, call const& c) {
    if (!c.keyed) return true;
    bool ever = false, now = false;
    for (unsigned e = 0; e != s.effects; ++e) {
        standing const& there = s.effect_of[e];
        bool const same = is_ours(there) && there.generation == c.generation;
        ever |= same;
        now |= same && there.alive;
    }
    switch (w.provider) {
    case repeats::are_made: return true;
    case repeats::exist_once: return !now;
    case repeats::were_ever_there: return !ever;
    case repeats::share_a_key: break;
    }
    bool const known = ever && s.key_taken_at != unset && s.now < s.key_taken_at + w.window;
    if (!known) s.key_taken_at = s.now;
    return !known;
}

/// Where one view of the provider shows everything of age, and another one the young effects too.
struct view {
    byte effects = 0; ///< a bit for each
};

inline std::vector<view> views(world const& w, snapshot const& s) {
    byte sure = 0, all = 0;
    for (unsigned e = 0; e != s.effects; ++e) {
        if (!s.effect_of[e].alive) continue;
        all = static_cast<byte>(all | 1U << e);
        bool const young = s.now < s.effect_of[e].since + w.visible_after;
        if (!young) sure = static_cast<byte>(sure | 1U << e);
    }
    std::vector<view> seen{{sure}};
    if (all != sure) seen.push_back({all});
    return seen;
}

inline shop::effect shown(snapshot const& s, unsigned effect) {
    bool const ours = is_ours(s.effect_of[effect]);
    byte const generation = ours ? s.effect_of[effect].generation : s.memory.generation;
    return {.receipt = receipt_of(number_of(s, effect)),
            .key = provider_key(generation),
            .request = ours ? "one" : "other"};
}

inline shop::answer answer_of(snapshot const& s, view v) {
    shop::complete found;
    for (unsigned e = 0; e != s.effects; ++e)
        if ((v.effects >> e & 1) != 0) found.effects.push_back(shown(s, e));
    return found;
}

/// The effect that an acceptance of this call names: its own, or that of the call it repeats.
inline tick accepted_as(world const& w, snapshot const& s, unsigned attempt) {
    tick next = 0, last = -1;
    for (unsigned e = 0; e != s.effects; ++e) {
        standing const& there = s.effect_of[e];
        if (!is_ours(there)) continue;
        if (there.made_by == static_cast<tick>(attempt)) return next;
        if (there.generation == s.calls[attempt].generation) last = next;
        next = narrow(next + 1);
    }
    bool const repeated = w.provider != repeats::are_made && s.calls[attempt].keyed && last >= 0;
    return repeated ? last : next;
}

} // namespace walk

#endif
