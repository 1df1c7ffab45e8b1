// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef INDOUBT_ADAPTER_LOG_FILES_HPP
#define INDOUBT_ADAPTER_LOG_FILES_HPP

#include <indoubt/core/error.hpp>
#include <indoubt/core/identity.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// What a log asks of the file system, and nothing else reaches a disk: so a test can put another
// one in its place, cut the power, and let any step fail.

namespace indoubt::detail {

/// The path is shown whole, every byte that is not printable escaped.
inline error about_log_file(rule why, std::string_view path, std::string_view what, int cause = 0) {
    constexpr std::size_t piece = 64; // as much as printable() shows
    std::string shown;
    for (std::size_t at = 0; at < path.size(); at += piece)
        shown += printable(path.substr(at, piece));
    return error(why).saying(shown.append(" ").append(what)).because(cause);
}

/// What tells a file from its copies. A device's number may change when the machine is started
/// again, so it counts only where the file system does not know when a file was made.
struct log_file_marks {
    std::uint64_t inode = 0, device = 0;
    std::int64_t born_ns = 0; ///< since the Unix epoch; 0: not known

    bool same_file_as(log_file_marks const& o) const {
        if (inode != o.inode) return false;
        return born_ns != 0 && o.born_ns != 0 ? born_ns == o.born_ns : device == o.device;
    }
};

/// F::file is an open file: movable, closed with its last owner, false if it holds none.
///
/// | expression                    | returns                | effect                            |
/// |-------------------------------|------------------------|-----------------------------------|
/// | f.create(path)                | result<F::file>        | an empty file where nothing is;   |
/// |                               |                        | else journal_exists               |
/// | f.open(path)                  | result<F::file>        | none; journal_missing if nothing  |
/// |                               |                        | is there, not_a_journal if it is  |
/// |                               |                        | not a regular file with this name |
/// |                               |                        | only, for its user only           |
/// | f.lock(file)                  | result<bool>           | true if this F::file has the file |
/// |                               |                        | now, until it is closed; false if |
/// |                               |                        | another one has it                |
/// | f.size(file)                  | result<std::uint64_t>  | none; bytes                       |
/// | f.marks(file)                 | result<log_file_marks> | none                              |
/// | f.read(file, offset, into)    | result<std::size_t>    | fills `into`; returns how many    |
/// |                               |                        | bytes: fewer only at the end of   |
/// |                               |                        | the file                          |
/// | f.write(file, offset, bytes)  | result<void>           | all bytes are written, beyond the |
/// |                               |                        | end too                           |
/// | f.sync(file)                  | result<void>           | all that was written to the file, |
/// |                               |                        | and its size, is durable          |
/// | f.write_durably(file, offset, | result<void>           | as write, and these bytes are     |
/// |                 bytes)        |                        | durable; see below                |
/// | f.rename(from, to)            | result<void>           | never over something else: then   |
/// |                               |                        | journal_exists                    |
/// | f.remove(path)                | result<void>           | the file loses its name;          |
/// |                               |                        | journal_missing if there is none  |
/// | f.sync_folder(path)           | result<void>           | every create, rename, remove and  |
/// |                               |                        | make_folder in it is durable      |
/// | f.list(folder)                | result<std::vector<    | none; all names in it, in the     |
/// |                               |   std::string>>        | order of their bytes. Errors as   |
/// |                               |                        | of open                           |
/// | f.make_folder(path)           | result<void>           | an empty folder, for its user     |
/// |                               |                        | only; else journal_exists         |
///
/// Laws (tests/adapter/log_files.cpp checks them):
/// - Every other error is rule::storage_failed; cause() is errno, detail() begins with the path.
/// - After an error of write or write_durably any part may be written; after one of create, rename,
///   remove or make_folder it may have happened. After one of sync, sync_folder or write_durably
///   what was not durable may never be, though it is still read and later syncs succeed: write
///   to that file no more.
/// - Reads show what was written, synced or not.
/// - write_durably takes an offset and a size that are multiples of 512 and an address that is a
///   multiple of 4096. It says nothing of what write wrote elsewhere. It may refuse a file that
///   was removed.
/// - After a crash of the process: all that was done is there; locks are gone.
/// - After a power cut: what is durable is there. Of all else any sectors of 512 bytes may be
///   there, or be lost, or hold anything, in any order; the size too. Of a write_durably that did
///   not return, the same. A sector that is written again is not durable until that is. A create,
///   rename, remove or make_folder happened or did not; a rename may leave the file with both
///   names, which open refuses, and never with none.
/// - Thread safety: one file may be read by several threads while one thread does something else
///   with it. Different files and paths are independent.
/// - Nothing throws (but for std::bad_alloc).
template <class F>
concept log_files =
    std::movable<typename F::file> && std::default_initializable<typename F::file> &&
    !std::copyable<typename F::file> &&
    requires(F& f, typename F::file& file, std::string const& path, std::uint64_t offset,
             std::span<char> into, std::span<char const> bytes) {
        static_cast<bool>(file);
        { f.create(path) } -> std::same_as<result<typename F::file>>;
        { f.open(path) } -> std::same_as<result<typename F::file>>;
        { f.lock(file) } -> std::same_as<result<bool>>;
        { f.size(file) } -> std::same_as<result<std::uint64_t>>;
        { f.marks(file) } -> std::same_as<result<log_file_marks>>;
        { f.read(file, offset, into) } -> std::same_as<result<std::size_t>>;
        { f.write(file, offset, bytes) } -> std::same_as<result<void>>;
        { f.sync(file) } -> std::same_as<result<void>>;
        { f.write_durably(file, offset, bytes) } -> std::same_as<result<void>>;
        { f.rename(path, path) } -> std::same_as<result<void>>;
        { f.remove(path) } -> std::same_as<result<void>>;
        { f.sync_folder(path) } -> std::same_as<result<void>>;
        { f.list(path) } -> std::same_as<result<std::vector<std::string>>>;
        { f.make_folder(path) } -> std::same_as<result<void>>;
    };

} // namespace indoubt::detail

#endif
