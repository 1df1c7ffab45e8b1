// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
// Tells the caller "it did not happen" because there was nothing more to do.
//
// expect-note-gcc: {aka 'indoubt::stop'} to 'indoubt::refusal&&'
// expect-note-clang: (aka 'indoubt::stop') to 'refusal' for 2nd argument
#include <indoubt/core/transitions.hpp>
#include <indoubt/recovery/decide.hpp>

using namespace indoubt;

#if defined(MISTAKE)
auto give_up(operation<uncertain>&& op, stop&& nothing_left) {
#else
auto give_up(operation<uncertain>&& op, refusal&& nothing_left) {
#endif
    return reject(std::move(op), std::move(nothing_left));
}
