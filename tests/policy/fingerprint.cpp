// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#include <indoubt/policy/fingerprint.hpp>

#include <doctest/doctest.h>

#include <string>
#include <string_view>

// The smallest fingerprint, and near misses named by the one thing they lack.

namespace {

using namespace indoubt;

struct archetype {
    std::string_view rule() const { return "archetype/1"; }
    std::string digest(content const&) const { return {}; }
    bool same(std::string_view, content const&, content const&) const { return false; }
};

struct fingerprint_without_rule {
    std::string digest(content const&) const;
    bool same(std::string_view, content const&, content const&) const;
};
struct fingerprint_without_digest {
    std::string_view rule() const;
    bool same(std::string_view, content const&, content const&) const;
};
struct fingerprint_without_same {
    std::string_view rule() const;
    std::string digest(content const&) const;
};
struct fingerprint_with_a_digest_that_dangles {
    std::string_view rule() const;
    std::string_view digest(content const&) const;
    bool same(std::string_view, content const&, content const&) const;
};
struct fingerprint_that_compares_digests_alone {
    std::string_view rule() const;
    std::string digest(content const&) const;
    bool same(std::string_view, std::string_view) const;
};
struct fingerprint_that_changes_when_asked {
    std::string_view rule() const;
    std::string digest(content const&);
    bool same(std::string_view, content const&, content const&) const;
};

static_assert(fingerprint_policy<archetype>);
static_assert(explain_fingerprint<archetype>());
static_assert(!fingerprint_policy<fingerprint_without_rule>);
static_assert(!fingerprint_policy<fingerprint_without_digest>);
static_assert(!fingerprint_policy<fingerprint_without_same>);
static_assert(!fingerprint_policy<fingerprint_with_a_digest_that_dangles>);
static_assert(!fingerprint_policy<fingerprint_that_compares_digests_alone>);
static_assert(!fingerprint_policy<fingerprint_that_changes_when_asked>);
static_assert(!fingerprint_policy<int>);

TEST_CASE("a fingerprint of three functions meets the concept") {
    archetype const smallest;
    CHECK(smallest.rule() == "archetype/1");
    CHECK(smallest.digest({}).empty());
    CHECK_FALSE(smallest.same("", {}, {}));
}

} // namespace
