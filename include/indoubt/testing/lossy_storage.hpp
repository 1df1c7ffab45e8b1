// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef INDOUBT_TESTING_LOSSY_STORAGE_HPP
#define INDOUBT_TESTING_LOSSY_STORAGE_HPP

#include <indoubt/policy/storage.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// A journal in memory that forgets like a real one: what was written and not flushed goes with a
// power cut, from a chosen point on. For tests that crash a program at every step and look at what
// the next life makes of what is left.

namespace indoubt::testing {

/// A storage whose power can be cut and whose n-th step can fail.
///
/// Every insert, replace, bind, shrink_settled and flush is one step, counted from 1. A test that
/// wants all of them runs once to learn steps(), then once for each with fail_at(n).
///
/// It stays in place through power_cut(): programs hold it by reference, and whoever used it
/// before the cut must not use it after.
///
/// Thread safety: all functions may be called from several threads at once.
class lossy_storage {
public:
    lossy_storage() = default;
    lossy_storage(lossy_storage const&) = delete;
    lossy_storage& operator=(lossy_storage const&) = delete;

    // ---- what a test does with it --------------------------------------------------------------

    /// How many writes a power cut would take now.
    std::size_t unflushed() const {
        std::scoped_lock lock(mutex_);
        return undo_.size();
    }

    /// How many steps were taken, over all lives.
    std::uint64_t steps() const {
        std::scoped_lock lock(mutex_);
        return steps_;
    }

    /// Effects: of the unflushed writes the first `kept` survive, the later ones never happened.
    /// A new epoch begins, nothing fails any more, and what survived is durable.
    void power_cut(std::size_t kept = 0) {
        std::scoped_lock lock(mutex_);
        while (undo_.size() > kept) {
            take_back(undo_.back());
            undo_.pop_back();
        }
        undo_.clear();
        ++epoch_;
        failing_step_ = 0;
        poisoned_ = false;
        restored_ = false;
    }

    /// Effects: as power_cut(), but what comes back is opened as a restored copy.
    void restore(std::size_t kept = 0) {
        power_cut(kept);
        std::scoped_lock lock(mutex_);
        restored_ = true;
        for (auto& [id, r] : records_)
            r.restored |= may_have_gone_on(r);
    }

    /// Effects: the step with this number fails, if it lies ahead, and poisons the storage until
    /// the next power cut. A write that fails may still have reached the disk: it is counted
    /// among the unflushed ones, so that power_cut() can keep or drop it. The same holds for
    /// everything before a flush that fails.
    void fail_at(std::uint64_t step) {
        std::scoped_lock lock(mutex_);
        failing_step_ = step;
    }

    // ---- the storage ---------------------------------------------------------------------------

    storage_facts facts() const {
        std::scoped_lock lock(mutex_);
        return {.epoch = epoch_, .high_water = high_water_, .restored = restored_};
    }

    result<std::optional<record>> insert(record const& r) {
        std::scoped_lock lock(mutex_);
        bool const fails = next_step_fails();
        if (poisoned_) return failed();
        auto const found = records_.find(r.identity());
        if (found != records_.end() && !fails) return std::optional<record>(found->second);
        if (found == records_.end()) {
            undo_.push_back({.identity = r.identity(), .high_water = high_water_});
            records_.emplace(r.identity(), r);
            high_water_ = std::max(high_water_, r.written_at);
        }
        if (fails) return fail();
        return std::optional<record>();
    }

    result<void> replace(record const& r, version expected) {
        std::scoped_lock lock(mutex_);
        bool const fails = next_step_fails();
        if (poisoned_) return failed();
        auto const found = records_.find(r.identity());
        bool const fits = found != records_.end() && found->second.version == expected &&
                          found->second.operation == r.operation;
        if (fits) {
            undo_.push_back({.before = std::exchange(found->second, r),
                             .identity = r.identity(),
                             .high_water = high_water_});
            high_water_ = std::max(high_water_, r.written_at);
        }
        if (fails) return fail();
        if (!fits) return error(rule::stale_version);
        return success();
    }

    result<std::optional<record>> find(identity const& id) {
        std::scoped_lock lock(mutex_);
        if (poisoned_) return failed();
        auto const found = records_.find(id);
        if (found == records_.end()) return std::optional<record>();
        return std::optional<record>(found->second);
    }

    result<bool> is_current(identity const& id, version v) {
        std::scoped_lock lock(mutex_);
        if (poisoned_) return failed();
        auto const found = records_.find(id);
        return found != records_.end() && found->second.version == v;
    }

    result<bool> bind(std::string_view name, identity const& id) {
        std::scoped_lock lock(mutex_);
        bool const fails = next_step_fails();
        if (poisoned_) return failed();
        auto const [place, is_new] = names_.emplace(name, id);
        if (is_new) undo_.push_back({.name = std::string(name), .high_water = high_water_});
        if (fails) return fail();
        return place->second == id;
    }

    template <class Visitor> result<std::size_t> visit_unsettled(page p, Visitor&& visit) {
        std::vector<record> shown;
        {
            std::scoped_lock lock(mutex_);
            if (poisoned_) return failed();
            for (auto const& [id, r] : records_) {
                if (r.operation > p.after && is_unsettled(r)) shown.push_back(r);
            }
        }
        std::ranges::sort(shown, {}, &record::operation);
        if (shown.size() > p.most) shown.erase(shown.begin() + to_offset(p.most), shown.end());
        for (record const& r : shown)
            visit(r);
        return shown.size();
    }

    /// All that one call shrinks is one write: a power cut takes it back as a whole.
    result<std::size_t> shrink_settled(time_point written_before, std::size_t most) {
        std::scoped_lock lock(mutex_);
        bool const fails = next_step_fails();
        if (poisoned_) return failed();
        std::vector<record> whole;
        for (auto const& [id, r] : records_)
            if (may_shrink(r, written_before)) whole.push_back(r);
        std::ranges::sort(whole, written_earlier);
        if (whole.size() > most) whole.erase(whole.begin() + to_offset(most), whole.end());
        for (record const& r : whole)
            records_.at(r.identity()) = shrunk(r, epoch_);
        auto const count = whole.size();
        if (count != 0) undo_.push_back({.whole = std::move(whole), .high_water = high_water_});
        if (fails) return fail();
        return count;
    }

    result<void> flush() {
        std::scoped_lock lock(mutex_);
        bool const fails = next_step_fails();
        if (poisoned_) return failed();
        if (fails) return fail();
        undo_.clear();
        return success();
    }

private:
    /// How to take one write back: a record as it was before, or none if it was inserted; or a
    /// name that was bound; or the records that were shrunk, as they were.
    struct undo {
        std::optional<record> before{};
        std::optional<std::string> name{};
        std::vector<record> whole{};
        indoubt::identity identity{};
        time_point high_water{};
    };

    static std::ptrdiff_t to_offset(std::size_t n) { return static_cast<std::ptrdiff_t>(n); }

    void take_back(undo& u) {
        if (u.name) {
            names_.erase(*u.name);
        } else if (!u.whole.empty()) {
            for (record& r : u.whole)
                records_.at(r.identity()) = std::move(r);
        } else if (u.before) {
            records_.insert_or_assign(u.identity, std::move(*u.before));
        } else {
            records_.erase(u.identity);
        }
        high_water_ = u.high_water;
    }

    bool next_step_fails() { return ++steps_ == failing_step_; }

    error fail() {
        poisoned_ = true;
        return failed();
    }
    static error failed() {
        return error(rule::storage_failed).saying("a failure that was asked for");
    }

    mutable std::mutex mutex_;
    std::map<identity, record> records_;
    std::map<std::string, identity, std::less<>> names_;
    std::vector<undo> undo_; ///< one for each unflushed write, in the order they were made
    std::uint64_t steps_ = 0;
    std::uint64_t failing_step_ = 0;
    std::uint32_t epoch_ = 1;
    time_point high_water_{};
    bool poisoned_ = false;
    bool restored_ = false;
};

} // namespace indoubt::testing

#endif
