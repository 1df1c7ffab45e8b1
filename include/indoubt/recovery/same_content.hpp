// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef INDOUBT_RECOVERY_SAME_CONTENT_HPP
#define INDOUBT_RECOVERY_SAME_CONTENT_HPP

#include <indoubt/policy/policies.hpp>
#include <indoubt/recovery/weigh.hpp>

#include <string>
#include <string_view>
#include <utility>

// Whether what a look-up found has the content that was asked for: by the fingerprint policy, or,
// where the provider says what it does to a request, after the same was done to both. And where the
// codec knows members, which of them differ: names, never values.

namespace indoubt::detail {

template <class Request>
concept names_members = requires(Request const& r) {
    { codec<Request>::differing_members(r, r) } -> std::convertible_to<std::string>;
};

/// Empty where the codec cannot tell.
template <class Request> std::string differing_members(std::string_view a, std::string_view b) {
    if constexpr (names_members<Request>) {
        auto const left = codec<Request>::decode(a);
        auto const right = codec<Request>::decode(b);
        if (left && right) return codec<Request>::differing_members(left.value(), right.value());
    }
    return {};
}

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

    std::string differing_members(record const& known, request const& found) const
        requires names_members<request>
    {
        auto stored = codec<request>::decode(known.intent->request);
        if (!stored) return {};
        if constexpr (normalises<provider>) {
            return codec<request>::differing_members(
                with.provider.normalise(std::move(stored).value()), with.provider.normalise(found));
        } else {
            return codec<request>::differing_members(stored.value(), found);
        }
    }
};

} // namespace indoubt::detail

#endif
