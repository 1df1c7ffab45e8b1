// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef EXAMPLES_JOURNAL_TOOL_SALVAGE_HPP
#define EXAMPLES_JOURNAL_TOOL_SALVAGE_HPP

#include <indoubt/core/error.hpp>

#include <cstddef>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

namespace journal_tool {

/// What was found in a damaged journal: lines of JSON, and what had to be left.
struct salvaged {
    std::ofstream out;
    std::size_t operations = 0, names = 0;
    std::vector<std::string> skipped{};

    void operation(std::string_view line) {
        out << line << '\n';
        ++operations;
    }
    void name(std::string_view line) {
        out << line << '\n';
        ++names;
    }
};

} // namespace journal_tool

#endif
