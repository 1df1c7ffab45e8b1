// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
// Forgets what to do with a doubt.
//
// expect: visit: add a case for this action
// expect-note-gcc: 'indoubt::detail::has_a_case<indoubt::doubt, false>' evaluates to false
// expect-clang: 'has_a_case<indoubt::doubt, false>'
#include "shop.hpp"

using namespace indoubt;

int settle(next<uncertain, contract<never, complete_lookup>> what) {
    return std::move(what).visit([](look_up) { return 1; }, [](wait) { return 2; },
                                 [](stop) { return 3; }, [](match) { return 4; },
                                 [](contradiction) { return 5; },
#if !defined(MISTAKE)
                                 [](doubt) { return 6; },
#endif
                                 [](non_application) { return 7; }, [](refusal) { return 8; },
                                 [](attempt_outcome) { return 9; });
}
