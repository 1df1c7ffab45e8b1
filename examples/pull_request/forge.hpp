// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef EXAMPLES_PULL_REQUEST_FORGE_HPP
#define EXAMPLES_PULL_REQUEST_FORGE_HPP

#include "../common/database.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// Stands in for a service that hosts repositories, in a file of its own. It takes no key, lists by
// pages what is open and what is closed apart, and has one open pull request for one head and base
// at most.

namespace pull_request {

class forge {
public:
    struct pull {
        std::int64_t number = 0;
        std::string author, head, base, title{}, body{};
        bool open = true;
    };
    struct page {
        std::vector<pull> pulls;
        std::string next; ///< empty: there is no other page
    };
    static constexpr std::size_t page_size = 2;

    explicit forge(std::filesystem::path const& file) : pulls_(file) {
        pulls_.run("CREATE TABLE IF NOT EXISTS pulls (number INTEGER PRIMARY KEY, author TEXT, "
                   "head TEXT, base TEXT, title TEXT, body TEXT, state TEXT DEFAULT 'open')");
        pulls_.run("CREATE UNIQUE INDEX IF NOT EXISTS one_is_open ON pulls (head, base) "
                   "WHERE state = 'open'");
    }

    /// Its number. Nothing: "a pull request already exists" for this head and base.
    std::optional<std::int64_t> create(pull const& p) {
        pulls_.run("INSERT OR IGNORE INTO pulls (author, head, base, title, body) "
                   "VALUES (?, ?, ?, ?, ?)",
                   p.author, p.head, p.base, p.title, p.body);
        if (pulls_.number("SELECT changes()") == 0) return std::nullopt;
        return pulls_.number("SELECT last_insert_rowid()");
    }

    /// The oldest first; the cursor is the number of the last one that was shown.
    page list(std::string_view state, std::string_view cursor) {
        auto const rows =
            pulls_.run("SELECT number, author, head, base, title, body, state FROM pulls "
                       "WHERE state = ? AND number > ? ORDER BY number LIMIT ?",
                       state, cursor.empty() ? std::int64_t{0} : std::stoll(std::string(cursor)),
                       std::int64_t{page_size + 1});
        page shown;
        for (auto const& r : rows) {
            if (shown.pulls.size() == page_size) {
                shown.next = std::to_string(shown.pulls.back().number);
                break;
            }
            shown.pulls.push_back({std::stoll(r[0]), r[1], r[2], r[3], r[4], r[5], r[6] == "open"});
        }
        return shown;
    }

    /// Merged, or not wanted: it is no longer among the open ones.
    void close(std::int64_t number) {
        pulls_.run("UPDATE pulls SET state = 'closed' WHERE number = ?", number);
    }
    std::int64_t count() { return pulls_.number("SELECT count(*) FROM pulls"); }

private:
    database pulls_;
};

} // namespace pull_request

#endif
