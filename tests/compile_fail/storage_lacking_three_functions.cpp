// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
// Writes a storage that keeps records and has no more functions than a map.
//
// expect: storage: add  result<bool> bind(std::string_view, identity const&)
// expect: storage: add  result<std::size_t> visit_unsettled(page, visitor)
// expect: storage: add  result<void> flush()
#include "shop.hpp"

using namespace indoubt;

struct notebook {
    storage_facts facts();
    result<std::optional<record>> insert(record const&);
    result<void> replace(record const&, version expected);
    result<std::optional<record>> find(identity const&);
#if !defined(MISTAKE)
    result<bool> bind(std::string_view, identity const&);
    template <class Visitor> result<std::size_t> visit_unsettled(page, Visitor);
    result<void> flush();
#endif
};

recovery orders{policies{.provider = shop{}, .storage = notebook{}}};
