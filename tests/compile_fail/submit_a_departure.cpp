// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
// Sends what is decided and not yet written.
//
// expect-gcc: cannot convert 'const indoubt::departure' to
// expect-gcc: attempt&'
// expect-clang: no viable conversion from 'const departure' to 'const attempt'
#include "shop.hpp"

using namespace indoubt;

#if defined(MISTAKE)
auto send(shop& service, departure const& decided) {
    return service.submit(decided);
}
#else
auto send(shop& service, attempt<std::string> const& written) {
    return service.submit(written);
}
#endif
