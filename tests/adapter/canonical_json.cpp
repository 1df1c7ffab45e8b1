// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#include <indoubt/adapter/canonical_json.hpp>
#include <indoubt/testing/codec_laws.hpp>
#include <indoubt/testing/seeded_random.hpp>
#include <support/instrumented.hpp>

#include <doctest/doctest.h>

#include <array>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>
#include <vector>

namespace {

using namespace indoubt;
using namespace std::string_literals;
using indoubt::testing::seeded_random;

// ---- requests as people write them --------------------------------------------------------------

enum class side : char {
    buy = 'B',
    sell = 'S',
};

struct address {
    std::string city;
    std::uint16_t zip = 0;
    bool operator==(address const&) const = default;
};

struct card {
    static constexpr std::string_view json_tag = "card";
    BOOST_HANA_DEFINE_STRUCT(card, (std::string, number), (bool, debit));
    bool operator==(card const&) const = default;
};

/// A type with a codec of its own: text with a sign, so that no float is ever near it.
struct money {
    std::int64_t cents = 0;
    bool operator==(money const&) const = default;
};

/// Bytes; an empty one is refused by its own codec.
struct raw {
    std::string bytes;
    bool operator==(raw const&) const = default;
};

struct order {
    std::string item;
    std::int64_t quantity = 0;
    double price = 0;
    float weight = 0;
    std::optional<std::string> note;
    std::optional<std::optional<int>> limit;
    std::vector<bool> flags;
    std::array<std::uint8_t, 3> colour{};
    std::map<std::string, address> stops;
    std::variant<std::monostate, card, money> pay;
    std::vector<std::optional<std::uint64_t>> steps;
    milliseconds wait{};
    time_point at{};
    side way = side::buy;
    address to;
    money total;
    bool operator==(order const&) const = default;
};

struct tree {
    std::string name;
    std::vector<tree> children;
    bool operator==(tree const&) const = default;
};

struct empty_request {
    bool operator==(empty_request const&) const = default;
};

} // namespace

BOOST_HANA_ADAPT_STRUCT(address, city, zip);
BOOST_HANA_ADAPT_STRUCT(order, item, quantity, price, weight, note, limit, flags, colour, stops,
                        pay, steps, wait, at, way, to, total);
BOOST_HANA_ADAPT_STRUCT(tree, name, children);
BOOST_HANA_ADAPT_STRUCT(empty_request);

template <> struct indoubt::codec<money> {
    static std::string encode(money const& m) { return "c" + std::to_string(m.cents); }
    static result<money> decode(std::string_view bytes) {
        detail::json::reader reader(bytes.substr(bytes.empty() ? 0 : 1));
        money m;
        if (bytes.starts_with('c') && reader.read(m.cents) && reader.at_end()) return m;
        return error(rule::undecodable);
    }
};

template <> struct indoubt::codec<raw> {
    static result<std::string> encode(raw const& r) {
        if (r.bytes.empty()) return error(rule::malformed_request);
        return r.bytes;
    }
    static result<raw> decode(std::string_view bytes) { return raw{std::string(bytes)}; }
};

namespace {

template <class T> std::string form(T const& value) {
    result<std::string> const bytes = codec<T>::encode(value);
    return bytes ? bytes.value() : bytes.error().message();
}

template <class T> bool refused(std::string_view bytes) {
    result<T> const decoded = codec<T>::decode(bytes);
    return !decoded && decoded.error().rule() == rule::undecodable;
}

template <class T> bool round_trip(T const& value) {
    result<T> const decoded = codec<T>::decode(form(value));
    return decoded && decoded.value() == value;
}

// ---- which types have a form --------------------------------------------------------------------

enum unfixed_enumeration {
    one
};
struct not_adapted {};
struct with_a_character {
    char c;
};
struct with_a_pointer {
    int* p;
};
struct with_an_unfixed_enumeration {
    unfixed_enumeration e;
};
struct with_a_constant {
    int const c = 0;
};
struct with_a_long_double {
    long double d;
};
struct with_a_struct_that_is_not_adapted {
    not_adapted n;
};
struct with_a_list_of_them {
    std::vector<with_a_character> list;
};
struct without_a_default {
    explicit without_a_default(int i) : n(i) {}
    int n;
};
struct that_owns {
    std::unique_ptr<int> owned;
};
struct that_cannot_move {
    that_cannot_move() = default;
    that_cannot_move(that_cannot_move&&) = delete;
    int n = 0;
};
struct a_tag {
    static constexpr char const* json_tag = "same";
};
struct its_double {
    static constexpr char const* json_tag = "same";
};
struct a_tag_to_escape {
    static constexpr char const* json_tag = "\n";
};

} // namespace

BOOST_HANA_ADAPT_STRUCT(with_a_character, c);
BOOST_HANA_ADAPT_STRUCT(with_a_pointer, p);
BOOST_HANA_ADAPT_STRUCT(with_an_unfixed_enumeration, e);
BOOST_HANA_ADAPT_STRUCT(with_a_constant, c);
BOOST_HANA_ADAPT_STRUCT(with_a_long_double, d);
BOOST_HANA_ADAPT_STRUCT(with_a_struct_that_is_not_adapted, n);
BOOST_HANA_ADAPT_STRUCT(with_a_list_of_them, list);
BOOST_HANA_ADAPT_STRUCT(without_a_default, n);
BOOST_HANA_ADAPT_STRUCT(that_owns, owned);
BOOST_HANA_ADAPT_STRUCT(that_cannot_move, n);
BOOST_HANA_ADAPT_STRUCT(a_tag);
BOOST_HANA_ADAPT_STRUCT(its_double);
BOOST_HANA_ADAPT_STRUCT(a_tag_to_escape);

namespace {

static_assert(encodable<order> && encodable<tree> && encodable<empty_request> && encodable<card>);
static_assert(encodable<bool> && encodable<std::uint64_t> && encodable<std::vector<order>>);
static_assert(encodable<std::unordered_map<std::string, int>>, "a map like std::map");
static_assert(encodable<std::chrono::sys_seconds> && encodable<std::chrono::hours>);
static_assert(encodable<std::variant<int, int>>, "indices tell them apart");
static_assert(explain_codec<order>());

static_assert(!encodable<char> && !encodable<char8_t> && !encodable<wchar_t>);
static_assert(!encodable<long double> && !encodable<int*> && !encodable<std::nullptr_t>);
static_assert(!encodable<not_adapted> && !encodable<unfixed_enumeration>);
static_assert(!encodable<with_a_character>);
static_assert(!encodable<with_a_pointer>);
static_assert(!encodable<with_an_unfixed_enumeration>);
static_assert(!encodable<with_a_constant>);
static_assert(!encodable<with_a_long_double>);
static_assert(!encodable<with_a_struct_that_is_not_adapted>);
static_assert(!encodable<with_a_list_of_them>);
static_assert(!encodable<without_a_default>);
static_assert(!encodable<that_owns>);
static_assert(!encodable<that_cannot_move>);
static_assert(!encodable<std::vector<with_a_pointer>>);
static_assert(!encodable<std::optional<std::optional<int>>>, "null would stand for two values");
static_assert(!encodable<std::optional<std::monostate>>, "null would stand for two values");
static_assert(!encodable<std::vector<std::optional<std::monostate>>>);
static_assert(!encodable<std::variant<a_tag, its_double>>, "one tag would stand for two");
static_assert(!encodable<std::variant<a_tag_to_escape>>);
static_assert(encodable<std::variant<a_tag, int>>);
static_assert(!encodable<std::map<int, int>> && !encodable<std::multimap<std::string, int>>);
static_assert(!encodable<std::chrono::duration<double>>);
static_assert(!encodable<std::chrono::steady_clock::time_point>);

// ---- forms --------------------------------------------------------------------------------------

order example() {
    order o;
    o.item = "caf\xc3\xa9 \"au lait\"\n";
    o.quantity = 9007199254740993;
    o.price = 333333333.33333329;
    o.weight = 0.1F;
    o.limit.emplace();
    o.flags = {true, false};
    o.colour = {0, 128, 255};
    o.stops = {{"home", {"Rome", 118}}, {"", {"", 0}}};
    o.pay = card{"4111", true};
    o.steps = {1, std::nullopt, UINT64_MAX};
    o.wait = milliseconds(-5);
    o.at = time_point(milliseconds(1'750'000'000'000));
    o.way = side::sell;
    o.to = {"Oslo", 150};
    o.total = {-1999};
    return o;
}

TEST_CASE("a struct is an object with its members sorted by name") {
    CHECK(form(example()) ==
          R"({"at":1750000000000,"colour":[0,128,255],"flags":[true,false],)"
          R"("item":"café \"au lait\"\n","limit":null,"pay":{"card":{"debit":true,)"
          R"("number":"4111"}},"price":333333333.3333333,"quantity":9007199254740993,)"
          R"("steps":[1,null,18446744073709551615],"stops":{"":{"city":"","zip":0},)"
          R"("home":{"city":"Rome","zip":118}},"to":{"city":"Oslo","zip":150},)"
          R"("total":"c-1999","wait":-5,"way":83,"weight":0.1})");
    CHECK(round_trip(example()));
    CHECK(form(empty_request()) == "{}");
    CHECK(round_trip(empty_request()));
}

TEST_CASE("each type has its form outside of structs, too") {
    CHECK(form(true) == "true");
    CHECK(form(std::int8_t{-128}) == "-128");
    CHECK(form(UINT64_MAX) == "18446744073709551615");
    CHECK(form(std::optional<int>()) == "null");
    CHECK(form(std::optional<int>(0)) == "0");
    CHECK(form(std::vector<std::string>{"a", ""}) == R"(["a",""])");
    CHECK(form(std::array<int, 0>()) == "[]");
    CHECK(form(std::map<std::string, int>()) == "{}");
    CHECK(form(std::variant<int, std::string>("7")) == R"({"1":"7"})");
    CHECK(form(std::variant<std::monostate, int>()) == R"({"0":null})");
    CHECK(form(std::chrono::hours(3)) == "3");
    CHECK(form(std::chrono::sys_days(std::chrono::days(3))) == "3");
    CHECK(round_trip(std::variant<int, std::string, int>(std::in_place_index<2>, 4)));
    CHECK(round_trip(std::unordered_map<std::string, int>{{"b", 1}, {"a", 2}}));
}

TEST_CASE("a variant of many alternatives is tagged by index") {
    using many =
        std::variant<bool, std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t,
                     std::uint16_t, std::uint32_t, std::uint64_t, float, double, card>;
    CHECK(form(many(1.5)) == R"({"10":1.5})");
    CHECK(form(many(false)) == R"({"0":false})");
    CHECK(form(many(card{"1", false})) == R"({"card":{"debit":false,"number":"1"}})");
    CHECK(round_trip(many(card{"1", false})));
    CHECK(refused<many>(R"({"11":{"debit":false,"number":"1"}})"));
    CHECK(refused<many>(R"({"12":0})"));
    CHECK(refused<many>(R"({"0":false,"1":1})"));
    CHECK(refused<many>(R"({})"));
}

TEST_CASE("keys of a map are sorted by UTF-16 code units, not by bytes") {
    std::map<std::string, int> const keys{{"\xef\xac\xb3", 3}, {"\xf0\x9f\x98\x80", 2}, {"1", 1}};
    CHECK(form(keys) == "{\"1\":1,\"\xf0\x9f\x98\x80\":2,\"\xef\xac\xb3\":3}");
    CHECK(round_trip(keys));
    CHECK(
        refused<std::map<std::string, int>>("{\"1\":1,\"\xef\xac\xb3\":3,\"\xf0\x9f\x98\x80\":2}"));
}

TEST_CASE("a member's own codec is used wherever the member stands") {
    CHECK(form(std::vector<money>{{1}, {-2}}) == R"(["c1","c-2"])");
    CHECK(refused<std::vector<money>>(R"(["1"])"));
    CHECK(refused<std::vector<money>>(R"([1])"));
}

TEST_CASE("an enumeration takes every value of the integer below it and no other") {
    enum class tiny : bool {
        no,
        yes
    };
    enum class wide : std::uint64_t {
        most = UINT64_MAX
    };
    CHECK(form(std::vector<tiny>{tiny::no, tiny::yes}) == "[0,1]");
    CHECK(refused<tiny>("2"));
    CHECK(refused<tiny>("true"));
    CHECK(form(wide::most) == "18446744073709551615");
    CHECK(round_trip(wide::most));
    CHECK(codec<side>::decode("-128").value() == static_cast<side>(-128));
    CHECK(refused<side>("128"));
}

// ---- what is the same and what is not -----------------------------------------------------------

struct in_this_order {
    int a = 1, b = 2;
};
struct in_that_order {
    int b = 2, a = 1;
};
struct full_by_default {
    std::optional<int> n = 5;
    std::vector<int> list{1};
    std::map<std::string, int> map{{"a", 1}};
    bool operator==(full_by_default const&) const = default;
};
struct number_or_absent {
    std::optional<double> n;
};
struct null_or_absent {
    std::optional<std::optional<int>> n;
};

} // namespace

BOOST_HANA_ADAPT_STRUCT(in_this_order, a, b);
BOOST_HANA_ADAPT_STRUCT(in_that_order, b, a);
BOOST_HANA_ADAPT_STRUCT(full_by_default, n, list, map);
BOOST_HANA_ADAPT_STRUCT(number_or_absent, n);
BOOST_HANA_ADAPT_STRUCT(null_or_absent, n);

namespace {

TEST_CASE("numbers and text that mean the same have one form; what differs has another") {
    CHECK(form(in_this_order()) == form(in_that_order()));
    CHECK(form(1.0) == form(1));
    CHECK(form(1e0) == form(1));
    CHECK(form(std::vector<std::string>{"\u0041"}) == form(std::vector<std::string>{"A"}));
    CHECK(form(-0.0) == form(0.0));
    CHECK(codec<double>::decode(form(-0.0)).value() == -0.0);

    CHECK(form(std::vector<int>{1}) != form(std::vector<std::string>{"1"}));
    CHECK(form(null_or_absent{std::optional<int>()}) == R"({"n":null})");
    CHECK(form(null_or_absent{}) == "{}");
    CHECK(form(std::vector<int>{1, 2}) != form(std::vector<int>{2, 1}));
    CHECK(form(std::int64_t{9007199254740993}) != form(std::int64_t{9007199254740992}));
    CHECK(form(1.0) != form(1.0000000001));
    CHECK(form(std::vector<std::string>{"\u00e9"}) != form(std::vector<std::string>{"e\u0301"}));
}

TEST_CASE("what has no form is refused when it is written") {
    constexpr double infinite = std::numeric_limits<double>::infinity();
    for (double const bad : {std::nan(""), infinite, -infinite}) {
        CHECK(codec<double>::encode(bad).error().rule() == rule::malformed_request);
        CHECK(codec<float>::encode(static_cast<float>(bad)).error().rule() ==
              rule::malformed_request);
    }
    for (std::string const& bad : {"\xed\xa0\x80"s, "\xc0\x80"s, "\xff"s, "a\xc3"s}) {
        CHECK(codec<address>::encode({bad, 0}).error().rule() == rule::malformed_request);
        CHECK(codec<std::map<std::string, int>>::encode({{bad, 0}}).error().rule() ==
              rule::malformed_request);
    }
    CHECK(form(address{"\0"s, 0}) == R"({"city":"\u0000","zip":0})");
    CHECK(round_trip(address{"\0"s, 0}));
}

TEST_CASE("the bytes of a member's own codec must be text") {
    CHECK(form(std::vector<raw>{{"a\"b"}}) == R"(["a\"b"])");
    CHECK(round_trip(std::vector<raw>{{"a\"b"}}));
    CHECK(codec<std::vector<raw>>::encode({{"\xff"}}).error().rule() == rule::malformed_request);
    error const its_own = codec<std::vector<raw>>::encode({{""}}).error();
    CHECK(its_own.rule() == rule::malformed_request);
    CHECK(its_own.detail() == "refused by its own codec");
}

TEST_CASE("an error names the member and never holds its value") {
    order o = example();
    o.stops["canary"] = {"canary\xff", 1};
    error const refused_text = codec<order>::encode(o).error();
    CHECK(refused_text.detail() == "stops.city: not well-formed UTF-8");
    o = example();
    o.to.city = "canary\xff";
    CHECK(codec<order>::encode(o).error().detail() == "to.city: not well-formed UTF-8");
    o = example();
    o.price = std::nan("");
    CHECK(codec<order>::encode(o).error().detail() == "price: not a finite number");
    CHECK(codec<double>::encode(o.price).error().detail() == "not a finite number");
    CHECK(codec<order>::decode(R"({"at":canary)").error().detail() == "at byte 6");
}

TEST_CASE("reading takes only the bytes that writing makes") {
    CHECK(codec<address>::decode(R"({"city":"A","zip":1})").has_value());
    for (std::string_view const other : {R"({"zip":1,"city":"A"})",
                                         R"({"city":"A"})",
                                         R"({"zip":1})",
                                         R"({})",
                                         R"({"city":"A","zip":1,"x":1})",
                                         R"({"a":1,"city":"A","zip":1})",
                                         R"({"city":"A","city":"A","zip":1})",
                                         R"({"city":"A","zip":1,"zip":1})",
                                         R"({"city":"A","zip":1,})",
                                         R"({,"city":"A","zip":1})",
                                         R"({"city":"A" ,"zip":1})",
                                         R"({"city": "A","zip":1})",
                                         R"( {"city":"A","zip":1})",
                                         R"({"city":"A","zip":1} )",
                                         R"({"city":"A","zip":1}})",
                                         R"({"city":"A","zip":65536})",
                                         R"({"city":"A","zip":-1})",
                                         R"({"city":"A","zip":1.0})",
                                         R"({"city":"A","zip":01})",
                                         R"({"city":"A","zip":"1"})",
                                         R"({"city":"A","zip":null})",
                                         R"({"city":null,"zip":1})",
                                         R"({"city":1,"zip":1})",
                                         R"({"c\u0069ty":"A","zip":1})",
                                         R"({"city":"\u0041","zip":1})",
                                         R"(["A",1])",
                                         R"(null)",
                                         R"({"city":"A","zip":1)",
                                         R"({)",
                                         R"()",
                                         R"({'city':'A','zip':1})"}) {
        CHECK_MESSAGE(refused<address>(other), other);
    }
    CHECK(refused<address>("\xef\xbb\xbf"
                           R"({"city":"A","zip":1})"));
    using map = std::map<std::string, int>;
    CHECK(refused<map>(R"({"a":1,"a":2})"));
    CHECK(refused<map>(R"({"b":1,"a":2})"));
    CHECK(refused<std::array<int, 2>>("[1]"));
    CHECK(refused<std::array<int, 2>>("[1,2,3]"));
    CHECK(refused<std::vector<int>>("[1,]"));
    CHECK(refused<std::vector<int>>("[1"));
    CHECK(refused<number_or_absent>(R"({"n":null})"));
    CHECK(refused<bool>("TRUE"));
    CHECK(refused<bool>("truefalse"));
    CHECK(refused<std::optional<int>>("nul"));
}

TEST_CASE("what a struct holds by default does not shine through") {
    full_by_default const empty{std::nullopt, {}, {}};
    CHECK(form(empty) == R"({"list":[],"map":{}})");
    CHECK(round_trip(empty));
    CHECK(round_trip(full_by_default()));
}

TEST_CASE("nesting has a bound, for writing and for reading") {
    auto const nested = [](int levels) { // each level is an object and its list
        tree t;
        for (int i = 1; i < levels; ++i) {
            tree parent;
            parent.children.push_back(std::move(t));
            t = std::move(parent);
        }
        return t;
    };
    CHECK(round_trip(nested(32)));
    error const too_deep = codec<tree>::encode(nested(33)).error();
    CHECK(too_deep.rule() == rule::malformed_request);
    CHECK(too_deep.detail().ends_with("nested too deeply"));

    std::string opened;
    for (int i = 0; i < 100'000; ++i)
        opened += R"({"children":[)";
    CHECK(refused<tree>(opened));
    std::string deeper = form(nested(32));
    deeper.insert(deeper.find("[]") + 1, R"({"children":[],"name":""})");
    CHECK(refused<tree>(deeper));
}

// ---- any value ----------------------------------------------------------------------------------

std::string any_text(seeded_random& random) {
    constexpr std::array<std::string_view, 14> pieces{
        "",     "a",    "Z9 ",      "\"",           "\\",           "/", "\n",
        "\x01", "\x7f", "\xc3\xa9", "\xe2\x82\xac", "\xef\xbf\xbf", "{", "\xf0\x9f\x98\x80"};
    std::string text;
    for (auto n = random.below(4); n > 0; --n)
        text += pieces[random.below(pieces.size())];
    if (random.chance(0.05)) text.push_back('\0');
    return text;
}

template <class I> I any_integer(seeded_random& random) {
    using limits = std::numeric_limits<I>;
    if (random.chance(0.1)) return random.chance(0.5) ? limits::min() : limits::max();
    return static_cast<I>(random.next() >> random.below(64));
}

double any_number(seeded_random& random) {
    double const bits = std::bit_cast<double>(random.next());
    if (random.chance(0.5) && std::isfinite(bits)) return bits;
    return static_cast<double>(random.between(-1'000'000, 1'000'000)) / 100;
}

order any_order(seeded_random& random) {
    order o;
    o.item = any_text(random);
    o.quantity = any_integer<std::int64_t>(random);
    o.price = any_number(random);
    o.weight = static_cast<float>(random.between(-1'000, 1'000)) / 7;
    if (random.chance(0.5)) o.note = any_text(random);
    if (random.chance(0.5)) o.limit.emplace();
    if (o.limit && random.chance(0.5)) *o.limit = any_integer<int>(random);
    for (auto n = random.below(4); n > 0; --n)
        o.flags.push_back(random.chance(0.5));
    for (auto& c : o.colour)
        c = any_integer<std::uint8_t>(random);
    for (auto n = random.below(3); n > 0; --n)
        o.stops[any_text(random)] = {any_text(random), any_integer<std::uint16_t>(random)};
    if (random.chance(0.3)) o.pay = card{any_text(random), random.chance(0.5)};
    if (random.chance(0.3)) o.pay = money{any_integer<std::int64_t>(random)};
    for (auto n = random.below(3); n > 0; --n) {
        o.steps.emplace_back();
        if (random.chance(0.5)) o.steps.back() = any_integer<std::uint64_t>(random);
    }
    o.wait = milliseconds(any_integer<std::int64_t>(random));
    o.at = time_point(milliseconds(any_integer<std::int64_t>(random)));
    o.way = static_cast<side>(any_integer<signed char>(random));
    o.to = {any_text(random), any_integer<std::uint16_t>(random)};
    o.total = {any_integer<std::int64_t>(random)};
    return o;
}

TEST_CASE("100,000 random requests read back equal; damaged, they are refused or are others") {
    std::uint64_t const seed = 2026;
    CAPTURE(seed);
    seeded_random random(seed);
    for (int i = 0; i < (instrumented ? 10'000 : 100'000); ++i) {
        order const o = any_order(random);
        std::string bytes = form(o);
        result<order> const decoded = codec<order>::decode(bytes);
        REQUIRE_MESSAGE(decoded.has_value(), bytes);
        REQUIRE_MESSAGE(decoded.value() == o, bytes);
        REQUIRE(form(decoded.value()) == bytes);

        std::size_t const place = random.below(bytes.size());
        bytes[place] = random.chance(0.5) ? static_cast<char>(random.next())
                                          : R"(0123456789"{}[],:.e-\u)"[random.below(22)];
        result<order> const damaged = codec<order>::decode(bytes);
        REQUIRE((!damaged || form(damaged.value()) == bytes));
    }
}

TEST_CASE("the codec of canonical JSON keeps the laws of codecs") {
    std::vector<order> orders{order(), example()};
    seeded_random random(7);
    for (int i = 0; i < 20; ++i)
        orders.push_back(any_order(random));
    auto const found = testing::check_codec_laws(orders);
    CHECK_MESSAGE(found.hold(), found.report());
    auto const trees =
        testing::check_codec_laws<tree>({{}, {"a", {}}, {"a", {{}}}, {"a", {{"b", {{}, {}}}}}});
    CHECK_MESSAGE(trees.hold(), trees.report());
    auto const numbers = testing::check_codec_laws<double>({0, 1, -1, 0.1, 1e21, 1e-7, 5e-324});
    CHECK_MESSAGE(numbers.hold(), numbers.report());
    auto const choices = testing::check_codec_laws<std::vector<std::optional<bool>>>(
        {{}, {true}, {false}, {std::nullopt}, {true, std::nullopt}});
    CHECK_MESSAGE(choices.hold(), choices.report());
}

// ---- what differs -------------------------------------------------------------------------------

TEST_CASE("members that differ are named, in the order of declaration, without their values") {
    order const a = example();
    CHECK(differing_members(a, a).empty());
    order b = a;
    b.item = "canary";
    b.quantity = 1;
    CHECK(differing_members(a, b) == "item, quantity");
    b = a;
    b.to.city = "canary";
    b.limit.reset(); // absent and null differ
    CHECK(differing_members(a, b) == "limit, to.city");
    CHECK(codec<order>::differing_members(b, a) == "limit, to.city");
    b = a;
    b.stops["canary"] = {};
    b.pay = money{1};
    b.note = "canary";
    b.total.cents += 1;
    CHECK(differing_members(a, b) == "note, stops, pay, total");
    CHECK(differing_members(empty_request(), empty_request()).empty());
    number_or_absent const zero{0.0}, negative_zero{-0.0};
    CHECK(differing_members(zero, negative_zero).empty());
}

template <class T>
concept can_be_compared_by_member = requires(T const& a) { differing_members(a, a); };
static_assert(can_be_compared_by_member<order>);
static_assert(!can_be_compared_by_member<with_a_pointer>);
static_assert(!can_be_compared_by_member<int>);

} // namespace
