// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef INDOUBT_BENCHMARKS_JOURNAL_SLICE_HPP
#define INDOUBT_BENCHMARKS_JOURNAL_SLICE_HPP

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <latch>
#include <string>
#include <string_view>
#include <thread>
#include <unistd.h>
#include <vector>

// What all candidates share: their folder, their data, and a slice of time in which they work.

namespace bench {

using clock = std::chrono::steady_clock;

inline double seconds_since(clock::time_point start) {
    return std::chrono::duration<double>(clock::now() - start).count();
}

/// Where all files go: below the folder in which the program runs, so on its disk.
class data_folder {
public:
    static std::string const& path() { return one().path_; }
    static void remove() {
        std::error_code ignored;
        std::filesystem::remove_all(path(), ignored);
    }

private:
    data_folder() {
        if (::mkdtemp(path_.data()) == nullptr) {
            std::perror("a folder for the data cannot be made");
            std::_Exit(1);
        }
    }
    static data_folder& one() {
        static data_folder folder;
        return folder;
    }
    std::string path_ = "journal_data.XXXXXX";
};

/// A candidate that fails has no figure, and neither has the run.
[[noreturn]] inline void fail(std::string_view who, std::string_view why) {
    std::fprintf(stderr, "%.*s failed: %.*s\n", static_cast<int>(who.size()), who.data(),
                 static_cast<int>(why.size()), why.data());
    data_folder::remove();
    std::_Exit(1);
}
[[noreturn]] inline void fail_with_errno(std::string_view who) {
    fail(who, std::strerror(errno));
}

inline std::uint64_t number_from_environment(char const* name, std::uint64_t otherwise) {
    char const* const text = std::getenv(name);
    if (text == nullptr) return otherwise;
    std::uint64_t const n = std::strtoull(text, nullptr, 10);
    if (n == 0) fail(name, "is no positive number");
    return n;
}

// ---- the data -----------------------------------------------------------------------------------

inline constexpr std::size_t record_bytes = 200, confirm_bytes = 32; // key and value; value
inline constexpr std::size_t operation_bytes = 240;                  // what the bound writes
inline constexpr std::uint64_t first_number = 100'000'000;           // all have as many digits

inline std::string const request_text =
    R"({"item":"practice-notebook","quantity":1,"customer":"c-1234567",)"
    R"("note":"deliver to the back door"})";

inline std::string key_of(std::uint64_t n) {
    return "invoice-" + std::to_string(n);
}

// ---- a slice ------------------------------------------------------------------------------------

struct load {
    unsigned threads = 1, batch = 1;
    std::chrono::milliseconds lasts{100};
};

struct measured {
    std::uint64_t operations = 0;
    double seconds = 0;
    double p99_us = 0; ///< of one turn; only with one thread
};

inline double p99(std::vector<double>& values) {
    if (values.empty()) return 0;
    auto const at = values.begin() + static_cast<std::ptrdiff_t>(values.size() * 99 / 100);
    std::ranges::nth_element(values, at);
    return *at;
}

/// Whoever does operations in one of the ways that are compared. It lives as long as the program:
/// what it puts off to later is paid for in a later slice.
class candidate {
public:
    candidate() = default;
    candidate(candidate const&) = delete;
    candidate& operator=(candidate const&) = delete;
    virtual ~candidate() = default;
    virtual measured run(load const& l) = 0;
};

/// One of the threads of a slice.
struct worker {
    unsigned batch = 1;
    std::vector<std::string> unconfirmed{}; ///< keys whose confirmation waits for a commit
};

/// Turns one operation or one batch after the other, in each thread, until the time is over.
class by_turns : public candidate {
public:
    measured run(load const& l) override {
        std::latch ready(l.threads + 1);
        std::atomic<std::uint64_t> turns{0};
        std::vector<double> times;
        clock::time_point start;
        std::vector<std::thread> threads;
        std::vector<worker> workers(l.threads);
        for (worker& w : workers) {
            w.batch = l.batch;
            threads.emplace_back([&] {
                ready.arrive_and_wait();
                std::uint64_t mine = 0;
                auto before = clock::now();
                auto const until = before + l.lasts;
                do {
                    turn(w);
                    ++mine;
                    auto const now = clock::now();
                    if (l.threads == 1)
                        times.push_back(std::chrono::duration<double>(now - before).count());
                    before = now;
                } while (before < until);
                turns += mine;
            });
        }
        start = clock::now();
        ready.arrive_and_wait();
        for (auto& t : threads)
            t.join();
        double const took = seconds_since(start);
        for (worker& w : workers)
            finish(w);
        return {turns * l.batch, took, 1e6 * p99(times)};
    }

protected:
    virtual void turn(worker& w) = 0;
    virtual void finish(worker&) {}
    std::uint64_t next_numbers(unsigned how_many) { return next_.fetch_add(how_many); }

private:
    std::atomic<std::uint64_t> next_{first_number};
};

} // namespace bench

#endif
