// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
// Has a part of a look-up that has no word for "could not be read".
//
// expect: composed_lookup: all parts return the answer of the provider; write  -> answer
#include <indoubt.hpp>
#include <indoubt/adapter/composed_lookup.hpp>

using namespace indoubt;

struct orders : provider_of<std::string> {
    answer open(query const&);
    answer lookup(query const& q) {
#if defined(MISTAKE)
        auto const closed = [](query const&) { return complete{}; };
#else
        auto const closed = [](query const&) -> answer { return complete{}; };
#endif
        return composed_lookup(q, [&](query const& asked) { return open(asked); }, closed);
    }
};
