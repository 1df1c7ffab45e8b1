// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef TESTS_SIMULATION_WALK_WORLD_LIST_HPP
#define TESTS_SIMULATION_WALK_WORLD_LIST_HPP

#include "worlds.hpp"

#include <vector>

namespace walk {

/// The worlds of the model, with its figures, and a few that it does not have.
inline std::vector<world> worlds() {
    std::vector<world> list;
    // A: durability and single faults; no time passes.
    list.push_back({.name = "A/never/complete/hint",
                    .contract = documents::nothing,
                    .model = {1404, 6734},
                    .attempts = 3,
                    .may = {.crash = 2, .cancel = 1, .remove = 1}});
    list.push_back({.name = "A/never/complete/proof",
                    .contract = documents::proof_only,
                    .model = {918, 4124},
                    .attempts = 3,
                    .may = {.crash = 2, .cancel = 1, .remove = 1}});
    list.push_back({.name = "A/never/unsupported/hint",
                    .contract = documents::blind,
                    .model = {900, 2778},
                    .attempts = 3,
                    .may = {.crash = 2, .cancel = 1, .remove = 1}});
    list.push_back({.name = "A/never/unsupported/proof",
                    .contract = documents::proof_blind,
                    .model = {654, 1860},
                    .attempts = 3,
                    .may = {.crash = 2, .cancel = 1, .remove = 1}});
    list.push_back({.name = "A/dedup/complete/hint",
                    .contract = documents::by_key,
                    .provider = repeats::share_a_key,
                    .model = {40674, 221053},
                    .attempts = 3,
                    .may = {.crash = 2, .cancel = 1, .remove = 1}});
    list.push_back({.name = "A/dedup/complete/proof",
                    .contract = documents::by_key_proof,
                    .provider = repeats::share_a_key,
                    .model = {18258, 94155},
                    .attempts = 3,
                    .may = {.crash = 2, .cancel = 1, .remove = 1}});
    list.push_back({.name = "A/dedup/unsupported/hint",
                    .contract = documents::by_key_blind,
                    .provider = repeats::share_a_key,
                    .model = {22118, 82867},
                    .attempts = 3,
                    .may = {.crash = 2, .cancel = 1, .remove = 1}});
    list.push_back({.name = "A/dedup/unsupported/proof",
                    .contract = documents::by_key_proof_blind,
                    .provider = repeats::share_a_key,
                    .model = {9082, 31394},
                    .attempts = 3,
                    .may = {.crash = 2, .cancel = 1, .remove = 1}});
    // What is unique or idempotent only while nobody deletes it is documented as `never`.
    list.push_back({.name = "A/unique/complete/hint",
                    .contract = documents::nothing,
                    .provider = repeats::exist_once,
                    .model = {1404, 6734},
                    .attempts = 3,
                    .may = {.crash = 2, .cancel = 1, .remove = 1}});
    list.push_back({.name = "A/unique/complete/proof",
                    .contract = documents::proof_only,
                    .provider = repeats::exist_once,
                    .model = {918, 4124},
                    .attempts = 3,
                    .may = {.crash = 2, .cancel = 1, .remove = 1}});
    list.push_back({.name = "A/unique/unsupported/hint",
                    .contract = documents::blind,
                    .provider = repeats::exist_once,
                    .model = {900, 2778},
                    .attempts = 3,
                    .may = {.crash = 2, .cancel = 1, .remove = 1}});
    list.push_back({.name = "A/unique/unsupported/proof",
                    .contract = documents::proof_blind,
                    .provider = repeats::exist_once,
                    .model = {654, 1860},
                    .attempts = 3,
                    .may = {.crash = 2, .cancel = 1, .remove = 1}});
    list.push_back({.name = "A/natural/complete/hint",
                    .contract = documents::nothing,
                    .provider = repeats::exist_once,
                    .model = {1404, 6734},
                    .attempts = 3,
                    .may = {.crash = 2, .cancel = 1, .remove = 1}});
    list.push_back({.name = "A/natural/complete/proof",
                    .contract = documents::proof_only,
                    .provider = repeats::exist_once,
                    .model = {918, 4124},
                    .attempts = 3,
                    .may = {.crash = 2, .cancel = 1, .remove = 1}});
    list.push_back({.name = "A/natural/unsupported/hint",
                    .contract = documents::blind,
                    .provider = repeats::exist_once,
                    .model = {900, 2778},
                    .attempts = 3,
                    .may = {.crash = 2, .cancel = 1, .remove = 1}});
    list.push_back({.name = "A/natural/unsupported/proof",
                    .contract = documents::proof_blind,
                    .provider = repeats::exist_once,
                    .model = {654, 1860},
                    .attempts = 3,
                    .may = {.crash = 2, .cancel = 1, .remove = 1}});
    list.push_back({.name = "A/unique-forever",
                    .contract = documents::by_name,
                    .provider = repeats::were_ever_there,
                    .model = {40674, 221053},
                    .attempts = 3,
                    .may = {.crash = 2, .cancel = 1, .remove = 1}});
    list.push_back({.name = "A/natural-undisturbed",
                    .contract = documents::by_state,
                    .provider = repeats::exist_once,
                    .attempts = 3,
                    .may = {.crash = 2, .cancel = 1}});
    // B: people, news from outside, foreign records.
    list.push_back({.name = "B/people/never/complete",
                    .contract = documents::nothing,
                    .model = {4171, 16898},
                    .may = {.cancel = 1, .decide = 2, .remove = 1, .outside = 1}});
    list.push_back({.name = "B/people/never/unsupported",
                    .contract = documents::blind,
                    .model = {2588, 6925},
                    .may = {.cancel = 1, .decide = 2, .remove = 1, .outside = 1}});
    list.push_back({.name = "B/people/dedup/complete",
                    .contract = documents::by_key,
                    .provider = repeats::share_a_key,
                    .model = {27834, 131449},
                    .may = {.cancel = 1, .decide = 2, .remove = 1, .outside = 1}});
    list.push_back({.name = "B/people/dedup/unsupported",
                    .contract = documents::by_key_blind,
                    .provider = repeats::share_a_key,
                    .model = {13034, 43745},
                    .may = {.cancel = 1, .decide = 2, .remove = 1, .outside = 1}});
    list.push_back({.name = "B/foreign/never",
                    .contract = documents::nothing,
                    .model = {3215, 14912},
                    .attempts = 1,
                    .may = {.cancel = 1, .decide = 2, .outside = 1, .foreign = 1}});
    list.push_back({.name = "B/foreign/dedup",
                    .contract = documents::by_key,
                    .provider = repeats::share_a_key,
                    .model = {14494, 69037},
                    .may = {.decide = 1, .foreign = 1}});
    list.push_back({.name = "B/foreign+crash",
                    .contract = documents::by_key,
                    .provider = repeats::share_a_key,
                    .model = {4865, 23821},
                    .may = {.crash = 1, .foreign = 1}});
    // C: the outcomes of three attempts come together.
    list.push_back({.name = "C/merge/dedup3",
                    .contract = documents::by_key,
                    .provider = repeats::share_a_key,
                    .model = {11187, 49813},
                    .attempts = 3,
                    .may = {.decide = 1}});
    list.push_back({.name = "C/merge/never3",
                    .contract = documents::nothing,
                    .model = {453, 1739},
                    .attempts = 3,
                    .may = {.cancel = 1, .decide = 1}});
    // D: windows, deadlines, late effects, clocks that are set.
    list.push_back({.name = "D/window",
                    .contract = documents::by_key_four,
                    .provider = repeats::share_a_key,
                    .model = {103261, 253354},
                    .lasts = 7,
                    .window = 4,
                    .arrives_within = 1,
                    .incomplete_looks = false,
                    .refusals = false});
    // No bound of the time under way is documented, so that no guarantee can be.
    list.push_back({.name = "D/window/late-unbounded",
                    .contract = documents::nothing_timed,
                    .provider = repeats::share_a_key,
                    .model = {16508, 39601},
                    .lasts = 7,
                    .window = 4,
                    .incomplete_looks = false,
                    .refusals = false});
    list.push_back({.name = "D/window/clock",
                    .contract = documents::by_key_four,
                    .provider = repeats::share_a_key,
                    .model = {309783, 966584},
                    .lasts = 7,
                    .window = 4,
                    .arrives_within = 1,
                    .incomplete_looks = false,
                    .refusals = false,
                    .may = {.clock = 1}});
    list.push_back({.name = "D/window/clock+crash",
                    .contract = documents::by_key_four,
                    .provider = repeats::share_a_key,
                    .model = {1418663, 4314187},
                    .lasts = 7,
                    .window = 4,
                    .arrives_within = 1,
                    .incomplete_looks = false,
                    .refusals = false,
                    .may = {.crash = 1, .clock = 1}});
    list.push_back({.name = "D/blind/clock+crash",
                    .contract = documents::by_key_four_blind,
                    .provider = repeats::share_a_key,
                    .lasts = 8,
                    .window = 4,
                    .arrives_within = 1,
                    .refusals = false,
                    .notices_steps = true,
                    .may = {.crash = 1, .clock = 1}});
    list.push_back({.name = "D/blind/pause",
                    .contract = documents::by_key_four_blind_with_margin,
                    .provider = repeats::share_a_key,
                    .lasts = 7,
                    .window = 4,
                    .arrives_within = 1,
                    .refusals = false,
                    .pauses = true});
    list.push_back({.name = "D/deadline",
                    .contract = documents::by_key_timed,
                    .provider = repeats::share_a_key,
                    .model = {476407, 2020417},
                    .lasts = 4,
                    .deadline = 2,
                    .arrives_within = 1,
                    .may = {.decide = 1}});
    list.push_back({.name = "D/deadline/never",
                    .contract = documents::nothing_timed,
                    .model = {32196, 131728},
                    .lasts = 4,
                    .deadline = 2,
                    .may = {.decide = 1}});
    list.push_back({.name = "D/visible",
                    .contract = documents::by_key_late,
                    .provider = repeats::share_a_key,
                    .model = {41973, 113061},
                    .lasts = 6,
                    .visible_after = 2,
                    .arrives_within = 1,
                    .incomplete_looks = false,
                    .refusals = false});
    list.push_back({.name = "D/visible/proof",
                    .contract = documents::proof_late,
                    .model = {1520, 3879},
                    .attempts = 1,
                    .lasts = 5,
                    .visible_after = 2,
                    .arrives_within = 1,
                    .incomplete_looks = false,
                    .refusals = false});
    // E: two workers in one process.
    list.push_back({.name = "E/2workers/never",
                    .contract = documents::nothing,
                    .model = {4892, 14709},
                    .workers = 2,
                    .incomplete_looks = false,
                    .hasty = true,
                    .may = {.decide = 1}});
    list.push_back({.name = "E/2workers/dedup",
                    .contract = documents::by_key,
                    .provider = repeats::share_a_key,
                    .model = {15418, 49852},
                    .workers = 2,
                    .incomplete_looks = false,
                    .may = {.cancel = 1}});
    list.push_back({.name = "E/2workers/never/lease",
                    .contract = documents::nothing,
                    .model = {11741, 35717},
                    .workers = 2,
                    .incomplete_looks = false,
                    .may = {.cancel = 1, .expire = 1}});
    list.push_back({.name = "E/2workers/dedup/lease",
                    .contract = documents::by_key,
                    .provider = repeats::share_a_key,
                    .model = {53884, 177082},
                    .workers = 2,
                    .incomplete_looks = false,
                    .may = {.cancel = 1, .expire = 1}});
    list.push_back({.name = "E/2workers/dedup/outside",
                    .contract = documents::by_key,
                    .provider = repeats::share_a_key,
                    .model = {11529, 38388},
                    .workers = 2,
                    .incomplete_looks = false,
                    .may = {.outside = 1}});
    // F: the contract changes while the operation is open.
    list.push_back({.name = "F/upgrade never->dedup",
                    .contract = documents::nothing,
                    .provider = repeats::share_a_key,
                    .model = {476, 1897},
                    .next_contract = documents::by_key,
                    .may = {.upgrade = 1}});
    // G: the journal is an older copy, and another life of it has sent already.
    list.push_back({.name = "G/restored/V=2",
                    .contract = documents::nothing_late,
                    .model = {98, 243},
                    .attempts = 1,
                    .lasts = 4,
                    .visible_after = 2,
                    .incomplete_looks = false,
                    .refusals = false,
                    .restored = true});
    list.push_back({.name = "G/restored/unsupported",
                    .contract = documents::blind,
                    .model = {3, 4},
                    .attempts = 1,
                    .incomplete_looks = false,
                    .refusals = false,
                    .restored = true});
    list.push_back({.name = "G/restored/people",
                    .contract = documents::nothing_late,
                    .model = {4290, 14426},
                    .attempts = 1,
                    .lasts = 3,
                    .visible_after = 2,
                    .incomplete_looks = false,
                    .refusals = false,
                    .restored = true,
                    .may = {.crash = 1, .cancel = 1, .decide = 1, .remove = 1, .outside = 1}});
    // H: the client library sends again by itself.
    list.push_back({.name = "H/inner",
                    .contract = documents::by_key_repeating,
                    .provider = repeats::share_a_key,
                    .model = {70, 252},
                    .attempts = 4,
                    .grants = 2,
                    .inner_repeats = true});
    return list;
}

/// Worlds whose contract says more than is true: each must show a violation.
inline std::vector<world> lying_worlds() {
    std::vector<world> list;
    list.push_back({.name = "lie/unique-for-ever",
                    .contract = documents::by_name,
                    .provider = repeats::exist_once,
                    .may = {.remove = 1}});
    list.push_back({.name = "lie/idempotent-undisturbed",
                    .contract = documents::by_state,
                    .provider = repeats::exist_once,
                    .may = {.remove = 1}});
    list.push_back({.name = "lie/arrives-within",
                    .contract = documents::by_key_four,
                    .provider = repeats::share_a_key,
                    .lasts = 7,
                    .window = 4,
                    .incomplete_looks = false,
                    .refusals = false});
    list.push_back({.name = "lie/key-is-remembered", .contract = documents::by_key});
    list.push_back(
        {.name = "lie/one-inner-attempt", .contract = documents::nothing, .inner_repeats = true});
    list.push_back({.name = "lie/complete-look-up",
                    .contract = documents::by_key_four,
                    .provider = repeats::share_a_key,
                    .lasts = 7,
                    .window = 4,
                    .visible_after = 7,
                    .arrives_within = 1,
                    .incomplete_looks = false,
                    .refusals = false});
    return list;
}

} // namespace walk

#endif
