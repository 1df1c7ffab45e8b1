// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef TESTS_RECOVERY_BATCHES_HPP
#define TESTS_RECOVERY_BATCHES_HPP

#include <recovery/staged_shop.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// Scenes for calls on many operations: a shop that takes several attempts with one call, and what
// must hold for each order of a batch.

namespace scene {

using pairs = std::vector<std::pair<identity, std::string>>;

/// The shop, sending a batch with one call. A script of a call says what each attempt comes to;
/// `answered` of the replies come back.
template <class Contract> struct bulk_shop : shop_of<Contract> {
    using shop_of<Contract>::shop_of;
    using shop_of<Contract>::submit;
    using one = typename shop_of<Contract>::attempt;
    using answers = std::vector<typename shop_of<Contract>::keyed_reply>;

    answers submit(std::span<one const> all) {
        calls->push_back(all.size());
        answers said;
        for (one const& a : all)
            said.push_back(submit(a));
        if (*fails) throw std::runtime_error("the reply was unreadable");
        if (said.size() > *answered) said.resize(*answered, unknown{});
        return said;
    }
    std::shared_ptr<std::vector<std::size_t>> calls = std::make_shared<std::vector<std::size_t>>();
    std::shared_ptr<std::size_t> answered = std::make_shared<std::size_t>(std::size_t{1} << 20U);
    std::shared_ptr<bool> fails = std::make_shared<bool>(false);
};
template <class C> using bulk = one_shop<C, bulk_shop<C>>;

inline pairs orders(std::size_t count) {
    pairs all;
    for (std::size_t i = 0; i != count; ++i) {
        auto const n = std::to_string(i);
        all.push_back({{"shop", "order-" + n}, "item " + n});
    }
    return all;
}

template <class Scene> auto run_all(Scene& s, pairs const& all, run_options const& options = {}) {
    auto p = s.start();
    return p.run_all(all, options);
}

template <class Outcomes> std::size_t confirmed_of(Outcomes const& told) {
    std::size_t n = 0;
    for (auto const& one : told)
        n += one.has_value() ? 1U : 0U;
    return n;
}

/// Each order has at most one effect, and what was told as confirmed has one.
template <class Scene, class Outcomes>
void check_effects(Scene const& s, pairs const& all, Outcomes const& told) {
    REQUIRE(told.size() == all.size());
    for (std::size_t i = 0; i != all.size(); ++i) {
        auto const made = s.truth->effects(all[i].first.key);
        CHECK(made <= 1);
        if (told[i]) CHECK(made == 1);
        if (!told[i] && !told[i].error().in_doubt()) CHECK(made == 0);
    }
}

/// A recovery over a storage of the test's.
template <class Scene, class Storage> auto over(Scene& s, Storage& storage) {
    return recovery<policies<decltype(s.shop), Storage&, exact_fingerprint, bounded_budget,
                             manual_clock, listener>>(
        {s.shop, storage, {}, s.budget, s.clock, s.ears});
}

} // namespace scene

#endif
