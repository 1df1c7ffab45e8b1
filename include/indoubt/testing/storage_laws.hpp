// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef INDOUBT_TESTING_STORAGE_LAWS_HPP
#define INDOUBT_TESTING_STORAGE_LAWS_HPP

#include <indoubt/policy/storage.hpp>
#include <indoubt/testing/laws.hpp>
#include <indoubt/testing/storage/contents.hpp>
#include <indoubt/testing/storage/durability.hpp>
#include <indoubt/testing/storage/races.hpp>
#include <indoubt/testing/storage/retention.hpp>

#include <type_traits>

// The laws of a storage as a test for storages of any kind. What it cannot see is whether flushed
// data survives a power cut: that is between the storage and the disk, and needs a test of its own.

namespace indoubt::testing {

/// What the suite needs of a storage S under test. References stay good until the next call.
///
/// | expression    | returns | effect                                                             |
/// |---------------|---------|--------------------------------------------------------------------|
/// | s.fresh()     | S&      | an empty storage; whatever was open before is closed               |
/// | s.reopen()    | S&      | optional: closes the open storage in order and opens it again      |
/// | s.crash()     | S&      | optional: the same as after the death of the process, so that what |
/// |               |         | was not flushed may be gone                                        |
/// | s.fail_next() | void    | optional: the next write of the open storage fails, or at the      |
/// |               |         | latest its next flush                                              |
template <class Subject>
concept storage_subject =
    requires(Subject& s) { requires storage_policy<std::remove_reference_t<decltype(s.fresh())>>; };

/// Runs all laws that the subject's hooks allow, races included.
///
/// Returns: the laws that are broken, in words.
template <storage_subject Subject> laws check_storage_laws(Subject&& subject) {
    laws law;
    detail::insert_keeps_the_first(subject, law);
    detail::replace_compares_versions(subject, law);
    if constexpr (compares_versions<std::remove_reference_t<decltype(subject.fresh())>>)
        detail::is_current_agrees_with_find(subject, law);
    detail::every_field_comes_back(subject, law);
    detail::identities_are_bytes(subject, law);
    detail::the_first_binding_wins(subject, law);
    detail::a_visit_shows_what_is_unsettled(subject, law);
    detail::requests_may_be_large(subject, law);
    detail::facts_are_kept(subject, law);
    if constexpr (requires { subject.reopen(); })
        detail::reopening_finds_what_was_flushed(subject, law);
    if constexpr (requires { subject.crash(); }) detail::a_crash_takes_a_suffix(subject, law);
    if constexpr (requires { subject.fail_next(); }) detail::a_failure_poisons(subject, law);
    if constexpr (shrinks_settled<std::remove_reference_t<decltype(subject.fresh())>>) {
        detail::settled_records_shrink(subject, law);
        if constexpr (requires { subject.crash(); })
            detail::a_crash_takes_back_what_one_call_shrank(subject, law);
    }
    check_storage_races(subject, law);
    return law;
}

} // namespace indoubt::testing

#endif
