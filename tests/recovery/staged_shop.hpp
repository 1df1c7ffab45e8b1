// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef TESTS_RECOVERY_STAGED_SHOP_HPP
#define TESTS_RECOVERY_STAGED_SHOP_HPP

#include <recovery/by_hand.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

// A shop whose program stages something for each order, and removes it once the order surely was
// not placed: every call of that hook is kept, with what a power cut would take at that moment.

namespace scene {

struct cleaning {
    struct call {
        identity of;
        state_id state;
        rule why;
        std::string request;
        std::size_t unflushed;
    };
    std::vector<call> calls{};
    std::function<bool(unapplied_operation const&)> then{}; ///< what the hook does; none: true
    lossy_storage* journal = nullptr;
};

struct cleaner {
    std::shared_ptr<cleaning> seen;
    bool on_unapplied(unapplied_operation const& u) {
        auto const open = seen->journal != nullptr ? seen->journal->unflushed() : 0;
        seen->calls.push_back({u.identity, u.state, u.why, std::string(u.request), open});
        return seen->then ? seen->then(u) : true;
    }
};

template <class Contract, class Provider = shop_of<Contract>>
struct staged_shop : one_shop<Contract, Provider> {
    template <class Storage>
    using over = recovery<policies<Provider, Storage, exact_fingerprint, bounded_budget,
                                   manual_clock, listener, cleaner>>;
    using process = over<lossy_storage&>;

    explicit staged_shop(Contract documented) : one_shop<Contract, Provider>(documented) {
        hook->journal = &this->journal;
    }

    process start() { return start_over<lossy_storage&>(this->journal); }
    /// Over a storage that does something in the middle.
    template <class Storage> over<Storage> start_over(Storage storage) {
        return over<Storage>(
            {this->shop, storage, {}, this->budget, this->clock, this->ears, {hook}});
    }

    auto run(run_options const& options = {}) {
        auto p = start();
        return p.run(this->id, this->request, options);
    }
    auto reconcile() {
        auto p = start();
        return p.reconcile(this->id);
    }
    auto cancel() {
        auto p = start();
        return p.cancel(this->id);
    }
    /// A cycle of recovery. Returns: what it ran.
    std::vector<identity> resume() {
        std::vector<identity> ran;
        auto p = start();
        (void)p.resume_all([&](identity const& who, auto const&) { ran.push_back(who); });
        return ran;
    }
    /// What a visit shows.
    std::vector<record> shown() {
        std::vector<record> all;
        auto p = start();
        (void)p.unsettled([&](unsettled_operation const& u) { all.push_back(u.stored); });
        return all;
    }
    /// The same shop, for a program without hooks.
    one_shop<Contract, Provider>& plain() { return *this; }
    std::size_t calls() const { return hook->calls.size(); }

    std::shared_ptr<cleaning> hook = std::make_shared<cleaning>();
};

template <class C> staged_shop(C) -> staged_shop<C>;

} // namespace scene

#endif
