// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef INDOUBT_TESTING_STORAGE_CONTENTS_HPP
#define INDOUBT_TESTING_STORAGE_CONTENTS_HPP

#include <indoubt/policy/storage.hpp>
#include <indoubt/testing/laws.hpp>
#include <indoubt/testing/sample_records.hpp>
#include <indoubt/testing/storage/checks.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

// The laws of a storage about what it holds, as one thread sees it.

namespace indoubt::testing {

namespace detail {

template <class Subject> void insert_keeps_the_first(Subject& subject, laws& law) {
    auto& s = subject.fresh();
    record const first = full_record({"scope", "key"}, 1);
    record const second = plain_record({"scope", "key"}, 2, {1, 7});
    law.expect(lacks(s, first.identity()), "find: nothing stands for an unknown identity");
    law.expect(inserted(s, first), "insert: returns none for a new identity");
    law.expect(holds(s, first), "find: sees what was inserted before a flush");
    auto const before = s.insert(second);
    law.expect(before && before.value() && same(*before.value(), first),
               "insert: returns what already stands for the identity");
    law.expect(holds(s, first), "insert: changes nothing that stands");
}

template <class Subject> void replace_compares_versions(Subject& subject, laws& law) {
    auto& s = subject.fresh();
    record const first = plain_record({"scope", "key"}, 1, {3, 5});
    law.expect(is_error(s.replace(first, first.version), rule::stale_version),
               "replace: an identity that was never inserted is stale_version");
    law.expect(lacks(s, first.identity()), "replace: inserts nothing");
    (void)s.insert(first);
    record next = first;
    next.version = {4, 1};
    next.state = state_id::uncertain;
    for (version wrong : {version{3, 4}, version{3, 6}, version{2, 5}, version{4, 5}, version{}}) {
        law.expect(is_error(s.replace(next, wrong), rule::stale_version),
                   "replace: another version than the expected one is stale_version");
    }
    law.expect(holds(s, first), "replace: changes nothing if the version is stale");
    law.expect(s.replace(next, first.version).has_value(), "replace: takes the expected version");
    law.expect(holds(s, next), "replace: what it stored is found");
    law.expect(is_error(s.replace(next, first.version), rule::stale_version),
               "replace: a version is good for one replace");
}

/// For storages that offer it.
template <class Subject> void is_current_agrees_with_find(Subject& subject, laws& law) {
    auto& s = subject.fresh();
    record const first = plain_record({"scope", "key"}, 1, {3, 5});
    record const next = next_of(first);
    auto const current = [&](version v) { return s.is_current(first.identity(), v); };
    law.expect(is(current(first.version), false) && is(current({}), false),
               "is_current: false for an unknown identity");
    (void)s.insert(first);
    law.expect(is(current(first.version), true), "is_current: true for the version that stands");
    law.expect(is(current({3, 4}), false) && is(current({4, 5}), false),
               "is_current: false for any other version");
    (void)s.replace(next, first.version);
    law.expect(is(current(next.version), true) && is(current(first.version), false),
               "is_current: follows a replace");
}

template <class Subject> void every_field_comes_back(Subject& subject, laws& law) {
    auto& s = subject.fresh();
    identity const id{"scope", "key"};
    record const full = full_record(id, 1);
    record kept = plain_record(id, 1);
    kept.intent = full.intent;
    (void)s.insert(kept);
    auto const turns_into = [&](record next) {
        next.version = {1, kept.version.counter + 1};
        bool const replaced = s.replace(next, kept.version).has_value();
        kept = std::move(next);
        return replaced && holds(s, kept);
    };
    law.expect(turns_into(full), "replace: every field comes back");
    record bare = plain_record(id, 1);
    bare.intent = full.intent;
    law.expect(turns_into(bare), "replace: every field can go back to its default");
    record fewer = full;
    fewer.attempts.pop_back();
    fewer.edit_notes([](case_notes& n) {
        n.decisions.pop_back();
        n.former_keys.pop_back();
        n.set_aside.pop_back();
    });
    law.expect(turns_into(full) && turns_into(fewer), "replace: lists can become shorter");

    record each = full;
    for (unsigned n = 0; n <= 0xff; ++n) {
        auto const number = static_cast<std::uint8_t>(n);
        if (number <= static_cast<unsigned>(state_id::abandoned)) {
            each.came_from = state_id{number};
            if (number != 0) each.state = state_id{number};
        }
        if (number <= static_cast<unsigned>(basis::person)) each.basis = basis{number};
        if (number <= static_cast<unsigned>(concern::effect_missing))
            each.concern = concern{number};
        if (to_string(rule{number}) != to_string(rule{0xff})) each.reason = rule{number};
        auto& attempt = each.attempts[0];
        if (number <= static_cast<unsigned>(attempt_outcome_id::declared_not_applied))
            attempt.outcome = attempt_outcome_id{number};
        if (number <= static_cast<unsigned>(guarantee_kind::by_state))
            attempt.guarantee.kind = guarantee_kind{number};
        law.expect(turns_into(each), "replace: every value of every enumeration comes back");
    }
}

template <class Subject> void identities_are_bytes(Subject& subject, laws& law) {
    auto& s = subject.fresh();
    std::string const longest(longest_name, 'x');
    std::vector<identity> const different{
        {"scope", "key"},         {"Scope", "key"},
        {"scope", "KEY"},         {"scope ", "key"},
        {"scope", "key "},        {"scope", " key"},
        {"scop", "ekey"},         {"key", "scope"},
        {"scope", "caf\xc3\xa9"}, {"scope", "cafe\xcc\x81"},
        {"scope", "caf\xe9"},     {"scope", "\xff\xfe"},
        {"scope", "\xff"},        {"scope", "\xfe"},
        {"scope", "%"},           {"scope", "_"},
        {"scope", "'; --"},       {"scope", "1"},
        {"scope", "1.0"},         {"scope", "01"},
        {longest, longest},       {longest, longest.substr(1)},
        {"scope", "../key"},      {longest.substr(1), longest.substr(1) + "\xc3"},
    };
    std::uint64_t operation = 0;
    for (auto const& id : different)
        law.expect(inserted(s, plain_record(id, ++operation)), "identities are compared as bytes");
    operation = 0;
    for (auto const& id : different) {
        law.expect(holds(s, plain_record(id, ++operation)),
                   "identities come back as the bytes they were");
    }
}

template <class Subject> void the_first_binding_wins(Subject& subject, laws& law) {
    using namespace std::string_view_literals;
    auto& s = subject.fresh();
    std::string const long_name(4'000, 'n'), longer_name(4'001, 'n');
    std::uint64_t number = 0;
    for (std::string_view name :
         {"receipt"sv, "receipt\0a"sv, "receipt\0b"sv, "receipt\0"sv, "\0receipt"sv, "Receipt"sv,
          "receipt "sv, "\xff"sv, "\xfe"sv, "\0"sv, std::string_view(long_name),
          std::string_view(longer_name)}) {
        identity const first{"scope", "key " + std::to_string(++number)};
        law.expect(is(s.bind(name, first), true), "bind: names are compared as bytes");
        law.expect(is(s.bind(name, first), true), "bind: true again for the same identity");
        law.expect(is(s.bind(name, {"scope", "Key " + std::to_string(number)}), false) &&
                       is(s.bind(name, {"scop", "e" + first.key}), false),
                   "bind: false for another identity");
        law.expect(is(s.bind(name, first), true), "bind: the first one wins for good");
    }
}

template <class Subject> void a_visit_shows_what_is_unsettled(Subject& subject, laws& law) {
    auto& s = subject.fresh();
    constexpr std::array states{state_id::pending,  state_id::confirmed, state_id::uncertain,
                                state_id::rejected, state_id::in_review, state_id::cancelled,
                                state_id::abandoned};
    std::vector<std::uint64_t> expected;
    for (std::uint64_t n = 1; n <= 70; ++n) {
        record r = plain_record({"scope", std::to_string(n)}, 100 + n * 37 % 71);
        r.state = states[n % states.size()];
        r.hook_due = n % 5 == 0;
        (void)s.insert(r);
        if (is_unsettled(r)) expected.push_back(r.operation);
    }
    std::ranges::sort(expected);
    for (std::size_t most : {1U, 7U, 100U}) {
        std::vector<std::uint64_t> seen;
        for (page p{.most = most}; seen.size() <= expected.size();) {
            std::size_t in_page = 0;
            auto const shown = s.visit_unsettled(p, [&](record const& r) {
                ++in_page;
                law.expect(holds(s, r), "visit: shows records as they are stored, and a visitor "
                                        "may call the storage");
                seen.push_back(r.operation);
            });
            law.expect(is(shown, in_page) && in_page <= most,
                       "visit: returns how many it showed, at most a page");
            if (in_page == 0) break;
            p.after = seen.back();
        }
        law.expect(seen == expected, "visit: each unsettled record once, in operation order");
    }
    bool called = false;
    law.expect(
        is(s.visit_unsettled({.most = 0}, [&](auto const&) { called = true; }), std::size_t{0}) &&
            !called,
        "visit: an empty page shows nothing");
    std::size_t settled = 0;
    auto const all = s.visit_unsettled({.most = 100}, [&](record const& r) {
        record next = next_of(r);
        next.state = state_id::confirmed;
        next.hook_due = false;
        if (s.replace(next, r.version)) ++settled;
    });
    law.expect(settled == expected.size() && all.has_value() &&
                   is(s.visit_unsettled({}, [](record const&) {}), std::size_t{0}),
               "visit: a record that is settled is shown no more");
}

template <class Subject> void requests_may_be_large(Subject& subject, laws& law) {
    auto& s = subject.fresh();
    std::string bytes;
    for (std::size_t n = 0; n < (1U << 20); ++n)
        bytes += static_cast<char>(n * 131 >> 3);
    record r = plain_record({"scope", "large"}, 1);
    r.intent = std::make_shared<intent const>(
        intent{r.identity(), "target", bytes, bytes.substr(1), "rule"});
    record const empty = [] {
        record e = plain_record({"scope", "empty"}, 2);
        e.intent = std::make_shared<intent const>(intent{e.identity(), "", "", "", ""});
        return e;
    }();
    law.expect(inserted(s, r) && holds(s, r), "insert: a request of 1 MiB comes back");
    law.expect(s.replace(next_of(r), r.version) && holds(s, next_of(r)),
               "replace: keeps the intent");
    law.expect(inserted(s, empty) && holds(s, empty), "insert: empty fields come back");
}

template <class Subject> void facts_are_kept(Subject& subject, laws& law) {
    auto& s = subject.fresh();
    auto const moment = [](int ms) { return time_point(milliseconds(ms)); };
    storage_facts const at_first = s.facts();
    law.expect(at_first.epoch >= 1, "facts: the epoch is at least 1");
    law.expect(!at_first.restored, "facts: a new storage is no restored copy");
    record r = plain_record({"scope", "key"}, 1);
    r.written_at = moment(2'000);
    (void)s.insert(r);
    law.expect(s.facts().high_water == moment(2'000), "facts: high_water follows an insert");
    record next = next_of(r);
    next.written_at = moment(3'000);
    (void)s.replace(next, r.version);
    record last = next_of(next);
    last.written_at = moment(1'000);
    (void)s.replace(last, next.version);
    law.expect(s.flush().has_value() && s.flush().has_value(), "flush: may be repeated");
    law.expect(s.facts().high_water == moment(3'000), "facts: high_water never goes back");
    law.expect(s.facts().epoch == at_first.epoch, "facts: the epoch is fixed while it is open");
}

} // namespace detail

} // namespace indoubt::testing

#endif
