// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef INDOUBT_TESTING_SAMPLE_RECORDS_HPP
#define INDOUBT_TESTING_SAMPLE_RECORDS_HPP

#include <indoubt/core/record.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

// Records for tests of storages, and the comparison that tells whether one came back whole.

namespace indoubt::testing {

/// A record with what every record has, and nothing else.
inline record plain_record(identity id, std::uint64_t operation, version v = {1, 1}) {
    record r;
    r.intent = std::make_shared<intent const>(
        intent{std::move(id), "shop/orders", R"({"item":7})", "a fingerprint", "exact/1"});
    r.operation = operation;
    r.version = v;
    return r;
}

/// Bytes that a careless storage loses: NUL, a quote, a new line, half a UTF-8 character.
inline std::string awkward_bytes(std::string_view name) {
    using namespace std::string_view_literals;
    return std::string(name).append("\0'\"%\n\r\t\\\x80\xc3"sv).append(1, '\0');
}

/// A record in which no field has its default, and many have an extreme value.
inline record full_record(identity id, std::uint64_t operation, version v = {1, 1}) {
    using namespace std::chrono_literals;
    auto const moment = [](std::int64_t ms) { return time_point(milliseconds(ms)); };
    constexpr auto largest = std::numeric_limits<std::uint64_t>::max();

    record r = plain_record(std::move(id), operation, v);
    r.intent = std::make_shared<intent const>(
        intent{r.identity(), awkward_bytes("target"), awkward_bytes("request"),
               awkward_bytes("fingerprint"), awkward_bytes("rule")});
    r.state = state_id::in_review;
    r.basis = basis::person;
    r.concern = concern::effect_missing;
    r.reason = rule::effect_missing;
    r.came_from = state_id::confirmed;
    r.ever_confirmed = r.cancel_requested = r.clean_up_due = r.restored = true;
    r.hook_due = r.tombstone = true;
    r.generation = std::numeric_limits<std::uint32_t>::max();
    r.extra_attempts = std::numeric_limits<std::uint32_t>::max() - 1;
    r.claim = {.epoch = std::numeric_limits<std::uint32_t>::max() - 2, .holder = largest};
    r.attempts = {
        {.sent_at = moment(1), .guarantee = {}, .outcome = attempt_outcome_id::not_sent},
        {.sent_at = moment(1'700'000'000'123),
         .guarantee = {guarantee_kind::by_key, 24h, 10min, largest},
         .outcome = attempt_outcome_id::applied,
         .generation = 2},
        {.sent_at = time_point::max(),
         .guarantee = {guarantee_kind::by_state, milliseconds::max(), 1ms, 1},
         .outcome = attempt_outcome_id::declared_not_applied,
         .generation = std::numeric_limits<std::uint32_t>::max()},
    };
    r.begun_at = moment(-1);
    r.written_at = moment(1'700'000'000'001);
    r.deadline = moment(1'700'000'000'002);
    r.confirmed_at = moment(1'700'000'000'003);
    r.next_check = time_point::min();
    r.provider_key = awkward_bytes("provider key");
    r.receipt = awkward_bytes("receipt");
    r.edit_notes([](case_notes& n) {
        n.hints = awkward_bytes("hints");
        n.target_id = awkward_bytes("target id");
        n.remarks = awkward_bytes("remarks");
        n.owner = awkward_bytes("owner");
        n.former_keys = {"the first key", awkward_bytes("the second key"), ""};
        n.set_aside = {awkward_bytes("a receipt"), "another receipt"};
        n.decisions = {{"rule out", "ann", "asked them", "", time_point(milliseconds(5))},
                       {awkward_bytes("what"), awkward_bytes("who"), awkward_bytes("why"),
                        awkward_bytes("id"), time_point::max()}};
    });
    return r;
}

inline bool same(intent const& a, intent const& b) {
    auto const& [identity, target, request, fingerprint, fingerprint_rule] = a;
    return identity == b.identity && target == b.target && request == b.request &&
           fingerprint == b.fingerprint && fingerprint_rule == b.fingerprint_rule;
}

inline bool same(attempt_record const& a, attempt_record const& b) {
    auto const& [sent_at, guarantee, outcome, generation] = a;
    return sent_at == b.sent_at && guarantee == b.guarantee && outcome == b.outcome &&
           generation == b.generation;
}

inline bool same(decision const& a, decision const& b) {
    auto const& [what, who, why, id, at] = a;
    return what == b.what && who == b.who && why == b.why && id == b.id && at == b.at;
}

/// No notes and empty notes are the same.
inline bool same(case_notes const& a, case_notes const& b) {
    auto const& [hints, target_id, remarks, owner, former_keys, set_aside, decisions] = a;
    return hints == b.hints && target_id == b.target_id && remarks == b.remarks &&
           owner == b.owner && former_keys == b.former_keys && set_aside == b.set_aside &&
           std::ranges::equal(decisions, b.decisions,
                              [](auto const& x, auto const& y) { return same(x, y); });
}

/// Every field of both is equal. Names every member, so that a record with a new one does not
/// compile here until it is compared.
inline bool same(record const& a, record const& b) {
    auto const& [intent, operation, version, state, basis, concern, reason, came_from,
                 ever_confirmed, cancel_requested, clean_up_due, restored, hook_due, tombstone,
                 generation, extra_attempts, claim, attempts, begun_at, written_at, deadline,
                 confirmed_at, next_check, provider_key, receipt, notes] = a;
    return intent && b.intent && same(*intent, *b.intent) && operation == b.operation &&
           version == b.version && state == b.state && basis == b.basis && concern == b.concern &&
           reason == b.reason && came_from == b.came_from && ever_confirmed == b.ever_confirmed &&
           cancel_requested == b.cancel_requested && clean_up_due == b.clean_up_due &&
           restored == b.restored && hook_due == b.hook_due && tombstone == b.tombstone &&
           generation == b.generation && extra_attempts == b.extra_attempts && claim == b.claim &&
           std::ranges::equal(attempts, b.attempts,
                              [](auto const& x, auto const& y) { return same(x, y); }) &&
           begun_at == b.begun_at && written_at == b.written_at && deadline == b.deadline &&
           confirmed_at == b.confirmed_at && next_check == b.next_check &&
           provider_key == b.provider_key && receipt == b.receipt &&
           same(notes ? *notes : case_notes{}, b.notes_or_none());
}

} // namespace indoubt::testing

#endif
