// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef TESTS_RECOVERY_REPLY_ORACLE_HPP
#define TESTS_RECOVERY_REPLY_ORACLE_HPP

#include <indoubt/recovery/weigh.hpp>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

// The reply table once more, and what a list of effects comes to: written as a person would tell
// it and from the specification, not from the code that runs.

namespace oracle {

using namespace indoubt;
using shop_names = provider_of<std::string>;

/// What a reply to an attempt shows. inner: how often the client library may have sent by itself.
inline seen shown_by(shop_names::keyed_reply const& given, std::string const& key, bool proves,
                     bool duplicates_prove, unsigned inner) {
    if (auto* x = given.get_if<accepted_with_key<std::string>>()) {
        if (x->echoed_key != key || x->receipt.empty()) return seen::no_news;
        return proves ? seen::proof : seen::accepted;
    }
    if (auto* x = given.get_if<duplicate<std::string>>()) {
        bool const anothers = !x->echoed_key.empty() && x->echoed_key != key;
        if (anothers || !x->receipt || x->receipt->empty()) return seen::no_news;
        return duplicates_prove && x->echoed_key == key ? seen::proof : seen::accepted;
    }
    if (given.holds<refused>() || given.holds<not_sent>()) {
        return inner == 1 ? seen::attempt_closed : seen::no_news;
    }
    if (auto* x = given.get_if<conflict>()) {
        return x->other_parameters ? seen::key_reused : seen::existed;
    }
    return given.holds<in_progress>() ? seen::busy : seen::no_news;
}

/// What is known of the operation whose effects are looked for.
struct sought {
    std::string key, request, receipt; ///< receipt: of the record; may be empty
    std::vector<std::string> former_keys{}, set_aside{};
    bool by_name = false; ///< what stands at the name without a key may be ours
    bool ever_confirmed = false;
    bool any_open = false, restored = false;
    unsigned sent = 0; ///< attempts of this generation that left a trace
};

inline bool among(std::vector<std::string> const& all, std::string const& one) {
    return std::ranges::find(all, one) != all.end();
}

inline bool ours(shop_names::effect const& e, sought const& s) {
    if (!e.ours) return false;
    if (!e.key.empty()) return e.key == s.key;
    return (!s.receipt.empty() && e.receipt == s.receipt) || s.by_name;
}

/// What a complete list of effects shows.
inline seen shown_by(std::vector<shop_names::effect> const& effects, sought const& s) {
    unsigned equal = 0, other_content = 0, at_work = 0, failed = 0;
    std::set<std::string> failures; // for good; one that is listed twice is one
    bool candidate = false, former = false, nameless = false;
    for (auto const& e : effects) {
        if (among(s.set_aside, e.receipt)) continue;
        bool const done_or_doing =
            e.status == effect_status::applied || e.status == effect_status::under_way;
        if (e.ours && among(s.former_keys, e.key)) {
            former = former || done_or_doing;
        } else if (!ours(e, s)) {
            candidate = true;
        } else if (e.status == effect_status::under_way) {
            ++at_work;
        } else if (e.status == effect_status::failed) {
            ++failed;
        } else if (e.status == effect_status::failed_for_good) {
            failures.insert(e.receipt);
        } else if (e.receipt.empty()) {
            nameless = true;
        } else if (e.request != s.request) {
            ++other_content;
        } else {
            equal += s.ever_confirmed && e.receipt != s.receipt ? 2 : 1;
        }
    }
    if (former) return seen::former_key;
    if (equal + other_content > 1 && equal != 0) return seen::several;
    if (other_content != 0) return seen::contents_differ;
    if (nameless) return seen::incomplete;
    if (at_work != 0) return seen::under_way;
    if (equal == 1) return seen::match;
    if (failed != 0 ||
        (!failures.empty() && (failures.size() < s.sent || !s.any_open || s.restored))) {
        return seen::failed;
    }
    if (!failures.empty()) return seen::failed_for_good;
    return candidate ? seen::only_candidates : seen::nothing;
}

} // namespace oracle

#endif
