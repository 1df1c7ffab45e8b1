// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef INDOUBT_TESTS_ADAPTER_FAULTY_DISK_HPP
#define INDOUBT_TESTS_ADAPTER_FAULTY_DISK_HPP

#include <indoubt/testing/seeded_random.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <fcntl.h>
#include <functional>
#include <map>
#include <mutex>
#include <new>
#include <sqlite3.h>
#include <string>
#include <string_view>
#include <unistd.h>
#include <utility>
#include <vector>

// Stands between SQLite and its files: counts every step that changes something (open to create,
// write, sync, truncate, delete), lets a chosen one fail, and knows what a power cut would leave.

namespace indoubt::tests {

class faulty_disk {
public:
    /// SQLite uses it as long as it lives.
    faulty_disk() : real_(sqlite3_vfs_find(nullptr)), vfs_{*real_, this} {
        vfs_.szOsFile = static_cast<int>(sizeof(file)) + real_->szOsFile;
        vfs_.zName = "faulty";
        vfs_.pNext = nullptr;
        vfs_.xOpen = [](sqlite3_vfs* v, char const* name, sqlite3_file* f, int flags, int* out) {
            return disk_of(v).open(name, f, flags, out);
        };
        vfs_.xDelete = [](sqlite3_vfs* v, char const* name, int sync) {
            return disk_of(v).remove(name, sync);
        };
        sqlite3_vfs_register(&vfs_, 1);
    }
    faulty_disk(faulty_disk const&) = delete;
    faulty_disk& operator=(faulty_disk const&) = delete;
    ~faulty_disk() {
        sqlite3_vfs_unregister(&vfs_);
        sqlite3_vfs_register(real_, 1);
    }

    std::uint64_t steps() const { return steps_; }
    std::uint64_t syncs() const { return syncs_; }
    /// This step fails, and the later ones up to `last`.
    void fail(std::uint64_t first, std::uint64_t last = UINT64_MAX) {
        first_failing_ = first;
        last_failing_ = last;
    }
    void work_again() { first_failing_ = UINT64_MAX; }
    /// Instead of this step the function is called.
    void at(std::uint64_t step, std::function<void()> f) {
        call_at_ = step;
        call_ = std::move(f);
    }

    /// Leaves the files as a power cut would: what was synced, and of what was written after that
    /// any sectors. The files are written in place, so that they keep their inodes.
    void cut_power(testing::seeded_random& random) {
        std::scoped_lock lock(mutex_);
        for (auto& [path, state] : files_) {
            std::string left = state.synced;
            for (auto const& change : state.unsynced)
                apply(change, left, [&] { return random.chance(0.5); });
            int const fd = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
            if (fd < 0) continue;
            if (::ftruncate(fd, 0) == 0) (void)!::pwrite(fd, left.data(), left.size(), 0);
            ::close(fd);
        }
    }

private:
    struct change {
        std::size_t at = 0;
        std::string bytes; ///< empty: the file was cut off here
    };
    struct file_state {
        std::string synced;
        std::vector<change> unsynced;
    };
    struct own_vfs : sqlite3_vfs {
        own_vfs(sqlite3_vfs const& v, faulty_disk* d) : sqlite3_vfs(v), disk(d) {}
        faulty_disk* disk;
    };
    struct file : sqlite3_file {
        faulty_disk* disk = nullptr;
        file_state* state = nullptr;
        sqlite3_file* real() { return reinterpret_cast<sqlite3_file*>(this + 1); }
    };

    template <class Survives>
    static void apply(change const& c, std::string& to, Survives survives) {
        constexpr std::size_t sector = 512;
        if (c.bytes.empty()) {
            if (survives()) to.resize(c.at);
            return;
        }
        for (std::size_t at = 0; at < c.bytes.size(); at += sector) {
            if (!survives()) continue;
            auto const piece = c.bytes.substr(at, sector);
            if (to.size() < c.at + at + piece.size()) to.resize(c.at + at + piece.size());
            to.replace(c.at + at, piece.size(), piece);
        }
    }

    static faulty_disk& disk_of(sqlite3_vfs* v) { return *static_cast<own_vfs*>(v)->disk; }
    static file& mine(sqlite3_file* f) { return *static_cast<file*>(f); }

    /// Counts a step. Returns: true if it must fail.
    bool step_fails() {
        std::uint64_t const step = ++steps_;
        if (step == call_at_) call_();
        return step >= first_failing_ && step <= last_failing_;
    }

    int open(char const* name, sqlite3_file* f, int flags, int* out) {
        auto* const m = new (f) file;
        m->pMethods = nullptr;
        if ((flags & SQLITE_OPEN_CREATE) != 0 && step_fails()) return SQLITE_CANTOPEN;
        int const code = real_->xOpen(real_, name, m->real(), flags, out);
        if (code != SQLITE_OK) return code;
        m->disk = this;
        m->pMethods = &methods();
        if (name != nullptr) {
            std::scoped_lock lock(mutex_);
            auto const [place, is_new] = files_.try_emplace(name);
            m->state = &place->second;
            if (is_new) m->state->synced = contents(m->real());
        }
        return SQLITE_OK;
    }

    int remove(char const* name, int sync) {
        if (step_fails()) return SQLITE_IOERR_DELETE;
        {
            std::scoped_lock lock(mutex_);
            if (auto const found = files_.find(name); found != files_.end())
                found->second = file_state();
        }
        return real_->xDelete(real_, name, sync);
    }

    static std::string contents(sqlite3_file* f) {
        sqlite3_int64 size = 0;
        if (f->pMethods->xFileSize(f, &size) != SQLITE_OK) return {};
        std::string all(static_cast<std::size_t>(size), '\0');
        if (size != 0) f->pMethods->xRead(f, all.data(), static_cast<int>(size), 0);
        return all;
    }

    void note(file& m, change c) {
        std::scoped_lock lock(mutex_);
        if (m.state != nullptr) m.state->unsynced.push_back(std::move(c));
    }

    static int write(sqlite3_file* f, void const* bytes, int length, sqlite3_int64 at) {
        file& m = mine(f);
        if (m.disk->step_fails()) return SQLITE_IOERR_WRITE;
        m.disk->note(
            m, {static_cast<std::size_t>(at),
                std::string(static_cast<char const*>(bytes), static_cast<std::size_t>(length))});
        return m.real()->pMethods->xWrite(m.real(), bytes, length, at);
    }
    static int truncate(sqlite3_file* f, sqlite3_int64 size) {
        file& m = mine(f);
        if (m.disk->step_fails()) return SQLITE_IOERR_TRUNCATE;
        m.disk->note(m, {static_cast<std::size_t>(size), {}});
        return m.real()->pMethods->xTruncate(m.real(), size);
    }
    static int sync(sqlite3_file* f, int) {
        file& m = mine(f);
        if (m.disk->step_fails()) return SQLITE_IOERR_FSYNC;
        ++m.disk->syncs_;
        std::scoped_lock lock(m.disk->mutex_);
        if (m.state != nullptr) {
            for (auto const& change : m.state->unsynced)
                apply(change, m.state->synced, [] { return true; });
            m.state->unsynced.clear();
        }
        return SQLITE_OK; // the power is cut in the mind only
    }

    static sqlite3_io_methods const& methods() {
        static sqlite3_io_methods const all = [] {
            sqlite3_io_methods m{};
            m.iVersion = 1; // no shared memory: a journal's log needs none
            m.xClose = [](sqlite3_file* f) {
                return mine(f).real()->pMethods->xClose(mine(f).real());
            };
            m.xRead = [](sqlite3_file* f, void* to, int length, sqlite3_int64 at) {
                return mine(f).real()->pMethods->xRead(mine(f).real(), to, length, at);
            };
            m.xWrite = &write;
            m.xTruncate = &truncate;
            m.xSync = &sync;
            m.xFileSize = [](sqlite3_file* f, sqlite3_int64* size) {
                return mine(f).real()->pMethods->xFileSize(mine(f).real(), size);
            };
            m.xLock = [](sqlite3_file* f, int level) {
                return mine(f).real()->pMethods->xLock(mine(f).real(), level);
            };
            m.xUnlock = [](sqlite3_file* f, int level) {
                return mine(f).real()->pMethods->xUnlock(mine(f).real(), level);
            };
            m.xCheckReservedLock = [](sqlite3_file* f, int* out) {
                return mine(f).real()->pMethods->xCheckReservedLock(mine(f).real(), out);
            };
            m.xFileControl = [](sqlite3_file* f, int what, void* argument) {
                return mine(f).real()->pMethods->xFileControl(mine(f).real(), what, argument);
            };
            m.xSectorSize = [](sqlite3_file* f) {
                return mine(f).real()->pMethods->xSectorSize(mine(f).real());
            };
            m.xDeviceCharacteristics = [](sqlite3_file* f) {
                return mine(f).real()->pMethods->xDeviceCharacteristics(mine(f).real());
            };
            return m;
        }();
        return all;
    }

    sqlite3_vfs* real_;
    own_vfs vfs_;
    std::mutex mutex_;
    std::map<std::string, file_state> files_;
    std::atomic<std::uint64_t> steps_ = 0, syncs_ = 0;
    std::uint64_t first_failing_ = UINT64_MAX, last_failing_ = UINT64_MAX, call_at_ = 0;
    std::function<void()> call_;
};

} // namespace indoubt::tests

#endif
