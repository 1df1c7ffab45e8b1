// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef INDOUBT_ADAPTER_CANONICAL_JSON_SHAPE_HPP
#define INDOUBT_ADAPTER_CANONICAL_JSON_SHAPE_HPP

#include <indoubt/adapter/canonical_json/notation.hpp>
#include <indoubt/policy/codec.hpp>

#include <boost/hana/accessors.hpp>
#include <boost/hana/adapt_struct.hpp>
#include <boost/hana/concept/struct.hpp>
#include <boost/hana/define_struct.hpp>

#include <array>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

// Which types have a canonical JSON form, and what it looks like. All of it is known when the
// program is compiled; writer.hpp and reader.hpp are the two that follow it.

namespace indoubt::detail::json {

enum class shape : std::uint8_t {
    none,        ///< no form, unless the type has a codec of its own
    truth,       ///< true, false
    integer,     ///< all its digits
    floating,    ///< as ECMAScript writes it
    enumeration, ///< the integer below it
    duration,    ///< its count
    moment,      ///< its count since the Unix epoch
    text,        ///< "..."
    null,        ///< std::monostate: null
    optional,    ///< a member that is left out; elsewhere null
    list,        ///< [...], of any length
    row,         ///< [...], of a fixed length
    map,         ///< {...} with keys from the value
    choice,      ///< {"tag": value}
    structure,   ///< {...} with the members of an adapted struct
};

/// std::map<std::string, T>, and what is used like it.
template <class T>
concept map_like = std::same_as<typename T::key_type, std::string> &&
                   requires(T& map, std::string key, typename T::mapped_type value) {
                       {
                           map.emplace(std::move(key), std::move(value)).second
                       } -> std::convertible_to<bool>;
                       map.begin()->second;
                   };

/// Excludes the character types: whether they are text or numbers, only their owner knows.
template <class T>
concept whole_number = std::integral<T> && !std::same_as<T, bool> && !std::same_as<T, char> &&
                       !std::same_as<T, wchar_t> && !std::same_as<T, char8_t> &&
                       !std::same_as<T, char16_t> && !std::same_as<T, char32_t>;

/// An enumeration that can hold every value of the integer below it.
template <class T>
concept fixed_enumeration = std::is_enum_v<T> && requires { T{std::underlying_type_t<T>{}}; };

template <class T> constexpr shape shape_by_traits() {
    if constexpr (std::same_as<T, bool>) {
        return shape::truth;
    } else if constexpr (whole_number<T>) {
        return shape::integer;
    } else if constexpr (std::same_as<T, double> || std::same_as<T, float>) {
        return shape::floating;
    } else if constexpr (fixed_enumeration<T>) {
        return shape::enumeration;
    } else if constexpr (!std::is_class_v<T>) {
        return shape::none;
    } else if constexpr (boost::hana::Struct<T>::value) {
        return shape::structure;
    } else {
        return map_like<T> ? shape::map : shape::none;
    }
}

template <class T> inline constexpr shape shape_of = shape_by_traits<T>();
template <> inline constexpr shape shape_of<std::string> = shape::text;
template <> inline constexpr shape shape_of<std::monostate> = shape::null;
template <class T> inline constexpr shape shape_of<std::optional<T>> = shape::optional;
template <class T, class A> inline constexpr shape shape_of<std::vector<T, A>> = shape::list;
template <class T, std::size_t N> inline constexpr shape shape_of<std::array<T, N>> = shape::row;
template <class... Ts> inline constexpr shape shape_of<std::variant<Ts...>> = shape::choice;
template <class Rep, class Period>
inline constexpr shape shape_of<std::chrono::duration<Rep, Period>> =
    whole_number<Rep> ? shape::duration : shape::none;
template <class D>
inline constexpr shape shape_of<std::chrono::sys_time<D>> =
    shape_of<D> == shape::duration ? shape::moment : shape::none;

/// A codec that did not come from <indoubt/adapter/canonical_json.hpp>.
template <class T>
concept has_own_codec =
    requires { sizeof(codec<T>); } && !requires { codec<T>::from_canonical_json; };

// ---- the members of a struct --------------------------------------------------------------------

template <std::size_t I, class Name, class Accessor> struct member {
    static constexpr std::string_view name{Name::c_str()};

    template <class T> static constexpr decltype(auto) of(T& value) { return Accessor{}(value); }
};

template <class Indices, class List> struct member_list;

template <std::size_t... I, class... Names, class... Accessors>
struct member_list<std::index_sequence<I...>,
                   boost::hana::tuple<boost::hana::pair<Names, Accessors>...>>
    : member<I, Names, Accessors>... {};

template <class... Pairs>
constexpr std::index_sequence_for<Pairs...> indices_of(boost::hana::tuple<Pairs...> const*);

template <std::size_t I, class Name, class Accessor>
constexpr member<I, Name, Accessor> member_at(member<I, Name, Accessor> const*);

template <class T> struct members {
    using accessors = std::remove_cvref_t<decltype(boost::hana::accessors<T>())>;
    using indices = decltype(indices_of(static_cast<accessors const*>(nullptr)));
    using list = member_list<indices, accessors>;

    static constexpr std::size_t count = indices::size();
    template <std::size_t I> using at = decltype(member_at<I>(static_cast<list const*>(nullptr)));

    /// f(member) for every member, in the order of declaration, as long as it returns true.
    template <class F> static constexpr bool all(F f) {
        return [&]<std::size_t... I>(std::index_sequence<I...>) {
            return (f(at<I>()) && ...);
        }(indices());
    }
    /// The same in the order in which members are written.
    template <class F> static constexpr bool all_sorted(F f) {
        return [&]<std::size_t... I>(std::index_sequence<I...>) {
            return (f(at<order[I]>()) && ...);
        }(indices());
    }

    static constexpr auto names = []<std::size_t... I>(std::index_sequence<I...>) {
        return std::array<std::string_view, count>{at<I>::name...};
    }(indices());

    static constexpr auto order = [] {
        std::array<std::size_t, count> sorted{};
        for (std::size_t i = 0; i < count; ++i) {
            std::size_t place = i;
            for (; place > 0 && comes_before(names[i], names[sorted[place - 1]]); --place)
                sorted[place] = sorted[place - 1];
            sorted[place] = i;
        }
        return sorted;
    }();
};

/// What a member of T holds.
template <class T, class Member>
using held_by = std::remove_reference_t<decltype(Member::of(std::declval<T&>()))>;

// ---- the tags of a variant ----------------------------------------------------------------------

template <std::size_t I>
inline constexpr std::array<char, 2> digits_of{static_cast<char>('0' + I / 10),
                                               static_cast<char>('0' + I % 10)};

/// What an alternative is called: its  static constexpr ... json_tag,  else its index.
template <class T, std::size_t I> constexpr std::string_view tag_of() {
    if constexpr (requires { std::string_view(T::json_tag); }) {
        return T::json_tag;
    } else {
        static_assert(I < 100, "a variant of more than 100 alternatives needs a json_tag in each");
        return std::string_view(digits_of<I>.data(), 2).substr(I < 10 ? 1 : 0);
    }
}

template <class V> struct alternatives;
template <class... Ts> struct alternatives<std::variant<Ts...>> {
    static constexpr auto tags = []<std::size_t... I>(std::index_sequence<I...>) {
        return std::array<std::string_view, sizeof...(Ts)>{tag_of<Ts, I>()...};
    }(std::index_sequence_for<Ts...>());
};

template <std::size_t N>
constexpr bool plain_and_distinct(std::array<std::string_view, N> const& names) {
    for (std::size_t i = 0; i < N; ++i) {
        if (!is_plain(names[i])) return false;
        for (std::size_t k = 0; k < i; ++k)
            if (names[i] == names[k]) return false;
    }
    return true;
}

// ---- which types have a form --------------------------------------------------------------------

template <class T, class... Seen> constexpr bool has_shape();

template <class T, class... Seen> constexpr bool has_form() {
    if constexpr (has_shape<T, Seen...>()) {
        return true;
    } else {
        return has_own_codec<T>;
    }
}

/// As a member of a struct: an optional one is left out, so that null stays free for its value.
template <class M, class... Seen> constexpr bool has_member_form() {
    if constexpr (std::is_const_v<M>) {
        return false;
    } else if constexpr (shape_of<M> == shape::optional) {
        return has_form<typename M::value_type, Seen..., M>();
    } else {
        return has_form<M, Seen...>();
    }
}

template <class T, class... Seen> constexpr bool has_members_with_forms() {
    using all = members<T>;
    return []<std::size_t... I>(std::index_sequence<I...>) {
        return plain_and_distinct(all::names) &&
               (std::is_lvalue_reference_v<decltype(all::template at<I>::of(std::declval<T&>()))> &&
                ...) &&
               (has_member_form<held_by<T, typename all::template at<I>>, Seen..., T>() && ...);
    }(typename all::indices());
}

/// Whether T has a form by its shape. Seen: the types on the way here, for a type that holds a list
/// of itself.
template <class T, class... Seen> constexpr bool has_shape() {
    constexpr shape s = shape_of<T>;
    if constexpr ((std::same_as<T, Seen> || ...)) {
        return true;
    } else if constexpr (s == shape::none || !std::default_initializable<T> || !std::movable<T>) {
        return false;
    } else if constexpr (s == shape::list || s == shape::row) {
        return has_form<typename T::value_type, Seen..., T>();
    } else if constexpr (s == shape::map) {
        return has_form<typename T::mapped_type, Seen..., T>();
    } else if constexpr (s == shape::optional) {
        constexpr shape inner = shape_of<typename T::value_type>;
        return inner != shape::optional && inner != shape::null &&
               has_form<typename T::value_type, Seen..., T>();
    } else if constexpr (s == shape::choice) {
        return plain_and_distinct(alternatives<T>::tags) &&
               []<class... Ts>(std::variant<Ts...> const*) {
                   return (has_form<Ts, Seen..., T>() && ...);
               }(static_cast<T const*>(nullptr));
    } else if constexpr (s == shape::structure) {
        return has_members_with_forms<T, Seen...>();
    } else {
        return true;
    }
}

} // namespace indoubt::detail::json

#endif
