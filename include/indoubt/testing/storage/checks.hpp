// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef INDOUBT_TESTING_STORAGE_CHECKS_HPP
#define INDOUBT_TESTING_STORAGE_CHECKS_HPP

#include <indoubt/policy/storage.hpp>
#include <indoubt/testing/sample_records.hpp>

#include <cstdint>
#include <string>

// The questions that the laws of a storage ask again and again.

namespace indoubt::testing {

namespace detail {

template <class S> bool holds(S& s, record const& r) {
    auto const found = s.find(r.identity());
    return found && found.value() && same(*found.value(), r);
}

template <class S> bool lacks(S& s, identity const& id) {
    auto const found = s.find(id);
    return found && !found.value();
}

template <class S> bool inserted(S& s, record const& r) {
    auto const before = s.insert(r);
    return before && !before.value();
}

template <class T> bool is_error(result<T> const& r, rule why) {
    return r.has_error() && r.error().rule() == why;
}

template <class T> bool is(result<T> const& r, T const& value) {
    return r.has_value() && r.value() == value;
}

inline record next_of(record r) {
    ++r.version.counter;
    return r;
}

inline constexpr time_point retained_from{milliseconds(1'000)};

/// Everything a record may have, settled, and last written so long before the retained time.
inline record settled_record(std::uint64_t operation, state_id state, int before) {
    record r = full_record({"settled", std::to_string(operation)}, operation);
    r.state = state;
    r.hook_due = r.clean_up_due = r.tombstone = false;
    r.written_at = retained_from - milliseconds(before);
    return r;
}

} // namespace detail

} // namespace indoubt::testing

#endif
