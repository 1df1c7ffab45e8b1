// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef INDOUBT_ADAPTER_CANONICAL_JSON_NOTATION_HPP
#define INDOUBT_ADAPTER_CANONICAL_JSON_NOTATION_HPP

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

// The notation of canonical JSON, numbers aside: well-formed UTF-8 only, the escapes of RFC 8785
// and no others, the order in which members are sorted, and how deep a form may be.

namespace indoubt::detail::json {

/// Arrays and objects within each other, at most. Bounds the stack that reading needs.
inline constexpr unsigned deepest = 64;

/// How many bytes the first character of text has; 0 if text does not begin with well-formed
/// UTF-8 (Unicode, table 3-7): overlong forms, surrogates and numbers past U+10FFFF have none.
constexpr std::size_t character_length(std::string_view text) {
    auto const byte = [text](std::size_t i) {
        return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
    };
    auto const continues = [&](std::size_t i, unsigned low = 0x80, unsigned high = 0xbf) {
        return byte(i) >= low && byte(i) <= high;
    };
    unsigned const lead = byte(0);
    if (text.empty()) return 0;
    if (lead < 0x80) return 1;
    if (lead < 0xc2 || lead > 0xf4) return 0;
    if (lead < 0xe0) return continues(1) ? 2 : 0;
    if (lead < 0xf0) {
        bool const second = continues(1, lead == 0xe0 ? 0xa0 : 0x80, lead == 0xed ? 0x9f : 0xbf);
        return second && continues(2) ? 3 : 0;
    }
    bool const second = continues(1, lead == 0xf0 ? 0x90 : 0x80, lead == 0xf4 ? 0x8f : 0xbf);
    return second && continues(2) && continues(3) ? 4 : 0;
}

constexpr bool needs_escape(char c) {
    return static_cast<unsigned char>(c) < 0x20 || c == '"' || c == '\\';
}

/// Not empty, well-formed, and the same between quotes as outside: fit for a member's name.
constexpr bool is_plain(std::string_view name) {
    if (name.empty()) return false;
    while (!name.empty()) {
        std::size_t const length = character_length(name);
        if (length == 0 || needs_escape(name.front())) return false;
        name.remove_prefix(length);
    }
    return true;
}

/// The order of RFC 8785: by UTF-16 code units. It is the order of the bytes, except that
/// characters past U+FFFF (lead byte F0 and up) are written with surrogates and so come before
/// U+E000 to U+FFFF (lead bytes EE and EF). Both texts must be well-formed.
constexpr bool comes_before(std::string_view a, std::string_view b) {
    auto const rank = [](char c) {
        unsigned const byte = static_cast<unsigned char>(c);
        return byte == 0xee || byte == 0xef ? byte + 0x10 : byte;
    };
    return std::ranges::lexicographical_compare(a, b, {}, rank, rank);
}

inline constexpr std::string_view hex_digits = "0123456789abcdef";

/// The letter after the backslash of a short escape; 0 if the character has none.
constexpr char short_escape(char c) {
    switch (c) {
    case '\b': return 'b';
    case '\t': return 't';
    case '\n': return 'n';
    case '\f': return 'f';
    case '\r': return 'r';
    case '"': return '"';
    case '\\': return '\\';
    default: return 0;
    }
}

/// Appends text in quotes; false if it is not well-formed UTF-8.
inline bool append_quoted(std::string& out, std::string_view text) {
    out += '"';
    std::size_t plain = 0; // where the characters that need no escape and are not yet copied begin
    for (std::size_t i = 0; i < text.size();) {
        char const c = text[i];
        std::size_t const length =
            static_cast<unsigned char>(c) < 0x80 ? 1 : character_length(text.substr(i));
        if (length == 0) return false;
        if (needs_escape(c)) {
            out.append(text, plain, i - plain).append(1, '\\');
            if (char const letter = short_escape(c); letter != 0) {
                out += letter;
            } else {
                auto const byte = static_cast<unsigned char>(c);
                out.append("u00").append(1, hex_digits[byte >> 4]).append(1, hex_digits[byte & 15]);
            }
            plain = i + 1;
        }
        i += length;
    }
    out.append(text, plain).append(1, '"');
    return true;
}

/// Takes the character of an escape, whose backslash is gone, from the front of rest; false if
/// append_quoted never writes it.
inline bool take_escape(std::string_view& rest, std::string& text) {
    if (rest.empty()) return false;
    if (rest.front() != 'u') {
        for (char const c : {'\b', '\t', '\n', '\f', '\r', '"', '\\'}) {
            if (rest.front() != short_escape(c)) continue;
            text += c;
            rest.remove_prefix(1);
            return true;
        }
        return false;
    }
    if (rest.size() < 5 || !rest.starts_with("u00")) return false;
    std::size_t const high = hex_digits.find(rest[3]), low = hex_digits.find(rest[4]);
    if (high > 1 || low > 15) return false;
    char const c = static_cast<char>(high * 16 + low);
    if (short_escape(c) != 0) return false;
    text += c;
    rest.remove_prefix(5);
    return true;
}

/// Takes a text in quotes from the front of rest; false if append_quoted never writes it.
inline bool take_quoted(std::string_view& rest, std::string& text) {
    if (!rest.starts_with('"')) return false;
    rest.remove_prefix(1);
    text.clear();
    while (!rest.empty()) {
        std::size_t length = 0;
        while (length < rest.size() && !needs_escape(rest[length])) {
            std::size_t const character = character_length(rest.substr(length));
            if (character == 0) return false;
            length += character;
        }
        text.append(rest, 0, length);
        rest.remove_prefix(length);
        if (rest.empty()) return false;
        char const c = rest.front();
        rest.remove_prefix(1);
        if (c == '"') return true;
        if (c != '\\' || !take_escape(rest, text)) return false;
    }
    return false;
}

} // namespace indoubt::detail::json

#endif
