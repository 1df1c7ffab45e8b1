// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef INDOUBT_ADAPTER_ENCODED_KEY_HPP
#define INDOUBT_ADAPTER_ENCODED_KEY_HPP

#include <indoubt/core/identity.hpp>

#include <string>
#include <string_view>

// Provider keys for services that take letters and digits only, or do not tell upper from lower
// case.

namespace indoubt {

namespace detail {

/// 'z' begins all that is not a byte for itself: 'z' and two hexadecimal digits are any other byte.
inline void append_encoded(std::string& out, std::string_view name) {
    constexpr std::string_view digits = "0123456789abcdef";
    for (char const c : name) {
        if ((c >= 'a' && c <= 'y') || (c >= '0' && c <= '9')) {
            out += c;
        } else {
            auto const byte = static_cast<unsigned char>(c);
            out.append(1, 'z').append(1, digits[byte >> 4]).append(1, digits[byte & 15]);
        }
    }
}

} // namespace detail

/// The provider key of an identity, of the characters a to z and 0 to 9 only. Different identities
/// and generations have different keys, and scope and key can be read in it: ("shop", "order-7") is
/// "shopzsorderz2d7", and "shopzsorderz2d7zg2" in its second generation.
///
///     std::string key_for(indoubt::identity const& id, unsigned generation) const {
///         return encoded_key(id, generation);
///     }
///
/// Its length in characters: 1 for each of a to y and 0 to 9 in scope and key, 3 for each other
/// byte, and 2 between the two. A generation other than the first adds 2 and its decimal digits. So
/// with a scope of 4 letters a UUID in small letters, which has 4 hyphens, gives 4 + 2 + 32 + 4 * 3
/// = 50; written without hyphens, 38. The longest names give 1532.
///
/// It is not a secret, and it can be longer than a service allows: use keyed_blake2b_key where the
/// length must be fixed, or where the key is shown to others. Thread safety: pure.
inline std::string encoded_key(identity const& id, unsigned generation) {
    std::string out;
    detail::append_encoded(out, id.scope);
    out += "zs";
    detail::append_encoded(out, id.key);
    if (generation != 1) out.append("zg").append(std::to_string(generation));
    return out;
}

} // namespace indoubt

#endif
