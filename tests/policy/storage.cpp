// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#include <indoubt/policy/storage.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <optional>
#include <string_view>

// The smallest storage, and near misses named by the one thing they lack.

namespace {

using namespace indoubt;

/// The smallest storage. It keeps nothing.
struct archetype {
    storage_facts facts() { return {.epoch = 1}; }
    result<std::optional<record>> insert(record const&) { return std::optional<record>(); }
    result<void> replace(record const&, version) { return success(); }
    result<std::optional<record>> find(identity const&) { return std::optional<record>(); }
    result<bool> bind(std::string_view, identity const&) { return true; }
    template <class Visitor> result<std::size_t> visit_unsettled(page, Visitor&&) {
        return std::size_t{0};
    }
    result<void> flush() { return success(); }
};

struct storage_without_facts : archetype {
private:
    using archetype::facts;
};
struct storage_without_insert : archetype {
private:
    using archetype::insert;
};
struct storage_without_replace : archetype {
private:
    using archetype::replace;
};
struct storage_without_find : archetype {
private:
    using archetype::find;
};
struct storage_without_bind : archetype {
private:
    using archetype::bind;
};
struct storage_without_visit_unsettled : archetype {
private:
    using archetype::visit_unsettled;
};
struct storage_without_flush : archetype {
private:
    using archetype::flush;
};
struct storage_that_replaces_without_comparing : archetype {
    result<void> replace(record const&);
};
struct storage_that_hides_what_was_there : archetype {
    result<void> insert(record const&);
};
struct storage_whose_flush_tells_nothing : archetype {
    void flush();
};
struct storage_that_binds_without_an_answer : archetype {
    result<void> bind(std::string_view, identity const&);
};

static_assert(storage_policy<archetype>);
static_assert(storage_policy<archetype&>);
static_assert(explain_storage<archetype>());
static_assert(!storage_policy<storage_without_facts>);
static_assert(!storage_policy<storage_without_insert>);
static_assert(!storage_policy<storage_without_replace>);
static_assert(!storage_policy<storage_without_find>);
static_assert(!storage_policy<storage_without_bind>);
static_assert(!storage_policy<storage_without_visit_unsettled>);
static_assert(!storage_policy<storage_without_flush>);
static_assert(!storage_policy<storage_that_replaces_without_comparing>);
static_assert(!storage_policy<storage_that_hides_what_was_there>);
static_assert(!storage_policy<storage_whose_flush_tells_nothing>);
static_assert(!storage_policy<storage_that_binds_without_an_answer>);
static_assert(!storage_policy<archetype const>, "a storage is written to");

TEST_CASE("a storage of seven functions meets the concept") {
    archetype smallest;
    CHECK(smallest.facts().epoch == 1);
    CHECK_FALSE(smallest.facts().restored);
    CHECK(smallest.insert({}));
    CHECK(smallest.replace({}, {}));
    CHECK(smallest.find({}));
    CHECK(smallest.bind("a name", {}).value());
    CHECK(smallest.visit_unsettled(page{}, detail::any_visitor{}).value() == 0);
    CHECK(smallest.flush());
}

TEST_CASE("a page starts at the beginning") {
    CHECK(page{}.after == 0);
    CHECK(page{}.most > 0);
    detail::any_visitor{}(record{});
}

TEST_CASE("only a record in a state that can still change is unsettled") {
    for (state_id const s : {state_id::pending, state_id::uncertain, state_id::in_review})
        CHECK(is_unsettled(s));
    for (state_id const s : {state_id::none, state_id::confirmed, state_id::rejected,
                             state_id::cancelled, state_id::abandoned})
        CHECK_FALSE(is_unsettled(s));
}

} // namespace
