// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#include <adapter/other_process.hpp>
#include <adapter/simulated_files.hpp>
#include <adapter/temporary_folder.hpp>
#include <indoubt/adapter/log_storage.hpp>
#include <indoubt/testing/sample_records.hpp>
#include <indoubt/testing/storage_laws.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <thread>
#include <type_traits>
#include <unistd.h>
#include <utility>
#include <vector>

// The laws of a storage; which folders a journal is opened from and who may have it; what is there
// after its owner died; many segments, records and threads.

namespace {

using namespace indoubt;
using namespace std::chrono_literals;
using namespace std::string_view_literals;
using indoubt::testing::full_record;
using indoubt::testing::plain_record;
using indoubt::testing::same;
using tests::bytes_of;
using tests::other_process;
using tests::simulated_disk;
using tests::simulated_files;
using tests::temporary_folder;
using tests::write_bytes;
namespace format = detail::log_format;

static_assert(storage_policy<log_storage>);
static_assert(compares_versions<log_storage>);
static_assert(!std::is_copy_constructible_v<log_storage>);
static_assert(std::is_nothrow_move_constructible_v<log_storage>);
static_assert(std::is_nothrow_move_assignable_v<log_storage>);

record numbered(std::uint64_t n) {
    return plain_record({"scope", std::to_string(n)}, n);
}

record settled(std::uint64_t n) {
    record r = numbered(n);
    r.state = state_id::confirmed;
    return r;
}

record changed(record r) {
    ++r.version.counter;
    r.state = state_id::uncertain;
    r.attempts.emplace_back();
    return r;
}

template <class S> bool holds(S& s, record const& r) {
    auto const found = s.find(r.identity());
    return found && found.value() && same(*found.value(), r);
}

template <class S> bool there(S& s, std::uint64_t n) {
    return s.find({"scope", std::to_string(n)}).value().has_value();
}

template <class T> rule rule_of(result<T> const& r) {
    return r.has_error() ? r.error().rule() : rule::none;
}

template <class T> std::string detail_of(result<T> const& r) {
    return r.has_error() ? std::string(r.error().detail()) : "no error";
}

/// Makes a journal with one flushed record and closes it.
void make_journal(std::string const& path) {
    auto s = log_storage::create(path).value();
    REQUIRE(s.insert(numbered(1)));
    REQUIRE(s.flush());
}

std::string segment(std::string const& journal, std::uint64_t number) {
    return journal + "/" + detail::log_folder<detail::posix_files>::name_of(number);
}

std::vector<std::string> names_in(std::string const& folder) {
    std::vector<std::string> names;
    for (auto const& entry : std::filesystem::directory_iterator(folder))
        names.push_back(entry.path().filename().string());
    std::ranges::sort(names);
    return names;
}

unsigned mode_of(std::string const& path) {
    struct stat s{};
    REQUIRE(::stat(path.c_str(), &s) == 0);
    return s.st_mode & 07777U;
}

/// Copies each file, so that each has other marks.
void copy_journal(std::string const& from, std::string const& to) {
    std::filesystem::copy(from, to, std::filesystem::copy_options::recursive);
    std::filesystem::permissions(to, std::filesystem::perms::owner_all);
}

/// While it lives, temporary folders are on a file system in memory, where direct writes are
/// refused; if the machine has such a place.
class folders_in_memory {
public:
    folders_in_memory() {
        if (char const* const set = std::getenv("TMPDIR"); set != nullptr) before_ = set;
        if (::access("/dev/shm", W_OK) == 0) ::setenv("TMPDIR", "/dev/shm", 1);
    }
    ~folders_in_memory() {
        before_ ? ::setenv("TMPDIR", before_->c_str(), 1) : ::unsetenv("TMPDIR");
    }

private:
    std::optional<std::string> before_;
};

TEST_SUITE_BEGIN("log_storage");

// ---- the laws -----------------------------------------------------------------------------------

/// In a real folder the process cannot die in the middle of a test, and its disk does not fail.
struct on_this_machine {
    log_storage& fresh() {
        open.reset();
        if (number != 0) std::filesystem::remove_all(path());
        ++number;
        return open.emplace(log_storage::create(path()).value());
    }
    log_storage& reopen() {
        open.reset();
        return open.emplace(log_storage::open(path()).value());
    }
    std::string path() const { return folder / std::to_string(number); }

    temporary_folder folder;
    std::optional<log_storage> open{};
    int number = 0;
};

struct on_a_simulated_disk {
    using storage = basic_log_storage<simulated_files>;

    storage& fresh() {
        open.reset();
        disk = std::make_unique<simulated_disk>();
        return open.emplace(storage::create("/journal", simulated_files(*disk)).value());
    }
    storage& reopen() {
        open.reset();
        return open.emplace(storage::open("/journal", simulated_files(*disk)).value());
    }
    storage& crash() {
        disk->crash(); // what the destructor flushes now goes nowhere: its files are no more
        return reopen();
    }
    void fail_next() { disk->fail(disk->steps() + 1); }

    std::unique_ptr<simulated_disk> disk{};
    std::optional<storage> open{};
};

TEST_CASE("keeps the laws of a storage, in a real folder") {
    auto const laws = testing::check_storage_laws(on_this_machine{});
    CHECK_MESSAGE(laws.hold(), laws.report());
    CHECK(laws.checked() > 500);
}

TEST_CASE("keeps the laws of a storage, where direct writes are refused") {
    folders_in_memory const here;
    auto const laws = testing::check_storage_laws(on_this_machine{});
    CHECK_MESSAGE(laws.hold(), laws.report());
    CHECK(laws.checked() > 500);
}

TEST_CASE("keeps the laws of a storage, on a disk that fails and a process that dies") {
    auto const laws = testing::check_storage_laws(on_a_simulated_disk{});
    CHECK_MESSAGE(laws.hold(), laws.report());
    CHECK(laws.checked() > 500);
}

// ---- creating -----------------------------------------------------------------------------------

TEST_CASE("a journal begins with epoch 1, and each open begins the next") {
    temporary_folder const folder;
    CHECK(log_storage::create(folder / "journal").value().facts().epoch == 1);
    for (std::uint32_t epoch = 2; epoch < 5; ++epoch)
        CHECK(log_storage::open(folder / "journal").value().facts().epoch == epoch);
}

TEST_CASE("a new journal is a folder of its own, private to its user") {
    temporary_folder const folder;
    make_journal(folder / "journal");
    CHECK(names_in(folder.path()) == std::vector<std::string>{"journal"});
    std::vector<std::string> const names{"00000001.log", "00000002.log", "lock"};
    CHECK(names_in(folder / "journal") == names);
    CHECK(mode_of(folder / "journal") == 0700);
    for (std::string const& name : names)
        CHECK(mode_of(folder / "journal/" + name) == 0600);
    CHECK(std::filesystem::file_size(segment(folder / "journal", 1)) == format::smallest_segment);
}

TEST_CASE("create refuses every path at which something is") {
    temporary_folder const folder;
    write_bytes(folder / "text", "text");
    std::filesystem::create_directory(folder / "folder");
    std::filesystem::create_symlink(folder / "nowhere", folder / "dangling");
    make_journal(folder / "journal");
    for (std::string const name : {"text", "folder", "dangling", "journal"}) {
        CAPTURE(name);
        auto const made = log_storage::create(folder / name);
        CHECK(rule_of(made) == rule::journal_exists);
        CHECK(detail_of(made) == folder / name + " exists");
    }
    CHECK(bytes_of(folder / "text") == "text");
    CHECK(names_in(folder.path()).size() == 4);
}

TEST_CASE("create refuses what is no name of a folder, and a folder above that is not there") {
    temporary_folder const folder;
    for (std::string const& path :
         {std::string(), folder / "", folder / ".", folder / "..", folder / "a\0b"sv}) {
        CAPTURE(path);
        CHECK(rule_of(log_storage::create(path)) == rule::not_a_journal);
    }
    CHECK(rule_of(log_storage::create(folder / "nowhere/journal")) == rule::journal_missing);
    CHECK(names_in(folder.path()).empty());
}

TEST_CASE("the folder above a journal may be open to others") {
    temporary_folder const folder;
    std::filesystem::create_directory(folder / "open");
    std::filesystem::permissions(folder / "open", std::filesystem::perms(0755));
    make_journal(folder / "open/journal");
    CHECK(log_storage::open(folder / "open/journal"));
}

// ---- opening ------------------------------------------------------------------------------------

TEST_CASE("open refuses what is no journal, and says why") {
    temporary_folder const folder;
    auto const refused = [&](std::string const& name, rule why, std::string_view says) {
        CAPTURE(name);
        auto const opened = log_storage::open(folder / name);
        CHECK(rule_of(opened) == why);
        CAPTURE(detail_of(opened));
        CHECK(detail_of(opened).find(says) != std::string::npos);
        CHECK(rule_of(log_storage::open_restored(folder / name)) == why);
    };
    refused("nowhere", rule::journal_missing, "is missing");
    std::filesystem::create_directory(folder / "empty");
    refused("empty", rule::not_a_journal, "its mode must be 700");
    std::filesystem::permissions(folder / "empty", std::filesystem::perms::owner_all);
    refused("empty", rule::not_a_journal, "has no file named lock");
    write_bytes(folder / "text", "text");
    refused("text", rule::not_a_journal, "is not a folder");

    make_journal(folder / "no segment");
    for (std::uint64_t n : {1U, 2U})
        std::filesystem::remove(segment(folder / "no segment", n));
    refused("no segment", rule::not_a_journal, "holds no segment");

    make_journal(folder / "foreign");
    write_bytes(segment(folder / "foreign", 1), std::string(10'000, 'x'));
    refused("foreign", rule::not_a_journal, "does not begin like a segment of a log");

    make_journal(folder / "short");
    write_bytes(segment(folder / "short", 1), "");
    refused("short", rule::not_a_journal, "does not begin like a segment of a log");

    make_journal(folder / "open to others");
    std::filesystem::permissions(folder / "open to others", std::filesystem::perms(0750));
    refused("open to others", rule::not_a_journal, "its mode must be 700");

    make_journal(folder / "file open to others");
    std::filesystem::permissions(segment(folder / "file open to others", 1),
                                 std::filesystem::perms(0640));
    refused("file open to others", rule::not_a_journal, "its mode must be 600");

    make_journal(folder / "linked");
    std::filesystem::create_hard_link(segment(folder / "linked", 1), folder / "second name");
    refused("linked", rule::not_a_journal, "has a second name");

    make_journal(folder / "symbolic");
    std::filesystem::rename(segment(folder / "symbolic", 2), folder / "elsewhere");
    std::filesystem::create_symlink(folder / "elsewhere", segment(folder / "symbolic", 2));
    refused("symbolic", rule::not_a_journal, "is a symbolic link");
}

/// Changes both copies of a segment's header, and makes their checksums true again.
template <class T> void edit_header(std::string const& path, std::size_t at, T value) {
    std::string bytes = bytes_of(path);
    for (std::size_t const copy : {std::size_t{0}, format::header_copy}) {
        char* const header = bytes.data() + copy;
        detail::store(header + at, value);
        detail::store(header + format::at_header_checksum,
                      std::uint64_t{XXH3_64bits(header, format::at_header_checksum)});
    }
    write_bytes(path, bytes);
}

TEST_CASE("a journal of a newer format is refused, wherever that begins") {
    temporary_folder const folder;
    make_journal(folder / "journal");
    for (std::uint64_t number : {1U, 2U}) {
        std::string const path = segment(folder / "journal", number), bytes = bytes_of(path);
        auto const refused = [&](std::size_t at, auto value) {
            CAPTURE(at);
            edit_header(path, at, value);
            auto const opened = log_storage::open(folder / "journal");
            CHECK(rule_of(opened) == rule::newer_format);
            CHECK(detail_of(opened) == path + " is newer");
            write_bytes(path, bytes);
        };
        refused(format::at_major, std::uint16_t{format::major + 1});
        refused(format::at_incompatible, std::uint32_t{1});
        refused(format::at_sector, std::uint32_t{4096});
    }
    CHECK(log_storage::open(folder / "journal"));
}

TEST_CASE("a later minor version and ignorable bits are read") {
    temporary_folder const folder;
    make_journal(folder / "journal");
    edit_header(segment(folder / "journal", 1), format::at_minor, std::uint16_t{7});
    // The segment after it knows the first one by its checksum: it is a journal of one segment.
    std::filesystem::remove(segment(folder / "journal", 2));
    edit_header(segment(folder / "journal", 1), format::at_ignorable, std::uint32_t{1});
    CHECK(log_storage::open_restored(folder / "journal"));
}

TEST_CASE("a segment that is missing is noticed, the first one as well") {
    for (std::uint64_t number : {1U, 2U}) {
        CAPTURE(number);
        temporary_folder const folder;
        make_journal(folder / "journal");
        CHECK(log_storage::open(folder / "journal")); // begins a third one
        std::filesystem::remove(segment(folder / "journal", number));
        auto const opened = log_storage::open(folder / "journal");
        CHECK(rule_of(opened) == rule::journal_damaged);
        CHECK(detail_of(opened) == segment(folder / "journal", number) + " at offset 0 is missing");
    }
}

TEST_CASE("damage is refused, and the place is named") {
    temporary_folder const folder;
    {
        auto s = log_storage::create(folder / "journal").value();
        for (std::uint64_t n = 1; n <= 2; ++n) {
            REQUIRE(s.insert(numbered(n)));
            REQUIRE(s.flush());
        }
    }
    std::string const path = segment(folder / "journal", 2);
    std::string bytes = bytes_of(path);
    bytes[format::data + format::frame_header + 20] ^= 1;
    write_bytes(path, bytes);
    auto const opened = log_storage::open(folder / "journal");
    CHECK(rule_of(opened) == rule::journal_damaged);
    CHECK(detail_of(opened) == path + " at offset 8192 was durable, and is not whole");
    CHECK(bytes_of(path) == bytes);
}

// ---- copies -------------------------------------------------------------------------------------

TEST_CASE("a journal may be renamed, and moved on its file system") {
    temporary_folder const folder;
    make_journal(folder / "journal");
    std::filesystem::create_directory(folder / "folder");
    std::filesystem::rename(folder / "journal", folder / "folder/moved");
    auto s = log_storage::open(folder / "folder/moved").value();
    CHECK(there(s, 1));
    CHECK_FALSE(s.facts().restored);
}

TEST_CASE("a copy is refused until it is taken over: then what is not settled says so") {
    temporary_folder const folder;
    record const pending = numbered(1), uncertain = changed(numbered(2)), done = settled(3);
    {
        auto s = log_storage::create(folder / "journal").value();
        for (record const& r : {pending, uncertain, done})
            REQUIRE(s.insert(r));
    }
    copy_journal(folder / "journal", folder / "copy");
    auto const opened = log_storage::open(folder / "copy");
    CHECK(rule_of(opened) == rule::restored_copy);
    CHECK(detail_of(opened).starts_with(folder / "copy" + " was copied or restored"));

    auto const marked = [](record r) {
        r.restored = true;
        return r;
    };
    {
        auto s = log_storage::open_restored(folder / "copy").value();
        CHECK(s.facts().restored);
        CHECK(holds(s, marked(pending)));
        CHECK(holds(s, marked(uncertain)));
        CHECK(holds(s, done));
        record cleared = pending;
        ++cleared.version.counter;
        REQUIRE(s.replace(cleared, pending.version));
    }
    auto s = log_storage::open(folder / "copy").value();
    CHECK_FALSE(s.facts().restored);
    CHECK(s.find(pending.identity()).value()->restored == false);
    CHECK(holds(s, marked(uncertain)));
    CHECK(holds(s, done));

    // The original knows nothing of that.
    auto original = log_storage::open(folder / "journal").value();
    CHECK(holds(original, pending));
    CHECK(holds(original, uncertain));
}

TEST_CASE("a journal in its place can be taken over, too, and a copy more than once") {
    temporary_folder const folder;
    make_journal(folder / "journal");
    for (std::uint32_t epoch = 2; epoch < 4; ++epoch) {
        auto s = log_storage::open_restored(folder / "journal").value();
        CHECK(s.facts().epoch == epoch);
        CHECK(s.find({"scope", "1"}).value()->restored);
    }
}

// ---- one owner ----------------------------------------------------------------------------------

TEST_CASE("a second handle of this process is refused by whatever name it comes") {
    temporary_folder const folder;
    auto s = std::optional(log_storage::create(folder / "journal").value());
    std::filesystem::create_symlink(folder.path(), folder / "link");
    for (std::string const& path : {folder / "journal", folder / "./link/journal",
                                    std::filesystem::relative(folder / "journal").string()}) {
        CAPTURE(path);
        auto const second = log_storage::open(path);
        CHECK(rule_of(second) == rule::journal_in_use);
        CHECK(detail_of(second).ends_with("has another owner"));
    }
    REQUIRE(s->insert(numbered(1)));
    CHECK(s->flush());
    s.reset();
    CHECK(log_storage::open(folder / "journal"));
}

TEST_CASE("another process gets the journal once it is closed") {
    temporary_folder const folder;
    auto s = std::optional(log_storage::create(folder / "journal").value());
    other_process other([&](auto const& parent) {
        while (!parent.hear().empty()) {
            auto const opened = log_storage::open(folder / "journal");
            parent(std::string(opened ? "opened" : to_string(opened.error().rule())));
        }
        ::_exit(0);
        return 0;
    });
    auto const tries = [&] {
        other.tell("try");
        return other.hear();
    };
    CHECK(tries() == to_string(rule::journal_in_use));
    s.reset();
    // The child was forked while its parent had the lock, and still has it with that descriptor.
    other.kill();
    other_process again([&](auto tell) {
        tell(log_storage::open(folder / "journal") ? "opened" : "refused");
        return 0;
    });
    CHECK(again.hear() == "opened");
}

TEST_CASE("a forked child cannot use the storage, and harms nothing when it closes it") {
    temporary_folder const folder;
    auto s = std::optional(log_storage::create(folder / "journal").value());
    REQUIRE(s->insert(numbered(1)));
    REQUIRE(s->flush());
    REQUIRE(s->insert(numbered(2)));
    other_process child([&](auto tell) {
        for (rule r :
             {rule_of(s->insert(numbered(3))), rule_of(s->find({"scope", "1"})),
              rule_of(s->flush()), rule_of(s->bind("name", {"scope", "1"})),
              rule_of(s->is_current({"s", "k"}, {})), rule_of(s->replace(numbered(1), {1, 1})),
              rule_of(s->visit_unsettled({}, [](record const&) {}))}) {
            if (r != rule::storage_failed) tell(std::string(to_string(r)));
        }
        s.reset();
        return 0;
    });
    CHECK(child.hear_all().empty());
    CHECK(child.wait() == 0);
    CHECK(there(*s, 2));
    REQUIRE(s->insert(numbered(3)));
    CHECK(s->flush());
    s.reset();
    auto again = log_storage::open(folder / "journal").value();
    CHECK(there(again, 3));
}

TEST_CASE("a program that is started does not inherit the journal") {
    temporary_folder const folder;
    auto s = log_storage::create(folder / "journal").value();
    REQUIRE(s.insert(numbered(1)));
    REQUIRE(s.flush());
    int found = 0;
    for (auto const& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
        std::error_code gone;
        auto const target = std::filesystem::read_symlink(entry, gone).string();
        if (!target.starts_with(folder.path())) continue;
        ++found;
        CHECK((::fcntl(std::stoi(entry.path().filename()), F_GETFD) & FD_CLOEXEC) != 0);
    }
    CHECK(found >= 3); // the lock and two segments
}

// ---- between two lives --------------------------------------------------------------------------

TEST_CASE("closing in order keeps what was not flushed") {
    temporary_folder const folder;
    record r = numbered(1);
    r.written_at = time_point(7ms);
    {
        auto s = log_storage::create(folder / "journal").value();
        REQUIRE(s.insert(r));
    }
    auto s = log_storage::open(folder / "journal").value();
    CHECK(there(s, 1));
    CHECK(s.facts().high_water == r.written_at);
}

TEST_CASE("a segment that is truncated or removed while it is open ends the handle") {
    temporary_folder const folder;
    auto s = log_storage::create(folder / "journal").value();
    REQUIRE(s.insert(numbered(1)));
    std::string const current = segment(folder / "journal", 2);
    std::string what = " was removed while it was open";
    SUBCASE("removed") {
        std::filesystem::remove(current);
    }
    SUBCASE("truncated") {
        std::filesystem::resize_file(current, 5'000);
        what = " was truncated while it was open";
    }
    auto const flushed = s.flush();
    CHECK(rule_of(flushed) == rule::storage_failed);
    CHECK(detail_of(flushed).ends_with(what));
    CHECK(rule_of(s.insert(numbered(2))) == rule::storage_failed);
}

TEST_CASE("a journal that is moved or replaced while it is open ends with its segment") {
    temporary_folder const folder;
    std::optional<log_storage> open(log_storage::create(folder / "journal").value());
    auto& s = *open;
    REQUIRE(s.insert(numbered(1)));
    REQUIRE(s.flush());
    std::filesystem::rename(folder / "journal", folder / "moved");
    SUBCASE("moved") {}
    SUBCASE("replaced") {
        REQUIRE(log_storage::create(folder / "journal"));
    }
    REQUIRE(s.insert(numbered(2)));
    REQUIRE(s.flush()); // to where it is
    auto const compacted = s.compact();
    CHECK(rule_of(compacted) == rule::storage_failed);
    CHECK(detail_of(compacted) ==
          std::string(folder / "journal") + " was moved or replaced while it was open");
    open.reset();
    CHECK(log_storage::open(folder / "moved").value().find(numbered(2).identity()).value());
}

TEST_CASE("it can be moved while it is open, and assigned") {
    temporary_folder const folder;
    auto s = log_storage::create(folder / "one").value();
    REQUIRE(s.insert(numbered(1)));
    auto moved = std::move(s);
    CHECK(there(moved, 1));
    moved = log_storage::create(folder / "two").value(); // closes the first one
    CHECK_FALSE(there(moved, 1));
    auto first = log_storage::open(folder / "one").value();
    CHECK(there(first, 1));
}

TEST_CASE("after a kill everything flushed is there, and nothing else") {
    temporary_folder const folder;
    other_process owner([&](auto tell) {
        auto s = log_storage::create(folder / "journal").value();
        for (std::uint64_t n = 1; n <= 3; ++n)
            s.insert(numbered(n)).value();
        s.flush().value();
        s.insert(numbered(4)).value();
        s.replace(changed(numbered(1)), {1, 1}).value();
        tell("flushed");
        ::pause();
        return 0;
    });
    REQUIRE(owner.hear() == "flushed");
    owner.kill();
    auto s = log_storage::open(folder / "journal").value();
    CHECK(s.facts().epoch == 2);
    CHECK(holds(s, numbered(1)));
    CHECK(there(s, 3));
    CHECK_FALSE(there(s, 4));
}

TEST_CASE("whenever it is killed, what it was told is durable is there") {
    constexpr int kills = 4;
    temporary_folder const folder;
    make_journal(folder / "journal");
    std::uint64_t told = 1;
    for (int n = 0; n < kills; ++n) {
        other_process owner([&](auto tell) {
            auto s = log_storage::open(folder / "journal").value();
            for (std::uint64_t next = told + 1;; ++next) {
                s.insert(numbered(next)).value();
                s.flush().value();
                tell(".");
            }
            return 0;
        });
        told += owner.hear().size();
        ::usleep(static_cast<useconds_t>(n * 137 % 1'000));
        owner.kill();
        told += owner.hear_all().size();
        auto s = log_storage::open(folder / "journal").value();
        CHECK(s.facts().epoch == 3U + 2U * static_cast<unsigned>(n));
        for (std::uint64_t i = 1; i <= told; ++i)
            REQUIRE(there(s, i));
        if (there(s, told + 1)) ++told; // flushed, and killed before it could say so
        CHECK_FALSE(there(s, told + 1));
    }
    CHECK(told > kills);
}

TEST_CASE("a segment that was made ahead, and one that was not finished, are nobody's") {
    temporary_folder const folder;
    make_journal(folder / "journal");
    write_bytes(segment(folder / "journal", 3), std::string(format::smallest_segment, '\0'));
    write_bytes(segment(folder / "journal", 4) + ".new", "unfinished");
    for (std::uint32_t epoch = 2; epoch < 4; ++epoch) {
        auto s = log_storage::open(folder / "journal").value();
        CHECK(s.facts().epoch == epoch);
        CHECK(there(s, 1));
    }
    std::vector<std::string> const names{"00000001.log", "00000002.log", "00000003.log",
                                         "00000004.log", "lock"};
    CHECK(names_in(folder / "journal") == names);
}

TEST_CASE("files that are none of the log's stay as they are") {
    temporary_folder const folder;
    make_journal(folder / "journal");
    for (char const* name : {"notes", "0000000A.log", "00000003.log.torn", "3.log"})
        write_bytes(folder / "journal/" + name, "mine");
    CHECK(log_storage::open(folder / "journal"));
    for (char const* name : {"notes", "0000000A.log", "00000003.log.torn", "3.log"})
        CHECK(bytes_of(folder / "journal/" + name) == "mine");
}

// ---- the format ---------------------------------------------------------------------------------

/// Makes a journal of the file with this name, which lies beside this one.
void make_from_hex(std::string const& journal, std::string_view name) {
    std::filesystem::create_directory(journal);
    std::filesystem::permissions(journal, std::filesystem::perms::owner_all);
    write_bytes(journal + "/lock", "");
    std::istringstream lines(bytes_of(std::filesystem::path(__FILE__).parent_path() / name));
    std::string line, file, bytes;
    auto const finish = [&] {
        if (!file.empty()) write_bytes(journal + "/" + file, bytes);
    };
    while (std::getline(lines, line)) {
        if (line.starts_with('#')) continue;
        std::istringstream words(line);
        std::string first, byte;
        words >> first;
        if (first.ends_with(".log")) {
            finish();
            std::size_t length = 0;
            words >> length;
            file = first;
            bytes.assign(length, '\0');
        } else {
            for (std::size_t at = std::stoul(first, nullptr, 16); words >> byte; ++at)
                bytes.at(at) = static_cast<char>(std::stoi(byte, nullptr, 16));
        }
    }
    finish();
}

/// The order of docs/log_format.md, as it was inserted.
record an_order() {
    record r = plain_record({"shop", "order-1"}, 1);
    r.intent = std::make_shared<intent const>(
        intent{r.identity(), "orders", R"({"item":7})", "f", "exact/1"});
    r.begun_at = r.written_at = time_point(1'700'000'000'000ms);
    return r;
}

TEST_CASE("a journal of format 1 is read as it was written, and goes on") {
    // Made once by the version that brought this format.
    temporary_folder const folder;
    make_from_hex(folder / "journal", "log_format_1.hex");
    record order = an_order();
    order.version = {1, 3};
    order.state = state_id::confirmed;
    order.basis = basis::looked_up;
    order.ever_confirmed = true;
    order.receipt = "r-1";
    order.confirmed_at = order.written_at = order.begun_at + 900ms;
    order.attempts.push_back(
        {.sent_at = order.begun_at + 5ms, .guarantee = {}, .outcome = attempt_outcome_id::applied});
    record const full = full_record({"scope", "key"}, 7, {41, 9});

    CHECK(rule_of(log_storage::open(folder / "journal")) == rule::restored_copy);
    {
        auto opened = log_storage::open_restored(folder / "journal");
        REQUIRE_MESSAGE(opened, opened.error().message());
        auto s = std::move(opened).value();
        CHECK(s.facts().epoch == 2);
        CHECK(s.facts().high_water == order.written_at);
        CHECK(holds(s, order));
        CHECK(holds(s, full));
        CHECK(s.bind("r-1", {"shop", "order-1"}).value());
        CHECK_FALSE(s.bind("r-1", {"shop", "another"}).value());
        REQUIRE(s.insert(numbered(8)));
    }
    auto s = log_storage::open(folder / "journal").value();
    CHECK(holds(s, order));
    CHECK(holds(s, full));
    CHECK(there(s, 8));
}

TEST_CASE("the bytes of format 1 are those of docs/log_format.md") {
    temporary_folder const folder;
    make_from_hex(folder / "journal", "log_format_1.hex");
    std::string const b = bytes_of(segment(folder / "journal", 2));
    CHECK(b.size() == 4U << 20U);
    auto const u16 = [&](std::size_t at) { return detail::load<std::uint16_t>(b.data() + at); };
    auto const u32 = [&](std::size_t at) { return detail::load<std::uint32_t>(b.data() + at); };
    auto const u64 = [&](std::size_t at) { return detail::load<std::uint64_t>(b.data() + at); };

    for (std::size_t const copy : {std::size_t{0}, std::size_t{4096}}) {
        CHECK(b.substr(copy, 16) == "indoubt log\n\x1a\n\0\0"sv);
        CHECK(u16(copy + 16) == 1);        // major
        CHECK(u16(copy + 18) == 0);        // minor
        CHECK(u32(copy + 20) == 0);        // incompatible
        CHECK(u32(copy + 24) == 0);        // ignorable
        CHECK(u32(copy + 28) == 512);      // sector
        CHECK(u64(copy + 48) == 2);        // number
        CHECK(u32(copy + 64) == 1);        // epoch
        CHECK(u32(copy + 68) == 1);        // opened
        CHECK(u64(copy + 96) == 1);        // the segment before
        CHECK(u64(copy + 104) == 8192);    // where it ends
        CHECK(u64(copy + 112) == 0);       // its last frame: it has none
        CHECK(u64(copy + 128) == 0);       // high_water
        CHECK(u64(copy + 136) == 4194304); // length
        CHECK(u64(copy + 144) == XXH3_64bits(b.data() + copy, 144));
    }
    std::string const before = bytes_of(segment(folder / "journal", 1));
    CHECK(u64(120) == detail::load<std::uint64_t>(before.data() + 144));

    struct expected {
        std::size_t at, size;
        unsigned count;
        bool copied;
    };
    std::uint64_t sequence = 0, chain = u64(144);
    for (auto const& [at, size, count, copied] :
         {expected{0x2000, 122, 1, false}, expected{0x2200, 105, 1, true},
          expected{0x2600, 135, 2, true}, expected{0x2a00, 580, 1, true}}) {
        CAPTURE(at);
        CHECK(u32(at) == size);
        CHECK(b[at + 4] == 1); // a frame
        CHECK(b[at + 5] == 0);
        CHECK(u64(at + 8) == u64(56)); // nonce
        CHECK(u64(at + 16) == ++sequence);
        CHECK(u64(at + 24) == at); // synced_upto
        CHECK(u32(at + 40) == count);
        CHECK(u64(at + 48) == (copied ? size : 0));
        std::string head = b.substr(at, 56);
        head.replace(6, 2, 2, '\0');
        head.replace(32, 8, 8, '\0');
        CHECK(u16(at + 6) == (XXH3_64bits(head.data(), 56) & 0xffffU));
        auto const half = XXH3_64bits_withSeed(b.data() + at, 32, chain);
        chain = XXH3_64bits_withSeed(b.data() + at + 40, size - 40, half);
        CHECK(u64(at + 32) == chain);
        if (!copied) continue;
        std::size_t const second = at + detail::in_whole_sectors(size);
        CHECK(u32(second) == size);
        CHECK(b[second + 4] == 2); // a copy
        CHECK(u64(second + 48) == chain);
        CHECK(b.substr(second + 56, size - 56) == b.substr(at + 56, size - 56));
    }
    CHECK(b.find_first_not_of('\0', 0x2e00 + 580) == std::string::npos);

    // And the same records make the same bytes.
    auto const sealed = [&](std::size_t at, std::uint64_t number, std::size_t chain_at,
                            bool evidence, record const& r) {
        detail::log_draft d;
        d.add(evidence, [&](detail::log_buffer& out) { detail::put_whole(out, r); });
        d.seal({u64(56), number, at, u64(chain_at)});
        return d.bytes().view(0, d.bytes().size()) == b.substr(at, d.bytes().size());
    };
    CHECK(sealed(0x2000, 1, 144, false, an_order()));
    CHECK(sealed(0x2a00, 4, 0x2620, true, full_record({"scope", "key"}, 7, {41, 9})));
}

// ---- much ---------------------------------------------------------------------------------------

record large(std::uint64_t n, std::size_t bytes, state_id state = state_id::pending) {
    record r = numbered(n);
    intent inside = *r.intent;
    inside.request.assign(bytes, static_cast<char>('a' + n % 26));
    r.intent = std::make_shared<intent const>(inside);
    r.state = state;
    return r;
}

TEST_CASE("a backup holds what was durable before it, and is opened as a restored copy only") {
    temporary_folder const folder;
    auto s = log_storage::create(folder / "journal").value();
    for (std::uint64_t n = 1; n <= 50; ++n)
        REQUIRE(s.insert(large(n, 60'000, n % 2 == 0 ? state_id::pending : state_id::confirmed)));
    REQUIRE(s.bind("a name", numbered(1).identity()));
    REQUIRE(s.backup(folder / "copy"));
    REQUIRE(s.insert(numbered(60))); // goes on
    REQUIRE(s.compact());
    CHECK(rule_of(s.backup(folder / "copy")) == rule::journal_exists);
    CHECK(rule_of(s.backup(folder / "none/copy")) == rule::journal_missing);
    CHECK(rule_of(s.backup(folder / ".")) == rule::not_a_journal);
    CHECK(rule_of(log_storage::open(folder / "copy")) == rule::restored_copy);
    auto copy = log_storage::open_restored(folder / "copy").value();
    CHECK(copy.facts().restored);
    for (std::uint64_t n = 1; n <= 50; ++n) {
        record r = large(n, 60'000, n % 2 == 0 ? state_id::pending : state_id::confirmed);
        r.restored = may_have_gone_on(r);
        CHECK(holds(copy, r));
    }
    CHECK_FALSE(copy.find(numbered(60).identity()).value());
    CHECK_FALSE(copy.bind("a name", numbered(2).identity()).value());
    CHECK(s.find(numbered(60).identity()).value());
}

TEST_CASE("a backup made beside writers and a compaction holds a prefix of what was written") {
    temporary_folder const folder;
    auto s = log_storage::create(folder / "journal").value();
    std::atomic<bool> stop = false;
    std::atomic<std::uint64_t> durable = 0;
    std::thread writer([&] {
        for (std::uint64_t n = 1; !stop && n < 100'000; ++n) {
            if (!s.insert(numbered(n)) || !s.flush()) break;
            durable = n;
            if (n % 200 == 0 && !s.compact()) break;
        }
    });
    while (durable < 100)
        std::this_thread::yield();
    std::uint64_t const before = durable;
    auto const made = s.backup(folder / "copy");
    std::uint64_t const after = durable;
    stop = true;
    writer.join();
    REQUIRE_MESSAGE(made, made.error().message());
    auto copy = log_storage::open_restored(folder / "copy").value();
    std::uint64_t n = 1;
    while (copy.find(numbered(n).identity()).value())
        ++n;
    CHECK(n > before);
    CHECK(n <= after + 2);
}

TEST_CASE("a journal goes on in further segments, which grow with it") {
    temporary_folder const folder;
    constexpr std::uint64_t many = 200;
    constexpr std::size_t bytes = 60'000;
    for (std::uint64_t until = many / 2; until <= many; until += many / 2) {
        auto s = until == many ? log_storage::open(folder / "journal").value()
                               : log_storage::create(folder / "journal").value();
        for (std::uint64_t n = until - many / 2; n < until; ++n) {
            REQUIRE(
                s.insert(large(n, bytes, n % 2 == 0 ? state_id::pending : state_id::confirmed)));
            REQUIRE(s.bind("name " + std::to_string(n), {"scope", std::to_string(n)}).value());
            if (n % 5 == 0) REQUIRE(s.flush());
        }
        for (std::uint64_t n = 0; n < until; n += 4) { // a change of what stands elsewhere
            record const r = large(n, bytes);
            if (n < until - many / 2) continue;
            REQUIRE(s.replace(changed(r), r.version));
        }
        for (std::uint64_t n = 0; n < until; ++n)
            REQUIRE(there(s, n));
    }
    auto const sizes = [&](std::uint64_t n) {
        return std::filesystem::file_size(segment(folder / "journal", n));
    };
    CHECK(sizes(2) == format::smallest_segment);
    CHECK(sizes(3) == format::smallest_segment);
    CHECK(sizes(4) == 3 * format::smallest_segment / 2); // half of all before
    auto s = log_storage::open(folder / "journal").value();
    for (std::uint64_t n = 0; n < many; ++n) {
        record r = large(n, bytes, n % 2 == 0 ? state_id::pending : state_id::confirmed);
        if (n % 4 == 0) r = changed(r);
        REQUIRE(holds(s, r));
        CHECK(s.bind("name " + std::to_string(n), {"scope", std::to_string(n)}).value());
        CHECK_FALSE(s.bind("name " + std::to_string(n), {"scope", "another"}).value());
    }
}

TEST_CASE("a record of a mebibyte, and one that is larger than a whole segment") {
    temporary_folder const folder;
    constexpr std::size_t mebibyte = std::size_t{1} << 20;
    record const one = large(1, mebibyte), most = large(2, 6 * mebibyte, state_id::confirmed);
    {
        auto s = log_storage::create(folder / "journal").value();
        REQUIRE(s.insert(one));
        REQUIRE(s.flush());
        REQUIRE(s.replace(changed(one), one.version));
        REQUIRE(s.insert(most));
        CHECK(holds(s, most));
        CHECK(rule_of(s.insert(large(3, 17 * mebibyte))) == rule::too_large);
        CHECK(s.flush()); // a refusal is no failure
    }
    auto s = log_storage::open(folder / "journal").value();
    CHECK(holds(s, changed(one)));
    CHECK(holds(s, most));
    CHECK_FALSE(there(s, 3));
}

TEST_CASE("two hundred thousand names are found, each for its own") {
    temporary_folder const folder;
    constexpr std::uint64_t many = 200'000;
    auto const name = [](std::uint64_t n) { return "name " + std::to_string(n); };
    auto const owner = [](std::uint64_t n) { return identity{"scope", std::to_string(n % 100)}; };
    {
        auto s = log_storage::create(folder / "journal").value();
        for (std::uint64_t n = 0; n < many; ++n)
            REQUIRE(s.bind(name(n), owner(n)).value());
    }
    auto s = log_storage::open(folder / "journal").value();
    for (std::uint64_t n = 0; n < many; n += 7) {
        REQUIRE(s.bind(name(n), owner(n)).value());
        REQUIRE_FALSE(s.bind(name(n), owner(n + 1)).value());
    }
}

// ---- many threads -------------------------------------------------------------------------------

/// Counts the writes of frames, takes its time for each, and fails from the one it is told to.
struct slow_files : detail::posix_files {
    struct counts {
        std::atomic<unsigned> writes{0}, last_good{UINT_MAX};
        std::chrono::milliseconds takes{1};
    };
    explicit slow_files(counts& c) : counted(&c) {}

    result<void> write_durably(file& f, std::uint64_t offset, std::span<char const> bytes) {
        unsigned const n = ++counted->writes;
        std::this_thread::sleep_for(counted->takes);
        if (n > counted->last_good)
            return detail::about_log_file(rule::storage_failed, "a file", "fails", EIO);
        return posix_files::write_durably(f, offset, bytes);
    }
    counts* counted;
};
using slow_log = basic_log_storage<slow_files>;

constexpr unsigned workers = 16;

template <class Work> void in_threads(Work work) {
    std::vector<std::jthread> threads;
    for (unsigned t = 0; t < workers; ++t)
        threads.emplace_back([&work, t] { work(t); });
}

TEST_CASE("sixteen threads share the writes: each one's records are there, none twice") {
    constexpr std::uint64_t each = 30;
    temporary_folder const folder;
    std::atomic<unsigned> failures{0};
    slow_files::counts counts;
    {
        auto s = slow_log::create(folder / "journal", slow_files(counts)).value();
        in_threads([&](unsigned t) {
            for (std::uint64_t i = 0; i < each; ++i) {
                std::uint64_t const n = 1 + t * each + i;
                bool const inserted = s.insert(n % 3 == 0 ? settled(n) : numbered(n)).has_value() &&
                                      s.bind(std::to_string(n), {"scope", "1"}).has_value();
                bool const flushed = s.flush().has_value();
                // What is under way to the disk is read from memory.
                bool const found = there(s, n) && there(s, 1 + t * each) &&
                                   s.bind(std::to_string(n), {"scope", "1"}).value();
                if (!inserted || !flushed || !found) ++failures;
            }
        });
        CHECK(failures == 0);
        CHECK(counts.writes < workers * each);
    }
    auto s = log_storage::open(folder / "journal").value();
    std::set<std::uint64_t> seen;
    page p{.after = 0, .most = 100'000};
    CHECK(s.visit_unsettled(p, [&](record const& r) { seen.insert(r.operation); }).value() ==
          workers * each * 2 / 3);
    CHECK(seen.size() == workers * each * 2 / 3);
    for (std::uint64_t n = 1; n <= workers * each; ++n)
        REQUIRE(there(s, n));
}

TEST_CASE("many threads write through the end of segments") {
    constexpr std::uint64_t each = 12;
    temporary_folder const folder;
    std::atomic<unsigned> failures{0};
    {
        auto s = log_storage::create(folder / "journal").value();
        in_threads([&](unsigned t) {
            for (std::uint64_t i = 0; i < each; ++i) {
                record const r = large(1 + t * each + i, 40'000, state_id::confirmed);
                if (!s.insert(r) || !s.flush() || !holds(s, r)) ++failures;
            }
        });
        CHECK(failures == 0);
    }
    auto s = log_storage::open(folder / "journal").value();
    for (std::uint64_t n = 1; n <= workers * each; ++n)
        REQUIRE(holds(s, large(n, 40'000, state_id::confirmed)));
}

TEST_CASE("when a write fails, every thread that waits hears of it, for this frame or the next") {
    ::alarm(60); // the test ends then, and does not wait for ever
    for (unsigned good = 4; good < 12; good += 2) { // two are the headers of the first segments
        CAPTURE(good);
        temporary_folder const folder;
        std::atomic<unsigned> failed{0}, wrong{0};
        slow_files::counts counts;
        counts.last_good = good;
        counts.takes = 3ms;
        auto s = slow_log::create(folder / "journal", slow_files(counts)).value();
        in_threads([&](unsigned t) {
            for (std::uint64_t i = 0; i < 100; ++i) {
                auto const inserted = s.insert(numbered(1 + t * 100 + i));
                auto const flushed = s.flush();
                if (inserted && flushed) continue;
                ++failed;
                if (rule_of(flushed) != rule::storage_failed) ++wrong;
                return;
            }
        });
        CHECK(failed == workers);
        CHECK(wrong == 0);
        CHECK(counts.writes == good + 1); // nothing is written after a failure
    }
    ::alarm(0);
}

TEST_SUITE_END();

} // namespace
