// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
// Writes an observer that has another name for what it is told.
//
// expect: observer: add  void on_transition(transition_event const&)
#include "shop.hpp"

using namespace indoubt;

struct log_file {
#if defined(MISTAKE)
    void on_event(transition_event const&);
#else
    void on_transition(transition_event const&);
#endif
};

recovery orders{policies{.provider = shop{}, .storage = memory_storage{}, .observer = log_file{}}};
