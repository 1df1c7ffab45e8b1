// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef INDOUBT_POLICY_STORAGE_HPP
#define INDOUBT_POLICY_STORAGE_HPP

#include <indoubt/core/record.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

// Where a journal keeps its records. A storage stores, compares and flushes; what a record means
// is none of its business.

namespace indoubt {

/// What a storage knows of itself. epoch and restored are fixed while it is open.
struct storage_facts {
    std::uint32_t epoch = 0; ///< at least 1, and never one that this journal has used before
    time_point high_water{}; ///< the largest record::written_at it has ever been given
    bool restored = false;   ///< opened as a restored or cloned copy: see the laws
};

/// Where a visit of unsettled records goes on: after the operation with this number.
struct page {
    std::uint64_t after = 0; ///< record::operation of the last one seen; 0 to start
    std::size_t most = 100;  ///< at most so many records
};

/// Something must still be done: it is pending, uncertain or in review, or a hook is due. That is
/// what a visit shows.
inline bool is_unsettled(record const& r) {
    return r.state == state_id::pending || r.state == state_id::uncertain ||
           r.state == state_id::in_review || r.hook_due;
}

/// In a restored copy another life may have gone on from here: it counts as possibly sent.
inline bool may_have_gone_on(record const& r) {
    return !is_final(r.state);
}

/// Retention may shrink it: it is settled and was last written before this time, and nobody has to
/// do anything more about it. What a person abandoned stays whole.
inline bool may_shrink(record const& r, time_point written_before) {
    bool const settled = r.state == state_id::confirmed || r.state == state_id::rejected ||
                         r.state == state_id::cancelled;
    return settled && !r.hook_due && !r.clean_up_due && !r.tombstone &&
           r.written_at < written_before;
}

/// The order in which records shrink.
inline bool written_earlier(record const& a, record const& b) {
    return std::tie(a.written_at, a.operation) < std::tie(b.written_at, b.operation);
}

/// The record without attempts, without its case but for other names of the effect and decisions
/// that have an id, and without the request where the fingerprint answers for it. The version is
/// the next one in this epoch, so that evidence of the whole record is stale.
inline record shrunk(record r, std::uint32_t epoch) {
    r.tombstone = true;
    r.version = {epoch, r.version.epoch == epoch ? r.version.counter + 1 : 1};
    r.attempts.clear();
    case_notes const& known = r.notes_or_none();
    std::vector<decision> named;
    for (decision const& d : known.decisions)
        if (!d.id.empty()) named.push_back(d); // given again it must change nothing
    if (known.former_keys.empty() && known.set_aside.empty() && named.empty()) {
        r.notes.reset();
    } else {
        case_notes kept;
        kept.former_keys = known.former_keys;
        kept.set_aside = known.set_aside;
        kept.decisions = std::move(named);
        r.notes = std::make_shared<case_notes const>(std::move(kept));
    }
    if (!r.intent->fingerprint.empty()) {
        auto const& [identity, target, request, fingerprint, fingerprint_rule] = *r.intent;
        r.intent = std::make_shared<intent const>(
            intent{identity, target, {}, fingerprint, fingerprint_rule});
    }
    return r;
}

namespace detail {
struct any_visitor {
    void operator()(record const&) const {}
};
} // namespace detail

/// | expression                  | returns                          | effect                     |
/// |-----------------------------|----------------------------------|----------------------------|
/// | s.facts()                   | storage_facts                    | none                       |
/// | s.insert(r)                 | result<std::optional<record>>    | stores r and returns none, |
/// |                             |                                  | or returns what already    |
/// |                             |                                  | stands for r.identity()    |
/// | s.replace(r, expected)      | result<void>                     | stores r if the stored     |
/// |                             |                                  | version is the expected    |
/// |                             |                                  | one: else stale_version    |
/// | s.find(id)                  | result<std::optional<record>>    | none                       |
/// | s.bind(name, id)            | result<bool>                     | true if name now stands,   |
/// |                             |                                  | or stood, for id; false if |
/// |                             |                                  | it stands for another      |
/// | s.visit_unsettled(page, f)  | result<std::size_t>              | f(record const&) for each  |
/// |                             |                                  | record that is_unsettled() |
/// |                             |                                  | and stands after           |
/// |                             |                                  | page.after, in ascending   |
/// |                             |                                  | operation order, at most   |
/// |                             |                                  | page.most; returns how many|
/// | s.flush()                   | result<void>                     | see below                  |
/// | s.is_current(id, version)   | result<bool>, optional           | none; true if find(id)     |
/// |                             |                                  | would show that version    |
/// | s.shrink_settled(t, most)   | result<std::size_t>, optional    | of the records that        |
/// |                             |                                  | may_shrink(r, t) the first |
/// |                             |                                  | in written_earlier order,  |
/// |                             |                                  | at most so many, become    |
/// |                             |                                  | shrunk(r, epoch); returns  |
/// |                             |                                  | how many                   |
///
/// Laws (testing/storage_laws.hpp checks them):
/// - insert, replace, bind and shrink_settled are atomic: of two racing calls one wins, the other
///   hears of it. A crash takes back all that one call shrank, or nothing of it.
/// - replace is stale_version, too, if another record::operation stands for the identity.
/// - What was written is seen by every later call of this handle, flushed or not.
/// - Durability: after flush returns, everything written before it was called survives the death
///   of the process and of the machine. Unflushed writes may vanish, as a suffix of what was
///   written: never one without all the later ones.
/// - identities and names are compared as bytes; a name may hold NUL bytes, an identity never.
/// - record::intent never changes after insert, but for the request that shrink_settled drops: so
///   replace need not store it again. Names that were bound stay bound, whatever shrinks.
/// - A storage that can be opened as a restored or cloned copy sets record::restored then on every
///   record that may_have_gone_on(), and keeps it until a replace clears it, over later opens.
/// - A failed write or flush poisons the handle: every later call is rule::storage_failed.
/// - After a crash: reopening finds all flushed writes and a new, larger epoch.
/// - Thread safety: all functions may be called from several threads at once. A visitor is called
///   without locks held, so that it may call the storage.
/// - Nothing throws; errors are rule::storage_failed with cause(), or rule::stale_version.
template <class S>
concept storage_policy = requires(S& s, record const& r, version v, identity const& id,
                                  std::string_view name, page p, detail::any_visitor visitor) {
    { s.facts() } -> std::same_as<storage_facts>;
    { s.insert(r) } -> std::same_as<result<std::optional<record>>>;
    { s.replace(r, v) } -> std::same_as<result<void>>;
    { s.find(id) } -> std::same_as<result<std::optional<record>>>;
    { s.bind(name, id) } -> std::same_as<result<bool>>;
    { s.visit_unsettled(p, visitor) } -> std::same_as<result<std::size_t>>;
    { s.flush() } -> std::same_as<result<void>>;
};

/// The storage can compare a version without handing out the record.
template <class S>
concept compares_versions = requires(S& s, identity const& id, version v) {
    { s.is_current(id, v) } -> std::same_as<result<bool>>;
};

/// The storage can shrink what is long settled to what answers a repeat.
template <class S>
concept shrinks_settled = requires(S& s, time_point written_before, std::size_t most) {
    { s.shrink_settled(written_before, most) } -> std::same_as<result<std::size_t>>;
};

/// Says in words which functions a storage lacks: one sentence each, with the line to add.
template <class S> constexpr bool explain_storage() {
    constexpr bool facts = requires(S& s) {
        { s.facts() } -> std::same_as<storage_facts>;
    };
    constexpr bool insert = requires(S& s, record const& r) {
        { s.insert(r) } -> std::same_as<result<std::optional<record>>>;
    };
    constexpr bool replace = requires(S& s, record const& r, version v) {
        { s.replace(r, v) } -> std::same_as<result<void>>;
    };
    constexpr bool find = requires(S& s, identity const& id) {
        { s.find(id) } -> std::same_as<result<std::optional<record>>>;
    };
    constexpr bool bind = requires(S& s, std::string_view name, identity const& id) {
        { s.bind(name, id) } -> std::same_as<result<bool>>;
    };
    constexpr bool visit = requires(S& s, page p, detail::any_visitor visitor) {
        { s.visit_unsettled(p, visitor) } -> std::same_as<result<std::size_t>>;
    };
    constexpr bool flush = requires(S& s) {
        { s.flush() } -> std::same_as<result<void>>;
    };
    static_assert(facts, "storage: add  storage_facts facts()");
    static_assert(insert, "storage: add  result<std::optional<record>> insert(record const&)");
    static_assert(replace, "storage: add  result<void> replace(record const&, version expected)");
    static_assert(find, "storage: add  result<std::optional<record>> find(identity const&)");
    static_assert(bind, "storage: add  result<bool> bind(std::string_view, identity const&)");
    static_assert(visit, "storage: add  result<std::size_t> visit_unsettled(page, visitor)");
    static_assert(flush, "storage: add  result<void> flush()");
    return facts && insert && replace && find && bind && visit && flush;
}

} // namespace indoubt

#endif
