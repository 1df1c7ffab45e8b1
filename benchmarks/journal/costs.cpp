// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)

// What the journal costs apart from the disk: CPU and heap allocations of an operation, memory of
// one that is settled, and how long it takes to open a journal again.
//
// JOURNAL_OPERATIONS: how many are settled for the last two.

#include "own.hpp"
#include "slice.hpp"

#include <indoubt.hpp>
#include <indoubt/adapter/log_storage.hpp>

#include <benchmark/benchmark.h>
#include <boost/unordered/unordered_flat_map.hpp>
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <malloc.h>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unistd.h>
#include <utility>
#include <vector>

namespace {
std::atomic<std::uint64_t> allocations = 0;
}

// The library's own operator new is replaced to count; GCC takes the pair for a mismatch.
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"

void* operator new(std::size_t size) {
    allocations.fetch_add(1, std::memory_order_relaxed);
    if (void* p = std::malloc(size)) return p;
    throw std::bad_alloc();
}
void* operator new(std::size_t size, std::align_val_t alignment) {
    allocations.fetch_add(1, std::memory_order_relaxed);
    auto const a = static_cast<std::size_t>(alignment);
    if (void* p = std::aligned_alloc(a, (size + a - 1) / a * a)) return p;
    throw std::bad_alloc();
}
void operator delete(void* p) noexcept {
    std::free(p);
}
void operator delete(void* p, std::size_t) noexcept {
    std::free(p);
}
void operator delete(void* p, std::align_val_t) noexcept {
    std::free(p);
}
void operator delete(void* p, std::size_t, std::align_val_t) noexcept {
    std::free(p);
}

namespace {

using namespace bench;
using namespace indoubt;

// ---- CPU ----------------------------------------------------------------------------------------

/// What the library asked of its storage.
struct call {
    enum class kind {
        insert,
        replace,
        bind,
        is_current,
        flush
    } is = kind::flush;
    std::optional<record> written{};
    identity id{};
    version expected{};
    std::string name{};
};

/// Keeps all calls that an operation makes.
class recording_storage {
public:
    explicit recording_storage(std::vector<call>& into) : calls_(&into) {}

    storage_facts facts() { return inner_.facts(); }
    result<std::optional<record>> insert(record const& r) {
        calls_->push_back({.is = call::kind::insert, .written = r});
        return inner_.insert(r);
    }
    result<void> replace(record const& r, version expected) {
        calls_->push_back({.is = call::kind::replace, .written = r, .expected = expected});
        return inner_.replace(r, expected);
    }
    result<std::optional<record>> find(identity const& id) { return inner_.find(id); }
    result<bool> is_current(identity const& id, version v) {
        calls_->push_back({.is = call::kind::is_current, .id = id, .expected = v});
        return inner_.is_current(id, v);
    }
    result<bool> bind(std::string_view name, identity const& id) {
        calls_->push_back({.is = call::kind::bind, .id = id, .name = std::string(name)});
        return inner_.bind(name, id);
    }
    template <class Visitor> result<std::size_t> visit_unsettled(page p, Visitor&& visit) {
        return inner_.visit_unsettled(p, visit);
    }
    result<void> flush() {
        calls_->push_back({.is = call::kind::flush});
        return inner_.flush();
    }

private:
    memory_storage inner_;
    std::vector<call>* calls_;
};

/// A disk that takes no time once it is told to be silent: from then on nothing is written.
class silent_files : public detail::posix_files {
public:
    static constexpr bool makes_nothing_ahead = true; // no other thread
    // One is enough: what stands in an earlier one would be read.
    static constexpr std::size_t smallest_segment = std::size_t{32} << 20;
    static inline bool silent = false;

    static result<void> write(file& f, std::uint64_t offset, std::span<char const> bytes) {
        return silent ? success() : posix_files::write(f, offset, bytes);
    }
    static result<void> sync(file& f) { return silent ? success() : posix_files::sync(f); }
    static result<void> write_durably(file& f, std::uint64_t offset, std::span<char const> bytes) {
        return silent ? success() : posix_files::write_durably(f, offset, bytes);
    }
    static result<void> sync_folder(std::string const& path) {
        return silent ? success() : posix_files::sync_folder(path);
    }
};

/// The least that could be done: the digest of an identity or a name, and an entry of a map.
class digest_map {
public:
    bool insert(identity const& id, std::uint64_t place) {
        return places_.try_emplace(digest_of(id), place).second;
    }
    bool replace(identity const& id, std::uint64_t place) {
        auto const at = places_.find(digest_of(id));
        if (at == places_.end()) return false;
        at->second = place;
        return true;
    }
    void bind(std::string_view name, std::uint64_t place) {
        names_.try_emplace(digest_of(name), place);
    }
    bool is_current(identity const& id) const { return places_.contains(digest_of(id)); }

private:
    struct digest {
        std::uint64_t low, high;
        bool operator==(digest const&) const = default;
    };
    struct hash {
        using is_avalanching = void;
        std::size_t operator()(digest const& d) const { return d.low; }
    };

    static digest digest_of(std::string_view bytes) {
        auto const d = XXH3_128bits(bytes.data(), bytes.size());
        return {d.low64, d.high64};
    }
    static digest digest_of(identity const& id) {
        std::array<char, 128> joined;
        if (id.scope.size() + id.key.size() >= joined.size()) std::abort();
        char* end = std::ranges::copy(id.scope, joined.data()).out;
        *end++ = '\0';
        end = std::ranges::copy(id.key, end).out;
        return digest_of({joined.data(), static_cast<std::size_t>(end - joined.data())});
    }

    boost::unordered_flat_map<digest, std::uint64_t, hash> places_, names_;
};

void must(bool good, std::string_view who) {
    if (!good) fail(who, "a call was refused");
}

template <class Storage> void replay(Storage& to, std::vector<call> const& calls) {
    for (call const& c : calls) {
        switch (c.is) {
        case call::kind::insert: {
            auto const there = to.insert(*c.written);
            must(there && !there.value(), "insert");
            break;
        }
        case call::kind::replace:
            must(to.replace(*c.written, c.expected).has_value(), "replace");
            break;
        case call::kind::bind: {
            auto const theirs = to.bind(c.name, c.id);
            if (!theirs) fail("bind", theirs.error().message());
            must(theirs.value(), "bind");
            break;
        }
        case call::kind::is_current: {
            auto const current = to.is_current(c.id, c.expected);
            must(current && current.value(), "is_current");
            break;
        }
        case call::kind::flush: must(to.flush().has_value(), "flush"); break;
        }
    }
}

void replay(digest_map& to, std::vector<call> const& calls) {
    std::uint64_t place = 0;
    for (call const& c : calls) {
        ++place;
        switch (c.is) {
        case call::kind::insert: must(to.insert(c.written->identity(), place), "insert"); break;
        case call::kind::replace: must(to.replace(c.written->identity(), place), "replace"); break;
        case call::kind::bind: to.bind(c.name, place); break;
        case call::kind::is_current: must(to.is_current(c.id), "is_current"); break;
        case call::kind::flush: break;
        }
    }
}

/// The same calls to the journal and to the map, and a whole run with the library beside it.
void cpu(benchmark::State& state) {
    std::uint64_t const operations =
        std::min<std::uint64_t>(10'000, number_from_environment("JOURNAL_OPERATIONS", 10'000));
    static std::vector<call> const calls = [&] {
        std::vector<call> all;
        recovery r{policies{.provider = asked_provider{}, .storage = recording_storage(all)}};
        for (std::uint64_t n = 0; n != operations; ++n) {
            must(r.run({"tenant-7", key_of(first_number + n)}, request_text, {.tell = tell::early})
                     .has_value(),
                 "run");
        }
        return all;
    }();
    static std::uint64_t journals = 0;
    using storage = basic_log_storage<silent_files>;
    auto const fresh = [] {
        silent_files::silent = false;
        auto made = storage::create(data_folder::path() + "/cpu" + std::to_string(++journals));
        if (!made) fail("cpu", made.error().message());
        silent_files::silent = true;
        return std::move(made).value();
    };
    double const each = 1e9 / static_cast<double>(operations);
    static bool const is_warm = [&] {
        digest_map map;
        replay(map, calls);
        auto log = fresh();
        replay(log, calls);
        return true;
    }();
    benchmark::DoNotOptimize(is_warm);
    for (auto _ : state) {
        digest_map map;
        auto start = clock::now();
        replay(map, calls);
        double const bare = each * seconds_since(start);

        auto log = fresh();
        auto const before = allocations.load();
        start = clock::now();
        replay(log, calls);
        double const own = each * seconds_since(start);
        auto const allocated = static_cast<double>(allocations - before);

        recovery r{policies{.provider = asked_provider{}, .storage = fresh()}};
        start = clock::now();
        for (std::uint64_t n = 0; n != operations; ++n) {
            must(r.run({"tenant-7", key_of(first_number + n)}, request_text, {.tell = tell::early})
                     .has_value(),
                 "run");
        }
        state.counters["library_ns"] = each * seconds_since(start);
        state.counters["log_ns"] = own;
        state.counters["map_ns"] = bare;
        state.counters["ratio"] = own / bare;
        state.counters["allocations"] = allocated / static_cast<double>(operations);
    }
}
BENCHMARK(cpu)->Iterations(1)->Unit(benchmark::kMillisecond);

// ---- memory, reopening --------------------------------------------------------------------------

std::size_t bytes_in_use() {
    auto const m = ::mallinfo2();
    return m.uordblks + m.hblkhd;
}

/// Settles so many in batches. Returns: how many bytes of memory they hold then.
std::size_t settle(log_storage made, std::uint64_t operations) {
    std::size_t const before = bytes_in_use();
    recovery r{policies{.provider = asked_provider{}, .storage = std::move(made)}};
    constexpr std::uint64_t batch = 1000;
    for (std::uint64_t n = 0; n < operations; n += batch) {
        std::vector<std::pair<identity, std::string>> all;
        for (std::uint64_t i = n; i != std::min(n + batch, operations); ++i)
            all.emplace_back(identity{"tenant-7", key_of(first_number + i)}, request_text);
        for (auto const& done : r.run_all(all))
            must(done.has_value(), "run_all");
    }
    return bytes_in_use() - before;
}

std::uint64_t how_many_settled() {
    return number_from_environment("JOURNAL_OPERATIONS", 200'000);
}

log_storage journal_at(std::string const& path) {
    auto made = log_storage::create(path);
    if (!made) fail("log_storage", made.error().message());
    return std::move(made).value();
}

void memory(benchmark::State& state) {
    static int journals = 0;
    std::uint64_t const operations = how_many_settled();
    for (auto _ : state) {
        auto const path = data_folder::path() + "/memory" + std::to_string(++journals);
        auto const held = settle(journal_at(path), operations);
        state.counters["bytes_per_operation"] =
            static_cast<double>(held) / static_cast<double>(operations);
        std::filesystem::remove_all(path);
    }
}
BENCHMARK(memory)->Iterations(1)->Repetitions(1)->Unit(benchmark::kMillisecond);

std::vector<std::string> files_of(std::string const& folder) {
    std::vector<std::string> all;
    for (auto const& e : std::filesystem::directory_iterator(folder))
        all.push_back(e.path());
    std::ranges::sort(all);
    return all;
}

/// As far as a program that is not root can: pages that are clean are forgotten.
void forget_cached(std::string const& folder) {
    for (auto const& path : files_of(folder)) {
        int const fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
        if (fd < 0 || ::fsync(fd) != 0 || ::posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED) != 0)
            fail_with_errno("reopen");
        ::close(fd);
    }
}

std::size_t read_in_order(std::string const& folder) {
    static std::vector<char> buffer(std::size_t{1} << 20);
    std::size_t read = 0;
    for (auto const& path : files_of(folder)) {
        int const fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
        if (fd < 0) fail_with_errno("reopen");
        for (ssize_t n = 1; n > 0; read += static_cast<std::size_t>(n)) {
            n = ::read(fd, buffer.data(), buffer.size());
            if (n < 0) fail_with_errno("reopen");
        }
        ::close(fd);
    }
    return read;
}

void reopen(benchmark::State& state) {
    std::uint64_t const operations = how_many_settled();
    static std::string const path = [&] {
        auto const at = data_folder::path() + "/reopen";
        settle(journal_at(at), operations);
        return at;
    }();
    for (auto _ : state) {
        forget_cached(path);
        auto start = clock::now();
        auto const bytes = read_in_order(path);
        double const read = seconds_since(start);

        forget_cached(path);
        start = clock::now();
        auto opened = log_storage::open(path);
        double const open = seconds_since(start);
        if (!opened) fail("reopen", opened.error().message());
        identity const one{"tenant-7", key_of(first_number + operations / 2)};
        start = clock::now();
        auto const found = opened.value().find(one);
        double const first = seconds_since(start);
        must(found && found.value() && found.value()->state == state_id::confirmed, "find");

        state.counters["open_ms"] = 1e3 * open;
        state.counters["read_ms"] = 1e3 * read;
        state.counters["ratio"] = open / read;
        state.counters["first_ms"] = 1e3 * first;
        state.counters["megabytes"] = static_cast<double>(bytes) / 1e6;
        state.counters["operations"] = static_cast<double>(operations);
    }
}
BENCHMARK(reopen)->Iterations(1)->Unit(benchmark::kMillisecond);

} // namespace

int main(int argc, char** argv) {
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
    benchmark::RunSpecifiedBenchmarks();
    data_folder::remove();
}
