// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#include <indoubt/adapter/sha256_fingerprint.hpp>
#include <indoubt/testing/fingerprint_laws.hpp>

#include <doctest/doctest.h>

#include <openssl/evp.h>

#include <string>

namespace {

using namespace indoubt;

std::string in_hex(std::string const& bytes) {
    std::string hex;
    for (char const c : bytes) {
        auto const byte = static_cast<unsigned char>(c);
        hex += "0123456789abcdef"[byte >> 4];
        hex += "0123456789abcdef"[byte & 15];
    }
    return hex;
}

/// While one lives, OpenSSL finds no implementation of any digest.
struct without_digests {
    without_digests() { REQUIRE(EVP_set_default_properties(nullptr, "provider=nobody") == 1); }
    without_digests(without_digests const&) = delete;
    without_digests& operator=(without_digests const&) = delete;
    ~without_digests() { EVP_set_default_properties(nullptr, ""); }
};

TEST_CASE("the SHA-256 fingerprint keeps the laws of fingerprints") {
    auto const found = testing::check_fingerprint_laws(sha256_fingerprint());
    CHECK_MESSAGE(found.hold(), found.report());
    CHECK(found.checked() > 1'000);
}

TEST_CASE("the digest is what any other SHA-256 makes of the same bytes") {
    CHECK(sha256_fingerprint::rule() == "sha256/1");
    CHECK(sha256_fingerprint::works());
    // printf '6:orders{"item":7}' | sha256sum
    CHECK(in_hex(sha256_fingerprint::digest({"orders", R"({"item":7})"})) ==
          "2252fc23474405803bace1e5563b5ca78721f8d911cc906281ae6c4bb82376cc");
    // printf '0:' | sha256sum
    CHECK(in_hex(sha256_fingerprint::digest({})) ==
          "ba768b331fd86cec803be04e56ab2b3d4c0e98ef4ee4fcd4e72ad7cce61a1d1f");
}

TEST_CASE("SHA-256 fingerprints are compared without the stored request") {
    std::string const digest = sha256_fingerprint::digest({"orders", "x"});
    CHECK(sha256_fingerprint::same(digest, {"orders", ""}, {"orders", "x"}));
    CHECK(sha256_fingerprint::same(digest, {}, {"orders", "x"}));
    CHECK_FALSE(sha256_fingerprint::same(digest, {"orders", "x"}, {"orders", "x "}));
    CHECK_FALSE(sha256_fingerprint::same(digest, {"orders", ""}, {"orders", ""}));
}

TEST_CASE("a digest of another length is the same as nothing") {
    content const c{"orders", "x"};
    std::string const digest = sha256_fingerprint::digest(c);
    CHECK_FALSE(sha256_fingerprint::same("", c, c));
    CHECK_FALSE(sha256_fingerprint::same(digest.substr(1), c, c));
    CHECK_FALSE(sha256_fingerprint::same(digest + '\0', c, c));
}

TEST_CASE("where OpenSSL cannot compute SHA-256, nothing is the same as anything") {
    content const c{"orders", "x"};
    std::string const before = sha256_fingerprint::digest(c);
    {
        without_digests const now;
        CHECK_FALSE(sha256_fingerprint::works());
        CHECK(sha256_fingerprint::digest(c).empty());
        CHECK_FALSE(sha256_fingerprint::same(before, c, c));
        CHECK_FALSE(sha256_fingerprint::same("", c, c));
    }
    CHECK(sha256_fingerprint::works());
    CHECK_FALSE(sha256_fingerprint::same("", c, c));
    CHECK(sha256_fingerprint::same(before, c, c));
}

} // namespace
