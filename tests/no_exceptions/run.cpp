// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)

// Everything a program calls compiles without exceptions and RTTI, also where it is instantiated.
#include <indoubt.hpp>
#include <indoubt/adapter/composed_lookup.hpp>

namespace {

struct shop : indoubt::provider_of<std::string> {
    static constexpr auto target = "orders";
    static constexpr indoubt::contract contract{.lookup = indoubt::complete_lookup{}};
    reply submit(attempt const& a) { return accepted{std::string(a.key())}; }
    answer lookup(query const& q) {
        auto const listed = [&](query const& asked) {
            return indoubt::paged_lookup(asked, [&](std::string_view) { return only_page(q); });
        };
        return indoubt::composed_lookup(q, listed, answer(complete{}));
    }
    static indoubt::page_answer<request, receipt> only_page(query const& q) {
        indoubt::lookup_page<request, receipt> all;
        all.effects.push_back({.receipt = "r", .key = std::string(q.key), .request = q.request});
        return all;
    }
};

struct charges : indoubt::provider_of<std::string> {
    static constexpr auto target = "charges";
    static constexpr indoubt::contract contract{
        .resend = indoubt::deduplicated_by_key{.window = std::chrono::hours(24),
                                               .documented_at = "https://example.org/api#keys"},
        .reply = indoubt::proof{.documented_at = "https://example.org/api#keys"},
        .arrives_within = std::chrono::minutes(10)};
    keyed_reply submit(attempt const& a) {
        return accepted_with_key{"receipt", std::string(a.key())};
    }
};

template <class Provider> bool runs() {
    indoubt::recovery writes{
        indoubt::policies{.provider = Provider{}, .storage = indoubt::memory_storage{}}};
    indoubt::identity const id{"tests", "one"};
    auto const done = writes.run(id, "text");
    auto const again = writes.reconcile(id);
    auto const known = writes.recorded(id);
    auto const stopped = writes.cancel(id);
    auto const page = writes.unsettled([](indoubt::unsettled_operation const&) {});
    return done && again && known && stopped && page;
}

} // namespace

bool runs_without_exceptions() {
    return runs<shop>() && runs<charges>();
}
