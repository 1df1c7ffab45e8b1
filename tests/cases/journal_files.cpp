// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#include <adapter/temporary_folder.hpp>
#include <indoubt/adapter/sqlite_storage.hpp>
#include <scene.hpp>

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <utility>

// A journal file that is not what it was: with the effect at the service and no word of it here,
// "nothing happened yet" would be the one wrong answer.

namespace {

using namespace scene;
using tests::temporary_folder;
namespace fs = std::filesystem;

/// A process on a journal in a file.
using filed = recovery<policies<shop_of<decltype(bare)>, sqlite_storage, exact_fingerprint,
                                bounded_budget, manual_clock>>;

struct desk {
    temporary_folder folder;
    std::string const path = folder / "journal";
    manual_clock clock;
    std::shared_ptr<world> truth = std::make_shared<world>(clock);
    shop_of<decltype(bare)> shop{bare, truth};
    identity const id{"shop", "order-1"};

    /// Null if the journal is refused; why says how.
    std::unique_ptr<filed> start(result<sqlite_storage> journal) {
        if (!journal) {
            why = journal.error().rule();
            return nullptr;
        }
        return std::make_unique<filed>(policies<shop_of<decltype(bare)>, sqlite_storage,
                                                exact_fingerprint, bounded_budget, manual_clock>{
            shop, std::move(journal).value(), {}, plain_budget, clock, {}, {}});
    }
    rule why = rule::none;
};

/// Its effect exists, and the journal says so.
void one_order_was_made(desk& d) {
    auto p = d.start(sqlite_storage::create(d.path));
    REQUIRE(p);
    REQUIRE(p->run(d.id, "one notebook"));
    REQUIRE(d.truth->effects() == 1);
}

void replace_bytes(std::string const& path, std::function<std::string(std::string const&)> change) {
    std::string const before = tests::bytes_of(path);
    std::ofstream(path, std::ios::binary | std::ios::trunc) << change(before);
}

TEST_CASE("a journal that is empty, zeroed, foreign, newer or cut off is refused [J03]") {
    struct damage {
        char const* what;
        rule told;
        std::function<std::string(std::string const&)> done;
    };
    damage const all[] = {
        {"0 bytes", rule::not_a_journal, [](std::string const&) { return std::string(); }},
        {"zeros of the same length", rule::not_a_journal,
         [](std::string const& was) { return std::string(was.size(), '\0'); }},
        {"something else", rule::not_a_journal,
         [](std::string const& was) { return "# settings\n" + std::string(was.size(), '#'); }},
        {"a newer format", rule::newer_format,
         [](std::string const& was) {
             std::string changed = was;
             changed.at(60) = '\x7f'; // user_version, big endian
             return changed;
         }},
        {"its first half", rule::journal_damaged,
         [](std::string const& was) { return was.substr(0, was.size() / 2); }},
    };
    for (auto const& one : all) {
        CAPTURE(one.what);
        desk d;
        one_order_was_made(d);
        replace_bytes(d.path, one.done);
        std::string const found = tests::bytes_of(d.path);
        for (auto open : {&sqlite_storage::open, &sqlite_storage::open_restored}) {
            CHECK_FALSE(d.start(open(d.path, {})));
            CHECK(d.why == one.told);
        }
        CHECK_FALSE(d.start(sqlite_storage::create(d.path)));
        CHECK(d.why == rule::journal_exists);
        CHECK(tests::bytes_of(d.path) == found); // nothing was repaired, nothing was made anew
        CHECK(d.truth->sends() == 1);
        CHECK(d.truth->effects() == 1);
    }
}

TEST_CASE("a journal that is gone is missing, and only an explicit create starts afresh [J03]") {
    desk d;
    one_order_was_made(d);
    fs::rename(d.path, d.folder / "elsewhere");
    CHECK_FALSE(d.start(sqlite_storage::open(d.path)));
    CHECK(d.why == rule::journal_missing);
    CHECK_FALSE(fs::exists(d.path));

    // Whoever creates one says that nothing was done; the look-up still finds it.
    auto p = d.start(sqlite_storage::create(d.path));
    REQUIRE(p);
    auto found = p->run(d.id, "one notebook");
    REQUIRE(found);
    CHECK(found.value().attempts == 0);
    CHECK(d.truth->effects() == 1);
}

TEST_CASE("a new journal is durable, name and all, before the first operation [J03]") {
    desk d;
    {
        auto p = d.start(sqlite_storage::create(d.path));
        REQUIRE(p);
        CHECK_FALSE(d.start(sqlite_storage::create(d.path)));
        CHECK(d.why == rule::journal_exists);
    }
    CHECK(tests::bytes_of(d.path).starts_with("SQLite format 3"));
    CHECK(d.start(sqlite_storage::open(d.path)));
}

} // namespace
