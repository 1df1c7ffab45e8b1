// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#include <recovery/by_hand.hpp>
#include <recovery/oracle.hpp>
#include <recovery/reply_oracle.hpp>

#include <indoubt/testing/seeded_random.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

// Histories of one operation that nobody has thought of: whatever the service says, truly or not,
// whenever time passes, somebody cancels or the power goes. At each step the tables that run are
// compared with the specification, and the record with what a state means.

namespace {

using namespace scene;
using testing::seeded_random;
using shop_names = provider_of<std::string>;

constexpr contract hidden_for_a_minute{
    .resend = deduplicated_by_key{.window = 1h, .documented_at = cited},
    .lookup = complete_lookup{.visible_after = 1min},
    .call_timeout = 1s,
    .arrives_within = 1min};
constexpr contract named{.resend = unique_target{.undisturbed_for = 2h, .documented_at = cited},
                         .lookup = complete_lookup{},
                         .call_timeout = 1s,
                         .arrives_within = 1min,
                         .identifies = identified::by_name};

struct tally {
    unsigned histories = 0, decisions = 0, replies = 0, lists = 0;
    std::set<detail::decision_row const*> rows{};
    std::string first_wrong{};
};

/// One history, told step by step by a seed.
template <class Contract> class telling_of_one {
public:
    telling_of_one(Contract const& documented, std::uint64_t seed, tally& all)
        : documented_(documented), terms_(detail::terms_of(documented)), chance_(seed), all_(all) {
        s_.budget.attempts = 3;
    }

    void tell() {
        ++all_.histories;
        exact_fingerprint const fingerprint;
        begin_options how;
        how.deadline = book_.emplace(s_.open()).now() + 3h;
        auto wanted = intend(s_.shop.target, s_.request, fingerprint);
        (void)book_->begin(s_.id, std::move(wanted).value(), fingerprint, how);
        for (unsigned step = 0; step != 30 && all_.first_wrong.empty(); ++step) {
            auto found = book_->find(s_.id);
            if (!found || !found.value()) return; // its begin went with the power
            std::move(*found.value()).visit([&](auto&& op) -> void { go_on(std::move(op)); });
            if (chance_.chance(0.1)) s_.clock.advance(milliseconds(chance_.below(40 * 60'000)));
            if (chance_.chance(0.05)) restart();
        }
    }

private:
    void restart() {
        auto const kept = chance_.below(s_.kept.unflushed() + 1);
        if (chance_.chance(0.1)) {
            s_.kept.restore(kept);
        } else {
            s_.kept.power_cut(kept);
        }
        book_.emplace(s_.open());
        so_far_ = {};
        looks_ = 0;
    }

    template <state S> void go_on(operation<S>&& op) {
        means_what_it_says(op.stored());
        if (chance_.chance(0.1)) return word(std::move(op));
        if (so_far_.of != op.stamp()) so_far_ = {};
        if (chance_.chance(0.1)) hear_of(op);
        moment m = book_->moment(op.stored(), s_.budget, documented_,
                                 {.holder = chance_.chance(0.95) ? 5U : 6U, .looks = looks_});
        m.look_only = chance_.chance(0.1);
        if (chance_.chance(0.1)) m.may_look = {allowance::kind::later, m.now + 1min};
        auto next = decide(op, documented_, so_far_, m);
        ++all_.decisions;
        compare(op.stored(), m, next);
        std::move(next).visit([&](auto&& x) -> void { act(std::move(op), std::move(x)); });
    }

    /// Something that nobody asked for: a late reply, or an effect that another channel tells of.
    template <state S> void hear_of(operation<S> const& op) {
        auto const attempts = op.stored().attempts.size();
        if (attempts == 0 || chance_.chance(0.5)) {
            so_far_ = weigh(documented_, op, some_effect(op.stored()));
        } else {
            auto const one = static_cast<std::uint32_t>(chance_.below(attempts) + 1);
            so_far_ = weigh(documented_, op, some_reply(std::string(op.stored().key())), one);
        }
    }

    /// A person lets it go on, or the caller wants no more.
    template <state S> void word(operation<S>&& op) {
        by const ann{"ann", "she knows more"};
        if constexpr (std::same_as<S, in_review>) {
            auto const now = book_->now();
            if (op.stored().open_attempts() != 0 || op.stored().restored) {
                resumption<uncertain> go_on(op.stamp(), ann, now, 2, now + 1h);
                (void)book_->write(resume(std::move(op), std::move(go_on)));
            } else {
                resumption<pending> go_on(op.stamp(), ann, now, 2, now + 1h);
                (void)book_->write(resume(std::move(op), std::move(go_on)));
            }
        } else if (!chance_.chance(0.2)) {
            return;
        } else if constexpr (requires(cancellation c) { cancel(std::move(op), std::move(c)); }) {
            cancellation stop_it(op.stamp(), ann, book_->now());
            (void)book_->write(cancel(std::move(op), std::move(stop_it)));
        }
    }

    template <state S> void act(operation<S>&&, stop) {
        so_far_ = {};
        looks_ = 0; // the next run
        (void)book_->flush();
        s_.clock.advance(milliseconds(chance_.below(10 * 60'000)));
    }
    template <state S> void act(operation<S>&&, wait x) {
        if (x.until > book_->now()) s_.clock.advance(x.until - book_->now());
        so_far_ = {};
    }
    template <state S> void act(operation<S>&& op, look_up) {
        ++looks_;
        if (chance_.chance(0.2)) {
            auto const nobody = chance_.chance(0.5) ? shop_names::answer(unavailable{})
                                                    : shop_names::answer(incomplete{});
            so_far_ = weigh(documented_, op, nobody);
            return;
        }
        shop_names::complete list;
        for (auto n = chance_.chance(0.5) ? 0U : chance_.below(3); n != 0; --n)
            list.effects.push_back(some_effect(op.stored()));
        so_far_ = weigh(documented_, op, shop_names::answer(list));
        ++all_.lists;
        seen const should = oracle::shown_by(list.effects, what_is_sought(op.stored()));
        if (so_far_.what != should) wrong(op.stored(), "the list shows", so_far_.what, should);
    }
    template <state S, class Evidence> void act(operation<S>&& op, Evidence e) {
        if constexpr (requires { dispatch(std::move(op), std::move(e)); }) {
            send(book_->write(dispatch(std::move(op), std::move(e))));
        } else if constexpr (requires { resend(std::move(op), std::move(e)); }) {
            send(book_->write(resend(std::move(op), std::move(e))));
        } else if constexpr (requires { confirm(std::move(op), std::move(e)); }) {
            (void)book_->write(confirm(std::move(op), std::move(e)));
        } else if constexpr (requires { reopen(std::move(op), std::move(e)); }) {
            (void)book_->write(reopen(std::move(op), std::move(e)));
        } else if constexpr (requires { reject(std::move(op), std::move(e)); }) {
            (void)book_->write(reject(std::move(op), std::move(e)));
        } else if constexpr (requires { cancel(std::move(op), std::move(e)); }) {
            (void)book_->write(cancel(std::move(op), std::move(e)));
        } else if constexpr (requires { record_outcome(std::move(op), std::move(e)); }) {
            (void)book_->write(record_outcome(std::move(op), std::move(e)));
        } else {
            (void)book_->write(refer(std::move(op), std::move(e)));
        }
        so_far_ = {};
    }

    void send(result<permit> allowed) {
        so_far_ = {};
        if (!allowed) return;
        auto out = allowed.value().template attempt<std::string>(*book_);
        if (!out) return;
        looks_ = 0;
        std::string const key(out.value().key());
        auto sent = std::move(allowed).value().operation();
        auto const reply = some_reply(key);
        so_far_ = weigh(documented_, sent, reply);
        ++all_.replies;
        seen const should = oracle::shown_by(reply, key, terms_.reply_is_proof,
                                             terms_.duplicate_is_proof, terms_.inner_attempts);
        if (so_far_.what != should) wrong(sent.stored(), "the reply shows", so_far_.what, should);
    }

    shop_names::keyed_reply some_reply(std::string const& key) {
        auto const echo = chance_.chance(0.8) ? key : chance_.chance(0.5) ? "another" : "";
        std::string const receipt = chance_.chance(0.9) ? some_receipt() : "";
        switch (chance_.below(8)) {
        case 0: return shop_names::accepted_with_key{receipt, echo};
        case 1: return duplicate<std::string>{receipt, echo};
        case 2: return duplicate<std::string>{{}, echo};
        case 3:
            return refused{refusal_class::busy, chance_.chance(0.5),
                           milliseconds(chance_.below(9'000))};
        case 4: return not_sent{};
        case 5: return conflict{chance_.chance(0.3)};
        case 6: return in_progress{milliseconds(chance_.below(5'000))};
        default: return unknown{chance_.chance(0.3) ? "a hint" : ""};
        }
    }
    std::string some_receipt() { return chance_.chance(0.7) ? "r-1" : "r-2"; }
    shop_names::effect some_effect(record const& r) {
        shop_names::effect e{.receipt = chance_.chance(0.95) ? some_receipt() : ""};
        if (chance_.chance(0.8)) e.key = chance_.chance(0.9) ? r.identity().key : "another";
        if (chance_.chance(0.95)) e.request = chance_.chance(0.9) ? s_.request : "something else";
        e.ours = chance_.chance(0.9);
        if (chance_.chance(0.3)) e.status = static_cast<effect_status>(chance_.below(4));
        return e;
    }

    oracle::sought what_is_sought(record const& r) const {
        oracle::sought s{.key = std::string(r.key()), .request = s_.request, .receipt = r.receipt};
        s.ever_confirmed = r.ever_confirmed;
        s.restored = r.restored;
        for (auto const& a : r.attempts) {
            s.any_open = s.any_open || a.outcome == attempt_outcome_id::open;
            s.sent += a.outcome != attempt_outcome_id::not_sent ? 1U : 0U;
        }
        s.by_name = terms_.identifies == identified::by_name && (s.any_open || r.ever_confirmed) &&
                    r.reason != rule::existed_before;
        return s;
    }

    /// What is the case, by plain arithmetic.
    oracle::facts what_is_the_case(record const& r, moment const& m) const {
        oracle::facts f;
        f.known = r.state;
        f.restored = r.restored;
        f.shown = so_far_.what;
        f.claimed = r.claim.epoch == m.epoch && r.claim.holder != m.holder;
        f.cancelled = r.cancel_requested;
        f.look_only = m.look_only;
        f.deadline_over = m.now >= r.deadline;
        f.may_look = m.may_look.what;
        f.may_send = m.may_send.what;
        auto const from = f.may_send == oracle::send::later
                              ? std::max(m.may_send.not_before, r.next_check)
                              : r.next_check;
        if (f.may_send == oracle::send::now || f.may_send == oracle::send::later) {
            f.may_send = from <= m.now        ? oracle::send::now
                         : from >= r.deadline ? oracle::send::too_late
                                              : oracle::send::later;
        }
        f.can_be_asked = terms_.has_lookup;
        f.visibility_known = terms_.visible_after.has_value();
        milliseconds const hidden = terms_.visible_after.value_or(0ms);
        f.documented = terms_.resend.kind != guarantee_kind::none;
        f.covered = f.documented && !r.restored;
        for (auto const& a : r.attempts) {
            f.refused_earlier |= a.outcome == attempt_outcome_id::refused_for_good;
            if (a.outcome != attempt_outcome_id::open) continue;
            ++f.open;
            f.covered = f.covered && a.sent_at > m.closed_until;
        }
        if (!r.attempts.empty()) {
            f.too_early = f.visibility_known &&
                          m.now < r.attempts.back().sent_at + terms_.arrives_within + hidden;
            bool const unlimited = terms_.resend.lasts == milliseconds::max();
            if (!unlimited && f.covered) {
                f.covered = m.now + terms_.arrives_within + terms_.margin <
                            r.attempts.front().sent_at + terms_.resend.lasts;
            }
        }
        f.late_enough_to_miss = !f.visibility_known || m.now >= r.confirmed_at + hidden;
        f.covered_by_key = f.covered && terms_.resend.kind == guarantee_kind::by_key;
        f.about_an_open = so_far_.attempt != 0 &&
                          r.attempts[so_far_.attempt - 1].outcome == attempt_outcome_id::open;
        f.refused_now = so_far_.outcome == attempt_outcome_id::refused_for_good;
        f.brings_time = so_far_.retry_after > 0ms;
        f.brings_hints = !so_far_.remarks.empty();
        f.reviewed_for = r.concern;
        f.never_looked_up =
            !so_far_.from_outside && (r.basis == basis::reply || r.basis == basis::outside);
        f.same_receipt = so_far_.receipt == r.receipt;
        f.existed_before = r.reason == rule::existed_before;
        f.holds_a_receipt = !r.receipt.empty();
        oracle::answer about{};
        (void)oracle::contradicts(f, about);
        f.same_contradiction = r.concern == concern::contradiction && r.reason == about.why;
        return f;
    }

    template <class Next> void compare(record const& r, moment const& m, Next const& next) {
        action told = action::report;
        auto const is = [&]<class E>(std::type_identity<E>, action a) {
            if constexpr (std::is_constructible_v<Next, E>) {
                if (next.template holds<E>()) told = a;
            }
        };
        is(std::type_identity<look_up>(), action::look);
        is(std::type_identity<wait>(), action::wait);
        is(std::type_identity<clearance>(), action::send);
        is(std::type_identity<resend_clearance>(), action::resend);
        is(std::type_identity<match>(), action::confirm);
        is(std::type_identity<contradiction>(), action::contradict);
        is(std::type_identity<doubt>(), action::refer);
        is(std::type_identity<non_application>(), action::reopen);
        is(std::type_identity<refusal>(), action::reject);
        is(std::type_identity<attempt_outcome>(), action::record);
        is(std::type_identity<cancellation>(), action::cancel);
        all_.rows.insert(&detail::deciding_row({r, so_far_, terms_, m}));
        auto const should = oracle::expected(what_is_the_case(r, m));
        if (told != should.what) {
            wrong(r, "the table says", so_far_.what, so_far_.what);
            all_.first_wrong += ", action " + std::to_string(int(told)) + " instead of " +
                                std::to_string(int(should.what));
        }
    }

    /// What a state says of the attempts.
    void means_what_it_says(record const& r) {
        bool const none_may_be_applied = r.state == state_id::pending ||
                                         r.state == state_id::rejected ||
                                         r.state == state_id::cancelled;
        if (none_may_be_applied && r.open_attempts() != 0) {
            wrong(r, "an attempt may be applied in it", so_far_.what, so_far_.what);
        }
        bool const resends = terms_.resend.kind != guarantee_kind::none;
        if (!resends && r.open_attempts() > 1) {
            wrong(r, "sent twice without a guarantee", so_far_.what, so_far_.what);
        }
    }

    void wrong(record const& r, std::string const& what, seen is, seen should) {
        if (!all_.first_wrong.empty()) return;
        all_.first_wrong =
            "history " + std::to_string(all_.histories) + ", " + std::string(to_string(r.state)) +
            " after " + std::to_string(r.attempts.size()) + " attempts: " + what + " " +
            std::string(to_string(is)) + ", specified: " + std::string(to_string(should));
    }

    Contract const& documented_;
    detail::terms terms_;
    seeded_random chance_;
    tally& all_;
    shelf s_;
    std::optional<journal<lossy_storage, manual_clock>> book_{};
    observation so_far_{};
    unsigned looks_ = 0;
};

TEST_CASE("10,000 random histories: the tables answer as specified at every step") {
    tally all;
    for (std::uint64_t seed = 1; seed <= 2'500; ++seed) {
        telling_of_one(bare, seed, all).tell();
        telling_of_one(hidden_for_a_minute, seed, all).tell();
        telling_of_one(proving, seed, all).tell();
        telling_of_one(named, seed, all).tell();
    }
    CHECK_MESSAGE(all.first_wrong.empty(), all.first_wrong);
    CHECK(all.histories == 10'000);
    // Nothing of it is idle: most steps decide, and each table is asked often.
    CHECK(all.decisions > 100'000);
    CHECK(all.replies > 8'000);
    CHECK(all.lists > 20'000);
    CHECK(all.rows.size() > 35);
}

} // namespace
