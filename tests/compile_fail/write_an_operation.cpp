// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
// Writes an operation, where only a step can be written.
//
// expect-gcc: no matching function for call to
// expect-note-gcc: is not derived from 'indoubt::result<indoubt::step<To> >'
// expect-clang: no matching member function for call to 'write'
// expect-note-clang: to 'result<departure>'
#include "shop.hpp"

using namespace indoubt;

using shop_journal = journal<memory_storage, system_clock>;

#if defined(MISTAKE)
auto keep(shop_journal& book, operation<pending>& op) {
    return book.write(std::move(op));
}
#else
auto keep(shop_journal& book, operation<pending>& op, cancellation word) {
    return book.write(cancel(std::move(op), std::move(word)));
}
#endif
