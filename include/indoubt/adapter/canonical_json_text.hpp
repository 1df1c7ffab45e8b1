// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef INDOUBT_ADAPTER_CANONICAL_JSON_TEXT_HPP
#define INDOUBT_ADAPTER_CANONICAL_JSON_TEXT_HPP

#include <indoubt/adapter/canonical_json_text/document.hpp>
#include <indoubt/core/error.hpp>
#include <indoubt/core/identity.hpp>
#include <indoubt/policy/codec.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// A request that is any JSON document, for programs that pass on what they do not know: it has no
// struct, and two notations of one document are one request. The form is that of RFC 8785 (JSON
// Canonicalization Scheme), except that integers keep all their digits. Read by Boost.JSON.

namespace indoubt {

/// A JSON document in any notation. Two are equal if they have the same canonical form, or, where
/// one has none, the same bytes. The service is sent the canonical form and not this text.
struct canonical_json_text {
    std::string text = "null";

    friend bool operator==(canonical_json_text const& a, canonical_json_text const& b) {
        if (a.text == b.text) return true;
        auto const of_a = detail::json::read_document(a.text);
        auto const of_b = detail::json::read_document(b.text);
        return of_a && of_b && of_a.assume_value().form == of_b.assume_value().form;
    }
};

namespace detail::json {

inline void append_differing_names(std::string& names, std::string const& prefix, document const& a,
                                   document const& b) {
    auto const add = [&](std::string const& name) {
        names.append(names.empty() ? "" : ", ").append(prefix).append(printable(name));
    };
    std::size_t i = 0, k = 0;
    while (i < a.members.size() || k < b.members.size()) {
        bool const no_a = i == a.members.size(), no_b = k == b.members.size();
        if (no_b || (!no_a && comes_before(a.members[i].name, b.members[k].name))) {
            add(a.members[i++].name);
        } else if (no_a || comes_before(b.members[k].name, a.members[i].name)) {
            add(b.members[k++].name);
        } else {
            auto const& [name, of_a] = a.members[i++];
            std::string const& of_b = b.members[k++].form;
            if (of_a == of_b) continue;
            if (of_a.front() != '{' || of_b.front() != '{') {
                add(name);
            } else {
                append_differing_names(names, prefix + printable(name) + '.',
                                       read_document(of_a).value(), read_document(of_b).value());
            }
        }
    }
}

} // namespace detail::json

/// | in the document   | form                                                                  |
/// |-------------------|-----------------------------------------------------------------------|
/// | white space       | none                                                                  |
/// | objects           | members sorted by UTF-16 code units                                   |
/// | texts             | the escapes of RFC 8785 and no others; nothing is normalised          |
/// | integers          | all digits, if written without fraction and exponent or if the value  |
/// |                   | has at most 21 digits: 1, 1.0, 1e0 and 10e-1 are 1                    |
/// | other numbers     | the nearest double, as ECMAScript writes it: 1.50 is 1.5, 1E30 1e+30  |
/// | -0, 0.0           | 0                                                                     |
///
/// So an integer of more than 21 digits and the same value written with an exponent are different
/// requests, and fractions beyond the precision of a double are not told apart.
///
/// encode: rule::malformed_request for what is not JSON as RFC 8259 has it (comments, NaN, a byte
/// order mark, more after the end), a repeated member, text that is not UTF-8, surrogates without
/// their other half, numbers beyond the range of a double, and more than 64 levels of nesting;
/// detail() names the member and never holds its value. decode: rule::undecodable for all but
/// canonical forms. Thread safety: pure.
template <> struct codec<canonical_json_text> {
    static result<std::string> encode(canonical_json_text const& value) {
        BOOST_OUTCOME_TRY(auto made, detail::json::read_document(value.text));
        return std::move(made.form);
    }

    static result<canonical_json_text> decode(std::string_view bytes) {
        auto const made = detail::json::read_document(bytes);
        if (made && made.assume_value().form == bytes)
            return canonical_json_text{std::string(bytes)};
        return error(rule::undecodable);
    }

    /// The names of the members in which two documents differ, such as "item, address.city": for
    /// people who ask why an identity is refused. In the order of the form; escaped as in logs.
    /// "(document)" if one of the two is not an object or has no form. Never holds a value; empty
    /// if nothing differs.
    static std::string differing_members(canonical_json_text const& a,
                                         canonical_json_text const& b) {
        if (a == b) return {};
        auto const of_a = detail::json::read_document(a.text);
        auto const of_b = detail::json::read_document(b.text);
        bool const objects =
            of_a && of_b && of_a.assume_value().is_object && of_b.assume_value().is_object;
        if (!objects) return "(document)";
        std::string names;
        detail::json::append_differing_names(names, "", of_a.value(), of_b.value());
        return names;
    }
};

/// The same as codec<canonical_json_text>::differing_members.
inline std::string differing_members(canonical_json_text const& a, canonical_json_text const& b) {
    return codec<canonical_json_text>::differing_members(a, b);
}

} // namespace indoubt

#endif
