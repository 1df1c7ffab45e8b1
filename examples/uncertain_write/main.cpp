// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)

// One order for a notebook, written to a service that fails in a chosen way. Run it again with the
// same three arguments: it finds out what became of the first run, and never writes twice.

#include "offline_provider.hpp"

#include <indoubt/adapter/sqlite_storage.hpp>

#include <CLI/CLI.hpp>

#include <cstdint>
#include <exception>
#include <filesystem>
#include <iostream>
#include <map>
#include <string>
#include <utility>

namespace uncertain_write {

/// What is printed on success.
struct outcome {
    std::int64_t effect_id = 0;
    std::string status;
};

} // namespace uncertain_write

BOOST_HANA_ADAPT_STRUCT(uncertain_write::outcome, effect_id, status);

namespace {

using namespace uncertain_write;

constexpr int confirmed = 0;
constexpr int not_confirmed = 2; // unconfirmed, a conflict, or an error

struct arguments {
    std::string journal, provider, key, mode = "normal";
    std::int64_t wait_ms = 0;
};

std::map<std::string, mode> const modes{{"normal", mode::normal},
                                        {"lost", mode::lost},
                                        {"crash", mode::crash},
                                        {"unavailable", mode::unavailable},
                                        {"no-effect", mode::no_effect}};

/// A journal is created once. One that cannot be opened is not replaced: it may know of a write.
indoubt::result<indoubt::sqlite_storage> journal_at(std::string const& path,
                                                    indoubt::milliseconds wait) {
    using indoubt::sqlite_storage;
    if (!std::filesystem::exists(path)) {
        auto created = sqlite_storage::create(path);
        // Another process may have been faster.
        if (created || created.error().rule() != indoubt::rule::journal_exists) return created;
    }
    return sqlite_storage::open(path, {.wait = wait});
}

int run(arguments const& given) {
    auto journal = journal_at(given.journal, indoubt::milliseconds(given.wait_ms));
    if (!journal) {
        std::cerr << journal.error().message() << '\n';
        return not_confirmed;
    }
    indoubt::recovery orders{
        indoubt::policies{.provider = offline_provider(given.provider, modes.at(given.mode)),
                          .storage = std::move(journal).value(),
                          .budget = few_tries()}};

    indoubt::identity const id{"demo", given.key};
    auto const before = orders.recorded(id);
    bool const written_before = before && !before.value().attempts.empty();

    auto done = orders.run(id, {{"notebook"}, offline_provider::target});
    if (done) {
        outcome const line{done.value().receipt, "confirmed"};
        std::cout << indoubt::codec<outcome>::encode(line).value() << '\n';
        return confirmed;
    }
    if (done.error().rule() == indoubt::rule::no_guarantee) {
        std::cerr << (written_before ? "uncertain earlier write, looked up without resending: "
                                     : "write attempted, effect not confirmed: ");
    }
    std::cerr << done.error().message() << '\n';
    return not_confirmed;
}

} // namespace

int main(int argc, char** argv) {
    CLI::App program(
        "Writes one order for a notebook, once, to a service that may fail.\n"
        "Exit status: 0 confirmed; 2 not confirmed, keep the journal and run it again; "
        "23 mode crash.");
    arguments given;
    program.add_option("JOURNAL", given.journal, "file of the journal; created if missing")
        ->required();
    program.add_option("PROVIDER", given.provider, "file of the service; created if missing")
        ->required();
    program.add_option("KEY", given.key, "names this order in every run")->required();
    program.add_option("--mode", given.mode, "what goes wrong; normal if not given")
        ->check(CLI::IsMember(modes))
        ->option_text("MODE");
    program
        .add_option("--wait", given.wait_ms, "for a process that has the journal; 0 if not given")
        ->check(CLI::NonNegativeNumber)
        ->option_text("MILLISECONDS");
    program.footer("Modes:\n"
                   "  normal       nothing goes wrong\n"
                   "  lost         the write takes effect, its reply is lost\n"
                   "  crash        the write takes effect, and this program dies\n"
                   "  unavailable  look-ups are not answered\n"
                   "  no-effect    the connection is lost, and the write takes no effect");
    try {
        program.parse(argc, argv);
        return run(given);
    } catch (CLI::ParseError const& e) {
        return program.exit(e) == 0 ? 0 : not_confirmed;
    } catch (std::exception const& e) { // of the service
        std::cerr << e.what() << '\n';
        return not_confirmed;
    }
}
