// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef INDOUBT_RECOVERY_INTENDING_HPP
#define INDOUBT_RECOVERY_INTENDING_HPP

#include <indoubt/core/contract.hpp>
#include <indoubt/core/record.hpp>
#include <indoubt/policy/fingerprint.hpp>
#include <indoubt/recovery/effects.hpp>
#include <indoubt/recovery/scribe.hpp>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

// What is asked for, before it is recorded, and whether it is what stands on record already.

namespace indoubt {

/// What is asked for, ready to be recorded. journal::begin adds the identity.
template <class Request, class Fingerprint>
result<std::shared_ptr<intent>> intend(std::string_view target, Request const& request,
                                       Fingerprint const& fingerprint) {
    auto wanted = std::make_shared<intent>();
    BOOST_OUTCOME_TRY(wanted->request, detail::encoded(request));
    if (wanted->request.size() > longest_request) return error(rule::too_large);
    wanted->target = target;
    wanted->fingerprint = fingerprint.digest({wanted->target, wanted->request});
    wanted->fingerprint_rule = fingerprint.rule();
    return wanted;
}

/// What begin is told beside the intent.
struct begin_options {
    time_point deadline = time_point::max();   ///< of the operation; max() if there is none
    key_rules keys{};                          ///< of the provider
    std::optional<std::string> provider_key{}; ///< unset: the identity's key
    /// Names the members in which two encoded requests differ, for a conflicting intent.
    std::string (*differing_members)(std::string_view stored, std::string_view given) = nullptr;
};

namespace detail {

/// For people, and never a value.
inline std::string difference(intent const& stored, intent const& given,
                              begin_options const& options) {
    if (stored.target != given.target) return "differs: the target";
    if (options.differing_members == nullptr || stored.request.empty()) return {};
    std::string const names = options.differing_members(stored.request, given.request);
    return names.empty() ? names : "differs: " + names;
}

/// What stands for this identity, if it is what is asked for now.
template <class Fingerprint>
result<scribe::box> same_intent(scribe::box standing, intent const& given,
                                Fingerprint const& fingerprint, begin_options const& options) {
    intent const& stored = *standing->intent;
    if (stored.fingerprint_rule != fingerprint.rule()) {
        return error_despite(*standing, rule::incomparable);
    }
    if (!fingerprint.same(stored.fingerprint, {stored.target, stored.request},
                          {given.target, given.request})) {
        return error_about(*standing, rule::conflicting_intent)
            .saying(difference(stored, given, options));
    }
    return standing;
}

} // namespace detail

} // namespace indoubt

#endif
