// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
// Tells the caller "it did not happen" because a look-up showed nothing.
//
// expect-note-gcc: {aka 'indoubt::observation'} to 'indoubt::refusal&&'
// expect-note-clang: (aka 'indoubt::observation') to 'refusal' for 2nd argument
#include <indoubt/core/transitions.hpp>
#include <indoubt/recovery/weigh.hpp>

using namespace indoubt;

#if defined(MISTAKE)
auto give_up(operation<uncertain>&& op, observation&& absence) {
#else
auto give_up(operation<uncertain>&& op, refusal&& absence) {
#endif
    return reject(std::move(op), std::move(absence));
}
