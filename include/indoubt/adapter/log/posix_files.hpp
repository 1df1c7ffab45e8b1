// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef INDOUBT_ADAPTER_LOG_POSIX_FILES_HPP
#define INDOUBT_ADAPTER_LOG_POSIX_FILES_HPP

#include <indoubt/adapter/log/files.hpp>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <dirent.h>
#include <fcntl.h>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <type_traits>
#include <unistd.h>
#include <utility>
#include <vector>

namespace indoubt::detail {

/// The files of this machine.
///
/// Locks are flock's: they belong to the open file, so no other descriptor that the process closes
/// drops one. A child that was forked and lives on keeps them.
class posix_files {
public:
    class file {
    public:
        file() = default;
        file(file&& o) noexcept
            : path_(std::move(o.path_)), fd_(std::exchange(o.fd_, -1)),
              direct_(std::exchange(o.direct_, not_tried)) {}
        file& operator=(file&& o) noexcept {
            std::swap(path_, o.path_);
            std::swap(fd_, o.fd_);
            std::swap(direct_, o.direct_);
            return *this;
        }
        ~file() {
            if (direct_ >= 0) ::close(direct_);
            if (fd_ >= 0) ::close(fd_);
        }

        explicit operator bool() const { return fd_ >= 0; }

    private:
        friend posix_files;
        static constexpr int not_tried = -2, refused = -1;

        explicit file(std::string const& path) : path_(path) {}

        error failed(std::string_view what, int cause) const {
            return about_log_file(rule::storage_failed, path_, what, cause);
        }

        std::string path_; ///< that it was opened with; a rename does not change it
        int fd_ = -1;
        int direct_ = not_tried; ///< a second descriptor that goes past the cache
    };

    static result<file> create(std::string const& path) {
        file f(path);
        f.fd_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                       S_IRUSR | S_IWUSR);
        if (f.fd_ < 0) return not_made(path, errno);
        if (::fchmod(f.fd_, S_IRUSR | S_IWUSR) != 0) { // a umask may take rights from the owner
            int const cause = errno;
            ::unlink(path.c_str());
            return f.failed("cannot be made private", cause);
        }
        return f;
    }

    static result<file> open(std::string const& path) {
        struct stat s;
        if (::lstat(path.c_str(), &s) != 0) return not_reached(path, errno);
        // Before it is opened: to open a device may do something.
        if (auto const why = objection_to(s, S_IFREG); !why.empty())
            return about_log_file(rule::not_a_journal, path, why);
        file f(path);
        f.fd_ = ::open(path.c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
        if (f.fd_ < 0) return not_reached(path, errno);
        if (::fstat(f.fd_, &s) != 0) return f.failed("cannot be examined", errno);
        if (auto const why = objection_to(s, S_IFREG); !why.empty())
            return about_log_file(rule::not_a_journal, path, why);
        return f;
    }

    static result<bool> lock(file& f) {
        if (again([&] { return ::flock(f.fd_, LOCK_EX | LOCK_NB); }) == 0) return true;
        int const cause = errno;
        if (cause == EWOULDBLOCK) return false;
        return f.failed("cannot be locked", cause);
    }

    static result<std::uint64_t> size(file& f) {
        struct stat s;
        if (::fstat(f.fd_, &s) != 0) return f.failed("cannot be examined", errno);
        return static_cast<std::uint64_t>(s.st_size);
    }

    static result<log_file_marks> marks(file& f) {
        struct stat s;
        if (::fstat(f.fd_, &s) != 0) return f.failed("cannot be examined", errno);
        log_file_marks m{.inode = s.st_ino, .device = s.st_dev};
#ifdef STATX_BTIME
        struct statx more;
        if (::statx(f.fd_, "", AT_EMPTY_PATH, STATX_BTIME, &more) == 0 &&
            (more.stx_mask & STATX_BTIME) != 0) {
            m.born_ns = more.stx_btime.tv_sec * 1'000'000'000 + more.stx_btime.tv_nsec;
        }
#endif
        return m;
    }

    static result<std::size_t> read(file& f, std::uint64_t offset, std::span<char> into) {
        std::size_t done = 0;
        while (done < into.size()) {
            auto const n = again([&] {
                return ::pread(f.fd_, into.data() + done, into.size() - done,
                               static_cast<off_t>(offset + done));
            });
            if (n < 0) return f.failed("cannot be read", errno);
            if (n == 0) break;
            done += static_cast<std::size_t>(n);
        }
        return done;
    }

    static result<void> write(file& f, std::uint64_t offset, std::span<char const> bytes) {
        if (int const cause = write_all(f.fd_, offset, bytes); cause != 0)
            return f.failed("cannot be written", cause);
        return success();
    }

    static result<void> sync(file& f) {
        if (again([&] { return ::fdatasync(f.fd_); }) != 0)
            return f.failed("cannot be made durable", errno);
        return success();
    }

    /// Past the cache where the file system allows it: then one write to an area that was written
    /// before costs no more than the disk needs to keep it. Else, a write and a sync.
    static result<void> write_durably(file& f, std::uint64_t offset, std::span<char const> bytes) {
        struct stat s; // nobody would find again what is written to a file without a name
        if (::fstat(f.fd_, &s) != 0) return f.failed("cannot be examined", errno);
        if (s.st_nlink == 0) return f.failed("was removed while it was open", ENOENT);
        open_direct(f);
        if (f.direct_ >= 0) {
            int const cause = write_all(f.direct_, offset, bytes);
            if (cause == 0) return success();
            // Refused only now: as tmpfs does, or a disk with larger sectors.
            if (cause != EINVAL) return f.failed("cannot be written", cause);
            ::close(std::exchange(f.direct_, file::refused));
        }
        BOOST_OUTCOME_TRY(write(f, offset, bytes));
        return sync(f);
    }

    static result<void> rename(std::string const& from, std::string const& to) {
        if (move(from, to)) return success();
        int const cause = errno;
        if (cause == EEXIST) return about_log_file(rule::journal_exists, to, "exists");
        return about_log_file(rule::storage_failed, from, "cannot be renamed", cause);
    }

    static result<void> remove(std::string const& path) {
        if (::unlink(path.c_str()) != 0) return not_reached(path, errno);
        return success();
    }

    static result<void> sync_folder(std::string const& path) {
        int const fd = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (fd < 0) return not_reached(path, errno);
        int const synced = again([&] { return ::fsync(fd); });
        int const cause = errno;
        ::close(fd);
        if (synced == 0) return success();
        return about_log_file(rule::storage_failed, path, "cannot be made durable", cause);
    }

    static result<std::vector<std::string>> list(std::string const& folder) {
        int const fd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (fd < 0) return not_reached(folder, errno);
        std::unique_ptr<DIR, decltype([](DIR* d) { ::closedir(d); })> const entries(
            ::fdopendir(fd));
        struct stat s;
        if (!entries || ::fstat(fd, &s) != 0) {
            int const cause = errno;
            if (!entries) ::close(fd);
            return about_log_file(rule::storage_failed, folder, "cannot be read", cause);
        }
        if (auto const why = objection_to(s, S_IFDIR); !why.empty())
            return about_log_file(rule::not_a_journal, folder, why);
        std::vector<std::string> names;
        while (true) {
            errno = 0; // the end of the list is no error
            auto const* const entry = ::readdir(entries.get());
            if (entry == nullptr) break;
            std::string_view const name = entry->d_name;
            if (name != "." && name != "..") names.emplace_back(name);
        }
        if (int const cause = errno; cause != 0)
            return about_log_file(rule::storage_failed, folder, "cannot be read", cause);
        std::ranges::sort(names);
        return names;
    }

    static result<void> make_folder(std::string const& path) {
        if (::mkdir(path.c_str(), S_IRWXU) != 0) return not_made(path, errno);
        if (::chmod(path.c_str(), S_IRWXU) != 0) { // a umask may take rights from the owner
            int const cause = errno;
            ::rmdir(path.c_str());
            return about_log_file(rule::storage_failed, path, "cannot be made private", cause);
        }
        return success();
    }

private:
    /// Calls it until no signal interrupts it.
    template <class Call> static std::invoke_result_t<Call> again(Call call) {
        auto done = call();
        while (done < 0 && errno == EINTR)
            done = call();
        return done;
    }

    /// Returns: 0, or errno.
    static int write_all(int fd, std::uint64_t offset, std::span<char const> bytes) {
        struct rlimit most;
        // The signal that comes with a write beyond this limit would end the process.
        if (::getrlimit(RLIMIT_FSIZE, &most) == 0 && most.rlim_cur != RLIM_INFINITY &&
            offset + bytes.size() > most.rlim_cur) {
            return EFBIG;
        }
        std::size_t done = 0;
        while (done < bytes.size()) {
            auto const n = again([&] {
                return ::pwrite(fd, bytes.data() + done, bytes.size() - done,
                                static_cast<off_t>(offset + done));
            });
            if (n < 0) return errno;
            if (n == 0) return EIO;
            done += static_cast<std::size_t>(n);
        }
        return 0;
    }

    static void open_direct(file& f) {
        if (f.direct_ != file::not_tried) return;
        f.direct_ = file::refused;
#ifdef O_DIRECT
        // By its number: its name may have changed.
        auto const same = "/proc/self/fd/" + std::to_string(f.fd_);
        int const fd = ::open(same.c_str(), O_WRONLY | O_DIRECT | O_DSYNC | O_CLOEXEC);
        if (fd >= 0) f.direct_ = fd;
#endif
    }

    /// Why it must not be used as a part of a journal; empty if it may.
    static std::string_view objection_to(struct stat const& s, mode_t wanted) {
        if (S_ISLNK(s.st_mode)) return "is a symbolic link";
        if ((s.st_mode & S_IFMT) != wanted)
            return wanted == S_IFDIR ? "is not a folder" : "is not a regular file";
        if (s.st_uid != ::geteuid()) return "belongs to another user";
        if (wanted == S_IFREG && s.st_nlink != 1) return "has a second name (a hard link)";
        if ((s.st_mode & 077U) != 0) {
            return wanted == S_IFDIR ? "is open to other users: its mode must be 700"
                                     : "is open to other users: its mode must be 600";
        }
        return {};
    }

    static error not_made(std::string const& path, int cause) {
        if (cause == EEXIST) return about_log_file(rule::journal_exists, path, "exists");
        return about_log_file(rule::storage_failed, path, "cannot be created", cause);
    }

    static error not_reached(std::string const& path, int cause) {
        if (cause == ENOENT) return about_log_file(rule::journal_missing, path, "is missing");
        if (cause == ELOOP) return about_log_file(rule::not_a_journal, path, "is a symbolic link");
        if (cause == ENOTDIR) return about_log_file(rule::not_a_journal, path, "is not a folder");
        return about_log_file(rule::storage_failed, path, "cannot be reached", cause);
    }

    /// Never over something else. Returns: false, with errno.
    static bool move(std::string const& from, std::string const& to) {
#ifdef RENAME_NOREPLACE
        if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0)
            return true;
        if (errno != EINVAL && errno != ENOSYS) return false;
#endif
        // A file system that cannot: whoever dies between these two leaves a file with two names.
        // Folders keep theirs (EPERM).
        return ::link(from.c_str(), to.c_str()) == 0 && ::unlink(from.c_str()) == 0;
    }
};

static_assert(log_files<posix_files>);

} // namespace indoubt::detail

#endif
