// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef INDOUBT_BENCHMARKS_JOURNAL_PEERS_HPP
#define INDOUBT_BENCHMARKS_JOURNAL_PEERS_HPP

#include "slice.hpp"

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <sqlite3.h>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#ifdef JOURNAL_LEVELDB
#include <leveldb/db.h>
#include <leveldb/write_batch.h>
#endif
#ifdef JOURNAL_ROCKSDB
#include <rocksdb/db.h>
#include <rocksdb/write_batch.h>
#endif
#ifdef JOURNAL_LMDB
#include <lmdb.h>
#endif

// The same two transitions by peers, each used as fast as it goes: what is uncertain is durable
// before the send, and the confirmation, which puts 32 bytes in the place of the record, is a part
// of the next commit, or has one of its own.

namespace bench {

struct change {
    std::string key;
    bool confirms = false;
};

/// The rest of what a record is, and a confirmation.
inline std::string_view value_of(change const& c) {
    static std::string const filler(record_bytes, 'x');
    std::string_view const all = filler;
    return all.substr(0, c.confirms ? confirm_bytes : record_bytes - c.key.size());
}

/// Turns operations into changes. When a confirmation is durable: with the next commit, or at once.
class peer : public by_turns {
public:
    explicit peer(bool confirms_at_once) : confirms_at_once_(confirms_at_once) {}

    void turn(worker& w) override {
        std::vector<change> changes = confirmations(w);
        std::uint64_t const first = next_numbers(w.batch);
        for (unsigned i = 0; i != w.batch; ++i) {
            changes.push_back({"tenant-7/" + key_of(first + i), false});
            w.unconfirmed.push_back(changes.back().key);
        }
        commit(std::move(changes));
        if (confirms_at_once_) commit(confirmations(w));
    }
    void finish(worker& w) override {
        if (!w.unconfirmed.empty()) commit(confirmations(w));
    }

protected:
    /// All of them, durable on return. Called by several threads.
    virtual void commit(std::vector<change>&& changes) = 0;

private:
    static std::vector<change> confirmations(worker& w) {
        std::vector<change> out;
        out.reserve(2 * w.unconfirmed.size() + 1);
        for (auto& key : w.unconfirmed)
            out.push_back({std::move(key), true});
        w.unconfirmed.clear();
        return out;
    }

    bool confirms_at_once_;
};

/// For peers with one writer that do not do it themselves: all that wait share one commit.
class sharing_peer : public peer {
public:
    using peer::peer;

    void commit(std::vector<change>&& changes) final {
        std::unique_lock lock(mutex_);
        for (auto& c : changes)
            waiting_.push_back(std::move(c));
        std::uint64_t const mine = collecting_;
        while (done_ < mine) {
            if (is_led_) {
                written_.wait(lock);
                continue;
            }
            is_led_ = true;
            std::uint64_t const round = collecting_++;
            auto const all = std::exchange(waiting_, {});
            lock.unlock();
            write(all);
            lock.lock();
            is_led_ = false;
            done_ = round;
            written_.notify_all();
        }
    }

protected:
    virtual void write(std::vector<change> const& changes) = 0;

private:
    std::mutex mutex_;
    std::condition_variable written_;
    std::vector<change> waiting_;
    std::uint64_t collecting_ = 1, done_ = 0;
    bool is_led_ = false;
};

// ---- SQLite -------------------------------------------------------------------------------------

struct close_sqlite {
    void operator()(sqlite3* db) const { sqlite3_close(db); }
    void operator()(sqlite3_stmt* s) const { sqlite3_finalize(s); }
};
using sqlite_handle = std::unique_ptr<sqlite3, close_sqlite>;
using sqlite_prepared = std::unique_ptr<sqlite3_stmt, close_sqlite>;

inline void check_sqlite(sqlite3* db, int code) {
    if (code != SQLITE_OK && code != SQLITE_DONE && code != SQLITE_ROW)
        fail("sqlite", sqlite3_errmsg(db));
}
inline sqlite_prepared prepare(sqlite3* db, std::string const& text) {
    sqlite3_stmt* raw = nullptr;
    check_sqlite(
        db, sqlite3_prepare_v3(db, text.c_str(), -1, SQLITE_PREPARE_PERSISTENT, &raw, nullptr));
    return sqlite_prepared(raw);
}
/// The first column of the first row; empty if there is none.
inline std::string ask_sqlite(sqlite3* db, std::string const& question) {
    auto const s = prepare(db, question);
    int const code = sqlite3_step(s.get());
    check_sqlite(db, code);
    auto const* const text = code == SQLITE_ROW ? sqlite3_column_text(s.get(), 0) : nullptr;
    return text == nullptr ? "" : reinterpret_cast<char const*>(text);
}
inline sqlite_handle open_sqlite(std::string const& path) {
    sqlite3* raw = nullptr;
    int const code =
        sqlite3_open_v2(path.c_str(), &raw,
                        SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, nullptr);
    sqlite_handle db(raw);
    check_sqlite(raw, code);
    ask_sqlite(raw, "PRAGMA locking_mode = EXCLUSIVE"); // no shared memory
    ask_sqlite(raw, "PRAGMA journal_mode = WAL");
    ask_sqlite(raw, "PRAGMA synchronous = FULL");
    if (ask_sqlite(raw, "PRAGMA journal_mode") != "wal" ||
        ask_sqlite(raw, "PRAGMA synchronous") != "2")
        fail("sqlite", "WAL with synchronous = FULL was not taken");
    return db;
}

class sqlite_peer : public sharing_peer {
public:
    explicit sqlite_peer(std::string const& name, bool confirms_at_once = false)
        : sharing_peer(confirms_at_once), db_(open_sqlite(data_folder::path() + '/' + name)) {
        ask_sqlite(db_.get(), "CREATE TABLE operations (key BLOB PRIMARY KEY, value BLOB NOT NULL)"
                              " WITHOUT ROWID");
        begin_ = prepare(db_.get(), "BEGIN IMMEDIATE");
        commit_ = prepare(db_.get(), "COMMIT");
        insert_ = prepare(db_.get(), "INSERT INTO operations (value, key) VALUES (?, ?)");
        update_ = prepare(db_.get(), "UPDATE operations SET value = ? WHERE key = ?");
    }

protected:
    void write(std::vector<change> const& changes) override {
        step(begin_);
        for (auto const& c : changes) {
            auto const& s = c.confirms ? update_ : insert_;
            put(s, 1, value_of(c));
            put(s, 2, c.key);
            step(s);
            if (sqlite3_changes(db_.get()) != 1) fail("sqlite", "a row was not written");
        }
        step(commit_);
    }

private:
    void put(sqlite_prepared const& s, int at, std::string_view bytes) {
        check_sqlite(db_.get(), sqlite3_bind_blob(s.get(), at, bytes.data(),
                                                  static_cast<int>(bytes.size()), SQLITE_STATIC));
    }
    void step(sqlite_prepared const& s) {
        check_sqlite(db_.get(), sqlite3_step(s.get()));
        check_sqlite(db_.get(), sqlite3_reset(s.get()));
    }

    sqlite_handle db_;
    sqlite_prepared begin_, commit_, insert_, update_;
};

// ---- LevelDB, RocksDB ---------------------------------------------------------------------------

/// They share commits of threads themselves.
template <class Db, class Batch, class Options, class WriteOptions>
class sorted_peer : public peer {
public:
    sorted_peer(std::string const& name, Options options) : peer(false), name_(name) {
        options.create_if_missing = true;
        options.write_buffer_size = std::size_t{64} << 20;
        Db* raw = nullptr;
        check(Db::Open(options, data_folder::path() + '/' + name, &raw));
        db_.reset(raw);
    }

protected:
    void commit(std::vector<change>&& changes) override {
        Batch batch;
        for (auto const& c : changes) {
            auto const value = value_of(c);
            batch.Put(c.key, {value.data(), value.size()});
        }
        WriteOptions options;
        options.sync = true;
        check(db_->Write(options, &batch));
    }

private:
    template <class Status> void check(Status const& s) const {
        if (!s.ok()) fail(name_, s.ToString());
    }

    std::string name_;
    std::unique_ptr<Db> db_;
};

#ifdef JOURNAL_LEVELDB
using leveldb_peer =
    sorted_peer<leveldb::DB, leveldb::WriteBatch, leveldb::Options, leveldb::WriteOptions>;
#endif
#ifdef JOURNAL_ROCKSDB
using rocksdb_peer =
    sorted_peer<rocksdb::DB, rocksdb::WriteBatch, rocksdb::Options, rocksdb::WriteOptions>;
#endif

// ---- LMDB ---------------------------------------------------------------------------------------

#ifdef JOURNAL_LMDB
class lmdb_peer : public sharing_peer {
public:
    explicit lmdb_peer(std::string const& name) : sharing_peer(false) {
        check(mdb_env_create(&environment_));
        check(mdb_env_set_mapsize(environment_, std::size_t{4} << 30));
        auto const path = data_folder::path() + '/' + name;
        // Whoever happens to lead writes: a transaction stays in its thread all the same.
        check(mdb_env_open(environment_, path.c_str(), MDB_NOSUBDIR, 0600));
        MDB_txn* txn = nullptr;
        check(mdb_txn_begin(environment_, nullptr, 0, &txn));
        check(mdb_dbi_open(txn, nullptr, 0, &table_));
        check(mdb_txn_commit(txn));
    }
    ~lmdb_peer() override { mdb_env_close(environment_); }

protected:
    void write(std::vector<change> const& changes) override {
        MDB_txn* txn = nullptr;
        check(mdb_txn_begin(environment_, nullptr, 0, &txn));
        for (auto const& c : changes) {
            auto const bytes = value_of(c);
            // It only reads them: its type knows no const.
            MDB_val key{c.key.size(), const_cast<char*>(c.key.data())};
            MDB_val value{bytes.size(), const_cast<char*>(bytes.data())};
            check(mdb_put(txn, table_, &key, &value, 0));
        }
        check(mdb_txn_commit(txn));
    }

private:
    static void check(int code) {
        if (code != MDB_SUCCESS) fail("lmdb", mdb_strerror(code));
    }

    MDB_env* environment_ = nullptr;
    MDB_dbi table_ = 0;
};
#endif

} // namespace bench

#endif
