// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)

// What the library costs beside a journal written by hand: a new operation from begin to told, in
// memory, with a provider that answers at once and whose reply is proof. The one by hand is a
// switch over a map. It keeps the same facts, asks the same budget, fingerprint, codec and clock,
// binds the provider's key and the receipt, and reads the row again before the send; it changes
// its rows in place and has no types, evidence, table or storage policy. Slices of the two
// alternate in one process, so that a noisy machine hits both: the figure that counts is the ratio.

#include <indoubt.hpp>

#include <boost/unordered/unordered_flat_map.hpp>

#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace {
std::uint64_t allocations = 0; // the benchmark has one thread
}

// The library's own operator new is replaced to count; GCC takes the pair for a mismatch.
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"

void* operator new(std::size_t size) {
    ++allocations;
    if (void* p = std::malloc(size)) return p;
    throw std::bad_alloc();
}
void operator delete(void* p) noexcept {
    std::free(p);
}
void operator delete(void* p, std::size_t) noexcept {
    std::free(p);
}

namespace {

using namespace indoubt;

// ---- what both talk to --------------------------------------------------------------------------

/// Short, as numbers at a provider are, and another one for every key.
std::string receipt_of(std::string_view key) {
    return "r" + std::string(key.substr(7));
}

struct instant_provider : provider_of<std::string> {
    static constexpr auto target = "orders";
    static constexpr indoubt::contract contract{
        .reply = proof{.documented_at = "https://example.org/api#keys"}};
    keyed_reply submit(attempt const& a) {
        benchmark::DoNotOptimize(a.bytes().data());
        return accepted_with_key{receipt_of(a.key()), std::string(a.key())};
    }
};

std::string const request_text = R"({"item":"practice-notebook","quantity":1})";

identity name_of(std::uint64_t n) {
    return {"tenant-7", "invoice-" + std::to_string(n)};
}

// ---- by hand ------------------------------------------------------------------------------------

class hand_written {
public:
    std::optional<confirmation<std::string>> run(identity const& id, std::string const& request) {
        auto const started = now();
        record* r = begin(id, request, started);
        if (r == nullptr) return std::nullopt;
        bool const before = r->state == state_id::confirmed;
        for (unsigned steps = 0; steps != 100; ++steps) {
            switch (r->state) {
            case state_id::pending: {
                auto const allowed = budget_.may_send(*r, now(), timeout);
                if (allowed.what != allowance::kind::now || r->cancel_requested) {
                    return std::nullopt;
                }
                auto const version = mark_uncertain(*r);
                if (!flush() || !may_still_send(id, version, allowed.ends_at)) return std::nullopt;
                auto const sent = codec<std::string>::decode(r->intent->request);
                if (!sent) return std::nullopt;
                auto const echo = send(id.key, sent.value());
                if (echo.key != id.key || !settle(*r, echo, version)) return std::nullopt;
                break;
            }
            case state_id::confirmed:
                if (!flush()) return std::nullopt;
                return confirmation<std::string>{
                    r->receipt, static_cast<unsigned>(r->attempts.size()), before, !before};
            default: return std::nullopt;
            }
        }
        return std::nullopt;
    }

private:
    struct echo {
        std::string receipt, key;
    };
    struct hash {
        std::size_t operator()(identity const& id) const {
            std::hash<std::string_view> const h;
            return h(id.scope) * 0x9e3779b97f4a7c15U + h(id.key);
        }
    };
    static constexpr auto timeout = instant_provider::contract.call_timeout;

    time_point now() { return wall_ + (clock_.elapsed() - elapsed_); }

    static std::string name_for(std::string_view kind, std::string_view what) {
        std::string name(kind);
        name.append(1, '\0').append(instant_provider::target).append(1, '\0').append(what);
        return name;
    }

    /// Binds the provider's key, then finds or makes the row. Null: taken, or another request.
    record* begin(identity const& id, std::string const& request, time_point at) {
        if (!well_formed(id) || request.size() > longest_request) return nullptr;
        auto bytes = codec<std::string>::encode(request);
        std::scoped_lock const lock(mutex_);
        auto const [bound, fresh_name] = names_.try_emplace(name_for("key", id.key), id);
        if (!fresh_name && bound->second != id) return nullptr;
        auto const [row, fresh] = rows_.try_emplace(id);
        if (!fresh) {
            intent const& kept = *row->second->intent;
            bool const same = kept.fingerprint_rule == fingerprint_.rule() &&
                              fingerprint_.same(kept.fingerprint, {kept.target, kept.request},
                                                {instant_provider::target, bytes});
            return same ? row->second.get() : nullptr;
        }
        auto asked = std::make_shared<intent>();
        asked->identity = id;
        asked->target = instant_provider::target;
        asked->request = std::move(bytes);
        asked->fingerprint = fingerprint_.digest({asked->target, asked->request});
        asked->fingerprint_rule = fingerprint_.rule();
        row->second = std::make_unique<record>();
        record& r = *row->second;
        r.intent = std::move(asked);
        r.operation = ++last_;
        r.version = {1, 1};
        r.begun_at = r.written_at = at;
        r.deadline = budget_.deadline(at).value_or(time_point::max());
        return &r;
    }

    version mark_uncertain(record& r) {
        auto const at = now();
        std::scoped_lock const lock(mutex_);
        r.attempts.push_back({at, {}, attempt_outcome_id::open, r.generation});
        r.state = state_id::uncertain;
        r.claim = {1, 1};
        r.written_at = at;
        ++r.version.counter;
        return r.version;
    }

    bool may_still_send(identity const& id, version expected, time_point send_before) {
        std::scoped_lock const lock(mutex_);
        auto const row = rows_.find(id);
        return row != rows_.end() && row->second->version == expected && now() < send_before;
    }

    echo send(std::string_view key, std::string const& bytes) {
        benchmark::DoNotOptimize(bytes.data());
        return {receipt_of(key), std::string(key)};
    }

    bool settle(record& r, echo const& e, version expected) {
        if (e.receipt.empty() || e.receipt.size() > longest_receipt) return false;
        auto const at = now();
        std::scoped_lock const lock(mutex_);
        auto const [bound, fresh] =
            names_.try_emplace(name_for("receipt", e.receipt), r.identity());
        if (!fresh && bound->second != r.identity()) return false;
        if (r.version != expected) return false;
        r.receipt = e.receipt;
        r.basis = basis::reply;
        r.state = state_id::confirmed;
        r.ever_confirmed = true;
        r.attempts.back().outcome = attempt_outcome_id::applied;
        r.claim = {};
        r.confirmed_at = r.written_at = at;
        ++r.version.counter;
        return true;
    }

    bool flush() { return true; }

    std::mutex mutex_;
    boost::unordered_flat_map<identity, std::unique_ptr<record>, hash> rows_;
    boost::unordered_flat_map<std::string, identity> names_;
    std::uint64_t last_ = 0;
    bounded_budget budget_;
    exact_fingerprint fingerprint_;
    system_clock clock_;
    time_point wall_ = clock_.wall();
    milliseconds elapsed_ = clock_.elapsed();
};

// ---- measuring ----------------------------------------------------------------------------------

constexpr std::uint64_t slice = 2'000;

struct cost {
    double nanoseconds = 0, allocations = 0; // per operation
};

template <class Run> cost of_a_slice(std::vector<identity> const& names, Run run) {
    auto const allocated = allocations;
    auto const started = std::chrono::steady_clock::now();
    for (auto const& id : names) {
        if (!run(id)) std::abort();
    }
    std::chrono::duration<double, std::nano> const took =
        std::chrono::steady_clock::now() - started;
    auto const n = static_cast<double>(names.size());
    return {took.count() / n, static_cast<double>(allocations - allocated) / n};
}

cost with_the_library(std::vector<identity> const& names) {
    recovery orders{policies{.provider = instant_provider{}, .storage = memory_storage{}}};
    return of_a_slice(names, [&](identity const& id) {
        auto const done = orders.run(id, request_text);
        return done.has_value() && done.value().attempts == 1;
    });
}

cost by_hand(std::vector<identity> const& names) {
    hand_written orders;
    return of_a_slice(names, [&](identity const& id) {
        auto const done = orders.run(id, request_text);
        return done.has_value() && done->attempts == 1;
    });
}

double median(std::vector<double> values) {
    auto const middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::ranges::nth_element(values, middle);
    return *middle;
}

void run_beside_hand_written(benchmark::State& state) {
    std::vector<identity> names;
    for (std::uint64_t n = 0; n != slice; ++n)
        names.push_back(name_of(100'000 + n));
    std::vector<double> library, hand, ratio;
    cost l, h;
    for (auto _ : state) {
        h = by_hand(names);
        l = with_the_library(names);
        library.push_back(l.nanoseconds);
        hand.push_back(h.nanoseconds);
        ratio.push_back(l.nanoseconds / h.nanoseconds);
    }
    state.counters["library_ns"] = median(library);
    state.counters["by_hand_ns"] = median(hand);
    state.counters["ratio"] = median(ratio);
    state.counters["library_allocs"] = l.allocations;
    state.counters["by_hand_allocs"] = h.allocations;
}
BENCHMARK(run_beside_hand_written)->Unit(benchmark::kMillisecond);

} // namespace
