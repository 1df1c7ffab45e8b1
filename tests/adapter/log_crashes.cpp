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
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// What a log makes of damage, power cuts and failures: the table of docs/log_format.md row by row,
// the power gone in the middle of every step, every step failing, bits that turn. Whatever was told
// to be durable is there afterwards, or the journal is refused.

namespace {

using namespace indoubt;
using indoubt::testing::plain_record;
using indoubt::testing::same;
using indoubt::testing::seeded_random;
using tests::few_bytes;
using tests::simulated_disk;
namespace format = detail::log_format;

using small_log = basic_log_storage<few_bytes>;
using folder = detail::log_folder<few_bytes>;

template <class T> rule rule_of(result<T> const& r) {
    return r.has_error() ? r.error().rule() : rule::none;
}
template <class T> std::string detail_of(result<T> const& r) {
    return r.has_error() ? std::string(r.error().detail()) : "no error";
}

// ---- a history, and what of it is there ---------------------------------------------------------

/// A record that is inserted, or replaces the version before it; or a name that is bound to it.
struct write {
    record r;
    std::string name{};

    result<void> apply(small_log& s) const {
        if (!name.empty()) {
            BOOST_OUTCOME_TRY(s.bind(name, r.identity()));
            return success();
        }
        version before = r.version;
        if (--before.counter != 0) return s.replace(r, before);
        BOOST_OUTCOME_TRY(s.insert(r));
        return success();
    }
};

record a_record(std::uint64_t n, std::uint32_t version = 1, state_id state = state_id::pending) {
    record r = plain_record({"scope", std::to_string(n)}, n, {1, version});
    r.state = state;
    r.written_at = time_point(milliseconds(100 * n + version));
    r.receipt = "version " + std::to_string(version);
    if (n % 3 == 0) {
        intent inside = *r.intent;
        inside.request.assign(1'500, 'x'); // so that frames are of several sectors
        r.intent = std::make_shared<intent const>(inside);
    }
    return r;
}

/// After each of these there is a flush.
using history = std::vector<std::vector<write>>;

history a_history() {
    using enum state_id;
    return {
        {{a_record(1)}},
        {{a_record(1, 2, uncertain)}, {a_record(1), "name 1"}},
        {{a_record(2, 1, confirmed)}, {a_record(3)}, {a_record(3, 2, uncertain)}},
        {{a_record(2, 2, in_review)}, {a_record(2), "name 2"}, {a_record(4)}},
        {{a_record(5)}, {a_record(6)}},
        {{a_record(3, 3, confirmed)}, {a_record(2, 3, confirmed)}, {a_record(1, 3, rejected)}},
        {{a_record(2, 4, in_review)}, {a_record(9, 1, uncertain)}},
        {{a_record(7)}},
        {{a_record(6, 2, uncertain)}, {a_record(6, 3, confirmed)}},
    };
}

/// How far a history got before something stopped it.
struct progress {
    std::size_t begun = 0;   ///< so many writes were begun
    std::size_t flushed = 0; ///< and so many told to be durable
    bool failed = false;
};

/// Plays what is not yet written of a history.
void play(small_log& s, history const& all, progress& p, std::size_t from = 0) {
    std::size_t number = 0;
    for (auto const& batch : all) {
        if (number + batch.size() <= from) {
            number += batch.size();
            continue;
        }
        for (write const& w : batch) {
            if (number++ < from) continue;
            p.begun = number;
            if (!w.apply(s)) {
                p.failed = true;
                return;
            }
        }
        if (!s.flush()) {
            p.failed = true;
            return;
        }
        p.flushed = number;
    }
}

std::size_t length_of(history const& all) {
    std::size_t n = 0;
    for (auto const& batch : all)
        n += batch.size();
    return n;
}

struct contents {
    std::map<std::string, record> records;
    std::map<std::string, std::string> names;
};

contents after(history const& all, std::size_t writes) {
    contents c;
    for (auto const& batch : all) {
        for (write const& w : batch) {
            if (writes-- == 0) return c;
            if (w.name.empty()) {
                c.records[w.r.identity().key] = w.r;
            } else {
                c.names[w.name] = w.r.identity().key;
            }
        }
    }
    return c;
}

bool holds(small_log& s, contents const& expected, bool marked = false) {
    std::size_t unsettled = 0;
    for (std::uint64_t n = 1; n <= 9; ++n) {
        std::string const key = std::to_string(n);
        auto const found = s.find({"scope", key});
        auto const e = expected.records.find(key);
        bool const there = e != expected.records.end();
        if (!found || found.value().has_value() != there) return false;
        if (!there) continue;
        record r = e->second;
        r.restored = marked && may_have_gone_on(r);
        if (!same(*found.value(), r)) return false;
        if (is_unsettled(r)) ++unsettled;
    }
    std::size_t shown = 0;
    auto const visited = s.visit_unsettled({}, [&](record const&) { ++shown; });
    if (!visited || shown != unsettled) return false;
    return std::ranges::all_of(expected.names, [&](auto const& bound) {
        auto const again = s.bind(bound.first, {"scope", bound.second});
        auto const other = s.bind(bound.first, {"scope", "another"});
        return again && other && again.value() && !other.value();
    });
}

constexpr std::size_t nothing = SIZE_MAX;

/// After how many writes, of at least so many, the journal is as it is; `nothing` if it never was.
std::size_t stands_after(small_log& s, history const& all, std::size_t least, std::size_t most) {
    for (std::size_t n = most + 1; n-- > least;) {
        contents const c = after(all, n);
        if (holds(s, c)) return n;
    }
    return nothing;
}

// ---- a journal on a simulated disk --------------------------------------------------------------

struct situation {
    static constexpr char const* path = "/journal";

    /// With the whole history, or so many batches of it, and closed.
    explicit situation(history h = a_history(), std::size_t batches = SIZE_MAX)
        : all(std::move(h)) {
        all.resize(std::min(batches, all.size()));
        auto s = small_log::create(path, files()).value();
        progress p;
        play(s, all, p);
        REQUIRE_FALSE(p.failed);
        written = p.flushed;
    }

    few_bytes files() { return few_bytes(disk); }
    result<small_log> open() { return small_log::open(path, files()); }
    static std::string segment(std::uint64_t n) { return path + ("/" + folder::name_of(n)); }
    std::uint64_t last() {
        std::uint64_t n = 0;
        auto const names = files().list(path).value();
        for (auto const& name : names)
            n = std::max(n, folder::number_of(name));
        return n;
    }
    /// Where the frames of a segment begin.
    std::vector<std::size_t> frames(std::uint64_t number) {
        std::string const b = disk.bytes(segment(number));
        auto const nonce = detail::load<std::uint64_t>(b.data() + format::at_nonce);
        std::vector<std::size_t> at;
        for (std::size_t i = format::data; i + format::sector <= b.size(); i += format::sector) {
            auto const f = detail::frame_at(std::string_view(b).substr(i), nonce);
            if (f && f->kind == format::entries) at.push_back(i);
        }
        return at;
    }
    detail::log_frame frame(std::uint64_t number, std::size_t at) {
        std::string const b = disk.bytes(segment(number));
        return *detail::frame_at(std::string_view(b).substr(at),
                                 detail::load<std::uint64_t>(b.data() + format::at_nonce));
    }
    /// Turns a bit of an entry.
    void hurt(std::uint64_t number, std::size_t frame_at) {
        disk.flip(segment(number), frame_at + format::frame_header + 9, 3);
    }
    void hurt_copy(std::uint64_t number, std::size_t frame_at) {
        hurt(number, frame_at + detail::in_whole_sectors(frame(number, frame_at).size));
    }
    void edit(std::uint64_t number, std::function<void(std::string&)> const& how) {
        std::string b = disk.bytes(segment(number));
        how(b);
        disk.put(segment(number), b);
    }

    void check_holds(std::size_t writes) {
        for (int times = 0; times < 2; ++times) {
            auto opened = open();
            REQUIRE_MESSAGE(opened, opened.error().message());
            auto s = std::move(opened).value();
            CHECK(stands_after(s, all, 0, written) == writes);
        }
    }
    void check_refused(rule why, std::string const& where) {
        auto const names = files().list(path).value();
        std::vector<std::string> bytes;
        for (auto const& name : names)
            bytes.push_back(disk.bytes(std::string(path) + "/" + name));
        for (int times = 0; times < 2; ++times) {
            auto const opened = open();
            CHECK(rule_of(opened) == why);
            CHECK(detail_of(opened) == where);
        }
        CHECK(files().list(path).value() == names);
        for (std::size_t i = 0; i < names.size(); ++i)
            CHECK(disk.bytes(std::string(path) + "/" + names[i]) == bytes[i]);
    }
    bool has_torn(std::uint64_t number) { return disk.has(segment(number) + ".torn"); }

    simulated_disk disk;
    history all;
    std::size_t written = 0;
};

TEST_SUITE_BEGIN("log_crashes");

// ---- the table ----------------------------------------------------------------------------------

TEST_CASE("zeros to the end: that is the end") {
    situation j;
    auto const last = j.last();
    j.check_holds(j.written);
    CHECK_FALSE(j.has_torn(last));
}

TEST_CASE("a frame that is not whole, and nothing that proves that it was durable: cut off") {
    SUBCASE("it has no copy, because it holds no evidence") {
        situation j(a_history(), 8);
        auto const last = j.last();
        std::size_t const at = j.frames(last).back();
        REQUIRE(j.frame(last, at).other == 0);
        j.hurt(last, at);
        std::string const torn = j.disk.bytes(j.segment(last)).substr(at);
        j.check_holds(j.written - j.all.back().size());
        std::string const kept = j.disk.bytes(j.segment(last) + ".torn");
        CHECK(kept == torn.substr(0, kept.size()));
        CHECK(torn.find_first_not_of('\0', kept.size()) == std::string::npos);
        std::string const now = j.disk.bytes(j.segment(last));
        CHECK(now.find_first_not_of('\0', at) == std::string::npos);
    }
    SUBCASE("its copy is not whole either") {
        situation j;
        auto const last = j.last();
        std::size_t const at = j.frames(last).back();
        j.hurt_copy(last, at);
        j.hurt(last, at);
        j.check_holds(j.written - j.all.back().size());
        CHECK(j.has_torn(last));
    }
    SUBCASE("it is garbage") {
        situation j;
        auto const last = j.last();
        j.edit(last, [&](std::string& b) { std::fill(b.end() - 700, b.end() - 100, '\xa5'); });
        j.check_holds(j.written);
        CHECK(j.has_torn(last));
    }
}

TEST_CASE("a frame that is not whole, and its copy is: made from it, and written where it was") {
    for (bool last_one : {false, true}) {
        CAPTURE(last_one);
        situation j;
        int copied = 0;
        for (std::uint64_t number = 2; number <= j.last(); ++number) {
            for (std::size_t const at : j.frames(number)) {
                bool const is_last = number == j.last() && at == j.frames(number).back();
                if (j.frame(number, at).other == 0 || last_one != is_last) continue;
                ++copied;
                std::string const before = j.disk.bytes(j.segment(number));
                j.hurt(number, at);
                auto const next = j.last() + 1;
                j.check_holds(j.written);
                CHECK(j.disk.bytes(j.segment(number)) == before);
                for (std::uint64_t n : {next, next + 1}) // both opens
                    j.files().remove(j.segment(n)).value();
            }
        }
        CHECK(copied >= (last_one ? 1 : 4));
    }
}

TEST_CASE("the same, and only the header of the frame is hurt") {
    for (std::size_t byte : {format::at_size, format::at_kind, format::at_sequence,
                             format::at_synced_upto, format::at_other, format::at_checksum}) {
        CAPTURE(byte);
        situation j;
        auto const last = j.last();
        j.disk.flip(j.segment(last), j.frames(last).back() + byte, 1);
        j.check_holds(j.written);
    }
}

TEST_CASE("a frame that is not whole, without a copy, and a later one says that it was durable") {
    situation j(a_history(), 4);
    std::size_t const at = j.frames(2).front();
    SUBCASE("it never had a copy") {
        REQUIRE(j.frame(2, at).other == 0);
        j.hurt(2, at);
        j.check_refused(rule::journal_damaged,
                        j.segment(2) + " at offset 8192 was durable, and is not whole");
    }
    SUBCASE("its copy is hurt, too") {
        std::size_t const second = j.frames(2).at(1);
        j.hurt_copy(2, second);
        j.hurt(2, second);
        j.check_refused(rule::journal_damaged, j.segment(2) + " at offset " +
                                                   std::to_string(second) +
                                                   " was durable, and is not whole");
    }
}

TEST_CASE("a whole frame of another segment: that is the end") {
    situation j(a_history(), 3);
    {
        auto s = j.open().value(); // goes on in segment 3
        REQUIRE(s.insert(a_record(8)));
        REQUIRE(s.flush());
    }
    std::size_t const from = j.frames(2).front();
    std::string const old = j.disk.bytes(j.segment(2)).substr(from, 4 * format::sector);
    std::size_t const to = j.frames(3).back() + format::sector;
    j.edit(3, [&](std::string& b) { b.replace(to, old.size(), old); });
    auto s = j.open().value();
    CHECK(s.find({"scope", "8"}).value());
    CHECK(j.has_torn(3));
}

TEST_CASE("an older frame of the same segment, where the next one would be: that is the end") {
    situation j(a_history(), 3);
    std::size_t const from = j.frames(2).front(), last = j.frames(2).back();
    auto const f = j.frame(2, last);
    std::size_t const to = last + 2 * detail::in_whole_sectors(f.size);
    j.edit(2, [&](std::string& b) { b.replace(to, format::sector, b, from, format::sector); });
    j.check_holds(j.written);
    CHECK(j.has_torn(2));
}

TEST_CASE("a frame is missing, and a later one is there") {
    situation j(a_history(), 4);
    for (std::size_t i = 0; i < 3; ++i) {
        CAPTURE(i);
        std::string const before = j.disk.bytes(j.segment(2));
        std::size_t const from = j.frames(2).at(i), to = j.frames(2).at(i + 1);
        j.edit(2, [&](std::string& b) { b.replace(from, to - from, to - from, '\0'); });
        j.check_refused(rule::journal_damaged, j.segment(2) + " at offset " + std::to_string(from) +
                                                   " was durable, and is not whole");
        j.edit(2, [&](std::string& b) { b = before; });
    }
}

TEST_CASE("a whole frame that does not go on from the one before it") {
    situation j(a_history(), 3);
    std::string const b = j.disk.bytes(j.segment(2));
    auto const nonce = detail::load<std::uint64_t>(b.data() + format::at_nonce);
    auto const sealed = [&](bool evidence, std::uint64_t sequence, std::size_t at) {
        detail::log_draft d;
        d.add(evidence, [&](detail::log_buffer& out) {
            detail::put_whole(out, a_record(9, 1, state_id::uncertain));
        });
        d.seal({nonce, sequence, at, 12'345});
        return std::string(d.bytes().data(), d.bytes().size());
    };
    SUBCASE("in the middle") {
        std::size_t const at = j.frames(2).at(1);
        std::string const other = sealed(true, 2, at);
        j.edit(2, [&](std::string& all) { all.replace(at, other.size(), other); });
        j.check_refused(rule::journal_damaged, j.segment(2) + " at offset " + std::to_string(at) +
                                                   " was durable, and is not whole");
    }
    SUBCASE("as the last one, with a copy: so it was written after another frame") {
        std::size_t const last = j.frames(2).back();
        std::size_t const at = last + 2 * detail::in_whole_sectors(j.frame(2, last).size);
        std::string const other = sealed(true, 4, at);
        j.edit(2, [&](std::string& all) { all.replace(at, other.size(), other); });
        j.check_refused(rule::journal_damaged, j.segment(2) + " at offset " + std::to_string(at) +
                                                   " was durable, and is not whole");
    }
}

TEST_CASE("a header that is not whole") {
    auto const spoil = [](situation& j, std::uint64_t number, std::size_t copy) {
        j.disk.flip(j.segment(number), copy + format::at_epoch, 5);
    };
    SUBCASE("its other copy is") {
        for (std::size_t copy : {std::size_t{0}, format::header_copy}) {
            situation j;
            for (std::uint64_t number = 1; number <= j.last(); ++number)
                spoil(j, number, copy);
            j.check_holds(j.written);
        }
    }
    SUBCASE("neither copy is, and there are frames") {
        situation j;
        auto const last = j.last();
        for (std::size_t copy : {std::size_t{0}, format::header_copy})
            spoil(j, last, copy);
        j.check_refused(rule::journal_damaged, j.segment(last) + " at offset 0 has no header");
        j.edit(last, [&](std::string& b) { b.replace(0, format::data, format::data, '\0'); });
        j.check_refused(rule::journal_damaged, j.segment(last) + " at offset 0 has no header");
    }
    SUBCASE("neither copy is, and there is no frame: it never served") {
        situation j;
        {
            auto const s = j.open().value();
        }
        auto const last = j.last();
        for (std::size_t copy : {std::size_t{0}, format::header_copy})
            spoil(j, last, copy);
        j.check_holds(j.written);
        CHECK(j.last() == last + 1);
    }
    SUBCASE("it is no last segment") {
        situation j;
        {
            auto const s = j.open().value();
        }
        j.edit(2, [&](std::string& b) { b.assign(b.size(), '\0'); });
        j.check_refused(rule::journal_damaged, j.segment(2) + " at offset 0 has no header");
    }
}

TEST_CASE("a file that is shorter than it was made") {
    situation j;
    std::size_t const frame = j.frames(2).back();
    for (std::uint64_t const number : {j.last(), std::uint64_t{2}}) {
        std::string const whole = j.disk.bytes(j.segment(number));
        for (std::size_t size : {std::size_t{0}, std::size_t{512}, format::data - 1}) {
            CAPTURE(size);
            j.disk.put(j.segment(number), whole.substr(0, size));
            j.check_refused(rule::journal_damaged,
                            j.segment(number) + " at offset 0 has no header");
        }
        for (std::size_t size : {format::data, frame, whole.size() - 1}) {
            CAPTURE(size);
            j.disk.put(j.segment(number), whole.substr(0, size));
            j.check_refused(rule::journal_damaged, j.segment(number) + " at offset " +
                                                       std::to_string(size) +
                                                       " is not as long as it was made");
        }
        j.disk.put(j.segment(number), whole);
    }
    j.check_holds(j.written);
}

TEST_CASE("a read that fails is no end: the open is refused, and can be repeated") {
    situation j;
    for (std::uint64_t look = 1;; ++look) {
        CAPTURE(look);
        std::uint64_t const before = j.disk.looks();
        j.disk.fail_looks(before + look, before + look);
        auto const opened = j.open();
        bool const failed_at_all = j.disk.looks() >= before + look;
        j.disk.work_again();
        if (!failed_at_all) {
            CHECK(opened);
            CHECK(look > 8);
            break;
        }
        CHECK(rule_of(opened) == rule::storage_failed);
        CHECK(opened.error().cause() == EIO);
    }
    j.check_holds(j.written);

    std::size_t const last = j.frames(2).back();
    j.disk.make_unreadable(j.segment(2), last);
    CHECK(rule_of(j.open()) == rule::storage_failed);
}

TEST_CASE("a segment that ends earlier than the one after it says") {
    situation j(a_history(), 1);
    {
        auto s = j.open().value();
        REQUIRE(s.insert(a_record(8)));
    }
    j.hurt(2, j.frames(2).back());
    j.check_refused(rule::journal_damaged,
                    j.segment(2) + " at offset 8192 ends earlier than the segment after it says");
}

// ---- a copy that is taken over ------------------------------------------------------------------

TEST_CASE("wherever the power goes while a copy is taken over, what is open in it is marked") {
    for (std::uint64_t step = 1;; step += next_step) {
        CAPTURE(step);
        situation j;
        j.disk.lose_power_at(j.disk.steps() + step);
        bool taken_over = small_log::open_restored(situation::path, j.files()).has_value();
        j.disk.power_cut(step);
        bool const completed = taken_over;
        // Here it is in its place: so it opens as if nothing had been begun, or marked.
        auto s = j.open().value();
        CHECK_FALSE(s.facts().restored);
        bool const marked = holds(s, after(j.all, j.written), true);
        CHECK((marked || holds(s, after(j.all, j.written))));
        if (!completed) continue;
        CHECK(marked);
        CHECK(step > 8);
        break;
    }
}

// ---- the power goes -----------------------------------------------------------------------------

/// The disk with what a power cut at a step left of a history; the seed decides what that is.
struct cut_history {
    cut_history(std::uint64_t step, std::uint64_t seed) : all(a_history()), disk(seed) {
        disk.lose_power_at(step);
        auto s = small_log::create(situation::path, few_bytes(disk));
        created = s.has_value();
        if (s) play(s.value(), all, done);
        completed = s && !done.failed;
        if (completed) return;
        {
            auto const closed = std::move(s);
        }
        disk.power_cut(seed);
    }
    result<small_log> open() { return small_log::open(situation::path, few_bytes(disk)); }

    history all;
    simulated_disk disk;
    progress done{};
    bool created = false, completed = false;
};

TEST_CASE("wherever the power goes, everything told is there, and what is lost is a suffix") {
    std::uint64_t steps = 0, lost = 0, kept = 0;
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
        for (std::uint64_t step = 1;; step += next_step) {
            CAPTURE(seed);
            CAPTURE(step);
            cut_history c(step, 100 * seed + step);
            if (c.completed) {
                steps = step;
                break;
            }
            auto opened = c.open();
            if (!c.created && rule_of(opened) == rule::journal_missing) {
                CHECK(small_log::create(situation::path, few_bytes(c.disk)));
                continue;
            }
            REQUIRE_MESSAGE(opened, opened.error().message());
            std::optional<small_log> s(std::move(opened).value());
            std::size_t const stands = stands_after(*s, c.all, c.done.flushed, c.done.begun);
            REQUIRE(stands != nothing);
            ++(stands == c.done.flushed ? lost : kept);
            auto const epoch = s->facts().epoch;
            CHECK(epoch >= (c.created ? 2 : 1));

            // It goes on, and the rest is there as well.
            progress rest{.begun = stands, .flushed = stands};
            play(*s, c.all, rest, stands);
            CHECK_FALSE(rest.failed);
            s.reset();
            s.emplace(c.open().value());
            CHECK(s->facts().epoch > epoch);
            CHECK(holds(*s, after(c.all, length_of(c.all))));
        }
    }
    CHECK(steps > 30);
    CHECK(situation().last() > 2); // the first segment of that life became full on the way
    CHECK(lost > 20);
    CHECK(kept > 20);
}

TEST_CASE("the power goes again while it is opened, and again") {
    int again = 0;
    for (std::uint64_t seed = 1; seed <= 30; ++seed) {
        for (std::uint64_t step = 16;; step += 1 + step % 3) {
            CAPTURE(seed);
            CAPTURE(step);
            cut_history c(step, 1'000 * seed + step);
            if (c.completed) break;
            std::optional<small_log> s;
            for (std::uint64_t times = 0; times < 4; ++times) {
                c.disk.lose_power_at(c.disk.steps() + 1 + (step * 7 + seed * 5 + times) % 12);
                if (c.open()) break;
                c.disk.power_cut(31 * seed + 7 * step + times);
                ++again;
            }
            c.disk.power_cut(seed + step); // an open that succeeded, and wrote nothing
            auto opened = c.open();
            if (!c.created && rule_of(opened) == rule::journal_missing) continue;
            REQUIRE_MESSAGE(opened, opened.error().message());
            s.emplace(std::move(opened).value());
            CHECK(stands_after(*s, c.all, c.done.flushed, c.done.begun) != nothing);
        }
    }
    CHECK(again > 100);
}

TEST_CASE("what is read after a failed write and a new start stays when the power goes then") {
    int found_more = 0;
    for (bool once : {true, false}) {
        for (std::uint64_t seed = 1; seed <= 20; ++seed) {
            for (std::uint64_t step = 1;; step += next_step) {
                CAPTURE(once);
                CAPTURE(seed);
                CAPTURE(step);
                history const all = a_history();
                simulated_disk disk(100 * seed + step);
                progress done;
                auto made = small_log::create(situation::path, few_bytes(disk));
                std::uint64_t const first = disk.steps();
                disk.fail(first + step, once ? first + step : UINT64_MAX);
                play(made.value(), all, done);
                if (!done.failed) break;
                disk.crash();
                std::size_t stands = nothing;
                {
                    auto s = small_log::open(situation::path, few_bytes(disk));
                    REQUIRE_MESSAGE(s, s.error().message());
                    stands = stands_after(s.value(), all, done.flushed, done.begun);
                    REQUIRE(stands != nothing);
                    if (stands > done.flushed) ++found_more;
                    disk.power_cut(seed); // while it is open
                }
                auto s = small_log::open(situation::path, few_bytes(disk));
                REQUIRE_MESSAGE(s, s.error().message());
                CHECK(holds(s.value(), after(all, stands)));
            }
        }
    }
    CHECK(found_more > 10);
}

// ---- steps that fail ----------------------------------------------------------------------------

TEST_CASE("whatever step fails, nothing succeeds after it, and what was told is there") {
    for (bool once : {true, false}) {
        for (std::uint64_t step = 1;; step += next_step) {
            CAPTURE(once);
            CAPTURE(step);
            history const all = a_history();
            simulated_disk disk(step);
            auto s = std::optional(small_log::create(situation::path, few_bytes(disk)).value());
            std::uint64_t const first = disk.steps();
            disk.fail(first + step, once ? first + step : UINT64_MAX);
            progress done;
            play(*s, all, done);
            if (!done.failed) {
                CHECK(step > 12);
                break;
            }
            record const r = a_record(8);
            for (rule why :
                 {rule_of(s->insert(r)), rule_of(s->replace(r, r.version)),
                  rule_of(s->find(r.identity())), rule_of(s->is_current(r.identity(), r.version)),
                  rule_of(s->bind("name", r.identity())), rule_of(s->flush()),
                  rule_of(s->visit_unsettled({}, [](record const&) {}))})
                CHECK(why == rule::storage_failed);
            std::uint64_t const steps = disk.steps();
            s.reset();
            CHECK(disk.steps() == steps); // and closing it writes nothing
            disk.work_again();
            auto opened = small_log::open(situation::path, few_bytes(disk));
            REQUIRE_MESSAGE(opened, opened.error().message());
            CHECK(stands_after(opened.value(), all, done.flushed, done.begun) != nothing);
        }
    }
}

TEST_CASE("an open that fails at any step can be repeated") {
    for (bool torn : {false, true}) {
        for (std::uint64_t step = 1;; step += next_step) {
            CAPTURE(torn);
            CAPTURE(step);
            situation j;
            if (torn) {
                j.hurt(j.last(), j.frames(j.last()).back()); // made from its copy
                j.edit(j.last(), [](std::string& b) { b.back() = 'x'; });
            }
            std::uint64_t const first = j.disk.steps();
            j.disk.fail_once(first + step);
            auto const opened = j.open();
            bool const failed_at_all = j.disk.steps() >= first + step;
            j.disk.work_again();
            if (!failed_at_all) {
                CHECK(opened);
                CHECK(step > 8);
                break;
            }
            // Only what an earlier attempt may have left is removed in passing.
            if (!opened) CHECK(rule_of(opened) == rule::storage_failed);
            if (opened) continue;
            j.check_holds(j.written);
        }
    }
}

TEST_CASE("a creation that fails at any step leaves the path free, or a whole journal") {
    for (std::uint64_t step = 1;; step += next_step) {
        CAPTURE(step);
        simulated_disk disk(step);
        disk.fail_once(step);
        auto made = small_log::create(situation::path, few_bytes(disk));
        if (made) {
            CHECK(step > 15);
            break;
        }
        CHECK(rule_of(made) == rule::storage_failed);
        CHECK(made.error().cause() == EIO);
        auto const again = disk.has(situation::path)
                               ? small_log::open(situation::path, few_bytes(disk))
                               : small_log::create(situation::path, few_bytes(disk));
        CHECK_MESSAGE(again, again.error().message());
    }
}

TEST_CASE(
    "a full disk refuses what is new: what was told is there, and it goes on with more room") {
    std::uint64_t needed = 0;
    {
        situation j;
        needed = j.disk.used();
    }
    int failed = 0;
    for (std::uint64_t room = 0; room <= needed; room += 6 * 1024 + 512) {
        CAPTURE(room);
        history const all = a_history();
        simulated_disk disk;
        disk.set_capacity(room);
        progress done;
        bool created = false;
        {
            auto s = small_log::create(situation::path, few_bytes(disk));
            created = s.has_value();
            if (s) play(s.value(), all, done);
            if (!s) CHECK(s.error().cause() == ENOSPC);
            if (s && done.failed) CHECK(s.value().flush()); // what came before has room
        }
        disk.set_capacity(UINT64_MAX);
        failed += !created || done.failed ? 1 : 0;
        if (!created) {
            // It was made, and then had no room for the segment of its first life.
            if (disk.has(situation::path)) CHECK(small_log::open(situation::path, few_bytes(disk)));
            continue;
        }
        auto s = small_log::open(situation::path, few_bytes(disk)).value();
        std::size_t const stands = stands_after(s, all, done.flushed, done.begun);
        REQUIRE(stands != nothing);
        progress rest{.begun = stands, .flushed = stands};
        play(s, all, rest, stands);
        CHECK_FALSE(rest.failed);
    }
    CHECK(failed > 5);
}

// ---- bits that turn -----------------------------------------------------------------------------

TEST_CASE("whichever bit turns, what was told is there, or the journal is refused") {
    // Its last frame holds evidence; then one whose last frame does not.
    std::size_t const step = instrumented ? 149 : 61; // prime, so that each bit of a byte comes
    for (std::size_t batches : {SIZE_MAX, std::size_t{8}}) {
        situation j(a_history(), batches);
        auto const last = j.last();
        std::size_t const unproven = batches == SIZE_MAX ? 0 : j.all.back().size();
        contents const whole = after(j.all, j.written);
        contents const shorter = after(j.all, j.written - unproven);
        std::map<std::string, std::string> good;
        for (std::uint64_t n = 1; n <= last; ++n)
            good[j.segment(n)] = j.disk.bytes(j.segment(n));
        unsigned as_it_was = 0, refused = 0, cut = 0;
        for (auto const& [path, bytes] : good) {
            for (std::size_t bit = 0; bit < 8 * bytes.size(); bit += step) {
                bool const empty = bit > 8 * format::data && bytes[bit / 8] == 0;
                if (empty && bit % 11 != 0) continue; // there are many of these
                CAPTURE(path);
                CAPTURE(bit);
                j.disk.flip(path, bit / 8, static_cast<unsigned>(bit % 8));
                {
                    auto opened = j.open();
                    if (!opened) {
                        ++refused;
                        bool const fits = rule_of(opened) == rule::journal_damaged ||
                                          rule_of(opened) == rule::not_a_journal;
                        CHECK(fits);
                    } else if (holds(opened.value(), whole)) {
                        ++as_it_was;
                    } else {
                        ++cut;
                        CHECK(unproven != 0);
                        CHECK(holds(opened.value(), shorter));
                    }
                }
                if (j.disk.has(j.segment(last + 1))) j.files().remove(j.segment(last + 1)).value();
                if (j.disk.bytes(path) != bytes) j.disk.put(path, bytes);
            }
        }
        CHECK(as_it_was > 100);
        CHECK(refused > 2);
        CHECK((cut > 2) == (unproven != 0));
    }
}

TEST_SUITE_END();

} // namespace
