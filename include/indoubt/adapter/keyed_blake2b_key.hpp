// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef INDOUBT_ADAPTER_KEYED_BLAKE2B_KEY_HPP
#define INDOUBT_ADAPTER_KEYED_BLAKE2B_KEY_HPP

#include <indoubt/adapter/keyed_blake2b/secret.hpp>
#include <indoubt/core/identity.hpp>

#include <cstddef>
#include <span>
#include <string>

// Provider keys that say nothing: for a service that shows the key to others, such as a marker in
// the text of a public comment.

namespace indoubt {

/// Makes the provider key of an identity: Characters lower-case hexadecimal digits. Without the
/// secret nobody can tell which operation a key belongs to, whether two keys have anything in
/// common, or which key will come next, and so nobody can write a key before the program does.
/// What is once public can be copied, as every marker can.
///
///     std::string key_for(indoubt::identity const& id, unsigned generation) const {
///         return keys(id, generation);
///     }
///
/// Two of n identities have one key with a chance of about n * n / 2^129 at 32 characters. The
/// journal finds that before anything is sent. It also keeps the key, so that another secret
/// changes only the keys of operations that are new or are superseded. Thread safety: const.
template <std::size_t Characters = 32>
    requires(Characters >= 32 && Characters <= 64 && Characters % 2 == 0)
class keyed_blake2b_key {
public:
    /// Takes exactly 32 bytes; they are copied and may be wiped at once.
    explicit keyed_blake2b_key(std::span<std::byte const, blake2b_secret_size> secret)
        : secret_(secret) {}

    std::string operator()(identity const& id, unsigned generation) const {
        return detail::hex_of(
            secret_.hash({"indoubt provider key", id.scope, id.key, std::to_string(generation)},
                         Characters / 2));
    }

private:
    detail::blake2b_secret secret_;
};

} // namespace indoubt

#endif
