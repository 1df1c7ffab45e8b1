// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
// Names a provider, and no place to remember anything.
//
// expect: policies: name a storage, .storage = ...
#include "shop.hpp"

using namespace indoubt;

#if defined(MISTAKE)
recovery orders{policies{.provider = shop{}}};
#else
recovery orders{policies{.provider = shop{}, .storage = memory_storage{}}};
#endif
