// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef INDOUBT_ADAPTER_MEMORY_STORAGE_HPP
#define INDOUBT_ADAPTER_MEMORY_STORAGE_HPP

#include <indoubt/policy/storage.hpp>

#include <boost/container/deque.hpp>
#include <boost/container/small_vector.hpp>
#include <boost/unordered/unordered_flat_set.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// A journal that lives in memory, for tests and for measuring what the library itself costs. It
// meets every law of a storage but the one that matters in production: nothing survives the
// process, so an operation in doubt when the process dies is forgotten.

namespace indoubt {

namespace detail {

/// A record together with the hash of its identity, so that growing the index reads no record.
struct memory_slot {
    std::size_t hash;
    record* kept;
};

/// An identity whose hash was taken before the lock.
struct memory_key {
    explicit memory_key(indoubt::identity const& id)
        : hash(std::hash<std::string_view>{}(id.scope) * odd +
               std::hash<std::string_view>{}(id.key)),
          identity(id) {}
    std::size_t hash;
    indoubt::identity const& identity;

private:
    static constexpr auto odd = static_cast<std::size_t>(0x9e3779b97f4a7c15U);
};

/// The hash and the equality of the index.
struct by_identity {
    using is_transparent = void;
    using is_avalanching = void; // std::hash of text is: the table need not mix once more

    std::size_t operator()(memory_slot const& s) const { return s.hash; }
    std::size_t operator()(memory_key const& k) const { return k.hash; }
    bool operator()(memory_slot const& a, memory_slot const& b) const {
        return a.kept->identity() == b.kept->identity();
    }
    bool operator()(memory_slot const& s, memory_key const& k) const {
        // A record that came from here shares its intent; otherwise keys differ more often.
        auto const& id = s.kept->identity();
        return &id == &k.identity || (id.key == k.identity.key && id.scope == k.identity.scope);
    }
    bool operator()(memory_key const& k, memory_slot const& s) const { return (*this)(s, k); }
};

/// A name and what it stands for. Names are of middling length: they lie inside.
struct memory_binding {
    memory_binding(std::string_view n, indoubt::identity const& id)
        : text(n.begin(), n.end()), identity(id) {}
    std::string_view name() const { return {text.data(), text.size()}; }

    boost::container::small_vector<char, 64> text;
    indoubt::identity identity;
};
struct memory_name {
    std::size_t hash;
    memory_binding const* kept;
};
/// A name whose hash was taken before the lock; looked up without a copy.
struct memory_name_key {
    explicit memory_name_key(std::string_view n)
        : hash(std::hash<std::string_view>{}(n)), name(n) {}
    std::size_t hash;
    std::string_view name;
};
struct by_name {
    using is_transparent = void;
    using is_avalanching = void;

    std::size_t operator()(memory_name const& n) const { return n.hash; }
    std::size_t operator()(memory_name_key const& k) const { return k.hash; }
    bool operator()(memory_name const& a, memory_name const& b) const {
        return a.kept->name() == b.kept->name();
    }
    bool operator()(memory_name const& n, memory_name_key const& k) const {
        return n.kept->name() == k.name;
    }
    bool operator()(memory_name_key const& k, memory_name const& n) const { return (*this)(n, k); }
};

/// Things that stay where they are, made in blocks: neither growing nor paging moves one.
template <class T>
using memory_pool =
    boost::container::deque<T, void,
                            boost::container::deque_options_t<boost::container::block_size<64U>>>;

} // namespace detail

/// A storage in memory.
///
/// Thread safety: all functions may be called from several threads at once, under one mutex.
/// Errors: only rule::stale_version. Out of memory is std::bad_alloc (with -fno-exceptions the
/// program ends); the storage is then as it was before the call.
/// A child that was forked has a copy of its own: what it writes, the parent never sees.
/// It is handed over by moving, before other threads know of it; a moved-from storage may only
/// be destroyed or assigned to.
class memory_storage {
public:
    memory_storage() : kept_(std::make_unique<contents>()) {}
    memory_storage(memory_storage const&) = delete;
    memory_storage(memory_storage&&) noexcept = default;
    memory_storage& operator=(memory_storage const&) = delete;
    memory_storage& operator=(memory_storage&&) noexcept = default;
    ~memory_storage() = default;

    /// Returns: epoch 1 always, as it is never reopened.
    storage_facts facts() const {
        std::scoped_lock lock(kept_->mutex);
        return {.epoch = 1, .high_water = kept_->high_water};
    }

    /// Effects: stores r unless its identity is known. Returns: what was there before.
    result<std::optional<record>> insert(record const& r) {
        detail::memory_key const key(r.identity());
        std::scoped_lock lock(kept_->mutex);
        auto const found = kept_->index.find(key);
        if (found != kept_->index.end()) return std::optional<record>(*found->kept);
        kept_->add(r, key.hash);
        return std::optional<record>();
    }

    /// Effects: stores r if the version that is stored is the expected one.
    /// Errors: stale_version, also for an identity that was never inserted.
    result<void> replace(record const& r, version expected) {
        detail::memory_key const key(r.identity());
        std::scoped_lock lock(kept_->mutex);
        auto const found = kept_->index.find(key);
        if (found == kept_->index.end()) return error(rule::stale_version);
        record& kept = *found->kept;
        if (kept.version != expected || kept.operation != r.operation) {
            return error(rule::stale_version, kept.state);
        }
        kept.receipt.reserve(r.receipt.size()); // all that may fail comes first: the record that is
        kept.provider_key.reserve(r.provider_key.size()); // stored changes as a whole or not at all
        kept.attempts.reserve(r.attempts.size());
        kept = r;
        kept_->high_water = std::max(kept_->high_water, r.written_at);
        return success();
    }

    result<std::optional<record>> find(identity const& id) {
        detail::memory_key const key(id);
        std::scoped_lock lock(kept_->mutex);
        auto const found = kept_->index.find(key);
        // Copied into its place: a record is not small enough to be moved once more for nothing.
        result<std::optional<record>> out{std::optional<record>()};
        if (found != kept_->index.end()) out.assume_value().emplace(*found->kept);
        return out;
    }

    result<bool> is_current(identity const& id, version v) {
        detail::memory_key const key(id);
        std::scoped_lock lock(kept_->mutex);
        auto const found = kept_->index.find(key);
        return found != kept_->index.end() && found->kept->version == v;
    }

    /// Returns: true if name stands for id, from now on or already; false if for another.
    result<bool> bind(std::string_view name, identity const& id) {
        detail::memory_name_key const key(name);
        std::scoped_lock lock(kept_->mutex);
        auto const found = kept_->names.find(key);
        if (found != kept_->names.end()) return found->kept->identity == id;
        kept_->bindings.emplace_back(name, id);
        kept_->names.insert({key.hash, &kept_->bindings.back()});
        return true;
    }

    /// Effects: calls visit(record const&) for a page of what is unsettled, in the order of
    /// record::operation, without the lock held. Returns: how many.
    template <class Visitor> result<std::size_t> visit_unsettled(page p, Visitor&& visit) {
        std::vector<record> const shown = kept_->unsettled(p);
        for (record const& r : shown)
            visit(r);
        return shown.size();
    }

    /// Effects: the oldest records that may_shrink() become shrunk(), at most so many.
    /// Returns: how many. It looks at every record, so it is slower the more there are.
    result<std::size_t> shrink_settled(time_point written_before, std::size_t most) {
        return kept_->shrink(written_before, most);
    }

    /// Effects: none; what is written is as durable as it gets.
    result<void> flush() { return success(); }

private:
    struct contents {
        void add(record const& r, std::size_t hash) {
            if (in_order.size() == in_order.capacity()) in_order.reserve(2 * in_order.size() + 8);
            records.push_back(r);
            record* const fresh = &records.back();
            index.insert({hash, fresh});
            // Nothing below allocates: a failure above leaves a record that nothing refers to.
            high_water = std::max(high_water, r.written_at);
            auto place = in_order.end();
            if (!in_order.empty() && in_order.back()->operation > r.operation)
                place = std::ranges::upper_bound(in_order, r.operation, {}, number);
            in_order.insert(place, fresh);
        }

        std::vector<record> unsettled(page p) {
            std::vector<record> shown;
            std::scoped_lock lock(mutex);
            auto at = std::ranges::upper_bound(in_order, p.after, {}, number);
            for (; at != in_order.end() && shown.size() < p.most; ++at) {
                if (is_unsettled(**at)) shown.push_back(**at);
            }
            return shown;
        }

        std::size_t shrink(time_point written_before, std::size_t most) {
            std::scoped_lock lock(mutex);
            std::vector<record*> oldest;
            for (record* r : in_order)
                if (may_shrink(*r, written_before)) oldest.push_back(r);
            std::ranges::sort(
                oldest, [](record const* a, record const* b) { return written_earlier(*a, *b); });
            oldest.resize(std::min(oldest.size(), most));
            std::vector<record> small;
            small.reserve(oldest.size());
            for (record const* r : oldest)
                small.push_back(shrunk(*r, 1));
            // All that may fail is done: without attempts a record is moved, not copied.
            for (std::size_t n = 0; n < small.size(); ++n)
                *oldest[n] = std::move(small[n]);
            return small.size();
        }

        static std::uint64_t number(record const* r) { return r->operation; }

        std::mutex mutex;
        detail::memory_pool<record> records;
        std::vector<record*> in_order; ///< ascending record::operation
        boost::unordered_flat_set<detail::memory_slot, detail::by_identity, detail::by_identity>
            index;
        detail::memory_pool<detail::memory_binding> bindings;
        boost::unordered_flat_set<detail::memory_name, detail::by_name, detail::by_name> names;
        time_point high_water{};
    };

    std::unique_ptr<contents> kept_;
};

} // namespace indoubt

#endif
