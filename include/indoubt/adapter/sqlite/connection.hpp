// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef INDOUBT_ADAPTER_SQLITE_CONNECTION_HPP
#define INDOUBT_ADAPTER_SQLITE_CONNECTION_HPP

#include <cstdint>
#include <limits>
#include <memory>
#include <sqlite3.h>
#include <string>
#include <string_view>
#include <utility>

#include <sys/types.h>
#include <unistd.h>

// SQLite's C interface with owners and with the checks that are easy to forget. Everything here
// speaks SQLite's result codes; what they mean to a journal is decided by its user.

namespace indoubt::detail {

/// In a forked child nothing is closed: it would take the log away from the parent, and wait for
/// ever if another thread of the parent held a mutex of SQLite at the fork.
struct sqlite_close {
    void operator()(sqlite3* db) const {
        if (::getpid() == process) sqlite3_close(db);
    }
    void operator()(sqlite3_stmt* s) const {
        if (::getpid() == process) sqlite3_finalize(s);
    }
    pid_t process = ::getpid();
};

using sqlite_connection = std::unique_ptr<sqlite3, sqlite_close>;

/// One execution of a statement. Parameters are put in the order in which they stand in the
/// statement, columns are taken in the order in which it names them.
///
/// Whatever is put must live until the execution ends: it is not copied. The first failure of
/// any step is kept, and everything after it does nothing.
class sqlite_run {
public:
    explicit sqlite_run(sqlite3_stmt* s) : s_(s), code_(s == nullptr ? SQLITE_MISUSE : SQLITE_OK) {}
    sqlite_run(sqlite_run const&) = delete;
    sqlite_run& operator=(sqlite_run const&) = delete;
    ~sqlite_run() {
        if (s_ == nullptr) return; // it could not be prepared
        sqlite3_reset(s_);
        sqlite3_clear_bindings(s_); // no statement keeps a pointer to what is gone
    }

    void put_number(std::int64_t n) { fail(sqlite3_bind_int64(s_, ++put_, n)); }
    /// Keeps all 64 bits; the database shows numbers of 2^63 and more as negative.
    void put_bits(std::uint64_t n) { put_number(static_cast<std::int64_t>(n)); }
    void put_null() { fail(sqlite3_bind_null(s_, ++put_)); }
    // A null pointer would be stored as NULL, which is not the empty text.
    void put_text(std::string_view t) {
        fail(sqlite3_bind_text64(s_, ++put_, t.empty() ? "" : t.data(), t.size(), SQLITE_STATIC,
                                 SQLITE_UTF8));
    }
    void put_bytes(std::string_view b) {
        fail(sqlite3_bind_blob64(s_, ++put_, b.empty() ? "" : b.data(), b.size(), SQLITE_STATIC));
    }

    /// Goes on to the next row. False: there is none, or something failed.
    bool next() {
        if (code_ != SQLITE_OK) return false;
        taken_ = -1;
        int const code = sqlite3_step(s_);
        if (code == SQLITE_ROW) return true;
        if (code != SQLITE_DONE) code_ = code;
        return false;
    }
    /// For statements that return no rows. Returns: the code.
    int finish() {
        next();
        return code_;
    }

    bool take_null() { return sqlite3_column_type(s_, taken_ + 1) == SQLITE_NULL && ++taken_ >= 0; }
    std::int64_t take_number() { return sqlite3_column_int64(s_, ++taken_); }
    std::uint64_t take_bits() { return static_cast<std::uint64_t>(take_number()); }
    /// A number that fits T; anything else is damage.
    template <class T> T take() {
        std::int64_t const n = take_number();
        if (n < std::int64_t{std::numeric_limits<T>::min()} ||
            n > std::int64_t{std::numeric_limits<T>::max()}) {
            damaged();
            return T{};
        }
        return static_cast<T>(n);
    }
    /// Text or bytes, as they were put; good until the next row.
    std::string_view take_text() {
        ++taken_;
        // Of text this gives the stored bytes too: the database is UTF-8 and nothing is converted.
        auto const* bytes = static_cast<char const*>(sqlite3_column_blob(s_, taken_));
        auto const length = static_cast<std::size_t>(sqlite3_column_bytes(s_, taken_));
        return bytes == nullptr ? std::string_view() : std::string_view(bytes, length);
    }

    /// Keeps the first failure.
    void fail(int code) {
        if (code_ == SQLITE_OK) code_ = code;
    }
    /// What was read cannot be what was written.
    void damaged() { fail(SQLITE_CORRUPT); }
    int code() const { return code_; }

private:
    sqlite3_stmt* s_;
    int put_ = 0;
    int taken_ = -1;
    int code_;
};

/// A prepared statement that lives as long as its connection.
class sqlite_statement {
public:
    /// Effects: prepares the statement; code() tells whether it could.
    sqlite_statement(sqlite3* db, std::string_view sql, int& code) {
        if (code != SQLITE_OK) return;
        sqlite3_stmt* s = nullptr;
        code = sqlite3_prepare_v3(db, sql.data(), static_cast<int>(sql.size()),
                                  SQLITE_PREPARE_PERSISTENT, &s, nullptr);
        s_.reset(s);
    }
    sqlite3_stmt* get() const { return s_.get(); }

private:
    std::unique_ptr<sqlite3_stmt, sqlite_close> s_;
};

/// Runs statements that have no parameters. Returns: the code.
inline int sqlite_execute(sqlite3* db, std::string const& sql) {
    return sqlite3_exec(db, sql.c_str(), nullptr, nullptr, nullptr);
}

/// The first column of the first row, as text; empty if there is none.
inline std::string sqlite_ask(sqlite3* db, std::string_view sql, int& code) {
    sqlite_statement const question(db, sql, code);
    if (code != SQLITE_OK) return {};
    sqlite_run run(question.get());
    std::string answer;
    if (run.next()) {
        auto const* text = reinterpret_cast<char const*>(sqlite3_column_text(question.get(), 0));
        if (text != nullptr) answer = text;
    }
    code = run.code();
    return answer;
}

} // namespace indoubt::detail

#endif
