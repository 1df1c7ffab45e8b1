// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#include <indoubt/policy/storage.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

// The smallest storage, and near misses named by the one thing they lack.

namespace {

using namespace indoubt;

struct archetype {
    storage_facts facts() { return {}; }
    result<std::optional<record>> insert(record const&) { return std::optional<record>(); }
    result<void> replace(record const&, version) { return success(); }
    result<std::optional<record>> find(identity const&) { return std::optional<record>(); }
    result<bool> bind(std::string_view, identity const&) { return true; }
    template <class Visitor> result<std::size_t> visit_unsettled(page, Visitor&&) {
        return std::size_t{0};
    }
    result<void> flush() { return success(); }
};

// Each hides one function of a whole storage.
struct storage_without_facts : archetype {
    void facts() = delete;
};
struct storage_without_insert : archetype {
    void insert(record const&) = delete;
};
struct storage_without_replace : archetype {
    void replace(record const&, version) = delete;
};
struct storage_without_find : archetype {
    void find(identity const&) = delete;
};
struct storage_without_bind : archetype {
    void bind(std::string_view, identity const&) = delete;
};
struct storage_without_visit_unsettled : archetype {
    template <class Visitor> void visit_unsettled(page, Visitor&&) = delete;
};
struct storage_without_flush : archetype {
    void flush() = delete;
};
struct storage_whose_insert_does_not_say_what_stands : archetype {
    result<void> insert(record const&);
};
struct storage_whose_replace_overwrites : archetype {
    result<void> replace(record const&);
};
struct storage_whose_replace_takes_a_bare_counter : archetype {
    result<void> replace(record const&, std::uint32_t);
};
struct storage_whose_find_cannot_fail : archetype {
    std::optional<record> find(identity const&);
};
struct storage_that_finds_by_one_string : archetype {
    result<std::optional<record>> find(std::string const&);
};
struct storage_whose_bind_does_not_say_who_was_first : archetype {
    result<void> bind(std::string_view, identity const&);
};
struct storage_that_visits_without_pages : archetype {
    template <class Visitor> result<std::size_t> visit_unsettled(Visitor&&);
};
struct storage_whose_flush_returns_bool : archetype {
    bool flush();
};
struct storage_that_changes_records : archetype {
    result<void> replace(record&, version);
};
struct storage_that_compares : archetype {
    result<bool> is_current(identity const&, version) { return false; }
};
struct storage_that_compares_without_errors : archetype {
    bool is_current(identity const&, version);
};

static_assert(storage_policy<archetype>);
static_assert(explain_storage<archetype>());
static_assert(!storage_policy<storage_without_facts>);
static_assert(!storage_policy<storage_without_insert>);
static_assert(!storage_policy<storage_without_replace>);
static_assert(!storage_policy<storage_without_find>);
static_assert(!storage_policy<storage_without_bind>);
static_assert(!storage_policy<storage_without_visit_unsettled>);
static_assert(!storage_policy<storage_without_flush>);
static_assert(!storage_policy<storage_whose_insert_does_not_say_what_stands>);
static_assert(!storage_policy<storage_whose_replace_overwrites>);
static_assert(!storage_policy<storage_whose_replace_takes_a_bare_counter>);
static_assert(!storage_policy<storage_whose_find_cannot_fail>);
static_assert(!storage_policy<storage_that_finds_by_one_string>);
static_assert(!storage_policy<storage_whose_bind_does_not_say_who_was_first>);
static_assert(!storage_policy<storage_that_visits_without_pages>);
static_assert(!storage_policy<storage_whose_flush_returns_bool>);
static_assert(!storage_policy<storage_that_changes_records>);
static_assert(!storage_policy<std::string>);

static_assert(!compares_versions<archetype>);
static_assert(compares_versions<storage_that_compares>);
static_assert(storage_policy<storage_that_compares>);
static_assert(!compares_versions<storage_that_compares_without_errors>);

TEST_CASE("a storage of seven functions meets the concept") {
    archetype s;
    CHECK(s.facts().epoch == 0);
    CHECK_FALSE(s.insert({}).value());
    CHECK(s.replace({}, {}));
    CHECK_FALSE(s.find({}).value());
    CHECK(s.bind("name", {}).value());
    CHECK(s.visit_unsettled({}, [](record const&) {}).value() == 0);
    CHECK(s.flush());
}

TEST_CASE("what a visit shows is what a person or a program still has to settle") {
    for (state_id shown : {state_id::pending, state_id::uncertain, state_id::in_review})
        CHECK(is_unsettled(shown));
    for (state_id settled : {state_id::none, state_id::confirmed, state_id::rejected,
                             state_id::cancelled, state_id::abandoned})
        CHECK_FALSE(is_unsettled(settled));
}

} // namespace
