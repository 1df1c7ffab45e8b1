// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef EXAMPLES_JOURNAL_TOOL_READ_ONLY_FILES_HPP
#define EXAMPLES_JOURNAL_TOOL_READ_ONLY_FILES_HPP

#include <indoubt/adapter/log/files.hpp>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

// The files of a log for a reader that changes nothing: they are opened for reading only. What an
// open would repair is repaired in memory alone, and told.

namespace journal_tool {

using indoubt::result;

/// A descriptor that is closed at the end.
class descriptor {
public:
    descriptor() = default;
    explicit descriptor(int fd) : fd_(fd) {}
    descriptor(descriptor&& o) noexcept : fd_(std::exchange(o.fd_, -1)) {}
    descriptor& operator=(descriptor&& o) noexcept {
        std::swap(fd_, o.fd_);
        return *this;
    }
    ~descriptor() {
        if (fd_ >= 0) ::close(fd_);
    }
    int get() const { return fd_; }
    explicit operator bool() const { return fd_ >= 0; }

private:
    int fd_ = -1;
};

class read_only_files {
public:
    struct mended {
        std::string path;
        std::uint64_t offset;
    };

    class file {
    public:
        explicit operator bool() const { return static_cast<bool>(fd_); }

    private:
        friend read_only_files;
        struct patch {
            std::uint64_t offset;
            std::vector<char> bytes;
        };
        std::string path_{};
        descriptor fd_{};
        std::vector<patch> patches_{};
    };

    static result<file> open(std::string const& path) {
        file f;
        f.path_ = path;
        f.fd_ = descriptor(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
        if (!f.fd_) return not_reached(path, errno);
        struct stat s;
        if (::fstat(f.fd_.get(), &s) != 0) return not_reached(path, errno);
        if (!S_ISREG(s.st_mode))
            return about(indoubt::rule::not_a_journal, path, "is not a regular file");
        return f;
    }

    /// Together with other readers; whoever opens the journal meanwhile hears that it is in use.
    static result<bool> lock(file& f) {
        if (::flock(f.fd_.get(), LOCK_SH | LOCK_NB) == 0) return true;
        if (errno == EWOULDBLOCK) return false;
        return not_reached(f.path_, errno);
    }

    static result<std::uint64_t> size(file& f) {
        struct stat s;
        if (::fstat(f.fd_.get(), &s) != 0) return not_reached(f.path_, errno);
        return static_cast<std::uint64_t>(s.st_size);
    }

    static result<indoubt::detail::log_file_marks> marks(file& f) {
        struct stat s;
        if (::fstat(f.fd_.get(), &s) != 0) return not_reached(f.path_, errno);
        return indoubt::detail::log_file_marks{.inode = s.st_ino, .device = s.st_dev};
    }

    static result<std::size_t> read(file& f, std::uint64_t offset, std::span<char> into) {
        std::size_t done = 0;
        while (done < into.size()) {
            auto const n = ::pread(f.fd_.get(), into.data() + done, into.size() - done,
                                   static_cast<off_t>(offset + done));
            if (n < 0 && errno == EINTR) continue;
            if (n < 0)
                return about(indoubt::rule::storage_failed, f.path_, "cannot be read", errno);
            if (n == 0) break;
            done += static_cast<std::size_t>(n);
        }
        for (file::patch const& p : f.patches_) {
            auto const from = std::max(offset, p.offset);
            auto const to = std::min(offset + done, p.offset + p.bytes.size());
            for (auto at = from; at < to; ++at)
                into[static_cast<std::size_t>(at - offset)] =
                    p.bytes[static_cast<std::size_t>(at - p.offset)];
        }
        return done;
    }

    static result<std::vector<std::string>> list(std::string const& folder) {
        std::vector<std::string> names;
        std::error_code bad;
        for (std::filesystem::directory_iterator at(folder, bad), end; !bad && at != end;
             at.increment(bad))
            names.push_back(at->path().filename().string());
        if (bad) return not_reached(folder, bad.value());
        std::ranges::sort(names);
        return names;
    }

    // ---- changes --------------------------------------------------------------------------------

    /// Kept in memory: later reads show it.
    result<void> write_durably(file& f, std::uint64_t offset, std::span<char const> bytes) {
        f.patches_.push_back({offset, {bytes.begin(), bytes.end()}});
        mended_->push_back({f.path_, offset});
        return indoubt::success();
    }
    std::vector<mended> const& all_mended() const { return *mended_; }

    /// An unfinished segment, which a reader passes over.
    static result<void> remove(std::string const& /*path*/) { return indoubt::success(); }

    static result<file> create(std::string const& path) { return refused(path); }
    static result<void> write(file& f, std::uint64_t /*offset*/, std::span<char const> /*bytes*/) {
        return refused(f.path_);
    }
    static result<void> sync(file& f) { return refused(f.path_); }
    static result<void> rename(std::string const& from, std::string const& /*to*/) {
        return refused(from);
    }
    static result<void> sync_folder(std::string const& path) { return refused(path); }
    static result<void> make_folder(std::string const& path) { return refused(path); }

private:
    static indoubt::error about(indoubt::rule why, std::string_view path, std::string_view what,
                                int cause = 0) {
        return indoubt::detail::about_log_file(why, path, what, cause);
    }
    static indoubt::error refused(std::string const& path) {
        return about(indoubt::rule::storage_failed, path, "is only read");
    }
    static indoubt::error not_reached(std::string const& path, int cause) {
        using indoubt::rule;
        if (cause == ENOENT) return about(rule::journal_missing, path, "is missing");
        if (cause == ELOOP) return about(rule::not_a_journal, path, "is a symbolic link");
        if (cause == ENOTDIR) return about(rule::not_a_journal, path, "is not a folder");
        return about(rule::storage_failed, path, "cannot be reached", cause);
    }

    std::shared_ptr<std::vector<mended>> mended_ = std::make_shared<std::vector<mended>>();
};

static_assert(indoubt::detail::log_files<read_only_files>);

} // namespace journal_tool

#endif
