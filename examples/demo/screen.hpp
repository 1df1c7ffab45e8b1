// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef EXAMPLES_DEMO_SCREEN_HPP
#define EXAMPLES_DEMO_SCREEN_HPP

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include <unistd.h>

// How the demo tells its story: numbered steps, small tables, and after each what it proves. 80
// columns; colours on a terminal only, and not where NO_COLOR is set.

namespace demo {

class screen {
public:
    using table = std::vector<std::vector<std::string>>;

    void title(std::string_view text) { std::cout << paint(bold, text) << "\n\n"; }
    void text(std::string_view words) { wrap(words, "", ""); }

    void step(std::string_view text) {
        std::cout << '\n'
                  << paint(bold, std::to_string(++steps_) + ". " + std::string(text)) << '\n';
    }
    void fact(std::string_view what, std::string_view text, bool good) {
        std::cout << label(what) << paint(good ? bold : red, text) << '\n';
    }
    /// A table with its titles, or `if_empty` where it has no rows.
    void show(std::string_view what, std::vector<std::string> titles, table const& rows,
              std::string_view if_empty) {
        if (rows.empty()) {
            std::cout << label(what) << if_empty << '\n';
            return;
        }
        std::vector<std::size_t> widths;
        for (std::size_t i = 0; i != titles.size(); ++i) {
            widths.push_back(titles[i].size());
            for (auto const& row : rows)
                widths[i] = std::max(widths[i], row[i].size());
        }
        std::cout << label(what);
        line(titles, widths, [](std::string_view) { return dim; });
        for (auto const& row : rows) {
            std::cout << label("");
            line(row, widths, colour_of);
        }
    }
    void proves(std::string_view words) {
        std::cout << '\n';
        wrap(words, "   -> ", "      ");
    }
    void result(std::string_view text, bool good) {
        std::cout << '\n' << paint(good ? green : red, text) << '\n';
    }

private:
    static constexpr std::size_t columns = 80;
    static constexpr std::string_view plain = "0", bold = "1", dim = "2", red = "31", green = "32",
                                      yellow = "33";

    static std::string_view colour_of(std::string_view cell) {
        return cell == "uncertain" ? yellow : cell == "confirmed" ? green : plain;
    }
    static std::string label(std::string_view what) {
        std::string padded = "   " + std::string(what);
        padded.resize(13, ' ');
        return padded;
    }
    std::string paint(std::string_view colour, std::string_view text) const {
        if (!colours_ || colour == plain) return std::string(text);
        return "\033[" + std::string(colour) + 'm' + std::string(text) + "\033[0m";
    }

    template <class Colour>
    void line(std::vector<std::string> const& cells, std::vector<std::size_t> const& widths,
              Colour colour) const {
        for (std::size_t i = 0; i != cells.size(); ++i) {
            bool const last = i + 1 == cells.size();
            std::cout << paint(colour(cells[i]), cells[i])
                      << std::string(last ? 0 : widths[i] - cells[i].size() + 2, ' ');
        }
        std::cout << '\n';
    }
    static void wrap(std::string_view words, std::string_view first, std::string_view more) {
        auto indent = first;
        while (!words.empty()) {
            std::size_t const room = columns - indent.size();
            auto end = words.size() <= room ? words.size() : words.rfind(' ', room);
            std::cout << indent << words.substr(0, end) << '\n';
            words.remove_prefix(std::min(end + 1, words.size()));
            indent = more;
        }
    }

    bool colours_ = [] {
        char const* none = std::getenv("NO_COLOR");
        return ::isatty(STDOUT_FILENO) == 1 && (none == nullptr || *none == '\0');
    }();
    int steps_ = 0;
};

} // namespace demo

#endif
