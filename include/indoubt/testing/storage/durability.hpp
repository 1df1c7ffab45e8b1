// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef INDOUBT_TESTING_STORAGE_DURABILITY_HPP
#define INDOUBT_TESTING_STORAGE_DURABILITY_HPP

#include <indoubt/policy/storage.hpp>
#include <indoubt/testing/laws.hpp>
#include <indoubt/testing/sample_records.hpp>
#include <indoubt/testing/storage/checks.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <type_traits>
#include <vector>

// The laws of a storage about what is there after it was closed, killed or failed.

namespace indoubt::testing {

namespace detail {

template <class Subject> void reopening_finds_what_was_flushed(Subject& subject, laws& law) {
    auto* s = &subject.fresh();
    storage_facts before = s->facts();
    record const untouched = full_record({"scope", "untouched"}, 1);
    record const first = plain_record({"scope", "replaced"}, 2);
    record replaced = full_record({"scope", "replaced"}, 2, {1, 2});
    replaced.intent = first.intent;
    (void)s->insert(untouched);
    (void)s->insert(first);
    (void)s->replace(replaced, first.version);
    (void)s->bind("name", untouched.identity());
    law.expect(s->flush().has_value(), "flush: succeeds");
    for (int times = 0; times < 2; ++times) {
        s = &subject.reopen();
        law.expect(s->facts().epoch > before.epoch, "reopen: begins a new, larger epoch");
        law.expect(s->facts().high_water == replaced.written_at,
                   "reopen: high_water is what it was");
        law.expect(!s->facts().restored, "reopen: a journal in its place is no restored copy");
        law.expect(holds(*s, untouched) && holds(*s, replaced),
                   "reopen: finds every flushed record");
        law.expect(is(s->bind("name", first.identity()), false) &&
                       is(s->bind("name", untouched.identity()), true),
                   "reopen: finds every flushed binding");
        before = s->facts();
    }
    law.expect(s->replace(next_of(replaced), replaced.version).has_value(),
               "reopen: versions of an earlier epoch still compare");
}

template <class Subject> void a_crash_takes_a_suffix(Subject& subject, laws& law) {
    auto* s = &subject.fresh();
    record const flushed = plain_record({"scope", "flushed"}, 1);
    record const changed = next_of(flushed);
    (void)s->insert(flushed);
    law.expect(s->flush().has_value(), "flush: succeeds");
    (void)s->bind("flushed", flushed.identity());
    law.expect(s->flush().has_value(), "flush: succeeds");
    auto const epoch = s->facts().epoch;
    std::vector<record> later;
    for (std::uint64_t n = 0; n < 6; ++n)
        later.push_back(plain_record({"scope", "later " + std::to_string(n)}, 2 + n));
    // insert, insert, bind, replace, insert ...
    for (std::size_t n = 0; n < later.size(); ++n) {
        if (n == 2) (void)s->bind("later", flushed.identity());
        if (n == 2) (void)s->replace(changed, flushed.version);
        (void)s->insert(later[n]);
    }
    s = &subject.crash();
    law.expect(s->facts().epoch > epoch, "crash: a new, larger epoch begins");
    std::vector<bool> there;
    for (std::size_t n = 0; n < later.size(); ++n) {
        if (n == 2) there.push_back(is(s->bind("later", later[0].identity()), false));
        if (n == 2) there.push_back(holds(*s, changed));
        there.push_back(holds(*s, later[n]));
    }
    law.expect(holds(*s, flushed) || holds(*s, changed), "crash: what was flushed is there");
    law.expect(is(s->bind("flushed", later[0].identity()), false),
               "crash: a binding that was flushed alone is there");
    law.expect(std::ranges::is_sorted(there, std::ranges::greater{}),
               "crash: what is lost is a suffix of what was written");
}

template <class Subject> void a_failure_poisons(Subject& subject, laws& law) {
    auto& s = subject.fresh();
    record const first = plain_record({"scope", "first"}, 1);
    (void)s.insert(first);
    (void)s.flush();
    subject.fail_next();
    record const lost = plain_record({"scope", "lost"}, 2);
    bool const failed =
        is_error(s.insert(lost), rule::storage_failed) || is_error(s.flush(), rule::storage_failed);
    law.expect(failed, "failure: a write or flush that fails is storage_failed");
    law.expect(is_error(s.insert(plain_record({"scope", "x"}, 3)), rule::storage_failed) &&
                   is_error(s.replace(next_of(first), first.version), rule::storage_failed) &&
                   is_error(s.find(first.identity()), rule::storage_failed) &&
                   is_error(s.bind("name", first.identity()), rule::storage_failed) &&
                   is_error(s.visit_unsettled({}, [](record const&) {}), rule::storage_failed) &&
                   is_error(s.flush(), rule::storage_failed),
               "failure: poisons the handle for every later call");
    if constexpr (compares_versions<std::remove_reference_t<decltype(s)>>) {
        law.expect(is_error(s.is_current(first.identity(), first.version), rule::storage_failed),
                   "failure: poisons the handle for every later call");
    }
    if constexpr (shrinks_settled<std::remove_reference_t<decltype(s)>>) {
        law.expect(is_error(s.shrink_settled(time_point::max(), 1), rule::storage_failed),
                   "failure: poisons the handle for every later call");
    }
    if constexpr (requires { subject.crash(); }) {
        auto& again = subject.crash();
        law.expect(holds(again, first), "failure: what was flushed before is there after it");
        law.expect(lacks(again, {"scope", "x"}), "failure: nothing is written after it");
    }
}

} // namespace detail

} // namespace indoubt::testing

#endif
