// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef TESTS_RECOVERY_BY_HAND_HPP
#define TESTS_RECOVERY_BY_HAND_HPP

#include <scene.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>

// The machine driven by hand, one step at a time, and a storage that lets a test do something in
// the middle of a step.

namespace scene {

/// A lossy_storage with something to do around its reads, writes and flushes, as another thread
/// would, or as memory that has run out. Counts its flushes.
struct hooked_storage {
    explicit hooked_storage(lossy_storage& s) : kept(s) {}

    storage_facts facts() const { return kept.facts(); }
    result<std::optional<record>> insert(record const& r) { return kept.insert(r); }
    result<void> replace(record const& r, version v) {
        once(before_replace);
        return kept.replace(r, v);
    }
    result<std::optional<record>> find(identity const& id) {
        auto found = kept.find(id);
        once(after_find);
        return found;
    }
    result<bool> bind(std::string_view name, identity const& id) { return kept.bind(name, id); }
    template <class F> result<std::size_t> visit_unsettled(page p, F&& visit) {
        auto shown = kept.visit_unsettled(p, visit);
        once(after_visit);
        return shown;
    }
    result<void> flush() {
        ++flushes;
        once(before_flush);
        auto flushed = kept.flush();
        once(after_flush);
        return flushed;
    }

    unsigned flushes = 0;
    std::function<void()> after_find, after_visit, before_replace, before_flush, after_flush;

private:
    static void once(std::function<void()>& what) {
        if (auto now = std::exchange(what, nullptr)) now();
    }
    lossy_storage& kept;
};

/// A journal and nothing else: no provider, no recovery.
struct shelf {
    lossy_storage kept;
    manual_clock clock;
    bounded_budget budget = plain_budget;
    identity id{"scope", "key"};
    std::string request = "one";
    struct {
        std::string target = "shop";
    } shop{};

    auto open() { return journal<lossy_storage, manual_clock>(kept, clock); }
    record stored() { return *kept.find(id).value(); }
};

template <class Contract>
using hooked_process = recovery<policies<shop_of<Contract>, hooked_storage&, exact_fingerprint,
                                         bounded_budget, manual_clock, listener>>;

/// The operation as the journal has it; it must be in state S.
template <state S, class Journal> operation<S> taken(Journal& book, identity const& id) {
    auto found = book.find(id);
    return std::move(*found.value().value().template get_if<operation<S>>());
}

/// Begins the operation of a scene.
template <class Journal, class Scene> operation<pending> begun(Journal& book, Scene const& s) {
    exact_fingerprint const fingerprint;
    auto wanted = intend(s.shop.target, s.request, fingerprint);
    auto op = book.begin(s.id, std::move(wanted).value(), fingerprint);
    return std::move(*op.value().template get_if<operation<pending>>());
}

/// The answer of decide, as the evidence E. It must be that.
template <class E, state S, class Contract>
E decided(operation<S> const& op, Contract const& documented, observation const& seen,
          moment const& at) {
    auto next = decide(op, documented, seen, at);
    return std::move(*next.template get_if<E>());
}

/// What a complete and empty look-up shows.
template <state S, class Contract>
observation absence(operation<S> const& op, Contract const& documented) {
    using shop = provider_of<std::string>;
    return weigh(documented, op, shop::answer(shop::complete{}));
}
/// What a reply shows.
template <state S, class Contract>
observation replied(operation<S> const& op, Contract const& documented,
                    provider_of<std::string>::keyed_reply r, std::uint32_t attempt = 0) {
    return weigh(documented, op, std::move(r), attempt);
}

/// Records an attempt, as far as the leave to make it.
template <class Journal, class Scene, class Contract>
permit departed(Journal& book, Scene& s, Contract const& documented) {
    auto op = begun(book, s);
    auto const now = book.moment(op.stored(), s.budget, documented);
    auto cleared = decided<clearance>(op, documented, absence(op, documented), now);
    return std::move(book.write(dispatch(std::move(op), std::move(cleared))).value());
}

} // namespace scene

#endif
