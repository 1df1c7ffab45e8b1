// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef INDOUBT_RECOVERY_REVIEW_HPP
#define INDOUBT_RECOVERY_REVIEW_HPP

#include <indoubt/recovery/amendment.hpp>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// The decisions of people, each about one operation: there is none about all of them. Which of them
// a record allows is the business of the transitions.

namespace indoubt {

/// What a person gives an operation that is to go on.
struct grant {
    std::uint32_t extra_attempts = 1; ///< beyond what the budget allows
    /// From now on; it replaces the deadline there was. Unset: none.
    std::optional<milliseconds> overall{};
};

namespace detail {

template <class Policies> class review {
    using with = parts<Policies>;
    using journal = typename with::journal;
    using provider = typename with::provider;
    using request = typename with::request;
    using receipt = typename with::receipt;

public:
    review(Policies& policies, journal& book, waiting_room& waiting)
        : with_(policies), book_(book), amendment_(policies, book, waiting) {}

    result<record> rule_out(identity const& id, by const& person, grant const& more) {
        return decide_in_review(id, "rule_out", person, [&](operation<in_review>&& op) {
            ruling word(op.stamp(), person, now_, more.extra_attempts, deadline(more));
            return boxed(indoubt::rule_out(std::move(op), std::move(word)));
        });
    }

    result<record> resume(identity const& id, by const& person, grant const& more) {
        return decide_in_review(id, "resume", person, [&](operation<in_review>&& op) {
            record const& r = op.stored();
            bool const open = r.open_attempts() != 0 || r.restored;
            return open ? resume_to<uncertain>(std::move(op), person, more)
                        : resume_to<pending>(std::move(op), person, more);
        });
    }

    result<record> dismiss(identity const& id, by const& person,
                           std::vector<std::string> const& none_of_ours) {
        auto const back_to = [&]<state To>(To, operation<in_review>&& op) {
            dismissal<To> word(op.stamp(), person, now_, none_of_ours);
            return boxed(indoubt::dismiss(std::move(op), std::move(word)));
        };
        return decide_in_review(id, "dismiss", person, [&](operation<in_review>&& op) {
            if (contains(none_of_ours, {})) {
                return result<amended>(not_open(op.stored(), "a receipt is empty"));
            }
            switch (op.stored().came_from) {
            case state_id::confirmed: return back_to(confirmed(), std::move(op));
            case state_id::rejected: return back_to(rejected(), std::move(op));
            case state_id::cancelled: return back_to(cancelled(), std::move(op));
            default: return back_to(abandoned(), std::move(op)); // refused unless it is from there
            }
        });
    }

    result<record> abandon(identity const& id, by const& person) {
        return decide_in_review(id, "abandon", person, [&](operation<in_review>&& op) {
            abandonment word(op.stamp(), person, now_);
            return boxed(indoubt::abandon(std::move(op), std::move(word)));
        });
    }

    result<record> supersede(identity const& id, by const& person, grant const& more) {
        return decide(id, "supersede", person, [&]<state S>(operation<S>&& op) -> result<amended> {
            record const& r = op.stored();
            if constexpr (std::same_as<S, rejected> || std::same_as<S, cancelled>) {
                BOOST_OUTCOME_TRY(amendment_.is_comparable(r));
                auto const about = r.intent;
                auto const key = provider_key(with_.provider, id, r.generation + 1);
                supersession word(op.stamp(), person, now_, key, deadline(more));
                auto anew = boxed(indoubt::supersede(std::move(op), std::move(word)));
                if (!anew) return anew; // nothing is bound by what is refused
                BOOST_OUTCOME_TRY(
                    book_.bind_key(id, about->target, key, with_.provider.contract.keys));
                return anew;
            } else {
                return not_open(r, how_it_stands(r));
            }
        });
    }

    /// The person names the effect; where the provider can be asked, it is read and compared.
    result<record> adopt(identity const& id, receipt const& named, by const& person) {
        BOOST_OUTCOME_TRY(named_, encoded(named));
        return decide_in_review(
            id, "adopt", person, [&](operation<in_review>&& op) -> result<amended> {
                record const& r = op.stored();
                if (named_.empty()) return not_open(r, "it needs a receipt");
                if (named_.size() > longest_receipt) {
                    return error_about(r, rule::too_large).saying("the receipt");
                }
                BOOST_OUTCOME_TRY(amendment_.is_comparable(r));
                std::vector<std::string> others;
                basis rests_on = basis::person;
                if constexpr (documents_a_lookup<contract_of<provider>>) {
                    bool const can_ask = !r.tombstone || !r.intent->request.empty();
                    if (can_ask) {
                        BOOST_OUTCOME_TRY(others, verified(r));
                        rests_on = basis::looked_up;
                    }
                }
                BOOST_OUTCOME_TRY(bool const ours, book_.bind_receipt(r, named_));
                if (!ours) return error_about(r, rule::receipt_taken);
                return boxed(
                    indoubt::adopt(std::move(op), mint::adoption(op.stamp(), person, now_, named_,
                                                                 rests_on, std::move(others))));
            });
    }

private:
    /// make is asked unless this very decision was made before.
    template <class Make>
    result<record> decide(identity const& id, std::string_view what, by const& person, Make make) {
        return amendment_.change(id, [&]<state S>(operation<S>&& op) -> result<amended> {
            record const& r = op.stored();
            if (person.who.empty() || person.why.empty()) {
                return not_open(r, "it needs who and why");
            }
            auto const& made = r.notes_or_none().decisions;
            auto const same = std::ranges::find(made, person.id, &decision::id);
            if (!person.id.empty() && same != made.end()) {
                bool const equal = same->what == what && (named_.empty() || named_ == r.receipt);
                if (equal) return as_it_is(std::move(op));
                return not_open(r, "its id stands for another decision");
            }
            if (r.claim.epoch != 0 && r.claim.epoch == book_.epoch()) {
                return error_about(r, rule::in_progress);
            }
            now_ = book_.now();
            return make(std::move(op));
        });
    }

    template <class Make>
    result<record> decide_in_review(identity const& id, std::string_view what, by const& person,
                                    Make make) {
        return decide(id, what, person, [&]<state S>(operation<S>&& op) -> result<amended> {
            if constexpr (std::same_as<S, in_review>) {
                return make(std::move(op));
            } else {
                return not_open(op.stored(), how_it_stands(op.stored()));
            }
        });
    }

    static std::string how_it_stands(record const& r) {
        std::string is = "it is " + std::string(to_string(r.state));
        auto const& made = r.notes_or_none().decisions;
        return made.empty() ? is : is + "; last: " + made.back().what + " by " + made.back().who;
    }

    template <state To>
    result<amended> resume_to(operation<in_review>&& op, by const& person, grant const& more) {
        resumption<To> word(op.stamp(), person, now_, more.extra_attempts, deadline(more));
        return boxed(indoubt::resume(std::move(op), std::move(word)));
    }

    time_point deadline(grant const& more) const {
        return more.overall ? later(now_, *more.overall) : time_point::max();
    }

    /// One look-up. Returns: the receipts of the other effects of ours that it shows.
    result<std::vector<std::string>> verified(record const& r) {
        BOOST_OUTCOME_TRY(auto const asked, codec<request>::decode(r.intent->request));
        auto q = query_for(r, asked, {.time_left = with_.provider.contract.call_timeout});
        q.receipt = named_;
        auto const found = with_.provider.lookup(q);
        auto const* all = found.template get_if<complete<request, receipt>>();
        if (all == nullptr) return error_about(r, rule::look_up_failed);
        terms const t = terms_of(with_.provider.contract);
        rule objection = rule::not_shown;
        std::vector<std::string> others;
        for (auto const& e : all->effects) {
            BOOST_OUTCOME_TRY(auto bytes, encoded(e.receipt));
            if (bytes == named_) {
                bool const first = objection == rule::not_shown || objection == rule::none;
                if (first) objection = objection_to(e, r);
            } else if (is_ours(r, t, e.key, bytes, e.ours) ||
                       contains(r.notes_or_none().former_keys, e.key)) {
                others.push_back(std::move(bytes));
            }
        }
        if (objection != rule::none) return error_about(r, objection);
        return others;
    }

    rule objection_to(effect<request, receipt> const& e, record const& r) {
        bool const of_another =
            !e.key.empty() && e.key != r.key() && !contains(r.notes_or_none().former_keys, e.key);
        if (!e.ours || of_another) return rule::another_owner;
        if (e.status != effect_status::applied) return rule::under_way;
        bool const equal = e.request && same_content<Policies>{with_}(r, *e.request);
        return equal ? rule::none : rule::contents_differ;
    }

    Policies& with_;
    journal& book_;
    amendment<Policies> amendment_;
    time_point now_{};    ///< of the decision that is being made
    std::string named_{}; ///< the receipt that an adoption names
};

} // namespace detail

} // namespace indoubt

#endif
