// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
// Writes a fingerprint whose digests nobody could tell from those of another rule.
//
// expect: fingerprint: add  std::string_view rule() const
#include "shop.hpp"

using namespace indoubt;

struct short_digest {
#if !defined(MISTAKE)
    std::string_view rule() const;
#endif
    std::string digest(content const&) const;
    bool same(std::string_view digest, content const& stored, content const& given) const;
};

recovery orders{
    policies{.provider = shop{}, .storage = memory_storage{}, .fingerprint = short_digest{}}};
