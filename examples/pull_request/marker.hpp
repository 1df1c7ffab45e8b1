// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef EXAMPLES_PULL_REQUEST_MARKER_HPP
#define EXAMPLES_PULL_REQUEST_MARKER_HPP

#include <string>
#include <string_view>
#include <vector>

// A service that takes no key stores the text that it is given. A marker carries our key in that
// text, as a comment that nobody sees on the page:
//
//     Fixes the parser.
//
//     <!-- indoubt: pull/parser -->
//
// Anybody can write one. It says whose effect it is only together with the author.

namespace pull_request {

/// What a key in a marker may be made of: nothing that could end the comment.
inline constexpr std::string_view marker_alphabet =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./";

inline constexpr std::string_view marker_begin = "\n\n<!-- indoubt: ", marker_end = " -->";

inline std::string with_marker(std::string text, std::string_view key) {
    return text.append(marker_begin).append(key).append(marker_end);
}

/// A text, and the keys of all markers in it.
struct marked_text {
    std::string text;
    std::vector<std::string> keys;
};

inline marked_text read_markers(std::string_view body) {
    marked_text found;
    std::string_view const begin = marker_begin.substr(2); // the empty line may have been removed
    for (;;) {
        auto const at = body.find(begin);
        if (at == body.npos) {
            found.text += body;
            return found;
        }
        auto const after = body.substr(at + begin.size());
        auto const key = after.substr(0, after.find_first_not_of(marker_alphabet));
        if (key.empty() || !after.substr(key.size()).starts_with(marker_end)) {
            found.text += body.substr(0, at + begin.size()); // looks like one, and is none
            body = after;
            continue;
        }
        auto before = body.substr(0, at);
        if (before.ends_with("\n\n")) before.remove_suffix(2);
        found.text += before;
        found.keys.emplace_back(key);
        body = after.substr(key.size() + marker_end.size());
    }
}

} // namespace pull_request

#endif
