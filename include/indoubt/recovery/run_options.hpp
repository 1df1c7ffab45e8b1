// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef INDOUBT_RECOVERY_RUN_OPTIONS_HPP
#define INDOUBT_RECOVERY_RUN_OPTIONS_HPP

#include <indoubt/core/error.hpp>

#include <cstdint>
#include <optional>
#include <stop_token>

// What a caller of recovery may ask for, and what he gets when the effect is proven.

namespace indoubt {

/// The effect exists. The library makes this only from a record in state confirmed.
template <class Receipt> struct confirmation {
    Receipt receipt;
    unsigned attempts = 0;        ///< sends recorded for this operation, over all runs
    bool before_this_run = false; ///< it was confirmed already when this call began
    bool seen_now = false;        ///< this call observed it
};

/// When a confirmation may be told, to the caller and to the observer.
enum class tell : std::uint8_t {
    durable, ///< after a flush
    early,   ///< at once, if a look-up gave it: after a power loss it is looked up again
};

struct run_options {
    /// Bounds this call and changes no state. Unset: one minute; 0: expired, nothing is asked.
    std::optional<milliseconds> deadline{};
    std::stop_token stop{};
    /// A confirmed operation is not looked up again.
    bool trust_record = false;
    indoubt::tell tell = tell::durable;
};

inline constexpr milliseconds default_run_deadline{60'000};

} // namespace indoubt

#endif
