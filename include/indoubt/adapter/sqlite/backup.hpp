// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef INDOUBT_ADAPTER_SQLITE_BACKUP_HPP
#define INDOUBT_ADAPTER_SQLITE_BACKUP_HPP

#include <indoubt/adapter/sqlite/connection.hpp>
#include <indoubt/adapter/sqlite/file.hpp>
#include <indoubt/adapter/sqlite/opening.hpp>
#include <indoubt/core/error.hpp>

#include <sqlite3.h>
#include <string>

// A whole copy of an open journal. It says of itself that it was made in another file, so that it
// is opened as a restored copy only.

namespace indoubt::detail {

/// Nothing may be written to db meanwhile, and no transaction be open.
///
/// Errors: journal_exists, storage_failed. On both of them there is no new file, and db is as it
/// was.
inline result<void> write_backup(sqlite3* db, std::string const& full_path) {
    BOOST_OUTCOME_TRY(auto file, owned_file::draft(full_path));
    auto const copied = [&]() -> result<void> {
        {
            BOOST_OUTCOME_TRY(auto copy, connect_draft(file));
            int code = SQLITE_NOMEM;
            if (auto* const work = sqlite3_backup_init(copy.get(), "main", db, "main")) {
                constexpr int all_pages = -1;
                sqlite3_backup_step(work, all_pages);
                code = sqlite3_backup_finish(work); // what the step failed with, too
            }
            if (code != SQLITE_OK) {
                std::string what = "cannot be written: ";
                what += sqlite3_errstr(code);
                return about_file(rule::storage_failed, full_path, what, code);
            }
        }
        return file.put_in_place(full_path);
    }();
    if (!copied) file.remove();
    return copied;
}

} // namespace indoubt::detail

#endif
