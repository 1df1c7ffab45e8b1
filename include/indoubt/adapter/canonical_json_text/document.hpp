// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef INDOUBT_ADAPTER_CANONICAL_JSON_TEXT_DOCUMENT_HPP
#define INDOUBT_ADAPTER_CANONICAL_JSON_TEXT_DOCUMENT_HPP

#include <indoubt/adapter/canonical_json/notation.hpp>
#include <indoubt/adapter/canonical_json/number.hpp>
#include <indoubt/core/error.hpp>
#include <indoubt/core/identity.hpp>

#include <boost/json/basic_parser_impl.hpp>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

// Any JSON document to its canonical form. Boost.JSON reads it, event by event, and nothing is kept
// of a value but its form: its own containers would round numbers and forget a repeated member.

namespace indoubt::detail::json {

/// Appends the form of a number that is written as JSON allows; false if it is too large for a
/// double, or so small that a double would be 0. An integer keeps all its digits if it is written
/// without fraction and exponent, or if its value has at most 21 digits.
inline bool append_number(std::string& out, std::string_view text) {
    bool const negative = text.starts_with('-');
    std::string_view const size = text.substr(negative ? 1 : 0);
    std::string_view const mantissa = size.substr(0, size.find_first_of("eE"));
    std::string_view const whole = mantissa.substr(0, mantissa.find('.'));
    std::string digits(whole);
    if (mantissa != whole) digits += mantissa.substr(whole.size() + 1);
    if (digits.find_first_not_of('0') == std::string::npos) {
        out += '0';
        return true;
    }
    if (whole == size) {
        out += text;
        return true;
    }

    std::string_view exponent = size.substr(mantissa.size());
    if (!exponent.empty()) exponent.remove_prefix(1);
    if (exponent.starts_with('+')) exponent.remove_prefix(1);
    std::int64_t power = 0;
    std::from_chars(exponent.data(), exponent.data() + exponent.size(), power);
    std::size_t const leading_zeros = digits.find_first_not_of('0');
    digits.erase(digits.find_last_not_of('0') + 1).erase(0, leading_zeros);
    std::int64_t const point =
        power + static_cast<std::int64_t>(whole.size()) - static_cast<std::int64_t>(leading_zeros);
    if (std::cmp_less_equal(digits.size(), point) && point <= 21) {
        if (negative) out += '-';
        append_digits(out, digits, static_cast<int>(point));
        return true;
    }
    double value = 0;
    auto const read = std::from_chars(text.data(), text.data() + text.size(), value);
    return read.ec == std::errc() && append_floating(out, value);
}

struct named_form {
    std::string name, form;
};

/// A document in canonical form. If it is an object: its members, in the order of the form.
struct document {
    std::string form;
    std::vector<named_form> members;
    bool is_object = false;
};

/// What Boost.JSON's parser calls. Every value that is complete is handed to what it stands in.
class document_handler {
public:
    using code = boost::system::error_code;
    using view = boost::json::string_view;

    static constexpr std::size_t max_array_size = std::numeric_limits<std::size_t>::max();
    static constexpr std::size_t max_object_size = max_array_size;
    static constexpr std::size_t max_string_size = max_array_size;
    static constexpr std::size_t max_key_size = max_array_size;

    bool on_document_begin(code&) { return true; }
    bool on_document_end(code&) { return true; }
    bool on_array_begin(code&) { return open(false); }
    bool on_array_end(std::size_t, code&) {
        std::string form = '[' + std::move(open_.back().elements) + ']';
        open_.pop_back();
        return take(std::move(form));
    }
    bool on_object_begin(code&) { return open(true); }
    bool on_object_end(std::size_t, code& ec) {
        std::vector<named_form> members = std::move(open_.back().members);
        std::ranges::sort(members, comes_before, &named_form::name);
        auto const twice = std::ranges::adjacent_find(members, {}, &named_form::name);
        if (twice != members.end()) {
            open_.back().name = std::move(twice->name);
            return refuse("a repeated member", ec);
        }
        std::string form = "{";
        for (auto const& [name, value] : members) {
            if (form.size() > 1) form += ',';
            append_quoted(form, name);
            form.append(1, ':').append(value);
        }
        form += '}';
        open_.pop_back();
        if (open_.empty()) {
            made_.members = std::move(members);
            made_.is_object = true;
        }
        return take(std::move(form));
    }
    bool on_key_part(view part, std::size_t, code&) { return collect(part); }
    bool on_key(view rest, std::size_t, code&) {
        collect(rest);
        open_.back().name = std::exchange(collected_, {});
        return true;
    }
    bool on_string_part(view part, std::size_t, code&) { return collect(part); }
    bool on_string(view rest, std::size_t, code& ec) {
        collect(rest);
        std::string form;
        bool const well_formed = append_quoted(form, std::exchange(collected_, {}));
        return well_formed ? take(std::move(form)) : refuse("not well-formed UTF-8", ec);
    }
    bool on_number_part(view part, code&) { return collect(part); }
    bool on_int64(std::int64_t, view rest, code& ec) { return take_number(rest, ec); }
    bool on_uint64(std::uint64_t, view rest, code& ec) { return take_number(rest, ec); }
    bool on_double(double, view rest, code& ec) { return take_number(rest, ec); }
    bool on_bool(bool value, code&) { return take(value ? "true" : "false"); }
    bool on_null(code&) { return take("null"); }
    bool on_comment_part(view, code&) { return true; }
    bool on_comment(view, code&) { return true; }

    document&& made() && { return std::move(made_); }
    /// Why this handler stopped the parser; empty if it did not.
    std::string_view why() const { return why_; }
    /// The names of the members on the way to where reading ended, such as "address.city".
    std::string where() const {
        std::string names;
        for (auto const& value : open_) {
            if (value.is_object)
                names.append(names.empty() ? "" : ".").append(printable(value.name));
        }
        return names;
    }

private:
    /// An array or object whose end is not read yet.
    struct open_value {
        bool is_object = false;
        std::string elements;            ///< the forms of an array's, with commas
        std::string name;                ///< of the object's member that is being read
        std::vector<named_form> members; ///< of an object
    };

    bool open(bool is_object) {
        open_.push_back({is_object, {}, {}, {}});
        return true;
    }

    bool collect(view part) {
        collected_.append(part.data(), part.size());
        return true;
    }

    bool take(std::string form) {
        if (open_.empty()) {
            made_.form = std::move(form);
        } else if (open_value& into = open_.back(); into.is_object) {
            into.members.push_back({std::exchange(into.name, {}), std::move(form)});
        } else {
            if (!into.elements.empty()) into.elements += ',';
            into.elements += form;
        }
        return true;
    }

    bool take_number(view rest, code& ec) {
        collect(rest);
        std::string form;
        bool const in_range = append_number(form, std::exchange(collected_, {}));
        return in_range ? take(std::move(form)) : refuse("a number out of range", ec);
    }

    bool refuse(std::string_view why, code& ec) {
        why_ = why;
        ec = boost::json::error::exception; // any code stops the parser; why() is what is told
        return false;
    }

    document made_;
    std::vector<open_value> open_;
    std::string collected_; ///< the parts of a text or number that came so far
    std::string_view why_;
};

/// The document in text, or rule::malformed_request.
inline result<document> read_document(std::string_view text) {
    boost::json::parse_options strict;
    strict.max_depth = deepest;
    boost::json::basic_parser<document_handler> parser(strict);
    boost::system::error_code ec;
    std::size_t const used = parser.write_some(false, text.data(), text.size(), ec);
    if (!ec && used == text.size()) return std::move(parser.handler()).made();

    std::string detail = parser.handler().where();
    detail.append(detail.empty() ? "" : ": ");
    if (!ec) {
        detail += "more after its end";
    } else if (!parser.handler().why().empty()) {
        detail += parser.handler().why();
    } else {
        detail += ec.message();
    }
    return error(rule::malformed_request).saying(std::move(detail));
}

} // namespace indoubt::detail::json

#endif
