// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef INDOUBT_TESTING_STORAGE_RETENTION_HPP
#define INDOUBT_TESTING_STORAGE_RETENTION_HPP

#include <indoubt/policy/storage.hpp>
#include <indoubt/testing/laws.hpp>
#include <indoubt/testing/sample_records.hpp>
#include <indoubt/testing/storage/checks.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

// The laws of a storage that shrinks what is long settled.

namespace indoubt::testing {

namespace detail {

/// What shrinks, oldest first.
inline std::vector<record> shrinking_records() {
    std::vector<record> all{
        settled_record(14, state_id::confirmed, 50), settled_record(12, state_id::rejected, 40),
        settled_record(13, state_id::cancelled, 40), settled_record(11, state_id::confirmed, 30),
        settled_record(16, state_id::confirmed, 20), settled_record(15, state_id::rejected, 1)};
    auto const inside = all[1].intent;
    all[1].intent = std::make_shared<intent const>(
        intent{inside->identity, inside->target, inside->request, "", inside->fingerprint_rule});
    all[2].notes.reset();
    all[3].edit_notes([](case_notes& n) { n.former_keys.clear(); });
    all[4].edit_notes([](case_notes& n) { n.former_keys = n.set_aside = {}; });
    all[5].version = {77, 5};
    return all;
}

/// What must stay as it is, for one reason each.
inline std::vector<record> retained_records() {
    std::vector<record> all{
        settled_record(21, state_id::confirmed, 0),  settled_record(22, state_id::cancelled, -9),
        settled_record(23, state_id::pending, 60),   settled_record(24, state_id::uncertain, 60),
        settled_record(25, state_id::in_review, 60), settled_record(26, state_id::abandoned, 60),
        settled_record(27, state_id::rejected, 60),  settled_record(28, state_id::confirmed, 60),
        settled_record(29, state_id::confirmed, 60),
    };
    all[6].hook_due = true;
    all[7].clean_up_due = true;
    all[8].tombstone = true;
    return all;
}

template <class S> bool holds_all(S& s, std::vector<record> const& all) {
    return std::ranges::all_of(all, [&](record const& r) { return holds(s, r); });
}

template <class Subject> void settled_records_shrink(Subject& subject, laws& law) {
    auto* s = &subject.fresh();
    auto const epoch = s->facts().epoch;
    auto records = shrinking_records();
    auto const retained = retained_records();
    law.expect(is(s->shrink_settled(retained_from, 10), std::size_t{0}),
               "shrink: an empty storage has nothing to shrink");
    for (auto const& all : {retained, records})
        for (record const& r : all)
            (void)s->insert(r);
    for (record const& r : records)
        (void)s->bind("name of " + r.identity().key, r.identity());
    auto const water = s->facts().high_water;
    auto const shrinks = [&](std::size_t most, std::size_t expected) {
        auto const standing = std::ranges::find(records, false, &record::tombstone);
        for (auto r = standing; r != standing + static_cast<std::ptrdiff_t>(expected); ++r)
            *r = shrunk(std::move(*r), epoch);
        law.expect(is(s->shrink_settled(retained_from, most), expected),
                   "shrink: returns how many it shrank, at most as many as it was told");
        law.expect(holds_all(*s, records), "shrink: the oldest first, to what shrunk() says");
    };
    shrinks(0, 0);
    shrinks(2, 2);
    shrinks(1, 1);
    shrinks(100, 3);
    shrinks(100, 0);
    law.expect(holds_all(*s, retained), "shrink: leaves what must stay whole");
    law.expect(s->facts().high_water == water, "shrink: is no later write of a record");

    record const& first = records.front();
    version const whole = shrinking_records().front().version;
    law.expect(is_error(s->replace(next_of(first), whole), rule::stale_version),
               "shrink: the version of the whole record is stale");
    records[0] = next_of(first);
    law.expect(s->replace(records[0], shrunk(shrinking_records()[0], epoch).version).has_value() &&
                   holds(*s, records[0]),
               "shrink: a record that shrank is replaced by its new version");
    law.expect(s->flush().has_value(), "flush: succeeds");
    auto const all_stands = [&] {
        law.expect(holds_all(*s, records) && holds_all(*s, retained),
                   "shrink: what shrank is found again");
        for (record const& r : records) {
            law.expect(is(s->bind("name of " + r.identity().key, {"settled", "other"}), false),
                       "shrink: names that were bound stay bound");
        }
        law.expect(is(s->shrink_settled(retained_from, 10), std::size_t{0}),
                   "shrink: what shrank does not shrink again");
    };
    all_stands();
    if constexpr (requires { subject.reopen(); }) {
        s = &subject.reopen();
        all_stands();
    }
}

template <class Subject> void a_crash_takes_back_what_one_call_shrank(Subject& subject, laws& law) {
    auto* s = &subject.fresh();
    auto const epoch = s->facts().epoch;
    auto const records = shrinking_records();
    for (record const& r : records)
        (void)s->insert(r);
    law.expect(s->flush().has_value(), "flush: succeeds");
    (void)s->shrink_settled(retained_from, 10);
    record const later = plain_record({"scope", "later"}, 1);
    (void)s->insert(later);
    s = &subject.crash();
    auto const shrank = std::ranges::count_if(
        records, [&](record const& r) { return holds(*s, shrunk(r, epoch)); });
    auto const whole =
        std::ranges::count_if(records, [&](record const& r) { return holds(*s, r); });
    auto const all = static_cast<std::ptrdiff_t>(records.size());
    law.expect((shrank == all && whole == 0) || (shrank == 0 && whole == all),
               "shrink: a crash takes back all of one call or nothing");
    law.expect(shrank == all || lacks(*s, later.identity()),
               "crash: what is lost is a suffix of what was written");
}

} // namespace detail

} // namespace indoubt::testing

#endif
