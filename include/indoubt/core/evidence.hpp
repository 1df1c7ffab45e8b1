// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef INDOUBT_CORE_EVIDENCE_HPP
#define INDOUBT_CORE_EVIDENCE_HPP

#include <indoubt/core/record.hpp>
#include <indoubt/core/states.hpp>

#include <concepts>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

// What justifies a transition. A piece of evidence is move-only, belongs to one operation as of
// one version of its record, and is used up by the transition that takes it. Evidence of what
// happened at the provider is made by decide and by review alone; only a person's or the caller's
// word can be written down by anyone.

namespace indoubt {

namespace detail {

class mint;    // makes evidence: recovery/decide.hpp
class transit; // uses it: core/transitions.hpp

/// What every piece of evidence carries: what it is about, and when it was made.
class evidence {
public:
    evidence(evidence&&) noexcept = default;
    evidence& operator=(evidence&&) noexcept = default;
    indoubt::stamp of() const { return of_; }
    time_point at() const { return at_; }

protected:
    evidence(indoubt::stamp of, time_point at) : of_(of), at_(at) {}
    ~evidence() = default;

private:
    indoubt::stamp of_;
    time_point at_;
};

/// How one attempt ended. number counts from 1; 0: no attempt is closed.
struct closing {
    std::uint32_t number = 0;
    attempt_outcome_id outcome = attempt_outcome_id::open;
    rule why = rule::none;
};

/// What a send may rely on.
struct leave {
    time_point send_before{}; ///< the bytes must go out before this
    indoubt::guarantee guarantee;
    indoubt::claim claim;
    std::string target_id{}; ///< of what the send acts on, as the look-up before it showed
};

} // namespace detail

/// A first send is allowed: an absence was seen, or cannot be looked for, and the budget agrees.
class clearance : public detail::evidence {
    friend detail::mint;
    friend detail::transit;
    clearance(indoubt::stamp of, time_point at, detail::leave leave)
        : evidence(of, at), leave_(leave) {}
    detail::leave leave_;
};

/// Another send is allowed while an attempt may have been applied: a documented guarantee covers
/// it, today's and that of every open attempt.
class resend_clearance : public detail::evidence {
    friend detail::mint;
    friend detail::transit;
    resend_clearance(indoubt::stamp of, time_point at, detail::leave leave)
        : evidence(of, at), leave_(leave) {}
    detail::leave leave_;
};

/// Exactly one effect of ours, with the content that was asked for, was observed.
class match : public detail::evidence {
    friend detail::mint;
    friend detail::transit;
    match(indoubt::stamp of, time_point at, std::string receipt, indoubt::basis basis)
        : evidence(of, at), receipt_(std::move(receipt)), basis_(basis) {}
    std::string receipt_;
    indoubt::basis basis_;
};

/// What was seen cannot be: other content under our key, several effects, an effect after a final
/// state, the confirmed effect gone. The rule says which.
class contradiction : public detail::evidence {
public:
    indoubt::rule rule() const { return rule_; }

private:
    friend detail::mint;
    friend detail::transit;
    contradiction(indoubt::stamp of, time_point at, indoubt::rule rule, std::string remarks)
        : evidence(of, at), rule_(rule), remarks_(std::move(remarks)) {}
    indoubt::rule rule_;
    std::string remarks_;
};

/// Nothing automatic is left that could tell what happened. The rule says what stopped it.
class doubt : public detail::evidence {
public:
    indoubt::rule rule() const { return rule_; }

private:
    friend detail::mint;
    friend detail::transit;
    doubt(indoubt::stamp of, time_point at, indoubt::rule rule, std::string remarks)
        : evidence(of, at), rule_(rule), remarks_(std::move(remarks)) {}
    indoubt::rule rule_;
    std::string remarks_;
};

/// No attempt may have been applied: the last open one surely was not.
class non_application : public detail::evidence {
    friend detail::mint;
    friend detail::transit;
    non_application(indoubt::stamp of, time_point at, detail::closing last, time_point again_at)
        : evidence(of, at), last_(last), again_at_(again_at) {}
    detail::closing last_;
    time_point again_at_;
};

/// The provider documents a refusal for good, and no attempt may have been applied.
class refusal : public detail::evidence {
    friend detail::mint;
    friend detail::transit;
    refusal(indoubt::stamp of, time_point at, detail::closing last, indoubt::rule rule)
        : evidence(of, at), last_(last), rule_(rule) {}
    detail::closing last_;
    indoubt::rule rule_;
};

/// What became of one attempt while others are open or after the operation was settled; a receipt
/// or hint worth keeping; or that a confirmed effect was looked up and is the only one.
class attempt_outcome : public detail::evidence {
    friend detail::mint;
    friend detail::transit;
    attempt_outcome(indoubt::stamp of, time_point at, detail::closing closed, std::string receipt,
                    std::string hints, time_point again_at, indoubt::basis better_basis)
        : evidence(of, at), closed_(closed), receipt_(std::move(receipt)), hints_(std::move(hints)),
          again_at_(again_at), better_basis_(better_basis) {}
    detail::closing closed_;
    std::string receipt_, hints_;
    time_point again_at_;
    indoubt::basis better_basis_; ///< of a confirmation that has now been looked up
};

// ---- somebody's word ----------------------------------------------------------------------------

namespace detail {

/// A word that needs no proof: who said it, why and when.
class word : public evidence {
public:
    by const& person() const { return person_; }

protected:
    word(indoubt::stamp of, by person, time_point at)
        : evidence(of, at), person_(std::move(person)) {}

private:
    by person_;
};

} // namespace detail

/// A person says the effect exists and names its receipt. Made by review, which verifies it by a
/// look-up where there is one; other effects of ours that it shows are known from then on.
class adoption : public detail::word {
public:
    std::string const& receipt() const { return receipt_; }
    indoubt::basis basis() const { return basis_; }
    std::vector<std::string> const& others() const { return others_; }

private:
    friend detail::mint;
    adoption(indoubt::stamp of, by person, time_point at, std::string receipt, indoubt::basis basis,
             std::vector<std::string> others)
        : word(of, std::move(person), at), receipt_(std::move(receipt)), basis_(basis),
          others_(std::move(others)) {}
    std::string receipt_;
    indoubt::basis basis_;
    std::vector<std::string> others_;
};

/// Stop: by the caller, now or earlier, or because the deadline or the attempts are spent.
class cancellation : public detail::word {
public:
    explicit cancellation(indoubt::stamp of, by caller = {}, time_point at = {},
                          indoubt::rule rule = rule::cancelled_by_caller)
        : word(of, std::move(caller), at), rule_(rule) {}
    indoubt::rule rule() const { return rule_; }

private:
    indoubt::rule rule_;
};

/// A person says that no attempt was applied, nor ever will be.
///
/// What is sent after it may need more than is left: one more attempt and no deadline, unless the
/// person says otherwise.
class ruling : public detail::word {
public:
    ruling(indoubt::stamp of, by person, time_point at, std::uint32_t extra_attempts = 1,
           time_point deadline = time_point::max())
        : word(of, std::move(person), at), extra_attempts_(extra_attempts), deadline_(deadline) {}
    std::uint32_t extra_attempts() const { return extra_attempts_; }
    time_point deadline() const { return deadline_; }

private:
    std::uint32_t extra_attempts_;
    time_point deadline_;
};

/// A person lets the operation go on under its identity, with more attempts and a new deadline.
/// To is uncertain, or pending if no attempt is open.
template <state To>
    requires(std::same_as<To, uncertain> || std::same_as<To, pending>)
class resumption : public detail::word {
public:
    resumption(indoubt::stamp of, by person, time_point at, std::uint32_t extra_attempts,
               time_point deadline)
        : word(of, std::move(person), at), extra_attempts_(extra_attempts), deadline_(deadline) {}
    std::uint32_t extra_attempts() const { return extra_attempts_; }
    time_point deadline() const { return deadline_; }

private:
    std::uint32_t extra_attempts_;
    time_point deadline_;
};

/// A person says that the contradiction is none of ours: back to the final state it came from.
/// Effects with the receipts named, as they are encoded, do not count from then on.
template <state To>
    requires(is_final(To::id))
class dismissal : public detail::word {
public:
    dismissal(indoubt::stamp of, by person, time_point at,
              std::vector<std::string> none_of_ours = {})
        : word(of, std::move(person), at), none_of_ours_(std::move(none_of_ours)) {}
    std::vector<std::string> const& none_of_ours() const { return none_of_ours_; }

private:
    std::vector<std::string> none_of_ours_;
};

/// A person closes the operation with its outcome unknown.
class abandonment : public detail::word {
public:
    abandonment(indoubt::stamp of, by person, time_point at) : word(of, std::move(person), at) {}
};

/// The same intent again after it surely was not applied: a new generation with a new provider
/// key, its attempts counted anew, and no deadline unless one is given.
class supersession : public detail::word {
public:
    supersession(indoubt::stamp of, by person, time_point at, std::string new_provider_key,
                 time_point deadline = time_point::max())
        : word(of, std::move(person), at), provider_key_(std::move(new_provider_key)),
          deadline_(deadline) {}
    std::string const& provider_key() const { return provider_key_; }
    time_point deadline() const { return deadline_; }

private:
    std::string provider_key_;
    time_point deadline_;
};

} // namespace indoubt

#endif
