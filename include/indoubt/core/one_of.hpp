// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef INDOUBT_CORE_ONE_OF_HPP
#define INDOUBT_CORE_ONE_OF_HPP

#include <concepts>
#include <type_traits>
#include <utility>
#include <variant>

// A value of exactly one of several types. It differs from std::variant in how it is visited: a
// forgotten case, and a case for something that cannot happen, are compile errors in words.

namespace indoubt {

namespace detail {

template <class... Cases> struct overloaded : Cases... {
    using Cases::operator()...;
};
template <class... Cases> overloaded(Cases...) -> overloaded<Cases...>;

template <class Visitor, class Alternative> constexpr bool handles() {
    constexpr bool a_case_is_given = std::invocable<Visitor&, Alternative>;
    static_assert(a_case_is_given, "visit: add a case for this action");
    return a_case_is_given;
}

/// True if this one case can be called with one of the alternatives, or is a generic lambda.
template <class Case, class... Alternatives> constexpr bool can_happen() {
    constexpr bool it_can = (std::invocable<Case&, Alternatives> || ...);
    static_assert(it_can, "visit: this case cannot happen in this state under this contract");
    return it_can;
}

} // namespace detail

template <class... Ts> class one_of {
public:
    template <class T>
        requires(std::same_as<std::remove_cvref_t<T>, Ts> || ...)
    constexpr one_of(T&& value)
        : value_(std::in_place_type<std::remove_cvref_t<T>>, std::forward<T>(value)) {}

    template <class T> constexpr bool holds() const noexcept {
        return std::holds_alternative<T>(value_);
    }
    /// The alternative T, or null.
    template <class T> constexpr T* get_if() noexcept { return std::get_if<T>(&value_); }
    template <class T> constexpr T const* get_if() const noexcept {
        return std::get_if<T>(&value_);
    }

    /// Calls the one case that fits what is held, moving it out. Every case must be able to
    /// happen and every alternative must have a case; all cases return the same type.
    template <class... Cases> constexpr decltype(auto) visit(Cases&&... cases) && {
        using visitor = detail::overloaded<std::remove_cvref_t<Cases>...>;
        constexpr bool sound = (detail::handles<visitor, Ts>() && ...) &&
                               (detail::can_happen<std::remove_cvref_t<Cases>, Ts...>() && ...);
        if constexpr (sound) {
            visitor all{std::forward<Cases>(cases)...};
            return std::visit([&all](auto& held) -> decltype(auto) { return all(std::move(held)); },
                              value_);
        }
    }

private:
    std::variant<Ts...> value_;
};

} // namespace indoubt

#endif
