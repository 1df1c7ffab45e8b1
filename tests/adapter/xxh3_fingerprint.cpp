// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#include <indoubt/adapter/xxh3_fingerprint.hpp>
#include <indoubt/testing/fingerprint_laws.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <string>

namespace {

using namespace indoubt;

TEST_CASE("the XXH3 fingerprint keeps the laws of fingerprints") {
    auto const found = testing::check_fingerprint_laws(xxh3_fingerprint());
    CHECK_MESSAGE(found.hold(), found.report());
    CHECK(found.checked() > 1'000);
}

TEST_CASE("the digest is what XXH3 makes of the same bytes at once, on every machine") {
    CHECK(xxh3_fingerprint::rule() == "xxh3_128/1");
    for (std::size_t const size : {0U, 1U, 16U, 200U, 240U, 241U, 300U, 10'000U}) {
        std::string const request(size, 'r');
        std::string const all = "6:orders" + request;
        XXH128_canonical_t at_once;
        XXH128_canonicalFromHash(&at_once, XXH3_128bits(all.data(), all.size()));
        std::string const digest = xxh3_fingerprint::digest({"orders", request});
        CHECK(digest == std::string(reinterpret_cast<char const*>(at_once.digest), 16));
    }
    // printf '6:orders{"item":7}' | xxhsum -H2
    CHECK(xxh3_fingerprint::digest({"orders", R"({"item":7})"}) ==
          "\x15\xf3\x2a\xf7\xc7\xfd\x1b\xb4\x08\x5b\x89\xa9\x11\x1a\xe4\xbd");
}

TEST_CASE("XXH3 fingerprints are compared without the stored request") {
    std::string const digest = xxh3_fingerprint::digest({"orders", "x"});
    CHECK(xxh3_fingerprint::same(digest, {"orders", ""}, {"orders", "x"}));
    CHECK(xxh3_fingerprint::same(digest, {}, {"orders", "x"}));
    CHECK_FALSE(xxh3_fingerprint::same(digest, {"orders", "x"}, {"orders", "x "}));
    CHECK_FALSE(xxh3_fingerprint::same(digest, {"orders", ""}, {"orders", ""}));
}

TEST_CASE("a digest that XXH3 never makes is the same as nothing") {
    content const c{"orders", "x"};
    CHECK_FALSE(xxh3_fingerprint::same("", c, c));
    CHECK_FALSE(xxh3_fingerprint::same(xxh3_fingerprint::digest(c).substr(1), c, c));
    CHECK_FALSE(xxh3_fingerprint::same(xxh3_fingerprint::digest(c) + '\0', c, c));
}

} // namespace
