// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)

// What the provider of examples/pull_request does with markers, authors, pages and life stages.
// What is there is counted at the forge. The program itself tells whether it went as it should.

#include "../../examples/common/temporary_directory.hpp"
#include "../../examples/pull_request/pull_provider.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace pull_request;
using indoubt::rule;
using indoubt::state_id;
using namespace std::chrono_literals;

struct scene {
    temporary_directory folder{"pull_request"};
    std::filesystem::path file = folder / "forge.db";
    indoubt::memory_storage journal;
    proposal wanted{"parser", "main", "Faster parser", "One pass."};
    pull_provider provider{file, "bot"};

    auto run(std::string key = "k") {
        indoubt::policies<pull_provider&, indoubt::memory_storage&> with{
            .provider = provider, .storage = journal, .budget = few_tries()};
        indoubt::recovery pulls(std::move(with));
        return pulls.run({"bot", std::move(key)}, wanted);
    }
    indoubt::record recorded() {
        auto found = journal.find({"bot", "k"});
        REQUIRE(found);
        REQUIRE(found.value());
        return *found.value();
    }
    std::string remarks() { return recorded().notes_or_none().remarks; }

    std::int64_t put(std::string author, std::string body, std::string head = "parser") {
        return *forge(file).create({.author = std::move(author),
                                    .head = std::move(head),
                                    .base = "main",
                                    .title = "Faster parser",
                                    .body = std::move(body)});
    }
    std::int64_t opened_by_bot() const {
        return database(file).number("SELECT count(*) FROM pulls WHERE author = 'bot'");
    }
};

TEST_SUITE_BEGIN("pull_request");

TEST_CASE("after a lost reply it is found by its marker, merged or not") {
    for (bool const merged : {false, true}) {
        scene s;
        s.provider.goes_wrong = fault::reply_lost;
        s.provider.cannot_list = "closed";
        s.provider.before_call = [&](forge&) { FAIL("nothing is sent before all was listed"); };
        CHECK(s.run().has_error());
        s.provider.cannot_list = "";
        s.provider.before_call = [&](forge&) { s.provider.cannot_list = "closed"; };
        auto const lost = s.run();
        REQUIRE(lost.has_error());
        CHECK(lost.error().rule() == rule::look_up_failed);
        CHECK(lost.error().in_doubt());

        s.provider.cannot_list = "";
        if (merged) forge(s.file).close(1);
        auto const found = s.run();
        REQUIRE(found);
        CHECK(found.value().receipt == 1);
        CHECK(found.value().attempts == 1);
        CHECK(s.opened_by_bot() == 1);
    }
}

TEST_CASE("it is found behind pages of others") {
    scene s;
    for (int i = 0; i != 2 * static_cast<int>(forge::page_size); ++i)
        s.put("ann", "Other work.", "other-" + std::to_string(i));
    s.provider.goes_wrong = fault::reply_lost;
    auto const found = s.run();
    REQUIRE(found);
    CHECK(found.value().receipt == 5);
    CHECK(s.opened_by_bot() == 1);
}

TEST_CASE("'already exists' about our own: the marker says so") {
    scene s;
    s.provider.goes_wrong = fault::repeated;
    auto const found = s.run();
    REQUIRE(found);
    CHECK(found.value().receipt == 1);
    CHECK(s.opened_by_bot() == 1);
}

TEST_CASE("'already exists' about another one's: nothing is confirmed, a person decides") {
    scene s;
    s.provider.before_call = [&](forge&) { s.put("ann", "One pass."); };
    for (int runs = 0; runs != 2; ++runs) {
        auto const done = s.run();
        REQUIRE(done.has_error());
        CHECK(done.error().rule() == rule::existed_before);
        CHECK(done.error().state() == state_id::in_review);
    }
    CHECK(s.remarks() == "candidates: 1");
    CHECK(s.recorded().attempts.size() == 1);
    CHECK(s.opened_by_bot() == 0);
}

TEST_CASE("one that is open at our place stops us before anything is sent; a closed one does not") {
    scene s;
    s.put("ann", "Two passes.");
    auto const done = s.run();
    REQUIRE(done.has_error());
    CHECK(done.error().state() == state_id::in_review);
    CHECK(s.recorded().attempts.empty());
    CHECK(s.opened_by_bot() == 0);

    forge(s.file).close(1);
    CHECK(s.run("another"));
    CHECK(s.opened_by_bot() == 1);
}

TEST_CASE("a stranger's copy of our marker is listed for a person, and never counted") {
    scene s;
    s.provider.goes_wrong = fault::request_lost;
    s.provider.before_call = [&](forge&) { s.put("mallory", with_marker("One pass.", "k"), "x"); };
    for (int runs = 0; runs != 2; ++runs) {
        auto const done = s.run();
        REQUIRE(done.has_error());
        CHECK(done.error().rule() == rule::another_owner);
        CHECK(done.error().in_doubt());
    }
    CHECK(s.remarks() == "candidates: 1");
    CHECK(s.recorded().attempts.size() == 1);
    CHECK(s.opened_by_bot() == 0);
}

TEST_CASE("a stranger's copy beside our own takes nothing from it") {
    scene s;
    s.provider.goes_wrong = fault::reply_lost;
    s.provider.before_call = [&](forge&) { s.put("mallory", with_marker("One pass.", "k"), "x"); };
    auto const found = s.run();
    REQUIRE(found);
    CHECK(found.value().receipt == 2);
    CHECK(s.opened_by_bot() == 1);
}

TEST_CASE("markers of ours that conflict are a contradiction") {
    std::pair<std::vector<std::string>, rule> const bodies[] = {
        // two keys in one text
        {{with_marker(with_marker("One pass.", "k"), "other")}, rule::contents_differ},
        {{with_marker(with_marker("One pass.", "other"), "k")}, rule::contents_differ},
        // our key twice: in one text, and in two
        {{with_marker(with_marker("One pass.", "k"), "k")}, rule::contents_differ},
        {{with_marker("One pass.", "k"), with_marker("One pass.", "k")}, rule::several_effects},
        // our key under another text
        {{with_marker("Two passes.", "k")}, rule::contents_differ},
    };
    for (auto const& [texts, expected] : bodies) {
        scene s;
        s.provider.goes_wrong = fault::request_lost;
        s.provider.before_call = [&](forge& f) {
            for (auto const& text : texts)
                f.close(s.put("bot", text)); // makes room for the next one
        };
        for (int runs = 0; runs != 2; ++runs) {
            auto const done = s.run();
            REQUIRE(done.has_error());
            CHECK(done.error().rule() == expected);
            CHECK(done.error().state() == state_id::in_review);
        }
        CHECK(s.recorded().attempts.size() == 1);
    }
}

TEST_CASE("a text that has a marker already is not sent") {
    scene s;
    s.wanted.body = with_marker("One pass.", "another");
    auto const done = s.run();
    REQUIRE(done.has_error());
    CHECK(done.error().rule() == rule::refused_input);
    CHECK(done.error().state() == state_id::rejected);
    CHECK(forge(s.file).count() == 0);
}

TEST_CASE("a key that could end the comment is refused before anything is recorded") {
    scene s;
    auto const done = s.run("a -->");
    REQUIRE(done.has_error());
    CHECK(done.error().rule() == rule::unfit_key);
    CHECK(forge(s.file).count() == 0);
}

TEST_CASE("without its marker it is still known by its number") {
    scene s;
    REQUIRE(s.run());
    database(s.file).run("UPDATE pulls SET body = 'One pass.', state = 'closed'");
    auto const again = s.run();
    REQUIRE(again);
    CHECK(again.value().receipt == 1);
    CHECK(again.value().before_this_run);
}

TEST_CASE("the marker of an earlier generation is looked for, too") {
    scene s;
    s.put("bot", with_marker("One pass.", "k"));
    std::vector<std::string> const former{"k"};
    indoubt::identity const id{"bot", "k"};
    auto const found = s.provider.lookup({.identity = id,
                                          .key = "k-2",
                                          .request = s.wanted,
                                          .receipt = "",
                                          .time_left = 1s,
                                          .stop = {},
                                          .former_keys = former});
    auto const* all = found.get_if<pull_provider::complete>();
    REQUIRE(all != nullptr);
    REQUIRE(all->effects.size() == 1);
    CHECK(all->effects[0].key == "k");
}

TEST_CASE("a marker is read as it was written, and what is not one stays text") {
    for (std::string const text : {"", "One pass.", "Two\n\nlines.\n", "<!-- indoubt: no end",
                                   "<!-- indoubt: two words -->", "<!-- indoubt: -->"}) {
        auto const marked = read_markers(with_marker(text, "pull/1"));
        CHECK(marked.text == text);
        CHECK(marked.keys == std::vector<std::string>{"pull/1"});
        CHECK(read_markers(text).text == text);
        CHECK(read_markers(text).keys.empty());
    }
    auto const between = read_markers("a<!-- indoubt: k -->b");
    CHECK(between.text == "ab");
    CHECK(between.keys == std::vector<std::string>{"k"});
}

TEST_SUITE_END();

} // namespace
