// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef INDOUBT_CORE_IDENTITY_HPP
#define INDOUBT_CORE_IDENTITY_HPP

#include <indoubt/core/error.hpp>

#include <compare>
#include <cstddef>
#include <string>
#include <string_view>

// The name of one intended operation. Whoever repeats the same intent uses the same identity;
// whoever means another effect, even one with the same content, uses a new one.

namespace indoubt {

/// Scope (whose keys these are: a tenant, an account, a workflow) and key, compared as bytes:
/// no case folding, no trimming, no Unicode normalisation.
struct identity {
    std::string scope, key;

    friend bool operator==(identity const&, identity const&) = default;
    friend auto operator<=>(identity const&, identity const&) = default;
};

/// The longest scope and the longest key, in bytes.
inline constexpr std::size_t longest_name = 255;

/// NUL or another control character.
constexpr bool has_control_bytes(std::string_view name) {
    bool control = false;
    for (char c : name) {
        // No early way out: names are short, and this loop is on the path of every operation.
        control |= (static_cast<unsigned char>(c) < 0x20) | (c == 0x7f);
    }
    return control;
}

/// 1 to 255 bytes, none of them NUL or another control character.
constexpr bool well_formed_name(std::string_view name) {
    return !name.empty() && name.size() <= longest_name && !has_control_bytes(name);
}

constexpr bool well_formed(identity const& id) {
    return well_formed_name(id.scope) && well_formed_name(id.key);
}

/// A name for logs and errors: printable ASCII as it is, every other byte as \xNN, and no more
/// than 64 bytes of the original, so that neither a line nor a terminal can be forged.
inline std::string printable(std::string_view name) {
    constexpr std::size_t most = 64;
    constexpr std::string_view digits = "0123456789abcdef";
    std::string out;
    for (char c : name.substr(0, most)) {
        auto const byte = static_cast<unsigned char>(c);
        if (byte >= 0x20 && byte < 0x7f && c != '\\') {
            out += c;
        } else {
            out.append("\\x").append(1, digits[byte >> 4]).append(1, digits[byte & 15]);
        }
    }
    if (name.size() > most) out += "...";
    return out;
}

/// "scope/key" for logs and errors.
inline std::string printable(identity const& id) {
    return printable(id.scope) + '/' + printable(id.key);
}

} // namespace indoubt

#endif
