// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#include <indoubt/adapter/memory_storage.hpp>
#include <indoubt/testing/storage_laws.hpp>

#include <doctest/doctest.h>

#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

namespace {

using namespace indoubt;

static_assert(storage_policy<memory_storage>);
static_assert(shrinks_settled<memory_storage>);
static_assert(!std::is_copy_constructible_v<memory_storage>);
static_assert(std::is_nothrow_move_constructible_v<memory_storage>);

struct only_fresh {
    memory_storage& fresh() { return kept.emplace(); }
    std::optional<memory_storage> kept;
};

struct bundle {
    memory_storage storage;
};

TEST_SUITE_BEGIN("memory_storage");

TEST_CASE("keeps the laws of a storage") {
    auto const laws = testing::check_storage_laws(only_fresh{});
    CHECK_MESSAGE(laws.hold(), laws.report());
    CHECK(laws.checked() > 500);
}

TEST_CASE("keeps its records when it is moved into a bundle") {
    memory_storage first;
    record const r = testing::full_record({"scope", "key"}, 1);
    REQUIRE(first.insert(r));
    bundle second{.storage = std::move(first)};
    auto const found = second.storage.find(r.identity());
    REQUIRE(found.value());
    CHECK(testing::same(*found.value(), r));
}

TEST_CASE("shares the intent with every copy of a record") {
    memory_storage storage;
    record const r = testing::plain_record({"scope", "key"}, 1);
    REQUIRE(storage.insert(r));
    CHECK(storage.find(r.identity()).value()->intent == r.intent);
}

TEST_CASE("a record taken out is no longer the storage's") {
    memory_storage storage;
    record const r = testing::plain_record({"scope", "key"}, 1);
    REQUIRE(storage.insert(r));
    auto taken = storage.find(r.identity());
    taken.value()->receipt = "changed";
    CHECK(storage.find(r.identity()).value()->receipt.empty());
}

TEST_CASE("a stale replace says in which state the record is") {
    memory_storage storage;
    record r = testing::plain_record({"scope", "key"}, 1);
    r.state = state_id::uncertain;
    REQUIRE(storage.insert(r));
    auto const replaced = storage.replace(r, {9, 9});
    REQUIRE(replaced.has_error());
    CHECK(replaced.error().rule() == rule::stale_version);
    CHECK(replaced.error().state() == state_id::uncertain);
    CHECK(replaced.error().in_doubt());
}

TEST_SUITE_END();

} // namespace
