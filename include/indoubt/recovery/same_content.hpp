// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef INDOUBT_RECOVERY_SAME_CONTENT_HPP
#define INDOUBT_RECOVERY_SAME_CONTENT_HPP

#include <indoubt/policy/policies.hpp>
#include <indoubt/recovery/observation.hpp>

#include <utility>

// Whether what a look-up found has the content that was asked for: by the fingerprint policy, or,
// where the provider says what it does to a request, after the same was done to both.

namespace indoubt::detail {

template <class Policies> struct same_content {
    using provider = provider_in<Policies>;
    using request = typename provider::request;

    Policies& with;

    bool operator()(record const& known, request const& found) const {
        intent const& asked = *known.intent;
        if constexpr (normalises<provider>) {
            auto stored = codec<request>::decode(asked.request);
            if (!stored) return false;
            auto const ours = encoded(with.provider.normalise(std::move(stored).value()));
            auto const theirs = encoded(with.provider.normalise(found));
            return ours && theirs && ours.value() == theirs.value();
        } else {
            auto const theirs = encoded(found);
            return theirs && with.fingerprint.same(asked.fingerprint, {asked.target, asked.request},
                                                   {asked.target, theirs.value()});
        }
    }
};

} // namespace indoubt::detail

#endif
