// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
// Normalises a request in place; it would be left out without a word.
//
// expect: provider: write it  request normalise(request) const
#include "shop.hpp"

using namespace indoubt;

struct tickets : shop {
#if defined(MISTAKE)
    void normalise(request&) const;
#else
    request normalise(request) const;
#endif
};

recovery orders{policies{.provider = tickets{}, .storage = memory_storage{}}};
