// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#include <indoubt/adapter/canonical_json/number.hpp>
#include <indoubt/testing/seeded_random.hpp>

#include <doctest/doctest.h>

#include <bit>
#include <concepts>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

namespace {

namespace json = indoubt::detail::json;
using indoubt::testing::seeded_random;

template <class F> std::string written(F value) {
    std::string text;
    CHECK(json::append_floating(text, value));
    return text;
}

template <class T> bool reads_back(std::string_view text, T value) {
    T read{};
    std::string_view rest = text;
    if constexpr (std::floating_point<T>) {
        return json::take_floating(rest, read) && rest.empty() && read == value;
    } else {
        return json::take_integer(rest, read) && rest.empty() && read == value;
    }
}

TEST_CASE("numbers are written as RFC 8785, appendix B, lists them") {
    struct vector {
        std::uint64_t bits;
        std::string_view text;
    };
    for (vector const& v : {
             vector{0x0000000000000000, "0"},
             {0x8000000000000000, "0"},
             {0x0000000000000001, "5e-324"},
             {0x8000000000000001, "-5e-324"},
             {0x7fefffffffffffff, "1.7976931348623157e+308"},
             {0xffefffffffffffff, "-1.7976931348623157e+308"},
             {0x4340000000000000, "9007199254740992"},
             {0xc340000000000000, "-9007199254740992"},
             {0x4430000000000000, "295147905179352830000"},
             {0x44b52d02c7e14af5, "9.999999999999997e+22"},
             {0x44b52d02c7e14af6, "1e+23"},
             {0x44b52d02c7e14af7, "1.0000000000000001e+23"},
             {0x444b1ae4d6e2ef4e, "999999999999999700000"},
             {0x444b1ae4d6e2ef4f, "999999999999999900000"},
             {0x444b1ae4d6e2ef50, "1e+21"},
             {0x3eb0c6f7a0b5ed8c, "9.999999999999997e-7"},
             {0x3eb0c6f7a0b5ed8d, "0.000001"},
             {0x41b3de4355555553, "333333333.3333332"},
             {0x41b3de4355555554, "333333333.33333325"},
             {0x41b3de4355555555, "333333333.3333333"},
             {0x41b3de4355555556, "333333333.3333334"},
             {0x41b3de4355555557, "333333333.33333343"},
             {0xbecbf647612f3696, "-0.0000033333333333333333"},
             {0x43143ff3c1cb0959, "1424953923781206.2"},
         }) {
        double const value = std::bit_cast<double>(v.bits);
        CHECK(written(value) == v.text);
        CHECK(reads_back(v.text, value));
    }
    std::string text = "as it was";
    CHECK_FALSE(json::append_floating(text, std::bit_cast<double>(0x7fffffffffffffffU)));
    CHECK_FALSE(json::append_floating(text, std::bit_cast<double>(0x7ff0000000000000U)));
    CHECK_FALSE(json::append_floating(text, std::bit_cast<double>(0xfff0000000000000U)));
    CHECK(text == "as it was");
}

TEST_CASE("numbers change their notation where ECMAScript changes it") {
    CHECK(written(1e20) == "100000000000000000000");
    CHECK(written(1e21) == "1e+21");
    CHECK(written(123456789012345680000.0) == "123456789012345680000");
    CHECK(written(1.2345678901234568e21) == "1.2345678901234568e+21");
    CHECK(written(1e-6) == "0.000001");
    CHECK(written(1e-7) == "1e-7");
    CHECK(written(1.5e-7) == "1.5e-7");
    CHECK(written(-0.001) == "-0.001");
    CHECK(written(1.0) == "1");
    CHECK(written(0.1) == "0.1");
    CHECK(written(4.50) == "4.5");
    CHECK(written(1E30) == "1e+30");
    CHECK(written(1e-27) == "1e-27");
    CHECK(written(std::numeric_limits<double>::min()) == "2.2250738585072014e-308");
}

TEST_CASE("a float is written with the digits that a float needs") {
    CHECK(written(0.1F) == "0.1");
    CHECK(written(16777216.0F) == "16777216");
    CHECK(written(std::numeric_limits<float>::max()) == "3.4028235e+38");
    CHECK(written(std::numeric_limits<float>::denorm_min()) == "1e-45");
    CHECK(reads_back("0.1", 0.1F));
    CHECK_FALSE(reads_back("0.10000000149011612", 0.1F));
}

TEST_CASE("every number has one notation, and reading takes no other") {
    for (std::string_view const other : {"1.0",
                                         "1e0",
                                         "1E0",
                                         "+1",
                                         "01",
                                         "00",
                                         "-0",
                                         "-0.0",
                                         "0.0",
                                         ".5",
                                         "5.",
                                         "0.10",
                                         "1e21",
                                         "1e+021",
                                         "1.0e+21",
                                         "10e+20",
                                         "1000000000000000000000",
                                         "0.0000001",
                                         "1e-07",
                                         "1E-7",
                                         "5e-325",
                                         "1e-400",
                                         "1e400",
                                         "1.7976931348623159e+308",
                                         "0.1000000000000000055",
                                         "nan",
                                         "NaN",
                                         "inf",
                                         "Infinity",
                                         "-Infinity",
                                         "",
                                         "-",
                                         "e",
                                         "0x10",
                                         "1e+",
                                         "1_000"}) {
        double value = 0;
        std::string_view rest = other;
        bool const whole = json::take_floating(rest, value) && rest.empty();
        CHECK_MESSAGE(!whole, other);
    }
}

TEST_CASE("100,000 doubles of any bits read back as they were") {
    seeded_random random(8785);
    for (int i = 0; i < 100'000; ++i) {
        double const value = std::bit_cast<double>(random.next());
        std::string text;
        if (!json::append_floating(text, value)) continue;
        REQUIRE_MESSAGE(reads_back(text, value), text);
        REQUIRE_FALSE(reads_back(text + '0', value));
    }
}

TEST_CASE("integers keep all their digits, and reading takes no other") {
    std::string text;
    json::append_integer(text, std::int64_t{9007199254740993});
    CHECK(text == "9007199254740993");
    CHECK(reads_back("9007199254740993", std::int64_t{9007199254740993}));
    CHECK(reads_back("18446744073709551615", UINT64_MAX));
    CHECK(reads_back("-9223372036854775808", INT64_MIN));
    CHECK(reads_back("-128", std::int8_t{-128}));
    CHECK(reads_back("0", 0));
    for (std::string_view const other : {"-0", "00", "01", "-01", "+1", "", "-", " 1", "0x1",
                                         "9223372036854775808", "-9223372036854775809", "e"}) {
        std::int64_t value = 0;
        std::string_view rest = other;
        bool const whole = json::take_integer(rest, value) && rest.empty();
        CHECK_MESSAGE(!whole, other);
    }
    std::uint8_t small = 0;
    for (std::string_view rest : {"256", "-1", "1000"})
        CHECK_FALSE(json::take_integer(rest, small));
    std::string_view rest = "12,13";
    CHECK(json::take_integer(rest, small));
    CHECK(rest == ",13");
}

} // namespace
