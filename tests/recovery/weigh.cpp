// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#include <indoubt/recovery/journal.hpp>
#include <indoubt/recovery/weigh.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

// The reply table row by row, and how the effects of a look-up are sorted.

namespace {

using namespace indoubt;
using namespace std::chrono_literals;
using shop = provider_of<std::string>;
using outcome = attempt_outcome_id;

constexpr char const* cited = "https://shop.test/keys";
constexpr contract hinting{.lookup = complete_lookup{}};
constexpr contract proving{.lookup = complete_lookup{}, .reply = proof{.documented_at = cited}};
constexpr contract naming{.lookup = complete_lookup{}, .identifies = identified::by_name};

constexpr auto deduplicating(reuse on_reuse, bool compares, unsigned inner = 1) {
    return contract<deduplicated_by_key, complete_lookup, proof>{
        .resend = {.window = 1h,
                   .on_reuse = on_reuse,
                   .compares_parameters = compares,
                   .documented_at = cited},
        .reply = {.documented_at = cited},
        .arrives_within = 1min,
        .inner_attempts = inner};
}
constexpr auto replaying = deduplicating(reuse::returns_original, true);

/// A record with the key "k", the request "one" and so many open attempts.
record with_attempts(unsigned open) {
    record r;
    r.intent = std::make_shared<intent const>(intent{{"scope", "k"}, "target", "one", "", ""});
    r.operation = 7;
    r.version = {1, 3};
    r.state = state_id::uncertain;
    for (unsigned i = 0; i != open; ++i)
        r.attempts.emplace_back();
    return r;
}
operation<uncertain> op(record r) {
    return detail::scribe::make<uncertain>(std::make_unique<record>(std::move(r)));
}
operation<uncertain> op(unsigned open = 1) {
    return op(with_attempts(open));
}

template <class Contract> observation said(Contract const& c, shop::keyed_reply r) {
    return weigh(c, op(), std::move(r));
}

TEST_SUITE_BEGIN("weigh");

// ---- replies ------------------------------------------------------------------------------------

TEST_CASE("an acceptance that echoes our key is proof where that is documented") {
    auto const o = said(proving, shop::accepted_with_key{"r-1", "k"});
    CHECK(o.what == seen::proof);
    CHECK(o.receipt == "r-1");
    CHECK(said(hinting, shop::accepted_with_key{"r-1", "k"}).what == seen::accepted);
    CHECK(said(hinting, shop::accepted_with_key{"r-1", "k"}).receipt == "r-1");
}

TEST_CASE("an acceptance under another key, or under none, proves nothing and leaves nothing") {
    for (auto const* echo : {"", "K", "k ", "another"}) {
        auto const o = said(proving, shop::accepted_with_key{"r-1", echo});
        CHECK(o.what == seen::no_news);
        CHECK(o.receipt.empty());
    }
}

TEST_CASE("an acceptance without an echo says where to look, whatever is documented") {
    auto const o = weigh(proving, op(), shop::reply(shop::accepted{"r-1"}));
    CHECK(o.what == seen::accepted);
    CHECK(o.receipt == "r-1");
}

TEST_CASE("a receipt that is empty or too large is none") {
    for (std::string const& receipt : {std::string(), std::string(longest_receipt + 1, 'x')}) {
        auto const o = said(proving, shop::accepted_with_key{receipt, "k"});
        CHECK(o.what == seen::no_news);
        CHECK(o.receipt.empty());
    }
    std::string const longest(longest_receipt, 'x');
    CHECK(said(proving, shop::accepted_with_key{longest, "k"}).what == seen::proof);
}

TEST_CASE("a duplicate is proof only of a replay that is compared with our own request") {
    shop::keyed_reply const dropped = shop::duplicate{"r-1", "k"};
    CHECK(said(replaying, dropped).what == seen::proof);
    CHECK(said(deduplicating(reuse::returns_original, false), dropped).what == seen::accepted);
    CHECK(said(deduplicating(reuse::rejects, true), dropped).what == seen::accepted);
    CHECK(said(hinting, dropped).what == seen::accepted);
    CHECK(said(hinting, dropped).receipt == "r-1");
    CHECK(said(replaying, shop::duplicate{"r-1"}).what == seen::accepted); // no echo
    CHECK(said(replaying, shop::duplicate{"r-1"}).receipt == "r-1");
    CHECK(said(replaying, shop::duplicate{}).what == seen::no_news);
}

TEST_CASE("a duplicate of somebody else's key leaves nothing, not even its receipt") {
    auto const o = said(replaying, shop::duplicate{"r-1", "another"});
    CHECK(o.what == seen::no_news);
    CHECK(o.receipt.empty());
}

TEST_CASE("a documented refusal closes its attempt, for good or for now, and says which kind") {
    struct row {
        refused said;
        outcome closes;
        rule why;
    };
    using enum refusal_class;
    for (auto const& [reply, closes, why] :
         {row{{invalid_input}, outcome::refused_for_good, rule::refused_input},
          row{{permission}, outcome::refused_for_good, rule::refused_permission},
          row{{other}, outcome::refused_for_good, rule::refused_by_provider},
          row{{busy}, outcome::refused_for_good, rule::refused_by_provider},
          row{{busy, false, 3s}, outcome::refused_for_now, rule::refused_for_now},
          row{{invalid_input, false, 0s}, outcome::refused_for_now, rule::refused_for_now}}) {
        auto const o = said(hinting, reply);
        CHECK(o.what == seen::attempt_closed);
        CHECK(o.outcome == closes);
        CHECK(o.why == why);
        CHECK(o.retry_after == reply.retry_after);
    }
    CHECK(said(hinting, not_sent{}).what == seen::attempt_closed);
    CHECK(said(hinting, not_sent{}).outcome == outcome::not_sent);
}

TEST_CASE("where the client library repeats by itself, a refusal proves nothing") {
    constexpr auto repeating = deduplicating(reuse::returns_original, true, 2);
    for (shop::keyed_reply const& reply :
         {shop::keyed_reply(refused{}), shop::keyed_reply(refused{.for_good = false}),
          shop::keyed_reply(not_sent{})}) {
        CHECK(said(repeating, reply).what == seen::no_news);
        CHECK(said(repeating, reply).outcome == outcome::open);
    }
}

TEST_CASE(
    "a conflict says that something is there, or that our key is known with another request") {
    CHECK(said(hinting, conflict{}).what == seen::existed);
    CHECK(said(hinting, conflict{.other_parameters = true}).what == seen::key_reused);
}

TEST_CASE("a call that is under way brings its time; what nobody explained brings its hints") {
    auto const busy = said(hinting, in_progress{.retry_after = 7s});
    CHECK(busy.what == seen::busy);
    CHECK(busy.retry_after == 7s);
    auto const lost = said(hinting, unknown{.hints = "trace 7"});
    CHECK(lost.what == seen::no_news);
    CHECK(lost.remarks == "trace 7");
    auto const talkative = said(hinting, unknown{.hints = std::string(longest_hint + 9, 'x')});
    CHECK(talkative.remarks.size() == longest_hint);
}

TEST_CASE("an observation belongs to one version of one operation, and to one attempt") {
    auto const two = op(2);
    auto const last = weigh(hinting, two, shop::keyed_reply(not_sent{}));
    CHECK(last.of == two.stamp());
    CHECK(last.attempt == 2);
    CHECK(weigh(hinting, two, shop::keyed_reply(not_sent{}), 1).attempt == 1);
}

// ---- look-ups -----------------------------------------------------------------------------------

shop::effect effect(std::string receipt, std::string key = "k", std::string request = "one") {
    return {.receipt = std::move(receipt), .key = std::move(key), .request = std::move(request)};
}
shop::effect of_another_owner(shop::effect e) {
    e.ours = false;
    return e;
}
shop::effect but(shop::effect e, effect_status status) {
    e.status = status;
    return e;
}
template <class Contract = decltype(hinting)>
observation shown(std::vector<shop::effect> effects, record r = with_attempts(1),
                  Contract const& c = hinting) {
    return weigh(c, op(std::move(r)), shop::answer(shop::complete{std::move(effects)}));
}

TEST_CASE("one equal effect of ours is a match, nothing at all is nothing") {
    auto const o = shown({effect("r-1")});
    CHECK(o.what == seen::match);
    CHECK(o.receipt == "r-1");
    CHECK(o.of == op().stamp());
    CHECK(o.attempt == 0);
    CHECK(shown({}).what == seen::nothing);
}

TEST_CASE("what could not be read completely shows nothing, not even an absence") {
    auto const down = weigh(hinting, op(), shop::answer(unavailable{"503"}));
    CHECK(down.what == seen::unavailable);
    CHECK(down.remarks == "503"); // for people
    CHECK(weigh(hinting, op(), shop::answer(incomplete{})).what == seen::incomplete);
    CHECK(weigh(hinting, op(), shop::answer(denied{})).what == seen::denied);
}

TEST_CASE("owners are filtered before effects are counted") {
    auto const o = shown({of_another_owner(effect("theirs")), effect("r-2")});
    CHECK(o.what == seen::match);
    CHECK(o.receipt == "r-2");
    CHECK(o.remarks == "candidates: theirs");
}

TEST_CASE("our key on another owner's record is a candidate, and so is another key") {
    for (auto const& theirs : {of_another_owner(effect("theirs")), effect("theirs", "another"),
                               effect("theirs", "K"), effect("theirs", "")}) {
        auto const o = shown({theirs});
        CHECK(o.what == seen::only_candidates);
        CHECK(o.receipt.empty());
        CHECK(o.remarks == "candidates: theirs");
    }
}

TEST_CASE("a receipt that our record holds makes an effect without a key ours") {
    record r = with_attempts(1);
    r.receipt = "r-1";
    CHECK(shown({effect("r-1", "")}, r).what == seen::match);
    CHECK(shown({effect("r-2", "")}, r).what == seen::only_candidates);
    CHECK(shown({effect("r-1", "another")}, r).what == seen::only_candidates);
    CHECK(shown({of_another_owner(effect("r-1", ""))}, r).what == seen::only_candidates);
    record none = with_attempts(1);
    CHECK(shown({effect("", "")}, none).what == seen::only_candidates);
}

TEST_CASE("a unique name makes it ours only after an attempt that did not find it there") {
    CHECK(shown({effect("r-1", "")}, with_attempts(1), naming).what == seen::match);
    CHECK(shown({effect("r-1", "")}, with_attempts(0), naming).what == seen::only_candidates);
    CHECK(shown({effect("r-1", "another")}, with_attempts(1), naming).what ==
          seen::only_candidates);
    record existed = with_attempts(1);
    existed.reason = rule::existed_before;
    CHECK(shown({effect("r-1", "")}, existed, naming).what == seen::only_candidates);
    record retried = with_attempts(2);
    retried.reason = rule::existed_before;
    CHECK(shown({effect("r-1", "")}, retried, naming).what == seen::only_candidates);
    record closed = with_attempts(1);
    closed.attempts[0].outcome = attempt_outcome_id::not_sent;
    CHECK(shown({effect("r-1", "")}, closed, naming).what == seen::only_candidates);
}

TEST_CASE("an effect that is under way beside one that is applied would make two") {
    auto second = effect("r-2", "k");
    second.status = effect_status::under_way;
    CHECK(shown({effect("r-1", "k"), second}, with_attempts(2)).what == seen::under_way);
}

TEST_CASE("the key of the present generation counts, not the identity's") {
    record r = with_attempts(1);
    r.provider_key = "k-2";
    CHECK(shown({effect("r-1", "k-2")}, r).what == seen::match);
    CHECK(shown({effect("r-1", "k")}, r).what == seen::only_candidates);
}

TEST_CASE("another content under our key, and more than one effect of ours, contradict") {
    auto const differs = shown({effect("r-1", "k", "two")});
    CHECK(differs.what == seen::contents_differ);
    CHECK(differs.remarks == "ours: r-1");
    shop::effect no_request_of_ours{.receipt = "r-1", .key = "k"};
    CHECK(shown({no_request_of_ours}).what == seen::contents_differ);
    auto const both = shown({effect("r-1"), effect("r-2"), effect("r-3", "")});
    CHECK(both.what == seen::several);
    CHECK(both.remarks == "ours: r-1, r-2; candidates: r-3");
    CHECK(shown({effect("r-1"), effect("r-2", "k", "two")}).what == seen::several);
    CHECK(shown({effect("r-1", "k", "two"), effect("r-2", "k", "two")}).what ==
          seen::contents_differ);
}

TEST_CASE("the confirmed effect counts even where another one stands in its place") {
    record r = with_attempts(1);
    r.ever_confirmed = true;
    r.receipt = "r-1";
    CHECK(shown({effect("r-1")}, r).what == seen::match);
    CHECK(shown({effect("r-2")}, r).what == seen::several);
}

TEST_CASE("an effect that is not done yet, or failed, is neither a match nor nothing") {
    auto const under_way = but(effect("r-1"), effect_status::under_way);
    auto const failed = but(effect("r-1"), effect_status::failed);
    auto const failed_for_good = but(effect("r-1"), effect_status::failed_for_good);
    CHECK(shown({under_way}).what == seen::under_way);
    CHECK(shown({under_way, failed}).what == seen::under_way);
    CHECK(shown({failed}).what == seen::failed);
    CHECK(shown({failed_for_good}).what == seen::failed_for_good);
    CHECK(shown({failed_for_good}, with_attempts(2)).what == seen::failed); // one may still land
    auto const another = but(effect("r-2"), effect_status::failed_for_good);
    CHECK(shown({failed_for_good, another}, with_attempts(2)).what == seen::failed_for_good);
    // One that is listed twice is one.
    CHECK(shown({failed_for_good, failed_for_good}, with_attempts(2)).what == seen::failed);
    CHECK(shown({failed_for_good, failed}).what == seen::failed);
    record earlier = with_attempts(2);
    earlier.attempts[0].outcome = outcome::refused_for_now; // what failed may be this one
    CHECK(shown({failed_for_good}, earlier).what == seen::failed);
    earlier.attempts[0].outcome = outcome::not_sent; // or it left no trace
    CHECK(shown({failed_for_good}, earlier).what == seen::failed_for_good);
    constexpr auto repeating = deduplicating(reuse::returns_original, true, 2);
    CHECK(shown({failed_for_good}, with_attempts(1), repeating).what == seen::failed);
    CHECK(shown({failed_for_good}, with_attempts(0)).what == seen::failed);
    CHECK(shown({failed_for_good, effect("r-2")}).what == seen::match);
    CHECK(shown({of_another_owner(failed_for_good)}).what == seen::only_candidates);
}

TEST_CASE("an effect without an id, or with a monstrous one, is an answer that makes no sense") {
    CHECK(shown({effect("")}).what == seen::incomplete);
    CHECK(shown({effect(std::string(longest_receipt + 1, 'x'))}).what == seen::incomplete);
    CHECK(shown({effect("r-1"), effect("")}).what == seen::incomplete);
    CHECK(shown({effect("r-1"), effect(""), effect("r-2")}).what == seen::several);
}

struct sealed {
    std::string text;
};

TEST_CASE("the caller may say what equal means") {
    auto const lower = [](record const& r, std::string const& found) {
        return found.size() == r.intent->request.size();
    };
    shop::answer const found = shop::complete{{effect("r-1", "k", "ONE")}};
    CHECK(weigh(hinting, op(), found, lower).what == seen::match);
    CHECK(weigh(hinting, op(), found).what == seen::contents_differ);
}

TEST_CASE("the list of candidates is escaped, and does not grow with the service") {
    std::vector<shop::effect> many(10'000, effect("the\nirs", ""));
    auto const o = shown(many);
    CHECK(o.what == seen::only_candidates);
    CHECK(o.remarks.size() < 1'100);
    CHECK(o.remarks.find('\n') == std::string::npos);
}

} // namespace

/// A receipt and a request whose codec refuses some values.
template <> struct indoubt::codec<sealed> {
    static result<std::string> encode(sealed const& s) {
        if (s.text == "broken") return error(rule::malformed_request);
        return s.text;
    }
    static result<sealed> decode(std::string_view bytes) { return sealed{std::string(bytes)}; }
};

namespace {

using sealed_shop = provider_of<sealed, sealed>;

TEST_CASE("a receipt or a content that has no canonical form proves nothing") {
    auto const look = [](std::vector<sealed_shop::effect> effects) {
        return weigh(hinting, op(), sealed_shop::answer(sealed_shop::complete{std::move(effects)}));
    };
    auto const effect = [](char const* receipt, char const* request) {
        return sealed_shop::effect{.receipt = {receipt}, .key = "k", .request = sealed{request}};
    };
    CHECK(look({effect("r-1", "one")}).what == seen::match);
    CHECK(look({effect("broken", "one")}).what == seen::incomplete);
    CHECK(look({effect("r-1", "broken")}).what == seen::contents_differ);
    CHECK(look({effect("r-1", "two"), effect("broken", "one")}).what == seen::contents_differ);
    auto const o = weigh(proving, op(),
                         sealed_shop::keyed_reply(sealed_shop::accepted_with_key{{"broken"}, "k"}));
    CHECK(o.what == seen::no_news);
}

TEST_SUITE_END();

} // namespace
