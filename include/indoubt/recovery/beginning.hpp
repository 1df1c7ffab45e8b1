// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef INDOUBT_RECOVERY_BEGINNING_HPP
#define INDOUBT_RECOVERY_BEGINNING_HPP

#include <indoubt/policy/policies.hpp>
#include <indoubt/recovery/journal.hpp>
#include <indoubt/recovery/same_content.hpp>
#include <indoubt/recovery/telling.hpp>

#include <utility>

// How a call finds its operation: what is wanted is recorded, unless it is on record already.

namespace indoubt::detail {

template <class Policies> struct beginning {
    using with = parts<Policies>;

    scribe::box stored;
    bool is_new = false;

    /// Errors: those of intend and of journal::begin.
    static result<beginning> of(Policies& policies, typename with::journal& book,
                                identity const& id, typename with::request const& wanted,
                                time_point at) {
        auto& provider = policies.provider;
        auto asked = intend(provider.target, wanted, policies.fingerprint);
        if (!asked) return std::move(asked).error().of(printable(id));
        begin_options how;
        how.deadline = policies.budget.deadline(at).value_or(time_point::max());
        how.keys = provider.contract.keys;
        if constexpr (maps_keys<typename with::provider>) {
            how.provider_key = provider.key_for(id, 1);
        }
        how.differing_members = &differing_members<typename with::request>;
        intent const* const wish = asked.value().get();
        BOOST_OUTCOME_TRY(
            auto r, book.begin_record(id, std::move(asked).value(), policies.fingerprint, how, at));
        bool const made_now = r->state == state_id::pending && r->intent.get() == wish;
        return beginning{std::move(r), made_now};
    }
};

} // namespace indoubt::detail

#endif
