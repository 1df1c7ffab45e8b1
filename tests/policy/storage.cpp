// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#include <indoubt/policy/storage.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <memory>
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
struct storage_that_shrinks : archetype {
    result<std::size_t> shrink_settled(time_point, std::size_t) { return std::size_t{0}; }
};
struct storage_that_shrinks_without_a_count : archetype {
    result<void> shrink_settled(time_point, std::size_t);
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

static_assert(!shrinks_settled<archetype>);
static_assert(shrinks_settled<storage_that_shrinks>);
static_assert(storage_policy<storage_that_shrinks>);
static_assert(!shrinks_settled<storage_that_shrinks_without_a_count>);

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

TEST_CASE("what a visit shows is what a person or a program still has to do something about") {
    record r;
    for (state_id shown : {state_id::pending, state_id::uncertain, state_id::in_review}) {
        r.state = shown;
        CHECK(is_unsettled(r));
    }
    for (state_id settled : {state_id::none, state_id::confirmed, state_id::rejected,
                             state_id::cancelled, state_id::abandoned}) {
        r.state = settled;
        r.hook_due = false;
        CHECK_FALSE(is_unsettled(r));
        r.hook_due = true;
        CHECK(is_unsettled(r));
    }
}

TEST_CASE("what shrinks keeps what answers a repeat, and is of the next version") {
    record r;
    r.intent = std::make_shared<intent const>(intent{{"scope", "key"}, "t", "request", "f", "r/1"});
    r.version = {3, 7};
    r.state = state_id::confirmed;
    r.receipt = "receipt";
    r.attempts.emplace_back();
    r.edit_notes([](case_notes& n) {
        n.hints = "hints";
        n.former_keys = {"former"};
    });
    record const small = shrunk(r, 3);
    CHECK(small.tombstone);
    CHECK(small.version == version{3, 8});
    CHECK(shrunk(r, 4).version == version{4, 1});
    CHECK(small.attempts.empty());
    CHECK(small.receipt == "receipt");
    CHECK(small.intent->request.empty());
    CHECK(small.intent->fingerprint == "f");
    CHECK(small.notes->hints.empty());
    CHECK(small.notes->former_keys == r.notes->former_keys);
    CHECK(r.intent->request == "request"); // which others may share

    r.intent = std::make_shared<intent const>(intent{{"scope", "key"}, "t", "request", "", "r/1"});
    CHECK(shrunk(r, 3).intent == r.intent); // nothing else tells whether a repeat is the same
}

} // namespace
