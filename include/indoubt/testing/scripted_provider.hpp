// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef INDOUBT_TESTING_SCRIPTED_PROVIDER_HPP
#define INDOUBT_TESTING_SCRIPTED_PROVIDER_HPP

#include <indoubt/policy/provider.hpp>
#include <indoubt/testing/manual_clock.hpp>

#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// A provider that does what a test says and keeps the ground truth: which effects exist and how
// often it was called. Tests count effects here, never by what the library returned.

namespace indoubt::testing {

/// What really happened at the service. It outlives providers, journals and "processes".
/// Thread safety: all functions may be called concurrently.
class world {
public:
    struct fact {
        std::string key, request, receipt;
        bool ours = true;
        effect_status status = effect_status::applied;
        milliseconds visible_from{}; ///< on the clock's elapsed() scale
        bool gone = false;
    };

    explicit world(manual_clock clock = manual_clock()) : clock_(std::move(clock)) {}

    /// Repeats of one key are dropped for so long after the first acceptance.
    void deduplicate(milliseconds window) {
        std::scoped_lock const lock(mutex_);
        window_ = window;
    }
    /// Effects are hidden for so long after they were applied.
    void hide_effects_for(milliseconds delay) {
        std::scoped_lock const lock(mutex_);
        hidden_for_ = delay;
    }

    /// Applies a call, unless it is dropped as a repeat. Returns the receipt.
    std::string apply(std::string_view key, std::string_view request) {
        std::scoped_lock const lock(mutex_);
        auto const now = clock_.elapsed();
        for (auto const& a : accepted_) {
            if (window_ && a.key == key && now < a.at + *window_) return a.receipt;
        }
        fact f{std::string(key), std::string(request), "r-" + std::to_string(facts_.size() + 1)};
        f.visible_from = now + hidden_for_;
        accepted_.push_back({f.key, f.receipt, now});
        facts_.push_back(std::move(f));
        return facts_.back().receipt;
    }
    /// Puts a record there that nobody sent through the library.
    void put(fact f) {
        std::scoped_lock const lock(mutex_);
        facts_.push_back(std::move(f));
    }
    /// Removes all effects of a key, as another person would.
    void remove(std::string_view key) {
        std::scoped_lock const lock(mutex_);
        for (auto& f : facts_)
            f.gone = f.gone || f.key == key;
    }
    void set_status(std::string_view key, effect_status status) {
        std::scoped_lock const lock(mutex_);
        for (auto& f : facts_) {
            if (f.key == key) f.status = status;
        }
    }

    void count_send(std::string_view key, std::string_view bytes) {
        std::scoped_lock const lock(mutex_);
        ++sends_;
        keys_.insert(std::string(key));
        bodies_.insert(std::string(bytes));
    }
    void count_look() {
        std::scoped_lock const lock(mutex_);
        ++looks_;
    }

    /// Effects ever made by calls, under any key; those put or removed by others do not count.
    std::size_t effects() const {
        std::scoped_lock const lock(mutex_);
        return accepted_.size();
    }
    std::size_t effects(std::string_view key) const {
        std::scoped_lock const lock(mutex_);
        return static_cast<std::size_t>(std::ranges::count(
            accepted_, key, [](auto const& a) -> std::string_view { return a.key; }));
    }
    std::size_t sends() const {
        std::scoped_lock const lock(mutex_);
        return sends_;
    }
    std::size_t looks() const {
        std::scoped_lock const lock(mutex_);
        return looks_;
    }
    std::size_t distinct_keys() const {
        std::scoped_lock const lock(mutex_);
        return keys_.size();
    }
    std::size_t distinct_bodies() const {
        std::scoped_lock const lock(mutex_);
        return bodies_.size();
    }
    /// What a complete look-up by key shows now: what carries it, and what carries no key at all.
    std::vector<fact> visible(std::string_view key) const {
        std::scoped_lock const lock(mutex_);
        std::vector<fact> seen;
        for (auto const& f : facts_) {
            bool const asked_for = f.key == key || f.key.empty();
            if (asked_for && !f.gone && f.visible_from <= clock_.elapsed()) seen.push_back(f);
        }
        return seen;
    }

private:
    struct acceptance {
        std::string key, receipt;
        milliseconds at;
    };
    mutable std::mutex mutex_;
    manual_clock clock_;
    std::optional<milliseconds> window_{};
    milliseconds hidden_for_{};
    std::vector<fact> facts_;
    std::vector<acceptance> accepted_;
    std::set<std::string> keys_, bodies_;
    std::size_t sends_ = 0, looks_ = 0;
};

/// Requests and receipts are text. Contract says what it documents; the scripts say what it does.
/// A copy shares world and scripts with the original.
template <class Contract> class scripted_provider : public provider_of<std::string> {
public:
    using base = provider_of<std::string>;
    using submission = std::function<base::keyed_reply(base::attempt const&, world&)>;
    using inspection = std::function<base::answer(base::query const&, world&)>;

    scripted_provider(Contract documented, std::shared_ptr<world> truth)
        : contract(documented), world_(std::move(truth)), script_(std::make_shared<script>()) {}

    /// Plays the given replies and answers, one a call and in order; then the defaults: a send is
    /// applied and accepted with its key, a look-up tells the truth.
    void on_submit(submission s) {
        std::scoped_lock const lock(script_->mutex);
        script_->submissions.push_back(std::move(s));
    }
    void on_lookup(inspection s, unsigned times = 1) {
        std::scoped_lock const lock(script_->mutex);
        for (unsigned i = 0; i != times; ++i)
            script_->inspections.push_back(s);
    }
    /// From now on look-ups without a script of their own do this.
    void always_on_lookup(inspection s) {
        std::scoped_lock const lock(script_->mutex);
        script_->default_inspection = std::move(s);
    }

    base::keyed_reply submit(base::attempt const& a) {
        world_->count_send(a.key(), a.bytes());
        if (auto next = take(&script::submissions)) return next(a, *world_);
        return applied(a, *world_);
    }
    base::answer lookup(base::query const& q) {
        world_->count_look();
        if (auto next = take(&script::inspections)) return next(q, *world_);
        return script_->default_inspection(q, *world_);
    }

    world& truth() { return *world_; }

    // ---- ready-made replies ---------------------------------------------------------------------

    static base::keyed_reply applied(base::attempt const& a, world& w) {
        return base::accepted_with_key{w.apply(a.key(), a.bytes()), std::string(a.key())};
    }
    static base::keyed_reply applied_reply_lost(base::attempt const& a, world& w) {
        w.apply(a.key(), a.bytes());
        return base::unknown{};
    }
    static base::keyed_reply request_lost(base::attempt const&, world&) { return base::unknown{}; }
    static submission replies(base::keyed_reply r) {
        return [r](base::attempt const&, world&) { return r; };
    }
    static submission applied_then(base::keyed_reply r) {
        return [r](base::attempt const& a, world& w) {
            w.apply(a.key(), a.bytes());
            return r;
        };
    }

    // ---- ready-made answers ---------------------------------------------------------------------

    static base::answer truthful(base::query const& q, world& w) {
        base::complete all;
        for (auto& f : w.visible(q.key)) {
            all.effects.push_back({f.receipt, f.key, f.request, f.ours, f.status});
        }
        return all;
    }
    static base::answer down(base::query const&, world&) { return base::unavailable{}; }
    static base::answer half(base::query const&, world&) { return base::incomplete{}; }
    static base::answer empty(base::query const&, world&) { return base::complete{}; }
    static inspection answers(base::answer a) {
        return [a](base::query const&, world&) { return a; };
    }

    static constexpr auto target = "scripted";
    Contract contract;

private:
    struct script {
        std::mutex mutex;
        std::deque<submission> submissions;
        std::deque<inspection> inspections;
        inspection default_inspection = truthful;
    };
    template <class Queue> typename Queue::value_type take(Queue script::* queue) {
        std::scoped_lock const lock(script_->mutex);
        auto& q = (*script_).*queue;
        if (q.empty()) return {};
        auto next = std::move(q.front());
        q.pop_front();
        return next;
    }

    std::shared_ptr<world> world_;
    std::shared_ptr<script> script_;
};

} // namespace indoubt::testing

#endif
