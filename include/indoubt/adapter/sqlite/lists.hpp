// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef INDOUBT_ADAPTER_SQLITE_LISTS_HPP
#define INDOUBT_ADAPTER_SQLITE_LISTS_HPP

#include <indoubt/adapter/sqlite/connection.hpp>
#include <indoubt/adapter/sqlite/schema.hpp>
#include <indoubt/adapter/sqlite/statements.hpp>
#include <indoubt/core/record.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

// The lists of a record as rows of their own, so that a person can read them. The row of the
// operation counts them: one that is gone is an attempt that is forgotten.

namespace indoubt::detail {

inline void put_moment(sqlite_run& run, time_point t) {
    run.put_number(t.time_since_epoch().count());
}
inline time_point take_moment(sqlite_run& run) {
    return time_point(milliseconds(run.take_number()));
}
template <class Enum> void take_word(sqlite_run& run, Enum& value) {
    if (!from_word(run.take_text(), value)) run.damaged();
}

struct list_sizes {
    std::uint32_t attempts = 0, decisions = 0, former_keys = 0, set_aside = 0;

    list_sizes() = default;
    explicit list_sizes(record const& r)
        : attempts(size_of(r.attempts)), decisions(size_of(r.notes_or_none().decisions)),
          former_keys(size_of(r.notes_or_none().former_keys)),
          set_aside(size_of(r.notes_or_none().set_aside)) {}

private:
    template <class List> static std::uint32_t size_of(List const& list) {
        return static_cast<std::uint32_t>(list.size());
    }
};

/// Every function returns SQLite's code.
class sqlite_lists {
public:
    sqlite_lists(sqlite3* db, int& code)
        : put_attempt_(db, sql::put_attempt(), code), attempts_(db, sql::attempts(), code),
          drop_attempts_(db, sql::drop_attempts, code), put_decision_(db, sql::put_decision, code),
          decisions_(db, sql::decisions, code), drop_decisions_(db, sql::drop_decisions, code),
          put_note_(db, sql::put_note, code), notes_(db, sql::notes, code),
          drop_notes_(db, sql::drop_notes, code) {}

    int put(record const& r, std::uint64_t operation) {
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
        return code == SQLITE_OK ? put_notes(operation, set_aside, notes.set_aside) : code;
    }

    /// Reads the lists of r, whose operation is known, and of its notes.
    int take(record& r, case_notes& notes, list_sizes const& expected) {
        int code = SQLITE_OK;
        if (expected.attempts != 0) code = take_attempts(r);
        if (code == SQLITE_OK && expected.decisions != 0)
            code = take_decisions(r.operation, notes.decisions);
        if (code == SQLITE_OK && expected.former_keys != 0)
            code = take_notes(r.operation, former_key, notes.former_keys);
        if (code == SQLITE_OK && expected.set_aside != 0)
            code = take_notes(r.operation, set_aside, notes.set_aside);
        bool const whole = r.attempts.size() == expected.attempts &&
                           notes.decisions.size() == expected.decisions &&
                           notes.former_keys.size() == expected.former_keys &&
                           notes.set_aside.size() == expected.set_aside;
        return code == SQLITE_OK && !whole ? SQLITE_CORRUPT : code;
    }

    /// Removes the rows by which a list became shorter.
    int drop_what_is_gone(std::uint64_t operation, list_sizes const& stored,
                          list_sizes const& kept) {
        auto const drop = [&](sqlite_statement const& statement, std::uint32_t list_sizes::* list,
                              std::string_view kind = {}) {
            if (stored.*list <= kept.*list) return SQLITE_OK;
            sqlite_run run(statement.get());
            run.put_bits(operation);
            if (!kind.empty()) run.put_text(kind);
            run.put_number(kept.*list);
            return run.finish();
        };
        int code = drop(drop_attempts_, &list_sizes::attempts);
        if (code == SQLITE_OK) code = drop(drop_decisions_, &list_sizes::decisions);
        if (code == SQLITE_OK) code = drop(drop_notes_, &list_sizes::former_keys, former_key);
        if (code == SQLITE_OK) code = drop(drop_notes_, &list_sizes::set_aside, set_aside);
        return code;
    }

private:
    int take_attempts(record& r) {
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
        return run.code();
    }

    int take_decisions(std::uint64_t operation, std::vector<decision>& all) {
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
        return run.code();
    }

    int take_notes(std::uint64_t operation, std::string_view kind, std::vector<std::string>& all) {
        sqlite_run run(notes_.get());
        run.put_bits(operation);
        run.put_text(kind);
        while (run.next())
            all.emplace_back(run.take_text());
        return run.code();
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

    // The kinds of notes. They are stored: never change one.
    static constexpr std::string_view former_key = "former_key", set_aside = "set_aside";

    sqlite_statement put_attempt_, attempts_, drop_attempts_, put_decision_, decisions_,
        drop_decisions_, put_note_, notes_, drop_notes_;
};

} // namespace indoubt::detail

#endif
