// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef INDOUBT_CORE_ONE_OF_HPP
#define INDOUBT_CORE_ONE_OF_HPP

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <new>
#include <type_traits>
#include <utility>

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

/// Where T stands among Ts; their number if it does not.
template <class T, class... Ts> constexpr std::size_t position_among() {
    std::size_t at = 0;
    (void)((std::same_as<T, Ts> || (++at, false)) || ...);
    return at;
}

} // namespace detail

/// Not std::variant underneath: a program with one run spent a third of what it was compiled to on
/// the machinery of variants.
template <class... Ts> class one_of {
public:
    template <class T>
        requires(std::same_as<std::remove_cvref_t<T>, Ts> || ...)
    one_of(T&& value) : index_(position<std::remove_cvref_t<T>>) {
        ::new (static_cast<void*>(bytes_)) std::remove_cvref_t<T>(std::forward<T>(value));
    }
    one_of(one_of&& other) noexcept : index_(other.index_) {
        move_held<0, Ts...>(index_, bytes_, other.bytes_);
    }
    one_of(one_of const& other)
        requires(std::copy_constructible<Ts> && ...)
        : index_(other.index_) {
        copy_held<0, Ts...>(index_, bytes_, other.bytes_);
    }
    one_of& operator=(one_of&& other) noexcept {
        if (this != &other) {
            destroy_held<0, Ts...>(index_, bytes_);
            index_ = other.index_;
            move_held<0, Ts...>(index_, bytes_, other.bytes_);
        }
        return *this;
    }
    one_of& operator=(one_of const& other)
        requires(std::copy_constructible<Ts> && ...)
    {
        return *this = one_of(other);
    }
    ~one_of() { destroy_held<0, Ts...>(index_, bytes_); }

    template <class T> bool holds() const noexcept {
        static_assert(position<T> < sizeof...(Ts), "one_of: it can never hold this type");
        return index_ == position<T>;
    }
    /// The alternative T, or null.
    template <class T> T* get_if() noexcept {
        static_assert(position<T> < sizeof...(Ts), "one_of: it can never hold this type");
        if (index_ != position<T>) return nullptr;
        return std::launder(reinterpret_cast<T*>(bytes_));
    }
    template <class T> T const* get_if() const noexcept {
        return const_cast<one_of*>(this)->template get_if<T>();
    }

    /// Calls the one case that fits what is held, moving it out. Every case must be able to
    /// happen and every alternative must have a case; all cases return the same type.
    template <class... Cases> decltype(auto) visit(Cases&&... cases) && {
        using visitor = detail::overloaded<std::remove_cvref_t<Cases>...>;
        constexpr bool complete = (std::invocable<visitor&, Ts> && ...);
        constexpr bool possible = (detail::takes_one_of<std::remove_cvref_t<Cases>, Ts...> && ...);
        constexpr bool one_type = detail::returns_one_type<visitor, Ts...>();
        if constexpr (complete && possible && one_type) {
            visitor all{std::forward<Cases>(cases)...};
            return call<0, Ts...>(all);
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
    template <class T> static constexpr std::size_t position = detail::position_among<T, Ts...>();

    // What is held is one of them: after all the others were asked for, it is the last.
    template <std::size_t I, class First, class... Others>
    static void move_held(std::size_t index, std::byte* to, std::byte* from) noexcept {
        static_assert(std::is_nothrow_move_constructible_v<First>,
                      "one_of: every type in it must move without throwing");
        if constexpr (sizeof...(Others) != 0) {
            if (index != I) return move_held<I + 1, Others...>(index, to, from);
        }
        ::new (static_cast<void*>(to))
            First(std::move(*std::launder(reinterpret_cast<First*>(from))));
    }
    template <std::size_t I, class First, class... Others>
    static void copy_held(std::size_t index, std::byte* to, std::byte const* from) {
        if constexpr (sizeof...(Others) != 0) {
            if (index != I) return copy_held<I + 1, Others...>(index, to, from);
        }
        ::new (static_cast<void*>(to)) First(*std::launder(reinterpret_cast<First const*>(from)));
    }
    template <std::size_t I, class First, class... Others>
    static void destroy_held(std::size_t index, std::byte* at) noexcept {
        if constexpr (sizeof...(Others) != 0) {
            if (index != I) return destroy_held<I + 1, Others...>(index, at);
        }
        std::launder(reinterpret_cast<First*>(at))->~First();
    }
    template <std::size_t I, class First, class... Others, class F> decltype(auto) call(F& f) {
        if constexpr (sizeof...(Others) == 0) {
            return f(std::move(*get_if<First>()));
        } else {
            if (index_ == I) return f(std::move(*get_if<First>()));
            return call<I + 1, Others...>(f);
        }
    }

    alignas(Ts...) std::byte bytes_[std::max({sizeof(Ts)...})];
    std::size_t index_;
};

} // namespace indoubt

#endif
