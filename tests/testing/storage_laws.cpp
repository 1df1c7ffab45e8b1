// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#include <indoubt/adapter/memory_storage.hpp>
#include <indoubt/testing/lossy_storage.hpp>
#include <indoubt/testing/storage_laws.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

// The law suite must notice: each storage here breaks one law, as real ones have done.

namespace {

using namespace indoubt;
using testing::lossy_storage;

/// A storage that breaks nothing. The others hide one function of it.
struct sound {
    storage_facts facts() { return kept.facts(); }
    result<std::optional<record>> insert(record const& r) { return kept.insert(r); }
    result<void> replace(record const& r, version v) { return kept.replace(r, v); }
    result<std::optional<record>> find(identity const& id) { return kept.find(id); }
    result<bool> bind(std::string_view name, identity const& id) { return kept.bind(name, id); }
    template <class F> result<std::size_t> visit_unsettled(page p, F&& visit) {
        return kept.visit_unsettled(p, visit);
    }
    result<std::size_t> shrink_settled(time_point before, std::size_t most) {
        return kept.shrink_settled(before, most);
    }
    result<void> flush() { return kept.flush(); }
    memory_storage kept;
};

/// Seven functions and no more.
struct never_shrinks : sound {
    void shrink_settled(time_point, std::size_t) = delete;
};

/// Changes every identity on its way in, as a column with a collation of its own would.
template <class Change> struct changes_identities : sound {
    static identity changed(identity id) {
        Change{}(id.scope);
        Change{}(id.key);
        return id;
    }
    static record changed(record r) {
        auto inside = *r.intent;
        inside.identity = changed(inside.identity);
        r.intent = std::make_shared<intent const>(inside);
        return r;
    }
    result<std::optional<record>> insert(record const& r) { return kept.insert(changed(r)); }
    result<std::optional<record>> find(identity const& id) { return kept.find(changed(id)); }
};
struct to_lower {
    void operator()(std::string& s) const {
        for (char& c : s)
            c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
};
struct without_trailing_blanks {
    void operator()(std::string& s) const { s.erase(s.find_last_not_of(' ') + 1); }
};
struct at_most_254_bytes {
    void operator()(std::string& s) const { s.resize(std::min<std::size_t>(s.size(), 254)); }
};
struct only_ascii {
    void operator()(std::string& s) const {
        for (char& c : s)
            if (c < 0) c = '?';
    }
};

/// Loses something of each record that is written over another.
template <class Lose> struct loses : sound {
    result<void> replace(record r, version v) {
        Lose{}(r);
        return kept.replace(r, v);
    }
};
struct the_deadline {
    void operator()(record& r) const { r.deadline = time_point::max(); }
};
struct later_attempts {
    void operator()(record& r) const {
        r.attempts.resize(std::min<std::size_t>(r.attempts.size(), 2));
    }
};
struct decisions {
    void operator()(record& r) const {
        if (r.notes) r.edit_notes([](case_notes& n) { n.decisions.clear(); });
    }
};
struct former_keys {
    void operator()(record& r) const {
        if (r.notes) r.edit_notes([](case_notes& n) { n.former_keys.clear(); });
    }
};
struct what_was_set_aside {
    void operator()(record& r) const {
        if (r.notes) r.edit_notes([](case_notes& n) { n.set_aside.clear(); });
    }
};
struct the_ids_of_decisions {
    void operator()(record& r) const {
        if (!r.notes) return;
        r.edit_notes([](case_notes& n) {
            for (auto& d : n.decisions)
                d.id.clear();
        });
    }
};
struct that_a_hook_is_due {
    void operator()(record& r) const { r.hook_due = false; }
};
struct that_it_is_a_tombstone {
    void operator()(record& r) const { r.tombstone = false; }
};
struct the_sign_of_large_numbers {
    void operator()(record& r) const { r.claim.holder &= ~0ULL >> 1; }
};
struct what_follows_a_nul {
    void operator()(record& r) const { r.receipt = r.receipt.c_str(); }
};
struct a_reason_it_does_not_know {
    void operator()(record& r) const {
        if (r.reason > rule::effect_missing) r.reason = rule::none;
    }
};

struct insert_overwrites : sound {
    result<std::optional<record>> insert(record const& r) {
        auto before = kept.insert(r);
        if (before && before.value()) {
            record over = r;
            over.operation = before.value()->operation; // a storage replaces only what it is
            (void)kept.replace(over, before.value()->version);
        }
        return before;
    }
};
struct insert_returns_what_it_was_given : sound {
    result<std::optional<record>> insert(record const& r) {
        auto before = kept.insert(r);
        if (before.value()) return std::optional<record>(r);
        return before;
    }
};
struct insert_looks_and_then_writes : sound {
    result<std::optional<record>> insert(record const& r) {
        auto const before = kept.find(r.identity()).value();
        if (before) return std::optional<record>(*before);
        // Lets a second one look before the first has written, if there is one.
        ++looking;
        for (int i = 0; i != 20'000 && looking < 2; ++i)
            std::this_thread::yield();
        (void)kept.insert(r);
        --looking;
        return std::optional<record>();
    }
    std::atomic<int> looking = 0;
};
struct replace_compares_nothing : sound {
    result<void> replace(record const& r, version) {
        auto const before = kept.find(r.identity()).value();
        if (!before) return error(rule::stale_version);
        return kept.replace(r, before->version);
    }
};
struct replace_inserts : sound {
    result<void> replace(record const& r, version v) {
        auto replaced = kept.replace(r, v);
        if (!replaced && !kept.find(r.identity()).value()) (void)kept.insert(r);
        return replaced;
    }
};
struct bind_accepts_everybody : sound {
    result<bool> bind(std::string_view name, identity const& id) {
        (void)kept.bind(name, id);
        return true;
    }
};
struct names_end_at_a_nul : sound {
    result<bool> bind(std::string_view name, identity const& id) {
        return kept.bind(name.substr(0, name.find('\0')), id);
    }
};
struct bind_is_true_only_once : sound {
    result<bool> bind(std::string_view name, identity const& id) {
        std::scoped_lock lock(mutex);
        if (!bound.insert(std::string(name)).second) return false;
        return kept.bind(name, id);
    }
    std::mutex mutex;
    std::set<std::string> bound;
};
struct visits_backwards : sound {
    template <class F> result<std::size_t> visit_unsettled(page p, F&& visit) {
        std::vector<record> shown;
        auto const n = kept.visit_unsettled(p, [&](record const& r) { shown.push_back(r); });
        std::ranges::reverse(shown);
        std::ranges::for_each(shown, visit);
        return n;
    }
};
struct visits_more_than_a_page : sound {
    template <class F> result<std::size_t> visit_unsettled(page p, F&& visit) {
        return kept.visit_unsettled({.after = p.after, .most = p.most + 1}, visit);
    }
};
struct counts_no_visits : sound {
    template <class F> result<std::size_t> visit_unsettled(page p, F&& visit) {
        (void)kept.visit_unsettled(p, visit);
        return std::size_t{0};
    }
};
struct starts_each_page_again : sound {
    template <class F> result<std::size_t> visit_unsettled(page p, F&& visit) {
        return kept.visit_unsettled({.after = p.after == 0 ? 0 : p.after - 1, .most = p.most},
                                    visit);
    }
};
struct forgets_hooks_in_a_visit : sound {
    template <class F> result<std::size_t> visit_unsettled(page p, F&& visit) {
        std::size_t shown = 0;
        std::vector<record> all;
        (void)kept.visit_unsettled({.after = p.after, .most = 1'000},
                                   [&](record const& r) { all.push_back(r); });
        for (record const& r : all) {
            if (is_final(r.state) || shown == p.most) continue;
            visit(r);
            ++shown;
        }
        return shown;
    }
};

/// Shrinks in a way of its own, with a lock around it and around what else is written.
template <class Shrink> struct shrinks : sound {
    result<std::optional<record>> insert(record const& r) {
        std::scoped_lock lock(mutex);
        identities.push_back(r.identity());
        return kept.insert(r);
    }
    result<std::size_t> shrink_settled(time_point before, std::size_t most) {
        std::scoped_lock lock(mutex);
        std::vector<record> all;
        for (auto const& id : identities)
            all.push_back(kept.find(id).value().value());
        std::ranges::sort(all, written_earlier);
        std::size_t done = 0;
        Shrink way;
        for (record const& r : all) {
            if (done == way.most(most) || !way.may(r, before)) continue;
            if (kept.replace(way.small(r), r.version)) ++done;
        }
        return done;
    }
    std::mutex mutex;
    std::vector<identity> identities;
};
struct soundly {
    std::size_t most(std::size_t n) const { return n; }
    bool may(record const& r, time_point before) const { return may_shrink(r, before); }
    record small(record const& r) const { return shrunk(r, 1); }
};
struct more_than_it_was_told : soundly {
    std::size_t most(std::size_t n) const { return n == 2 ? 3 : n; }
};
template <state_id State> struct what_is : soundly {
    bool may(record r, time_point before) const {
        if (r.state == State) r.state = state_id::confirmed;
        return may_shrink(r, before);
    }
};
struct what_has_a_hook_due : soundly {
    bool may(record r, time_point before) const {
        r.hook_due = false;
        return may_shrink(r, before);
    }
};
struct what_is_to_be_cleaned_up : soundly {
    bool may(record r, time_point before) const {
        r.clean_up_due = false;
        return may_shrink(r, before);
    }
};
struct what_is_as_old : soundly {
    bool may(record const& r, time_point before) const {
        return may_shrink(r, before + milliseconds(1));
    }
};
struct again_and_again : soundly {
    bool may(record r, time_point before) const {
        r.tombstone = false;
        return may_shrink(r, before);
    }
};
struct with_the_version_it_had : soundly {
    record small(record const& r) const {
        record out = shrunk(r, 1);
        out.version = r.version;
        return out;
    }
};
struct and_drops_former_keys : soundly {
    record small(record const& r) const {
        record out = shrunk(r, 1);
        out.notes.reset();
        return out;
    }
};
struct and_drops_what_nothing_else_answers : soundly {
    record small(record const& r) const {
        record out = shrunk(r, 1);
        intent inside = *out.intent;
        inside.request.clear();
        out.intent = std::make_shared<intent const>(inside);
        return out;
    }
};
struct and_keeps_the_request : soundly {
    record small(record const& r) const {
        record out = shrunk(r, 1);
        out.intent = r.intent;
        return out;
    }
};
struct shrinks_the_youngest : sound {
    result<std::size_t> shrink_settled(time_point before, std::size_t most) {
        // All but the last few are spared by a time that is too early for them.
        auto const spared = before - milliseconds(30);
        return most == 2 ? kept.shrink_settled(spared, 1) : kept.shrink_settled(before, most);
    }
};
struct shrinks_and_forgets_names : sound {
    result<bool> bind(std::string_view name, identity const& id) {
        return shrank ? true : kept.bind(name, id);
    }
    result<std::size_t> shrink_settled(time_point before, std::size_t most) {
        shrank = true;
        return kept.shrink_settled(before, most);
    }
    std::atomic<bool> shrank = false;
};

struct high_water_is_the_last_write : sound {
    storage_facts facts() { return {.epoch = 1, .high_water = last}; }
    result<std::optional<record>> insert(record const& r) {
        last = r.written_at;
        return kept.insert(r);
    }
    result<void> replace(record const& r, version v) {
        last = r.written_at;
        return kept.replace(r, v);
    }
    std::atomic<time_point> last{};
};

template <class S> struct only_fresh {
    S& fresh() {
        kept = std::make_unique<S>();
        return *kept;
    }
    std::unique_ptr<S> kept;
};

/// A lossy storage with all hooks. The subjects below break one law in one of them.
struct every_hook : only_fresh<lossy_storage> {
    lossy_storage& reopen() {
        kept->power_cut(kept->unflushed());
        return *kept;
    }
    lossy_storage& crash() {
        kept->power_cut();
        return *kept;
    }
    void fail_next() { kept->fail_at(kept->steps() + 1); }
};
struct forgets_when_it_is_closed : every_hook {
    lossy_storage& reopen() { return fresh(); }
};
struct keeps_its_epoch : every_hook {
    lossy_storage& reopen() { return *kept; }
};
struct forgets_what_was_flushed : every_hook {
    lossy_storage& crash() {
        auto const epoch = kept->facts().epoch;
        fresh().power_cut();
        while (kept->facts().epoch <= epoch)
            kept->power_cut();
        return *kept;
    }
};
/// Each record it shrinks is a write of its own, and a crash leaves the first two.
struct shrinks_one_by_one : lossy_storage {
    result<std::size_t> shrink_settled(time_point before, std::size_t most) {
        std::size_t done = 0;
        while (done < most && lossy_storage::shrink_settled(before, 1).value() == 1)
            ++done;
        return done;
    }
};
struct takes_back_a_part : only_fresh<shrinks_one_by_one> {
    shrinks_one_by_one& crash() {
        kept->power_cut(2);
        return *kept;
    }
};
struct goes_on_after_a_failure : every_hook {
    void fail_next() {}
};

void check_names(testing::laws const& laws, std::string_view expected) {
    CAPTURE(expected);
    CHECK_MESSAGE(std::ranges::find(laws.broken(), expected) != laws.broken().end(),
                  "noticed instead: ", laws.report());
}
template <class Subject> void check_broken(Subject&& subject, std::string_view expected) {
    check_names(testing::check_storage_laws(subject), expected);
}
template <class S> void check_storage_breaks(std::string_view expected) {
    check_broken(only_fresh<S>{}, expected);
}
/// With the laws of one kind alone: there are many ways to break them, and the others take long.
template <class S, class Laws> void check_breaks(Laws check, std::string_view expected) {
    testing::laws laws;
    only_fresh<S> subject;
    check(subject, laws);
    check_names(laws, expected);
}
auto const of_inserts = [](auto& s, testing::laws& l) {
    testing::detail::insert_keeps_the_first(s, l);
};
auto const of_replaces = [](auto& s, testing::laws& l) {
    testing::detail::replace_compares_versions(s, l);
};
auto const of_fields = [](auto& s, testing::laws& l) {
    testing::detail::every_field_comes_back(s, l);
};
auto const of_identities = [](auto& s, testing::laws& l) {
    testing::detail::identities_are_bytes(s, l);
};
auto const of_names = [](auto& s, testing::laws& l) {
    testing::detail::the_first_binding_wins(s, l);
};
auto const of_visits = [](auto& s, testing::laws& l) {
    testing::detail::a_visit_shows_what_is_unsettled(s, l);
};
auto const of_shrinking = [](auto& s, testing::laws& l) {
    testing::detail::settled_records_shrink(s, l);
};

TEST_SUITE_BEGIN("storage_laws");

TEST_CASE("a sound storage breaks nothing") {
    auto const laws = testing::check_storage_laws(only_fresh<sound>{});
    CHECK_MESSAGE(laws.hold(), laws.report());
}

TEST_CASE("identities that are changed on the way are noticed") {
    constexpr auto law = "identities are compared as bytes";
    check_breaks<changes_identities<to_lower>>(of_identities, law);
    check_breaks<changes_identities<without_trailing_blanks>>(of_identities, law);
    check_breaks<changes_identities<at_most_254_bytes>>(of_identities, law);
    check_breaks<changes_identities<only_ascii>>(of_identities, law);
}

TEST_CASE("a lost field is noticed") {
    check_breaks<loses<the_deadline>>(of_fields, "replace: every field comes back");
    check_breaks<loses<later_attempts>>(of_fields, "replace: every field comes back");
    check_breaks<loses<decisions>>(of_fields, "replace: every field comes back");
    check_breaks<loses<former_keys>>(of_fields, "replace: every field comes back");
    check_breaks<loses<what_was_set_aside>>(of_fields, "replace: every field comes back");
    check_breaks<loses<the_ids_of_decisions>>(of_fields, "replace: every field comes back");
    check_breaks<loses<that_a_hook_is_due>>(of_fields, "replace: every field comes back");
    check_breaks<loses<that_it_is_a_tombstone>>(of_fields, "replace: every field comes back");
    check_breaks<loses<the_sign_of_large_numbers>>(of_fields, "replace: every field comes back");
    check_breaks<loses<what_follows_a_nul>>(of_fields, "replace: every field comes back");
    check_breaks<loses<a_reason_it_does_not_know>>(
        of_fields, "replace: every value of every enumeration comes back");
}

TEST_CASE("an insert that is none is noticed") {
    check_breaks<insert_overwrites>(of_inserts, "insert: changes nothing that stands");
    check_breaks<insert_returns_what_it_was_given>(
        of_inserts, "insert: returns what already stands for the identity");
    check_storage_breaks<insert_looks_and_then_writes>("race: of several inserts exactly one wins");
}

TEST_CASE("a replace that does not compare is noticed") {
    check_breaks<replace_compares_nothing>(of_replaces,
                                           "replace: changes nothing if the version is "
                                           "stale");
    check_breaks<replace_inserts>(of_replaces, "replace: inserts nothing");
}

TEST_CASE("names bound twice are noticed") {
    check_breaks<bind_accepts_everybody>(of_names, "bind: false for another identity");
    check_breaks<names_end_at_a_nul>(of_names, "bind: names are compared as bytes");
    check_breaks<bind_is_true_only_once>(of_names, "bind: true again for the same identity");
}

TEST_CASE("visits in disorder are noticed") {
    check_breaks<visits_backwards>(of_visits, "visit: each unsettled record once, in operation "
                                              "order");
    check_breaks<visits_more_than_a_page>(of_visits, "visit: returns how many it showed, at most a "
                                                     "page");
    check_breaks<counts_no_visits>(of_visits, "visit: returns how many it showed, at most a page");
    check_breaks<starts_each_page_again>(of_visits,
                                         "visit: each unsettled record once, in operation "
                                         "order");
}

TEST_CASE("a visit that forgets what has a hook due is noticed") {
    check_breaks<forgets_hooks_in_a_visit>(of_visits, "visit: each unsettled record once, in "
                                                      "operation order");
}

TEST_CASE("a storage need not shrink, and one that shrinks soundly breaks nothing") {
    auto const own = testing::check_storage_laws(only_fresh<shrinks<soundly>>{});
    CHECK_MESSAGE(own.hold(), own.report());
    auto const none = testing::check_storage_laws(only_fresh<never_shrinks>{});
    CHECK_MESSAGE(none.hold(), none.report());
    CHECK(none.checked() < own.checked());
}

TEST_CASE("a storage that shrinks too much, or too little, is noticed") {
    constexpr auto counts = "shrink: returns how many it shrank, at most as many as it was told";
    constexpr auto what = "shrink: the oldest first, to what shrunk() says";
    constexpr auto leaves = "shrink: leaves what must stay whole";
    check_breaks<shrinks<more_than_it_was_told>>(of_shrinking, counts);
    check_breaks<shrinks<again_and_again>>(of_shrinking, counts);
    check_breaks<shrinks<what_is<state_id::pending>>>(of_shrinking, leaves);
    check_breaks<shrinks<what_is<state_id::uncertain>>>(of_shrinking, leaves);
    check_breaks<shrinks<what_is<state_id::in_review>>>(of_shrinking, leaves);
    check_breaks<shrinks<what_is<state_id::abandoned>>>(of_shrinking, leaves);
    check_breaks<shrinks<what_has_a_hook_due>>(of_shrinking, leaves);
    check_breaks<shrinks<what_is_to_be_cleaned_up>>(of_shrinking, leaves);
    check_breaks<shrinks<what_is_as_old>>(of_shrinking, leaves);
    check_breaks<shrinks<with_the_version_it_had>>(
        of_shrinking, "shrink: the version of the whole record is stale");
    check_breaks<shrinks<and_drops_former_keys>>(of_shrinking, what);
    check_breaks<shrinks<and_drops_what_nothing_else_answers>>(of_shrinking, what);
    check_breaks<shrinks<and_keeps_the_request>>(of_shrinking, what);
    check_breaks<shrinks_the_youngest>(of_shrinking, what);
    check_breaks<shrinks_and_forgets_names>(of_shrinking,
                                            "shrink: names that were bound stay bound");
}

TEST_CASE("a call of which a crash leaves a part is noticed") {
    check_broken(takes_back_a_part{}, "shrink: a crash takes back all of one call or nothing");
}

TEST_CASE("a high-water mark that goes back is noticed") {
    check_storage_breaks<high_water_is_the_last_write>("facts: high_water never goes back");
}

TEST_CASE("what is lost between two lives is noticed") {
    check_broken(forgets_when_it_is_closed{}, "reopen: finds every flushed record");
    check_broken(forgets_when_it_is_closed{}, "reopen: finds every flushed binding");
    check_broken(keeps_its_epoch{}, "reopen: begins a new, larger epoch");
    check_broken(forgets_what_was_flushed{}, "crash: what was flushed is there");
    check_broken(forgets_what_was_flushed{}, "race: what was flushed survives a crash");
}

TEST_CASE("a storage that goes on after a failure is noticed") {
    check_broken(goes_on_after_a_failure{}, "failure: a write or flush that fails is "
                                            "storage_failed");
    check_broken(goes_on_after_a_failure{}, "failure: poisons the handle for every later call");
}

TEST_SUITE_END();

} // namespace
