// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef INDOUBT_ADAPTER_CANONICAL_JSON_NUMBER_HPP
#define INDOUBT_ADAPTER_CANONICAL_JSON_NUMBER_HPP

#include <array>
#include <charconv>
#include <concepts>
#include <cstddef>
#include <string>
#include <string_view>
#include <system_error>

// Numbers of canonical JSON. Integers keep all their digits, also past 2^53; other numbers are
// written as ECMAScript writes them (Number::toString), which RFC 8785 asks for.

namespace indoubt::detail::json {

template <std::integral I> void append_integer(std::string& out, I value) {
    std::array<char, 24> text;
    auto const written = std::to_chars(text.data(), text.data() + text.size(), value);
    out.append(text.data(), written.ptr);
}

/// Takes an integer from the front of rest; false if append_integer never writes it for an I.
template <std::integral I> bool take_integer(std::string_view& rest, I& value) {
    auto const read = std::from_chars(rest.data(), rest.data() + rest.size(), value);
    if (read.ec != std::errc()) return false;
    std::string_view const text = rest.substr(0, static_cast<std::size_t>(read.ptr - rest.data()));
    if (text.starts_with("-0") || (text.starts_with('0') && text.size() > 1)) return false;
    rest.remove_prefix(text.size());
    return true;
}

/// Places the shortest digits that read back as the number, the first of which stands for
/// 10^(point - 1), as ECMAScript does.
inline void append_digits(std::string& out, std::string_view digits, int point) {
    int const count = static_cast<int>(digits.size());
    auto const zeros = [&out](int n) { out.append(static_cast<std::size_t>(n), '0'); };
    if (count <= point && point <= 21) {
        out += digits;
        zeros(point - count);
    } else if (0 < point && point <= 21) {
        auto const whole = static_cast<std::size_t>(point);
        out.append(digits.substr(0, whole)).append(1, '.').append(digits.substr(whole));
    } else if (-6 < point && point <= 0) {
        out += "0.";
        zeros(-point);
        out += digits;
    } else {
        out += digits.front();
        if (count > 1) out.append(1, '.').append(digits.substr(1));
        out.append(point > 0 ? "e+" : "e-");
        append_integer(out, point > 0 ? point - 1 : 1 - point);
    }
}

/// Appends the number; false, and nothing appended, if it is infinite or not a number. -0 is 0.
/// A float is written with the digits that a float needs.
template <std::floating_point F> bool append_floating(std::string& out, F value) {
    std::array<char, 64> buffer;
    auto const written = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value,
                                       std::chars_format::scientific);
    std::string_view text(buffer.data(), static_cast<std::size_t>(written.ptr - buffer.data()));
    bool const negative = text.starts_with('-');
    if (negative) text.remove_prefix(1);
    // What is not finite is written in letters: asking the text holds under -ffast-math, too.
    if (text.front() < '0' || text.front() > '9') return false;

    std::size_t const e = text.find('e');
    bool const below_one = text[e + 1] == '-';
    int exponent = 0;
    std::from_chars(text.data() + e + 2, text.data() + text.size(), exponent);
    std::string digits(1, text.front());
    if (e > 2) digits.append(text, 2, e - 2);
    if (digits == "0") {
        out += '0';
        return true;
    }
    if (negative) out += '-';
    append_digits(out, digits, (below_one ? -exponent : exponent) + 1);
    return true;
}

/// Takes a number from the front of rest; false if append_floating never writes it for an F.
template <std::floating_point F> bool take_floating(std::string_view& rest, F& value) {
    std::string_view const text = rest.substr(0, rest.find_first_not_of("+-.0123456789e"));
    auto const read = std::from_chars(text.data(), text.data() + text.size(), value);
    if (read.ec != std::errc() || read.ptr != text.data() + text.size()) return false;
    std::string again;
    if (!append_floating(again, value) || again != text) return false;
    rest.remove_prefix(text.size());
    return true;
}

} // namespace indoubt::detail::json

#endif
