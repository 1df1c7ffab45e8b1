// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef INDOUBT_ADAPTER_CANONICAL_JSON_HPP
#define INDOUBT_ADAPTER_CANONICAL_JSON_HPP

#include <indoubt/adapter/canonical_json/reader.hpp>
#include <indoubt/adapter/canonical_json/shape.hpp>
#include <indoubt/adapter/canonical_json/writer.hpp>
#include <indoubt/policy/codec.hpp>

#include <concepts>
#include <string>
#include <string_view>
#include <utility>

// The codec of structs that are adapted with Boost.Hana: one value has exactly one form, so that
// equal requests are equal bytes. The form is that of RFC 8785 (JSON Canonicalization Scheme),
// except that integers keep all their digits, also beyond 2^53.

namespace indoubt {

namespace detail::json {

template <class T>
concept canonical = has_shape<T>();

template <class T>
concept structure = shape_of<T> == shape::structure;

template <class T> bool same_form(T const& a, T const& b) {
    if constexpr (shape_of<T> == shape::optional) {
        return a.has_value() == b.has_value() && (!a.has_value() || same_form(*a, *b));
    } else {
        writer of_a, of_b;
        return of_a.write(a) && of_b.write(b) && std::move(of_a).take() == std::move(of_b).take();
    }
}

template <class T>
void append_differing(std::string& names, std::string const& prefix, T const& a, T const& b) {
    members<T>::all([&]<class Member>(Member) {
        using held = held_by<T, Member>;
        if constexpr (structure<held> && !has_own_codec<held>) {
            append_differing(names, prefix + std::string(Member::name) + '.', Member::of(a),
                             Member::of(b));
        } else if (!same_form<held>(Member::of(a), Member::of(b))) {
            names.append(names.empty() ? "" : ", ").append(prefix).append(Member::name);
        }
        return true;
    });
}

template <class Held, class T> constexpr bool explain_member() {
    constexpr bool has_a_form = has_member_form<Held, T>();
    static_assert(has_a_form, "request: the type of a member has no JSON form; adapt it or "
                              "specialise indoubt::codec");
    return has_a_form;
}

template <class T, std::size_t... I> constexpr bool explain_members(std::index_sequence<I...>) {
    using all = members<T>;
    return (explain_member<held_by<T, typename all::template at<I>>, T>() && ...);
}

} // namespace detail::json

/// | type                                     | form                                            |
/// |------------------------------------------|-------------------------------------------------|
/// | BOOST_HANA_ADAPT_STRUCT, _DEFINE_STRUCT  | {"member":...}, sorted by UTF-16 code units     |
/// | std::optional, as a member of a struct   | left out if empty                               |
/// | std::optional elsewhere                  | null if empty                                   |
/// | bool, integers but the character types   | true, false, all digits                         |
/// | float, double                            | as ECMAScript writes it; -0 as 0                |
/// | enumerations with a fixed underlying type| the integer below                               |
/// | std::string                              | "...", well-formed UTF-8 only                   |
/// | std::vector, std::array                  | [...]                                           |
/// | std::map<std::string, T> and the like    | {...}, sorted by UTF-16 code units              |
/// | std::variant                             | {"tag":...}: the alternative's static constexpr |
/// |                                          | json_tag, else its index from 0                 |
/// | std::monostate                           | null                                            |
/// | std::chrono::duration of integers        | its count                                       |
/// | std::chrono::sys_time of one             | its count since the Unix epoch                  |
/// | a type with a codec of its own           | a text: the bytes of that codec, which must be  |
/// |                                          | well-formed UTF-8                               |
///
/// Types are default-initialisable and movable; a type may hold a list of itself. A std::string
/// that is the whole request keeps its plain codec. No text is normalised: a composed and a
/// decomposed accent are different requests. A struct with a member that has no form has no codec,
/// and explain() says so.
///
/// encode: rule::malformed_request for NaN, infinity, text that is not UTF-8 (surrogates and
/// overlong forms included) and more than 64 levels of nesting; detail() names the member and
/// never holds its value. decode: rule::undecodable for all that encode does not write: another
/// order, white space, an unknown, missing or repeated member, a number out of range or in another
/// notation. Thread safety: pure.
template <class T>
    requires detail::json::canonical<T>
struct codec<T> {
    static constexpr bool from_canonical_json = true;

    static result<std::string> encode(T const& value) {
        detail::json::writer writer;
        if (writer.write(value)) return std::move(writer).take();
        std::string detail = writer.where();
        detail.append(detail.empty() ? "" : ": ").append(writer.why());
        return error(rule::malformed_request).saying(std::move(detail));
    }

    static result<T> decode(std::string_view bytes) {
        detail::json::reader reader(bytes);
        T value{};
        if (reader.read(value) && reader.at_end()) return value;
        return error(rule::undecodable).saying("at byte " + std::to_string(reader.position()));
    }

    /// The names of the members in which two values differ, such as "item, address.city": for
    /// people who ask why an identity is refused. Never holds a value; empty if nothing differs.
    static std::string differing_members(T const& a, T const& b)
        requires detail::json::structure<T>
    {
        std::string names;
        detail::json::append_differing(names, "", a, b);
        return names;
    }
};

/// An adapted struct that has no form: no codec, but a sentence that says why.
template <class T>
    requires(detail::json::structure<T> && !detail::json::canonical<T>)
struct codec<T> {
    static constexpr bool from_canonical_json = true;

    static constexpr bool explain() {
        constexpr bool makeable = std::default_initializable<T> && std::movable<T>;
        static_assert(makeable, "request: an adapted struct must be default-initialisable and "
                                "movable");
        using indices = typename detail::json::members<T>::indices;
        return detail::json::explain_members<T>(indices()) && makeable;
    }
};

/// The same as codec<T>::differing_members.
template <class T>
    requires(detail::json::structure<T> && detail::json::canonical<T>)
std::string differing_members(T const& a, T const& b) {
    return codec<T>::differing_members(a, b);
}

} // namespace indoubt

#endif
