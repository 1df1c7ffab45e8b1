// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#include <indoubt/adapter/keyed_blake2b_key.hpp>
#include <indoubt/testing/seeded_random.hpp>

#include <doctest/doctest.h>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace indoubt;
using indoubt::testing::seeded_random;

std::array<std::byte, 32> secret_from(unsigned char first) {
    std::array<std::byte, 32> bytes{};
    for (std::byte& b : bytes)
        b = std::byte(first++);
    return bytes;
}

static_assert(std::constructible_from<keyed_blake2b_key<>, std::array<std::byte, 32>>);
static_assert(!std::constructible_from<keyed_blake2b_key<>, std::array<std::byte, 31>>);
static_assert(!std::constructible_from<keyed_blake2b_key<>, std::vector<std::byte>>);
static_assert(!std::default_initializable<keyed_blake2b_key<>>);

template <std::size_t Characters>
concept is_a_length = requires { typename keyed_blake2b_key<Characters>; };
static_assert(is_a_length<32> && is_a_length<36> && is_a_length<64>);
static_assert(!is_a_length<30> && !is_a_length<33> && !is_a_length<66> && !is_a_length<0>);

TEST_CASE("a keyed key is what any other BLAKE2b makes of the same bytes and secret") {
    // hashlib.blake2b(b'20:indoubt provider key4:shop7:order-71:1', key=bytes(range(32)),
    //                 digest_size=16)
    keyed_blake2b_key const keys(secret_from(0));
    CHECK(keys({"shop", "order-7"}, 1) == "5699e9bc1bf6d63d33cd6c2169c48cbe");
    // The same in its second generation, with digest_size=32.
    keyed_blake2b_key<64> const longer(secret_from(0));
    CHECK(longer({"shop", "order-7"}, 2) ==
          "8dc48724b00faed3604da13de57209e19cca8ae3fa9cbc60b212b1e2760f62ca");
}

TEST_CASE("keyed keys have one length and are lower-case hexadecimal digits") {
    keyed_blake2b_key const keys(secret_from(0));
    keyed_blake2b_key<36> const longer(secret_from(0));
    for (identity const& id : {identity{"a", "b"}, identity{std::string(255, 'S'), "\xff"},
                               identity{"shop", std::string(255, '-')}}) {
        for (unsigned const generation : {1U, 2U, UINT32_MAX}) {
            CHECK(keys(id, generation).size() == 32);
            CHECK(longer(id, generation).size() == 36);
            CHECK(longer(id, generation).find_first_not_of("0123456789abcdef") ==
                  std::string::npos);
        }
    }
}

TEST_CASE("scope, key and generation do not run into each other in a keyed key") {
    keyed_blake2b_key const keys(secret_from(0));
    std::vector<std::pair<identity, unsigned>> const close{
        {{"ab", "c"}, 1},    {{"a", "bc"}, 1},    {{"abc", "d"}, 1},  {{"shop", "7"}, 1},
        {{"shop", "7"}, 11}, {{"shop", "71"}, 1}, {{"shop", "7"}, 2}, {{"Shop", "7"}, 1},
        {{"7", "shop"}, 1},  {{"1:a", "b"}, 1},   {{"a", "1:b"}, 1},  {{"shop", "7 "}, 1}};
    std::set<std::string> made;
    for (auto const& [id, generation] : close)
        made.insert(keys(id, generation));
    CHECK(made.size() == close.size());
}

TEST_CASE("20,000 identities have as many keyed keys, the same whenever asked") {
    keyed_blake2b_key const keys(secret_from(0)), again(secret_from(0));
    seeded_random random(7);
    std::set<identity> ids;
    std::set<std::string> made;
    while (ids.size() < 20'000) {
        identity const id{std::to_string(random.below(300)), std::to_string(random.below(300))};
        if (!ids.insert(id).second) continue;
        made.insert(keys(id, 1));
        REQUIRE(keys(id, 1) == again(id, 1));
    }
    CHECK(made.size() == ids.size());
}

TEST_CASE("without the secret a key cannot be made, and lengths have nothing in common") {
    identity const id{"shop", "order-7"};
    keyed_blake2b_key const keys(secret_from(0)), others(secret_from(1));
    keyed_blake2b_key<64> const longer(secret_from(0));
    CHECK(keys(id, 1) != others(id, 1));
    CHECK_FALSE(longer(id, 1).starts_with(keys(id, 1)));
}

} // namespace
