// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#include <indoubt/policy/codec.hpp>

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

// The smallest codecs, and near misses named by the one thing they lack.

namespace {

using namespace indoubt;

struct archetype {};
struct codec_that_cannot_fail {};
struct codec_without_encode {};
struct codec_without_decode {};
struct codec_that_decodes_without_a_result {};
struct codec_that_decodes_another_type {};
struct codec_of_two_arguments {};
struct no_codec {};

} // namespace

template <> struct indoubt::codec<archetype> {
    static result<std::string> encode(archetype const&) { return std::string(); }
    static result<archetype> decode(std::string_view) { return archetype(); }
};
template <> struct indoubt::codec<codec_that_cannot_fail> {
    static std::string encode(codec_that_cannot_fail const&) { return {}; }
    static codec_that_cannot_fail decode(std::string_view) { return {}; }
};
template <> struct indoubt::codec<codec_without_encode> {
    static result<codec_without_encode> decode(std::string_view);
};
template <> struct indoubt::codec<codec_without_decode> {
    static std::string encode(codec_without_decode const&);
};
template <> struct indoubt::codec<codec_that_decodes_without_a_result> {
    static std::string encode(codec_that_decodes_without_a_result const&);
    static bool decode(std::string_view);
};
template <> struct indoubt::codec<codec_that_decodes_another_type> {
    static std::string encode(codec_that_decodes_another_type const&);
    static result<archetype> decode(std::string_view);
};
template <> struct indoubt::codec<codec_of_two_arguments> {
    static std::string encode(codec_of_two_arguments const&, int);
    static result<codec_of_two_arguments> decode(std::string_view);
};

namespace {

static_assert(encodable<archetype>);
static_assert(encodable<codec_that_cannot_fail>);
static_assert(encodable<std::string>);
static_assert(!encodable<codec_without_encode>);
static_assert(!encodable<codec_without_decode>);
static_assert(!encodable<codec_that_decodes_without_a_result>);
static_assert(!encodable<codec_that_decodes_another_type>);
static_assert(!encodable<codec_of_two_arguments>);
static_assert(!encodable<no_codec>);
static_assert(!encodable<std::vector<int>>, "no codec comes with policy/codec.hpp but text's");

static_assert(explain_codec<archetype>());
static_assert(explain_codec<std::string>());

TEST_CASE("text is stored as it is, whatever its bytes") {
    std::string const bytes("\0\xff{\"\n", 5);
    CHECK(codec<std::string>::encode(bytes) == bytes);
    CHECK(codec<std::string>::decode(bytes).value() == bytes);
    CHECK(codec<std::string>::decode("").value().empty());
}

} // namespace
