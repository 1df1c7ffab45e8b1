// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef INDOUBT_RECOVERY_WAITING_ROOM_HPP
#define INDOUBT_RECOVERY_WAITING_ROOM_HPP

#include <indoubt/core/identity.hpp>

#include <algorithm>
#include <mutex>
#include <stop_token>
#include <vector>

// Calls that wait for a later moment, so that a cancel can wake them at once.

namespace indoubt::detail {

class waiting_room {
public:
    /// Calls sleep(stop_token); the token is triggered by the caller's own token and by wake(id).
    template <class Sleep>
    void wait(identity const& id, std::stop_token const& callers, Sleep sleep) {
        std::stop_source source;
        std::stop_callback const relay(callers, [&source] { source.request_stop(); });
        seat const mine(*this, {&id, &source});
        sleep(source.get_token());
    }

    void wake(identity const& id) {
        // What a clock does when it is woken is its own business: not under our mutex.
        std::vector<std::stop_source> woken;
        {
            std::scoped_lock const lock(mutex_);
            for (auto const& s : sleepers_) {
                if (*s.id == id) woken.push_back(*s.source);
            }
        }
        for (auto& source : woken)
            source.request_stop();
    }

private:
    struct sleeper {
        identity const* id;
        std::stop_source* source;
    };
    /// Held while asleep; given up on every way out.
    class seat {
    public:
        seat(waiting_room& room, sleeper s) : room_(room), source_(s.source) {
            std::scoped_lock const lock(room_.mutex_);
            room_.sleepers_.push_back(s);
        }
        seat(seat const&) = delete;
        seat& operator=(seat const&) = delete;
        ~seat() {
            std::scoped_lock const lock(room_.mutex_);
            std::erase_if(room_.sleepers_, [&](sleeper const& s) { return s.source == source_; });
        }

    private:
        waiting_room& room_;
        std::stop_source* source_;
    };

    std::mutex mutex_;
    std::vector<sleeper> sleepers_;
};

} // namespace indoubt::detail

#endif
