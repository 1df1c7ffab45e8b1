// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef EXAMPLES_ORDER_PROVIDERS_HPP
#define EXAMPLES_ORDER_PROVIDERS_HPP

#include "exchange.hpp"

#include <indoubt.hpp>
#include <indoubt/adapter/canonical_json.hpp>
#include <indoubt/adapter/encoded_key.hpp>

#include <csignal>
#include <string>
#include <utility>

// Two kinds of write at one exchange: an order, and the cancel of an order. Each is an operation of
// its own, with an identity of its own.

namespace trading {

struct order {
    std::string symbol, side;
    int quantity;
    std::string limit; // a price is text: no rounding
};

struct cancel {
    std::string client_id; // of the order
};

/// What goes wrong on the way to the exchange and back.
enum class fate {
    none,
    reply_lost,
    killed,
    filled_first
};

/// The client order id of an order: the exchange takes letters and digits only.
inline std::string client_order_id(indoubt::identity const& id, unsigned generation = 1) {
    return indoubt::encoded_key(id, generation);
}

} // namespace trading

BOOST_HANA_ADAPT_STRUCT(trading::order, symbol, side, quantity, limit);
BOOST_HANA_ADAPT_STRUCT(trading::cancel, client_id);

namespace trading {

struct order_provider : indoubt::provider_of<order> {
    static constexpr auto target = "exchange/orders";
    // A client order id is free again once its order is filled, so a second send might make a
    // second order: no guarantee. Orders are found by it in every state.
    static constexpr indoubt::contract contract{
        .lookup = indoubt::complete_lookup{.covers = "open, filled and cancelled orders"},
        .keys = {.longest = 32, .alphabet = "abcdefghijklmnopqrstuvwxyz0123456789"}};

    order_provider(exchange& e, fate f) : market(e), happens(f) {}

    std::string key_for(indoubt::identity const& id, unsigned generation) const {
        return client_order_id(id, generation);
    }

    reply submit(attempt const& a) {
        auto number = market.place(a.key(), a.bytes());
        if (happens == fate::killed) std::raise(SIGKILL); // taken; the caller never hears of it
        if (happens == fate::reply_lost) return unknown{"timeout"};
        if (!number) return conflict{}; // "duplicate order": it does not say whose
        return accepted{std::move(*number)};
    }

    // The order is there, whatever became of it since: accepted, filled or cancelled.
    answer lookup(query const& q) {
        complete found;
        for (auto const& o : market.find_by_client_id(q.key)) {
            auto content = indoubt::codec<order>::decode(o.content);
            if (!content) return incomplete{};
            found.effects.push_back({o.id, std::string(q.key), std::move(content).value()});
        }
        return found;
    }

    exchange& market;
    fate happens;
};

struct cancel_provider : indoubt::provider_of<cancel> {
    static constexpr auto target = "exchange/cancels";
    static constexpr indoubt::contract contract{.lookup = indoubt::complete_lookup{}};

    cancel_provider(exchange& e, fate f) : market(e), happens(f) {}

    // By the number that the first look-up found: the client order id may stand for another order
    // one day.
    reply submit(attempt const& a) {
        if (happens == fate::filled_first) market.fill(a.target_id());
        bool const done = market.cancel(a.target_id());
        if (happens == fate::reply_lost) return unknown{"timeout"};
        if (!done) return refused{}; // documented: it is not open, and never will be again
        return accepted{std::string(a.target_id())};
    }

    answer lookup(query const& q) {
        bool const asked_before = !q.target_id.empty();
        auto const found =
            asked_before ? market.find(q.target_id) : market.find_by_client_id(q.request.client_id);
        if (found.empty()) return incomplete{}; // the order may still arrive
        auto const& o = found.back();
        complete all{.target_id = o.id};
        // Nobody but this program cancels its orders: one that is cancelled is the effect.
        if (o.status == "cancelled") all.effects.push_back({o.id, std::string(q.key), q.request});
        if (o.status == "filled") {
            if (!asked_before) return no_target{}; // nothing to cancel any more
            all.effects.push_back({.receipt = o.id,
                                   .key = std::string(q.key),
                                   .status = indoubt::effect_status::failed_for_good});
        }
        return all;
    }

    exchange& market;
    fate happens;
};

} // namespace trading

#endif
