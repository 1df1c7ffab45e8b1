// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef INDOUBT_BENCHMARKS_JOURNAL_BOUNDS_HPP
#define INDOUBT_BENCHMARKS_JOURNAL_BOUNDS_HPP

#include "slice.hpp"

#include <algorithm>
#include <atomic>
#include <climits>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <linux/futex.h>
#include <memory>
#include <string>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

// What no journal can be faster than, and the way it was done before there was one.

namespace bench {

/// One thread that writes what all callers would have written, again and again, and does nothing
/// else: durable writes past the cache into a file that was written before.
class reference : public candidate {
public:
    reference() {
        std::string const path = data_folder::path() + "/reference";
        int const made = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
        if (made < 0) fail_with_errno("ref");
        std::vector<char> const zeros(std::size_t{1} << 20);
        for (std::size_t at = 0; at < file_bytes; at += zeros.size())
            put(made, zeros.data(), zeros.size(), at);
        if (::fsync(made) != 0) fail_with_errno("ref");
        fd_ = ::open(path.c_str(), O_WRONLY | O_DIRECT | O_DSYNC | O_CLOEXEC);
        is_direct_ = fd_ >= 0;
        if (is_direct_ && ::pwrite(fd_, buffer_.get(), 512, 0) != 512) { // larger sectors
            ::close(fd_);
            is_direct_ = false;
        }
        if (is_direct_) {
            ::close(made);
        } else {
            fd_ = made;
        }
    }
    ~reference() override { ::close(fd_); }

    measured run(load const& l) override {
        std::uint64_t const operations = std::uint64_t{l.threads} * l.batch;
        std::size_t const size = (operations * operation_bytes + 511) / 512 * 512;
        if (size > buffer_bytes) fail("ref", "a write is larger than the buffer");
        std::vector<double> times;
        std::uint64_t writes = 0;
        auto const start = clock::now();
        auto before = start;
        do {
            if (at_ + size > file_bytes) at_ = 0;
            put(fd_, buffer_.get(), size, at_);
            if (!is_direct_ && ::fdatasync(fd_) != 0) fail_with_errno("ref");
            at_ += size;
            ++writes;
            auto const now = clock::now();
            times.push_back(std::chrono::duration<double>(now - before).count());
            before = now;
        } while (before < start + l.lasts);
        double const took = std::chrono::duration<double>(before - start).count();
        return {writes * operations, took, 1e6 * p99(times)};
    }

private:
    static constexpr std::size_t file_bytes = std::size_t{16} << 20;
    static constexpr std::size_t buffer_bytes = std::size_t{1} << 20;
    struct release {
        void operator()(char* p) const { std::free(p); }
    };

    static void put(int fd, char const* from, std::size_t size, std::size_t at) {
        if (::pwrite(fd, from, size, static_cast<off_t>(at)) != static_cast<ssize_t>(size))
            fail_with_errno("ref");
    }
    static char* make_buffer() {
        auto* const p = static_cast<char*>(std::aligned_alloc(4096, buffer_bytes));
        if (p == nullptr) fail("ref", "out of memory");
        std::fill_n(p, buffer_bytes, 'x');
        return p;
    }

    std::unique_ptr<char, release> buffer_{make_buffer()};
    int fd_ = -1;
    bool is_direct_ = false;
    std::size_t at_ = 0;
};

/// No threads can be told faster that their write is done: one wakes all others, and the last of
/// them to wake wakes it.
class wake_up : public candidate {
public:
    measured run(load const& l) override {
        std::atomic<std::uint32_t> round{0}, arrived{0};
        std::atomic<bool> over{false};
        std::uint32_t const others = l.threads - 1;
        std::vector<std::thread> threads;
        for (std::uint32_t i = 0; i != others; ++i) {
            threads.emplace_back([&] {
                for (std::uint32_t seen = 0;; ++seen) {
                    while (round.load() == seen)
                        wait(round, seen);
                    if (over) return;
                    if (arrived.fetch_add(1) + 1 == others) wake(arrived, 1);
                }
            });
        }
        std::uint64_t rounds = 0;
        auto const start = clock::now();
        do {
            arrived = 0;
            ++round;
            wake(round, INT_MAX);
            for (std::uint32_t n = arrived.load(); n != others; n = arrived.load())
                wait(arrived, n);
            ++rounds;
        } while (clock::now() < start + l.lasts);
        double const took = seconds_since(start);
        over = true;
        ++round;
        wake(round, INT_MAX);
        for (auto& t : threads)
            t.join();
        return {rounds * l.threads, took, 0};
    }

private:
    static void wait(std::atomic<std::uint32_t>& word, std::uint32_t value) {
        ::syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, value, nullptr, nullptr, 0);
    }
    static void wake(std::atomic<std::uint32_t>& word, int how_many) {
        ::syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, how_many, nullptr, nullptr, 0);
    }
};

/// seed.py, which measures itself: starting Python does not count.
class seed : public candidate {
public:
    measured run(load const& l) override {
        std::string const command =
            JOURNAL_SEED " " + data_folder::path() + "/seed.db " + std::to_string(l.lasts.count());
        std::FILE* const out = ::popen(command.c_str(), "r");
        if (out == nullptr) fail_with_errno("seed");
        measured m;
        unsigned long long operations = 0;
        int const got = std::fscanf(out, "%llu %lf %lf", &operations, &m.seconds, &m.p99_us);
        if (::pclose(out) != 0 || got != 3) fail("seed", command);
        m.operations = operations;
        return m;
    }
};

} // namespace bench

#endif
