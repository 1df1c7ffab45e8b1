// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef INDOUBT_TESTING_SEEDED_RANDOM_HPP
#define INDOUBT_TESTING_SEEDED_RANDOM_HPP

#include <cstdint>

// Random choices that a seed repeats, on every machine and with every standard library. A test
// prints the seed it failed with. (SplitMix64: small, fast, good enough to choose; not a secret.)

namespace indoubt::testing {

class seeded_random {
public:
    constexpr explicit seeded_random(std::uint64_t seed) : seed_(seed), state_(seed) {}

    constexpr std::uint64_t seed() const { return seed_; }

    /// Any 64 bits.
    constexpr std::uint64_t next() {
        std::uint64_t z = state_ += 0x9e3779b97f4a7c15U;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
        return z ^ (z >> 31);
    }

    /// One of 0 to n - 1, each as likely as the others; 0 if n is 0.
    constexpr std::uint64_t below(std::uint64_t n) {
        if (n == 0) return 0;
        // The topmost incomplete run of n numbers would make small ones more likely.
        std::uint64_t const complete = UINT64_MAX - (UINT64_MAX % n + 1) % n;
        std::uint64_t drawn = next();
        while (drawn > complete)
            drawn = next();
        return drawn % n;
    }

    /// One of low to high, both included. low must not be larger than high.
    constexpr std::int64_t between(std::int64_t low, std::int64_t high) {
        std::uint64_t const width =
            static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low) + 1;
        return static_cast<std::int64_t>(static_cast<std::uint64_t>(low) +
                                         (width == 0 ? next() : below(width)));
    }

    /// True with probability p: never at 0, always at 1.
    constexpr bool chance(double p) { return static_cast<double>(next() >> 11) * 0x1p-53 < p; }

private:
    std::uint64_t seed_, state_;
};

} // namespace indoubt::testing

#endif
