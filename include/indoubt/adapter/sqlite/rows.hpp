// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef INDOUBT_ADAPTER_SQLITE_ROWS_HPP
#define INDOUBT_ADAPTER_SQLITE_ROWS_HPP

#include <indoubt/adapter/sqlite/connection.hpp>
#include <indoubt/adapter/sqlite/lists.hpp>
#include <indoubt/adapter/sqlite/schema.hpp>
#include <indoubt/adapter/sqlite/statements.hpp>
#include <indoubt/core/record.hpp>
#include <indoubt/policy/storage.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// A record as rows. What hardly ever changes after insert (the intent, which may be large) has a
// table of its own, so that a replace writes little.

namespace indoubt::detail {

/// The rows of a journal. Every function returns SQLite's code; on anything but SQLITE_OK the
/// transaction must not be committed.
class sqlite_rows {
public:
    sqlite_rows(sqlite3* db, int& code)
        : db_(db), lists_(db, code), insert_operation_(db, sql::insert_operation(), code),
          update_operation_(db, sql::update_operation(), code), find_(db, sql::find(), code),
          unsettled_(db, sql::unsettled(), code), shrinkable_(db, sql::shrinkable(), code),
          drop_intent_(db, sql::drop_intent, code), standing_(db, sql::standing, code),
          insert_intent_(db, sql::insert_intent, code), put_name_(db, sql::put_name, code),
          name_(db, sql::name, code) {}

    /// Sets is_new to false, and changes nothing, if the identity is known.
    int insert(record const& r, bool& is_new) {
        {
            sqlite_run run(insert_operation_.get());
            put_operation(run, r);
            run.put_bits(r.operation);
            run.put_text(r.identity().scope);
            run.put_text(r.identity().key);
            if (int const code = run.finish(); code != SQLITE_OK) return code;
        }
        is_new = sqlite3_changes(db_) != 0;
        if (!is_new) return SQLITE_OK;
        int const code = put_intent(r);
        return code == SQLITE_OK ? lists_.put(r, r.operation) : code;
    }

    /// What stands for an identity, as far as a replace needs to know it.
    struct standing {
        std::uint64_t operation = 0;
        indoubt::version version;
        state_id state = state_id::none; ///< none: nothing stands
        list_sizes lists;
    };
    int look(identity const& id, standing& s) {
        sqlite_run run(standing_.get());
        run.put_text(id.scope);
        run.put_text(id.key);
        if (run.next()) {
            s.operation = run.take_bits();
            s.version.epoch = run.take<std::uint32_t>();
            s.version.counter = run.take<std::uint32_t>();
            take_word(run, s.state);
            s.lists.attempts = run.take<std::uint32_t>();
            s.lists.decisions = run.take<std::uint32_t>();
            s.lists.former_keys = run.take<std::uint32_t>();
            s.lists.set_aside = run.take<std::uint32_t>();
        }
        return run.code();
    }

    int replace(record const& r, standing const& s) {
        {
            sqlite_run run(update_operation_.get());
            put_operation(run, r);
            run.put_bits(s.operation);
            if (int const code = run.finish(); code != SQLITE_OK) return code;
        }
        int const code = lists_.drop_what_is_gone(s.operation, s.lists, list_sizes(r));
        return code == SQLITE_OK ? lists_.put(r, s.operation) : code;
    }

    /// The oldest record that may shrink; none if there is none.
    int shrinkable(time_point written_before, std::optional<record>& oldest) {
        sqlite_run run(shrinkable_.get());
        put_moment(run, written_before);
        if (run.next()) take_record(run, oldest.emplace());
        return run.code();
    }

    /// Stores r, which shrunk() made of the other.
    int shrink(record const& r, record const& whole) {
        standing s;
        s.operation = whole.operation;
        s.lists = list_sizes(whole);
        int const code = replace(r, s);
        if (code != SQLITE_OK || r.intent == whole.intent) return code;
        // Written anew: in a row that becomes shorter in its place, the room would stay unused.
        sqlite_run run(drop_intent_.get());
        run.put_bits(r.operation);
        if (run.finish() != SQLITE_OK) return run.code();
        return put_intent(r);
    }

    int find(identity const& id, std::optional<record>& found) {
        sqlite_run run(find_.get());
        run.put_text(id.scope);
        run.put_text(id.key);
        if (run.next()) take_record(run, found.emplace());
        return run.code();
    }

    int unsettled(page p, std::vector<record>& found) {
        sqlite_run run(unsettled_.get());
        run.put_bits(p.after);
        constexpr std::size_t most = std::numeric_limits<std::int32_t>::max();
        run.put_number(static_cast<std::int64_t>(std::min(p.most, most)));
        while (run.next())
            take_record(run, found.emplace_back());
        return run.code();
    }

    /// Sets is_new if the name stood for nobody, and is_theirs if it stands for id now.
    int bind(std::string_view name, identity const& id, bool& is_new, bool& is_theirs) {
        {
            sqlite_run run(put_name_.get());
            run.put_bytes(name);
            run.put_text(id.scope);
            run.put_text(id.key);
            if (int const code = run.finish(); code != SQLITE_OK) return code;
        }
        is_new = is_theirs = sqlite3_changes(db_) != 0;
        if (is_new) return SQLITE_OK;
        sqlite_run run(name_.get());
        run.put_bytes(name);
        if (run.next()) is_theirs = run.take_text() == id.scope && run.take_text() == id.key;
        return run.code();
    }

private:
    static void put_operation(sqlite_run& run, record const& r) {
        // Names every member: a record with a new one does not compile here until it is stored.
        auto const& [intent, operation, version, state, basis, concern, reason, came_from,
                     ever_confirmed, cancel_requested, clean_up_due, restored, hook_due, tombstone,
                     generation, extra_attempts, claim, attempts, begun_at, written_at, deadline,
                     confirmed_at, next_check, provider_key, receipt, notes] = r;
        run.put_number(version.epoch);
        run.put_number(version.counter);
        run.put_text(word_of(state));
        run.put_text(word_of(basis));
        run.put_text(word_of(concern));
        run.put_number(static_cast<std::uint8_t>(reason));
        run.put_text(word_of(came_from));
        run.put_number(ever_confirmed);
        run.put_number(cancel_requested);
        run.put_number(clean_up_due);
        run.put_number(restored);
        run.put_number(generation);
        run.put_number(extra_attempts);
        run.put_number(claim.epoch);
        run.put_bits(claim.holder);
        put_moment(run, begun_at);
        put_moment(run, written_at);
        deadline == time_point::max() ? run.put_null() : put_moment(run, deadline);
        put_moment(run, confirmed_at);
        put_moment(run, next_check);
        run.put_text(provider_key);
        run.put_text(receipt);
        auto const& [hints, target_id, remarks, owner, former_keys, set_aside, decisions] =
            r.notes_or_none();
        run.put_text(hints);
        run.put_text(target_id);
        run.put_text(remarks);
        run.put_text(owner);
        list_sizes const lists(r);
        run.put_number(lists.attempts);
        run.put_number(lists.decisions);
        run.put_number(hook_due);
        run.put_number(tombstone);
        run.put_number(lists.former_keys);
        run.put_number(lists.set_aside);
    }

    void take_record(sqlite_run& run, record& r) {
        r.operation = run.take_bits();
        auto inside = std::make_shared<intent>();
        inside->identity.scope = run.take_text();
        inside->identity.key = run.take_text();
        inside->target = run.take_text();
        inside->request = run.take_text();
        inside->fingerprint = run.take_text();
        inside->fingerprint_rule = run.take_text();
        r.intent = std::move(inside);
        r.version.epoch = run.take<std::uint32_t>();
        r.version.counter = run.take<std::uint32_t>();
        take_word(run, r.state);
        take_word(run, r.basis);
        take_word(run, r.concern);
        r.reason = rule{run.take<std::uint8_t>()};
        take_word(run, r.came_from);
        r.ever_confirmed = run.take_number() != 0;
        r.cancel_requested = run.take_number() != 0;
        r.clean_up_due = run.take_number() != 0;
        r.restored = run.take_number() != 0;
        r.generation = run.take<std::uint32_t>();
        r.extra_attempts = run.take<std::uint32_t>();
        r.claim.epoch = run.take<std::uint32_t>();
        r.claim.holder = run.take_bits();
        r.begun_at = take_moment(run);
        r.written_at = take_moment(run);
        if (!run.take_null()) r.deadline = take_moment(run);
        r.confirmed_at = take_moment(run);
        r.next_check = take_moment(run);
        r.provider_key = run.take_text();
        r.receipt = run.take_text();
        case_notes notes;
        notes.hints = run.take_text();
        notes.target_id = run.take_text();
        notes.remarks = run.take_text();
        notes.owner = run.take_text();
        list_sizes expected;
        expected.attempts = run.take<std::uint32_t>();
        expected.decisions = run.take<std::uint32_t>();
        r.hook_due = run.take_number() != 0;
        r.tombstone = run.take_number() != 0;
        expected.former_keys = run.take<std::uint32_t>();
        expected.set_aside = run.take<std::uint32_t>();
        run.fail(lists_.take(r, notes, expected));
        if (expected.decisions != 0 || expected.former_keys != 0 || expected.set_aside != 0 ||
            !notes.hints.empty() || !notes.target_id.empty() || !notes.remarks.empty() ||
            !notes.owner.empty()) {
            r.notes = std::make_shared<case_notes const>(std::move(notes));
        }
    }

    int put_intent(record const& r) {
        sqlite_run run(insert_intent_.get());
        run.put_bits(r.operation);
        run.put_text(r.intent->target);
        run.put_bytes(r.intent->request);
        run.put_bytes(r.intent->fingerprint);
        run.put_text(r.intent->fingerprint_rule);
        return run.finish();
    }

    sqlite3* db_;
    sqlite_lists lists_;
    sqlite_statement insert_operation_, update_operation_, find_, unsettled_, shrinkable_,
        drop_intent_, standing_, insert_intent_, put_name_, name_;
};

} // namespace indoubt::detail

#endif
