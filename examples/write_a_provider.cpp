// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)

// A provider for a service that is spoken to by HTTP, as docs/write_a_provider.md builds it: one
// that makes payments, the same with what services do in earnest, and one that removes a thing.
// Each is run against every way in which a call can fail.

#include <indoubt.hpp>
#include <indoubt/adapter/canonical_json.hpp>
#include <indoubt/adapter/composed_lookup.hpp>
#include <indoubt/adapter/encoded_key.hpp>
#include <indoubt/testing/lossy_storage.hpp>
#include <indoubt/testing/manual_clock.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <iostream>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

struct payment {
    std::string currency;
    std::int64_t cents;
    std::string to;
};
BOOST_HANA_ADAPT_STRUCT(payment, currency, cents, to);

struct removal {
    std::string mandate; // by its name
};
BOOST_HANA_ADAPT_STRUCT(removal, mandate);

namespace {

using namespace std::chrono_literals;
using indoubt::milliseconds;

// ---- the service, and the client that speaks to it ----------------------------------------------

/// What an HTTP client must tell: whether anything was sent, and whether all of the reply came.
struct response {
    enum class reached : std::uint8_t {
        not_connected,
        no_reply,
        replied
    } how = reached::replied;
    int status = 200;
    std::string id{};           // of what was made
    milliseconds retry_after{}; // header Retry-After
};
struct listed {
    int status = 200;
    struct item {
        std::string id, reference;
        payment content;
        std::string state = "done";
    };
    std::vector<item> items{};
    std::string next{};
};

/// Stands in for the service and the line to it: what goes wrong with the next call is set before.
struct pay_client {
    enum class fault : std::uint8_t {
        none,
        not_connected, ///< no connection
        request_lost,  ///< nobody hears of it
        reply_lost,    ///< it is done, and nobody hears
        busy,          ///< 429
        overloaded,    ///< 500, and it was done
    };
    fault next = fault::none;
    std::vector<listed::item> payments{};
    std::vector<std::pair<std::string, std::string>> mandates{{"m-1", "rent"},
                                                              {"m-2", "power"}}; // id, name

    response pay(std::string_view key, payment p) {
        auto const wrong = std::exchange(next, fault::none);
        if (wrong == fault::not_connected) return {.how = response::reached::not_connected};
        if (wrong == fault::request_lost) return {.how = response::reached::no_reply};
        if (wrong == fault::busy) return {.status = 429, .retry_after = 1s};
        auto known = std::ranges::find(payments, key, &listed::item::reference);
        if (known == payments.end()) {
            for (char& c : p.currency)
                c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
            auto id = "pay-" + std::to_string(payments.size() + 1);
            payments.push_back({std::move(id), std::string(key), std::move(p)});
            known = payments.end() - 1;
        }
        if (wrong == fault::reply_lost) return {.how = response::reached::no_reply};
        if (wrong == fault::overloaded) return {.status = 500};
        return {.status = 201, .id = known->id};
    }
    /// What carries the reference or has the id, two a page.
    listed list(std::string_view reference, std::string_view id,
                std::string_view cursor = {}) const {
        listed page;
        bool skipping = !cursor.empty();
        for (auto const& p : payments) {
            if (!skipping && page.items.size() == 2) {
                page.next = page.items.back().id;
                return page;
            }
            bool const asked_for = p.reference == reference || p.id == id;
            if (!skipping && asked_for) page.items.push_back(p);
            if (p.id == cursor) skipping = false;
        }
        return page;
    }

    std::optional<std::string> mandate_named(std::string_view name) const {
        for (auto const& [id, called] : mandates)
            if (called == name) return id;
        return std::nullopt;
    }
    bool has_mandate(std::string_view id) const {
        return std::ranges::any_of(mandates, [&](auto const& m) { return m.first == id; });
    }
    response remove(std::string_view id) {
        auto const wrong = std::exchange(next, fault::none);
        if (wrong == fault::request_lost) return {.how = response::reached::no_reply};
        std::erase_if(mandates, [&](auto const& m) { return m.first == id; });
        if (wrong == fault::reply_lost) return {.how = response::reached::no_reply};
        return {.status = 204, .id = std::string(id)};
    }
};

// ---- thirty lines -------------------------------------------------------------------------------

struct payment_provider : indoubt::provider_of<payment> {
    static constexpr auto target = "pay.example/v1/payments";
    static constexpr indoubt::contract contract{
        .resend = indoubt::deduplicated_by_key{.window = 24h,
                                               .documented_at = "https://pay.example/docs/keys"},
        .lookup = indoubt::complete_lookup{.covers = "payments in every state"},
        .call_timeout = 10s,
        .arrives_within = 5min};

    explicit payment_provider(pay_client& c) : client(c) {}

    reply submit(attempt const& a) {
        response const r = client.pay(a.key(), a.request());
        if (r.how == response::reached::not_connected) return not_sent{};
        if (r.how == response::reached::no_reply) return unknown{};
        return said(r);
    }

    answer lookup(query const& q) {
        listed const page = client.list(q.key, q.receipt); // has our key, or is the one known
        if (page.status == 403) return denied{};
        if (page.status != 200) return unavailable{"status " + std::to_string(page.status)};
        if (!page.next.empty()) return incomplete{}; // there is more
        complete found;
        for (auto const& p : page.items)
            found.effects.push_back({p.id, p.reference, p.content});
        return found;
    }

    static reply said(response const& r);

    pay_client& client;
};

/// What the service documents of each status. Whatever it does not document is unknown.
payment_provider::reply payment_provider::said(response const& r) {
    using indoubt::refusal_class;
    switch (r.status) {
    case 200:
    case 201: return accepted{r.id};
    case 400: return refused{refusal_class::invalid_input};
    case 403: return refused{refusal_class::permission};
    case 409: return in_progress{r.retry_after};
    case 422: return conflict{.other_parameters = true};
    case 429: return refused{refusal_class::busy, false, r.retry_after};
    default: return unknown{"status " + std::to_string(r.status)};
    }
}

// ---- what services do in earnest ----------------------------------------------------------------

struct careful_provider : payment_provider {
    using payment_provider::payment_provider;

    /// Scope and key in letters and digits: what the service takes.
    std::string key_for(indoubt::identity const& id, unsigned generation) const {
        return indoubt::encoded_key(id, generation);
    }

    /// The service writes currencies in small letters.
    payment normalise(payment p) const {
        for (char& c : p.currency)
            c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
        return p;
    }

    answer lookup(query const& q) {
        using page_answer = indoubt::page_answer<payment, std::string>;
        return indoubt::paged_lookup(q, [&](std::string_view cursor) -> page_answer {
            listed const page = client.list(q.key, q.receipt, cursor);
            if (page.status == 403) return denied{};
            if (page.status != 200) return unavailable{"status " + std::to_string(page.status)};
            indoubt::lookup_page<payment, std::string> shown{.next = page.next};
            for (auto const& p : page.items) {
                shown.effects.push_back({.receipt = p.id,
                                         .key = p.reference,
                                         .request = p.content,
                                         .status = p.state == "done"
                                                       ? indoubt::effect_status::applied
                                                       : indoubt::effect_status::under_way});
            }
            return shown;
        });
    }
};

// ---- a service that is particular about keys ----------------------------------------------------

struct short_key_provider : payment_provider {
    static constexpr indoubt::contract contract{
        .lookup = indoubt::complete_lookup{},
        .keys = {.longest = 24, .alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"}};

    using payment_provider::payment_provider;

    /// In capital letters: an encoded key has none, so that different ones stay different.
    std::string key_for(indoubt::identity const& id, unsigned generation) const {
        auto key = indoubt::encoded_key(id, generation);
        for (char& c : key)
            c = static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
        return key;
    }
};

// ---- a removal ----------------------------------------------------------------------------------

struct removal_provider : indoubt::provider_of<removal> {
    static constexpr auto target = "pay.example/v1/mandates";
    // Removing an id once more changes nothing, and an id is never given again.
    static constexpr indoubt::contract contract{
        .resend =
            indoubt::naturally_idempotent{.undisturbed_for = indoubt::unlimited,
                                          .documented_at = "https://pay.example/docs/mandates"},
        .lookup = indoubt::complete_lookup{}};

    explicit removal_provider(pay_client& c) : client(c) {}

    reply submit(attempt const& a) {
        response const r = client.remove(a.target_id()); // by the id; the name may have moved on
        if (r.how == response::reached::not_connected) return not_sent{};
        if (r.how == response::reached::replied && r.status == 204) {
            return accepted{receipt_of(a.target_id(), a.key())};
        }
        return unknown{};
    }

    answer lookup(query const& q) {
        complete found;
        if (q.target_id.empty()) { // before the first attempt: what would it remove?
            auto const id = client.mandate_named(q.request.mandate);
            if (!id) return no_target{};
            found.target_id = *id;
        } else if (client.has_mandate(q.target_id)) {
            found.target_id = q.target_id; // not removed yet
        } else {
            auto const key = std::string(q.key); // it is gone
            found.effects.push_back({receipt_of(q.target_id, key), key, q.request});
        }
        return found;
    }

private:
    /// A receipt belongs to one operation: two that remove one thing have two.
    static std::string receipt_of(std::string_view id, std::string_view key) {
        return std::string(id) + " removed for " + std::string(key);
    }

    pay_client& client;
};

// ---- a test -------------------------------------------------------------------------------------

using indoubt::testing::lossy_storage;
using indoubt::testing::manual_clock;
using fault = pay_client::fault;

template <class Provider>
using tested =
    indoubt::recovery<indoubt::policies<Provider, lossy_storage&, indoubt::exact_fingerprint,
                                        indoubt::bounded_budget, manual_clock>>;

/// One call goes wrong, the journal fails at one of its steps, the power goes, and the program is
/// started again. However that ends, there is one payment.
template <class Provider> bool makes_one_payment(fault wrong, std::uint64_t failing_step) {
    pay_client client{.next = wrong};
    lossy_storage journal;
    manual_clock const clock; // waits take no time
    auto const run = [&] {
        tested<Provider> payments(
            {.provider = Provider(client), .storage = journal, .clock = clock});
        return payments.run({"rent", "2026-12"}, {"EUR", 70'000, "landlord"}).has_value();
    };
    journal.fail_at(failing_step);
    (void)run();
    journal.power_cut();
    return run() && client.payments.size() == 1;
}

/// A key that is too long is refused before anything is sent.
bool takes_short_keys() {
    pay_client client;
    lossy_storage journal;
    manual_clock const clock;
    tested<short_key_provider> payments(
        {.provider = short_key_provider(client), .storage = journal, .clock = clock});
    bool const paid = payments.run({"rent", "2026-12"}, {"eur", 70'000, "landlord"}).has_value();
    auto const longer = payments.run({"electricity", "2026-12-31"}, {"eur", 5'000, "grid"});
    return paid && client.payments.front().reference == "RENTZS2026Z2D12" && !longer &&
           longer.error().rule() == indoubt::rule::unfit_key;
}

/// One mandate is removed; what is not there cannot be removed.
bool removes_one_mandate(fault wrong) {
    pay_client client{.next = wrong};
    lossy_storage journal;
    manual_clock const clock;
    tested<removal_provider> removals(
        {.provider = removal_provider(client), .storage = journal, .clock = clock});
    bool const gone = removals.run({"mandates", "1"}, {"rent"}).has_value();
    auto const again = removals.run({"mandates", "2"}, {"rent"});
    return gone && client.mandates.size() == 1 && !again &&
           again.error().rule() == indoubt::rule::no_target;
}

} // namespace

int main() {
    bool ok = true;
    for (fault const wrong : {fault::none, fault::not_connected, fault::request_lost,
                              fault::reply_lost, fault::busy, fault::overloaded}) {
        for (std::uint64_t step = 0; step != 20; ++step)
            ok &= makes_one_payment<careful_provider>(wrong, step);
    }
    for (fault const wrong : {fault::none, fault::request_lost, fault::reply_lost})
        ok &= removes_one_mandate(wrong);
    ok &= takes_short_keys();
    std::cout << (ok ? "one payment in every case, and one mandate removed\n" : "wrong\n");
    return ok ? 0 : 1;
}
