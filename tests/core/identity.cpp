// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#include <indoubt/core/identity.hpp>

#include <doctest/doctest.h>

#include <compare>
#include <string>
#include <string_view>

// Which names are names, how they are compared, and how they may be shown.

namespace {

using namespace indoubt;

std::string of(std::size_t bytes) {
    return std::string(bytes, 'k');
}

TEST_CASE("a name is 1 to 255 bytes") {
    CHECK_FALSE(well_formed_name(""));
    CHECK(well_formed_name("k"));
    CHECK(well_formed_name(of(longest_name)));
    CHECK_FALSE(well_formed_name(of(longest_name + 1)));
    static_assert(longest_name == 255);
    // Bytes, not characters: 128 letters of two bytes each are too long.
    std::string letters;
    for (int i = 0; i != 128; ++i)
        letters += "\xc3\xa9";
    CHECK_FALSE(well_formed_name(letters));
    letters.resize(254);
    CHECK(well_formed_name(letters));
}

TEST_CASE("of all 256 bytes a name has no control character, and every other byte") {
    for (int b = 0; b != 256; ++b) {
        CAPTURE(b);
        bool const control = b < 0x20 || b == 0x7f;
        std::string const name = std::string("ab").insert(1, 1, static_cast<char>(b));
        CHECK(well_formed_name(name) == !control);
        CHECK(well_formed_name(std::string(1, static_cast<char>(b))) == !control);
    }
}

TEST_CASE("a control character counts wherever it stands") {
    CHECK_FALSE(well_formed_name("\nkey"));
    CHECK_FALSE(well_formed_name("key\n"));
    CHECK_FALSE(well_formed_name(std::string_view("key\0", 4)));
    CHECK_FALSE(well_formed_name(std::string_view("\0key", 4)));
}

TEST_CASE("an identity needs both names") {
    CHECK(well_formed({"scope", "key"}));
    CHECK_FALSE(well_formed({"", "key"}));
    CHECK_FALSE(well_formed({"scope", ""}));
    CHECK_FALSE(well_formed({"sc\nope", "key"}));
    CHECK_FALSE(well_formed({"scope", "ke\ny"}));
    CHECK_FALSE(well_formed({of(256), "key"}));
    CHECK_FALSE(well_formed({"scope", of(256)}));
    CHECK(well_formed({of(255), of(255)}));
}

TEST_CASE("identities are compared as bytes: no case, no trimming, no normalisation") {
    identity const id{"tenant-7", "order-1"};
    CHECK(id == identity{"tenant-7", "order-1"});
    CHECK(id != identity{"Tenant-7", "order-1"});
    CHECK(id != identity{"tenant-7", "Order-1"});
    CHECK(id != identity{"tenant-7", "order-1 "});
    CHECK(id != identity{"tenant-7 ", "order-1"});
    // One letter, composed and decomposed: two keys.
    CHECK(identity{"s", "caf\xc3\xa9"} != identity{"s", "cafe\xcc\x81"});
    // The border between scope and key counts.
    CHECK(identity{"ab", "c"} != identity{"a", "bc"});
    CHECK(identity{"a", "b"} != identity{"b", "a"});
    CHECK(identity{"s", std::string("k\0a", 3)} != identity{"s", std::string("k\0b", 3)});
}

TEST_CASE("identities are ordered by scope, then by key") {
    CHECK(identity{"a", "z"} < identity{"b", "a"});
    CHECK(identity{"a", "a"} < identity{"a", "b"});
    CHECK(identity{"a", "a"} < identity{"a", "aa"});
    CHECK((identity{"a", "a"} <=> identity{"a", "a"}) == std::strong_ordering::equal);
    CHECK(identity{"a", "\x7f"} < identity{"a", "\x80"}); // bytes are unsigned
}

TEST_CASE("printable ASCII is shown as it is") {
    std::string all;
    for (char c = 0x20; c < 0x5c; ++c)
        all += c;
    CHECK(printable(all) == all);
    CHECK(printable("abc xyz ~") == "abc xyz ~");
    CHECK(printable(std::string_view()).empty());
}

TEST_CASE("every other byte is shown in hexadecimal, and so is the backslash") {
    CHECK(printable("a\nb\tc") == "a\\x0ab\\x09c");
    CHECK(printable(std::string_view("\0\x1f\x7f\x80\xff", 5)) == "\\x00\\x1f\\x7f\\x80\\xff");
    CHECK(printable("caf\xc3\xa9") == "caf\\xc3\\xa9");
    // Nobody can write the escape of another byte.
    CHECK(printable("\\x0a") == "\\x5cx0a");
    // A terminal escape and a forged line.
    CHECK(printable("\x1b[2J") == "\\x1b[2J");
    CHECK(printable("ok\r\n2026-01-01 forged") == "ok\\x0d\\x0a2026-01-01 forged");
}

TEST_CASE("no more than 64 bytes of a name are shown, and it shows where one was cut") {
    CHECK(printable(of(64)) == of(64));
    CHECK(printable(of(65)) == of(64) + "...");
    CHECK(printable(of(255)) == of(64) + "...");
    CHECK(printable(std::string(65, '\n')).size() == 64 * 4 + 3);
    // The cap is on the original's bytes, so no escape is cut in half.
    CHECK(printable(of(63) + "\n") == of(63) + "\\x0a");
}

TEST_CASE("an identity is shown as scope/key, each with its own cap") {
    CHECK(printable(identity{"tenant-7", "order 1\n"}) == "tenant-7/order 1\\x0a");
    CHECK(printable(identity{of(100), of(100)}) == of(64) + ".../" + of(64) + "...");
}

} // namespace
