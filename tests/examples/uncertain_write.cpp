// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)

// What examples/uncertain_write promises. Whatever the command can show is tested by running it;
// the rest with its provider. The effects are counted at the service, never taken from replies.

#include "../../examples/common/temporary_directory.hpp"
#include "../../examples/uncertain_write/offline_provider.hpp"
#include "spawned.hpp"

#include <indoubt/adapter/sqlite_storage.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

#ifndef UNCERTAIN_WRITE_PROGRAM
#error "UNCERTAIN_WRITE_PROGRAM is the path of the command under test"
#endif

namespace {

using namespace uncertain_write;
using indoubt::rule;
using indoubt::state_id;

constexpr std::string_view confirmed = R"({"effect_id":1,"status":"confirmed"})"
                                       "\n";
constexpr std::string_view stored = R"({"payload":{"item":"notebook"},"target":"demo-orders"})";

bool contains(std::string_view text, std::string_view part) {
    return text.find(part) != std::string_view::npos;
}

struct finished {
    int status = -1; // the exit status; -1 if a signal ended it
    std::string out, err;
};

/// A journal and a service, in files of their own.
struct scene {
    temporary_directory folder{"uncertain_write"};
    std::filesystem::path journal = folder / "journal.db", service = folder / "provider.db";

    /// The command in a process of its own.
    finished command(std::vector<std::string> more = {}) const {
        return wait_for(start(std::move(more), "0"), "0");
    }

    /// The same, not waited for. Each of several at once has a name of its own.
    pid_t start(std::vector<std::string> more, std::string const& name) const {
        std::vector<std::string> words{UNCERTAIN_WRITE_PROGRAM, journal, service, "order-1"};
        words.insert(words.end(), more.begin(), more.end());
        return spawned(std::move(words), folder / ("out" + name), folder / ("err" + name));
    }
    finished wait_for(pid_t child, std::string const& name) const {
        auto const out = folder / ("out" + name), err = folder / ("err" + name);
        int status = 0;
        REQUIRE(::waitpid(child, &status, 0) == child);
        return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, text_of(out), text_of(err)};
    }

    /// The same write with a provider of the test's own, by a program that has just been started.
    template <class Provider> auto run(Provider& provider, std::string item = "notebook") const {
        indoubt::policies<Provider&, indoubt::sqlite_storage> with{
            .provider = provider, .storage = opened(), .budget = few_tries()};
        indoubt::recovery orders(std::move(with));
        return orders.run({"demo", "order-1"}, {{std::move(item)}, offline_provider::target});
    }

    indoubt::record recorded() const {
        auto storage = opened();
        auto found = storage.find({"demo", "order-1"});
        REQUIRE(found);
        REQUIRE(found.value());
        return *found.value();
    }

    std::int64_t effects() const { return offline_provider(service).count(); }
    std::int64_t effects_as_asked() const {
        return database(service).number(
            "SELECT count(*) FROM effects WHERE key = 'order-1' AND request = ?", stored);
    }

private:
    indoubt::sqlite_storage opened() const {
        using indoubt::sqlite_storage;
        auto made = std::filesystem::exists(journal) ? sqlite_storage::open(journal)
                                                     : sqlite_storage::create(journal);
        REQUIRE_MESSAGE(made, made.error().message());
        return std::move(made).value();
    }
    static std::string text_of(std::filesystem::path const& file) {
        std::ifstream in(file);
        return {std::istreambuf_iterator<char>(in), {}};
    }
};

/// The same service, with a documented guarantee. It is true for the faults of these tests alone,
/// which create nothing.
struct retry_safe_provider : offline_provider {
    using offline_provider::offline_provider;
    static constexpr indoubt::contract contract{
        .resend = indoubt::deduplicated_by_key{.window = indoubt::unlimited,
                                               .documented_at = "the fault mode creates nothing"},
        .lookup = indoubt::complete_lookup{}};
};

TEST_SUITE_BEGIN("uncertain_write");

TEST_CASE("a lost acknowledgement is confirmed, with one effect") {
    scene const s;
    for (char const* mode : {"lost", "normal"}) {
        auto const done = s.command({"--mode", mode});
        CHECK(done.status == 0);
        CHECK(done.out == confirmed);
        CHECK(done.err.empty());
    }
    CHECK(s.effects() == 1);
    CHECK(s.effects_as_asked() == 1);
    CHECK(s.recorded().attempts.size() == 1);
}

TEST_CASE("a process that dies after the write is recovered by the next one") {
    scene const s;
    auto const died = s.command({"--mode", "crash"});
    CHECK(died.status == 23);
    CHECK(died.out.empty());
    CHECK(died.err.empty());
    CHECK(s.effects() == 1);
    CHECK(s.recorded().state == state_id::uncertain);

    auto const second = s.command();
    CHECK(second.status == 0);
    CHECK(second.out == confirmed);
    CHECK(s.effects() == 1);
    CHECK(s.effects_as_asked() == 1);
}

TEST_CASE("an outage is not an absence") {
    scene const s;
    auto const down = s.command({"--mode", "unavailable"});
    CHECK(down.status == 2);
    CHECK(down.out.empty());
    CHECK(contains(down.err, "look-up"));
    CHECK(s.effects() == 0);
    CHECK(s.recorded().attempts.empty());

    CHECK(s.command().status == 0); // it was only delayed
    CHECK(s.effects() == 1);
}

TEST_CASE("uncertainty blocks a second write, also after a restart") {
    scene const s;
    auto const first = s.command({"--mode", "no-effect"});
    CHECK(first.status == 2);
    CHECK(first.out.empty());
    CHECK(contains(first.err, "not confirmed"));

    for (int restart = 0; restart != 2; ++restart) {
        auto const healthy = s.command();
        CHECK(healthy.status == 2);
        CHECK(healthy.out.empty());
        CHECK(contains(healthy.err, "without resending"));
    }
    CHECK(s.effects() == 0);
    CHECK(s.recorded().attempts.size() == 1);
}

TEST_CASE("a look-up outage after the write is recovered, without a duplicate") {
    struct goes_down : offline_provider {
        using offline_provider::offline_provider;
        reply submit(attempt const& a) {
            auto answered = offline_provider::submit(a);
            now = mode::unavailable;
            return answered;
        }
    };
    scene const s;
    goes_down provider(s.service);
    auto const down = s.run(provider);
    REQUIRE(!down);
    CHECK(down.error().rule() == rule::look_up_failed);
    CHECK(down.error().in_doubt());
    CHECK(s.effects() == 1);

    provider.now = mode::normal;
    auto const back = s.run(provider);
    REQUIRE(back);
    CHECK(back.value().receipt == 1);
    CHECK(back.value().attempts == 1);
    CHECK(s.effects() == 1);
}

TEST_CASE("a reply of success without a visible effect does not confirm") {
    struct promises : offline_provider {
        using offline_provider::offline_provider;
        reply submit(attempt const&) { return accepted{1}; }
    };
    scene const s;
    promises provider(s.service);
    auto const done = s.run(provider);
    REQUIRE(!done);
    CHECK(done.error().in_doubt());
    CHECK(s.recorded().state != state_id::confirmed);
    CHECK(s.effects() == 0);
}

TEST_CASE("a changed intent and a duplicate match are refused") {
    scene const s;
    REQUIRE(s.command().status == 0);

    offline_provider provider(s.service);
    auto const changed = s.run(provider, "pen");
    REQUIRE(!changed);
    CHECK(changed.error().rule() == rule::conflicting_intent);
    CHECK(s.effects() == 1);

    provider.create("order-1", stored);
    auto const two = s.command();
    CHECK(two.status == 2);
    CHECK(two.out.empty());
    CHECK(contains(two.err, "ambiguous"));
    CHECK(s.effects() == 2);
}

TEST_CASE("a foreign payload under our key does not confirm") {
    for (std::string_view content :
         {"foreign request", R"({"payload":{"item":"pen"},"target":"demo-orders"})",
          R"({"payload":{"item":"notebook"},"target":"other-orders"})"}) {
        scene const s;
        offline_provider(s.service).create("order-1", content);
        auto const done = s.command();
        CHECK(done.status == 2);
        CHECK(done.out.empty());
        CHECK(contains(done.err, "another content"));
        CHECK(s.effects() == 1);
        CHECK(s.recorded().attempts.empty());
    }
}

TEST_CASE("explicitly safe retries are bounded") {
    scene const s;
    retry_safe_provider provider(s.service, mode::no_effect);
    for (int run = 0; run != 2; ++run) {
        auto const done = s.run(provider);
        REQUIRE(!done);
        CHECK(contains(done.error().message(), "exhausted"));
        CHECK(s.recorded().attempts.size() == 3);
    }
    CHECK(s.effects() == 0);
}

TEST_CASE("the bound of safe retries holds over restarts") {
    struct throws : retry_safe_provider {
        using retry_safe_provider::retry_safe_provider;
        reply submit(attempt const&) { throw std::runtime_error("connection lost"); }
    };
    scene const s;
    throws provider(s.service);
    for (unsigned run = 1; run <= 3; ++run) {
        CHECK_THROWS_AS((void)s.run(provider), std::runtime_error);
        CHECK(s.recorded().attempts.size() == run);
    }
    auto const done = s.run(provider);
    REQUIRE(!done);
    CHECK(done.error().rule() == rule::attempts_spent);
    CHECK(s.recorded().attempts.size() == 3);
    CHECK(s.effects() == 0);
}

TEST_CASE("a confirmed effect that is gone is not made again") {
    scene const s;
    REQUIRE(s.command().status == 0);
    SUBCASE("by the command") {
        offline_provider(s.service).clear();
        auto const gone = s.command();
        CHECK(gone.status == 2);
        CHECK(gone.out.empty());
        CHECK(contains(gone.err, "previously confirmed"));
    }
    SUBCASE("even where another send would be safe") {
        retry_safe_provider provider(s.service);
        provider.clear();
        auto const gone = s.run(provider);
        REQUIRE(!gone);
        CHECK(gone.error().rule() == rule::effect_missing);
    }
    CHECK(s.effects() == 0);
    CHECK(s.recorded().attempts.size() == 1);
}

TEST_CASE("what is not a journal is refused, and nothing is written") {
    scene const s;
    std::ofstream(s.journal) << "shopping list";
    auto const done = s.command();
    CHECK(done.status == 2);
    CHECK(done.out.empty());
    CHECK(contains(done.err, "not a journal"));
    CHECK(s.effects() == 0);
}

TEST_CASE("help is no error, a wrong mode is one") {
    scene const s;
    auto const help = s.command({"--help"});
    CHECK(help.status == 0);
    CHECK(contains(help.out, "no-effect"));
    auto const wrong = s.command({"--mode", "none"});
    CHECK(wrong.status == 2);
    CHECK(contains(wrong.err, "--mode"));
    CHECK(!std::filesystem::exists(s.journal));
}

TEST_SUITE_END();

/// Forty processes that want the same order at the same moment.
std::vector<finished> forty_at_once(scene const& s, std::vector<std::string> const& more) {
    std::vector<pid_t> children;
    for (int i = 0; i != 40; ++i)
        children.push_back(s.start(more, std::to_string(i)));
    std::vector<finished> all;
    for (int i = 0; i != 40; ++i) {
        all.push_back(s.wait_for(children[static_cast<std::size_t>(i)], std::to_string(i)));
    }
    return all;
}

TEST_CASE("forty processes at once: each is told the order, or who has the journal") {
    scene const s;
    int told = 0;
    for (auto const& one : forty_at_once(s, {})) {
        if (one.status == 0) {
            CHECK(one.out == confirmed);
            ++told;
        } else {
            CHECK(one.status == 2);
            CHECK(contains(one.err, "the journal is in use"));
        }
    }
    CHECK(told >= 1);
    CHECK(s.effects() == 1);
}

TEST_CASE("forty processes that wait their turn: one order, and all are told of it") {
    scene const s;
    for (auto const& one : forty_at_once(s, {"--wait", "60000"})) {
        CAPTURE(one.err);
        CHECK(one.status == 0);
        CHECK(one.out == confirmed);
    }
    CHECK(s.effects() == 1);
}

} // namespace
