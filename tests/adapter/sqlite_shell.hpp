// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef INDOUBT_TESTS_ADAPTER_SQLITE_SHELL_HPP
#define INDOUBT_TESTS_ADAPTER_SQLITE_SHELL_HPP

#include <adapter/temporary_folder.hpp>

#include <filesystem>
#include <memory>
#include <sqlite3.h>
#include <stdexcept>
#include <string>
#include <string_view>
#include <sys/stat.h>

// A journal as a person with a shell has it.

namespace indoubt::tests {

namespace detail {
struct close_shell {
    void operator()(sqlite3* db) const { sqlite3_close(db); }
};
} // namespace detail

/// Runs SQL. Returns: the first column of the last row, as text.
inline std::string asked(std::string const& path, std::string const& sql) {
    sqlite3* raw = nullptr;
    int code = sqlite3_open(path.c_str(), &raw);
    std::unique_ptr<sqlite3, detail::close_shell> const db(raw);
    std::string answer;
    auto const keep = [](void* to, int, char** columns, char**) {
        *static_cast<std::string*>(to) = columns[0] != nullptr ? columns[0] : "";
        return 0;
    };
    if (code == SQLITE_OK) code = sqlite3_exec(raw, sql.c_str(), keep, &answer, nullptr);
    if (code != SQLITE_OK)
        throw std::runtime_error(std::string("in a shell: ") + sqlite3_errmsg(raw));
    return answer;
}

inline void in_shell(std::string const& path, std::string const& sql) {
    (void)asked(path, sql);
}

/// Makes a database of the file with this name, which lies beside this one.
inline void make_from_sql(std::string const& path, std::string_view name) {
    in_shell(path, bytes_of(std::filesystem::path(__FILE__).parent_path() / name));
    std::filesystem::permissions(path, std::filesystem::perms{0600});
}

/// Lets a journal that was made by hand say that it is in its place.
inline void put_marks(std::string const& path) {
    struct stat s{};
    if (::stat(path.c_str(), &s) != 0) throw std::runtime_error("no file to be marked");
    in_shell(path, "UPDATE meta SET born_ns = 0, inode = " + std::to_string(s.st_ino) +
                       ", device = " + std::to_string(s.st_dev));
}

} // namespace indoubt::tests

#endif
