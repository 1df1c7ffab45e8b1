// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef EXAMPLES_PULL_REQUEST_PULL_PROVIDER_HPP
#define EXAMPLES_PULL_REQUEST_PULL_PROVIDER_HPP

#include "forge.hpp"
#include "marker.hpp"

#include <indoubt.hpp>
#include <indoubt/adapter/canonical_json.hpp>
#include <indoubt/adapter/composed_lookup.hpp>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace pull_request {

/// What is asked for.
struct proposal {
    std::string head, base, title, body;
};

} // namespace pull_request

BOOST_HANA_ADAPT_STRUCT(pull_request::proposal, head, base, title, body);

namespace pull_request {

/// What goes wrong with a call.
enum class fault {
    none,
    request_lost, ///< the forge never hears of it
    reply_lost,   ///< the forge does it, and nobody hears
    killed,       ///< the forge does it, and this process is killed at that moment
    repeated,     ///< a proxy sends it twice and passes on the second reply
};

class pull_provider : public indoubt::provider_of<proposal, std::int64_t> {
public:
    static constexpr auto target = "forge.test/pulls";
    /// One open pull request for one head and base: that makes no second send safe. Once the first
    /// one is closed, a second one would be opened.
    static constexpr indoubt::contract contract{
        .lookup = indoubt::complete_lookup{.covers = "open and closed pull requests"},
        .keys = {.longest = 100, .alphabet = marker_alphabet}};

    pull_provider(std::filesystem::path const& file, std::string account)
        : forge_(file), account_(std::move(account)) {}

    reply submit(attempt const& a) {
        proposal const& p = a.request();
        // With a marker of its own it could not be told from another one's: nothing is sent.
        if (!read_markers(p.body).keys.empty()) {
            return refused{indoubt::refusal_class::invalid_input};
        }
        if (before_call) before_call(forge_);
        if (goes_wrong == fault::request_lost) return unknown{"timeout"};
        forge::pull const wanted{.author = account_,
                                 .head = p.head,
                                 .base = p.base,
                                 .title = p.title,
                                 .body = with_marker(p.body, a.key())};
        auto number = forge_.create(wanted);
        if (goes_wrong == fault::killed) ::raise(SIGKILL);
        if (goes_wrong == fault::reply_lost) return unknown{"timeout"};
        if (goes_wrong == fault::repeated) number = forge_.create(wanted);
        // "Already exists" says that one is open. It does not say whose.
        if (!number) return conflict{};
        return accepted{*number};
    }

    answer lookup(query const& q) {
        auto const all = [this](std::string_view state) {
            return [this, state](query const& asked) {
                return indoubt::paged_lookup(
                    asked, [&](std::string_view cursor) { return fetch(asked, state, cursor); });
            };
        };
        // First what is open: one that is closed meanwhile is seen twice, and not missed.
        return indoubt::composed_lookup(q, all("open"), all("closed"));
    }

    fault goes_wrong = fault::none;
    std::function<void(forge&)> before_call{}; ///< what others do between our look and our call
    std::string_view cannot_list{};            ///< the state that cannot be listed

private:
    indoubt::page_answer<proposal, std::int64_t> fetch(query const& q, std::string_view state,
                                                       std::string_view cursor) {
        if (state == cannot_list) return unavailable{"the list is down"};
        auto const listed = forge_.list(state, cursor);
        indoubt::lookup_page<proposal, std::int64_t> shown{.next = listed.next};
        for (auto const& p : listed.pulls) {
            if (auto e = seen_as(p, q)) shown.effects.push_back(std::move(*e));
        }
        return shown;
    }

    /// What a pull request is to the one that is looked for. Nothing, if neither its text nor its
    /// place has to do with it.
    std::optional<effect> seen_as(forge::pull const& p, query const& q) const {
        auto found = read_markers(p.body);
        auto const asked_for = [&](std::string const& key) {
            return key == q.key || std::ranges::find(q.former_keys, key) != q.former_keys.end();
        };
        auto const marker = std::ranges::find_if(found.keys, asked_for);
        bool const marked = marker != found.keys.end();
        bool const at_its_place = p.open && p.head == q.request.head && p.base == q.request.base;
        bool const by_number = std::to_string(p.number) == q.receipt;
        if (!marked && !at_its_place && !by_number) return std::nullopt;

        effect e{.receipt = p.number, .ours = p.author == account_}; // anybody can copy a marker
        if (marked) {
            e.key = *marker;
        } else if (!found.keys.empty()) {
            e.key = found.keys.front();
        }
        // With several markers nobody knows what it stands for: it is no request of this kind.
        if (found.keys.size() <= 1) {
            e.request = proposal{p.head, p.base, p.title, std::move(found.text)};
        }
        return e;
    }

    forge forge_;
    std::string account_;
};

/// Few look-ups, close together, so that nobody waits for a demonstration.
inline indoubt::bounded_budget few_tries() {
    using namespace std::chrono_literals;
    return {.attempts = 3, .first_delay = 1ms, .looks = 3, .first_look_delay = 1ms};
}

} // namespace pull_request

#endif
