// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#include <indoubt/testing/lossy_storage.hpp>
#include <indoubt/testing/sample_records.hpp>
#include <indoubt/testing/storage_laws.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <optional>
#include <string>

namespace {

using namespace indoubt;
using testing::lossy_storage;
using testing::plain_record;

static_assert(storage_policy<lossy_storage>);
static_assert(shrinks_settled<lossy_storage>);

struct every_hook {
    lossy_storage& fresh() { return kept.emplace(); }
    lossy_storage& reopen() {
        kept->power_cut(kept->unflushed());
        return *kept;
    }
    lossy_storage& crash() {
        kept->power_cut(kept->unflushed() / 2);
        return *kept;
    }
    void fail_next() { kept->fail_at(kept->steps() + 1); }
    std::optional<lossy_storage> kept;
};

record numbered(std::uint64_t n) {
    return plain_record({"scope", std::to_string(n)}, n);
}

bool there(lossy_storage& s, std::uint64_t n) {
    return s.find({"scope", std::to_string(n)}).value().has_value();
}

TEST_SUITE_BEGIN("lossy_storage");

TEST_CASE("keeps the laws of a storage, whatever part of the suffix a crash takes") {
    auto const laws = testing::check_storage_laws(every_hook{});
    CHECK_MESSAGE(laws.hold(), laws.report());
    CHECK(laws.checked() > 500);
}

TEST_CASE("a power cut takes every unflushed write, one kind as the other") {
    lossy_storage s;
    record const first = numbered(1);
    record next = first;
    next.version.counter = 2;
    next.written_at = time_point(milliseconds(7));
    REQUIRE(s.insert(first));
    REQUIRE(s.flush());
    REQUIRE(s.replace(next, first.version));
    REQUIRE(s.insert(numbered(2)));
    REQUIRE(s.bind("name", first.identity()));
    CHECK(s.unflushed() == 3);
    CHECK(s.facts().high_water == next.written_at);

    s.power_cut();
    CHECK(s.unflushed() == 0);
    CHECK(s.facts().epoch == 2);
    CHECK(s.facts().high_water == first.written_at);
    CHECK(testing::same(*s.find(first.identity()).value(), first));
    CHECK_FALSE(there(s, 2));
    CHECK(s.bind("name", {"scope", "2"}).value());
}

TEST_CASE("a power cut can leave any first part of the unflushed writes") {
    for (std::size_t kept = 0; kept <= 4; ++kept) {
        lossy_storage s;
        for (std::uint64_t n = 1; n <= 4; ++n)
            REQUIRE(s.insert(numbered(n)));
        s.power_cut(kept);
        for (std::uint64_t n = 1; n <= 4; ++n)
            CHECK(there(s, n) == (n <= kept));
        s.power_cut(); // what was left is durable
        CHECK(there(s, 1) == (kept > 0));
    }
}

TEST_CASE("what one call shrinks is one write and one step, and comes back whole") {
    lossy_storage s;
    for (std::uint64_t n = 1; n <= 3; ++n) {
        record r = numbered(n);
        r.state = state_id::confirmed;
        r.attempts.emplace_back();
        REQUIRE(s.insert(r));
    }
    REQUIRE(s.flush());
    auto const steps = s.steps();
    CHECK(s.shrink_settled(time_point::max(), 10).value() == 3);
    CHECK(s.steps() == steps + 1);
    CHECK(s.unflushed() == 1);
    CHECK(s.find({"scope", "2"}).value()->intent->request.empty());
    s.power_cut();
    for (std::uint64_t n = 1; n <= 3; ++n) {
        auto const r = s.find({"scope", std::to_string(n)}).value();
        CHECK_FALSE(r->tombstone);
        CHECK(r->intent->request == numbered(n).intent->request);
        CHECK(r->attempts.size() == 1);
    }
    s.fail_at(s.steps() + 1);
    CHECK(s.shrink_settled(time_point::max(), 10).error().rule() == rule::storage_failed);
    CHECK(s.unflushed() == 1); // it may have reached the disk
    CHECK(s.flush().has_error());
}

TEST_CASE("writes that change nothing leave nothing to lose") {
    lossy_storage s;
    REQUIRE(s.insert(numbered(1)));
    REQUIRE(s.bind("name", {"scope", "1"}));
    REQUIRE(s.insert(numbered(1)));
    REQUIRE(s.bind("name", {"scope", "1"}));
    CHECK(s.replace(numbered(1), {9, 9}).has_error());
    CHECK(s.unflushed() == 2);
}

TEST_CASE("a write that fails may be on the disk or not, and poisons until the power is cut") {
    for (std::size_t kept : {1U, 2U}) {
        lossy_storage s;
        REQUIRE(s.insert(numbered(1)));
        s.fail_at(s.steps() + 1);
        CHECK(s.insert(numbered(2)).error().rule() == rule::storage_failed);
        CHECK(s.flush().error().rule() == rule::storage_failed);
        CHECK(s.find({"scope", "1"}).error().rule() == rule::storage_failed);
        s.power_cut(kept);
        CHECK(there(s, 1));
        CHECK(there(s, 2) == (kept == 2));
        CHECK(s.flush());
    }
}

TEST_CASE("a flush that fails may have flushed") {
    lossy_storage s;
    s.fail_at(2);
    REQUIRE(s.insert(numbered(1)));
    CHECK(s.flush().has_error());
    CHECK(s.unflushed() == 1);
    s.power_cut(s.unflushed());
    CHECK(there(s, 1));
}

TEST_CASE("every step can be the one that fails") {
    auto const program = [](lossy_storage& s) {
        return s.insert(numbered(1)).has_value() && s.bind("name", {"scope", "1"}).has_value() &&
               s.replace(numbered(1), {1, 1}).has_value() && s.flush().has_value();
    };
    lossy_storage clean;
    REQUIRE(program(clean));
    CHECK(clean.steps() == 4);
    for (std::uint64_t step = 1; step <= clean.steps(); ++step) {
        lossy_storage s;
        s.fail_at(step);
        CHECK_FALSE(program(s));
        CHECK(s.steps() == step);
    }
}

TEST_CASE("a restored copy says so until the next power cut") {
    lossy_storage s;
    s.restore();
    CHECK(s.facts().restored);
    CHECK(s.facts().epoch == 2);
    s.power_cut();
    CHECK_FALSE(s.facts().restored);
}

TEST_SUITE_END();

} // namespace
