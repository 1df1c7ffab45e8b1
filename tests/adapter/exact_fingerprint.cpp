// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#include <indoubt/adapter/exact_fingerprint.hpp>
#include <indoubt/testing/fingerprint_laws.hpp>

#include <doctest/doctest.h>

#include <string>

namespace {

using namespace indoubt;

TEST_CASE("the exact fingerprint keeps the laws of fingerprints") {
    auto const found = testing::check_fingerprint_laws(exact_fingerprint());
    CHECK_MESSAGE(found.hold(), found.report());
    CHECK(found.checked() > 1'000);
}

TEST_CASE("the exact fingerprint stores nothing and compares what the journal keeps") {
    CHECK(exact_fingerprint::rule() == "exact/1");
    CHECK(exact_fingerprint::digest({"orders", "a secret"}).empty());
    CHECK(exact_fingerprint::same("", {"orders", "x"}, {"orders", "x"}));
    CHECK_FALSE(exact_fingerprint::same("", {"orders", "x"}, {"orders", "x "}));
    CHECK_FALSE(exact_fingerprint::same("", {"orders", "x"}, {"refunds", "x"}));
}

TEST_CASE("a stored digest that this rule never makes is the same as nothing") {
    CHECK_FALSE(exact_fingerprint::same("digest", {"orders", "x"}, {"orders", "x"}));
}

} // namespace
