// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
// Answers one page as if it were the whole listing, and says nothing of the next one.
//
// expect: paged_lookup: fetch(std::string_view cursor) returns  page_answer<Request, Receipt>
#include <indoubt.hpp>
#include <indoubt/adapter/composed_lookup.hpp>

using namespace indoubt;

struct orders : provider_of<std::string> {
#if defined(MISTAKE)
    answer fetch(std::string_view cursor);
#else
    page_answer<request, receipt> fetch(std::string_view cursor);
#endif
    answer lookup(query const& q) {
        return paged_lookup(q, [&](std::string_view cursor) { return fetch(cursor); });
    }
};
