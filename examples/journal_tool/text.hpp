// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef EXAMPLES_JOURNAL_TOOL_TEXT_HPP
#define EXAMPLES_JOURNAL_TOOL_TEXT_HPP

#include <indoubt/core/error.hpp>
#include <indoubt/core/identity.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <utility>

#include <time.h>

// How bytes and moments are shown: to people, and in JSON.

namespace journal_tool {

/// All of it, with every byte escaped that is not printable.
inline std::string escaped(std::string_view bytes) {
    constexpr std::size_t piece = 64; // as much as printable() shows
    std::string shown;
    for (std::size_t at = 0; at < bytes.size(); at += piece)
        shown += indoubt::printable(bytes.substr(at, piece));
    return shown;
}

inline std::string utc(indoubt::time_point t) {
    auto const whole = std::chrono::floor<std::chrono::seconds>(t);
    auto const ms = static_cast<int>((t - whole).count());
    auto const since = static_cast<time_t>(whole.time_since_epoch().count());
    struct tm at{};
    constexpr std::int64_t farthest = 253'402'300'800; // the year 10000
    if (since < -farthest / 10 || since >= farthest || ::gmtime_r(&since, &at) == nullptr)
        return std::to_string(t.time_since_epoch().count()) + " ms";
    char day[32], fraction[8];
    (void)std::strftime(day, sizeof day, "%Y-%m-%dT%H:%M:%S", &at);
    (void)std::snprintf(fraction, sizeof fraction, ".%03dZ", ms);
    return std::string(day) + fraction;
}

/// How long the UTF-8 character is that stands at the front; 0 if none does.
inline std::size_t utf8_length(std::string_view text) {
    auto const byte = [&](std::size_t i) {
        return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
    };
    unsigned const first = byte(0);
    if (first < 0x80) return 1;
    std::size_t const length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    if (first < 0xc2 || first > 0xf4) return 0;
    for (std::size_t i = 1; i != length; ++i)
        if ((byte(i) & 0xc0U) != 0x80) return 0;
    bool const overlong = (first == 0xe0 && byte(1) < 0xa0) || (first == 0xf0 && byte(1) < 0x90);
    bool const none = (first == 0xed && byte(1) >= 0xa0) || (first == 0xf4 && byte(1) >= 0x90);
    return overlong || none ? 0 : length;
}

/// A string; or {"hex":"..."} if the bytes are no text.
inline std::string as_json(std::string_view bytes) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string text = "\"";
    for (std::size_t at = 0; at < bytes.size();) {
        std::size_t const length = utf8_length(bytes.substr(at));
        if (length == 0) {
            text = "{\"hex\":\"";
            for (char const c : bytes) {
                auto const b = static_cast<unsigned char>(c);
                text.append(1, digits[b >> 4U]).append(1, digits[b & 15U]);
            }
            return text.append("\"}");
        }
        auto const b = static_cast<unsigned char>(bytes[at]);
        if (b < 0x20 || b == 0x7f) {
            text.append("\\u00").append(1, digits[b >> 4U]).append(1, digits[b & 15U]);
        } else if (b == '"' || b == '\\') {
            text.append("\\").append(1, bytes[at]);
        } else {
            text.append(bytes.substr(at, length));
        }
        at += length;
    }
    return text.append("\"");
}

/// One object of JSON, in one line.
class json_object {
public:
    json_object& text(std::string_view name, std::string_view value) {
        return raw(name, as_json(value));
    }
    json_object& number(std::string_view name, std::int64_t value) {
        return raw(name, std::to_string(value));
    }
    json_object& raw(std::string_view name, std::string_view value) {
        line_.append(line_.empty() ? "{\"" : ",\"").append(name).append("\":").append(value);
        return *this;
    }
    std::string line() const { return line_.empty() ? "{}" : line_ + '}'; }

private:
    std::string line_{};
};

class json_array {
public:
    void add(std::string_view value) {
        line_.append(line_.empty() ? "[" : ",").append(value);
        ++size_;
    }
    std::size_t size() const { return size_; }
    std::string line() const { return line_.empty() ? "[]" : line_ + ']'; }

private:
    std::string line_{};
    std::size_t size_ = 0;
};

} // namespace journal_tool

#endif
