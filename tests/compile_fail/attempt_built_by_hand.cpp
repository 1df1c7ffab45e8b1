// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
// Makes an attempt out of a request, for a test of a provider or to get on.
//
// expect-gcc: is private within this context
// expect-clang: calling a private constructor of class 'indoubt::attempt<
#include "shop.hpp"

using namespace indoubt;

#if defined(MISTAKE)
auto send(shop& service, record const& r) {
    attempt<std::string> a(r, "notebook", {});
    return service.submit(a);
}
#else
auto send(shop& service, attempt<std::string> const& a) {
    return service.submit(a);
}
#endif
