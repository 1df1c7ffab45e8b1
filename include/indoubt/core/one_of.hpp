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

template <class Case, class... Actions>
inline constexpr bool takes_one_of = (std::invocable<Case&, Actions> || ...);

/// What the first of the actions that has a case makes of it; void if none has.
template <class Visitor, class... Actions> struct returned {
    using type = void;
};
template <class Visitor, class Action, class... Others>
struct returned<Visitor, Action, Others...> : returned<Visitor, Others...> {};
template <class Visitor, class Action, class... Others>
    requires std::invocable<Visitor&, Action>
struct returned<Visitor, Action, Others...> {
    using type = std::invoke_result_t<Visitor&, Action>;
};

template <class Visitor, class... Actions> constexpr bool returns_one_type() {
    if constexpr ((std::invocable<Visitor&, Actions> && ...)) {
        using R = typename returned<Visitor, Actions...>::type;
        return (std::same_as<std::invoke_result_t<Visitor&, Actions>, R> && ...);
    } else {
        return true; // a case is missing, which is said instead
    }
}

/// What a case takes; for a generic lambda the case itself.
template <class Case> struct taken_by {
    using type = Case;
};
template <class Case>
    requires requires { &Case::operator(); }
struct taken_by<Case> {
    template <class R, class Taken> static std::remove_cvref_t<Taken> of(R (Case::*)(Taken));
    template <class R, class Taken> static std::remove_cvref_t<Taken> of(R (Case::*)(Taken) const);
    static Case of(...);
    using type = decltype(of(&Case::operator()));
};

// Said in terms of the action alone, not of the cases, so that compilers name the action.
template <class Action, bool Given> inline constexpr bool has_a_case = Given;
template <class Action, bool Possible> inline constexpr bool can_happen = Possible;

template <class Action, bool Given> constexpr void explain_missing_case() {
    static_assert(has_a_case<Action, Given>, "visit: add a case for this action");
}
template <class Action, bool Possible> constexpr void explain_needless_case() {
    static_assert(can_happen<Action, Possible>,
                  "visit: this case cannot happen in this state under this contract");
}
template <bool OneType> constexpr void explain_return_types() {
    static_assert(OneType, "visit: all cases must return the same type");
}
template <class R> R nothing_more_to_say();

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
        constexpr bool complete = (std::invocable<visitor&, Ts> && ...);
        constexpr bool possible = (detail::takes_one_of<std::remove_cvref_t<Cases>, Ts...> && ...);
        constexpr bool one_type = detail::returns_one_type<visitor, Ts...>();
        if constexpr (complete && possible && one_type) {
            visitor all{std::forward<Cases>(cases)...};
            return std::visit([&all](auto& held) -> decltype(auto) { return all(std::move(held)); },
                              value_);
        } else {
            (detail::explain_missing_case<Ts, std::invocable<visitor&, Ts>>(), ...);
            (detail::explain_needless_case<
                 typename detail::taken_by<std::remove_cvref_t<Cases>>::type,
                 detail::takes_one_of<std::remove_cvref_t<Cases>, Ts...>>(),
             ...);
            detail::explain_return_types<one_type>();
            return detail::nothing_more_to_say<typename detail::returned<visitor, Ts...>::type>();
        }
    }

private:
    std::variant<Ts...> value_;
};

} // namespace indoubt

#endif
