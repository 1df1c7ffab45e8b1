// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef INDOUBT_ADAPTER_BOUNDED_BUDGET_HPP
#define INDOUBT_ADAPTER_BOUNDED_BUDGET_HPP

#include <indoubt/policy/retry_budget.hpp>

#include <algorithm>
#include <cstdint>
#include <optional>

#include <unistd.h>

#include <sys/random.h>

// The default budget: so many tries, one deadline over the whole life of an operation, and
// exponential delays with jitter in between. It has no memory: everything it counts is in the
// record, so a restart gives nothing away, and asking twice gives the same answer.

namespace indoubt {

/// How a delay is drawn. cap doubles from the first delay up to the longest.
enum class jitter : std::uint8_t {
    full,         ///< 0 to cap: spreads callers best
    equal,        ///< half of cap to cap
    decorrelated, ///< the first delay to three times the delay before, at most the longest
    none,         ///< cap itself
};

/// Write what differs from the defaults: .budget = {.attempts = 3, .overall = 60s}.
/// Negative durations count as 0.
struct bounded_budget {
    /// Tries over the whole life of an operation, the first one included; a supersession begins
    /// anew. The defaults spread them over some minutes, so that a short outage settles nothing.
    unsigned attempts = 10;
    /// The operation's deadline, from its first begin, waiting and restarts included. 0 is over at
    /// once; none: no deadline.
    std::optional<milliseconds> overall = milliseconds(86'400'000);
    indoubt::jitter jitter = indoubt::jitter::full;
    milliseconds first_delay{500};
    milliseconds longest_delay{300'000};
    /// Look-ups in one run, counted anew after each send; at least 2, for a try that had to wait is
    /// preceded by another look. They and the attempts do not use each other up.
    unsigned looks = 5;
    milliseconds first_look_delay{100};
    /// An attempt starts only with more time than this left before the deadline.
    milliseconds shortest_call{1};
    /// Equal seeds give equal delays. Read from the system once, unless given.
    std::uint64_t seed = entropy();

    std::optional<time_point> deadline(time_point begun) const {
        if (!overall) return std::nullopt;
        return plus(begun, at_least_zero(*overall));
    }

    /// A delay that would reach past the deadline is too late at once, so that nobody waits for
    /// nothing.
    allowance may_send(record const& r, time_point now, milliseconds) const {
        time_point const ends_at = r.deadline == time_point::max()
                                       ? r.deadline
                                       : plus(r.deadline, -at_least_zero(shortest_call));
        if (now >= ends_at) return {.what = allowance::kind::too_late};
        if (r.tries() >= std::uint64_t{attempts} + r.extra_attempts) {
            return {.what = allowance::kind::spent};
        }
        if (r.tries() != 0) {
            time_point const next = plus(r.last_sent(), send_delay(r));
            if (next >= ends_at) return {.what = allowance::kind::too_late};
            if (next > now) return {.what = allowance::kind::later, .not_before = next};
        }
        return {.what = allowance::kind::now, .ends_at = ends_at};
    }

    /// Bounded by count alone. The deadline and a provider that asks for time are about sends: an
    /// operation is given up when its deadline is over and the look-ups are spent.
    allowance may_look(record const&, time_point, milliseconds, unsigned made) const {
        return {.what = made < looks ? allowance::kind::now : allowance::kind::spent};
    }

    /// After so many looks in this run: the least time to the next one.
    milliseconds look_delay(record const& r, unsigned made) const {
        return delay(first_look_delay, made, mix(~seed) ^ r.operation);
    }

private:
    /// Jitter needs seeds that differ between processes, not seeds that nobody can guess.
    static std::uint64_t entropy() noexcept {
        std::uint64_t drawn = 0;
        if (::getentropy(&drawn, sizeof drawn) == 0) return drawn;
        return mix(reinterpret_cast<std::uintptr_t>(&drawn) ^ static_cast<std::uint64_t>(::getpid())
                                                                  << 32);
    }

    static constexpr time_point plus(time_point t, milliseconds d) {
        milliseconds const since = t.time_since_epoch();
        if (d > d.zero() && since > milliseconds::max() - d) return time_point::max();
        if (d < d.zero() && since < milliseconds::min() - d) return time_point::min();
        return t + d;
    }

    static constexpr milliseconds at_least_zero(milliseconds d) { return std::max(d, d.zero()); }

    milliseconds send_delay(record const& r) const {
        return delay(first_delay, r.tries(), mix(seed) ^ r.operation);
    }

    /// The delay after the nth try. Drawn from (stream, n) alone, so that it is the same each time.
    milliseconds delay(milliseconds stated_first, std::uint64_t n, std::uint64_t stream) const {
        milliseconds const longest = at_least_zero(longest_delay);
        milliseconds const first = std::min(at_least_zero(stated_first), longest);
        milliseconds cap = first, last = first;
        for (std::uint64_t i = 1; i <= n; ++i) {
            if (i > 1) cap = cap > longest / 2 ? longest : cap * 2;
            if (jitter == indoubt::jitter::decorrelated) {
                last = between(first, last > longest / 3 ? longest : last * 3, stream, i);
            } else if (cap == longest) {
                break;
            }
        }
        switch (jitter) {
        case indoubt::jitter::full: return between(milliseconds::zero(), cap, stream, n);
        case indoubt::jitter::equal: return between(cap / 2, cap, stream, n);
        case indoubt::jitter::decorrelated: return last;
        case indoubt::jitter::none: break;
        }
        return cap;
    }

    /// SplitMix64's finish: every bit of the result depends on every bit of x.
    static constexpr std::uint64_t mix(std::uint64_t x) {
        x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
        x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
        return x ^ (x >> 31);
    }

    static constexpr milliseconds between(milliseconds low, milliseconds high, std::uint64_t stream,
                                          std::uint64_t n) {
        std::uint64_t const drawn = mix(mix(stream) + n * 0x9e3779b97f4a7c15U);
        std::uint64_t const width = static_cast<std::uint64_t>((high - low).count()) + 1;
        return low + milliseconds(static_cast<milliseconds::rep>(drawn % width));
    }
};

static_assert(retry_budget_policy<bounded_budget> && spaces_looks<bounded_budget>);

} // namespace indoubt

#endif
