#include <indoubt.hpp>

#ifdef WITH_sodium
#include <indoubt/adapter/keyed_blake2b_key.hpp>
#endif
#ifdef WITH_xxhash
#include <indoubt/adapter/xxh3_fingerprint.hpp>
#endif

#include <array>
#include <cstddef>

int main() {
    bool well = indoubt::well_formed(indoubt::identity{"shop", "order-1"});
#ifdef WITH_sodium
    std::array<std::byte, indoubt::blake2b_secret_size> const secret{};
    well = well && indoubt::keyed_blake2b_key<>(secret)({"shop", "order-1"}, 1).size() == 32;
#endif
#ifdef WITH_xxhash
    well = well && indoubt::xxh3_fingerprint::digest({"shop", "order-1"}).size() == 16;
#endif
    return well ? 0 : 1;
}
