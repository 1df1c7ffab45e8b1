// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef EXAMPLES_COMMON_DATABASE_HPP
#define EXAMPLES_COMMON_DATABASE_HPP

#include <cstdint>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <sqlite3.h>

// A SQLite file that stands in for the remote service of an example. Journals do not use it: they
// have <indoubt/adapter/sqlite_storage.hpp>.

/// Throws std::runtime_error where SQLite reports an error.
class database {
public:
    using row = std::vector<std::string>; // every value as text

    explicit database(std::filesystem::path const& file) {
        sqlite3* opened = nullptr;
        int const status = ::sqlite3_open(file.c_str(), &opened);
        connection_.reset(opened);
        check(status);
        ::sqlite3_busy_timeout(opened, 1'000);
    }

    /// Runs one statement and returns all of its rows. Each ? takes a value, in order.
    template <class... Values> std::vector<row> run(std::string_view sql, Values const&... values) {
        sqlite3_stmt* prepared = nullptr;
        check(::sqlite3_prepare_v2(connection_.get(), sql.data(), static_cast<int>(sql.size()),
                                   &prepared, nullptr));
        std::unique_ptr<sqlite3_stmt, finalize> const statement(prepared);
        int place = 0;
        (check(bind(prepared, ++place, values)), ...);
        std::vector<row> rows;
        int status = ::sqlite3_step(prepared);
        for (; status == SQLITE_ROW; status = ::sqlite3_step(prepared)) {
            row& r = rows.emplace_back();
            for (int i = 0; i != ::sqlite3_column_count(prepared); ++i) {
                auto const* text = ::sqlite3_column_text(prepared, i);
                r.emplace_back(text ? reinterpret_cast<char const*>(text) : "");
            }
        }
        if (status != SQLITE_DONE) check(status);
        return rows;
    }

    /// The single value of a statement such as SELECT count(*).
    template <class... Values> std::int64_t number(std::string_view sql, Values const&... values) {
        return std::stoll(run(sql, values...).at(0).at(0));
    }

private:
    static int bind(sqlite3_stmt* s, int place, std::string_view text) {
        return ::sqlite3_bind_text(s, place, text.data(), static_cast<int>(text.size()),
                                   SQLITE_TRANSIENT);
    }
    static int bind(sqlite3_stmt* s, int place, std::int64_t number) {
        return ::sqlite3_bind_int64(s, place, number);
    }

    void check(int status) const {
        if (status != SQLITE_OK) throw std::runtime_error(::sqlite3_errmsg(connection_.get()));
    }

    struct close {
        void operator()(sqlite3* c) const { ::sqlite3_close(c); }
    };
    struct finalize {
        void operator()(sqlite3_stmt* s) const { ::sqlite3_finalize(s); }
    };
    std::unique_ptr<sqlite3, close> connection_;
};

#endif
