// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
// Documents that a reply is proof, and sends several attempts without a key in the replies.
//
// expect: provider: write it  std::vector<reply> submit(std::span<attempt const>)
#include "shop.hpp"

#include <span>
#include <vector>

using namespace indoubt;

struct bulk : provider_of<std::string> {
    static constexpr auto target = "shop";
    static constexpr indoubt::contract contract{.lookup = complete_lookup{},
                                                .reply = proof{.documented_at = "manual, 4"}};
    keyed_reply submit(attempt const&);
    answer lookup(query const&);
#if defined(MISTAKE)
    std::vector<reply> submit(std::span<attempt const>);
#else
    std::vector<keyed_reply> submit(std::span<attempt const>);
#endif
};

recovery orders{policies{.provider = bulk{}, .storage = memory_storage{}}};
