// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)

// The smallest program that runs one kind of write, to see what it costs a compiler.
#include <indoubt.hpp>

struct shop : indoubt::provider_of<std::string> {
    static constexpr auto target = "orders";
    static constexpr indoubt::contract contract{.lookup = indoubt::complete_lookup{}};
    reply submit(attempt const&) { return unknown{}; }
    answer lookup(query const&) { return complete{}; }
};

int main() {
    indoubt::recovery orders{
        indoubt::policies{.provider = shop{}, .storage = indoubt::memory_storage{}}};
    return orders.run({"me", "order-1"}, "one notebook").has_value() ? 0 : 1;
}
