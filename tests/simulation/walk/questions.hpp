// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef TESTS_SIMULATION_WALK_QUESTIONS_HPP
#define TESTS_SIMULATION_WALK_QUESTIONS_HPP

#include "worlds.hpp"

#include <type_traits>
#include <variant>

// What a world's contract says at the moment.

namespace walk {

inline documented const& contract_now(world const& w, snapshot const& s) {
    return s.upgraded ? w.next_contract : w.contract;
}

inline bool has_lookup(documented const& d) {
    return std::visit([](auto const& c) { return detail::terms_of(c).has_lookup; }, d);
}
inline bool reply_is_proof(documented const& d) {
    return std::visit([](auto const& c) { return detail::terms_of(c).reply_is_proof; }, d);
}
inline bool has_guarantee(documented const& d) {
    return std::visit(
        [](auto const& c) {
            return documents_a_resend_guarantee<std::remove_cvref_t<decltype(c)>>;
        },
        d);
}

} // namespace walk

#endif
