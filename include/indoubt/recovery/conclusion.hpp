// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef INDOUBT_RECOVERY_CONCLUSION_HPP
#define INDOUBT_RECOVERY_CONCLUSION_HPP

#include <indoubt/policy/policies.hpp>
#include <indoubt/recovery/journal.hpp>
#include <indoubt/recovery/telling.hpp>

#include <cstdint>
#include <optional>
#include <utility>

// How a call on one operation ended, until it is told: with a record as it stands, or with a
// failure. Closing it gives the claim up and comes before the flush; announcing it comes after.

namespace indoubt::detail {

template <class Policies> class conclusion {
    using with = parts<Policies>;
    using journal = typename with::journal;

public:
    conclusion(Policies& policies, journal& book) : book_(book), door(policies, book) {}

    bool has_failed() const { return failed_.has_value(); }

    void end(scribe::box r, rule why, time_point again_at = {}) {
        last_ = std::move(r);
        found.why = why;
        found.again_at = again_at;
    }
    void fail(error e) { failed_.emplace(std::move(e)); }

    /// What it ended with, if somebody else has written since. It has not ended then.
    scribe::box overtaken() {
        // What is confirmed nothing takes back unseen.
        if (failed_ || !last_ || last_->state == state_id::confirmed) return nullptr;
        auto const moved_on = book_.has_moved_on(*last_);
        return moved_on && moved_on.value() ? std::move(last_) : nullptr;
    }

    /// Nothing could be asked or done: what the journal says still counts.
    void stay_as_recorded(identity const& id, rule why) {
        last_.reset();
        auto const known = book_.find_record(id);
        fail(!known          ? known.error()
             : known.value() ? error_despite(*known.value(), why)
                             : error(why).of(printable(id)));
    }

    /// holder: of the claim that this call may have made.
    void close(std::uint64_t holder) {
        if (failed_ || last_->claim.holder != holder) return;
        auto released = book_.release_record(*last_);
        if (!released) fail_unflushed(std::move(released).error());
    }

    /// A confirmation that rests on a complete look-up.
    bool is_looked_up() const {
        return last_ && !failed_ && last_->state == state_id::confirmed &&
               last_->basis == basis::looked_up;
    }

    /// flushed: what became of the flush; success if the caller takes what is not flushed yet.
    void announce(result<void> const& flushed) {
        if (!failed_) {
            auto opened = door.open(*last_, flushed);
            if (!opened) fail_unflushed(std::move(opened).error());
        } else if (!flushed && failed_->rule() != rule::storage_failed) {
            fail(flushed.error()); // it would tell a state that is not durable
        }
    }

    typename with::outcome told() const {
        if (failed_) return *failed_;
        return door.outcome(*last_, found);
    }

private:
    void fail_unflushed(error&& e) { fail(door.unflushed(*last_, std::move(e))); }

    journal& book_;
    scribe::box last_{};
    std::optional<error> failed_{};

public:
    telling<Policies> door;
    ending found{};
};

} // namespace indoubt::detail

#endif
