// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)

// The demo: a process is killed right after its order took effect, and another one finds out. It
// works in a directory of its own, which it removes, and ends with status 0 only if every step went
// as it is told.

#include "../common/temporary_directory.hpp"
#include "order_service.hpp"
#include "screen.hpp"

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

#include <spawn.h>
#include <sys/wait.h>

namespace {

using namespace demo;
using outcome = indoubt::result<indoubt::confirmation<std::string>>;

struct files {
    std::string journal, provider;
};

template <class T> T checked(indoubt::result<T> r) {
    if (!r) throw std::runtime_error(r.error().message());
    return std::move(r).value();
}

/// The write, by whoever is asked to make sure of it. Each call opens the journal anew.
outcome place(files const& at, order const& wanted, bool killed = false) {
    indoubt::recovery orders{
        indoubt::policies{.provider = order_service(at.provider, killed),
                          .storage = checked(indoubt::sqlite_storage::open(at.journal))}};
    return orders.run({"demo", "order-1"}, wanted);
}

order const notebook{"notebook", 1};

// ---- the parent ---------------------------------------------------------------------------------

class story {
public:
    story(files at, char* program) : at_(std::move(at)), program_(program) {}

    void tell() {
        screen_.title("indoubt: killed between a write and its reply");
        screen_.text("A program orders one notebook and dies before the reply arrives. Was the "
                     "order placed? Journal and provider are two SQLite files here; the tables "
                     "below are read from them, not from what the program believes.");

        screen_.step("Before");
        (void)checked(indoubt::sqlite_storage::create(at_.journal));
        order_service{at_.provider};
        show({}, {});
        screen_.proves("Nothing was asked for, and nothing exists.");

        screen_.step("The program orders, and is killed as soon as the provider has the order");
        auto const [id, status] = child();
        bool const killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
        screen_.fact("program",
                     "process " + std::to_string(id) +
                         (killed ? ", killed by SIGKILL" : ", not killed: unexpected"),
                     killed);
        expect(killed);
        show({{"order-1", "uncertain", "1", "not known"}}, one_order_);
        screen_.proves("The provider has the order, and the program did not live to hear it. The "
                       "journal says just that: one attempt, written down before it was sent, "
                       "which may have taken effect.");

        screen_.step("Started again, it runs the same order");
        auto const again = place(at_, notebook);
        report(again, "recovered: order 1 was found, nothing was sent",
               again && !again.value().before_this_run && again.value().attempts == 1);
        show(confirmed_, one_order_);
        screen_.proves("It looked before sending, found one order under its key, compared the "
                       "content and settled the doubt. Attempts: still 1.");

        screen_.step("It runs once more");
        auto const third = place(at_, notebook);
        report(third, "already confirmed: order 1", third && third.value().before_this_run);
        show(confirmed_, one_order_);
        screen_.proves("Running it again is always safe.");

        screen_.step("It asks for two notebooks under the same key");
        auto const changed = place(at_, {"notebook", 2});
        auto const refused = indoubt::rule::conflicting_intent;
        report(changed, "refused: " + std::string(to_string(refused)),
               !changed && changed.error().rule() == refused);
        show(confirmed_, one_order_);
        screen_.proves("A key stands for one intent. Nothing was sent, nothing was changed.");

        auto const effects = database(at_.provider).number("SELECT count(*) FROM orders");
        expect(effects == 1);
        screen_.result("effects at the provider: " + std::to_string(effects), went_well_);
    }

    bool went_well() const { return went_well_; }

private:
    void expect(bool holds) { went_well_ = went_well_ && holds; }

    void report(outcome const& done, std::string_view as_told, bool as_expected) {
        std::string const other = done ? "confirmed" : done.error().message();
        screen_.fact("run", as_expected ? std::string(as_told) : "unexpected: " + other,
                     as_expected);
        expect(as_expected);
    }

    /// Both files, and whether they hold what the story says.
    void show(screen::table const& operations, screen::table const& orders) {
        auto const journal = database(at_.journal)
                                 .run("SELECT key, state, attempts, "
                                      "iif(receipt = '', 'not known', receipt) FROM readable");
        auto const provider = database(at_.provider).run("SELECT id, key, content FROM orders");
        screen_.show("journal", {"key", "state", "attempts", "order"}, journal, "no operation");
        screen_.show("provider", {"id", "key", "content"}, provider, "no order");
        if (journal != operations || provider != orders) {
            screen_.fact("", "unexpected: this is not what should be there", false);
            expect(false);
        }
    }

    /// This program again, as the process that will not live to see the reply.
    std::pair<pid_t, int> child() {
        std::string role = "--child";
        char* argv[] = {program_, role.data(), at_.journal.data(), at_.provider.data(), nullptr};
        pid_t id = 0;
        if (int const failed = ::posix_spawnp(&id, program_, nullptr, nullptr, argv, ::environ)) {
            throw std::system_error(failed, std::generic_category(), program_);
        }
        int status = 0;
        while (::waitpid(id, &status, 0) == -1) {
            if (errno != EINTR) throw std::system_error(errno, std::generic_category(), "waitpid");
        }
        return {id, status};
    }

    files at_;
    char* program_;
    screen screen_;
    bool went_well_ = true;
    screen::table const one_order_{{"1", "order-1", R"({"item":"notebook","quantity":1})"}},
        confirmed_{{"order-1", "confirmed", "1", "1"}};
};

} // namespace

int main(int argc, char** argv) {
    try {
        if (argc == 4 && std::string_view(argv[1]) == "--child") {
            return place({argv[2], argv[3]}, notebook, true) ? 0 : 1; // not reached
        }
        temporary_directory const folder("indoubt_demo");
        story demo({(folder / "journal.db").string(), (folder / "provider.db").string()}, argv[0]);
        demo.tell();
        if (demo.went_well()) return 0;
        std::cerr << "demo: it went differently, see what is unexpected above\n";
        return 1;
    } catch (std::exception const& e) {
        std::cerr << "demo: " << e.what() << '\n';
        return 1;
    }
}
