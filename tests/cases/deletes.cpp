// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#include <scene.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

// Writes whose effect is that something is gone.

namespace {

using namespace scene;

inline constexpr contract repeatable{
    .resend = naturally_idempotent{.undisturbed_for = unlimited, .documented_at = cited},
    .lookup = complete_lookup{.visible_after = 0ms},
    .call_timeout = 1s};

/// Things with a name and an id of their own. A name may be used again, an id never is.
struct room {
    struct thing {
        std::string id, name;
    };
    std::vector<thing> there;
    std::vector<std::string> deleted; ///< by calls, each time one took something away
    std::vector<std::string> asked;   ///< the id that each call named
    std::size_t looks = 0;
    int last = 0;

    std::string make(std::string const& name) {
        there.push_back({"t-" + std::to_string(++last), name});
        return there.back().id;
    }
    bool has(std::string_view id) const {
        return std::ranges::find(there, id, &thing::id) != there.end();
    }
    bool take(std::string_view id) {
        return std::erase_if(there, [&](thing const& t) { return t.id == id; }) != 0;
    }
    void remove(std::string_view id) {
        if (take(id)) deleted.emplace_back(id);
    }
    void rename(std::string_view id, std::string const& name) {
        std::ranges::find(there, id, &thing::id)->name = name;
    }
};

/// Deletes what stands at a name when it is first asked. The effect is that this very thing is
/// gone.
template <class Contract> struct remover : provider_of<std::string> {
    using base = provider_of<std::string>;
    struct script {
        std::deque<std::function<base::reply(base::attempt const&)>> replies;
        std::deque<base::answer> answers;
    };
    remover(Contract documented, std::shared_ptr<room> where)
        : contract(documented), things(std::move(where)) {}

    base::reply submit(base::attempt const& a) {
        things->asked.emplace_back(a.target_id());
        if (!says->replies.empty()) {
            auto const next = std::move(says->replies.front());
            says->replies.pop_front();
            return next(a);
        }
        things->remove(a.target_id());
        return base::accepted{std::string(a.target_id())};
    }
    base::answer lookup(base::query const& q) {
        ++things->looks;
        if (!says->answers.empty()) {
            auto const next = std::move(says->answers.front());
            says->answers.pop_front();
            return next;
        }
        auto const found = std::ranges::find(things->there, q.request, &room::thing::name);
        bool const named = found != things->there.end();
        if (q.target_id.empty() && !named) return base::no_target{};
        base::complete all;
        if (named) all.target_id = found->id; // of what has the name now
        if (!q.target_id.empty() && !things->has(q.target_id)) {
            all.effects.push_back({.receipt = std::string(q.target_id),
                                   .key = std::string(q.key),
                                   .request = q.request});
        }
        return all;
    }

    static constexpr auto target = "room/deletes";
    Contract contract;
    std::shared_ptr<room> things;
    std::shared_ptr<script> says = std::make_shared<script>();
};

template <class Contract> struct deleting {
    using process = recovery<policies<remover<Contract>, lossy_storage&, exact_fingerprint,
                                      bounded_budget, manual_clock>>;

    explicit deleting(Contract documented)
        : things(std::make_shared<room>()), service(documented, things) {
        first = things->make(name);
    }
    process start() { return process({service, journal, {}, budget, clock}); }
    auto run() {
        auto p = start();
        return p.run(id, name);
    }
    record stored() { return *journal.find(id).value(); }
    std::string captured() { return stored().notes_or_none().target_id; }

    void on_submit(auto reply) { service.says->replies.push_back(reply); }
    void request_lost() {
        on_submit([](auto const&) { return unknown{}; });
    }
    void reply_lost() {
        on_submit([this](auto const& a) {
            things->remove(a.target_id());
            return unknown{};
        });
    }
    void on_lookup(typename remover<Contract>::base::answer a, unsigned times = 1) {
        for (unsigned n = 0; n != times; ++n)
            service.says->answers.push_back(a);
    }
    /// The reply is lost, and so is every answer after it.
    void lose_the_rest() { on_lookup(unavailable{}, budget.looks); }

    manual_clock clock;
    lossy_storage journal;
    bounded_budget budget = plain_budget;
    std::shared_ptr<room> things;
    remover<Contract> service;
    std::string name = "report", first;
    identity id{"room", "delete report"};
};
template <class C> deleting(C) -> deleting<C>;

TEST_SUITE_BEGIN("cases: deletes");

TEST_CASE("a delete acts on the thing that was there at the first look, and names it [H22]") {
    deleting s(prompt);
    auto const done = s.run();
    REQUIRE(done);
    CHECK(done.value().receipt == s.first);
    CHECK(s.things->asked == std::vector{s.first});
    CHECK(s.things->deleted == std::vector{s.first});
    CHECK(s.captured() == s.first);
    CHECK(s.things->looks == 2);
    s.journal.power_cut();
    CHECK(s.run()); // it is gone still
    CHECK(s.things->asked.size() == 1);
}

TEST_CASE("a delete whose reply is lost is confirmed by the absence of that thing [H22]") {
    deleting s(prompt);
    s.reply_lost();
    auto const done = s.run();
    REQUIRE(done);
    CHECK(done.value().receipt == s.first);
    CHECK(s.things->asked.size() == 1);
    CHECK(s.things->deleted.size() == 1);
}

TEST_CASE("a new thing of the same name is not what was to be deleted [H22]") {
    for (bool arrived : {true, false}) {
        deleting s(repeatable);
        if (arrived) s.reply_lost();
        if (!arrived) s.request_lost();
        s.on_lookup(s.service.lookup({s.id, s.id.key, s.name, {}, {}, {}, {}, {}}));
        s.lose_the_rest();
        CHECK(s.run().has_error());
        REQUIRE(s.stored().state == state_id::uncertain);
        if (!arrived) s.things->take(s.first); // somebody else did it
        auto const second = s.things->make(s.name);
        auto const done = s.run();
        REQUIRE(done);
        CHECK(done.value().receipt == s.first);
        CHECK(s.things->has(second));
        CHECK(s.things->asked.size() == 1);
        CHECK(s.run());
        CHECK(s.things->has(second));
    }
}

TEST_CASE("a delete that may be repeated is repeated on the same thing [H22]") {
    deleting s(repeatable);
    s.request_lost();
    CHECK(s.run());
    CHECK(s.things->asked == std::vector{s.first, s.first});
    CHECK(s.things->deleted.size() == 1);
}

TEST_CASE("a delete that may not be repeated is not, though the thing is there [H22]") {
    deleting s(prompt);
    s.request_lost();
    auto const done = s.run();
    REQUIRE(done.has_error());
    CHECK(done.error().state() == state_id::in_review);
    CHECK(done.error().in_doubt());
    CHECK(s.things->asked.size() == 1);
    CHECK(s.things->has(s.first));
}

TEST_CASE("while an attempt is on record, what was captured stays, however it ended [H22]") {
    for (bool sent : {true, false}) {
        deleting s(prompt);
        std::string second;
        s.on_submit([&](auto const&) -> remover<decltype(prompt)>::base::reply {
            s.things->rename(s.first, "old report"); // and another one takes the name
            second = s.things->make(s.name);
            if (sent) return refused{.for_good = false};
            return not_sent{};
        });
        auto const done = s.run();
        REQUIRE(done);
        CHECK(s.things->asked == std::vector{s.first, s.first});
        CHECK(s.things->deleted == std::vector{s.first});
        CHECK(s.things->has(second));
        CHECK(s.captured() == s.first);
    }
}

TEST_CASE("before the first attempt it is captured anew, and again after a supersession [H22]") {
    deleting s(prompt);
    s.on_lookup(unavailable{}, s.budget.looks);
    CHECK(s.run().has_error());
    CHECK(s.start().reconcile(s.id).error().rule() == rule::nothing_sent); // it looked
    CHECK(s.captured().empty());
    s.things->take(s.first);
    auto const second = s.things->make(s.name);
    s.on_submit([](auto const&) { return refused{}; });
    CHECK(s.run().error().state() == state_id::rejected);
    CHECK(s.things->asked == std::vector{second});
    CHECK(s.captured() == second);

    REQUIRE(s.start().supersede(s.id, {"ann", "it may go now"}));
    CHECK(s.captured().empty());
    s.things->take(second);
    auto const third = s.things->make(s.name);
    auto const done = s.run();
    REQUIRE(done);
    CHECK(done.value().receipt == third);
    CHECK(s.things->asked == std::vector{second, third});
    CHECK(s.things->deleted == std::vector{third});
}

TEST_CASE("nothing to delete before the first send: rejected, and nothing is sent [H22]") {
    deleting s(prompt);
    s.things->take(s.first);
    for (int runs = 0; runs != 2; ++runs) {
        auto const done = s.run();
        REQUIRE(done.has_error());
        CHECK(done.error().state() == state_id::rejected);
        CHECK(done.error().rule() == rule::no_target);
        CHECK_FALSE(done.error().in_doubt());
    }
    s.journal.power_cut();
    CHECK(s.stored().state == state_id::rejected);
    s.things->make(s.name); // too late: that is another wish
    CHECK(s.run().has_error());
    CHECK(s.things->asked.empty());
    CHECK(s.things->there.size() == 1);
}

TEST_CASE("nothing to delete after a refusal for now: rejected, too [H22]") {
    deleting s(prompt);
    s.on_submit([](auto const&) { return refused{.for_good = false}; });
    s.on_lookup(s.service.lookup({s.id, s.id.key, s.name, {}, {}, {}, {}, {}}));
    s.on_lookup(no_target{});
    auto const done = s.run();
    REQUIRE(done.has_error());
    CHECK(done.error().rule() == rule::no_target);
    CHECK(s.stored().state == state_id::rejected);
    CHECK(s.things->asked.size() == 1);
}

TEST_CASE("nothing to delete while an attempt may have done it proves nothing [H22]") {
    deleting s(repeatable);
    s.reply_lost();
    s.on_lookup(s.service.lookup({s.id, s.id.key, s.name, {}, {}, {}, {}, {}}));
    s.on_lookup(no_target{}, s.budget.looks);
    auto const done = s.run();
    REQUIRE(done.has_error());
    CHECK(done.error().in_doubt());
    CHECK(done.error().rule() == rule::look_up_failed);
    CHECK(s.stored().state == state_id::uncertain);
    CHECK(s.things->asked.size() == 1);
    CHECK(s.run()); // the next look is better
    CHECK(s.things->deleted.size() == 1);
}

TEST_SUITE_END();

} // namespace
