// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
// Names the storage before the provider. Clang alone would do with a warning.
//
// expect-gcc: does not match declaration order
// expect-clang: field designators to be specified in declaration order
#include "shop.hpp"

using namespace indoubt;

#if defined(__clang__)
#pragma clang diagnostic error "-Wreorder-init-list"
#endif

#if defined(MISTAKE)
recovery orders{policies{.storage = memory_storage{}, .provider = shop{}}};
#else
recovery orders{policies{.provider = shop{}, .storage = memory_storage{}}};
#endif
