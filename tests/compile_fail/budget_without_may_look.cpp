// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
// Writes a budget that bounds sends alone.
//
// expect: budget: add  allowance may_look(record const&, time_point now, milliseconds call,
// unsigned looks)
#include "shop.hpp"

using namespace indoubt;

struct three_tries {
    std::optional<time_point> deadline(time_point begun);
    allowance may_send(record const&, time_point now, milliseconds call);
#if !defined(MISTAKE)
    allowance may_look(record const&, time_point now, milliseconds call, unsigned looks);
#endif
};

recovery orders{policies{.provider = shop{}, .storage = memory_storage{}, .budget = three_tries{}}};
