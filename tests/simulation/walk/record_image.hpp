// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef TESTS_SIMULATION_WALK_RECORD_IMAGE_HPP
#define TESTS_SIMULATION_WALK_RECORD_IMAGE_HPP

#include "worlds.hpp"

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <variant>

// Records of the library as images, and back. What an image leaves out comes back as a constant;
// numbers that only tell things apart (operations, versions, epochs, holders) are the same in every
// state, or the space would have no end.

namespace walk {

inline constexpr std::uint32_t this_epoch = 2; ///< 1 is that of whoever died
inline constexpr std::uint64_t the_operation = 7;
inline constexpr version stored_version{this_epoch, 100};
inline constexpr version stale_version{this_epoch, 50};

inline identity const the_identity{"scope", "key"};

inline std::string provider_key(unsigned generation) {
    return generation <= 1 ? the_identity.key : the_identity.key + "-" + std::to_string(generation);
}

inline std::string receipt_of(tick effect) {
    return std::string("r") + char('0' + effect);
}
inline constexpr tick number_of_the_foreign = 7; ///< its receipt is "r7"

inline tick effect_of_receipt(std::string_view receipt) {
    if (receipt.empty()) return -1;
    return static_cast<tick>(receipt.back() - '0');
}

/// Under what an attempt was sent. A world has at most two contracts, of different kinds.
inline guarantee guarantee_of(world const& w, guarantee_kind kind) {
    auto const terms = [](auto const& c) { return detail::terms_of(c).resend; };
    guarantee const first = std::visit(terms, w.contract);
    return first.kind == kind ? first : std::visit(terms, w.next_contract);
}

inline claim claim_of(held_by who) {
    if (who == held_by::nobody) return {};
    if (who == held_by::the_dead) return {this_epoch - 1, 9};
    return {this_epoch, static_cast<std::uint64_t>(who)};
}

inline held_by holder_of(claim const& c) {
    if (c.epoch == 0) return held_by::nobody;
    if (c.epoch != this_epoch || c.holder > 2) return held_by::the_dead;
    return static_cast<held_by>(c.holder);
}

/// The worker's number is the holder of his claims.
constexpr held_by holder(unsigned worker) {
    return static_cast<held_by>(worker + 1);
}

inline record record_of(world const& w, image const& i, std::shared_ptr<intent const> const& wanted,
                        version at) {
    record r;
    r.intent = wanted;
    r.operation = the_operation;
    r.version = at;
    r.state = i.state;
    r.concern = i.reviewed_for;
    r.reason = i.reason;
    r.came_from = i.came_from;
    r.ever_confirmed = i.ever_confirmed;
    r.cancel_requested = i.cancel_requested;
    r.restored = i.restored;
    r.generation = i.generation;
    r.extra_attempts = i.extra_attempts;
    r.claim = claim_of(i.claim);
    for (unsigned a = 0; a != i.attempts; ++a) {
        auto const& made = i.attempt_of[a];
        r.attempts.push_back({time_of(made.sent_at), guarantee_of(w, made.guarantee), made.outcome,
                              made.generation});
    }
    r.deadline = time_of(i.deadline);
    r.confirmed_at = time_of(i.confirmed_at);
    r.next_check = time_of(i.next_check);
    if (i.generation > 1) r.provider_key = provider_key(i.generation);
    if (i.receipt >= 0) r.receipt = receipt_of(i.receipt);
    if (i.generation > 1 || i.set_aside != 0) {
        r.edit_notes([&](case_notes& notes) {
            for (unsigned g = 1; g < i.generation; ++g)
                notes.former_keys.push_back(provider_key(g));
            for (tick e = 0; e != 8; ++e)
                if ((i.set_aside >> e & 1) != 0) notes.set_aside.push_back(receipt_of(e));
        });
    }
    return r;
}

inline image image_of(record const& r) {
    image i;
    i.state = r.state;
    i.reviewed_for = r.concern;
    // A reason decides nothing but whether a contradiction is known, and whose the thing at our
    // name is.
    bool const contradicted = r.state == state_id::in_review && r.concern != concern::doubt;
    if (contradicted || r.existed_before_us()) i.reason = r.reason;
    i.came_from = r.came_from;
    i.ever_confirmed = r.ever_confirmed;
    i.cancel_requested = r.cancel_requested;
    i.restored = r.restored;
    i.generation = static_cast<byte>(r.generation);
    i.extra_attempts = static_cast<byte>(r.extra_attempts);
    i.claim = holder_of(r.claim);
    if (r.attempts.size() > most_attempts) std::abort();
    i.attempts = static_cast<byte>(r.attempts.size());
    for (unsigned a = 0; a != i.attempts; ++a) {
        auto const& made = r.attempts[a];
        i.attempt_of[a] = {tick_of(made.sent_at), made.outcome, made.guarantee.kind,
                           static_cast<byte>(made.generation)};
    }
    i.deadline = tick_of(r.deadline);
    i.confirmed_at = tick_of(r.confirmed_at);
    i.next_check = tick_of(r.next_check);
    i.receipt = effect_of_receipt(r.receipt);
    for (auto const& receipt : r.notes_or_none().set_aside)
        i.set_aside = static_cast<byte>(i.set_aside | 1U << effect_of_receipt(receipt));
    return i;
}

} // namespace walk

#endif
