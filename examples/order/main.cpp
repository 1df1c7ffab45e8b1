// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)

// Orders at an exchange, and their cancels, in one journal. A process is killed right after the
// exchange has taken its order; another one finds the order and does not place it twice. A cancel
// that comes too late is told as that. It ends with status 0 only if the exchange has what it
// should have, and was not called more often than that takes.

#include "../common/temporary_directory.hpp"
#include "providers.hpp"

#include <indoubt/adapter/sqlite_storage.hpp>

#include <cerrno>
#include <csignal>
#include <exception>
#include <iostream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

using namespace trading;

template <class T> T checked(indoubt::result<T> r) {
    if (!r) throw std::runtime_error(r.error().message());
    return std::move(r).value();
}

order const wanted{"ACME", "buy", 10, "41.50"};

indoubt::identity name_of(int number) {
    return {"desk", "order" + std::to_string(number)};
}
indoubt::identity name_of_cancel(int number) {
    return {"desk", "cancel of order" + std::to_string(number)};
}

template <class Provider>
using recovery_of = indoubt::recovery<indoubt::policies<Provider, indoubt::sqlite_storage&>>;

/// The program: two recoveries over one journal.
class desk {
public:
    desk(exchange& market, indoubt::sqlite_storage& journal) : market_(market), journal_(journal) {}

    bool place(int number, fate happens = fate::none) {
        recovery_of<order_provider> orders(
            {.provider = order_provider(market_, happens), .storage = journal_});
        auto const done = orders.run(name_of(number), wanted);
        std::cout << "order" << number << ": "
                  << (done ? "placed, no. " + done.value().receipt : done.error().message())
                  << '\n';
        return done.has_value();
    }

    /// Returns: whether the order is cancelled.
    bool cancel(int number, fate happens = fate::none) {
        recovery_of<cancel_provider> cancels(
            {.provider = cancel_provider(market_, happens), .storage = journal_});
        auto const client_id = client_order_id(name_of(number));
        auto const done = cancels.run(name_of_cancel(number), {client_id});
        std::cout << "cancel of order" << number << ": ";
        if (done) {
            std::cout << "cancelled\n";
        } else if (done.error().in_doubt()) {
            std::cout << "not known yet: " << done.error().message() << '\n';
        } else {
            auto const status = market_.find_by_client_id(client_id).at(0).status;
            std::cout << "not cancelled, it is already " << status << '\n';
        }
        return done.has_value();
    }

    /// What an earlier process left. Returns: how many orders were found or placed now.
    int finish() {
        int finished = 0;
        recovery_of<order_provider> orders(
            {.provider = order_provider(market_, fate::none), .storage = journal_});
        auto const told = [&](indoubt::identity const& id, auto const& done) {
            finished += done ? 1 : 0;
            std::cout << "found unfinished: " << id.key << ": "
                      << (done ? "placed, no. " + done.value().receipt : done.error().message())
                      << '\n';
        };
        (void)checked(orders.resume_all(told));
        return finished;
    }

private:
    exchange& market_;
    indoubt::sqlite_storage& journal_;
};

/// This program again, as the process that will not live to see the reply to its order.
/// Returns: whether it was killed.
bool place_and_die(char* program, std::string journal, std::string market) {
    std::string role = "--child";
    char* argv[] = {program, role.data(), journal.data(), market.data(), nullptr};
    pid_t id = 0;
    if (int const failed = ::posix_spawnp(&id, program, nullptr, nullptr, argv, ::environ)) {
        throw std::system_error(failed, std::generic_category(), program);
    }
    int status = 0;
    while (::waitpid(id, &status, 0) == -1) {
        if (errno != EINTR) throw std::system_error(errno, std::generic_category(), "waitpid");
    }
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
}

bool trade(char* program) {
    temporary_directory const folder("indoubt_order");
    auto const file = (folder / "writes.journal").string(), there = (folder / "exchange").string();
    (void)checked(indoubt::sqlite_storage::create(file));
    exchange market(there);

    bool well = place_and_die(program, file, there);
    std::cout << "order1: the process was killed before it heard of it\n";

    auto journal = checked(indoubt::sqlite_storage::open(file));
    desk ours(market, journal);
    well = ours.finish() == 1 && well;
    well = ours.place(1) && well; // it is asked for once more, and is there

    well = ours.place(2, fate::reply_lost) && well;
    well = ours.cancel(2, fate::reply_lost) && well;

    well = ours.place(3) && well;
    well = !ours.cancel(3, fate::filled_first) && well;
    well = !ours.cancel(3) && well; // told again, and not sent again

    market.fill("1");
    well = !ours.cancel(1) && well; // there is nothing to cancel: it is not even sent

    std::cout << "at the exchange: " << market.orders("filled") << " filled, "
              << market.orders("cancelled") << " cancelled, " << market.orders("accepted")
              << " open; orders sent: " << market.calls("place")
              << ", cancels sent: " << market.calls("cancel") << '\n';
    bool const once = market.calls("place") == 3 && market.calls("cancel") == 2;
    return well && once && market.orders("filled") == 2 && market.orders("cancelled") == 1 &&
           market.orders("accepted") == 0;
}

} // namespace

int main(int argc, char** argv) {
    try {
        if (argc == 4 && std::string_view(argv[1]) == "--child") {
            auto journal = checked(indoubt::sqlite_storage::open(argv[2]));
            exchange market(argv[3]);
            return desk(market, journal).place(1, fate::killed) ? 0 : 1; // not reached
        }
        return trade(argv[0]) ? 0 : 1;
    } catch (std::exception const& e) {
        std::cerr << "order: " << e.what() << '\n';
        return 1;
    }
}
