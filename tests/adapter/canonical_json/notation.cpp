// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#include <indoubt/adapter/canonical_json/notation.hpp>
#include <indoubt/testing/seeded_random.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace {

namespace json = indoubt::detail::json;
using namespace std::string_literals;
using indoubt::testing::seeded_random;

std::string quoted(std::string_view text) {
    std::string out;
    CHECK(json::append_quoted(out, text));
    return out;
}

bool well_formed(std::string_view text) {
    std::string out;
    return json::append_quoted(out, text);
}

/// The text, if all of form is one quoted text; "refused" if not.
std::string unquoted(std::string_view form) {
    std::string text;
    return json::take_quoted(form, text) && form.empty() ? text : "refused";
}

std::string utf8(std::uint32_t character) {
    auto const byte = [](std::uint32_t bits) { return static_cast<char>(bits); };
    auto const next = [&](unsigned shift) { return byte(0x80 | (character >> shift & 0x3f)); };
    if (character < 0x80) return {byte(character)};
    if (character < 0x800) return {byte(0xc0 | character >> 6), next(0)};
    if (character < 0x10000) return {byte(0xe0 | character >> 12), next(6), next(0)};
    return {byte(0xf0 | character >> 18), next(12), next(6), next(0)};
}

TEST_CASE("text has the escapes of RFC 8785 and no others") {
    CHECK(quoted("\xe2\x82\xac$\x0f\nA'B\"\\\\\"/") == R"("€$\u000f\nA'B\"\\\\\"/")");
    CHECK(quoted("\b\t\n\f\r") == R"("\b\t\n\f\r")");
    CHECK(quoted("\0\x01\x1f\x7f"s) == "\"\\u0000\\u0001\\u001f\x7f\"");
    CHECK(quoted("") == "\"\"");
    CHECK(quoted("\xf0\x9f\x98\x80") == "\"\xf0\x9f\x98\x80\"");
}

TEST_CASE("every text has one form, and reading takes no other") {
    CHECK(unquoted(R"("\u0000")") == "\0"s);
    CHECK(unquoted(R"("\u001f\b\"")") == "\x1f\b\"");
    for (std::string_view const other : {R"("\/")",
                                         R"("\u0041")",
                                         R"("\u000A")",
                                         R"("\u000a")",
                                         R"("\u0008")",
                                         R"("\u001F")",
                                         R"("\u0022")",
                                         R"("\u005c")",
                                         R"("\u20ac")",
                                         R"("\ud83d\ude00")",
                                         R"("\u0020")",
                                         R"("\U0001")",
                                         R"("\u00")",
                                         R"("\u000")",
                                         R"("\x01")",
                                         R"("\a")",
                                         R"("\)",
                                         R"("\")",
                                         R"(")",
                                         R"("a)",
                                         R"(a")",
                                         R"(a)",
                                         R"('a')",
                                         R"("a"b)",
                                         R"( "a")",
                                         "",
                                         "\"\n\"",
                                         "\"\t\"",
                                         "\"\xff\"",
                                         "\"\xc3\"",
                                         "\"\xed\xa0\x80\""}) {
        CHECK_MESSAGE(unquoted(other) == "refused", other);
    }
    CHECK(unquoted("\"\0\""s) == "refused");
}

TEST_CASE("every character of Unicode is well-formed but the surrogates") {
    for (std::uint32_t character = 0; character <= 0x10ffff; ++character) {
        bool const surrogate = character >= 0xd800 && character <= 0xdfff;
        std::string const text = utf8(character);
        REQUIRE((json::character_length(text) == text.size()) == !surrogate);
        REQUIRE(json::character_length(text.substr(0, text.size() - 1)) == 0);
    }
    CHECK(json::character_length(utf8(0x110000)) == 0);
    CHECK(json::character_length("") == 0);
}

TEST_CASE("no pair and no triple of bytes passes that is not a character") {
    std::size_t pairs = 0, triples = 0;
    std::string text(3, ' ');
    for (unsigned bits = 0; bits < 0x1000000; ++bits) {
        text[0] = static_cast<char>(bits >> 16);
        text[1] = static_cast<char>(bits >> 8);
        text[2] = static_cast<char>(bits);
        std::size_t const length = json::character_length(text);
        pairs += length == 2;
        triples += length == 3;
    }
    CHECK(pairs == 256 * (0x800 - 0x80));
    CHECK(triples == 0x10000 - 0x800 - (0xe000 - 0xd800));
}

TEST_CASE("text that is not well-formed UTF-8 is refused") {
    for (std::string_view const bad : {"\x80",
                                       "\xbf",
                                       "\xc3",
                                       "\xc3\x28",
                                       "\xe2\x82",
                                       "\xe2\x28\xa1",
                                       "\xf0\x9f\x98",
                                       "\xf0\x28\x8c\xbc",
                                       "\xc0\x80",
                                       "\xc1\xbf",
                                       "\xe0\x80\x80",
                                       "\xe0\x9f\xbf",
                                       "\xf0\x80\x80\x80",
                                       "\xf0\x8f\xbf\xbf",
                                       "\xed\xa0\x80",
                                       "\xed\xbf\xbf",
                                       "\xed\xa0\xbd\xed\xb8\x80",
                                       "\xf4\x90\x80\x80",
                                       "\xf5\x80\x80\x80",
                                       "\xfe",
                                       "\xff",
                                       "ok\xff",
                                       "\xc3\xa9\xc3"}) {
        CHECK_FALSE(well_formed(bad));
        CHECK(unquoted('"' + std::string(bad) + '"') == "refused");
    }
}

TEST_CASE("names are sorted by UTF-16 code units, as RFC 8785 shows") {
    std::vector<std::string> names{"\xe2\x82\xac",     "\r",       "\xef\xac\xb3", "1",
                                   "\xf0\x9f\x98\x80", "\xc2\x80", "\xc3\xb6"};
    std::ranges::sort(names, json::comes_before);
    CHECK(names == std::vector<std::string>{"\r", "1", "\xc2\x80", "\xc3\xb6", "\xe2\x82\xac",
                                            "\xf0\x9f\x98\x80", "\xef\xac\xb3"});
    CHECK(json::comes_before("a", "ab"));
    CHECK_FALSE(json::comes_before("a", "a"));
}

std::vector<std::uint16_t> utf16(std::vector<std::uint32_t> const& characters) {
    std::vector<std::uint16_t> units;
    for (std::uint32_t c : characters) {
        if (c >= 0x10000) {
            units.push_back(static_cast<std::uint16_t>(0xd800 + ((c - 0x10000) >> 10)));
            units.push_back(static_cast<std::uint16_t>(0xdc00 + ((c - 0x10000) & 0x3ff)));
        } else {
            units.push_back(static_cast<std::uint16_t>(c));
        }
    }
    return units;
}

TEST_CASE("the order of names is that of their UTF-16 forms, and texts read back") {
    constexpr std::array<std::uint32_t, 16> edges{0,      9,      0x22,    0x5c,    0x7f,   0x80,
                                                  0x7ff,  0x800,  0xcfff,  0xd7ff,  0xe000, 0xefff,
                                                  0xf000, 0xffff, 0x10000, 0x10ffff};
    seeded_random random(16);
    for (int i = 0; i < 100'000; ++i) {
        std::array<std::vector<std::uint32_t>, 2> characters;
        std::array<std::string, 2> text;
        for (std::size_t side : {0U, 1U}) {
            for (auto length = random.below(5); length > 0; --length) {
                characters[side].push_back(edges[random.below(edges.size())]);
                text[side] += utf8(characters[side].back());
            }
        }
        REQUIRE(json::comes_before(text[0], text[1]) ==
                (utf16(characters[0]) < utf16(characters[1])));
        std::string out;
        REQUIRE(json::append_quoted(out, text[0]));
        REQUIRE(unquoted(out) == text[0]);
    }
}

TEST_CASE("a member's name is the same between quotes as outside") {
    CHECK(json::is_plain("quantity"));
    CHECK(json::is_plain("caf\xc3\xa9"));
    CHECK_FALSE(json::is_plain(""));
    CHECK_FALSE(json::is_plain("a\"b"));
    CHECK_FALSE(json::is_plain("a\nb"));
    CHECK_FALSE(json::is_plain("\xff"));
}

} // namespace
