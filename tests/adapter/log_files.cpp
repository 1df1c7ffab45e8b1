// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#include <adapter/other_process.hpp>
#include <adapter/simulated_files.hpp>
#include <adapter/temporary_folder.hpp>
#include <indoubt/adapter/log/posix_files.hpp>
#include <indoubt/testing/seeded_random.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <map>
#include <memory>
#include <new>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <sys/resource.h>
#include <sys/stat.h>
#include <thread>
#include <type_traits>
#include <unistd.h>
#include <utility>
#include <vector>

// The laws of log_files, on the machine's disk, on a file system in memory, and on the simulated
// disk; what only the machine has; and that the simulated disk loses what it may lose, and no more.

namespace {

using namespace indoubt;
using detail::log_file_marks;
using detail::posix_files;
using indoubt::testing::seeded_random;
using tests::other_process;
using tests::simulated_disk;
using tests::simulated_files;
using tests::temporary_folder;
using tests::write_bytes;

constexpr std::size_t sector = 512;

static_assert(detail::log_files<posix_files>);
static_assert(std::is_nothrow_move_constructible_v<posix_files::file>);
static_assert(std::is_nothrow_move_assignable_v<posix_files::file>);

struct no_durable_writes : posix_files {
    void write_durably(file&, std::uint64_t, std::span<char const>);
};
static_assert(!detail::log_files<no_durable_writes>);

/// Bytes at an address that write_durably takes.
class aligned_bytes {
public:
    explicit aligned_bytes(std::string_view text)
        : size_(text.size()), data_(static_cast<char*>(::operator new(size_, page))) {
        std::ranges::copy(text, data_);
    }
    aligned_bytes(aligned_bytes const&) = delete;
    aligned_bytes& operator=(aligned_bytes const&) = delete;
    ~aligned_bytes() { ::operator delete(data_, page); }
    operator std::span<char const>() const { return {data_, size_}; }

private:
    static constexpr auto page = std::align_val_t(4096);
    std::size_t size_;
    char* data_;
};

struct on_disk {
    temporary_folder folder;
    posix_files files;
    std::string operator/(std::string_view name) const { return folder / name; }
    std::string top() const { return folder.path(); }
};

/// Where O_DIRECT is refused, if the machine has such a place.
struct in_memory {
    std::unique_ptr<temporary_folder> folder = make("/dev/shm");
    posix_files files;
    std::string operator/(std::string_view name) const { return *folder / name; }
    std::string top() const { return folder->path(); }

    static std::unique_ptr<temporary_folder> make(char const* in) {
        if (::access(in, W_OK) != 0) return std::make_unique<temporary_folder>();
        char const* const set = std::getenv("TMPDIR");
        std::string const before = set != nullptr ? set : "";
        ::setenv("TMPDIR", in, 1);
        auto made = std::make_unique<temporary_folder>();
        set != nullptr ? ::setenv("TMPDIR", before.c_str(), 1) : ::unsetenv("TMPDIR");
        return made;
    }
};

struct simulated {
    simulated_disk disk;
    simulated_files files{disk};
    simulated() {
        files.make_folder("/top").value();
        files.sync_folder("/").value();
    }
    std::string operator/(std::string_view name) const { return "/top/" + std::string(name); }
    std::string top() const { return "/top"; }
};

#define EVERYWHERE on_disk, in_memory, simulated

template <class Files> std::string all_of(Files& files, typename Files::file& f) {
    std::string bytes(static_cast<std::size_t>(files.size(f).value()), '?');
    CHECK(files.read(f, 0, bytes).value() == bytes.size());
    return bytes;
}

template <class T> rule why(result<T> const& r) {
    return r ? rule::none : r.error().rule();
}

std::string random_bytes(seeded_random& random, std::size_t size) {
    std::string bytes(size, '\0');
    for (char& c : bytes)
        c = static_cast<char>(random.below(256));
    return bytes;
}

void put(std::string& in, std::size_t at, std::string_view bytes) {
    if (in.size() < at + bytes.size()) in.resize(at + bytes.size());
    in.replace(at, bytes.size(), bytes);
}

} // namespace

TEST_CASE_TEMPLATE("what is read is what was written, however it was written", World, EVERYWHERE) {
    World w;
    seeded_random random(7);
    auto file = w.files.create(w / "a").value();
    std::string expected;
    for (int n = 0; n < 60; ++n) {
        if (random.chance(0.4)) {
            auto const at = sector * random.below(20);
            auto const bytes = random_bytes(random, sector * random.below(12));
            w.files.write_durably(file, at, aligned_bytes(bytes)).value();
            if (!bytes.empty()) put(expected, at, bytes);
        } else {
            auto const at = random.below(9'000);
            auto const bytes = random_bytes(random, random.below(3'000));
            w.files.write(file, at, bytes).value();
            if (!bytes.empty()) put(expected, at, bytes);
        }
        if (random.chance(0.2)) w.files.sync(file).value();
        if (random.chance(0.2)) {
            file = {};
            file = w.files.open(w / "a").value();
        }
        CHECK(all_of(w.files, file) == expected);
    }
}

TEST_CASE_TEMPLATE("a read is short only at the end of the file", World, EVERYWHERE) {
    World w;
    auto file = w.files.create(w / "a").value();
    std::string into(8, '-');
    CHECK(w.files.size(file).value() == 0);
    CHECK(w.files.read(file, 0, into).value() == 0);
    w.files.write(file, 5, std::string("five")).value();
    CHECK(w.files.size(file).value() == 9);
    CHECK(w.files.read(file, 3, into).value() == 6);
    CHECK(into == std::string_view("\0\0five--", 8));
    CHECK(w.files.read(file, 9, into).value() == 0);
    CHECK(w.files.read(file, 1'000'000, into).value() == 0);
    CHECK(w.files.read(file, 0, {}).value() == 0);
    CHECK(w.files.write(file, 100, {}));
    CHECK(w.files.size(file).value() == 9);
}

TEST_CASE_TEMPLATE("create makes what was not there, and open finds only files", World,
                   EVERYWHERE) {
    World w;
    CHECK(why(w.files.open(w / "a")) == rule::journal_missing);
    auto file = w.files.create(w / "a").value();
    w.files.write(file, 0, std::string("kept")).value();
    CHECK(why(w.files.create(w / "a")) == rule::journal_exists);
    CHECK(why(w.files.make_folder(w / "a")) == rule::journal_exists);
    CHECK(all_of(w.files, file) == "kept");

    w.files.make_folder(w / "folder").value();
    CHECK(why(w.files.make_folder(w / "folder")) == rule::journal_exists);
    CHECK(why(w.files.create(w / "folder")) == rule::journal_exists);
    CHECK(why(w.files.open(w / "folder")) == rule::not_a_journal);
    CHECK(w.files.create(w / "folder/inside"));
    CHECK(w.files.sync_folder(w / "folder"));

    auto const nowhere = w.files.create(w / "no/a");
    CHECK(why(nowhere) == rule::storage_failed);
    CHECK(nowhere.error().cause() == ENOENT);
    CHECK(nowhere.error().detail().starts_with(w / "no/a "));
    CHECK(why(w.files.make_folder(w / "no/folder")) == rule::storage_failed);
    CHECK(why(w.files.sync_folder(w / "no")) == rule::journal_missing);
    CHECK(why(w.files.sync_folder(w / "a")) == rule::not_a_journal);
}

TEST_CASE_TEMPLATE("a rename never replaces", World, EVERYWHERE) {
    World w;
    auto a = w.files.create(w / "a").value();
    auto b = w.files.create(w / "b").value();
    w.files.write(a, 0, std::string("a")).value();
    w.files.write(b, 0, std::string("b")).value();
    w.files.make_folder(w / "folder").value();
    CHECK(why(w.files.rename(w / "a", w / "b")) == rule::journal_exists);
    CHECK(why(w.files.rename(w / "a", w / "folder")) == rule::journal_exists);
    CHECK(why(w.files.rename(w / "missing", w / "c")) == rule::storage_failed);
    CHECK(why(w.files.rename(w / "a", w / "missing/c")) == rule::storage_failed);
    CHECK(all_of(w.files, a) == "a");
    CHECK(all_of(w.files, b) == "b");

    w.files.rename(w / "a", w / "c").value();
    CHECK(why(w.files.open(w / "a")) == rule::journal_missing);
    auto c = w.files.open(w / "c").value();
    w.files.write_durably(a, 0, aligned_bytes(std::string(sector, 'x'))).value();
    CHECK(all_of(w.files, c) == std::string(sector, 'x'));

    CHECK(w.files.create(w / "folder/inside"));
    w.files.rename(w / "folder", w / "moved").value();
    CHECK(w.files.open(w / "moved/inside"));
    CHECK(why(w.files.open(w / "folder/inside")) == rule::journal_missing);
}

TEST_CASE_TEMPLATE("a removed file has no name, and is read by who has it open", World,
                   EVERYWHERE) {
    World w;
    auto a = w.files.create(w / "a").value();
    w.files.write(a, 0, std::string("still")).value();
    w.files.remove(w / "a").value();
    CHECK(why(w.files.remove(w / "a")) == rule::journal_missing);
    CHECK(why(w.files.open(w / "a")) == rule::journal_missing);
    CHECK(all_of(w.files, a) == "still");
    CHECK(w.files.create(w / "a"));
    w.files.make_folder(w / "folder").value();
    CHECK(why(w.files.remove(w / "folder")) == rule::storage_failed);
}

TEST_CASE_TEMPLATE("a list has every name, in the order of bytes", World, EVERYWHERE) {
    World w;
    w.files.make_folder(w / "f").value();
    CHECK(w.files.list(w / "f").value().empty());
    for (char const* name : {"f/b", "f/a", "f/.hidden", "f/B", "f/00000001.log"})
        CHECK(w.files.create(w / name));
    w.files.make_folder(w / "f/c").value();
    using names = std::vector<std::string>;
    CHECK(w.files.list(w / "f").value() == names{".hidden", "00000001.log", "B", "a", "b", "c"});
    CHECK(why(w.files.list(w / "none")) == rule::journal_missing);
    CHECK(why(w.files.list(w / "f/a")) == rule::not_a_journal);
    CHECK(w.files.list(w.top()).value() == names{"f"});
}

TEST_CASE_TEMPLATE("a lock has one holder, until it closes the file", World, EVERYWHERE) {
    World w;
    auto first = w.files.create(w / "lock").value();
    auto second = w.files.open(w / "lock").value();
    CHECK(w.files.lock(first).value());
    CHECK(w.files.lock(first).value());
    CHECK_FALSE(w.files.lock(second).value());
    w.files.open(w / "lock").value(); // closed at once: drops nothing
    auto moved = std::move(first);
    CHECK_FALSE(w.files.lock(second).value());
    moved = {};
    CHECK(w.files.lock(second).value());
    auto third = w.files.open(w / "lock").value();
    CHECK_FALSE(w.files.lock(third).value());
}

TEST_CASE_TEMPLATE("marks tell a file from its copies", World, EVERYWHERE) {
    World w;
    auto a = w.files.create(w / "a").value();
    auto b = w.files.create(w / "b").value();
    log_file_marks const marks = w.files.marks(a).value();
    CHECK_FALSE(marks.same_file_as(w.files.marks(b).value()));
    w.files.write(a, 0, std::string("more")).value();
    w.files.rename(w / "a", w / "c").value();
    auto c = w.files.open(w / "c").value();
    CHECK(marks.same_file_as(w.files.marks(c).value()));
}

TEST_CASE("a device's number counts only if a birth is not known") {
    log_file_marks const known{1, 2, 3}, unknown{1, 2, 0};
    CHECK(known.same_file_as({1, 9, 3}));
    CHECK_FALSE(known.same_file_as({1, 2, 4}));
    CHECK_FALSE(known.same_file_as({9, 2, 3}));
    CHECK(known.same_file_as(unknown));
    CHECK_FALSE(unknown.same_file_as({1, 9, 0}));
    CHECK_FALSE(unknown.same_file_as({1, 9, 3}));
}

TEST_CASE_TEMPLATE("a file that is not open can be asked for nothing", World, EVERYWHERE) {
    World w;
    auto file = w.files.create(w / "a").value();
    CHECK(file);
    auto taken = std::move(file);
    CHECK_FALSE(file);
    CHECK_FALSE(typename decltype(w.files)::file());
    CHECK(why(w.files.size(file)) == rule::storage_failed);
    CHECK(why(w.files.sync(file)) == rule::storage_failed);
    CHECK(why(w.files.lock(file)) == rule::storage_failed);
    CHECK(w.files.write(file, 0, std::string("x")).error().cause() == EBADF);
    CHECK(w.files.write_durably(file, 0, aligned_bytes(std::string(sector, 'x'))).error().cause() ==
          EBADF);
    CHECK(w.files.sync(taken));
}

TEST_SUITE("files of the machine") {
    TEST_CASE("files and folders are private, whatever the umask") {
        on_disk w;
        for (mode_t const mask : {0777U, 0U}) {
            auto const name = std::to_string(mask);
            mode_t const before = ::umask(mask);
            auto const file = w.files.create(w / name);
            auto const folder = w.files.make_folder(w / ("folder" + name));
            ::umask(before);
            CHECK(file);
            CHECK(folder);
            struct stat s;
            CHECK(::stat((w / name).c_str(), &s) == 0);
            CHECK((s.st_mode & 07777U) == 0600);
            CHECK(::stat((w / ("folder" + name)).c_str(), &s) == 0);
            CHECK((s.st_mode & 0777U) == 0700);
        }
    }

    TEST_CASE("what is not this user's own private file is refused") {
        on_disk w;
        auto refused = [&](std::string_view name, std::string_view reason) {
            auto const r = w.files.open(w / name);
            CHECK(why(r) == rule::not_a_journal);
            if (!r) CHECK(r.error().detail() == (w / name) + " " + std::string(reason));
        };
        write_bytes(w / "a", "bytes");
        CHECK(w.files.open(w / "a"));

        std::filesystem::create_symlink(w / "a", w / "symbolic");
        refused("symbolic", "is a symbolic link");
        CHECK(why(w.files.create(w / "symbolic")) == rule::journal_exists);
        std::filesystem::create_symlink(w / "none", w / "dangling");
        refused("dangling", "is a symbolic link");
        CHECK(why(w.files.create(w / "dangling")) == rule::journal_exists);
        CHECK_FALSE(std::filesystem::exists(w / "none"));

        std::filesystem::create_hard_link(w / "a", w / "hard");
        refused("hard", "has a second name (a hard link)");
        refused("a", "has a second name (a hard link)");
        std::filesystem::remove(w / "hard");
        CHECK(w.files.open(w / "a"));

        for (mode_t const mode : {0640U, 0604U, 0610U, 0602U}) {
            CHECK(::chmod((w / "a").c_str(), mode) == 0);
            refused("a", "is open to other users: its mode must be 600");
        }
        CHECK(::chmod((w / "a").c_str(), 0600) == 0);

        CHECK(::mkfifo((w / "pipe").c_str(), 0600) == 0);
        refused("pipe", "is not a regular file");
        CHECK(why(w.files.open("/dev/null")) == rule::not_a_journal);
        CHECK(why(w.files.open(w / "a/b")) == rule::not_a_journal);

        if (::geteuid() == 0) {
            CHECK(::chown((w / "a").c_str(), 1, static_cast<gid_t>(-1)) == 0);
            refused("a", "belongs to another user");
        }
    }

    TEST_CASE("a folder that is not this user's own private one is not listed") {
        on_disk w;
        w.files.make_folder(w / "f").value();
        CHECK(w.files.list(w / "f"));
        std::filesystem::create_directory_symlink(w / "f", w / "link");
        CHECK(why(w.files.list(w / "link")) == rule::not_a_journal);
        CHECK(::chmod((w / "f").c_str(), 0750) == 0);
        CHECK(why(w.files.list(w / "f")) == rule::not_a_journal);
    }

    TEST_CASE("a path in an error is shown whole, and escaped") {
        posix_files files;
        auto const longer = "/none/\n" + std::string(100, 'a');
        auto const r = files.open(longer);
        CHECK(why(r) == rule::journal_missing);
        CHECK(r.error().detail().find("/none/\\x0a") == 0);
        CHECK(std::ranges::count(r.error().detail(), 'a') >= 100);
    }

    TEST_CASE("a lock keeps other processes out, and dies with its holder") {
        on_disk w;
        auto mine = w.files.create(w / "lock").value();
        other_process holder([&](auto tell) {
            posix_files files;
            auto theirs = files.open(w / "lock").value();
            tell(files.lock(theirs).value() ? "held" : "refused");
            tell.hear();
            return 0;
        });
        CHECK(holder.hear() == "held");
        CHECK_FALSE(w.files.lock(mine).value());
        holder.kill();
        CHECK(w.files.lock(mine).value());
        other_process late([&](auto) {
            posix_files files;
            auto theirs = files.open(w / "lock").value();
            return files.lock(theirs).value() ? 1 : 0;
        });
        CHECK(late.wait() == 0);
    }

    TEST_CASE("a forked child that closes a file does not drop its parent's lock") {
        on_disk w;
        auto mine = w.files.create(w / "lock").value();
        CHECK(w.files.lock(mine).value());
        other_process child([&](auto) {
            mine = {};
            return 0;
        });
        CHECK(child.wait() == 0);
        auto other = w.files.open(w / "lock").value();
        CHECK_FALSE(w.files.lock(other).value());
    }

    TEST_CASE("a write beyond the limit of the process is an error, and does not end it") {
        on_disk w;
        auto file = w.files.create(w / "a").value();
        other_process child([&](auto) {
            std::signal(SIGXFSZ, SIG_DFL);
            rlimit const small{4 * sector, 4 * sector};
            if (::setrlimit(RLIMIT_FSIZE, &small) != 0) return 1;
            if (!w.files.write(file, 0, std::string(4 * sector, 'x'))) return 2;
            auto const beyond = w.files.write(file, 4 * sector, std::string("x"));
            if (beyond || beyond.error().cause() != EFBIG) return 3;
            aligned_bytes const two(std::string(2 * sector, 'y'));
            auto const partly = w.files.write_durably(file, 3 * sector, two);
            if (partly || partly.error().cause() != EFBIG) return 4;
            return 0;
        });
        CHECK(child.wait() == 0);
        CHECK(all_of(w.files, file) == std::string(4 * sector, 'x'));
    }

    TEST_CASE("durable writes go past the cache where the file system takes them") {
        on_disk w;
        auto file = w.files.create(w / "a").value();
        int const probe = ::open((w / "a").c_str(), O_WRONLY | O_DIRECT | O_CLOEXEC);
        if (probe < 0) return;
        aligned_bytes const one(std::string(sector, 'x'));
        std::span<char const> const bytes = one;
        bool const taken = ::pwrite(probe, bytes.data(), bytes.size(), 0) > 0;
        // A file system in memory takes any length and place.
        bool const taken_odd = ::pwrite(probe, bytes.data(), 100, 10) > 0;
        ::close(probe);
        auto direct = [&] {
            int found = 0;
            for (auto const& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
                std::error_code gone;
                if (std::filesystem::read_symlink(entry, gone) != w / "a") continue;
                int const flags = ::fcntl(std::stoi(entry.path().filename()), F_GETFL);
                if ((flags & O_DIRECT) != 0 && (flags & O_DSYNC) == O_DSYNC) ++found;
            }
            return found;
        };
        w.files.write_durably(file, 0, one).value();
        CHECK(direct() == (taken ? 1 : 0));
        SUBCASE("closed with the file") {
            file = {};
            CHECK(direct() == 0);
        }
        SUBCASE("given up when one is refused") {
            std::string const odd(100, 'y');
            w.files.write_durably(file, 10, odd).value();
            CHECK(direct() == (taken && taken_odd ? 1 : 0));
            w.files.write_durably(file, sector, one).value();
            std::string expected(2 * sector, 'x');
            put(expected, 10, odd);
            CHECK(all_of(w.files, file) == expected);
        }
    }

    TEST_CASE("what was written durably is seen by other threads from then on") {
        on_disk w;
        constexpr std::uint64_t rounds = 200;
        auto file = w.files.create(w / "a").value();
        w.files.write(file, 0, std::string(rounds * sector, '\0')).value();
        w.files.sync(file).value();
        std::atomic<std::uint64_t> written = 0;
        std::atomic<int> wrong = 0;
        std::thread reader([&] {
            char into[sector];
            for (std::uint64_t seen = 0; seen < rounds;) {
                seen = written;
                if (seen == 0) continue;
                auto const got = w.files.read(file, (seen - 1) * sector, into);
                if (!got || into[0] != 'x' || into[sector - 1] != 'x') ++wrong;
            }
        });
        bool all_written = true;
        for (std::uint64_t n = 0; n < rounds; ++n) {
            aligned_bytes const one(std::string(sector, 'x'));
            all_written &= w.files.write_durably(file, n * sector, one).has_value();
            written = n + 1;
        }
        reader.join();
        CHECK(all_written);
        CHECK(wrong == 0);
        CHECK(all_of(w.files, file) == std::string(rounds * sector, 'x'));
    }
}

TEST_SUITE("the simulated disk") {
    TEST_CASE("what is durable survives every power cut, and the rest may be lost") {
        constexpr std::size_t most = 24; // sectors
        int lost = 0, kept = 0;
        for (std::uint64_t seed = 1; seed <= 400; ++seed) {
            CAPTURE(seed);
            simulated w;
            seeded_random random(seed);
            auto file = w.files.create(w / "a").value();
            w.files.sync_folder(w.top()).value();
            std::map<std::size_t, std::string> durable; // what must be there, by sector
            std::set<std::size_t> written;              // since then
            for (int n = 0; n < 30; ++n) {
                if (random.chance(0.2)) {
                    w.files.sync(file).value();
                    auto const now = all_of(w.files, file);
                    for (std::size_t s : written)
                        durable[s] = now.substr(s * sector, sector);
                    written.clear();
                } else if (random.chance(0.3)) {
                    auto const at = random.below(most - 4);
                    auto const bytes = random_bytes(random, sector * (1 + random.below(4)));
                    w.files.write_durably(file, at * sector, aligned_bytes(bytes)).value();
                    for (std::size_t s = 0; s < bytes.size() / sector; ++s) {
                        durable[at + s] = bytes.substr(s * sector, sector);
                        written.erase(at + s);
                    }
                } else {
                    auto const at = random.below((most - 4) * sector);
                    auto const bytes = random_bytes(random, 1 + random.below(3 * sector));
                    w.files.write(file, at, bytes).value();
                    for (auto s = at / sector; s <= (at + bytes.size() - 1) / sector; ++s) {
                        durable.erase(s);
                        written.insert(s);
                    }
                }
            }
            auto const before = all_of(w.files, file);
            w.disk.power_cut(seed);
            CHECK(why(w.files.size(file)) == rule::storage_failed);
            auto again = w.files.open(w / "a").value();
            auto const after = all_of(w.files, again);
            for (auto const& [s, bytes] : durable)
                CHECK(after.substr(std::min(s * sector, after.size()), bytes.size()) == bytes);
            ++(after == before ? kept : lost);
            w.disk.power_cut(seed + 1); // nothing is left that could be lost
            auto third = w.files.open(w / "a").value();
            CHECK(all_of(w.files, third) == after);
        }
        CHECK(lost > 100);
        CHECK(kept > 20);
    }

    TEST_CASE("of four sectors any may be kept, lost or garbled") {
        bool durably = false;
        SUBCASE("written") {}
        SUBCASE("in the middle of a durable write") {
            durably = true;
        }
        std::set<unsigned> kept;
        std::set<int> garbled;
        for (std::uint64_t seed = 1; seed <= 600; ++seed) {
            simulated w;
            auto file = w.files.create(w / "a").value();
            w.files.sync_folder(w.top()).value();
            aligned_bytes const old(std::string(4 * sector, 'o')),
                fresh(std::string(4 * sector, 'n'));
            w.files.write_durably(file, 0, old).value();
            if (durably) {
                w.disk.lose_power_at(w.disk.steps() + 1);
                CHECK(w.files.write_durably(file, 0, fresh).error().cause() == EIO);
            } else {
                w.files.write(file, 0, fresh).value();
            }
            w.disk.power_cut(seed);
            auto const left = w.disk.bytes(w / "a");
            CHECK(left.size() == 4 * sector);
            unsigned subset = 0;
            bool whole = true;
            for (std::size_t s = 0; s < 4; ++s) {
                auto const piece = left.substr(s * sector, sector);
                if (piece == std::string(sector, 'n')) {
                    subset |= 1U << s;
                } else if (piece != std::string(sector, 'o')) {
                    garbled.insert(static_cast<int>(s));
                    whole = false;
                }
            }
            if (whole) kept.insert(subset);
        }
        CHECK(kept.size() == 16);
        CHECK(garbled.size() == 4);
    }

    TEST_CASE("a sector that was written twice may hold what it held in between") {
        std::set<char> seen;
        for (std::uint64_t seed = 1; seed <= 200; ++seed) {
            simulated w;
            auto file = w.files.create(w / "a").value();
            w.files.sync_folder(w.top()).value();
            for (char c : {'1', '2', '3'})
                w.files.write(file, 0, std::string(sector, c)).value();
            w.disk.power_cut(seed);
            auto const left = w.disk.bytes(w / "a");
            CHECK((left.empty() || left.size() == sector));
            if (left.empty()) {
                seen.insert('-');
            } else if (left == std::string(sector, left[0])) {
                seen.insert(left[0]);
            }
        }
        for (char c : {'-', '\0', '1', '2', '3'})
            CHECK(seen.contains(c));
    }

    TEST_CASE("what a failed sync was about is read, and is durable by no later one") {
        std::set<bool> survived, rewritten;
        for (std::uint64_t seed = 1; seed <= 200; ++seed) {
            simulated w;
            auto file = w.files.create(w / "a").value();
            w.files.sync_folder(w.top()).value();
            w.files.write(file, 0, std::string(8 * sector, 'x')).value();
            w.disk.fail_once(w.disk.steps() + 1, ENOSPC);
            auto const failed = w.files.sync(file);
            CHECK(failed.error().cause() == ENOSPC);
            CHECK(all_of(w.files, file) == std::string(8 * sector, 'x'));
            bool const again = seed % 2 == 0;
            if (again) w.files.write(file, 0, std::string(8 * sector, 'x')).value();
            CHECK(w.files.sync(file));
            w.disk.power_cut(seed);
            auto const whole = w.disk.bytes(w / "a") == std::string(8 * sector, 'x');
            (again ? rewritten : survived).insert(whole);
        }
        CHECK(survived == std::set{true, false});
        CHECK(rewritten == std::set{true});
    }

    TEST_CASE("a durable write that failed is made durable by no later sync") {
        std::set<bool> as_before;
        for (std::uint64_t seed = 1; seed <= 100; ++seed) {
            simulated w;
            auto file = w.files.create(w / "a").value();
            w.files.sync_folder(w.top()).value();
            w.disk.fail_once(w.disk.steps() + 1);
            aligned_bytes const bytes(std::string(4 * sector, 'x'));
            CHECK(why(w.files.write_durably(file, 0, bytes)) == rule::storage_failed);
            auto const before = all_of(w.files, file);
            CHECK(std::ranges::count(before, 'x') % static_cast<std::ptrdiff_t>(sector) == 0);
            CHECK(w.files.sync(file));
            w.disk.power_cut(seed);
            as_before.insert(w.disk.bytes(w / "a") == before);
        }
        CHECK(as_before == std::set{true, false});
    }

    TEST_CASE("an entry whose sync failed is made durable by no later one") {
        std::set<bool> there;
        for (std::uint64_t seed = 1; seed <= 100; ++seed) {
            simulated w;
            for (char const* name : {"a", "b", "c", "d"})
                w.files.create(w / name).value();
            w.disk.fail_once(w.disk.steps() + 1);
            CHECK(why(w.files.sync_folder(w.top())) == rule::storage_failed);
            CHECK(w.files.list(w.top()).value().size() == 4);
            CHECK(w.files.sync_folder(w.top()));
            w.disk.power_cut(seed);
            there.insert(w.files.list(w.top()).value().size() == 4);
        }
        CHECK(there == std::set{true, false});
    }

    TEST_CASE("entries of folders are kept or lost until the folder is synced") {
        std::set<std::string> outcomes;
        for (std::uint64_t seed = 1; seed <= 300; ++seed) {
            CAPTURE(seed);
            simulated w;
            w.files.create(w / "removed").value();
            w.disk.put(w / "old", "content");
            w.files.sync_folder(w.top()).value();
            w.files.create(w / "new").value();
            w.files.remove(w / "removed").value();
            w.files.rename(w / "old", w / "renamed").value();
            w.files.create(w / "old").value();
            w.files.make_folder(w / "folder").value();
            w.files.create(w / "folder/inside").value();
            w.files.sync_folder(w / "folder").value();
            bool const synced = seed % 3 == 0;
            if (synced) w.files.sync_folder(w.top()).value();
            w.disk.power_cut(seed);
            auto const names = w.files.list(w.top()).value();
            std::string all;
            for (auto const& name : names)
                all += name + " ";
            if (synced) {
                CHECK(all == "folder new old renamed ");
                CHECK(w.disk.has(w / "folder/inside"));
                continue;
            }
            outcomes.insert(all);
            for (auto const& name : names) // none with two names
                CHECK((name == "folder" || w.files.open(w / name)));
            auto const* const place = w.disk.has(w / "renamed") ? "renamed" : "old";
            CHECK(w.disk.bytes(w / place) == "content");
            if (w.disk.has(w / "folder")) CHECK(w.disk.has(w / "folder/inside"));
        }
        CHECK(outcomes.contains("old removed "));
        CHECK(outcomes.contains("folder new old renamed "));
        CHECK(outcomes.size() > 10);
    }

    TEST_CASE("with a rename into another folder everything before it is durable") {
        for (std::uint64_t seed = 1; seed <= 50; ++seed) {
            simulated w;
            w.files.make_folder(w / "x").value();
            w.files.make_folder(w / "y").value();
            w.files.sync_folder(w.top()).value();
            w.files.create(w / "x/a").value();
            w.files.rename(w / "x/a", w / "y/b").value();
            w.files.sync_folder(w / "y").value();
            w.disk.power_cut(seed);
            CHECK_FALSE(w.disk.has(w / "x/a"));
            CHECK(w.files.open(w / "y/b"));
        }
    }

    TEST_CASE("of a rename in two steps both names may be left") {
        int both = 0, old_name = 0, new_name = 0;
        for (std::uint64_t seed = 1; seed <= 100; ++seed) {
            simulated w;
            w.disk.let_renames_leave_both_names();
            w.files.create(w / "a").value();
            w.files.sync_folder(w.top()).value();
            w.files.rename(w / "a", w / "b").value();
            w.disk.power_cut(seed);
            if (w.disk.has(w / "a") && w.disk.has(w / "b")) {
                ++both;
                CHECK(why(w.files.open(w / "a")) == rule::not_a_journal);
                w.files.remove(w / "a").value();
            } else {
                ++(w.disk.has(w / "a") ? old_name : new_name);
            }
            CHECK(w.files.open(w / (w.disk.has(w / "a") ? "a" : "b")));
        }
        CHECK(both > 5);
        CHECK(old_name > 5);
        CHECK(new_name > 5);
    }

    TEST_CASE("any step can fail: once, or from there on") {
        using step = bool (*)(simulated&, simulated_files::file&);
        constexpr step all[] = {
            [](simulated& w, auto&) { return w.files.create(w / "b").has_value(); },
            [](simulated& w, auto& f) { return w.files.write(f, 0, std::string("x")).has_value(); },
            [](simulated& w, auto& f) { return w.files.sync(f).has_value(); },
            [](simulated& w, auto& f) {
                aligned_bytes const one(std::string(sector, 'x'));
                return w.files.write_durably(f, 0, one).has_value();
            },
            [](simulated& w, auto&) { return w.files.rename(w / "r", w / "s").has_value(); },
            [](simulated& w, auto&) { return w.files.remove(w / "gone").has_value(); },
            [](simulated& w, auto&) { return w.files.sync_folder(w.top()).has_value(); },
            [](simulated& w, auto&) { return w.files.make_folder(w / "f").has_value(); },
        };
        for (std::size_t failing = 0; failing < std::size(all); ++failing) {
            for (bool once : {true, false}) {
                simulated w;
                auto file = w.files.create(w / "a").value();
                w.files.create(w / "r").value();
                w.files.create(w / "gone").value();
                auto const before = w.disk.steps();
                CHECK(before == 5);
                if (once) {
                    w.disk.fail_once(before + failing + 1);
                } else {
                    w.disk.fail(before + failing + 1);
                }
                for (std::size_t n = 0; n < std::size(all); ++n)
                    CHECK(all[n](w, file) == (once ? n != failing : n < failing));
                CHECK(w.disk.steps() == before + std::size(all));
                w.disk.work_again();
                CHECK(w.files.sync(file));
                CHECK(w.files.open(w / "a"));
            }
        }
    }

    TEST_CASE("looks can fail too") {
        simulated w;
        auto file = w.files.create(w / "a").value();
        CHECK(w.disk.looks() == 0);
        CHECK(w.files.size(file));
        w.disk.fail_looks(2, 4, EACCES);
        CHECK(w.files.open(w / "a").error().cause() == EACCES);
        CHECK(why(w.files.list(w.top())) == rule::storage_failed);
        CHECK(why(w.files.size(file)) == rule::storage_failed);
        CHECK(w.files.size(file));
    }

    TEST_CASE("without power nothing works, until it is back") {
        simulated w;
        auto file = w.files.create(w / "a").value();
        w.files.sync_folder(w.top()).value();
        w.disk.lose_power_at(w.disk.steps() + 2);
        w.files.write_durably(file, 0, aligned_bytes(std::string(sector, 'x'))).value();
        CHECK(why(w.files.sync(file)) == rule::storage_failed);
        CHECK(why(w.files.size(file)) == rule::storage_failed);
        CHECK(why(w.files.create(w / "b")) == rule::storage_failed);
        CHECK(why(w.files.remove(w / "a")) == rule::storage_failed);
        CHECK(why(w.files.list(w.top())) == rule::storage_failed);
        w.disk.power_cut(1);
        CHECK(w.files.list(w.top()).value() == std::vector<std::string>{"a"});
        CHECK(w.disk.bytes(w / "a") == std::string(sector, 'x'));
    }

    TEST_CASE("a crash keeps what was written, and frees the locks") {
        simulated w;
        auto file = w.files.create(w / "a").value();
        CHECK(w.files.lock(file).value());
        w.files.write(file, 0, std::string("written")).value();
        w.disk.fail(1);
        w.disk.crash();
        CHECK(why(w.files.sync(file)) == rule::storage_failed);
        auto again = w.files.open(w / "a").value();
        CHECK(w.files.lock(again).value());
        file = {};
        auto other = w.files.open(w / "a").value();
        CHECK_FALSE(w.files.lock(other).value());
        CHECK(all_of(w.files, again) == "written");
        w.files.sync_folder(w.top()).value();
        for (int n = 0; n < 2; ++n) {
            w.files.sync(again).value(); // a sync of the next process makes it durable
            w.disk.power_cut(3);
            again = w.files.open(w / "a").value();
            CHECK(all_of(w.files, again) == "written");
        }
    }

    TEST_CASE("a full disk takes what has room, and what takes none") {
        simulated w;
        auto file = w.files.create(w / "a").value();
        w.disk.set_capacity(4 * sector + 100);
        w.files.write(file, 0, std::string(2 * sector, 'x')).value();
        auto const full = w.files.write(file, sector, std::string(4 * sector, 'y'));
        CHECK(full.error().cause() == ENOSPC);
        CHECK(w.disk.used() == 4 * sector);
        CHECK(w.files.size(file).value() == 4 * sector);
        CHECK(why(w.files.write(file, 4 * sector, std::string("z"))) == rule::storage_failed);
        aligned_bytes const four(std::string(4 * sector, 'z')), five(std::string(5 * sector, 'z'));
        CHECK(w.files.write_durably(file, 0, four));
        CHECK(w.files.write_durably(file, 0, five).error().cause() == ENOSPC);
        w.files.remove(w / "a").value();
        auto other = w.files.create(w / "b").value();
        CHECK(w.files.write_durably(other, 0, four));
        w.disk.set_capacity(UINT64_MAX);
        CHECK(w.files.write_durably(other, 0, five));
    }

    TEST_CASE("bits turn around, and sectors become unreadable, for good") {
        simulated w;
        auto file = w.files.create(w / "a").value();
        w.files.sync_folder(w.top()).value();
        w.files.write_durably(file, 0, aligned_bytes(std::string(3 * sector, '\0'))).value();
        w.disk.flip(w / "a", sector + 1, 3);
        w.disk.power_cut(1);
        file = w.files.open(w / "a").value();
        std::string expected(3 * sector, '\0');
        expected[sector + 1] = 8;
        CHECK(all_of(w.files, file) == expected);

        w.disk.make_unreadable(w / "a", 2 * sector - 1);
        std::string into(sector, ' ');
        CHECK(w.files.read(file, 0, into));
        CHECK(w.files.read(file, 2 * sector, into));
        CHECK(w.files.read(file, 1, into).error().cause() == EIO);
        w.disk.power_cut(2);
        file = w.files.open(w / "a").value();
        CHECK(w.files.read(file, sector, into).error().cause() == EIO);
        w.files.write(file, sector, into).value();
        CHECK(w.files.read(file, sector, into));
    }

    TEST_CASE("what is put there is durable, and a new file has marks of its own") {
        simulated w;
        auto file = w.files.create(w / "a").value();
        w.files.sync_folder(w.top()).value();
        w.files.write(file, 0, std::string("before")).value();
        w.disk.put(w / "a", "changed");
        w.disk.put(w / "copy", w.disk.bytes(w / "a"));
        auto copy = w.files.open(w / "copy").value();
        CHECK_FALSE(w.files.marks(file).value().same_file_as(w.files.marks(copy).value()));
        w.disk.power_cut(1);
        CHECK(w.disk.bytes(w / "a") == "changed");
        CHECK(w.disk.bytes(w / "copy") == "changed");
    }

    TEST_CASE("bytes that are not aligned are no durable write") {
        simulated w;
        auto file = w.files.create(w / "a").value();
        aligned_bytes const one(std::string(sector, 'x'));
        std::span<char const> const bytes = one;
        CHECK(w.files.write_durably(file, 1, bytes).error().cause() == EINVAL);
        CHECK(w.files.write_durably(file, 0, bytes.first(100)).error().cause() == EINVAL);
        CHECK(w.files.write_durably(file, 0, std::span(bytes.data() + 1, 0)).error().cause() ==
              EINVAL);
    }

    TEST_CASE("the same calls and seeds leave the same bytes") {
        auto run = [](std::uint64_t seed) {
            simulated w;
            auto file = w.files.create(w / "a").value();
            w.files.sync_folder(w.top()).value();
            w.disk.fail(w.disk.steps() + 3, w.disk.steps() + 4);
            for (int n = 0; n < 10; ++n)
                (void)w.files.write(file, 300U * static_cast<unsigned>(n), std::string(1'500, 'x'));
            (void)w.files.sync(file);
            (void)w.files.write(file, 0, std::string(10'000, 'y'));
            w.disk.power_cut(seed);
            return w.disk.bytes(w / "a");
        };
        std::set<std::string> all;
        for (std::uint64_t seed = 1; seed <= 20; ++seed) {
            CHECK(run(seed) == run(seed));
            all.insert(run(seed));
        }
        CHECK(all.size() > 5);
    }
}
