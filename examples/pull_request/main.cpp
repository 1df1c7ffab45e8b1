// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)

// A program opens pull requests at a service that takes no key: a marker in the text carries it.
// The calls go wrong in four ways. After each, what the journal says and what is at the forge. It
// works in a directory of its own, which it removes, and ends with status 0 only if all went as it
// is told.

#include "../common/temporary_directory.hpp"
#include "pull_provider.hpp"

#include <indoubt/adapter/sqlite_storage.hpp>

#include <cerrno>
#include <csignal>
#include <exception>
#include <filesystem>
#include <iostream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <sys/wait.h>
#include <unistd.h>

namespace {

using namespace pull_request;
using outcome = indoubt::result<indoubt::confirmation<std::int64_t>>;

void expect(bool holds, std::string_view what) {
    if (!holds) throw std::runtime_error("unexpected: " + std::string(what));
}

template <class T> T checked(indoubt::result<T> r) {
    if (!r) throw std::runtime_error(r.error().message());
    return std::move(r).value();
}

class story {
public:
    explicit story(temporary_directory const& folder)
        : journal_((folder / "journal.db").string()), forge_(folder / "forge.db") {
        (void)checked(indoubt::sqlite_storage::create(journal_));
        forge{forge_};
    }

    void tell() {
        std::cout << "1. The bot opens a pull request and is killed before the reply arrives.\n"
                     "   A colleague merges it. Started again, the bot looks before it sends.\n";
        show();
        killed_while_running("pull/parser", parser_);
        forge(forge_).close(1);
        show();
        auto const recovered = run("pull/parser", parser_);
        expect(recovered && recovered.value().receipt == 1, "#1 is found");
        expect(recovered.value().attempts == 1, "nothing was sent again");
        show();

        std::cout
            << "2. A proxy sends the call twice. The reply that arrives: \"already exists\".\n";
        auto const repeated = run("pull/docs", docs_, fault::repeated);
        expect(repeated && repeated.value().receipt == 2, "it is our own, by the marker");
        show();

        std::cout
            << "3. \"Already exists\" again, but a colleague was faster: her text, her name.\n";
        auto const faster = run("pull/tests", tests_, fault::none, [](forge& f) {
            f.create({.author = "ann", .head = "tests", .base = "main", .title = "More tests"});
        });
        expect(!faster && faster.error().state() == indoubt::state_id::in_review,
               "a person decides");
        show();

        std::cout << "4. The call is lost on its way, and somebody else uses a copy of our text,\n"
                     "   marker included. Only the author tells it from ours.\n";
        for (auto const wrong : {fault::request_lost, fault::none}) {
            auto const copied = run("pull/build", build_, wrong, [](forge& f) {
                f.create({.author = "mallory",
                          .head = "build",
                          .base = "stable",
                          .title = "Faster build",
                          .body = with_marker("Fewer steps.", "pull/build")});
            });
            expect(!copied && copied.error().in_doubt(), "a copy of the marker confirms nothing");
        }
        show();

        auto const ours =
            database(forge_).number("SELECT count(*) FROM pulls WHERE author = 'bot'");
        std::cout << "Pull requests that the bot opened: " << ours << '\n';
        expect(ours == 2, "one for each that was taken");
    }

private:
    /// One run in a program that has just been started.
    outcome run(std::string const& key, proposal const& wanted, fault wrong = fault::none,
                std::function<void(forge&)> others = {}) {
        pull_provider provider(forge_, "bot");
        provider.goes_wrong = wrong;
        provider.before_call = std::move(others);
        indoubt::policies<pull_provider&, indoubt::sqlite_storage> with{
            .provider = provider,
            .storage = checked(indoubt::sqlite_storage::open(journal_)),
            .budget = few_tries()};
        indoubt::recovery pulls(std::move(with));
        auto done = pulls.run({"bot", key}, wanted);
        std::cout << "   run       "
                  << (done ? "bot/" + key + ": confirmed, #" + std::to_string(done.value().receipt)
                           : done.error().message())
                  << '\n';
        auto const record = checked(pulls.recorded({"bot", key}));
        auto const& remarks = record.notes_or_none().remarks;
        if (!remarks.empty()) std::cout << "             for a person: " << remarks << '\n';
        return done;
    }

    void killed_while_running(std::string const& key, proposal const& wanted) {
        std::cout.flush();
        pid_t const child = ::fork();
        if (child == -1) throw std::system_error(errno, std::generic_category(), "fork");
        if (child == 0) {
            (void)run(key, wanted, fault::killed);
            ::_exit(1); // not reached
        }
        int status = 0;
        while (::waitpid(child, &status, 0) == -1) {
            if (errno != EINTR) throw std::system_error(errno, std::generic_category(), "waitpid");
        }
        expect(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL, "it was not killed");
        std::cout << "   run       killed\n";
    }

    /// Both files, read from what is in them.
    void show() const {
        auto const operations =
            database(journal_).run("SELECT key, state, attempts FROM readable ORDER BY key");
        std::cout << "   journal   " << (operations.empty() ? "no operation\n" : "");
        std::string_view indent;
        for (auto const& o : operations) {
            std::cout << indent << o[0] << ": " << o[1] << ", attempts: " << o[2] << '\n';
            indent = "             ";
        }
        auto const pulls =
            database(forge_).run("SELECT number, state, author, head, base FROM pulls");
        std::cout << "   forge     " << (pulls.empty() ? "no pull request\n" : "");
        indent = "";
        for (auto const& p : pulls) {
            std::cout << indent << '#' << p[0] << ' ' << p[1] << ", by " << p[2] << ": " << p[3]
                      << " -> " << p[4] << '\n';
            indent = "             ";
        }
        std::cout << '\n';
    }

    std::string journal_;
    std::filesystem::path forge_;
    proposal const parser_{"parser", "main", "Faster parser", "One pass."},
        docs_{"docs", "main", "New pages", "How to begin."},
        tests_{"tests", "main", "Tests", "For the parser."},
        build_{"build", "main", "Faster build", "Fewer steps."};
};

} // namespace

int main() {
    try {
        temporary_directory const folder("pull_request");
        story(folder).tell();
    } catch (std::exception const& e) {
        std::cerr << "pull_request: " << e.what() << '\n';
        return 1;
    }
}
