// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#include <indoubt/adapter/canonical_json_text.hpp>
#include <indoubt/adapter/encoded_key.hpp>
#include <indoubt/adapter/keyed_blake2b_fingerprint.hpp>
#include <indoubt/adapter/keyed_blake2b_key.hpp>
#include <indoubt/adapter/sha256_fingerprint.hpp>
#include <indoubt/adapter/xxh3_fingerprint.hpp>
#include <scene.hpp>

#include <doctest/doctest.h>

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

// The ready-made fingerprints, key mappings and the document codec, under a whole recovery.

namespace {

using namespace scene;

std::array<std::byte, 32> secret_of(unsigned char byte) {
    std::array<std::byte, 32> secret{};
    secret.fill(std::byte(byte));
    return secret;
}

/// A wall that shows everybody the notes on it, each with its key.
struct wall : provider_of<canonical_json_text> {
    struct note {
        std::string key, text;
    };
    static constexpr auto target = "wall";
    static constexpr contract contract = prompt;

    explicit wall(keyed_blake2b_key<> of_keys) : keys(std::move(of_keys)) {}

    std::string key_for(indoubt::identity const& id, unsigned generation) const {
        return keys(id, generation);
    }
    reply submit(attempt const& a) {
        notes->push_back({std::string(a.key()), std::string(a.bytes())});
        return accepted{"note " + std::to_string(notes->size())};
    }
    answer lookup(query const& q) {
        complete found;
        for (std::size_t i = 0; i < notes->size(); ++i) {
            auto const& [key, text] = notes->at(i);
            if (key != q.key) continue;
            // The wall shows documents in a notation of its own.
            found.effects.push_back({.receipt = "note " + std::to_string(i + 1),
                                     .key = key,
                                     .request = canonical_json_text{" " + text + "\n"}});
        }
        return found;
    }

    keyed_blake2b_key<> keys;
    std::shared_ptr<std::vector<note>> notes = std::make_shared<std::vector<note>>();
};

struct at_the_wall {
    template <class Fingerprint>
    auto run(Fingerprint fingerprint, identity const& who, std::string text) {
        recovery<policies<wall, lossy_storage&, Fingerprint, bounded_budget, manual_clock>> process(
            {provider, journal, std::move(fingerprint), plain_budget, clock});
        return process.run(who, canonical_json_text{std::move(text)});
    }

    manual_clock clock;
    lossy_storage journal;
    wall provider{keyed_blake2b_key<>(secret_of(1))};
    identity id{"guest", "note-7"};
};

TEST_SUITE_BEGIN("cases: fingerprints and keys");

TEST_CASE_TEMPLATE("a repeat is the same in any notation, and another document is refused", F,
                   sha256_fingerprint, xxh3_fingerprint, exact_fingerprint) {
    at_the_wall s;
    auto const first = s.run(F(), s.id, R"({"text":"hello","size":12})");
    REQUIRE(first);
    CHECK(s.provider.notes->at(0).text == R"({"size":12,"text":"hello"})");
    auto const again = s.run(F(), s.id, R"({ "size": 12.0, "text": "\u0068ello" })");
    REQUIRE(again);
    CHECK(again.value().before_this_run);
    CHECK(again.value().receipt == first.value().receipt);

    auto const other = s.run(F(), s.id, R"({"text":"hello","size":13})");
    REQUIRE(other.has_error());
    CHECK(other.error().rule() == rule::conflicting_intent);
    CHECK(other.error().detail().find("size") != std::string::npos);
    CHECK(s.provider.notes->size() == 1);
}

/// What the second run of one identity hears, when the first one was given another notation.
rule heard_of(std::string const& first, std::string const& second) {
    at_the_wall s;
    REQUIRE(s.run(exact_fingerprint(), s.id, first));
    auto const again = s.run(exact_fingerprint(), s.id, second);
    CHECK(s.provider.notes->size() == 1);
    if (again) CHECK(again.value().before_this_run);
    return again ? rule::none : again.error().rule();
}

TEST_CASE("what means the same is the same intent, whatever its notation [F01]") {
    CHECK(heard_of(R"({"a":1,"b":2})", R"({"b":2,"a":1})") == rule::none);
    CHECK(heard_of("[1]", "[1.0]") == rule::none);
    CHECK(heard_of("[1]", "[1e0]") == rule::none);
    CHECK(heard_of(R"(["\u00e9"])", "[\"\xc3\xa9\"]") == rule::none);
    CHECK(heard_of("[-0.0]", "[0]") == rule::none);
}

TEST_CASE("what differs is another intent, however little [F01]") {
    CHECK(heard_of("[1]", R"(["1"])") == rule::conflicting_intent);
    CHECK(heard_of(R"({"a":null})", "{}") == rule::conflicting_intent);
    CHECK(heard_of("[1,2]", "[2,1]") == rule::conflicting_intent);
    CHECK(heard_of("[9007199254740993]", "[9007199254740992]") == rule::conflicting_intent);
    CHECK(heard_of("[1]", "[1.0000000001]") == rule::conflicting_intent);
    // A composed accent and a decomposed one: bytes differ.
    CHECK(heard_of("[\"\xc3\xa9\"]", "[\"e\xcc\x81\"]") == rule::conflicting_intent);
}

TEST_CASE("what has no one meaning is refused, and nothing is recorded or sent [F01]") {
    for (std::string const bad : {"[NaN]", "[Infinity]", "[1e400]", R"({"a":1,"a":1})",
                                  R"(["\ud800"])", "[\"\xff\"]", "[1] [2]", ""}) {
        CAPTURE(bad);
        at_the_wall s;
        auto const told = s.run(exact_fingerprint(), s.id, bad);
        REQUIRE(told.has_error());
        CHECK(told.error().rule() == rule::malformed_request);
        CHECK(s.provider.notes->empty());
        CHECK_FALSE(s.journal.find(s.id).value());
    }
}

TEST_CASE("a document without a form is refused before anything is recorded") {
    at_the_wall s;
    auto const bad = s.run(exact_fingerprint(), s.id, R"({"a":1,"a":2})");
    REQUIRE(bad.has_error());
    CHECK(bad.error().rule() == rule::malformed_request);
    CHECK_FALSE(bad.error().in_doubt());
    CHECK(s.provider.notes->empty());
}

TEST_CASE("with another secret, what was recorded before cannot be compared and is not sent") {
    at_the_wall s;
    keyed_blake2b_fingerprint const before(secret_of(1)), after(secret_of(2));
    REQUIRE(s.run(before, s.id, "[1]"));
    CHECK(s.run(before, s.id, "[1.0]"));
    CHECK(s.run(before, s.id, "[2]").error().rule() == rule::conflicting_intent);
    CHECK(s.run(after, s.id, "[1]").error().rule() == rule::incomparable);
    CHECK(s.provider.notes->size() == 1);
    CHECK(s.run(after, {"guest", "note-8"}, "[1]"));
}

TEST_CASE(
    "the service gets the mapped key, which a new secret does not change for old operations") {
    at_the_wall s;
    REQUIRE(s.run(exact_fingerprint(), s.id, "1"));
    std::string const key = s.provider.notes->at(0).key;
    CHECK(key == keyed_blake2b_key<>(secret_of(1))(s.id, 1));
    s.provider.keys = keyed_blake2b_key<>(secret_of(2));
    CHECK(s.run(exact_fingerprint(), s.id, "1").value().before_this_run);
    CHECK(s.run(exact_fingerprint(), {"guest", "note-8"}, "1"));
    REQUIRE(s.provider.notes->size() == 2);
    CHECK(s.provider.notes->at(1).key == keyed_blake2b_key<>(secret_of(2))({"guest", "note-8"}, 1));
}

TEST_SUITE_END();

} // namespace
