// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef INDOUBT_POLICY_CODEC_HPP
#define INDOUBT_POLICY_CODEC_HPP

#include <indoubt/core/error.hpp>

#include <concepts>
#include <string>
#include <string_view>

// How requests and receipts become the bytes that are stored, compared and sent again.

namespace indoubt {

/// Specialise it for a type of your own, or include <indoubt/adapter/canonical_json.hpp> and adapt
/// the type with BOOST_HANA_ADAPT_STRUCT.
///
/// | expression                    | returns             | what must hold                         |
/// |-------------------------------|---------------------|----------------------------------------|
/// | codec<T>::encode(T const&)    | result<std::string> | equal values give equal bytes          |
/// | codec<T>::decode(string_view) | result<T>           | decode(encode(v)) == v; bytes that     |
/// |                               |                     | encode never makes: rule::undecodable  |
///
/// encode may also return std::string where it cannot fail; a value without a canonical form is
/// rule::malformed_request. Both are pure and safe to call from several threads.
template <class T> struct codec;

/// Text and bytes are stored as they are.
template <> struct codec<std::string> {
    static std::string encode(std::string const& value) { return value; }
    static result<std::string> decode(std::string_view bytes) { return std::string(bytes); }
};

template <class T>
concept encodable = requires(T const& value, std::string_view bytes) {
    { codec<T>::encode(value) } -> std::convertible_to<result<std::string>>;
    { codec<T>::decode(bytes) } -> std::convertible_to<result<T>>;
};

/// Says in words what a request or receipt lacks. A codec that knows better has a static constexpr
/// bool explain(), which says it and returns false.
template <class T> constexpr bool explain_codec() {
    constexpr bool has_a_codec = encodable<T>;
    if constexpr (!has_a_codec && requires { codec<T>::explain(); }) {
        constexpr bool said = !codec<T>::explain();
        static_assert(said, "request: its codec lacks encode or decode");
    } else {
        static_assert(has_a_codec,
                      "request: adapt it with BOOST_HANA_ADAPT_STRUCT and include "
                      "<indoubt/adapter/canonical_json.hpp>, or specialise indoubt::codec");
    }
    return has_a_codec;
}

} // namespace indoubt

#endif
