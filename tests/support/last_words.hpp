// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef TESTS_SUPPORT_LAST_WORDS_HPP
#define TESTS_SUPPORT_LAST_WORDS_HPP

#include <doctest/doctest.h>

#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <string>

#include <sys/wait.h>
#include <unistd.h>

/// What a mistake of the program says before it aborts: f runs in a child process, which must come
/// to abort(). It ends in the usual way from there, so that its lines are counted as covered.
template <class F> std::string last_words_of(F f) {
    constexpr int aborted = 86;
    std::fflush(nullptr);
    int ends[2];
    REQUIRE(::pipe(ends) == 0);
    ::pid_t const child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        std::signal(SIGABRT, [](int) { std::exit(aborted); });
        ::dup2(ends[1], STDERR_FILENO);
        (void)f();
        ::_exit(0);
    }
    ::close(ends[1]);
    std::string words;
    char buffer[256];
    for (::ssize_t n = 0; (n = ::read(ends[0], buffer, sizeof buffer)) > 0;)
        words.append(buffer, static_cast<std::size_t>(n));
    ::close(ends[0]);
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == aborted);
    return words;
}

#endif
