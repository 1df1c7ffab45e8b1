// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef INDOUBT_BENCHMARKS_JOURNAL_OWN_HPP
#define INDOUBT_BENCHMARKS_JOURNAL_OWN_HPP

#include "slice.hpp"

#include <indoubt.hpp>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// The whole library, with a provider that answers at once.

namespace bench {

inline std::string receipt_of(std::string_view key) {
    return std::string(1, 'r').append(key);
}

/// Its reply is proof: one write before the send, one before it is told.
struct proving_provider : indoubt::provider_of<std::string> {
    static constexpr auto target = "orders";
    static constexpr indoubt::contract contract{
        .reply = indoubt::proof{.documented_at = "https://example.org/api#keys"}};
    static constexpr auto tell = indoubt::tell::durable;

    keyed_reply submit(attempt const& a) {
        return accepted_with_key{receipt_of(a.key()), std::string(a.key())};
    }
    std::vector<keyed_reply> submit(std::span<attempt const> all) {
        std::vector<keyed_reply> out;
        out.reserve(all.size());
        for (auto const& a : all)
            out.push_back(submit(a));
        return out;
    }
};

/// It can be asked what there is, so that a confirmation may be told before it is durable.
struct asked_provider : indoubt::provider_of<std::string> {
    static constexpr auto target = "orders";
    static constexpr indoubt::contract contract{.lookup = indoubt::complete_lookup{}};
    static constexpr auto tell = indoubt::tell::early;

    reply submit(attempt const& a) { return accepted{receipt_of(a.key())}; }
    std::vector<reply> submit(std::span<attempt const> all) {
        std::vector<reply> out;
        out.reserve(all.size());
        for (auto const& a : all)
            out.push_back(submit(a));
        return out;
    }
    answer lookup(query const& q) {
        if (q.receipt.empty()) return complete{};
        return complete{{effect{
            .receipt = std::string(q.receipt), .key = std::string(q.key), .request = q.request}}};
    }
};

template <class Storage, class Provider> class own : public by_turns {
    using with = decltype(indoubt::policies{.provider = std::declval<Provider>(),
                                            .storage = std::declval<Storage>()});

public:
    explicit own(indoubt::result<Storage>&& made)
        : recovery_(with{.provider = {}, .storage = whole(std::move(made))}) {}

    void turn(worker& w) override {
        indoubt::run_options const options{.tell = Provider::tell};
        std::uint64_t const first = next_numbers(w.batch);
        if (w.batch == 1) {
            auto const done = recovery_.run({"tenant-7", key_of(first)}, request_text, options);
            if (!done) fail("indoubt", done.error().message());
            return;
        }
        std::vector<std::pair<indoubt::identity, std::string>> all;
        all.reserve(w.batch);
        for (unsigned i = 0; i != w.batch; ++i)
            all.emplace_back(indoubt::identity{"tenant-7", key_of(first + i)}, request_text);
        for (auto const& done : recovery_.run_all(all, options))
            if (!done) fail("indoubt", done.error().message());
    }

private:
    static Storage whole(indoubt::result<Storage>&& made) {
        if (!made) fail("indoubt", made.error().message());
        return std::move(made).value();
    }

    indoubt::recovery<with> recovery_;
};

/// Makes the storage at a path in the data folder.
template <class Storage, class Provider> std::unique_ptr<candidate> make_own(std::string name) {
    return std::make_unique<own<Storage, Provider>>(
        Storage::create(data_folder::path() + '/' + name));
}

} // namespace bench

#endif
