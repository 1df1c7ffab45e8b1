// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef INDOUBT_RECOVERY_EFFECTS_HPP
#define INDOUBT_RECOVERY_EFFECTS_HPP

#include <indoubt/policy/provider.hpp>
#include <indoubt/recovery/observation.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// Which of the effects that are shown are ours, and what they come to. Owners are told apart before
// anything is counted.

namespace indoubt::detail {

/// codec::encode, whether it can fail or not.
template <class T> result<std::string> encoded(T const& value) {
    return codec<T>::encode(value);
}

/// How many failures of one operation are told apart.
inline constexpr std::size_t most_failures = 100;

/// Sorts the effects of a complete look-up into ours and candidates.
struct sorting {
    unsigned applied = 0, differing = 0, former = 0, under_way = 0, failed = 0;
    std::vector<std::string> failed_for_good{}; // receipts: one that is listed twice is one
    bool malformed = false;
    std::string receipt{};    // of the last equal effect of ours
    std::string candidates{}; // receipts, for people
    std::string members{};    // in which the content differs, for people
};

/// Lists receipts for people.
inline void add_name(std::string& list, std::string_view what, std::string_view receipt) {
    if (list.size() < 1000) list.append(list.empty() ? what : ", ").append(printable(receipt));
}

inline bool contains(std::vector<std::string> const& all, std::string_view one) {
    return std::ranges::find(all, one) != all.end();
}

/// It carries a key of an earlier generation. One that was confirmed all the same, by a person, is
/// the effect of the present one.
inline bool is_of_former(record const& r, std::string_view key, std::string_view receipt) {
    bool const confirmed_one = r.ever_confirmed && receipt == r.receipt;
    return !confirmed_one && contains(r.notes_or_none().former_keys, key);
}

/// Ours: it carries our provider key, or the receipt our record holds; at a unique name also
/// without a key, while an attempt may have made it and did not find it there. Never if it belongs
/// to another owner.
inline bool is_ours(record const& r, terms const& t, std::string_view key, std::string_view receipt,
                    bool owner_fits) {
    if (!owner_fits) return false;
    if (!key.empty() && contains(r.notes_or_none().former_keys, key)) {
        return !is_of_former(r, key, receipt);
    }
    if (!key.empty()) return key == r.key();
    if (!r.receipt.empty() && receipt == r.receipt) return true;
    bool const may_be = r.open_attempts() != 0 || r.ever_confirmed;
    return t.identifies == identified::by_name && may_be && !r.existed_before_us();
}

template <class Request, class Receipt, class Equal>
void sort(sorting& s, effect<Request, Receipt> const& e, record const& r, terms const& t,
          Equal const& equal) {
    auto receipt = encoded(e.receipt);
    if (!receipt || receipt.value().size() > longest_receipt) {
        s.malformed = true;
        return;
    }
    case_notes const& notes = r.notes_or_none();
    if (contains(notes.set_aside, receipt.value())) return;
    if (e.ours && is_of_former(r, e.key, receipt.value())) {
        // One that failed is no effect. Any other was made by an attempt that surely was not
        // applied.
        if (e.status == effect_status::applied || e.status == effect_status::under_way) ++s.former;
        return;
    }
    if (!is_ours(r, t, e.key, receipt.value(), e.ours)) {
        return add_name(s.candidates, "candidates: ", receipt.value());
    }
    // Of what was asked for then, only its fingerprint may be left.
    bool const is_known = r.tombstone && r.ever_confirmed && receipt.value() == r.receipt;
    switch (e.status) {
    case effect_status::under_way: ++s.under_way; return;
    case effect_status::failed: ++s.failed; return;
    case effect_status::failed_for_good:
        // More than anybody tries: that is not final, so nothing is rejected by it.
        if (contains(s.failed_for_good, receipt.value())) return;
        if (s.failed_for_good.size() == most_failures)
            ++s.failed;
        else
            s.failed_for_good.push_back(std::move(receipt).value());
        return;
    case effect_status::applied: break;
    }
    if (receipt.value().empty()) {
        s.malformed = true; // an effect without an id cannot be told from another
    } else if (!(is_known || (e.request && equal(r, *e.request)))) {
        ++s.differing;
        if constexpr (requires { equal.differing_members(r, *e.request); }) {
            if (e.request) s.members = equal.differing_members(r, *e.request);
        }
    } else {
        // The effect that was confirmed counts even when another one stands in its place.
        bool const another = r.ever_confirmed && receipt.value() != r.receipt;
        s.applied += another ? 2 : 1;
        s.receipt = std::move(receipt).value();
    }
}

/// How often the provider may have been asked, retries below submit included.
inline std::uint64_t tries_of(record const& r, terms const& t) {
    return std::uint64_t{r.sent_attempts()} * std::max(t.inner_attempts, 1U);
}

inline void conclude(observation& o, sorting&& s, record const& r, terms const& t) {
    o.remarks = std::move(s.candidates);
    if (s.former != 0) {
        o.what = seen::former_key;
    } else if (s.applied > 1 || (s.applied == 1 && s.differing != 0)) {
        o.what = seen::several;
    } else if (s.differing != 0) {
        o.what = seen::contents_differ;
    } else if (s.malformed) {
        o.what = seen::incomplete;
    } else if (s.under_way != 0) {
        o.what = seen::under_way; // also beside one that is applied: that would make two
    } else if (s.applied == 1) {
        o.what = seen::match;
        o.receipt = std::move(s.receipt);
    } else if (s.failed + s.failed_for_good.size() != 0) {
        // Final only if each attempt is accounted for: one that failed may be an earlier one.
        bool const all = s.failed == 0 && !r.restored && s.failed_for_good.size() >= tries_of(r, t);
        o.what = all && r.open_attempts() != 0 ? seen::failed_for_good : seen::failed;
    } else {
        o.what = o.remarks.empty() ? seen::nothing : seen::only_candidates;
    }
}

/// The person who is asked to sort them out must know which they are, and how they differ.
template <class Request, class Receipt>
void name_ours(observation& o, std::span<effect<Request, Receipt> const> effects, record const& r,
               terms const& t, std::string const& members) {
    case_notes const& notes = r.notes_or_none();
    std::string ours;
    for (auto const& e : effects) {
        auto const receipt = encoded(e.receipt);
        if (!receipt || contains(notes.set_aside, receipt.value())) continue;
        bool const former = e.ours && is_of_former(r, e.key, receipt.value());
        if (former || is_ours(r, t, e.key, receipt.value(), e.ours)) {
            add_name(ours, "ours: ", receipt.value());
        }
    }
    if (!members.empty()) ours.append("; differs: ").append(members);
    o.remarks = o.remarks.empty() ? ours : ours + "; " + o.remarks;
}

/// Same content: the codec's bytes are the stored ones.
struct equal_bytes {
    template <class Request> bool operator()(record const& r, Request const& found) const {
        auto bytes = encoded(found);
        return bytes && bytes.value() == r.intent->request;
    }
};

template <class Request, class Receipt, class Equal>
void weigh_effects(observation& o, terms const& t, record const& r,
                   std::span<effect<Request, Receipt> const> effects, Equal const& equal) {
    sorting s;
    for (auto const& e : effects)
        sort(s, e, r, t, equal);
    std::string const members = std::move(s.members);
    conclude(o, std::move(s), r, t);
    if (o.what == seen::several || o.what == seen::contents_differ || o.what == seen::former_key) {
        name_ours(o, effects, r, t, members);
    }
}

template <class Request, class Receipt, class Equal>
observation weigh_answer(terms const& t, record const& r, answer<Request, Receipt> const& found,
                         Equal const& equal) {
    observation o{.of = r.stamp()};
    if (auto const* all = found.template get_if<complete<Request, Receipt>>()) {
        weigh_effects(o, t, r, std::span(all->effects), equal);
        o.target_id = all->target_id;
        if (o.target_id.size() > longest_receipt) o.what = seen::incomplete;
    } else if (auto const* nobody = found.template get_if<unavailable>()) {
        o.what = seen::unavailable;
        o.remarks = nobody->why.substr(0, longest_hint);
    } else if (found.template holds<no_target>()) {
        o.what = seen::no_target;
    } else {
        o.what = found.template holds<denied>() ? seen::denied : seen::incomplete;
    }
    return o;
}

/// One effect says what it is, and nothing about the others there may be.
template <class Request, class Receipt, class Equal>
observation weigh_told(terms const& t, record const& r, effect<Request, Receipt> const& told,
                       Equal const& equal) {
    observation o{.of = r.stamp()};
    o.from_outside = true;
    weigh_effects(o, t, r, std::span(&told, 1), equal);
    bool const second = o.what == seen::match && !r.receipt.empty() && o.receipt != r.receipt;
    if (second) o.what = seen::several;
    switch (o.what) {
    case seen::match:
    case seen::several:
    case seen::contents_differ:
    case seen::former_key:
    case seen::failed_for_good: break;
    default:
        o.why = o.what == seen::only_candidates ? rule::another_owner
                : o.what == seen::under_way     ? rule::under_way
                                                : rule::not_yet_visible;
        o.what = seen::no_news;
        o.remarks.clear();
    }
    return o;
}

} // namespace indoubt::detail

#endif
