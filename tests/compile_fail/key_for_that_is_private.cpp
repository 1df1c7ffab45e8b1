// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
// Maps keys in a function that nobody may call.
//
// expect: provider: write it  std::string key_for(identity const&, unsigned generation) const
#include "shop.hpp"

using namespace indoubt;

class tickets : public shop {
#if !defined(MISTAKE)
public:
#endif
    std::string key_for(identity const&, unsigned generation) const;
};

recovery orders{policies{.provider = tickets{}, .storage = memory_storage{}}};
