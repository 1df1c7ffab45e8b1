// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef INDOUBT_ADAPTER_SHA256_FINGERPRINT_HPP
#define INDOUBT_ADAPTER_SHA256_FINGERPRINT_HPP

#include <indoubt/policy/fingerprint.hpp>

#include <openssl/crypto.h>
#include <openssl/evp.h>

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

// A fingerprint that needs no stored request: SHA-256, by OpenSSL. Whoever reads the journal and
// can guess the request can check the guess against the digest. Where the request holds a secret of
// few possible values (a card number, a birthday, a small amount), use keyed_blake2b_fingerprint.

namespace indoubt {

/// The digest is the 32 bytes of SHA-256 over the length of the target in decimal digits, a colon,
/// the target and the request: "6:orders" and then the request.
///
/// OpenSSL may refuse to compute it: where it is configured without SHA-256, or when memory is
/// exhausted. The digest is then empty, and an empty digest is the same as nothing. An operation
/// that was recorded with one is conflicting_intent when it is run again, and never sent twice.
/// Ask works() when the program starts.
struct sha256_fingerprint {
    static constexpr std::string_view rule() { return "sha256/1"; }

    static bool works() { return !digest({}).empty(); }

    static std::string digest(content const& c) {
        std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> const hash(EVP_MD_CTX_new(),
                                                                           &EVP_MD_CTX_free);
        std::string const length = std::to_string(c.target.size()) + ':';
        auto const update = [&hash](std::string_view bytes) {
            return EVP_DigestUpdate(hash.get(), bytes.data(), bytes.size()) == 1;
        };
        std::string made(size, '\0');
        auto* const out = reinterpret_cast<unsigned char*>(made.data());
        bool const computed = hash && EVP_DigestInit_ex(hash.get(), EVP_sha256(), nullptr) == 1 &&
                              update(length) && update(c.target) && update(c.request) &&
                              EVP_DigestFinal_ex(hash.get(), out, nullptr) == 1;
        if (!computed) made.clear();
        return made;
    }

    /// Compares digests only: the stored request may be gone.
    static bool same(std::string_view digest, content const&, content const& given) {
        std::string const theirs = sha256_fingerprint::digest(given);
        return digest.size() == size && theirs.size() == size &&
               CRYPTO_memcmp(digest.data(), theirs.data(), size) == 0;
    }

private:
    static constexpr std::size_t size = 32; // bytes
};

static_assert(fingerprint_policy<sha256_fingerprint>);

} // namespace indoubt

#endif
