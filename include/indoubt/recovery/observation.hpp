// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef INDOUBT_RECOVERY_OBSERVATION_HPP
#define INDOUBT_RECOVERY_OBSERVATION_HPP

#include <indoubt/core/record.hpp>

#include <cstdint>
#include <string>
#include <string_view>

// What was seen of one operation. recovery/weigh.hpp makes it out of the provider's plain data.

namespace indoubt {

/// What was seen. One sentence each.
enum class seen : std::uint8_t {
    not_asked, ///< nobody has asked yet, or what was learned is already recorded

    // a look-up
    match,           ///< complete: exactly one effect of ours, with the content asked for
    several,         ///< complete: more than one effect of ours
    contents_differ, ///< complete: our key with another content
    only_candidates, ///< complete: records at the place or name, none provably ours
    nothing,         ///< complete: nothing at all
    under_way,       ///< complete: an effect of ours that is not done yet
    failed,          ///< complete: an effect of ours that failed, not documented as final
    failed_for_good, ///< complete: every open attempt is documented as failed for good
    incomplete,      ///< a page or part is missing, or an answer makes no sense
    unavailable,     ///< nobody answered
    denied,          ///< the credentials do not allow looking
    unsupported,     ///< the contract documents no look-up
    no_target,       ///< documented: there is nothing to act on
    former_key,      ///< complete: an effect under the key of an earlier generation

    // a reply
    proof,          ///< accepted, and documented as proof: our key came back
    accepted,       ///< accepted, with a receipt to look for
    attempt_closed, ///< this attempt surely was not applied
    existed,        ///< refused because something is there already
    key_reused,     ///< refused because our key is known with other parameters
    busy,           ///< a call with our key is still at work
    no_news,        ///< the reply proves nothing

    // either
    receipt_taken, ///< its receipt is already bound to another operation
};
inline constexpr unsigned kinds_seen = static_cast<unsigned>(seen::receipt_taken) + 1;

constexpr std::string_view to_string(seen s) {
    constexpr std::string_view names[kinds_seen] = {"not asked",       "one equal and ours",
                                                    "several of ours", "our key, other content",
                                                    "only candidates", "none",
                                                    "under way",       "failed",
                                                    "failed for good", "incomplete",
                                                    "unavailable",     "denied",
                                                    "unsupported",     "nothing to act on",
                                                    "a former key",    "reply: proof",
                                                    "reply: accepted", "reply: surely not applied",
                                                    "reply: existed",  "reply: key reused",
                                                    "reply: busy",     "reply: no news",
                                                    "receipt taken"};
    return names[static_cast<unsigned>(s)];
}

/// Belongs to one operation as of one version of its record, like evidence.
struct observation {
    stamp of{};
    seen what = seen::not_asked;
    std::string receipt{}; ///< encoded; of the match, or named by the reply
    std::string remarks{}; ///< hints of a reply; of a look-up, for people, what was found instead
    std::uint32_t attempt = 0; ///< the attempt a reply is about, counting from 1
    attempt_outcome_id outcome = attempt_outcome_id::open; ///< with attempt_closed
    rule why = rule::none;      ///< with attempt_closed; or why what was told says nothing
    milliseconds retry_after{}; ///< with attempt_closed and busy
    std::string target_id{};    ///< of a look-up: of what is acted on
    bool from_outside = false;  ///< told by another channel: about one effect, never an absence
};

} // namespace indoubt

#endif
