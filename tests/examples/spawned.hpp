// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef TESTS_EXAMPLES_SPAWNED_HPP
#define TESTS_EXAMPLES_SPAWNED_HPP

#include <doctest/doctest.h>

#include <filesystem>
#include <string>
#include <vector>

#include <fcntl.h>
#include <spawn.h>
#include <unistd.h>

/// A program in a process of its own, with its arguments; what it prints goes to two files.
inline pid_t spawned(std::vector<std::string> words, std::filesystem::path const& out,
                     std::filesystem::path const& err) {
    std::vector<char*> argv;
    for (auto& word : words)
        argv.push_back(word.data());
    argv.push_back(nullptr);
    posix_spawn_file_actions_t files;
    ::posix_spawn_file_actions_init(&files);
    constexpr int fresh = O_WRONLY | O_CREAT | O_TRUNC;
    ::posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, out.c_str(), fresh, 0600);
    ::posix_spawn_file_actions_addopen(&files, STDERR_FILENO, err.c_str(), fresh, 0600);
    pid_t child = 0;
    int const started = ::posix_spawn(&child, argv[0], &files, nullptr, argv.data(), ::environ);
    ::posix_spawn_file_actions_destroy(&files);
    REQUIRE(started == 0);
    return child;
}

#endif
