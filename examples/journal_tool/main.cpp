// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)

// Looks at a journal that no program has open, checks it, takes out of a damaged one what can still
// be read, and makes one of the other kind of it. docs/journal_tool.md shows what it prints.

#include "convert.hpp"
#include "journal.hpp"
#include "log_journal.hpp"
#include "salvage.hpp"
#include "salvage_log.hpp"
#include "salvage_sqlite.hpp"
#include "sqlite_journal.hpp"
#include "text.hpp"

#include <CLI/CLI.hpp>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <iostream>
#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <system_error>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace {

using namespace journal_tool;
using indoubt::record;
using indoubt::rule;
using indoubt::state_id;

constexpr int done = 0;
constexpr int not_whole = 1; // the journal is damaged, or something of it was left out
constexpr int refused = 2;   // in use, no journal, or a wrong call

struct arguments {
    std::string journal, other, state, kind;
    std::size_t most = std::numeric_limits<std::size_t>::max();
    bool requests = false;
};

bool is_folder(std::string const& path) {
    std::error_code ignored;
    return std::filesystem::is_directory(path, ignored);
}

result<std::unique_ptr<journal>> opened(std::string const& path) {
    return is_folder(path) ? log_journal::open(path) : sqlite_journal::open(path);
}

int failed(indoubt::error const& e) {
    std::cerr << e.message() << '\n';
    return e.rule() == rule::journal_damaged ? not_whole : refused;
}

// ---- inspect ------------------------------------------------------------------------------------

std::string line_of(record const& r, bool with_request) {
    std::string line = escaped(r.identity().scope) + '/' + escaped(r.identity().key);
    line.append("  ").append(to_string(r.state));
    auto const add = [&](std::string_view name, std::string const& value) {
        line.append("  ").append(name).append(value);
    };
    auto const quoted = [](std::string_view bytes) { return '"' + escaped(bytes) + '"'; };
    if (r.reason != rule::none) add("reason ", quoted(to_string(r.reason)));
    add("attempts ", std::to_string(r.attempts.size()));
    if (!r.receipt.empty()) add("receipt ", quoted(r.receipt));
    add("begun ", utc(r.begun_at));
    add("written ", utc(r.written_at));
    if (!r.attempts.empty()) add("last sent ", utc(r.last_sent()));
    if (r.confirmed_at != indoubt::time_point()) add("confirmed ", utc(r.confirmed_at));
    if (!is_final(r.state) && r.next_check != indoubt::time_point())
        add("next check ", utc(r.next_check));
    if (r.deadline != indoubt::time_point::max()) add("deadline ", utc(r.deadline));
    if (r.restored) add("restored", "");
    if (r.hook_due) add("hook due", "");
    if (r.tombstone) add("tombstone", "");
    if (with_request) add("request ", quoted(r.intent->request));
    return line;
}

int inspect(journal& j, arguments const& given) {
    std::size_t shown = 0;
    auto const seen = j.each_operation([&](record const& r) {
        if (shown == given.most) return false;
        if (!given.state.empty() && given.state != to_string(r.state)) return true;
        std::cout << line_of(r, given.requests) << '\n';
        ++shown;
        return true;
    });
    return seen ? done : failed(seen.error());
}

// ---- verify -------------------------------------------------------------------------------------

int verify(journal& j) {
    auto const flaws = j.flaws();
    if (!flaws) return failed(flaws.error());
    for (auto const& flaw : flaws.value())
        std::cout << flaw << '\n';
    std::size_t operations = 0, names = 0;
    auto const read = j.each_operation([&](record const&) { return ++operations != 0; });
    if (!read) return failed(read.error());
    auto const named =
        j.each_name([&](std::string_view, indoubt::identity const&) { return ++names != 0; });
    if (!named) return failed(named.error());
    std::cout << operations << " operations, " << names << " names, "
              << (flaws.value().empty() ? "whole" : "not whole") << '\n';
    return flaws.value().empty() ? done : not_whole;
}

// ---- stats --------------------------------------------------------------------------------------

int stats(journal& j) {
    std::array<std::size_t, 8> of_state{};
    std::size_t operations = 0, tombstones = 0, names = 0;
    std::optional<record> oldest;
    auto const read = j.each_operation([&](record const& r) {
        ++operations;
        ++of_state[static_cast<std::size_t>(r.state) % of_state.size()];
        tombstones += r.tombstone ? 1U : 0U;
        if (is_unsettled(r) && (!oldest || r.begun_at < oldest->begun_at)) oldest = r;
        return true;
    });
    if (!read) return failed(read.error());
    auto const named =
        j.each_name([&](std::string_view, indoubt::identity const&) { return ++names != 0; });
    if (!named) return failed(named.error());

    std::cout << "operations " << operations << '\n';
    for (std::uint8_t s = 1; s != of_state.size(); ++s)
        std::cout << "  " << to_string(state_id{s}) << ' ' << of_state[s] << '\n';
    std::cout << "tombstones " << tombstones << "\nnames " << names << '\n';
    std::uint64_t bytes = 0;
    auto const files = j.files();
    for (auto const& f : files)
        bytes += f.bytes;
    std::cout << "files " << files.size() << ", " << bytes << " bytes\n";
    for (auto const& f : files)
        std::cout << "  " << escaped(f.name) << ' ' << f.bytes << '\n';
    std::cout << "oldest unsettled " << (oldest ? line_of(*oldest, false) : "none") << '\n';
    return done;
}

// ---- salvage ------------------------------------------------------------------------------------

int salvage(arguments const& given) {
    std::error_code ignored;
    auto const folder = folder_of(given.other);
    if (is_folder(given.journal) && std::filesystem::equivalent(folder, given.journal, ignored)) {
        std::cerr << "nothing is written in the journal: choose a file elsewhere\n";
        return refused;
    }
    // Private, as the journal is: requests are in it.
    descriptor const made(
        ::open(given.other.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR));
    if (!made) {
        std::cerr << escaped(given.other) << ": "
                  << std::error_code(errno, std::generic_category()).message() << '\n';
        return refused;
    }
    salvaged found{std::ofstream(given.other, std::ios::binary)};
    auto const read = is_folder(given.journal) ? log_salvage(given.journal, found).go()
                                               : sqlite_salvage(given.journal, found).go();
    if (!read) {
        ::unlink(given.other.c_str());
        return failed(read.error());
    }
    for (auto const& what : found.skipped)
        std::cout << "skipped: " << escaped(what) << '\n';
    found.out.flush();
    if (!found.out || ::fsync(made.get()) != 0) {
        std::cerr << escaped(given.other) << " cannot be written\n";
        return refused;
    }
    std::cout << found.operations << " operations, " << found.names << " names";
    if (found.skipped.empty()) {
        std::cout << ", nothing was skipped\n";
        return done;
    }
    std::cout << "; what was skipped may hold later versions of them, and others\n";
    return not_whole;
}

// ---- convert ------------------------------------------------------------------------------------

int convert(arguments const& given) {
    struct stat there;
    auto const retired = given.journal + ".retired";
    for (char const* ending : {"", "-wal"}) {
        if (::lstat((retired + ending).c_str(), &there) != 0) continue;
        std::cerr << escaped(retired + ending) << " exists\n";
        return refused;
    }
    auto from = opened(given.journal);
    if (!from) return failed(from.error());
    auto& j = *from.value();
    auto const made =
        given.kind == "log"
            ? write_journal<indoubt::log_storage>(given.other, j, &make_foreign_log)
            : write_journal<indoubt::sqlite_storage>(given.other, j, &make_foreign_file);
    if (!made) return failed(made.error());
    if (auto const gone = retire(given.journal); !gone) {
        std::cerr << "the new journal is whole; use the old one no more, and move it away: ";
        return failed(gone.error());
    }
    std::cout << made.value().operations << " operations, " << made.value().names
              << " names; open it with open_restored\n";
    return done;
}

} // namespace

int main(int argc, char** argv) {
    CLI::App program("Reads, checks, salvages and converts a journal that no program has open.\n"
                     "Exit status: 0 done; 1 the journal is damaged, or something of it was left "
                     "out; 2 refused.");
    program.require_subcommand(1);
    arguments given;
    auto const command = [&](char const* name, char const* what) {
        auto* const c = program.add_subcommand(name, what);
        c->add_option("JOURNAL", given.journal, "folder of a log, or file of a SQLite journal")
            ->required();
        return c;
    };
    auto* const inspecting = command("inspect", "one line for each operation");
    std::set<std::string> const states{"pending",   "uncertain", "confirmed", "rejected",
                                       "cancelled", "in_review", "abandoned"};
    inspecting->add_option("--state", given.state, "only what is in this state")
        ->check(CLI::IsMember(states))
        ->option_text("STATE");
    inspecting->add_option("--most", given.most, "at most so many lines")->option_text("N");
    inspecting->add_flag("--requests", given.requests, "show what is sent, too");
    auto* const verifying = command("verify", "reads all of it, and says what is not whole");
    auto* const counting = command("stats", "how many of what, and how large");
    auto* const salvaging = command("salvage", "takes out of a damaged one what can still be read");
    salvaging->add_option("FILE", given.other, "a new file, for lines of JSON")->required();
    auto* const converting = command("convert", "makes a new journal of it, and retires it");
    converting->add_option("NEW", given.other, "where nothing is yet")->required();
    converting->add_option("--to", given.kind, "kind of the new one: log or sqlite")
        ->required()
        ->check(CLI::IsMember(std::set<std::string>{"log", "sqlite"}))
        ->option_text("KIND");
    try {
        program.parse(argc, argv);
        while (given.journal.size() > 1 && given.journal.ends_with('/'))
            given.journal.pop_back();
        if (*salvaging) return salvage(given);
        if (*converting) return convert(given);
        auto const read = opened(given.journal);
        if (!read) return failed(read.error());
        journal& j = *read.value();
        if (*inspecting) return inspect(j, given);
        if (*verifying) return verify(j);
        return *counting ? stats(j) : refused;
    } catch (CLI::ParseError const& e) {
        return program.exit(e) == 0 ? done : refused;
    } catch (std::exception const& e) { // no memory, or a folder that is gone
        std::cerr << e.what() << '\n';
        return refused;
    }
}
