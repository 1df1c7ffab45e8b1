// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef INDOUBT_ADAPTER_CANONICAL_JSON_WRITER_HPP
#define INDOUBT_ADAPTER_CANONICAL_JSON_WRITER_HPP

#include <indoubt/adapter/canonical_json/notation.hpp>
#include <indoubt/adapter/canonical_json/number.hpp>
#include <indoubt/adapter/canonical_json/shape.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

// Values to canonical JSON. reader.hpp takes exactly what this writes.

namespace indoubt::detail::json {

class writer {
public:
    /// Appends the form of value; false if this value has none: why() and where() say it.
    template <class T> bool write(T const& value) {
        constexpr shape s = shape_of<T>;
        if constexpr (s == shape::truth) {
            out_ += value ? "true" : "false";
        } else if constexpr (s == shape::integer) {
            append_integer(out_, value);
        } else if constexpr (s == shape::floating) {
            return append_floating(out_, value) || refuse("not a finite number");
        } else if constexpr (s == shape::text) {
            return write_text(value);
        } else if constexpr (has_own_codec<T>) {
            result<std::string> const bytes = codec<T>::encode(value);
            return bytes ? write_text(bytes.assume_value()) : refuse("refused by its own codec");
        } else if constexpr (s == shape::enumeration) {
            // Adding 0 makes a number of an enumeration over bool or a character.
            append_integer(out_, static_cast<std::underlying_type_t<T>>(value) + 0);
        } else if constexpr (s == shape::duration) {
            append_integer(out_, value.count());
        } else if constexpr (s == shape::moment) {
            append_integer(out_, value.time_since_epoch().count());
        } else if constexpr (s == shape::null) {
            out_ += "null";
        } else if constexpr (s == shape::optional) {
            if (value) return write(*value);
            out_ += "null";
        } else {
            if (depth_ == deepest) return refuse("nested too deeply");
            ++depth_;
            if (!write_nested(value)) return false;
            --depth_;
        }
        return true;
    }

    std::string&& take() && { return std::move(out_); }
    std::string_view why() const { return why_; }
    /// The names of the members on the way to what was refused, such as "address.city".
    std::string const& where() const { return where_; }

private:
    bool refuse(std::string_view why) {
        why_ = why;
        return false;
    }

    bool write_text(std::string_view text) {
        return append_quoted(out_, text) || refuse("not well-formed UTF-8");
    }

    void separate(bool& first) {
        if (!first) out_ += ',';
        first = false;
    }

    void write_key(std::string_view plain_name) {
        out_.append(1, '"').append(plain_name).append("\":");
    }

    template <class T> bool write_nested(T const& value) {
        constexpr shape s = shape_of<T>;
        if constexpr (s == shape::list || s == shape::row) {
            return write_elements(value);
        } else if constexpr (s == shape::map) {
            return write_entries(value);
        } else if constexpr (s == shape::choice) {
            return write_alternative(value);
        } else {
            static_assert(s == shape::structure);
            return write_members(value);
        }
    }

    template <class T> bool write_elements(T const& list) {
        bool first = true;
        out_ += '[';
        for (auto const& element : list) {
            separate(first);
            if (!write<typename T::value_type>(element)) return false;
        }
        out_ += ']';
        return true;
    }

    template <class T> bool write_entries(T const& map) {
        std::vector<typename T::value_type const*> entries;
        entries.reserve(map.size());
        for (auto const& entry : map)
            entries.push_back(&entry);
        std::ranges::sort(entries, comes_before,
                          [](auto const* entry) { return std::string_view(entry->first); });
        bool first = true;
        out_ += '{';
        for (auto const* entry : entries) {
            separate(first);
            if (!write_text(entry->first)) return false;
            out_ += ':';
            if (!write(entry->second)) return false;
        }
        out_ += '}';
        return true;
    }

    template <class... Ts> bool write_alternative(std::variant<Ts...> const& choice) {
        if (choice.valueless_by_exception()) return refuse("a variant without a value");
        out_ += '{';
        write_key(alternatives<std::variant<Ts...>>::tags[choice.index()]);
        bool const written = [&]<std::size_t... I>(std::index_sequence<I...>) {
            bool done = false;
            ((choice.index() == I && (done = write(*std::get_if<I>(&choice)))), ...);
            return done;
        }(std::index_sequence_for<Ts...>());
        out_ += '}';
        return written;
    }

    template <class T> bool write_members(T const& value) {
        bool first = true;
        out_ += '{';
        bool const written =
            members<T>::all_sorted([&](auto member) { return write_member(member, value, first); });
        out_ += '}';
        return written;
    }

    template <class Member, class T> bool write_member(Member, T const& value, bool& first) {
        auto const& held = Member::of(value);
        constexpr bool optional = shape_of<std::remove_cvref_t<decltype(held)>> == shape::optional;
        if constexpr (optional) {
            if (!held) return true;
        }
        separate(first);
        write_key(Member::name);
        bool written = false;
        if constexpr (optional) {
            written = write(*held);
        } else {
            written = write(held);
        }
        if (!written) where_.insert(0, where_.empty() ? "" : ".").insert(0, Member::name);
        return written;
    }

    std::string out_, where_;
    std::string_view why_;
    unsigned depth_ = 0;
};

} // namespace indoubt::detail::json

#endif
