// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef INDOUBT_BENCHMARKS_JOURNAL_REPLAY_HPP
#define INDOUBT_BENCHMARKS_JOURNAL_REPLAY_HPP

#include "own.hpp"
#include "peers.hpp"

#include <indoubt/adapter/sqlite_storage.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

// Raw SQLite with the statements of sqlite_storage, whatever they are: those of one turn are
// recorded from SQLite's trace, with their values, and done again with other numbers in them.

namespace bench {

struct traced_statement {
    std::string text, with_values;
};

/// What connections that are opened while it lives run, as long as they live.
class sqlite_trace {
public:
    sqlite_trace() {
        seen().clear();
        sqlite3_auto_extension(entry());
    }
    sqlite_trace(sqlite_trace const&) = delete;
    sqlite_trace& operator=(sqlite_trace const&) = delete;
    ~sqlite_trace() { sqlite3_cancel_auto_extension(entry()); }

    static std::vector<traced_statement>& seen() {
        static std::vector<traced_statement> all;
        return all;
    }

private:
    using plain_function = void (*)();

    static plain_function entry() { return reinterpret_cast<plain_function>(&on_open); }
    static int on_open(sqlite3* db, char const**, void const*) {
        return sqlite3_trace_v2(db, SQLITE_TRACE_STMT, &on_statement, nullptr);
    }
    static int on_statement(unsigned, void*, void* statement, void*) {
        auto* const s = static_cast<sqlite3_stmt*>(statement);
        char* const expanded = sqlite3_expanded_sql(s);
        if (expanded == nullptr) fail("raw_sqlite", "a statement cannot be shown");
        seen().push_back({sqlite3_sql(s), expanded});
        sqlite3_free(expanded);
        return 0;
    }
};

class raw_sqlite : public by_turns {
public:
    raw_sqlite(std::string const& name, unsigned batch) : batch_(batch) {
        auto const path = data_folder::path() + '/' + name;
        record(path);
        db_ = open_sqlite(path);
        for (char const* setting :
             {"fullfsync = ON", "checkpoint_fullfsync = ON", "temp_store = MEMORY"})
            ask_sqlite(db_.get(), std::string("PRAGMA ") + setting);
        for (auto const& t : sqlite_trace::seen())
            add(t);
        if (operations_.empty()) fail("raw_sqlite", "no operation was recorded");
        span_ = *operations_.rbegin() - *operations_.begin() + 1;
        confirmed_before_ = confirmed();
    }

    void turn(worker& w) override {
        if (w.batch != batch_) fail("raw_sqlite", "it was recorded with another batch");
        ++turns_;
        for (step& s : steps_) {
            int at = 0;
            for (value& v : s.values)
                put(s.statement, ++at, v);
            int code = sqlite3_step(s.statement);
            while (code == SQLITE_ROW)
                code = sqlite3_step(s.statement);
            check_sqlite(db_.get(), code);
            check_sqlite(db_.get(), sqlite3_reset(s.statement));
        }
    }
    /// What was done again must have had the same effect.
    void finish(worker&) override {
        if (confirmed() != confirmed_before_ + turns_ * batch_)
            fail("raw_sqlite", "not all operations are confirmed");
    }

private:
    struct value {
        enum class kind {
            null,
            number,
            text,
            blob
        } is = kind::null;
        std::int64_t number = 0;
        std::string bytes{};
        bool moves = false;                  ///< an operation's number
        std::vector<std::size_t> keys_at{};  ///< where the digits of a key stand,
        std::vector<std::uint64_t> digits{}; ///< and what they were
    };
    struct step {
        sqlite3_stmt* statement = nullptr;
        std::vector<value> values{};
    };
    static constexpr std::string_view before_digits = "invoice-";
    static constexpr std::size_t digits = 9;

    void record(std::string const& path) {
        sqlite_trace const trace;
        own<indoubt::sqlite_storage, proving_provider> recorded(
            indoubt::sqlite_storage::create(path));
        worker w{.batch = batch_};
        recorded.turn(w); // the first one may differ
        sqlite_trace::seen().clear();
        recorded.turn(w);
        // What closing the journal runs is none of it.
        auto const kept = sqlite_trace::seen();
        kept_ = kept.size();
    }

    void add(traced_statement const& t) {
        if (steps_.size() == kept_) return;
        auto& prepared = statements_[t.text];
        if (!prepared) prepared = prepare(db_.get(), t.text);
        step s{prepared.get()};
        std::string_view rest = t.with_values;
        for (char const c : t.text) {
            if (c == '?') {
                s.values.push_back(take_value(rest));
            } else if (!rest.empty() && rest.front() == c) {
                rest.remove_prefix(1);
            } else {
                fail("raw_sqlite", t.with_values);
            }
        }
        // The numbers of operations are known from the statement that begins one.
        if (t.text.starts_with("INSERT INTO operations ")) {
            if (s.values.size() < 3) fail("raw_sqlite", t.text);
            operations_.insert(s.values[s.values.size() - 3].number);
        }
        for (value& v : s.values)
            v.moves = v.is == value::kind::number && operations_.contains(v.number);
        steps_.push_back(std::move(s));
    }

    static value take_value(std::string_view& rest) {
        value v;
        if (rest.starts_with("NULL")) {
            rest.remove_prefix(4);
        } else if (rest.starts_with("x'")) {
            v.is = value::kind::blob;
            auto const end = rest.find('\'', 2);
            for (std::size_t i = 2; i + 1 < end; i += 2)
                v.bytes +=
                    static_cast<char>(std::stoi(std::string(rest.substr(i, 2)), nullptr, 16));
            rest.remove_prefix(end + 1);
        } else if (rest.starts_with("'")) {
            v.is = value::kind::text;
            std::size_t i = 1;
            for (; i < rest.size() && (rest[i] != '\'' || rest.substr(i, 2) == "''"); ++i) {
                v.bytes += rest[i];
                if (rest[i] == '\'') ++i;
            }
            rest.remove_prefix(i + 1);
        } else {
            v.is = value::kind::number;
            std::size_t used = 0;
            v.number = std::stoll(std::string(rest.substr(0, 24)), &used);
            rest.remove_prefix(used);
        }
        for (auto at = v.bytes.find(before_digits); at != std::string::npos;
             at = v.bytes.find(before_digits, at + 1)) {
            v.keys_at.push_back(at + before_digits.size());
            v.digits.push_back(std::stoull(v.bytes.substr(v.keys_at.back(), digits)));
        }
        return v;
    }

    void put(sqlite3_stmt* s, int at, value& v) {
        std::uint64_t const shift = turns_ * batch_;
        for (std::size_t i = 0; i != v.keys_at.size(); ++i) {
            std::uint64_t n = v.digits[i] + shift;
            for (std::size_t d = digits; d-- != 0; n /= 10)
                v.bytes[v.keys_at[i] + d] = static_cast<char>('0' + n % 10);
        }
        auto const size = static_cast<int>(v.bytes.size());
        int code = SQLITE_OK;
        switch (v.is) {
        case value::kind::null: code = sqlite3_bind_null(s, at); break;
        case value::kind::number:
            code = sqlite3_bind_int64(
                s, at,
                v.number + (v.moves ? span_ * static_cast<std::int64_t>(turns_) : std::int64_t{0}));
            break;
        case value::kind::text:
            code = sqlite3_bind_text(s, at, v.bytes.data(), size, SQLITE_STATIC);
            break;
        case value::kind::blob:
            code = sqlite3_bind_blob(s, at, v.bytes.data(), size, SQLITE_STATIC);
            break;
        }
        check_sqlite(db_.get(), code);
    }

    std::uint64_t confirmed() {
        return std::stoull(
            ask_sqlite(db_.get(), "SELECT count(*) FROM operations WHERE state = 'confirmed'"));
    }

    unsigned batch_;
    std::size_t kept_ = 0;
    std::uint64_t turns_ = 0, confirmed_before_ = 0;
    sqlite_handle db_;
    std::map<std::string, sqlite_prepared> statements_;
    std::vector<step> steps_;
    std::set<std::int64_t> operations_;
    std::int64_t span_ = 0; ///< from the first of these numbers to the last
};

} // namespace bench

#endif
