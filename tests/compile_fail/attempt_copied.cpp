// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
// Keeps an attempt to submit it again when the reply is lost.
//
// expect-gcc: use of deleted function 'indoubt::attempt<
// expect-clang: copy constructor of 'attempt'
#include "shop.hpp"

struct retrying_shop : shop {
    static constexpr unsigned tries = 3;
    reply submit(attempt const& a) {
#if defined(MISTAKE)
        attempt again = a;
#else
        attempt const& again = a;
#endif
        return shop::submit(again);
    }
};
