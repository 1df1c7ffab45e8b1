// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
// Says that a reply is proof, and does not return the key that came back with it.
//
// expect: provider: a reply is proof only if it echoes our key; submit must return keyed_reply
#include "shop.hpp"

using namespace indoubt;

struct charges : provider_of<std::string> {
    static constexpr auto target = "charges";
    static constexpr indoubt::contract contract{
        .reply = proof{.documented_at = "https://charges.example/keys"}};
#if defined(MISTAKE)
    reply submit(attempt const&);
#else
    keyed_reply submit(attempt const&);
#endif
};

recovery payments{policies{.provider = charges{}, .storage = memory_storage{}}};
