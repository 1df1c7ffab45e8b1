// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)

// What the library costs beside a hand-written journal that takes the same steps: a new operation
// from begin to told, in memory, with a provider that answers at once and whose reply is proof.
// Both keep the same facts, look the row up again before the send, and bind the provider's key and
// the receipt. Slices of the two alternate in one process, so that a noisy machine hits both; the
// figure that counts is the ratio.

#include <indoubt.hpp>

#include <boost/unordered/unordered_flat_map.hpp>

#include <benchmark/benchmark.h>

#include <algorithm>
#include <array>
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
    struct done {
        std::string receipt;
        unsigned attempts;
        bool before;
    };

    std::optional<done> run(identity const& id, std::string const& request) {
        row* r = begin(id, request);
        if (r == nullptr) return std::nullopt;
        bool before = true;
        for (;;) {
            switch (r->state) {
            case state_id::pending: {
                before = false;
                auto const version = mark_uncertain(*r);
                if (!flush() || !may_still_send(id, version)) return std::nullopt;
                std::string const sent = r->request; // every attempt sends the stored bytes
                auto const echo = send(id.key, sent);
                if (!settle(id, *r, echo, version)) return std::nullopt;
                continue;
            }
            case state_id::confirmed:
                if (!flush()) return std::nullopt;
                return done{r->receipt, static_cast<unsigned>(r->attempts.size()), before};
            default: return std::nullopt;
            }
        }
    }

private:
    struct sent {
        time_point at{};
        milliseconds arrives_within{};
        int outcome = 0;
    };
    struct row {
        std::string target, request, receipt;
        state_id state = state_id::pending;
        basis rests_on = basis::none;
        std::uint64_t number = 0, version = 1;
        bool claimed = false;
        std::vector<sent> attempts;
        time_point begun_at{}, written_at{}, confirmed_at{}, deadline{};
    };
    struct echo {
        std::string receipt, key;
    };
    struct hash {
        std::size_t operator()(identity const& id) const {
            std::hash<std::string_view> const h;
            return h(id.scope) * 0x9e3779b97f4a7c15U + h(id.key);
        }
    };

    time_point now() { return wall_ + (clock_.elapsed() - elapsed_); }

    /// Binds the provider's key, then finds or makes the row. Null: taken, or another request.
    row* begin(identity const& id, std::string const& request) {
        if (!well_formed(id)) return nullptr;
        std::string key("key");
        key.append(1, '\0').append("orders").append(1, '\0').append(id.key);
        std::scoped_lock const lock(mutex_);
        auto const [bound, fresh_name] = names_.try_emplace(std::move(key), id);
        if (!fresh_name && bound->second != id) return nullptr;
        auto const [at, fresh] = rows_.try_emplace(id);
        if (!fresh) return at->second->request == request ? at->second.get() : nullptr;
        at->second = std::make_unique<row>();
        row& r = *at->second;
        r.target = "orders";
        r.request = request;
        r.number = ++last_;
        r.begun_at = r.written_at = now();
        r.deadline = r.begun_at + std::chrono::hours(24);
        return &r;
    }

    std::uint64_t mark_uncertain(row& r) {
        auto const at = now();
        std::scoped_lock const lock(mutex_);
        r.attempts.push_back({at, milliseconds(10'000), 0});
        r.state = state_id::uncertain;
        r.claimed = true;
        r.written_at = at;
        return ++r.version;
    }

    bool may_still_send(identity const& id, std::uint64_t version) {
        std::scoped_lock const lock(mutex_);
        auto const at = rows_.find(id);
        return at != rows_.end() && at->second->version == version && now() < at->second->deadline;
    }

    echo send(std::string_view key, std::string const& bytes) {
        benchmark::DoNotOptimize(bytes.data());
        return {receipt_of(key), std::string(key)};
    }

    bool settle(identity const& id, row& r, echo const& e, std::uint64_t version) {
        std::string name("receipt");
        name.append(1, '\0').append("orders").append(1, '\0').append(e.receipt);
        auto const at = now();
        std::scoped_lock const lock(mutex_);
        auto const [bound, fresh] = names_.try_emplace(std::move(name), id);
        if (!fresh && bound->second != id) return false;
        if (r.version != version || e.receipt.empty()) return false;
        r.receipt = e.receipt;
        r.rests_on = basis::reply;
        r.state = state_id::confirmed;
        r.attempts.back().outcome = 1;
        r.claimed = false;
        r.confirmed_at = r.written_at = at;
        ++r.version;
        return true;
    }

    bool flush() { return true; }

    std::mutex mutex_;
    boost::unordered_flat_map<identity, std::unique_ptr<row>, hash> rows_;
    boost::unordered_flat_map<std::string, identity> names_;
    std::uint64_t last_ = 0;
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
