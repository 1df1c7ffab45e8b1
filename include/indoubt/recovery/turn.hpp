// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef INDOUBT_RECOVERY_TURN_HPP
#define INDOUBT_RECOVERY_TURN_HPP

#include <indoubt/core/record.hpp>

#include <memory>
#include <utility>

// The calls that this thread is in. A provider, hook or observer that calls the library back about
// the operation it was called for would act on what its own caller is about to write.

namespace indoubt::detail {

class turn {
public:
    turn(void const* recovery, std::shared_ptr<intent const> about)
        : recovery_(recovery), about_(std::move(about)), outer_(innermost()) {
        innermost() = this;
    }
    turn(turn const&) = delete;
    turn& operator=(turn const&) = delete;
    ~turn() { innermost() = outer_; }

    /// False within a call of the same recovery about the same operation. A call by way of another
    /// recovery is like one from another thread: versions and claims tell the two apart.
    bool granted() const {
        for (turn const* t = outer_; t != nullptr; t = t->outer_) {
            if (t->recovery_ == recovery_ && t->about_->identity == about_->identity) return false;
        }
        return true;
    }

private:
    static turn const*& innermost() {
        thread_local turn const* of_this_thread = nullptr;
        return of_this_thread;
    }

    void const* recovery_;
    std::shared_ptr<intent const> about_;
    turn const* outer_;
};

} // namespace indoubt::detail

#endif
