// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#include <indoubt/core/transition_table.hpp>

#include <boost/hana/for_each.hpp>
#include <boost/hana/size.hpp>
#include <boost/hana/tuple.hpp>

#include <doctest/doctest.h>

#include <concepts>
#include <utility>

// The transition functions and the transition table say the same: for each of the 7 states and
// each kind of evidence, a function exists exactly if the table has the pair, and it leads where
// the table says.

namespace {

using namespace indoubt;
namespace hana = boost::hana;

template <class From, class E> auto by_name(operation<From>&& op, E&& e) {
    // Every verb of the library is tried; at most one fits a pair.
    if constexpr (requires { dispatch(std::move(op), std::move(e)); }) {
        return dispatch(std::move(op), std::move(e));
    } else if constexpr (requires { resend(std::move(op), std::move(e)); }) {
        return resend(std::move(op), std::move(e));
    } else if constexpr (requires { confirm(std::move(op), std::move(e)); }) {
        return confirm(std::move(op), std::move(e));
    } else if constexpr (requires { refer(std::move(op), std::move(e)); }) {
        return refer(std::move(op), std::move(e));
    } else if constexpr (requires { reopen(std::move(op), std::move(e)); }) {
        return reopen(std::move(op), std::move(e));
    } else if constexpr (requires { reject(std::move(op), std::move(e)); }) {
        return reject(std::move(op), std::move(e));
    } else if constexpr (requires { record_outcome(std::move(op), std::move(e)); }) {
        return record_outcome(std::move(op), std::move(e));
    } else if constexpr (requires { cancel(std::move(op), std::move(e)); }) {
        return cancel(std::move(op), std::move(e));
    } else if constexpr (requires { adopt(std::move(op), std::move(e)); }) {
        return adopt(std::move(op), std::move(e));
    } else if constexpr (requires { rule_out(std::move(op), std::move(e)); }) {
        return rule_out(std::move(op), std::move(e));
    } else if constexpr (requires { resume(std::move(op), std::move(e)); }) {
        return resume(std::move(op), std::move(e));
    } else if constexpr (requires { dismiss(std::move(op), std::move(e)); }) {
        return dismiss(std::move(op), std::move(e));
    } else if constexpr (requires { abandon(std::move(op), std::move(e)); }) {
        return abandon(std::move(op), std::move(e));
    } else if constexpr (requires { supersede(std::move(op), std::move(e)); }) {
        return supersede(std::move(op), std::move(e));
    }
}

template <class From, class E>
using outcome = decltype(by_name(std::declval<operation<From>>(), std::declval<E>()));

template <class From, class E> constexpr bool agrees() {
    using found = outcome<From, E>;
    if constexpr (is_legal<From, E>) {
        using to = typename decltype(+transition_table[hana::type_c<given<From, E>>])::type;
        constexpr bool sends = std::same_as<E, clearance> || std::same_as<E, resend_clearance>;
        if constexpr (sends) {
            return std::same_as<found, result<departure>> && std::same_as<to, uncertain>;
        } else {
            return std::same_as<found, result<step<to>>>;
        }
    } else {
        return std::same_as<found, void>;
    }
}

// No transition takes evidence without using it up, nor an operation it does not own.
template <class From, class E>
concept takes_an_lvalue = requires(operation<From>& op, E& e) { refer(op, std::move(e)); } ||
                          requires(operation<From>& op, E& e) { confirm(op, std::move(e)); } ||
                          requires(operation<From>&& op, E& e) { confirm(std::move(op), e); };

inline constexpr auto states =
    hana::tuple_t<pending, uncertain, confirmed, rejected, cancelled, in_review, abandoned>;
inline constexpr auto kinds_of_evidence =
    hana::tuple_t<clearance, resend_clearance, match, contradiction, doubt, non_application,
                  refusal, attempt_outcome, adoption, cancellation, ruling, resumption<uncertain>,
                  resumption<pending>, dismissal<confirmed>, dismissal<rejected>,
                  dismissal<cancelled>, dismissal<abandoned>, abandonment, supersession>;

TEST_CASE("every pair of state and evidence compiles exactly if the table has it") {
    int pairs = 0, legal = 0;
    hana::for_each(states, [&](auto from) {
        hana::for_each(kinds_of_evidence, [&](auto evidence) {
            using From = typename decltype(from)::type;
            using E = typename decltype(evidence)::type;
            static_assert(agrees<From, E>());
            static_assert(!takes_an_lvalue<From, E>);
            ++pairs;
            legal += is_legal<From, E>;
        });
    });
    CHECK(pairs == 7 * 19);
    // Each row of the table was reached by the walk: no row names a state or evidence twice over.
    CHECK(legal == static_cast<int>(decltype(hana::size(transition_table))::value));
}

} // namespace
