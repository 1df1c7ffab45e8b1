// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef EXAMPLES_JOURNAL_TOOL_JOURNAL_HPP
#define EXAMPLES_JOURNAL_TOOL_JOURNAL_HPP

#include <indoubt/core/record.hpp>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

// What the commands ask of a journal, whichever kind it is.

namespace journal_tool {

using indoubt::result;

/// A journal that is read, and never changed. Nobody else can open it meanwhile.
class journal {
public:
    /// Both return whether to go on.
    using see_operation = std::function<bool(indoubt::record const&)>;
    using see_name = std::function<bool(std::string_view name, indoubt::identity const&)>;

    journal() = default;
    journal(journal const&) = delete;
    journal& operator=(journal const&) = delete;
    virtual ~journal() = default;

    /// Each operation once, as it stands.
    virtual result<void> each_operation(see_operation const& see) = 0;
    virtual result<void> each_name(see_name const& see) = 0;

    /// Sentences about what is not as it was written, though the records can be read.
    virtual result<std::vector<std::string>> flaws() = 0;

    struct file {
        std::string name;
        std::uint64_t bytes = 0;
    };
    /// What holds the records on disk.
    virtual std::vector<file> files() = 0;

    virtual std::uint32_t epoch() const = 0;
    virtual indoubt::time_point high_water() const = 0;
};

} // namespace journal_tool

#endif
