// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
// Calls the provider with a request that the journal knows nothing of.
//
// expect-gcc: cannot convert 'const std::string'
// expect-gcc: attempt&'
// expect-clang: no viable conversion from 'const std::string'
// expect-clang: to 'const attempt'
#include "shop.hpp"

using namespace indoubt;

#if defined(MISTAKE)
auto send(shop& service, std::string const& request) {
    return service.submit(request);
}
#else
auto send(shop& service, attempt<std::string> const& allowed) {
    return service.submit(allowed);
}
#endif
