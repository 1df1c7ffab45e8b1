// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#include <indoubt/adapter/encoded_key.hpp>
#include <indoubt/testing/seeded_random.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>

namespace {

using namespace indoubt;
using indoubt::testing::seeded_random;

constexpr std::string_view alphabet = "abcdefghijklmnopqrstuvwxyz0123456789";

TEST_CASE("an encoded key can be read") {
    CHECK(encoded_key({"shop", "order-7"}, 1) == "shopzsorderz2d7");
    CHECK(encoded_key({"shop", "order-7"}, 2) == "shopzsorderz2d7zg2");
    CHECK(encoded_key({"shop", "order-7"}, 11) == "shopzsorderz2d7zg11");
    CHECK(encoded_key({"Z", "z"}, 1) == "z5azsz7a");
    CHECK(encoded_key({"\xc3\xa9", " "}, 1) == "zc3za9zsz20");
}

TEST_CASE("scope, key and generation do not run into each other in an encoded key") {
    CHECK(encoded_key({"ab", "c"}, 1) != encoded_key({"a", "bc"}, 1));
    CHECK(encoded_key({"azs", "b"}, 1) != encoded_key({"a", "zsb"}, 1));
    CHECK(encoded_key({"a", "bzg2"}, 1) != encoded_key({"a", "b"}, 2));
    CHECK(encoded_key({"a", "b"}, 1) != encoded_key({"a", "b"}, 11));
    CHECK(encoded_key({"a", "b1"}, 1) != encoded_key({"a", "b"}, 11));
    CHECK(encoded_key({"a", "z2d"}, 1) != encoded_key({"a", "-"}, 1));
}

TEST_CASE("an encoded key keeps upper and lower case apart, also where a service does not") {
    CHECK(encoded_key({"shop", "Order"}, 1) == "shopzsz4frder");
    CHECK(encoded_key({"shop", "Order"}, 1) != encoded_key({"shop", "order"}, 1));
}

TEST_CASE("the length of an encoded key is the one that is documented") {
    std::string const uuid = "123e4567-e89b-12d3-a456-426614174000";
    CHECK(encoded_key({"shop", uuid}, 1).size() == 50);
    std::string plain = uuid;
    std::erase(plain, '-');
    CHECK(encoded_key({"shop", plain}, 1).size() == 38);
    std::string const longest(longest_name, 'Z');
    CHECK(encoded_key({longest, longest}, 1).size() == 1532);
    CHECK(encoded_key({"a", "b"}, 12).size() == 1 + 2 + 1 + 2 + 2);
    CHECK(encoded_key({"a", "b"}, UINT32_MAX) == "azsbzg4294967295");
}

TEST_CASE("100,000 random identities and generations have as many encoded keys") {
    // Few different bytes, the ones with a meaning among them, so that keys come close.
    constexpr std::string_view bytes = "azsg12d-\x7e\xff";
    std::uint64_t const seed = 2026;
    CAPTURE(seed);
    seeded_random random(seed);
    auto const any_name = [&] {
        std::string name;
        for (auto n = 1 + random.below(5); n > 0; --n)
            name += random.chance(0.8) ? bytes[random.below(bytes.size())]
                                       : static_cast<char>(1 + random.below(255));
        return name;
    };
    std::map<std::string, std::tuple<std::string, std::string, unsigned>> made;
    for (int i = 0; i < 100'000; ++i) {
        identity const id{any_name(), any_name()};
        auto const generation = static_cast<unsigned>(1 + random.below(22));
        std::string const key = encoded_key(id, generation);
        REQUIRE(key.find_first_not_of(alphabet) == std::string::npos);
        std::tuple const whose(id.scope, id.key, generation);
        auto const [place, fresh] = made.try_emplace(key, whose);
        REQUIRE_MESSAGE(place->second == whose, key);
    }
}

} // namespace
