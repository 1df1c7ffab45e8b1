// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
// Answers one action with a text and another with a number.
//
// expect: visit: all cases must return the same type
#include "shop.hpp"

using namespace indoubt;

#if defined(MISTAKE)
constexpr auto sent = "sent";
#else
constexpr int sent = 1;
#endif

auto settle(one_of<clearance, match> what) {
    return std::move(what).visit([](clearance) { return sent; }, [](match) { return 2; });
}
