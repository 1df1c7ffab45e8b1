// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef INDOUBT_ADAPTER_KEYED_BLAKE2B_SECRET_HPP
#define INDOUBT_ADAPTER_KEYED_BLAKE2B_SECRET_HPP

#include <sodium.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

// A secret, and what is computed with it: BLAKE2b with a key, by libsodium.

namespace indoubt {

/// How many bytes a secret has. Take them from a generator made for this
/// (crypto_generichash_keygen, openssl rand 32), never from a password.
inline constexpr std::size_t blake2b_secret_size = crypto_generichash_KEYBYTES;

namespace detail {

/// Wiped when it is destroyed, as each copy of it is, and never given out.
class blake2b_secret {
public:
    explicit blake2b_secret(std::span<std::byte const, blake2b_secret_size> bytes) {
        // Finds the fastest code for this machine. If it fails, the hash works all the same.
        [[maybe_unused]] int const ready = sodium_init();
        std::ranges::transform(bytes, bytes_.begin(), std::to_integer<unsigned char>);
    }
    blake2b_secret(blake2b_secret const&) = default;
    blake2b_secret& operator=(blake2b_secret const&) = default;
    ~blake2b_secret() { sodium_memzero(bytes_.data(), bytes_.size()); }

    /// The keyed hash of the parts, size bytes long (16 to 64). Lists of parts never run into each
    /// other: each part comes after its length in decimal digits and a colon. Hashes of different
    /// sizes have nothing in common. The first part says what the hash is for, so that one secret
    /// can serve two uses.
    std::string hash(std::initializer_list<std::string_view> parts, std::size_t size) const {
        crypto_generichash_state state;
        crypto_generichash_init(&state, bytes_.data(), bytes_.size(), size);
        auto const update = [&state](std::string_view text) {
            auto const* const first = reinterpret_cast<unsigned char const*>(text.data());
            crypto_generichash_update(&state, first, text.size());
        };
        for (std::string_view const part : parts) {
            update(std::to_string(part.size()) + ':');
            update(part);
        }
        std::string made(size, '\0');
        crypto_generichash_final(&state, reinterpret_cast<unsigned char*>(made.data()), size);
        return made;
    }

private:
    std::array<unsigned char, blake2b_secret_size> bytes_;
};

/// In lower-case hexadecimal digits, without branches or tables that depend on the bytes.
inline std::string hex_of(std::string_view bytes) {
    std::string digits(2 * bytes.size() + 1, '\0'); // sodium_bin2hex writes a 0 after the digits
    sodium_bin2hex(digits.data(), digits.size(),
                   reinterpret_cast<unsigned char const*>(bytes.data()), bytes.size());
    digits.pop_back();
    return digits;
}

} // namespace detail

} // namespace indoubt

#endif
