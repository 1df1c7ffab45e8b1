// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#include <adapter/simulated_files.hpp>
#include <indoubt/adapter/log_storage.hpp>
#include <indoubt/testing/sample_records.hpp>
#include <indoubt/testing/seeded_random.hpp>
#include <support/instrumented.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

// What was overwritten is given back, and nothing else: while others write, at every power cut, and
// on a disk that is full.

namespace {

using namespace indoubt;
using indoubt::testing::plain_record;
using indoubt::testing::same;
using indoubt::testing::seeded_random;
using tests::few_bytes;
using tests::simulated_disk;

using small_log = basic_log_storage<few_bytes>;
constexpr char const* path = "/journal";

// ---- what a journal should hold -----------------------------------------------------------------

struct contents {
    std::map<std::string, record> records{};
    std::map<std::string, std::string> names{};

    std::size_t unsettled() const {
        std::size_t n = 0;
        for (auto const& [key, r] : records)
            n += is_unsettled(r) ? 1 : 0;
        return n;
    }
};

bool holds(small_log& s, contents const& expected, std::size_t keys) {
    for (std::size_t n = 1; n <= keys; ++n) {
        std::string const key = std::to_string(n);
        auto const found = s.find({"scope", key});
        auto const e = expected.records.find(key);
        bool const there = e != expected.records.end();
        if (!found || found.value().has_value() != there) return false;
        if (there && !same(*found.value(), e->second)) return false;
    }
    std::size_t shown = 0;
    auto const visited = s.visit_unsettled({.most = SIZE_MAX}, [&](record const&) { ++shown; });
    if (!visited || shown != expected.unsettled()) return false;
    return std::ranges::all_of(expected.names, [&](auto const& bound) {
        auto const again = s.bind(bound.first, {"scope", bound.second});
        auto const other = s.bind(bound.first, {"scope", "another"});
        return again && other && again.value() && !other.value();
    });
}

// ---- traffic ------------------------------------------------------------------------------------

/// Operations that begin, are sent, end, and some time later shrink. What a journal that it was
/// played to must hold after each write is remembered.
class traffic {
public:
    explicit traffic(std::uint64_t seed) : random_(seed) {}

    /// Returns: false once something failed.
    bool go(small_log& s, unsigned writes, bool compacts) {
        for (unsigned i = 0; i < writes; ++i) {
            if (!step(s)) return false;
            if (random_.chance(0.6) && !flush(s)) return false;
            if (compacts && i % 40 == 39 && !s.compact()) return false;
        }
        return flush(s);
    }

    contents const& now() const { return after_.back(); }
    std::size_t keys() const { return keys_; }
    /// Whether the journal holds what was told, and of the rest a part that was written first.
    bool allows(small_log& s) const {
        for (std::size_t n = after_.size(); n-- > flushed_;)
            if (holds(s, after_[n], keys_)) return true;
        return false;
    }

private:
    bool flush(small_log& s) {
        if (!s.flush()) return false;
        flushed_ = after_.size() - 1;
        return true;
    }

    bool step(small_log& s) {
        contents next = now();
        bool done = false;
        if (open_.empty() || random_.chance(0.3)) {
            ++keys_;
            record r = plain_record({"scope", std::to_string(keys_)}, keys_, {s.facts().epoch, 1});
            r.written_at = time_point(milliseconds(keys_));
            if (keys_ % 5 == 0) r = with_request(r, std::string(1'200, 'x'));
            open_.push_back(std::to_string(keys_));
            next.records[open_.back()] = r;
            after_.push_back(next);
            done = s.insert(r).has_value();
        } else if (random_.chance(0.2)) {
            std::string const key = open_[random_.below(open_.size())];
            next.names["name of " + key] = key;
            after_.push_back(next);
            done = s.bind("name of " + key, {"scope", key}).has_value();
        } else if (random_.chance(0.1)) {
            done = shrink(s, std::move(next));
        } else {
            std::size_t const which = random_.below(open_.size());
            record& r = next.records[open_[which]];
            version const before = r.version;
            r.version = {s.facts().epoch, before.epoch == s.facts().epoch ? before.counter + 1 : 1};
            r.state = r.state == state_id::pending ? state_id::uncertain
                      : random_.chance(0.3)        ? state_id::in_review
                                                   : state_id::confirmed;
            r.receipt = "version " + std::to_string(r.version.counter);
            record const written = r;
            if (!is_unsettled(r)) open_.erase(open_.begin() + static_cast<std::ptrdiff_t>(which));
            after_.push_back(std::move(next));
            done = s.replace(written, before).has_value();
        }
        return done;
    }

    bool shrink(small_log& s, contents next) {
        std::vector<record> small;
        for (auto const& [key, r] : next.records)
            if (may_shrink(r, time_point(milliseconds(keys_)))) small.push_back(r);
        std::ranges::sort(small, written_earlier);
        small.resize(std::min<std::size_t>(small.size(), 3));
        for (record const& r : small)
            next.records[r.identity().key] = shrunk(r, s.facts().epoch);
        after_.push_back(std::move(next));
        auto const shrank = s.shrink_settled(time_point(milliseconds(keys_)), 3);
        return shrank && shrank.value() == small.size();
    }

    static record with_request(record r, std::string request) {
        intent inside = *r.intent;
        inside.request = std::move(request);
        r.intent = std::make_shared<intent const>(inside);
        return r;
    }

    seeded_random random_;
    std::vector<contents> after_{contents{}};
    std::vector<std::string> open_{};
    std::size_t flushed_ = 0, keys_ = 0;
};

/// The first one in a folder of segments.
std::string first_segment(few_bytes files) {
    auto const names = files.list(path).value();
    for (auto const& name : names)
        if (name.ends_with(".log")) return name;
    return {};
}

TEST_SUITE_BEGIN("log_compaction");

TEST_CASE("what was overwritten is given back, and all that stands is there, now and later") {
    for (std::uint64_t seed = 1; seed <= (instrumented ? 10 : 40); ++seed) {
        CAPTURE(seed);
        simulated_disk disk;
        traffic t(seed);
        {
            auto s = small_log::create(path, few_bytes(disk)).value();
            REQUIRE(t.go(s, 300, false));
            auto const before = disk.used();
            auto const compacted = s.compact();
            REQUIRE_MESSAGE(compacted, compacted.error().message());
            CHECK(disk.used() < before);
            CHECK(holds(s, t.now(), t.keys()));
            REQUIRE(t.go(s, 50, false));
            CHECK(holds(s, t.now(), t.keys()));
        }
        for (int life = 0; life < 3; ++life) {
            CAPTURE(life);
            auto s = small_log::open(path, few_bytes(disk)).value();
            CHECK(holds(s, t.now(), t.keys()));
            REQUIRE(t.go(s, 50, life == 1));
            CHECK(holds(s, t.now(), t.keys()));
        }
    }
}

TEST_CASE("with traffic alone the disk holds no more than a multiple of what stands") {
    simulated_disk disk;
    auto s = small_log::create(path, few_bytes(disk)).value();
    record r = plain_record({"scope", "1"}, 1, {s.facts().epoch, 1});
    REQUIRE(s.insert(r));
    std::uint64_t most = 0;
    for (std::uint32_t n = 2; n < 6'000; ++n) {
        record const before = r;
        r.version.counter = n;
        r.state = state_id::uncertain;
        REQUIRE(s.replace(r, before.version));
        REQUIRE(s.flush());
        most = std::max(most, disk.used());
    }
    // Six thousand versions are 6 MB. A pass begins at 16 small segments, and segments double.
    CHECK(most < 4 * 16 * few_bytes::smallest_segment);
    CHECK(same(*s.find({"scope", "1"}).value(), r));
}

TEST_CASE("wherever the power goes, everything told is there, and what is lost is a suffix") {
    std::uint64_t steps = 0;
    for (std::uint64_t cut = 1;; cut += instrumented ? 5 : 1) {
        CAPTURE(cut);
        simulated_disk disk(cut);
        bool const made = small_log::create(path, few_bytes(disk)).has_value();
        REQUIRE(made);
        disk.lose_power_at(disk.steps() + cut);
        traffic t(11);
        bool whole = false;
        if (auto s = small_log::open(path, few_bytes(disk)); s) whole = t.go(s.value(), 120, true);
        disk.power_cut(cut);
        for (int life = 0; life < 2; ++life) {
            auto s = small_log::open(path, few_bytes(disk));
            REQUIRE_MESSAGE(s.has_value(), s.error().message());
            CHECK(t.allows(s.value()));
            if (life == 1) CHECK(s.value().compact());
            CHECK(t.allows(s.value()));
        }
        if (whole) break;
        REQUIRE(cut < 5'000);
        steps = cut;
    }
    CHECK(steps > 100);
}

TEST_CASE("whatever step fails, everything told is there") {
    for (std::uint64_t failing = 1;; failing += instrumented ? 5 : 1) {
        CAPTURE(failing);
        simulated_disk disk(failing);
        REQUIRE(small_log::create(path, few_bytes(disk)));
        disk.fail_once(disk.steps() + failing);
        traffic t(13);
        auto const last = disk.steps() + failing;
        if (auto s = small_log::open(path, few_bytes(disk)); s) (void)t.go(s.value(), 120, true);
        bool const came_to_it = disk.steps() >= last;
        disk.crash();
        auto s = small_log::open(path, few_bytes(disk));
        REQUIRE_MESSAGE(s.has_value(), s.error().message());
        CHECK(t.allows(s.value()));
        if (!came_to_it) break;
        REQUIRE(failing < 5'000);
    }
}

TEST_CASE("a segment that is missing and was not retired is named") {
    simulated_disk disk;
    traffic t(17);
    {
        auto s = small_log::create(path, few_bytes(disk)).value();
        REQUIRE(t.go(s, 200, true));
        REQUIRE(t.go(s, 150, false));
    }
    std::string const first = first_segment(few_bytes(disk));
    REQUIRE(first != "00000001.log");
    few_bytes files(disk);
    REQUIRE(files.remove(std::string(path) + "/" + first));
    auto const opened = small_log::open(path, few_bytes(disk));
    REQUIRE(opened.has_error());
    CHECK_MESSAGE(opened.error().rule() == rule::journal_damaged, opened.error().message());
    CHECK(std::string(opened.error().detail()).find(first + " at offset 0 is missing") !=
          std::string::npos);
}

TEST_CASE("what has rotted is not written again: the journal ends there, and says where") {
    simulated_disk disk;
    traffic t(19);
    auto s = small_log::create(path, few_bytes(disk)).value();
    REQUIRE(t.go(s, 60, false));
    disk.flip(std::string(path) + "/00000002.log", 8192 + 60, 2);
    auto const compacted = s.compact();
    REQUIRE(compacted.has_error());
    CHECK(compacted.error().rule() == rule::journal_damaged);
    CHECK(std::string(compacted.error().detail()).find("00000002.log at offset 8192") !=
          std::string::npos);
    CHECK_FALSE(s.flush());
}

// ---- what waits ---------------------------------------------------------------------------------

TEST_CASE("what waits for the next flush waits at most a second of the journal's time") {
    simulated_disk disk;
    auto s = small_log::create(path, few_bytes(disk)).value();
    auto const write = [&](std::uint64_t n, std::int64_t at) {
        record r = plain_record({"scope", std::to_string(n)}, n, {s.facts().epoch, 1});
        r.written_at = time_point(milliseconds(at));
        auto const before = disk.steps();
        REQUIRE(s.insert(r));
        return disk.steps() - before;
    };
    CHECK(write(1, 5'000) == 0);
    CHECK(write(2, 6'000) == 0);
    CHECK(write(3, 6'001) == 1); // the two before it
    CHECK(write(4, 7'001) == 0);
    disk.power_cut(1);
    auto again = small_log::open(path, few_bytes(disk)).value();
    CHECK(again.find({"scope", "2"}).value());
    CHECK_FALSE(again.find({"scope", "3"}).value());
}

// ---- a full disk --------------------------------------------------------------------------------

struct more_bytes : few_bytes {
    using few_bytes::few_bytes;
    static constexpr std::size_t smallest_segment = std::size_t{160} << 10;
};

TEST_CASE("on a full disk nothing new is begun, and everything that is open can be settled") {
    simulated_disk disk;
    auto s = basic_log_storage<more_bytes>::create(path, more_bytes(disk)).value();
    disk.set_capacity(disk.used() + 1'000);
    std::vector<record> sent;
    std::optional<error> full;
    for (std::uint64_t n = 1; !full && n < 1'000; ++n) {
        record r = plain_record({"scope", std::to_string(n)}, n, {s.facts().epoch, 1});
        auto const begun = s.insert(r);
        if (!begun) {
            full = begun.error();
            break;
        }
        r.version.counter = 2;
        r.state = state_id::uncertain;
        if (auto const marked = s.replace(r, {s.facts().epoch, 1}); marked) {
            sent.push_back(r);
        } else {
            full = marked.error();
        }
        REQUIRE(s.flush());
    }
    REQUIRE(full);
    CHECK(full->rule() == rule::storage_failed);
    CHECK(full->cause() == ENOSPC);
    CHECK(sent.size() > 3);
    for (record& r : sent) {
        if (r.operation + 16 < sent.back().operation) continue; // each is settled with a flush
        record const before = r;
        r.version.counter = 3;
        r.state = state_id::confirmed;
        r.receipt = "receipt " + r.identity().key;
        CHECK(s.replace(r, before.version));
        CHECK(s.bind(r.receipt, r.identity()));
        CHECK(s.flush());
    }
    disk.set_capacity(UINT64_MAX);
    CHECK(s.insert(plain_record({"scope", "more"}, 5'000, {s.facts().epoch, 1})));
    CHECK(s.flush());
    for (record const& r : sent)
        CHECK(same(*s.find(r.identity()).value(), r));
}

TEST_SUITE_END();

} // namespace
