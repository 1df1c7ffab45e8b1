// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef INDOUBT_CORE_TRANSITION_TABLE_HPP
#define INDOUBT_CORE_TRANSITION_TABLE_HPP

#include <indoubt/core/transitions.hpp>

#include <boost/hana/at_key.hpp>
#include <boost/hana/contains.hpp>
#include <boost/hana/map.hpp>
#include <boost/hana/pair.hpp>
#include <boost/hana/type.hpp>

// The whole machine as one table: which evidence takes which state where. A test proves that a
// transition function exists for every pair in it and for no other; the state diagram of the
// documentation is printed from it. Only tests and documentation include this header.

namespace indoubt {

/// An operation in state From, and a piece of evidence.
template <state From, class Evidence> struct given {
    using from = From;
    using evidence = Evidence;
};

namespace detail {
template <class From, class Evidence, class To>
inline constexpr auto row =
    boost::hana::make_pair(boost::hana::type_c<given<From, Evidence>>, boost::hana::type_c<To>);
}

inline constexpr auto transition_table = boost::hana::make_map( //
    detail::row<pending, clearance, uncertain>,                 // dispatch
    detail::row<pending, match, confirmed>,                     // confirm
    detail::row<pending, refusal, rejected>,                    // reject
    detail::row<pending, doubt, in_review>,                     // refer
    detail::row<pending, contradiction, in_review>,             // refer
    detail::row<pending, cancellation, cancelled>,              // cancel

    detail::row<uncertain, resend_clearance, uncertain>, // resend
    detail::row<uncertain, attempt_outcome, uncertain>,  // record_outcome
    detail::row<uncertain, cancellation, uncertain>,     // cancel
    detail::row<uncertain, match, confirmed>,            // confirm
    detail::row<uncertain, non_application, pending>,    // reopen
    detail::row<uncertain, refusal, rejected>,           // reject
    detail::row<uncertain, doubt, in_review>,            // refer
    detail::row<uncertain, contradiction, in_review>,    // refer

    detail::row<in_review, match, confirmed>,                 // confirm
    detail::row<in_review, non_application, pending>,         // reopen
    detail::row<in_review, refusal, rejected>,                // reject
    detail::row<in_review, attempt_outcome, in_review>,       // record_outcome
    detail::row<in_review, cancellation, in_review>,          // cancel
    detail::row<in_review, contradiction, in_review>,         // refer
    detail::row<in_review, adoption, confirmed>,              // adopt
    detail::row<in_review, ruling, pending>,                  // rule_out
    detail::row<in_review, resumption<uncertain>, uncertain>, // resume
    detail::row<in_review, resumption<pending>, pending>,     // resume
    detail::row<in_review, dismissal<confirmed>, confirmed>,  // dismiss
    detail::row<in_review, dismissal<rejected>, rejected>,    // dismiss
    detail::row<in_review, dismissal<cancelled>, cancelled>,  // dismiss
    detail::row<in_review, dismissal<abandoned>, abandoned>,  // dismiss
    detail::row<in_review, abandonment, abandoned>,           // abandon

    detail::row<confirmed, contradiction, in_review>,   // refer
    detail::row<confirmed, attempt_outcome, confirmed>, // record_outcome
    detail::row<rejected, contradiction, in_review>,    // refer
    detail::row<rejected, attempt_outcome, rejected>,   // record_outcome
    detail::row<cancelled, contradiction, in_review>,   // refer
    detail::row<cancelled, attempt_outcome, cancelled>, // record_outcome
    detail::row<abandoned, contradiction, in_review>,   // refer
    detail::row<abandoned, attempt_outcome, abandoned>, // record_outcome
    detail::row<rejected, supersession, pending>,       // supersede
    detail::row<cancelled, supersession, pending>);     // supersede

namespace detail {
template <class From, class Evidence>
inline constexpr bool in_table = decltype(boost::hana::contains(
    transition_table, boost::hana::type_c<given<From, Evidence>>))::value;
}

/// True if the table has a transition from From by Evidence.
template <state From, class Evidence>
inline constexpr bool is_legal = detail::in_table<From, Evidence>;

} // namespace indoubt

#endif
