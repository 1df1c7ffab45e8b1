// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef INDOUBT_ADAPTER_SQLITE_STATEMENTS_HPP
#define INDOUBT_ADAPTER_SQLITE_STATEMENTS_HPP

#include <algorithm>
#include <string>
#include <string_view>

// Every statement that a journal runs, apart from those that make it. Values are parameters, and
// nothing that comes from outside is ever a part of a statement.

namespace indoubt::detail::sql {

// The columns that a replace changes, in the order in which they are put and taken.
inline constexpr std::string_view operation_columns =
    "version_epoch, version_counter, state, basis, concern, reason, came_from, ever_confirmed, "
    "cancel_requested, clean_up_due, restored, generation, extra_attempts, claim_epoch, "
    "claim_holder, begun_at_ms, written_at_ms, deadline_ms, confirmed_at_ms, next_check_ms, "
    "provider_key, receipt, hints, target_id, remarks, review_owner, attempts, decisions, "
    "hook_due, tombstone, former_keys, set_aside";
inline constexpr std::string_view attempt_columns =
    "sent_at_ms, outcome, generation, guarantee, lasts_ms, arrives_within_ms, domain";

/// A statement in which each @ stands for these columns, # for as many parameters, and % for the
/// columns of the row that could not be inserted.
inline std::string with_columns(std::string_view statement, std::string_view columns) {
    std::string parameters = "?";
    std::string excluded = "excluded.";
    for (char c : columns) {
        excluded += c;
        if (c == ' ') excluded += "excluded.";
        if (c == ',') parameters += ", ?";
    }
    std::string out;
    for (char c : statement) {
        switch (c) {
        case '@': out += columns; break;
        case '#': out += parameters; break;
        case '%': out += excluded; break;
        default: out += c;
        }
    }
    return out;
}

inline std::string insert_operation() {
    return with_columns("INSERT INTO operations (@, operation, scope, key) "
                        "VALUES (#, ?, ?, ?) ON CONFLICT (scope, key) DO NOTHING",
                        operation_columns);
}
inline std::string update_operation() {
    return with_columns("UPDATE operations SET (@) = (#) WHERE operation = ?", operation_columns);
}
inline std::string find() {
    return with_columns("SELECT operation, scope, key, target, request, fingerprint, "
                        "fingerprint_rule, @ FROM operations JOIN intents USING (operation) "
                        "WHERE scope = ? AND key = ?",
                        operation_columns);
}
inline std::string unsettled() {
    return with_columns("SELECT operation, scope, key, target, request, fingerprint, "
                        "fingerprint_rule, @ FROM operations INDEXED BY unsettled_operations "
                        "JOIN intents USING (operation) "
                        "WHERE (state IN ('pending', 'uncertain', 'in_review') OR hook_due = 1) "
                        "AND operation > ? ORDER BY operation LIMIT ?",
                        operation_columns);
}
inline std::string shrinkable() {
    return with_columns("SELECT operation, scope, key, target, request, fingerprint, "
                        "fingerprint_rule, @ FROM operations INDEXED BY shrinkable_operations "
                        "JOIN intents USING (operation) "
                        "WHERE state IN ('confirmed', 'rejected', 'cancelled') "
                        "AND hook_due = 0 AND clean_up_due = 0 AND tombstone = 0 "
                        "AND written_at_ms < ? ORDER BY written_at_ms, operation LIMIT 1",
                        operation_columns);
}
inline constexpr std::string_view standing =
    "SELECT operation, version_epoch, version_counter, state, attempts, decisions, former_keys, "
    "set_aside FROM operations WHERE scope = ? AND key = ?";

inline constexpr std::string_view insert_intent =
    "INSERT INTO intents (operation, target, request, fingerprint, fingerprint_rule) "
    "VALUES (?, ?, ?, ?, ?)";

inline constexpr std::string_view drop_intent = "DELETE FROM intents WHERE operation = ?";

/// An attempt that has not changed costs a look-up and no write.
inline std::string put_attempt() {
    return with_columns("INSERT INTO attempts (operation, number, @) VALUES (?, ?, #) "
                        "ON CONFLICT (operation, number) DO UPDATE SET (@) = (%) "
                        "WHERE (@) IS NOT (%)",
                        attempt_columns);
}
inline std::string attempts() {
    return with_columns("SELECT @ FROM attempts WHERE operation = ? ORDER BY number",
                        attempt_columns);
}
inline constexpr std::string_view drop_attempts =
    "DELETE FROM attempts WHERE operation = ? AND number > ?";

inline constexpr std::string_view put_decision =
    "INSERT INTO decisions (operation, number, at_ms, what, who, why, id) "
    "VALUES (?, ?, ?, ?, ?, ?, ?) "
    "ON CONFLICT (operation, number) DO UPDATE SET (at_ms, what, who, why, id) = "
    "(excluded.at_ms, excluded.what, excluded.who, excluded.why, excluded.id)";
inline constexpr std::string_view decisions =
    "SELECT at_ms, what, who, why, id FROM decisions WHERE operation = ? ORDER BY number";
inline constexpr std::string_view drop_decisions =
    "DELETE FROM decisions WHERE operation = ? AND number > ?";

inline constexpr std::string_view put_note =
    "INSERT INTO notes (operation, kind, number, text) VALUES (?, ?, ?, ?) "
    "ON CONFLICT (operation, kind, number) DO UPDATE SET text = excluded.text "
    "WHERE text IS NOT excluded.text";
inline constexpr std::string_view notes =
    "SELECT text FROM notes WHERE operation = ? AND kind = ? ORDER BY number";
inline constexpr std::string_view drop_notes =
    "DELETE FROM notes WHERE operation = ? AND kind = ? AND number > ?";

inline constexpr std::string_view put_name =
    "INSERT INTO names (name, scope, key) VALUES (?, ?, ?) ON CONFLICT (name) DO NOTHING";
inline constexpr std::string_view name = "SELECT scope, key FROM names WHERE name = ?";

inline constexpr std::string_view raise_high_water =
    "UPDATE meta SET high_water_ms = max(high_water_ms, ?)";

} // namespace indoubt::detail::sql

#endif
