// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef EXAMPLES_JOURNAL_TOOL_SALVAGE_SQLITE_HPP
#define EXAMPLES_JOURNAL_TOOL_SALVAGE_SQLITE_HPP

#include "salvage.hpp"
#include "sqlite_journal.hpp"
#include "text.hpp"

#include <indoubt/adapter/sqlite/statements.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

// The rows of a SQLite journal, one by one: where one cannot be read, the next ones are looked for
// behind it.

namespace journal_tool {

class sqlite_salvage {
public:
    sqlite_salvage(std::string path, salvaged& to) : path_(std::move(path)), to_(to) {}

    /// Errors: those of sqlite_reading::open.
    result<void> go() {
        BOOST_OUTCOME_TRY(auto const reading, sqlite_reading::open(path_));
        db_ = reading.get();
        operations();
        names();
        return indoubt::success();
    }

private:
    void skip(std::string const& what) { to_.skipped.push_back(path_ + ": " + what); }

    /// One statement; its code is kept in it.
    struct question {
        int code = SQLITE_OK;
        db::sqlite_statement statement;
        db::sqlite_run run{statement.get()};

        question(sqlite3* db, std::string_view sql) : statement(db, sql, code) {}
        sqlite3_stmt* row() const { return statement.get(); }
    };

    /// The columns of a row from one on, but for those that count the items of a list.
    static void put_row(json_object& o, sqlite3_stmt* s, int from = 0, int to = most_columns) {
        for (int i = from; i != std::min(to, sqlite3_column_count(s)); ++i) {
            std::string_view const name = sqlite3_column_name(s, i);
            if (is_list(name)) continue;
            auto const* bytes = static_cast<char const*>(sqlite3_column_blob(s, i));
            auto const size = static_cast<std::size_t>(sqlite3_column_bytes(s, i));
            switch (sqlite3_column_type(s, i)) {
            case SQLITE_INTEGER: o.number(name, sqlite3_column_int64(s, i)); break;
            case SQLITE_NULL: o.raw(name, "null"); break;
            default: o.text(name, {bytes == nullptr ? "" : bytes, size});
            }
        }
    }
    static std::string line_of(sqlite3_stmt* s) {
        json_object o;
        put_row(o, s);
        return o.line();
    }

    static constexpr int most_columns = std::numeric_limits<int>::max();

    static bool is_list(std::string_view column) {
        return column == "attempts" || column == "decisions" || column == "former_keys" ||
               column == "set_aside";
    }

    // ---- operations -----------------------------------------------------------------------------

    using number = std::int64_t;
    static constexpr number last_of_all = std::numeric_limits<number>::max();

    void operations() {
        number from = std::numeric_limits<number>::min();
        while (std::optional<number> const bad = ascending(from)) {
            // Behind what cannot be read: farther and farther away, then back from there.
            std::optional<number> there;
            for (number step = 1; !there && step < last_of_all / 4; step *= 2) {
                bool ended = false;
                there = first_from(later(*bad, step), ended);
                if (ended) there = last_of_all;
            }
            number const reached = descending(there.value_or(last_of_all), *bad);
            skip("operations from " + std::to_string(*bad) + " to before " +
                 (reached == last_of_all ? "the end" : std::to_string(reached)) +
                 ": the table cannot be read there");
            if (!there || *there == last_of_all) return;
            from = later(*there, 1);
        }
    }

    static number later(number n, number by) { return n > last_of_all - by ? last_of_all : n + by; }

    /// Takes all rows from this number on. Returns: the first number that may have been missed.
    std::optional<number> ascending(number from) {
        question q(db_, columns("WHERE operation >= ? ORDER BY operation"));
        q.run.put_number(from);
        while (q.code == SQLITE_OK && q.run.next()) {
            from = sqlite3_column_int64(q.row(), 0);
            take(from, q.row());
            if (from == last_of_all) return std::nullopt;
            ++from;
        }
        if (q.code != SQLITE_OK) {
            skip(std::string("the operations cannot be read: ") + sqlite3_errstr(q.code));
            return std::nullopt;
        }
        if (q.run.code() == SQLITE_OK) return std::nullopt;
        return from;
    }

    /// Takes all rows from this number back, as far as `to`. Returns: the last one it took.
    number descending(number from, number to) {
        question q(db_, columns("WHERE operation <= ? AND operation >= ? "
                                "ORDER BY operation DESC"));
        q.run.put_number(from);
        q.run.put_number(to);
        number reached = last_of_all;
        while (q.code == SQLITE_OK && q.run.next()) {
            reached = sqlite3_column_int64(q.row(), 0);
            take(reached, q.row());
        }
        return reached;
    }

    /// ended: nothing is there, and that could be read.
    std::optional<number> first_from(number from, bool& ended) {
        question q(db_, "SELECT operation FROM operations NOT INDEXED WHERE operation >= ? "
                        "ORDER BY operation LIMIT 1");
        q.run.put_number(from);
        if (q.code == SQLITE_OK && q.run.next()) return sqlite3_column_int64(q.row(), 0);
        ended = q.run.code() == SQLITE_OK;
        return std::nullopt;
    }

    static std::string columns(std::string_view which) {
        return db::sql::with_columns("SELECT operation, scope, key, @ FROM operations NOT INDEXED ",
                                     db::sql::operation_columns)
            .append(which);
    }

    void take(number operation, sqlite3_stmt* row) {
        std::string const called = "operation " + std::to_string(operation);
        json_object o;
        constexpr int names = 3; // operation, scope, key
        put_row(o, row, 0, names);
        question intent(db_, "SELECT target, request, fingerprint, fingerprint_rule FROM intents "
                             "WHERE operation = ?");
        intent.run.put_number(operation);
        if (intent.code == SQLITE_OK && intent.run.next()) {
            put_row(o, intent.row());
        } else {
            skip(called + ": its intent cannot be read");
        }
        put_row(o, row, names);
        for (auto const& [list, sql] : lists) {
            json_array items;
            question q(db_, sql);
            q.run.put_number(operation);
            while (q.code == SQLITE_OK && q.run.next())
                items.add(line_of(q.row()));
            if (q.code != SQLITE_OK || q.run.code() != SQLITE_OK ||
                static_cast<number>(items.size()) != expected(row, list))
                skip(called + ": its " + std::string(list) + " cannot be read whole");
            o.raw(list, items.line());
        }
        to_.operation(o.line());
    }

    static number expected(sqlite3_stmt* row, std::string_view list) {
        for (int i = 0; i != sqlite3_column_count(row); ++i)
            if (sqlite3_column_name(row, i) == list) return sqlite3_column_int64(row, i);
        return 0;
    }

    struct list {
        std::string_view name, sql;
    };
    static constexpr std::array lists{
        list{"attempts", "SELECT sent_at_ms, outcome, generation, guarantee, lasts_ms, "
                         "arrives_within_ms, domain FROM attempts WHERE operation = ? "
                         "ORDER BY number"},
        list{"decisions", "SELECT at_ms, what, who, why, id FROM decisions WHERE operation = ? "
                          "ORDER BY number"},
        list{"former_keys", "SELECT text FROM notes WHERE operation = ? AND kind = 'former_key' "
                            "ORDER BY number"},
        list{"set_aside", "SELECT text FROM notes WHERE operation = ? AND kind = 'set_aside' "
                          "ORDER BY number"}};

    // ---- names ----------------------------------------------------------------------------------

    /// From both ends, as far as they can be read.
    void names() {
        std::string last;
        if (!names("SELECT name, scope, key FROM names ORDER BY name", {}, &last)) {
            skip("names cannot be read: some are missing");
            names("SELECT name, scope, key FROM names WHERE name > ? ORDER BY name DESC", last,
                  nullptr);
        }
    }
    bool names(std::string_view sql, std::optional<std::string> after, std::string* last) {
        question q(db_, sql);
        if (after) q.run.put_bytes(*after);
        while (q.code == SQLITE_OK && q.run.next()) {
            to_.name(line_of(q.row()));
            if (last != nullptr) {
                auto const* bytes = static_cast<char const*>(sqlite3_column_blob(q.row(), 0));
                auto const size = static_cast<std::size_t>(sqlite3_column_bytes(q.row(), 0));
                last->assign(bytes == nullptr ? "" : bytes, size);
            }
        }
        return q.code == SQLITE_OK && q.run.code() == SQLITE_OK;
    }

    std::string path_;
    salvaged& to_;
    sqlite3* db_ = nullptr;
};

} // namespace journal_tool

#endif
