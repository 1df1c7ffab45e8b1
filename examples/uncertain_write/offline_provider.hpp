// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef EXAMPLES_UNCERTAIN_WRITE_OFFLINE_PROVIDER_HPP
#define EXAMPLES_UNCERTAIN_WRITE_OFFLINE_PROVIDER_HPP

#include "../common/database.hpp"

#include <indoubt.hpp>
#include <indoubt/adapter/canonical_json.hpp>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include <unistd.h>

// A service in a file of its own, made to fail. It takes every call it gets: its table has no
// unique key, so that a write that was sent twice shows as two rows.

namespace uncertain_write {

struct payload {
    std::string item;
};

/// As the service stores it: {"payload":{"item":"notebook"},"target":"demo-orders"}.
struct request {
    uncertain_write::payload payload;
    std::string target;
};

} // namespace uncertain_write

BOOST_HANA_ADAPT_STRUCT(uncertain_write::payload, item);
BOOST_HANA_ADAPT_STRUCT(uncertain_write::request, payload, target);

namespace uncertain_write {

/// What goes wrong.
enum class mode {
    normal,      ///< nothing
    lost,        ///< the reply to a write is lost, after the service has committed it
    crash,       ///< this process dies right after the service has committed
    unavailable, ///< look-ups are not answered
    no_effect,   ///< the connection is lost, and the write never takes effect
};

class offline_provider : public indoubt::provider_of<request, std::int64_t> {
public:
    static constexpr auto target = "demo-orders";
    /// Every row can be looked up. How soon one is visible is not documented, nor is anything that
    /// would make a second write safe.
    static constexpr indoubt::contract contract{.lookup = indoubt::complete_lookup{}};

    explicit offline_provider(std::filesystem::path const& file, mode m = mode::normal)
        : now(m), rows_(file) {
        rows_.run("CREATE TABLE IF NOT EXISTS effects "
                  "(id INTEGER PRIMARY KEY, key TEXT, request TEXT)");
    }

    reply submit(attempt const& a) {
        if (now == mode::no_effect) return unknown{"connection lost"};
        auto const id = create(a.key(), a.bytes());
        if (now == mode::crash) ::_exit(23); // no clean-up, no second look
        if (now == mode::lost) return unknown{"reply lost after the commit"};
        return accepted{id};
    }

    answer lookup(query const& q) {
        if (now == mode::unavailable) return unavailable{"the look-up is down"};
        complete found;
        for (auto const& row : rows_.run("SELECT id, request FROM effects WHERE key = ?", q.key)) {
            // What is no request of ours stays empty, and so differs from any that was asked for.
            auto content = indoubt::codec<request>::decode(row[1]);
            found.effects.push_back({.receipt = std::stoll(row[0]),
                                     .key = std::string(q.key),
                                     .request = content ? content.value() : request{}});
        }
        return found;
    }

    /// A write without a caller that remembers it. Returns the number of the row.
    std::int64_t create(std::string_view key, std::string_view content) {
        rows_.run("INSERT INTO effects (key, request) VALUES (?, ?)", key, content);
        return rows_.number("SELECT last_insert_rowid()");
    }
    std::int64_t count() { return rows_.number("SELECT count(*) FROM effects"); }
    void clear() { rows_.run("DELETE FROM effects"); }

    mode now;

private:
    database rows_;
};

/// How much is tried: few look-ups, close together, so that nobody waits for a demonstration.
inline indoubt::bounded_budget few_tries() {
    using namespace std::chrono_literals;
    return {.attempts = 3,
            .overall = std::nullopt,
            .first_delay = 1ms,
            .looks = 3,
            .first_look_delay = 5ms};
}

} // namespace uncertain_write

#endif
