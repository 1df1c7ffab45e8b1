// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#include <indoubt/testing/seeded_random.hpp>

#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <limits>

namespace {

using indoubt::testing::seeded_random;

// Published values of SplitMix64: a seed in an old report must still lead to the same choices.
static_assert([] {
    seeded_random random(1234567);
    return random.next() == 6457827717110365317U && random.next() == 3203168211198807973U &&
           random.next() == 9817491932198370423U && random.next() == 4593380528125082431U &&
           random.next() == 16408922859458223821U;
}());

TEST_CASE("the same seed gives the same choices, another seed others") {
    seeded_random a(7), b(7), c(8);
    CHECK(a.seed() == 7);
    bool differs = false;
    for (int i = 0; i < 100; ++i) {
        std::uint64_t const drawn = a.next();
        CHECK(drawn == b.next());
        differs = differs || drawn != c.next();
    }
    CHECK(differs);
}

TEST_CASE("below draws each number about equally often and no other") {
    seeded_random random(1);
    std::array<int, 10> seen{};
    for (int i = 0; i < 10'000; ++i) {
        std::uint64_t const drawn = random.below(10);
        REQUIRE(drawn < 10);
        ++seen[drawn];
    }
    for (int const times : seen) {
        CHECK(times > 850);
        CHECK(times < 1'150);
    }
    CHECK(random.below(0) == 0);
    CHECK(random.below(1) == 0);
    for (int i = 0; i < 100; ++i)
        CHECK(random.below(UINT64_MAX) < UINT64_MAX);
}

TEST_CASE("between includes both ends, up to the widest range") {
    seeded_random random(2);
    bool low = false, high = false;
    for (int i = 0; i < 1'000; ++i) {
        std::int64_t const drawn = random.between(-2, 2);
        REQUIRE(drawn >= -2);
        REQUIRE(drawn <= 2);
        low = low || drawn == -2;
        high = high || drawn == 2;
    }
    CHECK(low);
    CHECK(high);
    CHECK(random.between(5, 5) == 5);
    using limits = std::numeric_limits<std::int64_t>;
    CHECK(random.between(limits::min(), limits::max()) !=
          random.between(limits::min(), limits::max()));
    CHECK(random.between(limits::max(), limits::max()) == limits::max());
}

TEST_CASE("a chance of 0 never comes, of 1 always, of a quarter about so often") {
    seeded_random random(3);
    int quarter = 0;
    for (int i = 0; i < 10'000; ++i) {
        CHECK_FALSE(random.chance(0));
        CHECK(random.chance(1));
        quarter += random.chance(0.25);
    }
    CHECK(quarter > 2'300);
    CHECK(quarter < 2'700);
}

} // namespace
