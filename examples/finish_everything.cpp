// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)

// After a crash: finish everything. A program writes orders and notices, and keeps both in one
// journal. It dies in the middle of a write. Started again it does not remember what it was doing;
// the journal does.

#include "common/temporary_directory.hpp"

#include <indoubt.hpp>
#include <indoubt/adapter/canonical_json.hpp>
#include <indoubt/adapter/sqlite_storage.hpp>

#include <iostream>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

struct order {
    std::string item;
    int quantity;
};
BOOST_HANA_ADAPT_STRUCT(order, item, quantity);

struct notice {
    std::string to, text;
};
BOOST_HANA_ADAPT_STRUCT(notice, to, text);

namespace {

struct killed {}; // stands in for the death of the process

/// Stands in for a remote service that outlives the program.
template <class Request> struct service {
    struct entry {
        std::string number, key;
        Request content;
    };
    std::vector<entry> entries;
    bool caller_dies = false; ///< right after the next write was taken
};

template <class Request> struct provider : indoubt::provider_of<Request> {
    using base = indoubt::provider_of<Request>;
    using typename base::accepted, typename base::answer, typename base::attempt;
    using typename base::complete, typename base::query, typename base::reply;

    static constexpr indoubt::contract contract{.lookup = indoubt::complete_lookup{}};

    explicit provider(service<Request>& s) : remote(s) {}

    reply submit(attempt const& a) {
        auto number = "no. " + std::to_string(remote.entries.size() + 1);
        remote.entries.push_back({number, std::string(a.key()), a.request()});
        if (std::exchange(remote.caller_dies, false)) throw killed();
        return accepted{std::move(number)};
    }
    answer lookup(query const& q) {
        complete found;
        for (auto const& [number, key, content] : remote.entries) {
            bool const asked_for = key == q.key || number == q.receipt;
            if (asked_for) found.effects.push_back({number, key, content});
        }
        return found;
    }

    service<Request>& remote;
};

struct order_provider : provider<order> {
    static constexpr auto target = "shop/orders";
    using provider::provider;
};
struct notice_provider : provider<notice> {
    static constexpr auto target = "mail/notices";
    using provider::provider;
};

template <class Provider>
using recovery_of = indoubt::recovery<indoubt::policies<Provider, indoubt::sqlite_storage&>>;

/// Runs again what the journal holds of this provider and is due.
template <class Provider> indoubt::result<void> finish_everything(recovery_of<Provider>& writes) {
    auto told = [](indoubt::identity const& id, auto const& done) {
        std::cout << printable(id) << ": " << (done ? "confirmed" : done.error().message()) << '\n';
    };
    indoubt::cycle round;
    for (std::optional next(round.where); next;) {
        round.where = *next;
        BOOST_OUTCOME_TRY(next, writes.resume_all(told, round));
    }
    return indoubt::success();
}

/// How many operations of the journal are still open, of whichever provider.
template <class Provider> indoubt::result<int> still_open(recovery_of<Provider>& any) {
    int open = 0;
    auto count = [&](indoubt::unsettled_operation const&) { ++open; };
    for (std::optional<indoubt::page> next(std::in_place); next;) {
        BOOST_OUTCOME_TRY(next, any.unsettled(count, *next));
    }
    return open;
}

template <class T> T checked(indoubt::result<T> r) {
    if (!r) throw std::runtime_error(r.error().message());
    if constexpr (!std::is_void_v<T>) return std::move(r).value();
}

/// The program, the first time.
void sell(service<order>& shop, service<notice>& mail, indoubt::sqlite_storage& journal) {
    recovery_of<order_provider> orders({.provider = order_provider(shop), .storage = journal});
    recovery_of<notice_provider> notices({.provider = notice_provider(mail), .storage = journal});

    (void)orders.run({"orders", "7"}, {"notebook", 1}); // confirmed
    mail.caller_dies = true;
    (void)notices.run({"notices", "order 7"}, {"ann", "it is on its way"}); // taken, and we die
}

} // namespace

int main() {
    temporary_directory const folder("finish_everything");
    auto const path = (folder / "writes.journal").string();
    service<order> shop;
    service<notice> mail;
    try {
        auto journal = checked(indoubt::sqlite_storage::create(path));
        sell(shop, mail, journal);
    } catch (killed const&) {
        std::cout << "killed\n";
    }

    auto journal = checked(indoubt::sqlite_storage::open(path));
    recovery_of<order_provider> orders({.provider = order_provider(shop), .storage = journal});
    recovery_of<notice_provider> notices({.provider = notice_provider(mail), .storage = journal});
    checked(finish_everything(orders));
    checked(finish_everything(notices));
    int const open = checked(still_open(orders));
    std::cout << "still open: " << open << '\n';
    return open == 0 && shop.entries.size() == 1 && mail.entries.size() == 1 ? 0 : 1;
}
