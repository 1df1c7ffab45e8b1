// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#include <indoubt/adapter/canonical_json.hpp>
#include <indoubt/adapter/canonical_json_text.hpp>
#include <indoubt/testing/codec_laws.hpp>
#include <indoubt/testing/seeded_random.hpp>
#include <support/instrumented.hpp>

#include <doctest/doctest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using namespace indoubt;
using namespace std::string_literals;
using indoubt::testing::seeded_random;

std::string form(std::string_view text) {
    auto const made = codec<canonical_json_text>::encode({std::string(text)});
    return made ? made.value() : made.error().message();
}

/// What the error says; empty if the text has a form.
std::string why(std::string_view text) {
    auto const made = codec<canonical_json_text>::encode({std::string(text)});
    if (made) return {};
    return made.error().rule() == rule::malformed_request ? std::string(made.error().detail())
                                                          : "another rule";
}

bool refused(std::string_view text) {
    auto const made = codec<canonical_json_text>::encode({std::string(text)});
    return !made && made.error().rule() == rule::malformed_request;
}

bool undecodable(std::string_view bytes) {
    auto const read = codec<canonical_json_text>::decode(bytes);
    return !read && read.error().rule() == rule::undecodable;
}

static_assert(encodable<canonical_json_text>);
static_assert(explain_codec<canonical_json_text>());

// ---- forms --------------------------------------------------------------------------------------

TEST_CASE("the examples of RFC 8785 have the forms that it prints") {
    CHECK(form(R"({
        "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
        "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
        "literals": [null, true, false]
    })") == R"({"literals":[null,true,false],)"
            R"("numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],)"
            "\"string\":\"\xe2\x82\xac$\\u000f\\nA'B\\\"\\\\\\\\\\\"/\"}");
    CHECK(form(R"({"\u20ac":1,"\r":2,"\ufb33":3,"1":4,"\ud83d\ude00":5,"\u0080":6,"\u00f6":7})") ==
          "{\"\\r\":2,\"1\":4,\"\xc2\x80\":6,\"\xc3\xb6\":7,\"\xe2\x82\xac\":1,"
          "\"\xf0\x9f\x98\x80\":5,\"\xef\xac\xb3\":3}");
}

TEST_CASE("any document has a form, not only objects") {
    CHECK(form(" \t\r\nnull\n") == "null");
    CHECK(form("true") == "true");
    CHECK(form("\"a\"") == "\"a\"");
    CHECK(form("[ ]") == "[]");
    CHECK(form("{ }") == "{}");
    CHECK(form(R"([1,[2,{"b":{},"a":[[]]}],"x"])") == R"([1,[2,{"a":[[]],"b":{}}],"x"])");
    CHECK(form(R"({"":{"":[""]}})") == R"({"":{"":[""]}})");
    CHECK(canonical_json_text().text == "null");
}

TEST_CASE("integers keep all their digits") {
    for (std::string_view const digits :
         {"9007199254740993", "-9007199254740993", "9223372036854775807", "-9223372036854775808",
          "9223372036854775808", "18446744073709551615", "18446744073709551616",
          "-18446744073709551616", "123456789012345678901234567890", "1000000000000000000000",
          "1000000000000000000000000000000000000000000000000000000000000", "0", "7", "-7", "10"}) {
        CHECK(form(digits) == digits);
    }
    std::string const longest = "9" + std::string(999, '0');
    CHECK(form(longest) == longest);
    CHECK(form("9007199254740993") != form("9007199254740992"));
    CHECK(form("9007199254740993.0") == "9007199254740993");
    CHECK(form("9007199254740993e0") == "9007199254740993");
    CHECK(form("-90071992547409930e-1") == "-9007199254740993");
    CHECK(form("123456789012345678901.000") == "123456789012345678901");
}

TEST_CASE("a number has one form, however it is written") {
    for (std::string_view const one : {"1", "1.0", "1.000", "1e0", "1E0", "1e+0", "1e-0", "10e-1",
                                       "0.1e1", "0.001e3", "1000E-3", "1.0e00"})
        CHECK_MESSAGE(form(one) == "1", one);
    for (std::string_view const none :
         {"0", "-0", "0.0", "-0.0", "0e0", "0e5", "-0e-5", "0.000e99"})
        CHECK_MESSAGE(form(none) == "0", none);
    for (std::string_view const half : {"0.5", "5e-1", "0.50", "0.05E1", "50e-2"})
        CHECK_MESSAGE(form(half) == "0.5", half);
    CHECK(form("1e20") == "100000000000000000000");
    CHECK(form("1e21") == "1e+21");
    CHECK(form("-1.5e300") == "-1.5e+300");
    CHECK(form("5e-324") == "5e-324");
    CHECK(form("0.000001") == "0.000001");
    CHECK(form("0.0000001") == "1e-7");
    CHECK(form("1.7976931348623157e308") == "1.7976931348623157e+308");
}

TEST_CASE("other numbers are doubles, as canonical_json writes them") {
    CHECK(form("0.1000000000000000055511151231257827") == "0.1");
    CHECK(form("9007199254740992.5") == "9007199254740992");
    std::uint64_t const seed = 5;
    CAPTURE(seed);
    seeded_random random(seed);
    for (int i = 0; i < 20'000; ++i) {
        double const value = std::bit_cast<double>(random.next());
        if (!std::isfinite(value)) continue;
        std::string const written = codec<double>::encode(value).value();
        REQUIRE_MESSAGE(form(written) == written, written);
    }
}

// ---- refusals -----------------------------------------------------------------------------------

TEST_CASE("what is not JSON is refused") {
    for (std::string_view const bad :
         {"",      " ",     "nul",     "NaN", "Infinity", "-Infinity",  "-",
          "+1",    "01",    "1.",      ".5",  "1e",       "0x10",       "1,2",
          "[1,]",  "[,1]",  "[1",      "]",   "{\"a\":1", "{\"a\":1,}", "{\"a\"}",
          "{a:1}", "{1:1}", "'a'",     "\"a", "\"\n\"",   "\"\\x\"",    "\"\\u12g4\"",
          "[1]//", "/**/1", "[1] [2]", "1 2", "null,",    "True",       "{} x"}) {
        CHECK_MESSAGE(refused(bad), bad);
    }
    CHECK(refused("\xef\xbb\xbf{}"));
    CHECK(refused("1\0"s));
    CHECK(refused("\0"s));
}

TEST_CASE("numbers that no double holds are refused") {
    for (std::string_view const bad : {"1e309", "-1e309", "1.8e308", "1e-400", "0.1e-99999999999",
                                       "1e99999999999", "1e999999999", "123.5e400"})
        CHECK_MESSAGE(refused(bad), bad);
    CHECK(why("[1e309]") == "a number out of range");
}

TEST_CASE("text that is not UTF-8 and halves of surrogates are refused") {
    for (std::string const& bad :
         {"\xff"s, "\xc0\x80"s, "\xed\xa0\x80"s, "\xf4\x90\x80\x80"s, "a\xc3"s, "\xe2\x82"s,
          "\\ud83d"s, "\\ude00"s, "\\ud83dx"s, "\\ud83d\\ud83d"s, "\\ud83d\\n"s}) {
        CHECK_MESSAGE(refused('"' + bad + '"'), bad);
        CHECK_MESSAGE(refused("{\"" + bad + "\":1}"), bad);
    }
    CHECK(form("\"\\ud83d\\ude00\"") == "\"\xf0\x9f\x98\x80\"");
    CHECK(form("\"\\u0000\"") == "\"\\u0000\"");
}

TEST_CASE("a repeated member is refused, also in another notation") {
    CHECK(refused(R"({"a":1,"a":1})"));
    CHECK(refused(R"({"a":1,"b":2,"a":3})"));
    CHECK(refused(R"({"a":1,"\u0061":2})"));
    CHECK(refused(R"([{"x":{"":1,"":2}}])"));
    CHECK(form(R"({"a":{"a":1},"b":[{"a":1},{"a":1}]})") ==
          R"({"a":{"a":1},"b":[{"a":1},{"a":1}]})");
}

TEST_CASE("nesting has a bound") {
    auto const nested = [](std::size_t levels) {
        return std::string(levels, '[') + std::string(levels, ']');
    };
    CHECK(form(nested(64)) == nested(64));
    CHECK(refused(nested(65)));
    CHECK(refused(std::string(100'000, '[')));
    std::string objects = "1";
    for (int i = 0; i < 64; ++i)
        objects = "{\"a\":" + objects + '}';
    CHECK(form(objects) == objects);
    CHECK(refused("[" + objects + "]"));
    CHECK(codec<canonical_json_text>::decode(objects).has_value());
}

TEST_CASE("an error of a document names the member and never holds its value") {
    CHECK(why(R"({"to":{"zip":1,"zip":"canary"}})") == "to.zip: a repeated member");
    CHECK(why(R"({"to":[{"zip":1e999}]})") == "to.zip: a number out of range");
    CHECK(why("{\"a\":1} canary").find("canary") == std::string::npos);
    CHECK(why("{\"to\":{\"city\":\"canary\xff\"}}").starts_with("to.city: "));
    CHECK(why("{\"to\":{\"city\":\"canary\xff\"}}").find("canary") == std::string::npos);
    CHECK(why("{\"a\":canary}").starts_with("a: "));
    CHECK(why("{\"a\":canary}").find("canary") == std::string::npos);
    CHECK(why("{\"\\n\":[1e999]}") == "\\x0a: a number out of range");
    CHECK(codec<canonical_json_text>::decode("canary").error().detail().empty());
}

// ---- values -------------------------------------------------------------------------------------

TEST_CASE("reading takes only canonical forms") {
    CHECK(codec<canonical_json_text>::decode(R"({"a":1,"b":[2]})").value().text ==
          R"({"a":1,"b":[2]})");
    for (std::string_view const other :
         {R"({"b":[2],"a":1})", R"({"a": 1})", R"({"a":1.0})", R"({"a":-0})", R"({"a":1,"a":1})",
          R"("\u0041")", R"("\/")", R"("\u000F")", "1E5", "1e5", "1e400", " 1", "1 ", "", "nul"}) {
        CHECK_MESSAGE(undecodable(other), other);
    }
}

TEST_CASE("documents are equal if their forms are") {
    canonical_json_text const a{R"({"a":1,"b":2})"}, b{R"({ "b":2.0, "a":1 })"};
    CHECK(a == b);
    CHECK(a != canonical_json_text{R"({"a":1,"b":3})"});
    CHECK(canonical_json_text{"nul"} == canonical_json_text{"nul"});
    CHECK(canonical_json_text{"nul"} != canonical_json_text{"null"});
    CHECK(canonical_json_text{"nul"} != canonical_json_text{" nul"});
}

TEST_CASE("the codec of JSON documents keeps the laws of codecs") {
    std::vector<canonical_json_text> const documents{
        {},
        {"true"},
        {"0"},
        {"-0.0"},
        {"9007199254740992"},
        {"9007199254740993"},
        {"123456789012345678901234567890"},
        {"1e21"},
        {"0.1"},
        {"\"\""},
        {"\"caf\xc3\xa9 \\n \\u0001\""},
        {"[]"},
        {"{}"},
        {"[1, [2, {}]]"},
        {R"({"b":1,"a":{"d":null,"c":[true,false,"x"]}})"},
        {R"({ "a":{"c":[true,false,"x"],"d":null}, "b":1.0 })"},
        {R"({"a":{"c":[true,"x",false],"d":null},"b":1})"},
    };
    auto const found = testing::check_codec_laws(documents);
    CHECK_MESSAGE(found.hold(), found.report());
}

/// A random document, written twice: canonically, and as somebody else might.
struct written_twice {
    std::string canonical, other;
};

std::string any_space(seeded_random& random) {
    constexpr std::array<std::string_view, 6> spaces{"", "", "", " ", "\n", "\t \r\n"};
    return std::string(spaces[random.below(spaces.size())]);
}

written_twice any_text(seeded_random& random) {
    // Pairs of a canonical piece and another notation of it.
    constexpr std::array<std::pair<std::string_view, std::string_view>, 9> pieces{
        {{"a", "\\u0061"},
         {"\\n", "\\u000A"},
         {"\\\"", "\\u0022"},
         {"/", "\\/"},
         {"\\u0001", "\\u0001"},
         {"\x7f", "\\u007F"},
         {"\xc3\xa9", "\\u00E9"},
         {"\xef\xbf\xbf", "\\uffff"},
         {"\xf0\x9f\x98\x80", "\\uD83d\\uDe00"}}};
    written_twice text;
    for (auto n = random.below(5); n > 0; --n) {
        auto const& [canonical, other] = pieces[random.below(pieces.size())];
        text.canonical += canonical;
        text.other += random.chance(0.5) ? other : canonical;
    }
    return text;
}

written_twice any_document(seeded_random& random, int depth) {
    auto const spaced = [&](std::string text) {
        return any_space(random) + std::move(text) + any_space(random);
    };
    switch (random.below(depth > 0 ? 6 : 4)) {
    case 0: return {"null", spaced("null")};
    case 1: {
        auto [canonical, other] = any_text(random);
        return {'"' + canonical + '"', spaced('"' + other + '"')};
    }
    case 2: {
        std::string const digits = std::to_string(static_cast<std::int64_t>(random.next()));
        constexpr std::array<std::string_view, 4> ends{"", ".0", "e0", "000E-3"};
        return {digits, spaced(digits + std::string(ends[random.below(ends.size())]))};
    }
    case 3: {
        double const value = static_cast<double>(random.between(-999, 999)) / 8;
        std::string const written = codec<double>::encode(value).value();
        return {written, spaced(written + (written.find('.') == std::string::npos ? ".00" : "00"))};
    }
    case 4: {
        written_twice list{"[", "["};
        for (auto n = random.below(4); n > 0; --n) {
            auto const [canonical, other] = any_document(random, depth - 1);
            list.canonical += (list.canonical.size() > 1 ? "," : "") + canonical;
            list.other += (list.other.size() > 1 ? "," : "") + other;
        }
        return {list.canonical + ']', spaced(list.other + any_space(random) + ']')};
    }
    default: {
        std::map<std::string, std::pair<std::string, written_twice>> members; // by bytes
        for (auto n = random.below(5); n > 0; --n) {
            // Without the characters whose order by UTF-16 differs from the one by bytes.
            std::string const name(random.below(4), static_cast<char>('a' + random.below(3)));
            std::string const escaped =
                name.empty() ? ""
                             : "\\u006" + std::string(1, static_cast<char>(name[0] - 'a' + '1')) +
                                   name.substr(1);
            members[name] = {random.chance(0.5) ? name : escaped, any_document(random, depth - 1)};
        }
        written_twice object{"{", ""};
        for (auto const& [name, member] : members) {
            object.canonical += object.canonical.size() > 1 ? "," : "";
            object.canonical += '"' + name + "\":" + member.second.canonical;
            std::string const written =
                spaced('"' + member.first + '"') + ':' + member.second.other;
            bool const before = random.chance(0.5);
            std::string const comma = object.other.empty() ? "" : ",";
            object.other = before ? written + comma + object.other : object.other + comma + written;
        }
        return {object.canonical + '}', spaced('{' + object.other + any_space(random) + '}')};
    }
    }
}

TEST_CASE("20,000 random documents have one form in two notations, and it is read back") {
    std::uint64_t const seed = 2026;
    CAPTURE(seed);
    seeded_random random(seed);
    for (int i = 0; i < 20'000; ++i) {
        auto const [canonical, other] = any_document(random, 4);
        REQUIRE_MESSAGE(form(other) == canonical, other);
        REQUIRE(form(canonical) == canonical);
        REQUIRE(codec<canonical_json_text>::decode(canonical).has_value());
    }
}

TEST_CASE("100,000 damaged documents are refused or have a form that is read back") {
    std::uint64_t const seed = 2027;
    CAPTURE(seed);
    seeded_random random(seed);
    for (int i = 0; i < (instrumented ? 10'000 : 100'000); ++i) {
        std::string text = any_document(random, 3).other;
        std::size_t const place = random.below(text.size());
        text[place] = random.chance(0.5) ? static_cast<char>(random.next())
                                         : R"(0123456789"{}[],:.e-\u)"[random.below(22)];
        auto const made = codec<canonical_json_text>::encode({text});
        if (!made) continue;
        REQUIRE_MESSAGE(form(made.value()) == made.value(), text);
        REQUIRE(codec<canonical_json_text>::decode(made.value()).has_value());
    }
}

// ---- what differs -------------------------------------------------------------------------------

std::string differing(std::string_view a, std::string_view b) {
    return differing_members(canonical_json_text{std::string(a)},
                             canonical_json_text{std::string(b)});
}

TEST_CASE("the members in which documents differ are named, without their values") {
    CHECK(differing(R"({"a":1,"b":2})", R"({ "b":2.0,"a":1 })").empty());
    CHECK(differing(R"({"a":1,"b":2})", R"({"a":3,"b":4})") == "a, b");
    CHECK(differing(R"({"a":1})", R"({"b":1})") == "a, b");
    CHECK(differing(R"({"to":{"city":"x","zip":1},"z":0})", R"({"to":{"city":"y","zip":1}})") ==
          "to.city, z");
    CHECK(differing(R"({"a":{"b":{"c":1}}})", R"({"a":{"b":{"c":2,"d":{}}}})") == "a.b.c, a.b.d");
    CHECK(differing(R"({"a":[1]})", R"({"a":[2]})") == "a");
    CHECK(differing(R"({"a":{}})", R"({"a":null})") == "a");
    CHECK(differing(R"({"a":{"b":1}})", R"({"a":{}})") == "a.b");
    CHECK(differing(R"({"\n":1})", "{}") == "\\x0a");
    CHECK(codec<canonical_json_text>::differing_members({"{}"}, {R"({"a":1})"}) == "a");
}

TEST_CASE("documents that have no members to compare differ as a whole") {
    CHECK(differing("[1]", "[2]") == "(document)");
    CHECK(differing("{}", "[]") == "(document)");
    CHECK(differing("{", "{}") == "(document)");
    CHECK(differing("{", "{").empty());
    CHECK(differing("1", "1.0").empty());
}

// ---- as a member --------------------------------------------------------------------------------

struct envelope {
    std::string to;
    canonical_json_text body;
    bool operator==(envelope const&) const = default;
};

} // namespace

BOOST_HANA_ADAPT_STRUCT(envelope, to, body);

namespace {

TEST_CASE("a document may be a member of a struct, and is then a text in it") {
    envelope const e{"x", {R"({"b":1, "a":2})"}};
    std::string const bytes = codec<envelope>::encode(e).value();
    CHECK(bytes == R"({"body":"{\"a\":2,\"b\":1}","to":"x"})");
    CHECK(codec<envelope>::decode(bytes).value() == e);
    CHECK(codec<envelope>::encode({"x", {"{"}}).error().detail() ==
          "body: refused by its own codec");
}

} // namespace
