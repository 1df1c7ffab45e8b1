// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef INDOUBT_TESTING_LAWS_HPP
#define INDOUBT_TESTING_LAWS_HPP

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

// What a law suite reports. The suites belong to no test framework: each runs over a model of a
// policy and collects the laws it breaks, in words, for whatever framework prints them.

namespace indoubt::testing {

class laws {
public:
    /// A broken law is kept once, however often it is broken, and no more than 32 in all.
    void expect(bool holds, std::string law) {
        ++checked_;
        if (holds || broken_.size() == most) return;
        if (std::ranges::find(broken_, law) == broken_.end()) broken_.push_back(std::move(law));
    }

    std::vector<std::string> const& broken() const { return broken_; }
    bool hold() const { return broken_.empty(); }
    /// How many expectations were checked: a suite that checks nothing holds too.
    std::size_t checked() const { return checked_; }

    /// All broken laws, one a line.
    std::string report() const {
        std::string lines;
        for (auto const& law : broken_)
            lines.append(law).append("\n");
        return lines;
    }

private:
    static constexpr std::size_t most = 32;
    std::vector<std::string> broken_;
    std::size_t checked_ = 0;
};

} // namespace indoubt::testing

#endif
