// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef INDOUBT_ADAPTER_LOG_ENTRY_HPP
#define INDOUBT_ADAPTER_LOG_ENTRY_HPP

#include <indoubt/adapter/log/bytes.hpp>
#include <indoubt/adapter/log/format.hpp>
#include <indoubt/core/record.hpp>

// All of xxHash is compiled into the program: no library is linked.
#ifndef XXH_INLINE_ALL
#define XXH_INLINE_ALL
#endif
#include <xxhash.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// Records and names as the entries of a log, and back. A change refers to the entry that holds the
// record's intent, so that an update costs no more than what can change.

namespace indoubt::detail {

/// What the index knows an identity or a name by.
struct log_digest {
    std::uint64_t high = 0, low = 0;
    friend bool operator==(log_digest const&, log_digest const&) = default;
};

/// The lengths keep {"a", "bc"} and {"ab", "c"} apart; the seed keeps names and identities apart.
inline log_digest log_digest_of(identity const& id) {
    char both[2 * longest_name + 2];
    std::size_t const scope = std::min(id.scope.size(), longest_name);
    std::size_t const key = std::min(id.key.size(), longest_name);
    both[0] = static_cast<char>(scope);
    std::memcpy(both + 1, id.scope.data(), scope);
    std::memcpy(both + 1 + scope, id.key.data(), key);
    auto const h = XXH3_128bits_withSeed(both, 1 + scope + key, 1);
    return {h.high64, h.low64};
}
inline log_digest log_digest_of(std::string_view name) {
    auto const h = XXH3_128bits_withSeed(name.data(), name.size(), 2);
    return {h.high64, h.low64};
}

/// Where an entry stands: segment and offset in it. 0 is nowhere.
using log_place = std::uint64_t;
inline constexpr unsigned log_offset_bits = 26; // of the largest segment
constexpr log_place place_of(std::uint64_t segment, std::uint64_t offset) {
    return segment << log_offset_bits | offset;
}
constexpr std::uint64_t segment_of(log_place p) {
    return p >> log_offset_bits;
}
constexpr std::uint64_t offset_of(log_place p) {
    return p & ((std::uint64_t{1} << log_offset_bits) - 1);
}

/// Which members of a record are not as they are at first; the others are not written.
enum log_member : std::uint32_t {
    has_basis = 1U << 0U,
    has_concern = 1U << 1U,
    has_reason = 1U << 2U,
    has_came_from = 1U << 3U,
    has_generation = 1U << 4U,
    has_extra_attempts = 1U << 5U,
    has_claim = 1U << 6U,
    has_attempts = 1U << 7U,
    has_deadline = 1U << 8U,
    has_confirmed_at = 1U << 9U,
    has_next_check = 1U << 10U,
    has_provider_key = 1U << 11U,
    has_receipt = 1U << 12U,
    has_notes = 1U << 13U,
    all_members = (1U << 14U) - 1
};

inline void put_notes(log_writer& w, case_notes const& n) {
    auto const& [hints, target_id, remarks, owner, former_keys, set_aside, decisions] = n;
    for (std::string const* text : {&hints, &target_id, &remarks, &owner})
        w.text(*text);
    for (auto const* list : {&former_keys, &set_aside}) {
        w.number(list->size());
        for (auto const& text : *list)
            w.text(text);
    }
    w.number(decisions.size());
    for (auto const& [what, who, why, id, at] : decisions) {
        for (std::string const* text : {&what, &who, &why, &id})
            w.text(*text);
        w.moment(at, {});
    }
}

inline std::shared_ptr<case_notes const> take_notes(log_reader& in) {
    auto n = std::make_shared<case_notes>();
    for (std::string* text : {&n->hints, &n->target_id, &n->remarks, &n->owner})
        *text = in.text();
    for (auto* list : {&n->former_keys, &n->set_aside}) {
        for (auto left = in.at_most(in.left()); left != 0 && in.good(); --left)
            list->emplace_back(in.text());
    }
    for (auto left = in.at_most(in.left()); left != 0 && in.good(); --left) {
        decision& d = n->decisions.emplace_back();
        for (std::string* text : {&d.what, &d.who, &d.why, &d.id})
            *text = in.text();
        d.at = in.moment({});
    }
    return n;
}

inline void put_attempts(log_writer& w, record const& r) {
    w.number(r.attempts.size());
    for (auto const& [sent_at, guarantee, outcome, generation] : r.attempts) {
        w.moment(sent_at, r.begun_at);
        w.byte(static_cast<std::uint8_t>(static_cast<unsigned>(guarantee.kind) << 4U |
                                         static_cast<unsigned>(outcome)));
        w.difference(guarantee.lasts.count());
        w.difference(guarantee.arrives_within.count());
        if (guarantee.kind != guarantee_kind::none || guarantee.domain != 0) {
            w.byte(1);
            w.fixed(guarantee.domain);
        } else {
            w.byte(0);
        }
        w.number(generation);
    }
}

inline void take_attempts(log_reader& in, record& r) {
    for (auto left = in.at_most(in.left()); left != 0 && in.good(); --left) {
        attempt_record& a = r.attempts.emplace_back();
        a.sent_at = in.moment(r.begun_at);
        std::uint8_t const both = in.byte();
        a.guarantee.kind = guarantee_kind{static_cast<std::uint8_t>(both >> 4U)};
        a.outcome = attempt_outcome_id{static_cast<std::uint8_t>(both & 15U)};
        a.guarantee.lasts = milliseconds(in.difference());
        a.guarantee.arrives_within = milliseconds(in.difference());
        if (in.byte() != 0) a.guarantee.domain = in.fixed();
        a.generation = in.at_most(std::numeric_limits<std::uint32_t>::max());
        if (a.guarantee.kind > guarantee_kind::by_state ||
            a.outcome > attempt_outcome_id::declared_not_applied) {
            return (void)in.take(in.left() + 1); // what cannot have been written is bad
        }
    }
}

/// Everything of a record but its intent and its number.
inline void put_state(log_writer& w, record const& r) {
    // Names every member: a record with a new one does not compile here until it is stored.
    auto const& [intent, operation, version, state, basis, concern, reason, came_from,
                 ever_confirmed, cancel_requested, clean_up_due, restored, hook_due, tombstone,
                 generation, extra_attempts, claim, attempts, begun_at, written_at, deadline,
                 confirmed_at, next_check, provider_key, receipt, notes] = r;
    std::uint32_t const members =
        (basis != indoubt::basis::none ? has_basis : 0U) |
        (concern != indoubt::concern::none ? has_concern : 0U) |
        (reason != rule::none ? has_reason : 0U) |
        (came_from != state_id::none ? has_came_from : 0U) |
        (generation != 1 ? has_generation : 0U) | (extra_attempts != 0 ? has_extra_attempts : 0U) |
        (claim != indoubt::claim{} ? has_claim : 0U) | (!attempts.empty() ? has_attempts : 0U) |
        (deadline != time_point::max() ? has_deadline : 0U) |
        (confirmed_at != time_point{} ? has_confirmed_at : 0U) |
        (next_check != time_point{} ? has_next_check : 0U) |
        (!provider_key.empty() ? has_provider_key : 0U) | (!receipt.empty() ? has_receipt : 0U) |
        (notes ? has_notes : 0U);
    w.number(version.epoch);
    w.number(version.counter);
    w.byte(static_cast<std::uint8_t>(state));
    w.byte(static_cast<std::uint8_t>(ever_confirmed | cancel_requested << 1 | clean_up_due << 2 |
                                     restored << 3 | hook_due << 4 | tombstone << 5));
    w.number(members);
    w.moment(begun_at, {});
    w.moment(written_at, begun_at);
    if (members & has_basis) w.byte(static_cast<std::uint8_t>(basis));
    if (members & has_concern) w.byte(static_cast<std::uint8_t>(concern));
    if (members & has_reason) w.byte(static_cast<std::uint8_t>(reason));
    if (members & has_came_from) w.byte(static_cast<std::uint8_t>(came_from));
    if (members & has_generation) w.number(generation);
    if (members & has_extra_attempts) w.number(extra_attempts);
    if (members & has_claim) {
        w.number(claim.epoch);
        w.number(claim.holder);
    }
    if (members & has_attempts) put_attempts(w, r);
    if (members & has_deadline) w.moment(deadline, begun_at);
    if (members & has_confirmed_at) w.moment(confirmed_at, begun_at);
    if (members & has_next_check) w.moment(next_check, begun_at);
    if (members & has_provider_key) w.text(provider_key);
    if (members & has_receipt) w.text(receipt);
    if (members & has_notes) put_notes(w, *notes);
}

/// Returns: false for what put_state cannot have written.
inline bool take_state(log_reader& in, record& r) {
    constexpr auto most = std::numeric_limits<std::uint32_t>::max();
    r.version.epoch = in.at_most(most);
    r.version.counter = in.at_most(most);
    r.state = state_id{in.byte()};
    std::uint8_t const flags = in.byte();
    r.ever_confirmed = (flags & 1U) != 0;
    r.cancel_requested = (flags & 2U) != 0;
    r.clean_up_due = (flags & 4U) != 0;
    r.restored = (flags & 8U) != 0;
    r.hook_due = (flags & 16U) != 0;
    r.tombstone = (flags & 32U) != 0;
    auto const members = in.at_most<std::uint32_t>(all_members);
    r.begun_at = in.moment({});
    r.written_at = in.moment(r.begun_at);
    if (members & has_basis) r.basis = basis{in.byte()};
    if (members & has_concern) r.concern = concern{in.byte()};
    if (members & has_reason) r.reason = rule{in.byte()};
    if (members & has_came_from) r.came_from = state_id{in.byte()};
    if (members & has_generation) r.generation = in.at_most(most);
    if (members & has_extra_attempts) r.extra_attempts = in.at_most(most);
    if (members & has_claim) {
        r.claim.epoch = in.at_most(most);
        r.claim.holder = in.number();
    }
    if (members & has_attempts) take_attempts(in, r);
    if (members & has_deadline) r.deadline = in.moment(r.begun_at);
    if (members & has_confirmed_at) r.confirmed_at = in.moment(r.begun_at);
    if (members & has_next_check) r.next_check = in.moment(r.begun_at);
    if (members & has_provider_key) r.provider_key = in.text();
    if (members & has_receipt) r.receipt = in.text();
    if (members & has_notes) r.notes = take_notes(in);
    bool const possible = r.state != state_id::none && r.state <= state_id::abandoned &&
                          r.came_from <= state_id::abandoned && r.basis <= basis::person &&
                          r.concern <= concern::effect_missing && flags < 64;
    return possible && in.good() && in.at_end();
}

// ---- entries ------------------------------------------------------------------------------------

/// Appends an entry: its kind, the length of what follows, and what put(log_writer&) writes.
template <class Put> void put_entry(log_buffer& out, log_format::entry kind, Put put) {
    constexpr std::size_t length_bytes = 4;
    *out.add(1) = static_cast<char>(kind);
    out.add(length_bytes);
    std::size_t const from = out.size();
    log_writer w(out);
    put(w);
    store(out.data() + from - length_bytes, static_cast<std::uint32_t>(out.size() - from));
}

inline void put_whole(log_buffer& out, record const& r) {
    put_entry(out, log_format::entry::whole, [&](log_writer& w) {
        auto const& [id, target, request, fingerprint, fingerprint_rule] = *r.intent;
        w.fixed(r.operation);
        for (std::string const* text :
             {&id.scope, &id.key, &target, &request, &fingerprint, &fingerprint_rule})
            w.text(*text);
        put_state(w, r);
    });
}

inline void put_change(log_buffer& out, log_digest const& d, log_place whole, record const& r) {
    put_entry(out, log_format::entry::change, [&](log_writer& w) {
        w.fixed(d.high);
        w.fixed(d.low);
        w.fixed(whole);
        put_state(w, r);
    });
}

inline void put_retired(log_buffer& out, std::uint64_t segment) {
    put_entry(out, log_format::entry::retired, [&](log_writer& w) { w.fixed(segment); });
}

inline void put_name(log_buffer& out, std::string_view name, identity const& id) {
    put_entry(out, log_format::entry::name, [&](log_writer& w) {
        w.text(name);
        w.text(id.scope);
        w.text(id.key);
    });
}

inline constexpr std::size_t log_entry_header = 5;

/// One entry, as it stands in a frame.
struct log_entry {
    log_format::entry kind{};
    std::string_view payload{};
};

/// Takes the next one off the front. Returns: none if it does not fit.
inline std::optional<log_entry> next_entry(std::string_view& bytes) {
    if (bytes.size() < log_entry_header) return std::nullopt;
    auto const length = load<std::uint32_t>(bytes.data() + 1);
    if (length > bytes.size() - log_entry_header) return std::nullopt;
    log_entry const e{log_format::entry{static_cast<std::uint8_t>(bytes.front())},
                      bytes.substr(log_entry_header, length)};
    bytes.remove_prefix(log_entry_header + length);
    return e;
}

/// Evidence is written twice: that something was sent, how it ended, and what a person said.
inline bool is_evidence(record const& r) {
    return r.state != state_id::pending;
}

/// At least what its entry takes.
inline std::size_t most_bytes(record const& r) {
    auto const& i = *r.intent;
    std::size_t n = 512 + i.request.size() + i.fingerprint.size() + i.fingerprint_rule.size() +
                    i.target.size() + r.receipt.size() + r.provider_key.size() +
                    i.identity.scope.size() + i.identity.key.size() + 64 * r.attempts.size();
    if (r.notes) {
        auto const& [hints, target_id, remarks, owner, former_keys, set_aside, decisions] =
            *r.notes;
        n += hints.size() + target_id.size() + remarks.size() + owner.size() + 128;
        for (auto const* list : {&former_keys, &set_aside})
            for (auto const& text : *list)
                n += text.size() + 10;
        for (auto const& d : decisions)
            n += d.what.size() + d.who.size() + d.why.size() + d.id.size() + 64;
    }
    return n;
}

/// The identity in the payload of a whole entry, without the rest.
inline identity identity_of_whole(std::string_view payload) {
    log_reader in(payload);
    (void)in.fixed();
    std::string scope(in.text());
    return {std::move(scope), std::string(in.text())};
}
inline bool is_whole_of(std::string_view payload, identity const& id) {
    log_reader in(payload);
    (void)in.fixed();
    return in.text() == id.scope && in.text() == id.key && in.good();
}

inline bool take_whole(std::string_view payload, record& r) {
    log_reader in(payload);
    r.operation = in.fixed();
    auto inside = std::make_shared<intent>();
    for (std::string* text : {&inside->identity.scope, &inside->identity.key, &inside->target,
                              &inside->request, &inside->fingerprint, &inside->fingerprint_rule})
        *text = in.text();
    r.intent = std::move(inside);
    return take_state(in, r);
}

/// A change: whose, where its intent stands, and the state.
struct log_change {
    log_digest digest{};
    log_place whole = 0;
    std::string_view state{};
};
inline std::optional<log_change> take_change(std::string_view payload) {
    log_reader in(payload);
    log_change c;
    c.digest.high = in.fixed();
    c.digest.low = in.fixed();
    c.whole = in.fixed();
    if (!in.good()) return std::nullopt;
    c.state = payload.substr(payload.size() - in.left());
    return c;
}

} // namespace indoubt::detail

#endif
