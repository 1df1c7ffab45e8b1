// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
// Maps keys without regard to the generation, so that a new one would have the old key.
//
// expect: provider: write it  std::string key_for(identity const&, unsigned generation) const
#include "shop.hpp"

using namespace indoubt;

struct tickets : shop {
#if defined(MISTAKE)
    std::string key_for(identity const&) const;
    std::string key_for(std::string) const;
#else
    std::string key_for(identity const&, unsigned generation) const;
#endif
};

recovery orders{policies{.provider = tickets{}, .storage = memory_storage{}}};
