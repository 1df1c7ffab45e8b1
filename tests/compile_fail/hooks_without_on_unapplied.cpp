// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
// Writes hooks for "failed", which says nothing of the effect.
//
// expect: hooks: add  bool on_unapplied(unapplied_operation const&)
#include "shop.hpp"

using namespace indoubt;

struct staging_area {
#if defined(MISTAKE)
    void on_failed(unapplied_operation const&);
#else
    bool on_unapplied(unapplied_operation const&);
#endif
};

recovery orders{policies{.provider = shop{}, .storage = memory_storage{}, .hooks = staging_area{}}};
