// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef INDOUBT_ADAPTER_COMPOSED_LOOKUP_HPP
#define INDOUBT_ADAPTER_COMPOSED_LOOKUP_HPP

#include <indoubt/policy/provider.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

// A look-up made of pages and of parts, such as what is open and what is closed. It is complete
// only if all of them were read and agree:
//
//     answer lookup(query const& q) {
//         auto const list = [&](bool open) {
//             return [=, this](query const& asked) {
//                 return paged_lookup(asked, [&](std::string_view cursor) -> page_answer { ... });
//             };
//         };
//         return composed_lookup(q, list(true), list(false));
//     }
//
// - The first page or part that could not be read is the answer, as it is: unavailable, incomplete
//   or denied. What comes after it is not asked for: nothing could be concluded from it any more.
// - An effect that is shown again by a later page or part counts once. It is the same if its
//   encoded receipt is. If both do not agree, the listing moved while it was read: incomplete.
//   Receipts that are empty or have no form tell nothing apart, and each of these effects counts.
// - A status may go on from one showing to the next: the later one counts. From applied and
//   failed_for_good nothing goes on, and another status after them is incomplete.
// - When a stop is requested nothing more is asked for: incomplete.
//
// List the parts in the order in which an effect goes through them: what moves on meanwhile is then
// seen twice, and not missed. For the same reason the pages must be in an order that does not
// change, such as the oldest first with a cursor that names the last one seen: pages by number skip
// an effect if one before it goes away.
//
// Nothing here reads a clock: query::time_left is for all pages and parts together, and whoever
// fetches them answers unavailable when it is over. Nothing here throws; what a part throws goes
// through.

namespace indoubt {

/// One page of a listing.
template <class Request, class Receipt> struct lookup_page {
    std::vector<effect<Request, Receipt>> effects{}; ///< may be empty, also before another page
    std::string next{};                              ///< cursor of the next page; empty: none
    std::string target_id{};                         ///< as in complete; empty if not shown here
};

/// What came of fetching one page. no_target is for the first page.
template <class Request, class Receipt>
using page_answer =
    one_of<unavailable, lookup_page<Request, Receipt>, incomplete, denied, no_target>;

/// What is longer is not cut off, but incomplete.
struct page_limits {
    std::size_t most_pages = 100;       ///< that are fetched
    std::size_t most_effects = 1'000;   ///< over all pages, each counted once
    std::size_t longest_cursor = 4'096; ///< in bytes; all of them are kept to notice a loop
};

namespace detail {

/// What pages or parts have shown so far, each effect once.
template <class Request, class Receipt> class gathering {
public:
    using effect_type = indoubt::effect<Request, Receipt>;

    explicit gathering(std::size_t most_effects = std::numeric_limits<std::size_t>::max())
        : most_effects_(most_effects) {}

    /// Takes a page or part. False: it does not agree with an earlier one, or it is too much.
    bool add(std::vector<effect_type>&& shown, std::string&& target_id) {
        ++round_;
        for (effect_type& e : shown) {
            if (!add(std::move(e))) return false;
        }
        if (all_.target_id.empty()) {
            all_.target_id = std::move(target_id);
            return true;
        }
        return target_id.empty() || target_id == all_.target_id;
    }
    /// A part that was read and has nothing to act on.
    void add(indoubt::no_target) { no_target_ = true; }

    indoubt::answer<Request, Receipt> whole() && {
        // An effect may be why the target is gone; an id of the target cannot be.
        if (!no_target_ || !all_.effects.empty()) return std::move(all_);
        if (!all_.target_id.empty()) return indoubt::incomplete{};
        return indoubt::no_target{};
    }

private:
    struct showing {
        std::string receipt; // encoded; empty if it has no form
        std::size_t last_round;
    };

    bool add(effect_type&& e) {
        result<std::string> encoded = codec<Receipt>::encode(e.receipt);
        std::string receipt = encoded ? std::move(encoded).value() : std::string();
        for (std::size_t i = 0; i != showings_.size() && !receipt.empty(); ++i) {
            // Twice on one page is no second showing: two they stay, and a person will see them.
            if (showings_[i].receipt != receipt || showings_[i].last_round == round_) continue;
            showings_[i].last_round = round_;
            return agree(all_.effects[i], std::move(e));
        }
        if (all_.effects.size() == most_effects_) return false;
        all_.effects.push_back(std::move(e));
        showings_.push_back({std::move(receipt), round_});
        return true;
    }

    /// Makes one effect of two showings, if they can be of one.
    static bool agree(effect_type& known, effect_type&& again) {
        if (known.ours != again.ours || !equal(known.request, again.request)) return false;
        if (known.key.empty()) {
            known.key = std::move(again.key); // only one of them shows it
        } else if (!again.key.empty() && again.key != known.key) {
            return false;
        }
        bool const final = known.status == effect_status::applied ||
                           known.status == effect_status::failed_for_good;
        if (final && again.status != known.status) return false;
        known.status = again.status;
        return true;
    }
    static bool equal(std::optional<Request> const& a, std::optional<Request> const& b) {
        if (!a || !b) return !a && !b;
        result<std::string> const first = codec<Request>::encode(*a);
        result<std::string> const second = codec<Request>::encode(*b);
        return first && second && first.value() == second.value();
    }

    indoubt::complete<Request, Receipt> all_;
    std::vector<showing> showings_; // of all_.effects, one each
    std::size_t most_effects_, round_ = 0;
    bool no_target_ = false;
};

template <class T, class Request> inline constexpr bool is_page_answer = false;
template <class Request, class Receipt>
inline constexpr bool is_page_answer<indoubt::page_answer<Request, Receipt>, Request> = true;
template <class T, class Request> inline constexpr bool is_answer = false;
template <class Request, class Receipt>
inline constexpr bool is_answer<indoubt::answer<Request, Receipt>, Request> = true;

template <class T> struct receipt_shown;
template <class Request, class Receipt> struct receipt_shown<page_answer<Request, Receipt>> {
    using type = Receipt;
};
template <class Request, class Receipt> struct receipt_shown<indoubt::answer<Request, Receipt>> {
    using type = Receipt;
};

/// A part is an answer, or a function that answers the query.
template <class Request, class Part> auto ask_part(indoubt::query<Request> const& q, Part& part) {
    if constexpr (is_answer<std::remove_const_t<Part>, Request>) {
        return part;
    } else {
        return part(q);
    }
}

template <class Receipt, class Request, class Fetch>
indoubt::answer<Request, Receipt> read_pages(indoubt::query<Request> const& q, Fetch& fetch,
                                             page_limits const& limits) {
    using ended = std::optional<indoubt::answer<Request, Receipt>>;
    gathering<Request, Receipt> found(limits.most_effects);
    std::vector<std::string> cursors{std::string()}; // the last one is of the page to fetch
    auto const read = [&](lookup_page<Request, Receipt>&& p) -> ended {
        if (!found.add(std::move(p.effects), std::move(p.target_id))) return indoubt::incomplete{};
        if (p.next.empty()) return std::move(found).whole();
        bool const loop = std::ranges::find(cursors, p.next) != cursors.end();
        if (loop || p.next.size() > limits.longest_cursor) return indoubt::incomplete{};
        cursors.push_back(std::move(p.next));
        return std::nullopt;
    };
    auto const nothing_there = [&](indoubt::no_target&& x) -> ended {
        if (cursors.size() != 1) return indoubt::incomplete{}; // the pages before said otherwise
        return x;
    };
    auto const unread = [](auto&& why) -> ended { return std::move(why); };
    while (cursors.size() <= limits.most_pages && !q.stop.stop_requested()) {
        auto end = fetch(std::string_view(cursors.back())).visit(read, nothing_there, unread);
        if (end) return std::move(*end);
    }
    return indoubt::incomplete{};
}

template <class Receipt, class Request, class... Parts>
indoubt::answer<Request, Receipt> read_parts(indoubt::query<Request> const& q, Parts&... parts) {
    using ended = std::optional<indoubt::answer<Request, Receipt>>;
    gathering<Request, Receipt> found;
    auto const read = [&](indoubt::complete<Request, Receipt>&& all) -> ended {
        if (found.add(std::move(all.effects), std::move(all.target_id))) return std::nullopt;
        return indoubt::incomplete{};
    };
    auto const nothing_there = [&](indoubt::no_target&& x) -> ended {
        found.add(x);
        return std::nullopt;
    };
    auto const unread = [](auto&& why) -> ended { return std::move(why); };
    ended end;
    auto const ask = [&](auto& part) {
        if (q.stop.stop_requested()) {
            end = indoubt::incomplete{};
        } else {
            end = ask_part(q, part).visit(read, nothing_there, unread);
        }
        return !end;
    };
    if ((ask(parts) && ...)) return std::move(found).whole();
    return std::move(*end);
}

} // namespace detail

/// Reads all pages of a listing. fetch(std::string_view cursor) answers one page; the first has an
/// empty cursor. A cursor that comes again, and what is beyond the limits, is incomplete.
template <class Request, class Fetch>
[[nodiscard]] auto paged_lookup(query<Request> const& q, Fetch&& fetch, page_limits limits = {}) {
    using fetched = std::invoke_result_t<Fetch&, std::string_view>;
    constexpr bool answers_pages = detail::is_page_answer<fetched, Request>;
    static_assert(answers_pages, "paged_lookup: fetch(std::string_view cursor) returns  "
                                 "page_answer<Request, Receipt>  with the Request of the query");
    if constexpr (answers_pages) {
        using receipt = typename detail::receipt_shown<fetched>::type;
        return detail::read_pages<receipt>(q, fetch, limits);
    } else {
        return detail::nothing_more_to_say<fetched>();
    }
}

/// Asks all parts, one after the other. A part is a function of the query, or an answer. One that
/// was read without finding anything answers complete, or no_target; no_target is the answer of the
/// whole only if no part shows an effect.
template <class Request, class Part, class... Others>
[[nodiscard]] auto composed_lookup(query<Request> const& q, Part&& part, Others&&... others) {
    using whole = decltype(detail::ask_part(q, part));
    constexpr bool answer_alike =
        detail::is_answer<whole, Request> &&
        (std::same_as<whole, decltype(detail::ask_part(q, others))> && ...);
    static_assert(answer_alike, "composed_lookup: all parts return the answer of the provider; "
                                "write  -> answer");
    if constexpr (answer_alike) {
        using receipt = typename detail::receipt_shown<whole>::type;
        return detail::read_parts<receipt>(q, part, others...);
    } else {
        return detail::nothing_more_to_say<whole>();
    }
}

} // namespace indoubt

#endif
