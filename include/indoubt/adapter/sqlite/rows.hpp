// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef INDOUBT_ADAPTER_SQLITE_ROWS_HPP
#define INDOUBT_ADAPTER_SQLITE_ROWS_HPP

#include <indoubt/adapter/sqlite/connection.hpp>
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

// A record as rows. What never changes after insert (the intent, which may be large) has a table of
// its own, so that a replace writes little; attempts are rows, so that a person can read them.

namespace indoubt::detail {

/// The rows of a journal. Every function returns SQLite's code; on anything but SQLITE_OK the
/// transaction must not be committed.
class sqlite_rows {
public:
    sqlite_rows(sqlite3* db, int& code)
        : db_(db), insert_operation_(db, sql::insert_operation(), code),
          update_operation_(db, sql::update_operation(), code), find_(db, sql::find(), code),
          unsettled_(db, sql::unsettled(), code), standing_(db, sql::standing, code),
          insert_intent_(db, sql::insert_intent, code), put_attempt_(db, sql::put_attempt(), code),
          attempts_(db, sql::attempts(), code), drop_attempts_(db, sql::drop_attempts, code),
          put_decision_(db, sql::put_decision, code), decisions_(db, sql::decisions, code),
          drop_decisions_(db, sql::drop_decisions, code), put_note_(db, sql::put_note, code),
          notes_(db, sql::notes, code), drop_notes_(db, sql::drop_notes, code),
          put_name_(db, sql::put_name, code), name_(db, sql::name, code) {}

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
        {
            sqlite_run run(insert_intent_.get());
            run.put_bits(r.operation);
            run.put_text(r.intent->target);
            run.put_bytes(r.intent->request);
            run.put_bytes(r.intent->fingerprint);
            run.put_text(r.intent->fingerprint_rule);
            if (int const code = run.finish(); code != SQLITE_OK) return code;
        }
        return put_lists(r, r.operation);
    }

    /// What stands for an identity, as far as a replace needs to know it.
    struct standing {
        std::uint64_t operation = 0;
        indoubt::version version;
        state_id state = state_id::none; ///< none: nothing stands
        std::uint32_t attempts = 0, decisions = 0, former_keys = 0, set_aside = 0;
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
            s.attempts = run.take<std::uint32_t>();
            s.decisions = run.take<std::uint32_t>();
            s.former_keys = run.take<std::uint32_t>();
            s.set_aside = run.take<std::uint32_t>();
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
        int const code = drop_what_is_gone(r, s);
        return code == SQLITE_OK ? put_lists(r, s.operation) : code;
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
    static void put_moment(sqlite_run& run, time_point t) {
        run.put_number(t.time_since_epoch().count());
    }
    static time_point take_moment(sqlite_run& run) {
        return time_point(milliseconds(run.take_number()));
    }
    template <class List> static void put_count(sqlite_run& run, List const& list) {
        run.put_number(static_cast<std::int64_t>(list.size()));
    }
    template <class Enum> static void take_word(sqlite_run& run, Enum& value) {
        if (!from_word(run.take_text(), value)) run.damaged();
    }

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
        put_count(run, attempts);
        put_count(run, decisions);
        run.put_number(hook_due);
        run.put_number(tombstone);
        put_count(run, former_keys);
        put_count(run, set_aside);
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
        auto const attempts = run.take<std::uint32_t>();
        auto const decisions = run.take<std::uint32_t>();
        r.hook_due = run.take_number() != 0;
        r.tombstone = run.take_number() != 0;
        auto const former_keys = run.take<std::uint32_t>();
        auto const set_aside = run.take<std::uint32_t>();
        if (attempts != 0) take_attempts(run, r);
        if (decisions != 0) take_decisions(run, r.operation, notes.decisions);
        if (former_keys != 0) take_notes(run, r.operation, former_key, notes.former_keys);
        if (set_aside != 0) take_notes(run, r.operation, set_aside_receipt, notes.set_aside);
        // A row that is gone is an attempt that is forgotten.
        if (r.attempts.size() != attempts || notes.decisions.size() != decisions ||
            notes.former_keys.size() != former_keys || notes.set_aside.size() != set_aside) {
            run.damaged();
        }
        if (decisions != 0 || former_keys != 0 || set_aside != 0 || !notes.hints.empty() ||
            !notes.target_id.empty() || !notes.remarks.empty() || !notes.owner.empty()) {
            r.notes = std::make_shared<case_notes const>(std::move(notes));
        }
    }

    void take_attempts(sqlite_run& whole, record& r) {
        sqlite_run run(attempts_.get());
        run.put_bits(r.operation);
        while (run.next()) {
            attempt_record& a = r.attempts.emplace_back();
            a.sent_at = take_moment(run);
            take_word(run, a.outcome);
            a.generation = run.take<std::uint32_t>();
            take_word(run, a.guarantee.kind);
            a.guarantee.lasts =
                run.take_null() ? milliseconds::max() : milliseconds(run.take_number());
            a.guarantee.arrives_within = milliseconds(run.take_number());
            a.guarantee.domain = run.take_bits();
        }
        whole.fail(run.code());
    }

    void take_decisions(sqlite_run& whole, std::uint64_t operation, std::vector<decision>& all) {
        sqlite_run run(decisions_.get());
        run.put_bits(operation);
        while (run.next()) {
            decision& d = all.emplace_back();
            d.at = take_moment(run);
            d.what = run.take_text();
            d.who = run.take_text();
            d.why = run.take_text();
            d.id = run.take_text();
        }
        whole.fail(run.code());
    }

    void take_notes(sqlite_run& whole, std::uint64_t operation, std::string_view kind,
                    std::vector<std::string>& all) {
        sqlite_run run(notes_.get());
        run.put_bits(operation);
        run.put_text(kind);
        while (run.next())
            all.emplace_back(run.take_text());
        whole.fail(run.code());
    }

    int put_lists(record const& r, std::uint64_t operation) {
        std::int64_t number = 0;
        for (attempt_record const& a : r.attempts) {
            auto const& [sent_at, guarantee, outcome, generation] = a;
            sqlite_run run(put_attempt_.get());
            run.put_bits(operation);
            run.put_number(++number);
            put_moment(run, sent_at);
            run.put_text(word_of(outcome));
            run.put_number(generation);
            run.put_text(word_of(guarantee.kind));
            guarantee.lasts == milliseconds::max() ? run.put_null()
                                                   : run.put_number(guarantee.lasts.count());
            run.put_number(guarantee.arrives_within.count());
            run.put_bits(guarantee.domain);
            if (int const code = run.finish(); code != SQLITE_OK) return code;
        }
        number = 0;
        for (decision const& d : r.notes_or_none().decisions) {
            auto const& [what, who, why, id, at] = d;
            sqlite_run run(put_decision_.get());
            run.put_bits(operation);
            run.put_number(++number);
            put_moment(run, at);
            run.put_text(what);
            run.put_text(who);
            run.put_text(why);
            run.put_text(id);
            if (int const code = run.finish(); code != SQLITE_OK) return code;
        }
        case_notes const& notes = r.notes_or_none();
        int const code = put_notes(operation, former_key, notes.former_keys);
        return code == SQLITE_OK ? put_notes(operation, set_aside_receipt, notes.set_aside) : code;
    }

    int put_notes(std::uint64_t operation, std::string_view kind,
                  std::vector<std::string> const& all) {
        std::int64_t number = 0;
        for (std::string const& text : all) {
            sqlite_run run(put_note_.get());
            run.put_bits(operation);
            run.put_text(kind);
            run.put_number(++number);
            run.put_text(text);
            if (int const code = run.finish(); code != SQLITE_OK) return code;
        }
        return SQLITE_OK;
    }

    /// Lists that became shorter.
    int drop_what_is_gone(record const& r, standing const& s) {
        auto const drop = [&](sqlite_statement const& statement, std::size_t stored,
                              std::size_t kept, std::string_view kind = {}) {
            if (stored <= kept) return SQLITE_OK;
            sqlite_run run(statement.get());
            run.put_bits(s.operation);
            if (!kind.empty()) run.put_text(kind);
            run.put_number(static_cast<std::int64_t>(kept));
            return run.finish();
        };
        case_notes const& n = r.notes_or_none();
        int code = drop(drop_attempts_, s.attempts, r.attempts.size());
        if (code == SQLITE_OK) code = drop(drop_decisions_, s.decisions, n.decisions.size());
        if (code == SQLITE_OK)
            code = drop(drop_notes_, s.former_keys, n.former_keys.size(), former_key);
        if (code == SQLITE_OK)
            code = drop(drop_notes_, s.set_aside, n.set_aside.size(), set_aside_receipt);
        return code;
    }

    // The kinds of notes. They are stored: never change one.
    static constexpr std::string_view former_key = "former_key", set_aside_receipt = "set_aside";

    sqlite3* db_;
    sqlite_statement insert_operation_, update_operation_, find_, unsettled_, standing_,
        insert_intent_, put_attempt_, attempts_, drop_attempts_, put_decision_, decisions_,
        drop_decisions_, put_note_, notes_, drop_notes_, put_name_, name_;
};

} // namespace indoubt::detail

#endif
