// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef INDOUBT_ADAPTER_SQLITE_UPGRADE_HPP
#define INDOUBT_ADAPTER_SQLITE_UPGRADE_HPP

#include <indoubt/adapter/sqlite/connection.hpp>
#include <indoubt/adapter/sqlite/schema.hpp>
#include <indoubt/core/record.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <sqlite3.h>
#include <string>
#include <string_view>

// The formats before this one: what is different in them, and how a journal of one becomes a
// journal of this one. Whoever makes a new format adds what it changed here, in the same way.

namespace indoubt::detail {

/// What format 1 has in place of the object with the same name; "": nothing.
inline constexpr std::array objects_of_format_1{
    sqlite_object{"operations", R"(CREATE TABLE operations (
    operation INTEGER PRIMARY KEY,
    scope TEXT NOT NULL,
    key TEXT NOT NULL,
    version_epoch INTEGER NOT NULL,
    version_counter INTEGER NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('pending', 'uncertain', 'confirmed', 'rejected',
                                         'cancelled', 'in_review', 'abandoned')),
    basis TEXT NOT NULL,
    concern TEXT NOT NULL,
    reason INTEGER NOT NULL,
    came_from TEXT NOT NULL,
    ever_confirmed INTEGER NOT NULL,
    cancel_requested INTEGER NOT NULL,
    clean_up_due INTEGER NOT NULL,
    restored INTEGER NOT NULL,
    generation INTEGER NOT NULL,
    extra_attempts INTEGER NOT NULL,
    claim_epoch INTEGER NOT NULL,
    claim_holder INTEGER NOT NULL,
    begun_at_ms INTEGER NOT NULL,
    written_at_ms INTEGER NOT NULL,
    deadline_ms INTEGER,
    confirmed_at_ms INTEGER NOT NULL,
    next_check_ms INTEGER NOT NULL,
    provider_key TEXT NOT NULL,
    receipt TEXT NOT NULL,
    hints TEXT NOT NULL,
    target_id TEXT NOT NULL,
    remarks TEXT NOT NULL,
    review_owner TEXT NOT NULL,
    attempts INTEGER NOT NULL,
    decisions INTEGER NOT NULL,
    UNIQUE (scope, key)
) STRICT)"},
    sqlite_object{"unsettled_operations",
                  R"(CREATE INDEX unsettled_operations ON operations (operation)
    WHERE state IN ('pending', 'uncertain', 'in_review'))"},
    sqlite_object{"decisions", R"(CREATE TABLE decisions (
    operation INTEGER NOT NULL,
    number INTEGER NOT NULL,
    at_ms INTEGER NOT NULL,
    what TEXT NOT NULL,
    who TEXT NOT NULL,
    why TEXT NOT NULL,
    PRIMARY KEY (operation, number)
) STRICT, WITHOUT ROWID)"},
    sqlite_object{"shrinkable_operations", ""},
    sqlite_object{"notes", ""},
};

/// The statement that makes this object in a journal of this format; "" if it has none.
constexpr std::string_view statement_of(sqlite_object const& object, std::uint32_t format) {
    if (format == 1) {
        auto const older =
            std::ranges::find(objects_of_format_1, object.name, &sqlite_object::name);
        if (older != objects_of_format_1.end()) return older->sql;
    }
    return object.sql;
}

/// Equal but for white space: a column that was added later stands where SQLite puts it.
inline bool same_statement(std::string_view a, std::string_view b) {
    auto const without_spaces = [](std::string_view sql) {
        std::string text(sql);
        std::erase_if(text, [](char c) { return c == ' ' || c == '\n'; });
        return text;
    };
    return without_spaces(a) == without_spaces(b);
}

/// Writes the sentence of each rule that this program knows.
inline int put_reasons(sqlite3* db) {
    int code = SQLITE_OK;
    sqlite_statement const put(db,
                               "INSERT INTO reasons VALUES (?, ?) ON CONFLICT (reason) "
                               "DO UPDATE SET sentence = excluded.sentence",
                               code);
    constexpr unsigned last = std::numeric_limits<std::uint8_t>::max();
    for (unsigned n = 0; n < last && code == SQLITE_OK; ++n) {
        auto const sentence = to_string(rule{static_cast<std::uint8_t>(n)});
        if (sentence == to_string(rule{static_cast<std::uint8_t>(last)})) continue;
        sqlite_run run(put.get());
        run.put_number(n);
        run.put_text(sentence);
        code = run.finish();
    }
    return code;
}

/// Within a transaction: makes this format of an older one. No row is written anew: what a record
/// of the older format could not say has its default.
inline int upgrade(sqlite3* db, std::uint32_t format) {
    std::string sql;
    auto const make = [&sql](std::string_view name) {
        sql.append(std::ranges::find(journal_objects, name, &sqlite_object::name)->sql).append(";");
    };
    if (format < 2) {
        for (std::string_view column : {"hook_due", "tombstone", "former_keys", "set_aside"}) {
            sql.append("ALTER TABLE operations ADD COLUMN ").append(column);
            sql.append(" INTEGER NOT NULL DEFAULT 0;");
        }
        sql += "ALTER TABLE decisions ADD COLUMN id TEXT NOT NULL DEFAULT '';"
               "DROP INDEX unsettled_operations;";
        make("unsettled_operations");
        make("shrinkable_operations");
        make("notes");
    }
    for (std::string_view view : {"unsettled", "readable"})
        sql.append("DROP VIEW IF EXISTS ").append(view).append(";");
    for (std::string_view view : {"readable", "unsettled"})
        make(view);
    sql += "PRAGMA user_version = " + std::to_string(journal_format);
    int const code = sqlite_execute(db, sql);
    return code == SQLITE_OK ? put_reasons(db) : code;
}

} // namespace indoubt::detail

#endif
