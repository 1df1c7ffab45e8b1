// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef TESTS_SIMULATION_WALK_DESK_HPP
#define TESTS_SIMULATION_WALK_DESK_HPP

#include "record_image.hpp"

#include <indoubt/adapter/exact_fingerprint.hpp>
#include <indoubt/recovery/journal.hpp>
#include <indoubt/recovery/weigh.hpp>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

// The library as it stands in one state of a world: a journal over a storage that holds one record,
// set up anew for every step.

namespace walk {

/// A storage of one record in memory, and of its image on the disk. Names all stand for the one
/// operation.
class one_record_storage {
public:
    one_record_storage(record r, image const& on_disk, storage_facts const& facts)
        : durable(on_disk), current_(std::move(r)), facts_(facts) {}

    record const& current() const { return current_; }
    /// What stands there from now on, as if it had been written so.
    record exchange(record r) { return std::exchange(current_, std::move(r)); }

    storage_facts facts() const { return facts_; }
    result<std::optional<record>> insert(record const& r) {
        if (holds_one()) return std::optional<record>(current_);
        current_ = r;
        return std::optional<record>();
    }
    result<void> replace(record const& r, version expected) {
        if (current_.version != expected || current_.operation != r.operation) {
            return error(rule::stale_version);
        }
        current_ = r;
        mark = std::max(mark, tick_of(r.written_at));
        return success();
    }
    result<std::optional<record>> find(identity const&) {
        return holds_one() ? std::optional<record>(current_) : std::nullopt;
    }
    result<bool> is_current(identity const&, version v) { return current_.version == v; }
    result<bool> bind(std::string_view, identity const&) { return true; }
    template <class Visitor> result<std::size_t> visit_unsettled(page, Visitor&&) {
        return std::size_t{0};
    }
    result<void> flush() {
        durable = image_of(current_);
        durable_mark = mark;
        return success();
    }

    image durable;
    tick mark = unset, durable_mark = unset;

private:
    bool holds_one() const { return current_.intent != nullptr; }

    record current_;
    storage_facts facts_;
};
static_assert(storage_policy<one_record_storage> && compares_versions<one_record_storage>);

/// So many attempts, and one more for each that a person grants and for each new generation.
struct counted_budget {
    unsigned attempts = 1;

    std::optional<time_point> deadline(time_point) const { return std::nullopt; }
    allowance may_send(record const& r, time_point now, milliseconds) const {
        if (now >= r.deadline) return {.what = allowance::kind::too_late};
        auto const most = attempts + r.extra_attempts + (r.generation - 1);
        if (r.attempts.size() >= most) return {.what = allowance::kind::spent};
        return {.ends_at = r.deadline};
    }
    /// looks: 0 if the run has one left.
    allowance may_look(record const&, time_point, milliseconds, unsigned looks) const {
        return {.what = looks == 0 ? allowance::kind::now : allowance::kind::spent};
    }
};
static_assert(retry_budget_policy<counted_budget>);

using book = journal<one_record_storage, shown_clock>;

class desk {
public:
    desk(world const& w, snapshot const& s)
        : world_(w), shown_{s.opened_wall, s.opened_elapsed},
          storage(
              record_of(w, s.memory, wanted(), stored_version), s.disk,
              {.epoch = this_epoch, .high_water = time_of(s.opened_mark), .restored = w.restored}),
          journal(storage, shown_clock(shown_)) {
        shown_ = {narrow(s.now + s.wall_is), s.now};
        storage.mark = s.mark;
        storage.durable_mark = s.mark_on_disk;
    }
    desk(desk const&) = delete;
    desk& operator=(desk const&) = delete;

    /// What a step has left in the journal.
    void save(snapshot& s) const {
        auto const before = s.as_is();
        bool const written = storage.current().version != stored_version;
        if (written) {
            s.memory = image_of(storage.current());
            for (worker& w : s.workers)
                w.current = false;
        }
        s.disk = storage.durable;
        s.mark = storage.mark;
        s.mark_on_disk = storage.durable_mark;
        if (s.as_is() != before) s.told = {};
    }

    record record_of_copy(image const& i, bool is_current) const {
        return record_of(world_, i, wanted(), is_current ? stored_version : stale_version);
    }

    static std::shared_ptr<intent const> const& wanted() {
        static std::shared_ptr<intent const> const once = [] {
            auto asked = intend("shop", std::string("one"), exact_fingerprint{}).value();
            asked->identity = the_identity;
            return asked;
        }();
        return once;
    }

private:
    world const& world_;
    shown_time shown_;

public:
    one_record_storage storage;
    book journal;
};

} // namespace walk

#endif
