// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef INDOUBT_ADAPTER_SQLITE_SCHEMA_HPP
#define INDOUBT_ADAPTER_SQLITE_SCHEMA_HPP

#include <indoubt/core/contract.hpp>
#include <indoubt/core/record.hpp>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

// The tables of a journal and the words in them, as docs/sqlite_journal.md describes them. They
// are the format: whatever changes here needs a new format number.

namespace indoubt::detail {

/// "InDb" in the header of the file: what makes an SQLite database a journal.
inline constexpr std::uint32_t journal_application_id = 0x496e4462;
/// Kept in user_version.
inline constexpr std::uint32_t journal_format = 2;

/// A table, index or view, and the statement that makes it, as SQLite keeps it.
struct sqlite_object {
    std::string_view name, sql;
};

/// All times are milliseconds since 1970 (UTC). Numbers of 64 bits without a sign are stored as
/// SQLite's, which have one: those of 2^63 and more look negative.
inline constexpr std::array journal_objects{
    sqlite_object{"meta", R"(CREATE TABLE meta (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    journal TEXT NOT NULL,
    epoch INTEGER NOT NULL,
    high_water_ms INTEGER NOT NULL,
    inode INTEGER NOT NULL,
    device INTEGER NOT NULL,
    born_ns INTEGER NOT NULL
) STRICT)"},
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
    hook_due INTEGER NOT NULL DEFAULT 0,
    tombstone INTEGER NOT NULL DEFAULT 0,
    former_keys INTEGER NOT NULL DEFAULT 0,
    set_aside INTEGER NOT NULL DEFAULT 0,
    UNIQUE (scope, key)
) STRICT)"},
    sqlite_object{"unsettled_operations",
                  R"(CREATE INDEX unsettled_operations ON operations (operation)
    WHERE state IN ('pending', 'uncertain', 'in_review') OR hook_due = 1)"},
    sqlite_object{"shrinkable_operations",
                  R"(CREATE INDEX shrinkable_operations ON operations (written_at_ms)
    WHERE state IN ('confirmed', 'rejected', 'cancelled')
    AND hook_due = 0 AND clean_up_due = 0 AND tombstone = 0)"},
    sqlite_object{"intents", R"(CREATE TABLE intents (
    operation INTEGER PRIMARY KEY,
    target TEXT NOT NULL,
    request BLOB NOT NULL,
    fingerprint BLOB NOT NULL,
    fingerprint_rule TEXT NOT NULL
) STRICT)"},
    sqlite_object{"attempts", R"(CREATE TABLE attempts (
    operation INTEGER NOT NULL,
    number INTEGER NOT NULL,
    sent_at_ms INTEGER NOT NULL,
    outcome TEXT NOT NULL,
    generation INTEGER NOT NULL,
    guarantee TEXT NOT NULL,
    lasts_ms INTEGER,
    arrives_within_ms INTEGER NOT NULL,
    domain INTEGER NOT NULL,
    PRIMARY KEY (operation, number)
) STRICT, WITHOUT ROWID)"},
    sqlite_object{"decisions", R"(CREATE TABLE decisions (
    operation INTEGER NOT NULL,
    number INTEGER NOT NULL,
    at_ms INTEGER NOT NULL,
    what TEXT NOT NULL,
    who TEXT NOT NULL,
    why TEXT NOT NULL,
    id TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (operation, number)
) STRICT, WITHOUT ROWID)"},
    sqlite_object{"notes", R"(CREATE TABLE notes (
    operation INTEGER NOT NULL,
    kind TEXT NOT NULL,
    number INTEGER NOT NULL,
    text TEXT NOT NULL,
    PRIMARY KEY (operation, kind, number)
) STRICT, WITHOUT ROWID)"},
    sqlite_object{"names", R"(CREATE TABLE names (
    name BLOB PRIMARY KEY,
    scope TEXT NOT NULL,
    key TEXT NOT NULL
) STRICT, WITHOUT ROWID)"},
    sqlite_object{"reasons", R"(CREATE TABLE reasons (
    reason INTEGER PRIMARY KEY,
    sentence TEXT NOT NULL
) STRICT)"},
    sqlite_object{"readable", R"(CREATE VIEW readable AS SELECT
    operation, scope, key, state, target, CAST(request AS TEXT) AS request, receipt,
    iif(reason = 0, '', coalesce(sentence, 'reason ' || reason)) AS reason,
    basis, concern, attempts,
    datetime(begun_at_ms / 1000, 'unixepoch') AS begun_at,
    datetime(written_at_ms / 1000, 'unixepoch') AS written_at,
    datetime(deadline_ms / 1000, 'unixepoch') AS deadline,
    datetime(nullif(confirmed_at_ms, 0) / 1000, 'unixepoch') AS confirmed_at,
    datetime(nullif(next_check_ms, 0) / 1000, 'unixepoch') AS next_check,
    cancel_requested, clean_up_due, remarks, review_owner, hook_due, tombstone
FROM operations JOIN intents USING (operation) LEFT JOIN reasons USING (reason))"},
    sqlite_object{"unsettled", R"(CREATE VIEW unsettled AS SELECT * FROM readable
    WHERE state IN ('pending', 'uncertain', 'in_review') OR hook_due = 1)"},
};

// ---- words --------------------------------------------------------------------------------------

// They are stored: never change one.
constexpr std::string_view word_of(state_id s) {
    return to_string(s);
}

constexpr std::string_view word_of(basis b) {
    switch (b) {
    case basis::none: return "none";
    case basis::looked_up: return "looked_up";
    case basis::reply: return "reply";
    case basis::outside: return "outside";
    case basis::person: return "person";
    }
    return "";
}

constexpr std::string_view word_of(concern c) {
    switch (c) {
    case concern::none: return "none";
    case concern::doubt: return "doubt";
    case concern::contradiction: return "contradiction";
    case concern::effect_missing: return "effect_missing";
    }
    return "";
}

constexpr std::string_view word_of(attempt_outcome_id o) {
    switch (o) {
    case attempt_outcome_id::open: return "open";
    case attempt_outcome_id::applied: return "applied";
    case attempt_outcome_id::not_sent: return "not_sent";
    case attempt_outcome_id::refused_for_now: return "refused_for_now";
    case attempt_outcome_id::refused_for_good: return "refused_for_good";
    case attempt_outcome_id::declared_not_applied: return "declared_not_applied";
    }
    return "";
}

constexpr std::string_view word_of(guarantee_kind k) {
    switch (k) {
    case guarantee_kind::none: return "none";
    case guarantee_kind::by_key: return "by_key";
    case guarantee_kind::by_name: return "by_name";
    case guarantee_kind::by_state: return "by_state";
    }
    return "";
}

/// Effects: sets value to the one that this word stands for. Returns: false if there is none.
template <class Enum> bool from_word(std::string_view word, Enum& value) {
    constexpr std::uint8_t more_than_any = 16;
    for (std::uint8_t n = 0; n < more_than_any; ++n) {
        if (word == word_of(Enum{n})) {
            value = Enum{n};
            return !word.empty();
        }
    }
    return false;
}

} // namespace indoubt::detail

#endif
