// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef INDOUBT_TESTING_CODEC_LAWS_HPP
#define INDOUBT_TESTING_CODEC_LAWS_HPP

#include <indoubt/policy/codec.hpp>
#include <indoubt/testing/laws.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

// The laws of indoubt::codec, over values that the test chooses: give every member each of its
// extremes, and pairs of values that differ little.

namespace indoubt::testing {

namespace detail {

/// Bytes that no value was written as are refused, or a value has two forms.
template <class T> void check_foreign_bytes(laws& found, std::string_view bytes) {
    result<T> const decoded = codec<T>::decode(bytes);
    if (!decoded) {
        found.expect(decoded.error().rule() == rule::undecodable,
                     "codec: bytes that are not a value's are rule::undecodable");
        return;
    }
    result<std::string> const again = codec<T>::encode(decoded.value());
    found.expect(again && again.value() == bytes,
                 "codec: decode takes only bytes that encode makes");
}

/// Every way to damage one byte that a text format could forgive, cut at every length, and more
/// at the end. Long forms are damaged at some places only.
template <class T> void check_damaged_bytes(laws& found, std::string const& bytes) {
    std::size_t const step = bytes.size() / 256 + 1;
    for (std::size_t i = 0; i < bytes.size(); i += step) {
        check_foreign_bytes<T>(found, std::string_view(bytes).substr(0, i));
        for (char const c : {' ', '0', '1', '"', ',', '}', '\\', '\0', '\x80', '\xff'}) {
            std::string damaged = bytes;
            damaged[i] = c;
            check_foreign_bytes<T>(found, damaged);
            damaged = bytes;
            damaged.insert(i, 1, c);
            check_foreign_bytes<T>(found, damaged);
        }
        std::string shorter = bytes;
        check_foreign_bytes<T>(found, shorter.erase(i, 1));
    }
    for (char const c : {' ', '\n', '0', '}', '\0'})
        check_foreign_bytes<T>(found, bytes + c);
}

} // namespace detail

/// Values that codec<T> can write. Those that it must refuse are not for this suite.
template <class T> laws check_codec_laws(std::vector<T> const& values) {
    laws found;
    std::vector<std::string> forms;
    for (T const& value : values) {
        result<std::string> const bytes = codec<T>::encode(value);
        found.expect(bool(bytes), "codec: every value given to the suite has a form");
        forms.push_back(bytes ? bytes.value() : std::string());
        if (!bytes) continue;

        result<std::string> const again = codec<T>::encode(T(value));
        found.expect(again && again.value() == bytes.value(), "codec: equal values, equal bytes");
        result<T> const decoded = codec<T>::decode(bytes.value());
        found.expect(bool(decoded), "codec: decode takes what encode makes");
        found.expect(decoded && decoded.value() == value, "codec: decode(encode(v)) == v");
        detail::check_damaged_bytes<T>(found, bytes.value());
    }
    for (std::size_t i = 0; i < values.size(); ++i) {
        for (std::size_t k = 0; k < i; ++k) {
            bool const equal = values[i] == values[k];
            found.expect(!equal || forms[i] == forms[k], "codec: equal values, equal bytes");
            found.expect(equal || forms[i] != forms[k], "codec: different values, different bytes");
        }
    }
    return found;
}

} // namespace indoubt::testing

#endif
