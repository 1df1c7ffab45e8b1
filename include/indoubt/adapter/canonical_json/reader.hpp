// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef INDOUBT_ADAPTER_CANONICAL_JSON_READER_HPP
#define INDOUBT_ADAPTER_CANONICAL_JSON_READER_HPP

#include <indoubt/adapter/canonical_json/notation.hpp>
#include <indoubt/adapter/canonical_json/number.hpp>
#include <indoubt/adapter/canonical_json/shape.hpp>
#include <indoubt/adapter/canonical_json/writer.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

// Canonical JSON to values. The type says what must come next, so reading takes the bytes that
// writer.hpp writes for a value of this type and stops at the first other one.

namespace indoubt::detail::json {

class reader {
public:
    explicit reader(std::string_view bytes) : rest_(bytes), size_(bytes.size()) {}

    /// Takes the form of a T from the front of the rest; false if it is not there.
    template <class T> bool read(T& value) {
        constexpr shape s = shape_of<T>;
        if constexpr (s == shape::truth) {
            value = rest_.starts_with('t');
            return take(value ? "true" : "false");
        } else if constexpr (s == shape::integer) {
            return take_integer(rest_, value);
        } else if constexpr (s == shape::floating) {
            return take_floating(rest_, value);
        } else if constexpr (s == shape::text) {
            return take_quoted(rest_, value);
        } else if constexpr (has_own_codec<T>) {
            return read_by_own_codec(value);
        } else if constexpr (s == shape::enumeration) {
            return read_enumeration(value);
        } else if constexpr (s == shape::duration) {
            typename T::rep count{};
            bool const read = take_integer(rest_, count);
            value = T(count);
            return read;
        } else if constexpr (s == shape::moment) {
            typename T::duration since_epoch{};
            bool const taken = read(since_epoch);
            value = T(since_epoch);
            return taken;
        } else if constexpr (s == shape::null) {
            return take("null");
        } else if constexpr (s == shape::optional) {
            value.reset();
            return take("null") || read(value.emplace());
        } else {
            if (depth_ == deepest) return false;
            ++depth_;
            bool const read = read_nested(value);
            --depth_;
            return read;
        }
    }

    bool at_end() const { return rest_.empty(); }
    /// How many bytes were taken.
    std::size_t position() const { return size_ - rest_.size(); }

private:
    bool take(std::string_view text) {
        if (!rest_.starts_with(text)) return false;
        rest_.remove_prefix(text.size());
        return true;
    }

    /// What stands between two elements; nothing before the first.
    bool take_separator(bool& first) {
        if (first) {
            first = false;
            return true;
        }
        return take(",");
    }

    /// "name": with a separator before it, all of it or nothing.
    bool take_key(std::string_view plain_name, bool& first) {
        std::string_view const before = rest_;
        bool const was_first = first;
        if (take_separator(first) && take("\"") && take(plain_name) && take("\":")) return true;
        rest_ = before;
        first = was_first;
        return false;
    }

    template <class T> bool read_by_own_codec(T& value) {
        std::string bytes;
        if (!take_quoted(rest_, bytes)) return false;
        result<T> decoded = codec<T>::decode(bytes);
        if (decoded) value = std::move(decoded).assume_value();
        return decoded.has_value();
    }

    template <class T> bool read_enumeration(T& value) {
        using underlying = std::underlying_type_t<T>;
        decltype(underlying() + 0) number{};
        if (!take_integer(rest_, number)) return false;
        value = static_cast<T>(static_cast<underlying>(number));
        return static_cast<underlying>(value) + 0 == number;
    }

    template <class T> bool read_nested(T& value) {
        constexpr shape s = shape_of<T>;
        if constexpr (s == shape::list) {
            return read_list(value);
        } else if constexpr (s == shape::row) {
            return read_row(value);
        } else if constexpr (s == shape::map) {
            return read_entries(value);
        } else if constexpr (s == shape::choice) {
            return read_alternative(value);
        } else {
            static_assert(s == shape::structure);
            return read_members(value);
        }
    }

    template <class T> bool read_list(T& list) {
        list.clear();
        if (!take("[")) return false;
        for (bool first = true; !take("]");) {
            typename T::value_type element{};
            if (!take_separator(first) || !read(element)) return false;
            list.push_back(std::move(element));
        }
        return true;
    }

    template <class T> bool read_row(T& row) {
        bool first = true;
        if (!take("[")) return false;
        for (auto& element : row)
            if (!take_separator(first) || !read(element)) return false;
        return take("]");
    }

    template <class T> bool read_entries(T& map) {
        map.clear();
        if (!take("{")) return false;
        std::string previous;
        for (bool first = true; !take("}");) {
            bool const has_previous = !first;
            std::string key;
            typename T::mapped_type value{};
            if (!take_separator(first) || !take_quoted(rest_, key)) return false;
            if (has_previous && !comes_before(previous, key)) return false;
            previous = key;
            if (!take(":") || !read(value)) return false;
            if (!map.emplace(std::move(key), std::move(value)).second) return false;
        }
        return true;
    }

    template <class... Ts> bool read_alternative(std::variant<Ts...>& choice) {
        constexpr auto const& tags = alternatives<std::variant<Ts...>>::tags;
        if (!take("{")) return false;
        bool const taken = [&]<std::size_t... I>(std::index_sequence<I...>) {
            bool first = true, done = false;
            (void)((take_key(tags[I], first) && (done = read_into<I>(choice), true)) || ...);
            return done;
        }(std::index_sequence_for<Ts...>());
        return taken && take("}");
    }

    template <std::size_t I, class... Ts> bool read_into(std::variant<Ts...>& choice) {
        std::variant_alternative_t<I, std::variant<Ts...>> held{};
        if (!read(held)) return false;
        choice.template emplace<I>(std::move(held));
        return true;
    }

    template <class T> bool read_members(T& value) {
        bool first = true;
        if (!take("{")) return false;
        bool const taken =
            members<T>::all_sorted([&](auto member) { return read_member(member, value, first); });
        return taken && take("}");
    }

    template <class Member, class T> bool read_member(Member, T& value, bool& first) {
        auto& held = Member::of(value);
        bool const named = take_key(Member::name, first);
        if constexpr (shape_of<std::remove_reference_t<decltype(held)>> == shape::optional) {
            held.reset();
            return !named || read(held.emplace());
        } else {
            return named && read(held);
        }
    }

    std::string_view rest_;
    std::size_t size_;
    unsigned depth_ = 0;
};

} // namespace indoubt::detail::json

#endif
