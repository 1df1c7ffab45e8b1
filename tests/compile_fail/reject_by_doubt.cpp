// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
// Tells the caller "it did not happen" because nobody knows.
//
// expect-note-gcc: {aka 'indoubt::doubt'} to 'indoubt::refusal&&'
// expect-note-clang: (aka 'indoubt::doubt') to 'refusal' for 2nd argument
#include <indoubt/core/transitions.hpp>

using namespace indoubt;

#if defined(MISTAKE)
auto give_up(operation<uncertain>&& op, doubt&& why) {
#else
auto give_up(operation<uncertain>&& op, refusal&& why) {
#endif
    return reject(std::move(op), std::move(why));
}
