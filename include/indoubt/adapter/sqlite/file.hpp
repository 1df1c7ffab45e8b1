// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef INDOUBT_ADAPTER_SQLITE_FILE_HPP
#define INDOUBT_ADAPTER_SQLITE_FILE_HPP

#include <indoubt/core/error.hpp>
#include <indoubt/core/identity.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>
#include <vector>

// The file of a journal: private to its user, reached by one name, and held by one owner.
//
// SQLite locks files with POSIX locks, which a process loses as soon as it closes any descriptor
// of the file. So the descriptor here is kept until SQLite has closed its own, and a file that
// this process has open is recognised by device and inode before a second descriptor is made.

namespace indoubt::detail {

/// A path for an error's detail: every byte that is not printable is escaped.
inline std::string printable_path(std::string_view path) {
    constexpr std::size_t piece = 64; // as much as printable() shows
    std::string shown;
    for (std::size_t at = 0; at < path.size(); at += piece)
        shown += printable(path.substr(at, piece));
    return shown;
}

inline error about_file(rule why, std::string_view path, std::string_view what, int cause = 0) {
    return error(why).saying(printable_path(path).append(" ").append(what)).because(cause);
}

/// Where a path leads when the links of its folder are followed, and its own are not.
inline result<std::string> located(std::string const& path) {
    auto const slash = path.rfind('/');
    std::string const name = path.substr(slash == std::string::npos ? 0 : slash + 1);
    std::string const folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
    if (name.empty() || name == "." || name == ".." || path.find('\0') != std::string::npos)
        return about_file(rule::not_a_journal, path, "is not the name of a file");
    // SQLite puts files with these endings beside a database, and removes them again.
    constexpr std::string_view endings[] = {"-journal", "-wal", "-shm"};
    bool const its_own = std::ranges::any_of(endings, [&](auto e) { return name.ends_with(e); });
    if (its_own || name.size() + endings[0].size() > NAME_MAX)
        return about_file(rule::not_a_journal, path, "leaves no name for the files beside it");
    std::unique_ptr<char, decltype(&std::free)> const real(::realpath(folder.c_str(), nullptr),
                                                           &std::free);
    if (!real) {
        int const cause = errno;
        return about_file(cause == ENOENT ? rule::journal_missing : rule::storage_failed, path,
                          "is in a folder that cannot be reached", cause);
    }
    std::string full = real.get();
    if (full.back() != '/') full += '/';
    return full + name;
}

/// Makes the entries of a file's folder durable: that it exists, or that it is gone.
inline bool sync_folder_of(std::string const& full_path) {
    auto const folder = full_path.substr(0, full_path.rfind('/') + 1);
    int const fd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return false;
    bool const synced = ::fsync(fd) == 0;
    ::close(fd);
    return synced;
}

/// What tells a file from its copies. A device's number may change when the machine is started
/// again, so it counts only where the file system does not know when a file was made.
struct file_marks {
    std::uint64_t inode = 0, device = 0;
    std::int64_t born_ns = 0; ///< 0: not known

    bool same_file_as(file_marks const& o) const {
        if (inode != o.inode) return false;
        return born_ns != 0 && o.born_ns != 0 ? born_ns == o.born_ns : device == o.device;
    }
};

/// Why a file must not be used as a journal; empty if it may.
inline std::string_view objection_to(struct stat const& s) {
    if (S_ISLNK(s.st_mode)) return "is a symbolic link";
    if (!S_ISREG(s.st_mode)) return "is not a regular file";
    if (s.st_uid != ::geteuid()) return "belongs to another user";
    // 0: its owner is just removing it, as SQLite does with its log.
    if (s.st_nlink > 1) return "has a second name (a hard link)";
    if ((s.st_mode & 077U) != 0) return "is open to other users: its mode must be 600";
    return {};
}

inline bool leads_to(std::string const& path, struct stat const& file) {
    struct stat named;
    return ::lstat(path.c_str(), &named) == 0 && named.st_ino == file.st_ino &&
           named.st_dev == file.st_dev;
}

/// The files that this process has open as journals.
class open_files {
public:
    /// Never destroyed: journals with static lifetime may outlive every other static object.
    static open_files& of_this_process() {
        static open_files& all = *new open_files;
        return all;
    }

    std::mutex mutex;

    // All of these are called with the mutex held.
    bool has(struct stat const& s) const {
        return std::ranges::find(entries_, entry_of(s)) != entries_.end();
    }
    void add(struct stat const& s) { entries_.push_back(entry_of(s)); }
    void remove(struct stat const& s) { std::erase(entries_, entry_of(s)); }

private:
    struct entry {
        dev_t device;
        ino_t inode;
        pid_t process; ///< what a child inherits by fork is not its own
        friend bool operator==(entry const&, entry const&) = default;
    };
    static entry entry_of(struct stat const& s) { return {s.st_dev, s.st_ino, ::getpid()}; }

    std::vector<entry> entries_;
};

/// A journal's file, held from open to the end. Others hear that it is in use.
class owned_file {
public:
    owned_file(owned_file const&) = delete;
    owned_file(owned_file&& o) noexcept
        : path_(std::move(o.path_)), stat_(o.stat_), fd_(std::exchange(o.fd_, -1)),
          process_(o.process_) {}
    owned_file& operator=(owned_file&&) = delete;
    ~owned_file() {
        if (fd_ < 0) return;
        if (::getpid() != process_) { // a forked child, where the mutex may be held for ever
            ::close(fd_);
            return;
        }
        auto& open = open_files::of_this_process();
        std::scoped_lock lock(open.mutex);
        ::close(fd_); // before the entry goes: it drops the locks of whoever came next
        open.remove(stat_);
    }

    /// Makes a file for this path, empty and private, under a name of its own beside it. Only
    /// put_in_place() gives it the path: whoever dies before leaves the path free.
    ///
    /// Errors: journal_exists if something is there, storage_failed.
    static result<owned_file> draft(std::string const& full_path) {
        struct stat there;
        if (::lstat(full_path.c_str(), &there) == 0)
            return about_file(rule::journal_exists, full_path, "exists");
        for (std::string_view ending : {"-wal", "-journal"}) {
            // It may hold what a journal that was removed had not yet taken over.
            auto const name = full_path + std::string(ending);
            if (::lstat(name.c_str(), &there) == 0)
                return about_file(rule::journal_exists, name, "is left of another journal");
        }
        auto& open = open_files::of_this_process();
        std::unique_lock lock(open.mutex);
        int fd = -1;
        std::string name;
        for (unsigned n = 0; fd < 0 && n < most_drafts; ++n) {
            name = draft_name(full_path, n);
            fd = ::open(name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                        S_IRUSR | S_IWUSR);
            if (fd < 0 && errno != EEXIST) break;
        }
        if (fd < 0) {
            int const cause = errno;
            return about_file(rule::storage_failed, full_path, "cannot be created", cause);
        }
        owned_file file(name, fd);
        bool const seen = ::fstat(fd, &file.stat_) == 0;
        if (seen) open.add(file.stat_);
        lock.unlock();
        // A umask may take rights from the owner, and SQLite gives its other files the same mode.
        if (!seen || ::fchmod(fd, S_IRUSR | S_IWUSR) != 0) {
            int const cause = errno;
            file.remove();
            return about_file(rule::storage_failed, full_path, "cannot be made private", cause);
        }
        BOOST_OUTCOME_TRY(file.lock());
        return file;
    }

    /// Effects: makes what was written durable, and then gives the file its path, under which there
    /// is nothing still. Errors: journal_exists, storage_failed.
    result<void> put_in_place(std::string const& full_path) {
        if (::fsync(fd_) != 0) {
            int const cause = errno;
            return about_file(rule::storage_failed, path_, "cannot be made durable", cause);
        }
        if (!move_to(full_path)) {
            int const cause = errno;
            if (cause == EEXIST) return about_file(rule::journal_exists, full_path, "exists");
            return about_file(rule::storage_failed, full_path, "cannot be created", cause);
        }
        path_ = full_path;
        if (!sync_folder_of(path_))
            return about_file(rule::storage_failed, path_, "cannot be made durable", errno);
        return success();
    }

    /// Effects: none on the file. Errors: journal_missing, not_a_journal, journal_in_use,
    /// storage_failed.
    static result<owned_file> claim(std::string const& full_path) {
        struct stat named;
        if (::lstat(full_path.c_str(), &named) != 0) {
            int const cause = errno;
            if (cause == ENOENT) return about_file(rule::journal_missing, full_path, "is missing");
            return about_file(rule::storage_failed, full_path, "cannot be reached", cause);
        }
        auto& open = open_files::of_this_process();
        std::unique_lock lock(open.mutex);
        if (open.has(named)) {
            return about_file(rule::journal_in_use, full_path, "is in use by this process");
        }
        if (auto const why = objection_to(named); !why.empty())
            return about_file(rule::not_a_journal, full_path, why);
        struct stat log; // what SQLite would read as a part of the journal
        auto const log_name = full_path + "-wal";
        if (::lstat(log_name.c_str(), &log) == 0) {
            if (auto const why = objection_to(log); !why.empty())
                return about_file(rule::not_a_journal, log_name, why);
        }
        int const fd = ::open(full_path.c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
        if (fd < 0) {
            int const cause = errno;
            return about_file(rule::storage_failed, full_path, "cannot be opened", cause);
        }
        struct stat opened{};
        if (::fstat(fd, &opened) != 0 || opened.st_ino != named.st_ino ||
            opened.st_dev != named.st_dev) {
            // Closing a descriptor of a journal that this process has open would drop its locks.
            if (!open.has(opened)) ::close(fd);
            return about_file(rule::storage_failed, full_path, "was replaced while it was opened");
        }
        owned_file file(full_path, fd);
        file.stat_ = opened;
        open.add(opened);
        lock.unlock();
        BOOST_OUTCOME_TRY(file.lock());
        return file;
    }

    std::string const& path() const { return path_; }
    int descriptor() const { return fd_; }

    /// The path still leads to this file.
    bool in_place() const { return leads_to(path_, stat_); }

    /// Takes back a creation that failed.
    void remove() const {
        if (!in_place()) return;
        for (std::string_view ending : {"-wal", "-journal", ""})
            ::unlink((path_ + std::string(ending)).c_str());
    }

    file_marks marks() const {
        file_marks m{.inode = stat_.st_ino, .device = stat_.st_dev};
#ifdef STATX_BTIME
        struct statx more;
        if (::statx(fd_, "", AT_EMPTY_PATH, STATX_BTIME, &more) == 0 &&
            (more.stx_mask & STATX_BTIME) != 0) {
            m.born_ns = more.stx_btime.tv_sec * 1'000'000'000 + more.stx_btime.tv_nsec;
        }
#endif
        return m;
    }

    /// That this journal is in use, and by whom if that is certain.
    error in_use() const {
        std::string what = "is in use by ";
        pid_t const before = holder();
        std::string const name = before > 0 ? name_of(before) : std::string();
        // Asked again: if it holds the lock still, the name was its own.
        if (!name.empty() && holder() == before) {
            what.append("process ").append(std::to_string(before));
            what.append(" (").append(printable(name)).append(")");
        } else {
            what += "another process";
        }
        return about_file(rule::journal_in_use, path_, what);
    }

private:
    owned_file(std::string path, int fd) : path_(std::move(path)), fd_(fd) {}

    static constexpr unsigned most_drafts = 1'000; ///< that others left or make at once

    static std::string draft_name(std::string const& full_path, unsigned n) {
        constexpr std::size_t longest = 200; // file systems end at 255
        auto const slash = full_path.rfind('/') + 1;
        std::string name = full_path.substr(0, slash);
        name += full_path.size() - slash <= longest ? full_path.substr(slash) : "journal";
        name.append(".unfinished-").append(std::to_string(::getpid()));
        return name.append("-").append(std::to_string(n));
    }

    /// Never over something else. Returns: false, with errno.
    bool move_to(std::string const& full_path) const {
#ifdef RENAME_NOREPLACE
        if (::renameat2(AT_FDCWD, path_.c_str(), AT_FDCWD, full_path.c_str(), RENAME_NOREPLACE) ==
            0) {
            return true;
        }
        if (errno != EINVAL && errno != ENOSYS) return false;
#endif
        // A file system that cannot: whoever dies between these two leaves a file with two names,
        // which open() refuses until one of them is removed.
        return ::link(path_.c_str(), full_path.c_str()) == 0 && ::unlink(path_.c_str()) == 0;
    }

    /// Takes the one byte that says "owned". It lies far behind the bytes that SQLite locks, and
    /// belongs to the open file: no other descriptor that this process closes can drop it. A
    /// child that was forked and lives on keeps it.
    result<void> lock() const {
        struct flock byte{};
        byte.l_type = F_WRLCK;
        byte.l_whence = SEEK_SET;
        byte.l_start = off_t{1} << 62;
        byte.l_len = 1;
        if (::fcntl(fd_, F_OFD_SETLK, &byte) == 0) return success();
        int const cause = errno;
        if (cause == EAGAIN || cause == EACCES) return in_use();
        return about_file(rule::storage_failed, path_, "cannot be locked", cause);
    }

    /// The process that has SQLite's lock; 0 if there is none, or none that can be seen.
    pid_t holder() const {
        struct flock bytes{};
        bytes.l_type = F_WRLCK;
        bytes.l_whence = SEEK_SET;
        bytes.l_start = 0x40000000; // as documented in SQLite's file format: the lock-byte page
        bytes.l_len = 512;
        if (::fcntl(fd_, F_GETLK, &bytes) != 0 || bytes.l_type == F_UNLCK) return 0;
        return bytes.l_pid;
    }

    static std::string name_of(pid_t process) {
        std::array<char, 64> name{};
        int const fd =
            ::open(("/proc/" + std::to_string(process) + "/comm").c_str(), O_RDONLY | O_CLOEXEC);
        if (fd < 0) return {};
        auto const length = ::read(fd, name.data(), name.size());
        ::close(fd);
        std::string_view const line(name.data(),
                                    static_cast<std::size_t>(std::max<ssize_t>(length, 0)));
        return std::string(line.substr(0, line.find('\n')));
    }

    std::string path_;
    struct stat stat_{};
    int fd_;
    pid_t process_ = ::getpid();
};

} // namespace indoubt::detail

#endif
