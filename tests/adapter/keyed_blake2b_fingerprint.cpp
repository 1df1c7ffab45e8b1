// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#include <indoubt/adapter/keyed_blake2b_fingerprint.hpp>
#include <indoubt/testing/fingerprint_laws.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <memory>
#include <new>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace {

using namespace indoubt;

/// 32 bytes, each one more than the one before.
std::array<std::byte, 32> secret_from(unsigned char first) {
    std::array<std::byte, 32> bytes{};
    for (std::byte& b : bytes)
        b = std::byte(first++);
    return bytes;
}

keyed_blake2b_fingerprint fingerprint_from(unsigned char first) {
    return keyed_blake2b_fingerprint(secret_from(first));
}

using subject = keyed_blake2b_fingerprint;
static_assert(std::constructible_from<subject, std::array<std::byte, 32>>);
static_assert(std::constructible_from<subject, std::span<std::byte const, 32>>);
static_assert(!std::constructible_from<subject, std::array<std::byte, 31>>, "too short");
static_assert(!std::constructible_from<subject, std::array<std::byte, 64>>, "too long");
static_assert(!std::constructible_from<subject, std::vector<std::byte>>, "of any length");
static_assert(!std::constructible_from<subject, std::span<std::byte const>>, "of any length");
static_assert(!std::constructible_from<subject, std::string>, "a password is no secret");
static_assert(!std::default_initializable<subject>, "no secret that everybody knows");
static_assert(std::copyable<subject>);

template <class T>
concept printable_to_a_stream = requires(std::ostream& out, T const& value) { out << value; };
static_assert(!printable_to_a_stream<subject>);

TEST_CASE("the keyed fingerprint keeps the laws of fingerprints") {
    auto const found = testing::check_fingerprint_laws(fingerprint_from(0));
    CHECK_MESSAGE(found.hold(), found.report());
    CHECK(found.checked() > 1'000);
}

TEST_CASE("rule and digest are what any other BLAKE2b makes of the same bytes and secret") {
    // hashlib.blake2b(b'19:indoubt fingerprint6:orders10:{"item":7}', key=bytes(range(32)),
    //                 digest_size=32)
    auto const f = fingerprint_from(0);
    CHECK(detail::hex_of(f.digest({"orders", R"({"item":7})"})) ==
          "9d7b8b62782e7c7c8d3d4d481f9cc22a83f2f4589ae30c4f312ac3b4c5087479");
    // hashlib.blake2b(b'14:indoubt key id', key=bytes(range(32)), digest_size=16)
    CHECK(f.rule() == "keyed_blake2b/1:d0a6213f");
}

TEST_CASE("keyed fingerprints are compared without the stored request") {
    auto const f = fingerprint_from(0);
    std::string const digest = f.digest({"orders", "x"});
    CHECK(f.same(digest, {"orders", ""}, {"orders", "x"}));
    CHECK(f.same(digest, {}, {"orders", "x"}));
    CHECK_FALSE(f.same(digest, {"orders", "x"}, {"orders", "x "}));
    CHECK_FALSE(f.same(digest, {"orders", ""}, {"orders", ""}));
}

TEST_CASE("a digest of another length is the same as nothing") {
    auto const f = fingerprint_from(0);
    content const c{"orders", "x"};
    CHECK_FALSE(f.same("", c, c));
    CHECK_FALSE(f.same(f.digest(c).substr(1), c, c));
    CHECK_FALSE(f.same(f.digest(c) + '\0', c, c));
}

TEST_CASE("another secret is another rule with other digests") {
    auto const f = fingerprint_from(0), other = fingerprint_from(1);
    content const c{"orders", "x"};
    CHECK(f.rule() != other.rule());
    CHECK(f.digest(c) != other.digest(c));
    CHECK_FALSE(other.same(f.digest(c), c, c));
    auto const again = fingerprint_from(0);
    CHECK(f.rule() == again.rule());
    CHECK(again.same(f.digest(c), c, c));
}

TEST_CASE("one bit of the secret changes the digest") {
    auto secret = secret_from(0);
    content const c{"orders", "x"};
    std::string const digest = subject(secret).digest(c);
    for (std::size_t bit = 0; bit < 256; ++bit) {
        auto changed = secret;
        changed[bit / 8] ^= std::byte(1U << bit % 8);
        CHECK_FALSE(subject(changed).same(digest, c, c));
    }
}

TEST_CASE("the secret is copied when it is given, and wiped when its holder is destroyed") {
    auto const held_in = [](std::span<std::byte const> memory, std::span<std::byte const> secret) {
        return !std::ranges::search(memory, secret).empty();
    };
    auto secret = secret_from(0);
    auto const kept = secret;
    content const c{"orders", "x"};
    std::string const digest = subject(secret).digest(c);

    alignas(subject) std::array<std::byte, sizeof(subject)> memory{};
    auto* const f = new (memory.data()) subject(secret);
    secret.fill({});
    CHECK(f->digest(c) == digest);
    CHECK(held_in(memory, kept));
    subject const copy = *f;
    std::destroy_at(f);
    CHECK_FALSE(held_in(memory, kept));
    CHECK_FALSE(held_in(memory, std::span(kept).first(8)));
    CHECK(copy.digest(c) == digest);
    CHECK(copy.rule() == fingerprint_from(0).rule());
}

} // namespace
