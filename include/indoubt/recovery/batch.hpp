// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef INDOUBT_RECOVERY_BATCH_HPP
#define INDOUBT_RECOVERY_BATCH_HPP

#include <indoubt/policy/policies.hpp>
#include <indoubt/recovery/pursuit.hpp>

#include <concepts>
#include <cstddef>
#include <deque>
#include <exception>
#include <forward_list>
#include <map>
#include <span>
#include <utility>
#include <vector>

// One call on many operations: a pursuit for each of them, and one flush for all of them where each
// would flush by itself. All look, then all that would send are written and flushed, then they are
// sent, and so on until nobody would send or wait. What happens to one leaves the others alone.

namespace indoubt::detail {

/// A range of pairs (identity, request).
template <class Range, class Request>
concept pairs_of = requires(Range const& all) {
    { all.begin()->first } -> std::convertible_to<identity const&>;
    { all.begin()->second } -> std::convertible_to<Request const&>;
    all.end();
};

template <class Policies> class batch {
    using with = parts<Policies>;
    using provider = typename with::provider;
    using request = typename with::request;
    using journal = typename with::journal;
    using outcome = typename with::outcome;
    using pursuit = detail::pursuit<Policies>;
    using attempt = indoubt::attempt<request>;

public:
    batch(Policies& policies, journal& book, waiting_room& waiting, run_options const& options)
        : with_(policies), book_(book), waiting_(waiting), options_(options), began_(book.now()) {}

    batch(batch const&) = delete;
    batch& operator=(batch const&) = delete;

    /// One that is in it already, with the same request, has one pursuit and one outcome.
    void add(identity const& id, request const& wanted) {
        pursuit& call = calls_.emplace_back(with_, book_, waiting_, options_, false, began_);
        if (!goes_well([&] { call.begin(id, wanted); })) call.interrupt(id);
        auto place = calls_.size() - 1;
        if (call.about()) {
            auto const [known, is_new] = places_.emplace(id, place);
            if (!is_new) calls_.pop_back();
            place = known->second;
        }
        asked_.push_back(place);
    }

    std::vector<outcome> run() {
        do {
            approach();
        } while (send() || wait());
        tell();
        std::vector<outcome> told;
        for (std::size_t const place : asked_)
            told.push_back(calls_[place].told());
        return told;
    }

private:
    /// False if a std::exception of a policy ended it.
    template <class F> static bool goes_well(F f) {
#if defined(__cpp_exceptions)
        try {
#endif
            f();
            return true;
#if defined(__cpp_exceptions)
        } catch (std::exception const&) {
            return false;
        }
#endif
    }

    /// One step of one of them.
    template <class F> bool step(pursuit& call, F f) {
        bool const well = goes_well([&] {
            turn const mine(&book_, call.about());
            call.enter(mine);
            f();
        });
        if (!well) call.interrupt(call.about()->identity);
        return well;
    }

    /// Each goes on until it would send or wait, or ends.
    void approach() {
        for (pursuit& c : calls_) {
            bool const waits = c.waits_until() && *c.waits_until() > book_.now();
            if (c.goes_on() && !waits) step(c, [&] { c.advance(pace::together); });
        }
    }

    /// All that would send: written, flushed once, and sent. False if there are none.
    bool send() {
        std::vector<pursuit*> leaving;
        std::vector<result<departure>> decided;
        bool any = false;
        for (pursuit& c : calls_) {
            if (!c.goes_on() || !c.would_send()) continue;
            any = true;
            step(c, [&] { c.advance(pace::departing); });
            if (auto* const d = c.departing()) {
                leaving.push_back(&c);
                decided.push_back(std::move(*d));
            }
        }
        if (leaving.empty()) return any;
        auto permits = book_.write_all(decided);
        for (std::size_t i = 0; i != leaving.size(); ++i)
            step(*leaving[i], [&] { leaving[i]->take(std::move(permits[i])); });
        if constexpr (submits_many<provider>) {
            transmit_together(leaving);
        } else {
            for (pursuit* c : leaving)
                step(*c, [&] { c->transmit(); });
        }
        return true;
    }

    /// One remote call. What it does not answer is unknown.
    void transmit_together(std::vector<pursuit*> const& leaving) {
        std::vector<attempt> attempts;
        std::vector<pursuit*> sent;
        for (pursuit* c : leaving) {
            step(*c, [&] {
                if (auto made = c->open()) {
                    attempts.push_back(std::move(*made));
                    sent.push_back(c);
                }
            });
        }
        if (sent.empty()) return;
        decltype(with_.provider.submit(std::span<attempt const>())) replies;
        bool const well = goes_well([&] {
            std::forward_list<turn> turns; // the last one ends first
            for (pursuit* c : sent)
                turns.emplace_front(&book_, c->about());
            replies = with_.provider.submit(std::span<attempt const>(attempts));
        });
        replies.resize(sent.size(), unknown{});
        for (std::size_t i = 0; i != sent.size(); ++i) {
            if (!well) {
                sent[i]->interrupt(sent[i]->about()->identity);
            } else {
                step(*sent[i], [&] { sent[i]->hear(std::move(replies[i])); });
            }
        }
    }

    /// Nobody would send: the shortest wait is waited. False if nobody waits.
    bool wait() {
        pursuit* next = nullptr;
        for (pursuit& c : calls_) {
            if (c.goes_on() && (!next || c.waits_until() < next->waits_until())) next = &c;
        }
        if (!next) return false;
        step(*next, [&] { next->advance(pace::waiting); });
        return true;
    }

    /// The door before telling, once for all of them.
    void tell() {
        bool all_early = true;
        for (pursuit& c : calls_) {
            if (c.about()) step(c, [&] { c.close_as_it_stands(); });
            all_early = all_early && c.is_early();
        }
        auto const flushed = all_early ? result<void>(success()) : book_.flush();
        for (pursuit& c : calls_) {
            if (!c.about()) {
                c.announce(flushed);
            } else if (!step(c, [&] { c.announce(flushed); })) {
                c.announce(book_.flush()); // what it was told instead
            }
        }
    }

    Policies& with_;
    journal& book_;
    waiting_room& waiting_;
    run_options const& options_;
    time_point began_;

    std::deque<pursuit> calls_{};
    std::map<identity, std::size_t> places_{}; // of what could be begun, in calls_
    std::vector<std::size_t> asked_{};         // the same for each pair, in order
};

} // namespace indoubt::detail

#endif
