// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef EXAMPLES_COMMON_TEMPORARY_DIRECTORY_HPP
#define EXAMPLES_COMMON_TEMPORARY_DIRECTORY_HPP

#include <cerrno>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>

#include <stdlib.h>

// Where an example keeps its files. A real program keeps its journal where it survives.

/// A fresh directory of our own, removed with all that is in it at the end.
class temporary_directory {
public:
    explicit temporary_directory(std::string_view name) {
        auto pattern = std::filesystem::temp_directory_path() / name;
        pattern += ".XXXXXX";
        std::string made = pattern.string();
        if (::mkdtemp(made.data()) == nullptr) {
            throw std::system_error(errno, std::generic_category(), made);
        }
        path_ = made;
    }
    temporary_directory(temporary_directory const&) = delete;
    temporary_directory& operator=(temporary_directory const&) = delete;
    ~temporary_directory() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }

    std::filesystem::path operator/(std::string_view file) const { return path_ / file; }

private:
    std::filesystem::path path_;
};

#endif
