// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
// Starts over under a new key while the first attempt may have been applied.
//
// expect-gcc: no matching function for call to 'supersede(
// expect-note-gcc: {aka 'indoubt::operation<indoubt::uncertain>'} to
// expect-note-clang: no known conversion from 'operation<indoubt::uncertain>' to
#include <indoubt/core/transitions.hpp>

using namespace indoubt;

#if defined(MISTAKE)
auto start_over(operation<uncertain>&& op, supersession&& word) {
#else
auto start_over(operation<rejected>&& op, supersession&& word) {
#endif
    return supersede(std::move(op), std::move(word));
}
