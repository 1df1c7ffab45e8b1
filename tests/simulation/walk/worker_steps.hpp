// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef TESTS_SIMULATION_WALK_WORKER_STEPS_HPP
#define TESTS_SIMULATION_WALK_WORKER_STEPS_HPP

#include "desk.hpp"
#include "following.hpp"
#include "permit_again.hpp"
#include "sending_rules.hpp"
#include "transition_of.hpp"

#include <concepts>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

// What a run does, one step at a time and by the library alone: look, decide, write what follows,
// send, weigh the reply.
//
// Judged here, on the way: what sending_rules.hpp lists; and I11, that nothing is confirmed after a
// contradiction was told unless a person decided; H2, that nothing of an older version counts; U01,
// that what is known of an attempt is kept; U12, that an effect which comes late is reported.

namespace walk {

/// One step of one worker. Each makes its own desk.
class worker_step {
public:
    static constexpr unsigned nobody = most_workers; ///< whoever brings news from outside

    worker_step(world const& w, snapshot const& s, unsigned who, following& out)
        : w_(w), s_(s), who_(who), out_(out), contract_(contract_now(w, s)) {}

    /// Where there are two, looking and acting on it are two steps.
    void look() {
        if (is_final(s_.memory.state) && s_.memory.state != state_id::confirmed) return;
        bool wants_look = false, stops = false;
        desk d(w_, s_);
        found(d, [&](auto&& op) {
            decided(d, op, {}, true, [&](auto&& next) {
                stops = next.template holds<stop>();
                using next_type = std::remove_cvref_t<decltype(next)>;
                if constexpr (std::constructible_from<next_type, look_up>) {
                    wants_look = next.template holds<look_up>();
                }
            });
            if (wants_look) return;
            if (w_.workers > 1 && !stops) return keep_for_later({}, "asks nobody");
            act(d, std::move(op), {}, true, {.what = "runs"});
        });
        if (!wants_look) return;
        // The last look-up of a run: one with more to come only waits where this one gives up.
        for (view v : views(w_, s_)) {
            looked(answer_of(s_, v), false, "looks");
        }
        if (!w_.incomplete_looks) return;
        looked(incomplete{}, true, "looks");
        looked(incomplete{}, false, "looks for the last time");
    }

    void act_on_what_was_seen() {
        worker const& me = s_.workers[who_];
        desk d(w_, s_);
        auto r = std::make_unique<record>(d.record_of_copy(s_.copies[who_], me.current));
        observation o{.of = r->stamp(), .what = me.sight};
        if (me.receipt >= 0) o.receipt = receipt_of(me.receipt);
        if (!me.current) check_that_stale_is_refused(*r, o);
        detail::scribe::any(std::move(r)).visit([&](auto&& op) {
            act(d, std::move(op), o, me.sight == seen::not_asked, {.what = "acts on what it saw"});
        });
    }

    void send() {
        worker const& me = s_.workers[who_];
        desk d(w_, s_);
        permit allowed = permit_again(d, me);
        auto out = allowed.attempt<std::string>(d.journal);
        snapshot next = s_;
        next.workers[who_] = {};
        d.save(next);
        sentence told{.what = "not sent, its permit no longer holds", .attempt = me.attempt + 1U};
        if (!out) {
            if (!is_final(next.memory.state)) closed_ = me.attempt;
            check_closed(next);
            return add(next, told);
        }
        out_.breaks(broken_by_send(w_, s_, me.attempt));
        if (out.value().number() != me.attempt + 1U || out.value().bytes() != "one") {
            out_.breaks("I3 another attempt is sent than was recorded");
        }
        if (allowed.attempt<std::string>(d.journal)) out_.breaks("I3 one permit, two sends");
        byte const generation = generation_of_key(out.value().key());
        next.calls[me.attempt] = {fate::under_way, s_.now, generation, relies_on_provider()};
        next.workers[who_].phase = phase::has_sent;
        next.workers[who_].attempt = me.attempt;
        next.workers[who_].current = me.current;
        told.what = "SENT";
        add(next, told);
        if (!w_.pauses) return;
        next.calls[me.attempt].sent_at = narrow(s_.now + 1);
        told.what = "SENT, a tick after the last check";
        add(next, told);
    }

    void hear() {
        unsigned const a = s_.workers[who_].attempt;
        fate const f = s_.calls[a].fate;
        bool const proof = reply_is_proof(contract_);
        snapshot silent = s_;
        silent.workers[who_] = {};
        add(silent, {.what = "the reply is lost", .attempt = a + 1U});
        if (f == fate::landed || (f == fate::under_way && !proof)) {
            tick const effect = accepted_as(w_, s_, a);
            auto const key = provider_key(s_.calls[a].generation);
            auto const receipt = receipt_of(effect);
            bool const own = effect_made_by(effect) == static_cast<tick>(a);
            if (f == fate::landed && !own) {
                replied(shop::duplicate{receipt, key}, fate::landed, "answered as a repeat");
            } else {
                replied(shop::accepted_with_key{receipt, key}, f, "accepted");
            }
        }
        bool const may_refuse =
            f == fate::under_way || f == fate::refused || (w_.inner_repeats && f == fate::landed);
        if (!w_.refusals || !may_refuse) return;
        fate const then = f == fate::landed ? f : fate::refused;
        replied(refused{}, then, "refused for good");
        replied(refused{refusal_class::busy, false}, then, "refused for now");
    }

    /// As the holder of the claim, if there is one: what is told from outside needs nobody's leave.
    void hear_from_outside(shop::effect const& told) {
        desk d(w_, s_);
        found(d, [&](auto&& op) {
            auto const o = std::visit([&](auto const& c) { return weigh(c, op, told); }, contract_);
            snapshot next = s_;
            --next.left.outside;
            act(d, std::move(op), o, false, {.what = "told from outside", .sight = o.what}, &next);
        });
    }

private:
    // ---- what a run is given
    // --------------------------------------------------------------------

    template <class F> void found(desk& d, F then) {
        std::move(*d.journal.find(the_identity).value()).visit([&](auto&& op) -> void {
            then(std::move(op));
        });
    }

    /// Calls then(next<S, C>) with what the library says.
    template <state S, class F>
    void decided(desk& d, operation<S> const& op, observation const& o, bool looks_left, F then) {
        if (has_guarantee(contract_)) {
            then(answer<keyed<complete_lookup, hint>>(d, op, o, looks_left));
        } else {
            then(answer<plain<complete_lookup, hint>>(d, op, o, looks_left));
        }
    }

    /// Alike: a contract whose answers have the same type. What follows from them is compiled once
    /// for all of those.
    template <class Alike, state S>
    next<S, Alike> answer(desk& d, operation<S> const& op, observation const& o, bool looks_left) {
        counted_budget budget{w_.attempts};
        record const& r = op.stored();
        auto const me = who_ != nobody ? static_cast<std::uint64_t>(holder(who_)) : r.claim.holder;
        asker const asks{.holder = me, .looks = looks_left ? 0U : 1U};
        return std::visit(
            [&](auto const& c) -> next<S, Alike> {
                using documented = std::remove_cvref_t<decltype(c)>;
                if constexpr (std::same_as<next<S, documented>, next<S, Alike>>) {
                    moment m = d.journal.moment(r, budget, c, asks);
                    m.look_only = who_ == nobody;
                    return decide(op, c, o, m);
                } else {
                    std::abort(); // it was asked for by its guarantee
                }
            },
            contract_);
    }

    // ---- what it makes of it
    // --------------------------------------------------------------------

    void looked(shop::answer const& answer, bool looks_left, std::string_view what) {
        desk d(w_, s_);
        found(d, [&](auto&& op) {
            auto const o =
                std::visit([&](auto const& c) { return weigh(c, op, answer); }, contract_);
            if (w_.workers > 1) return keep_for_later(o, what);
            act(d, std::move(op), o, looks_left, {.what = what, .sight = o.what});
        });
    }

    void keep_for_later(observation const& o, std::string_view what) {
        snapshot next = s_;
        next.workers[who_] = {.phase = phase::has_looked,
                              .current = true,
                              .sight = o.what,
                              .receipt = effect_of_receipt(o.receipt)};
        next.copies[who_] = s_.memory;
        add(next, {.what = what, .sight = o.what});
    }

    void replied(shop::keyed_reply reply, fate then, std::string_view what) {
        unsigned const a = s_.workers[who_].attempt;
        snapshot after = s_;
        after.calls[a].fate = then;
        desk d(w_, s_);
        found(d, [&](auto&& op) {
            auto const o = std::visit(
                [&](auto const& c) { return weigh(c, op, std::move(reply), a + 1U); }, contract_);
            if (o.what == seen::attempt_closed) closed_ = a;
            act(d, std::move(op), o, true, {.what = what, .attempt = a + 1U, .sight = o.what},
                &after);
        });
    }

    template <state S>
    void act(desk& d, operation<S> op, observation const& o, bool looks_left, sentence told,
             snapshot const* from = nullptr) {
        decided(d, op, o, looks_left, [&](auto&& next) {
            carry_out(d, op, std::move(next), told, from != nullptr ? *from : s_);
        });
    }

    template <state S, class Next>
    void carry_out(desk& d, operation<S>& op, Next&& next, sentence told, snapshot const& from) {
        std::forward<Next>(next).visit(
            [&](auto&& e) -> void { follow(d, op, std::move(e), told, from); });
    }

    template <state S, class Evidence>
    void follow(desk& d, operation<S>& op, Evidence e, sentence told, snapshot const& from) {
        if constexpr (std::same_as<Evidence, stop> || std::same_as<Evidence, wait> ||
                      std::same_as<Evidence, look_up>) {
            told.then = std::same_as<Evidence, wait> ? "waits" : "nothing";
            snapshot next = from;
            if (who_ != nobody) next.workers[who_] = {};
            bool const late = is_final(S::id) && S::id != state_id::confirmed;
            if (who_ == nobody && late && told.sight == seen::match) {
                out_.breaks("U12 an effect after a final state, and nobody is asked");
            }
            check_closed(next);
            add(next, told);
        } else if constexpr (sends<Evidence>) {
            depart(d, transition_of(op, e), told, in_words(e));
        } else {
            written(d, transition_of(op, e), told, in_words(e), from);
        }
    }

    template <class Result>
    void written(desk& d, Result&& decided, sentence told, std::string_view then,
                 snapshot const& from) {
        auto done = d.journal.write(std::move(decided));
        snapshot next = from;
        if (who_ != nobody) next.workers[who_] = {};
        d.save(next);
        told.then = done ? then : "lost to another write";
        if (done && next.memory.state == state_id::confirmed && s_.ever.contradiction &&
            s_.memory.state != state_id::confirmed) {
            out_.breaks("I11 confirmed after a contradiction was told, and nobody decided");
        }
        check_closed(next);
        add(next, told);
    }

    void depart(desk& d, result<departure>&& decided, sentence told, std::string_view then) {
        auto allowed = d.journal.write(std::move(decided));
        snapshot next = s_;
        next.workers[who_] = {};
        d.save(next);
        told.then = "lost to another write";
        if (allowed) {
            out_.breaks(broken_by_departure(s_, holder(who_)));
            auto const& r = *detail::scribe::of(allowed.value());
            next.workers[who_] = {.phase = phase::may_send,
                                  .attempt = static_cast<byte>(r.attempts.size() - 1),
                                  .current = true,
                                  .send_before =
                                      tick_of(detail::scribe::send_before(allowed.value()))};
            told.then = then;
        }
        add(next, told);
    }

    // ---- what must hold -------------------------------------------------------------------------

    /// H2: what was seen of an older version decides nothing, and evidence made for it does
    /// nothing to the record as it stands.
    void check_that_stale_is_refused(record const& old, observation const& o) {
        desk d(w_, s_);
        found(d, [&](auto&& op) {
            decided(d, op, o, false, [&](auto&& next) {
                bool const refused = next.template holds<stop>();
                if (o.what != seen::not_asked && !refused) out_.breaks(stale_counts);
            });
        });
        auto const& now = d.storage.current();
        detail::scribe::any(std::make_unique<record>(old)).visit([&]<state S>(operation<S>&& op) {
            if (now.state != S::id) return;
            auto current = detail::scribe::make<S>(std::make_unique<record>(now));
            decided(d, op, o, false, [&](auto&& next) {
                std::move(next).visit([&](auto&& e) -> void {
                    if (!is_refused(current, e)) out_.breaks(stale_counts);
                });
            });
        });
    }
    static constexpr char const* stale_counts = "H2 evidence of an older version counts";

    template <state S, class Evidence> static bool is_refused(operation<S>& op, Evidence& e) {
        if constexpr (std::derived_from<Evidence, detail::evidence>) {
            return !transition_of(op, e);
        } else {
            return true;
        }
    }

    /// U01: what surely was not applied is not open any more. While somebody else sends, nobody may
    /// write; where a claim can be lost, a reply may have to come once more.
    void check_closed(snapshot const& next) {
        held_by const claimed = s_.memory.claim;
        bool const mine = claimed == held_by::nobody || claimed == holder(who_);
        if (closed_ != open && mine && next.memory.is_open(closed_)) {
            out_.breaks("U01 what became of an attempt is forgotten");
        }
    }
    static constexpr unsigned open = most_attempts;

    bool relies_on_provider() const {
        bool const changes = w_.may.upgrade != 0;
        return !changes || s_.upgraded;
    }

    static byte generation_of_key(std::string_view key) {
        for (byte g = 1; g != 4; ++g)
            if (key == provider_key(g)) return g;
        std::abort();
    }

    tick effect_made_by(tick number) const {
        for (unsigned e = 0; e != s_.effects; ++e) {
            if (is_ours(s_.effect_of[e]) && number_of(s_, e) == number) {
                return s_.effect_of[e].made_by;
            }
        }
        return -1;
    }

    void add(snapshot const& next, sentence told) {
        if (w_.workers > 1 && who_ != nobody) told.worker = who_ + 1;
        out_.add(next, told);
    }

    world const& w_;
    snapshot const& s_;
    unsigned who_;
    following& out_;
    documented const& contract_;
    unsigned closed_ = open; ///< the attempt that surely was not applied
};

} // namespace walk

#endif
