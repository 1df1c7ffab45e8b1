// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#include <indoubt/core/one_of.hpp>

#include <doctest/doctest.h>

#include <concepts>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

// One of several types: what is held, how it is visited, and that everything made is destroyed.

namespace {

using namespace indoubt;

struct nothing {};
/// Counts those that are alive.
struct counted {
    explicit counted(int n) : number(n) { ++alive; }
    counted(counted const& other) : number(other.number) { ++alive; }
    counted(counted&& other) noexcept : number(std::exchange(other.number, -1)) { ++alive; }
    counted& operator=(counted const&) = default;
    ~counted() { --alive; }
    int number;
    static inline int alive = 0;
};
using movable = one_of<nothing, std::unique_ptr<int>>;
using copyable = one_of<nothing, counted, std::string>;

// ---- what it can be made of ---------------------------------------------------------------------

static_assert(std::convertible_to<nothing, movable>);
static_assert(std::convertible_to<std::unique_ptr<int>, movable>);
static_assert(!std::convertible_to<int, movable>);
static_assert(!std::convertible_to<std::nullptr_t, movable>, "only the very types, no conversion");
static_assert(!std::convertible_to<char const*, copyable>);
static_assert(!std::default_initializable<movable>);
static_assert(!std::copy_constructible<movable>, "one that cannot be copied holds all back");
static_assert(!std::is_copy_assignable_v<movable>);
static_assert(std::copy_constructible<copyable>);
static_assert(std::is_copy_assignable_v<copyable>);
static_assert(std::is_nothrow_move_constructible_v<movable>);
static_assert(std::is_nothrow_move_assignable_v<copyable>);

TEST_CASE("it holds what it was made of, and nothing else") {
    copyable const text = std::string("a notebook");
    CHECK(text.holds<std::string>());
    CHECK_FALSE(text.holds<nothing>());
    CHECK_FALSE(text.holds<counted>());
    REQUIRE(text.get_if<std::string>() != nullptr);
    CHECK(*text.get_if<std::string>() == "a notebook");
    CHECK(text.get_if<counted>() == nullptr);

    copyable first = nothing{};
    CHECK(first.holds<nothing>());
    CHECK(first.get_if<nothing>() != nullptr);
    CHECK(first.get_if<std::string>() == nullptr);
}

TEST_CASE("what is held can be changed in its place") {
    copyable one = std::string("a");
    one.get_if<std::string>()->append("b");
    CHECK(*one.get_if<std::string>() == "ab");
}

// ---- copies and moves ---------------------------------------------------------------------------

TEST_CASE("a copy is a value of its own") {
    {
        copyable const original = counted(7);
        copyable copy = original;
        CHECK(counted::alive == 2);
        copy.get_if<counted>()->number = 8;
        CHECK(original.get_if<counted>()->number == 7);
        copyable const text = std::string("t");
        copyable const other_text = text;
        CHECK(*other_text.get_if<std::string>() == "t");
    }
    CHECK(counted::alive == 0);
}

TEST_CASE("copying over destroys what was there") {
    {
        copyable one = counted(1);
        copyable const two = counted(2);
        one = two;
        CHECK(one.get_if<counted>()->number == 2);
        CHECK(counted::alive == 2);
        copyable const text = std::string("t");
        one = text;
        CHECK(*one.get_if<std::string>() == "t");
        CHECK(counted::alive == 1);
        one = *&one; // to itself
        CHECK(*one.get_if<std::string>() == "t");
    }
    CHECK(counted::alive == 0);
}

TEST_CASE("moving moves what is held; the old one still holds a value of that type") {
    {
        copyable from = counted(7);
        copyable to = std::move(from);
        CHECK(to.get_if<counted>()->number == 7);
        CHECK(from.get_if<counted>()->number == -1);
        CHECK(counted::alive == 2);
        copyable over = std::string("t");
        over = std::move(to);
        CHECK(over.get_if<counted>()->number == 7);
        CHECK(counted::alive == 3);
        over = nothing{};
        CHECK(over.holds<nothing>());
        CHECK(counted::alive == 2);
    }
    CHECK(counted::alive == 0);

    movable owner = std::make_unique<int>(7);
    movable next = std::move(owner);
    CHECK(**next.get_if<std::unique_ptr<int>>() == 7);
    CHECK(*owner.get_if<std::unique_ptr<int>>() == nullptr);
}

TEST_CASE("moving onto itself changes nothing") {
    copyable one = counted(7);
    copyable& same = one;
    one = std::move(same);
    CHECK(one.get_if<counted>()->number == 7);
    CHECK(counted::alive == 1);
}

struct uncopyable_today : counted {
    using counted::counted;
    uncopyable_today(uncopyable_today const& other) : counted(other) { throw 7; }
    uncopyable_today(uncopyable_today&&) noexcept = default;
    uncopyable_today& operator=(uncopyable_today const&) = default;
};

TEST_CASE("a copy that fails leaves nothing behind, and what was there as it was") {
    {
        using fragile = one_of<counted, uncopyable_today, std::string>;
        fragile const original = uncopyable_today(7);
        CHECK(counted::alive == 1);
        CHECK_THROWS(fragile(original));
        CHECK(counted::alive == 1);
        fragile other = counted(8);
        CHECK_THROWS(other = original);
        REQUIRE(other.holds<counted>());
        CHECK(other.get_if<counted>()->number == 8);
        CHECK(counted::alive == 2);
    }
    CHECK(counted::alive == 0);
}

// ---- visits -------------------------------------------------------------------------------------

int visited(copyable one) {
    return std::move(one).visit([](nothing) { return 1; }, [](counted c) { return c.number; },
                                [](std::string const& s) { return static_cast<int>(s.size()); });
}

TEST_CASE("a visit calls the one case that fits, whatever their order") {
    CHECK(visited(nothing{}) == 1);
    CHECK(visited(counted(7)) == 7);
    CHECK(visited(std::string("abc")) == 3);
    CHECK(counted::alive == 0);
    auto const backwards = [](copyable one) {
        return std::move(one).visit([](std::string) { return 's'; }, [](counted) { return 'c'; },
                                    [](nothing) { return 'n'; });
    };
    CHECK(backwards(nothing{}) == 'n');
    CHECK(backwards(counted(1)) == 'c');
    CHECK(backwards(std::string()) == 's');
}

TEST_CASE("a visit moves what is held into the case") {
    movable one = std::make_unique<int>(7);
    auto taken = std::move(one).visit([](nothing) { return std::unique_ptr<int>(); },
                                      [](std::unique_ptr<int> p) { return p; });
    REQUIRE(taken);
    CHECK(*taken == 7);
    CHECK(*one.get_if<std::unique_ptr<int>>() == nullptr);
}

TEST_CASE("one generic case may stand for all that have none of their own") {
    auto const kind = [](copyable one) {
        return std::move(one).visit(
            [](std::string) { return 1; },
            [](auto&& other) { return std::same_as<decltype(other), counted&&> ? 2 : 3; });
    };
    CHECK(kind(std::string()) == 1);
    CHECK(kind(counted(1)) == 2);
    CHECK(kind(nothing{}) == 3);
}

TEST_CASE("cases may change what is around them, return nothing, or a reference") {
    int calls = 0;
    copyable(nothing{}).visit([&](nothing) { ++calls; }, [](auto&&) {});
    CHECK(calls == 1);

    int a = 1, b = 2;
    auto const choose = [&](copyable one) -> int& {
        return std::move(one).visit([&](nothing) -> int& { return a; },
                                    [&](auto&&) -> int& { return b; });
    };
    choose(nothing{}) = 10;
    choose(counted(1)) = 20;
    CHECK(a == 10);
    CHECK(b == 20);
}

TEST_CASE("cases that can only be moved, and cases with a state") {
    CHECK(copyable(nothing{}).visit([p = std::make_unique<int>(7)](auto&&) { return *p; }) == 7);
    auto counting = [n = 0](auto&&) mutable { return ++n; };
    CHECK(copyable(nothing{}).visit(counting) == 1);
    CHECK(copyable(nothing{}).visit(counting) == 1); // cases are copied, unless moved in
}

// ---- what a case is about, for the errors -------------------------------------------------------

struct overloads {
    void operator()(nothing) {}
    void operator()(counted) {}
};
struct keeping {
    int operator()(counted const&) { return ++seen; }
    int seen = 0;
};
constexpr auto by_value = [](counted) {};
constexpr auto by_reference = [](counted&&) {};
constexpr auto generic = [](auto&&) {};
template <class Case> using taken_by = typename detail::taken_by<std::remove_cvref_t<Case>>::type;

static_assert(std::same_as<taken_by<decltype(by_value)>, counted>);
static_assert(std::same_as<taken_by<decltype(by_reference)>, counted>);
static_assert(std::same_as<taken_by<keeping>, counted>);
static_assert(std::same_as<taken_by<decltype(generic)>, std::remove_cvref_t<decltype(generic)>>);
static_assert(std::same_as<taken_by<overloads>, overloads>);

} // namespace
