// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
// Writes a clock that cannot be waited on.
//
// expect: clock: add  void wait_until(milliseconds elapsed, std::stop_token const&)
#include "shop.hpp"

using namespace indoubt;

struct wrist_watch {
    time_point wall();
    milliseconds elapsed();
#if !defined(MISTAKE)
    void wait_until(milliseconds elapsed, std::stop_token const&);
#endif
};

recovery orders{policies{.provider = shop{}, .storage = memory_storage{}, .clock = wrist_watch{}}};
