// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef INDOUBT_ADAPTER_LOG_NEW_FOLDER_HPP
#define INDOUBT_ADAPTER_LOG_NEW_FOLDER_HPP

#include <indoubt/adapter/log/segments.hpp>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <unistd.h>
#include <utility>
#include <vector>

// A folder that gets its name when it is whole: whoever dies on the way leaves the path free.

namespace indoubt::detail {

inline std::uint64_t random_number() {
    std::random_device device;
    return std::uint64_t{device()} << 32U | device();
}

template <log_files Files> class log_new_folder {
public:
    static constexpr char const* lock_name = "/lock";

    static std::string above(std::string const& path) {
        auto const slash = path.find_last_of('/');
        return slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
    }

    /// With its lock, under another name.
    static result<log_new_folder> begin(Files files, std::string const& path) {
        auto const slash = path.find_last_of('/');
        std::string const name = path.substr(slash == std::string::npos ? 0 : slash + 1);
        if (name.empty() || name == "." || name == ".." || path.find('\0') != std::string::npos)
            return about_log_file(rule::not_a_journal, path, "is not the name of a folder");
        // Asked first, so that nothing is made in vain; the rename asks again.
        auto const there = files.open(path);
        if (there || there.error().rule() == rule::not_a_journal)
            return about_log_file(rule::journal_exists, path, "exists");
        if (there.error().rule() != rule::journal_missing) return there.error();
        log_new_folder made(std::move(files), path);
        if (auto const folder = made.files_.make_folder(made.draft_); !folder) {
            return folder.error().cause() == ENOENT
                       ? about_log_file(rule::journal_missing, above(path), "is missing")
                       : folder.error();
        }
        BOOST_OUTCOME_TRY(made.lock_, made.files_.create(made.draft_ + lock_name));
        BOOST_OUTCOME_TRY(made.files_.sync(made.lock_));
        return made;
    }

    std::string const& draft() const { return draft_; }
    typename Files::file take_lock() { return std::move(lock_); }

    /// What it holds is durable.
    result<void> finish() {
        BOOST_OUTCOME_TRY(files_.rename(draft_, path_));
        return files_.sync_folder(above(path_));
    }

private:
    log_new_folder(Files files, std::string const& path)
        : files_(std::move(files)), path_(path),
          draft_(path + ".unfinished-" + std::to_string(::getpid()) + '-' +
                 std::to_string(random_number())) {}

    Files files_;
    std::string path_, draft_;
    typename Files::file lock_{};
};

/// Copies segments to a new folder, byte by byte, without what follows their frames.
template <log_files Files>
result<void> copy_log(log_folder<Files>& from, std::vector<log_extent> const& all,
                      std::string const& path) {
    Files& files = from.files();
    BOOST_OUTCOME_TRY(auto to, log_new_folder<Files>::begin(files, path));
    log_folder<Files> copy(files, to.draft());
    std::vector<char> bytes(std::size_t{1} << 20);
    for (log_extent const& s : all) {
        BOOST_OUTCOME_TRY(auto source, files.open(from.in(from.name_of(s.number))));
        BOOST_OUTCOME_TRY(auto made, copy.make_blank(s.number, static_cast<std::size_t>(s.size)));
        for (std::uint64_t at = 0; at < s.end;) {
            auto const part = std::span(bytes).first(
                static_cast<std::size_t>(std::min<std::uint64_t>(bytes.size(), s.end - at)));
            BOOST_OUTCOME_TRY(auto const got, files.read(source, at, part));
            if (got != part.size()) return from.damaged(s.number, at + got, "ends early");
            BOOST_OUTCOME_TRY(files.write(made.file, at, part));
            at += got;
        }
        BOOST_OUTCOME_TRY(files.sync(made.file));
    }
    return to.finish();
}

} // namespace indoubt::detail

#endif
