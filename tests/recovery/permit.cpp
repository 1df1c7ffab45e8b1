// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#include <recovery/by_hand.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

// The journal's writes, and the permit that comes of a write which was flushed.

struct garbled {};
template <> struct indoubt::codec<garbled> {
    static std::string encode(garbled) { return {}; }
    static result<garbled> decode(std::string_view) { return error(rule::undecodable); }
};

namespace {

using namespace scene;
using shop = provider_of<std::string>;

exact_fingerprint const exactly;

std::shared_ptr<intent> asking(std::string const& what, std::string_view target = "shop") {
    return std::move(intend(target, what, exactly).value());
}

TEST_SUITE_BEGIN("permit");

TEST_CASE("a write makes the next version; a new epoch begins at each open") {
    shelf s;
    {
        auto book = s.open();
        (void)departed(book, s, bare);
        CHECK(s.stored().version == version{1, 2});
        CHECK(s.kept.unflushed() == 0); // before bytes go out
    }
    s.kept.power_cut();
    auto book = s.open();
    auto op = taken<uncertain>(book, s.id);
    cancellation word(op.stamp());
    REQUIRE(book.write(cancel(std::move(op), std::move(word))));
    CHECK(s.stored().version == version{2, 1});
    CHECK(s.kept.unflushed() == 1); // relaxed
    CHECK(book.flush());
    CHECK(s.kept.unflushed() == 0);
}

TEST_CASE("of two writes from one version the second is refused and changes nothing") {
    shelf s;
    auto book = s.open();
    (void)begun(book, s);
    auto one = taken<pending>(book, s.id);
    auto other = taken<pending>(book, s.id);
    cancellation word(one.stamp(), {"ann", "changed her mind"});
    REQUIRE(book.write(cancel(std::move(one), std::move(word))));
    auto const now = book.moment(other.stored(), s.budget, bare);
    auto cleared = decided<clearance>(other, bare, absence(other, bare), now);
    auto late = book.write(dispatch(std::move(other), std::move(cleared)));
    REQUIRE(late.has_error());
    CHECK(late.error().rule() == rule::stale_version);
    CHECK(s.stored().state == state_id::cancelled);
    CHECK(s.stored().attempts.empty());
}

TEST_CASE("a permit gives one attempt, with the stored bytes and the key") {
    shelf s;
    auto book = s.open();
    auto allowed = departed(book, s, bare);
    auto out = allowed.attempt<std::string>(book, {.time_left = 3s});
    REQUIRE(out);
    CHECK(out.value().request() == "one");
    CHECK(out.value().bytes() == "one");
    CHECK(out.value().key() == "key");
    CHECK(out.value().identity() == s.id);
    CHECK(out.value().number() == 1);
    CHECK(out.value().time_left() == 3s);
    CHECK_FALSE(out.value().stop().stop_requested());
    CHECK(std::move(allowed).operation().stamp() == s.stored().stamp());
}

TEST_CASE("a permit that was used gives no second attempt, and takes nothing from the first") {
    shelf s;
    auto book = s.open();
    auto allowed = departed(book, s, bare);
    REQUIRE(allowed.attempt<std::string>(book));
    auto again = allowed.attempt<std::string>(book);
    REQUIRE(again.has_error());
    CHECK(again.error().rule() == rule::stale_version);
    CHECK(again.error().in_doubt());
    CHECK(s.stored().open_attempts() == 1); // the first may be on its way
}

TEST_CASE("a permit that comes too late gives none, and its attempt is closed as never sent") {
    shelf s;
    auto book = s.open();
    REQUIRE(book.begin(s.id, asking("one"), exactly, {.deadline = s.clock.wall() + 1min}));
    auto allowed = departed(book, s, bare);
    s.clock.advance(1min);
    auto out = allowed.attempt<std::string>(book);
    REQUIRE(out.has_error());
    CHECK(out.error().rule() == rule::deadline_reached);
    CHECK(out.error().state() == state_id::pending);
    CHECK_FALSE(out.error().in_doubt());
    CHECK(s.stored().attempts[0].outcome == attempt_outcome_id::not_sent);
    CHECK(allowed.attempt<std::string>(book).error().rule() == rule::stale_version);
}

TEST_CASE("a permit is of its moment: later than one call takes, nothing is sent with it") {
    shelf s;
    auto book = s.open();
    REQUIRE(book.begin(s.id, asking("one"), exactly));
    auto allowed = departed(book, s, bare);
    s.clock.advance(bare.call_timeout);
    CHECK(allowed.attempt<std::string>(book).has_error());
    CHECK(s.stored().attempts[0].outcome == attempt_outcome_id::not_sent);
}

TEST_CASE("a used permit, or one of another journal, closes nothing") {
    shelf s;
    auto book = s.open();
    REQUIRE(book.begin(s.id, asking("one"), exactly));
    auto allowed = departed(book, s, bare);
    auto other = s.open();
    CHECK(allowed.attempt<std::string>(other).error().rule() == rule::foreign_evidence);
    CHECK(s.stored().open_attempts() == 1);
    REQUIRE(allowed.attempt<std::string>(book));
    CHECK(allowed.attempt<std::string>(book).error().rule() == rule::stale_version);
    CHECK(s.stored().open_attempts() == 1);
}

TEST_CASE("what is left until the deadline bounds the call") {
    shelf s;
    auto book = s.open();
    REQUIRE(book.begin(s.id, asking("one"), exactly, {.deadline = s.clock.wall() + 12s}));
    auto allowed = departed(book, s, bare);
    s.clock.advance(5s);
    auto out = allowed.attempt<std::string>(book, {.time_left = 30s});
    REQUIRE(out);
    CHECK(out.value().time_left() == 7s);
}

TEST_CASE("a permit whose record moved on gives none, and its attempt is closed as never sent") {
    shelf s;
    auto book = s.open();
    auto allowed = departed(book, s, bare);
    auto op = taken<uncertain>(book, s.id);
    cancellation word(op.stamp());
    REQUIRE(book.write(cancel(std::move(op), std::move(word))));
    auto out = allowed.attempt<std::string>(book);
    REQUIRE(out.has_error());
    CHECK(out.error().rule() == rule::stale_version);
    CHECK(s.stored().state == state_id::pending);
    CHECK(s.stored().cancel_requested);
    CHECK(s.stored().open_attempts() == 0);
}

TEST_CASE("a permit whose operation was settled meanwhile gives none, and tells how it ended") {
    shelf s;
    auto book = s.open();
    auto allowed = departed(book, s, bare);
    auto op = taken<uncertain>(book, s.id);
    shop::effect const there{.receipt = "r-1", .key = "key", .request = "one"};
    auto const seen = weigh(bare, op, shop::answer(shop::complete{{there}}));
    auto found = decided<match>(op, bare, seen, book.moment(op.stored(), s.budget, bare));
    REQUIRE(book.write(confirm(std::move(op), std::move(found))));
    auto out = allowed.attempt<std::string>(book);
    REQUIRE(out.has_error());
    CHECK(out.error().rule() == rule::stale_version);
    CHECK(out.error().state() == state_id::confirmed);
    CHECK(s.stored().state == state_id::confirmed);
}

TEST_CASE("a withdrawn attempt beside one that was refused for good leaves it rejected") {
    shelf s;
    auto book = s.open();
    auto first = departed(book, s, deduplicating);
    REQUIRE(first.attempt<std::string>(book));
    s.clock.advance(2min);
    auto op = taken<uncertain>(book, s.id);
    auto now = [&](auto const& of) { return book.moment(of.stored(), s.budget, deduplicating); };
    auto leave = decided<resend_clearance>(op, deduplicating, absence(op, deduplicating), now(op));
    auto second = book.write(resend(std::move(op), std::move(leave)));
    REQUIRE(second);
    op = taken<uncertain>(book, s.id);
    auto kept = decided<attempt_outcome>(op, deduplicating,
                                         replied(op, deduplicating, refused{}, 1), now(op));
    REQUIRE(book.write(record_outcome(std::move(op), std::move(kept))));
    auto out = second.value().attempt<std::string>(book); // the record moved on
    REQUIRE(out.has_error());
    CHECK(out.error().state() == state_id::rejected);
    CHECK(s.stored().state == state_id::rejected);
}

TEST_CASE("a withdrawn attempt of an operation in review is closed there") {
    shelf s;
    auto book = s.open();
    auto allowed = departed(book, s, bare);
    auto op = taken<uncertain>(book, s.id);
    auto why =
        decided<contradiction>(op, bare, replied(op, bare, conflict{.other_parameters = true}),
                               book.moment(op.stored(), s.budget, bare));
    REQUIRE(book.write(refer(std::move(op), std::move(why))));
    REQUIRE(allowed.attempt<std::string>(book).has_error());
    CHECK(s.stored().state == state_id::in_review);
    CHECK(s.stored().attempts[0].outcome == attempt_outcome_id::not_sent);
}

TEST_CASE("a stored request that does not decode is not sent") {
    shelf s;
    auto book = s.open();
    auto allowed = departed(book, s, bare);
    auto out = allowed.attempt<garbled>(book);
    REQUIRE(out.has_error());
    CHECK(out.error().rule() == rule::undecodable);
    CHECK(s.stored().state == state_id::pending);
    CHECK(s.stored().attempts[0].outcome == attempt_outcome_id::not_sent);
}

TEST_CASE("a claim that is given back by hand lets the next one act") {
    one_shop s(bare);
    auto p = s.start();
    auto& book = p.journal();
    (void)departed(book, s, bare);
    CHECK(p.run(s.id, s.request).error().rule() == rule::in_progress);
    REQUIRE(book.release(taken<uncertain>(book, s.id)));
    CHECK(s.stored().claim == claim{});
    auto again = taken<uncertain>(book, s.id);
    auto const version = again.stamp().version;
    CHECK(book.release(std::move(again))); // there is none to give back: harmless
    CHECK(s.stored().version >= version);
    CHECK(p.run(s.id, s.request).error().rule() != rule::in_progress);
    CHECK(s.truth->sends() == 0);
}

TEST_CASE("a claim that somebody else holds by now is not given back for him") {
    shelf s;
    auto book = s.open();
    (void)departed(book, s, deduplicating);
    auto stale = taken<uncertain>(book, s.id);
    auto op = taken<uncertain>(book, s.id);
    s.clock.advance(2min);
    auto const him = book.moment(op.stored(), s.budget, deduplicating, {.holder = 77});
    CHECK(decide(op, deduplicating, absence(op, deduplicating), him).get_if<stop>()->rule ==
          rule::in_progress);
    REQUIRE(book.release(std::move(op)));
    op = taken<uncertain>(book, s.id);
    auto leave = decided<resend_clearance>(
        op, deduplicating, absence(op, deduplicating),
        book.moment(op.stored(), s.budget, deduplicating, {.holder = 77}));
    REQUIRE(book.write(resend(std::move(op), std::move(leave))));
    CHECK(book.release(std::move(stale)));
    CHECK(s.stored().claim.holder == 77);
}

TEST_CASE("whichever call of the storage fails, it is said, and nothing is granted") {
    auto const sends = [](shelf& s) -> result<void> {
        auto book = s.open();
        BOOST_OUTCOME_TRY(auto any, book.begin(s.id, asking("one"), exactly));
        auto op = std::move(*any.get_if<operation<pending>>());
        auto const now = book.moment(op.stored(), s.budget, bare);
        auto cleared = decided<clearance>(op, bare, absence(op, bare), now);
        BOOST_OUTCOME_TRY(auto allowed, book.write(dispatch(std::move(op), std::move(cleared))));
        BOOST_OUTCOME_TRY(auto out, allowed.attempt<std::string>(book));
        auto sent = std::move(allowed).operation();
        auto lost = decided<attempt_outcome>(sent, bare, replied(sent, bare, unknown{"hint"}),
                                             book.moment(sent.stored(), s.budget, bare));
        BOOST_OUTCOME_TRY(book.write(record_outcome(std::move(sent), std::move(lost))));
        BOOST_OUTCOME_TRY(book.bind_receipt(s.stored(), "r-1"));
        return book.flush();
    };
    shelf clean;
    REQUIRE(sends(clean));
    REQUIRE(clean.kept.steps() == 7);
    for (std::uint64_t step = 1; step <= 7; ++step) {
        CAPTURE(step);
        shelf s;
        s.kept.fail_at(step);
        auto const failed = sends(s);
        REQUIRE(failed.has_error());
        CHECK(failed.error().rule() == rule::storage_failed);
        CHECK(failed.error().in_doubt() == (step != 3 && step != 4)); // these two: not sent
        auto book = s.open();
        CHECK(book.find(s.id).error().rule() == rule::storage_failed);
        CHECK(book.begin(s.id, asking("one"), exactly).error().rule() == rule::storage_failed);
        CHECK(book.flush().error().rule() == rule::storage_failed);
    }
}

TEST_SUITE_END();

} // namespace
