// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
// Handles a resend under a contract that documents no guarantee.
//
// expect: visit: this case cannot happen in this state under this contract
// expect-note-gcc: 'indoubt::detail::can_happen<indoubt::resend_clearance, false>'
// expect-clang: 'can_happen<indoubt::resend_clearance, false>'
#include "shop.hpp"

using namespace indoubt;

auto settle(next<uncertain, contract<never, complete_lookup>> what) {
    return std::move(what).visit([](look_up) { return 1; }, [](wait) { return 2; },
                                 [](stop) { return 3; }, [](match) { return 4; },
                                 [](contradiction) { return 5; }, [](doubt) { return 6; },
                                 [](non_application) { return 7; }, [](refusal) { return 8; },
#if defined(MISTAKE)
                                 [](resend_clearance) { return 9; },
#endif
                                 [](attempt_outcome) { return 10; });
}
