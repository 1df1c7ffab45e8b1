// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#include <indoubt/adapter/composed_lookup.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using namespace indoubt;
using namespace std::chrono_literals;
using shop = provider_of<std::string>;
using page = lookup_page<std::string, std::string>;
using paged = page_answer<std::string, std::string>;
using status = effect_status;

identity const id{"shop", "order-1"};
std::string const asked_for = "one notebook";

shop::query asking(std::stop_token stop = {}) {
    return {id, "order-1", asked_for, "", 1s, std::move(stop)};
}

shop::effect made(std::string receipt, status s = status::applied) {
    return {.receipt = std::move(receipt), .key = "order-1", .request = asked_for, .status = s};
}

/// A listing whose n-th page has the cursor "n"; it keeps what it was asked for.
struct listing {
    std::vector<paged> pages;
    std::vector<std::string> asked{};

    paged operator()(std::string_view cursor) {
        asked.emplace_back(cursor);
        return pages.at(cursor.empty() ? 0 : std::stoul(std::string(cursor)));
    }
};
page leading_to(std::string next, std::vector<shop::effect> shown = {}) {
    return {.effects = std::move(shown), .next = std::move(next)};
}
page last(std::vector<shop::effect> shown = {}) {
    return {.effects = std::move(shown)};
}

/// Receipts of a complete answer, in order; nothing if it is not complete.
std::optional<std::vector<std::string>> receipts(shop::answer const& a) {
    auto const* all = a.get_if<shop::complete>();
    if (all == nullptr) return std::nullopt;
    std::vector<std::string> found;
    for (auto const& e : all->effects)
        found.push_back(e.receipt);
    return found;
}
using names = std::vector<std::string>;

/// Two pages, and two parts, go by the same rules.
std::vector<shop::answer> shown_twice(shop::effect first, shop::effect second) {
    listing two{{leading_to("1", {first}), last({second})}};
    shop::answer const one_part = shop::complete{{first}}, other_part = shop::complete{{second}};
    return {paged_lookup(asking(), two), composed_lookup(asking(), one_part, other_part)};
}

TEST_SUITE_BEGIN("composed look-up");

// ---- pages --------------------------------------------------------------------------------------

TEST_CASE("all pages are read, each with the cursor of the one before") {
    listing three{
        {leading_to("1", {made("r-1")}), leading_to("2", {made("r-2")}), last({made("r-3")})}};
    CHECK(receipts(paged_lookup(asking(), three)) == names{"r-1", "r-2", "r-3"});
    CHECK(three.asked == names{"", "1", "2"});
}

TEST_CASE("an empty page with another one behind it is not the end") {
    listing gap{{leading_to("1"), leading_to("2"), last({made("r-1")})}};
    CHECK(receipts(paged_lookup(asking(), gap)) == names{"r-1"});
}

TEST_CASE("empty to the last page is complete, and nothing") {
    listing nothing{{leading_to("1"), last()}};
    CHECK(receipts(paged_lookup(asking(), nothing)) == names{});
}

TEST_CASE("a page that fails is the answer, whatever the pages before showed") {
    for (paged const& failed : {paged(unavailable{"503"}), paged(incomplete{}), paged(denied{})}) {
        listing broken{{leading_to("1", {made("r-1")}), failed, last()}};
        auto const found = paged_lookup(asking(), broken);
        CHECK_FALSE(receipts(found));
        CHECK(found.holds<unavailable>() == failed.holds<unavailable>());
        CHECK(found.holds<denied>() == failed.holds<denied>());
        CHECK(found.holds<incomplete>() == failed.holds<incomplete>());
        CHECK(broken.asked == names{"", "1"});
    }
    listing down{{paged(unavailable{"503"})}};
    auto const found = paged_lookup(asking(), down);
    REQUIRE(found.holds<unavailable>());
    CHECK(found.get_if<unavailable>()->why == "503");
}

TEST_CASE("more pages than allowed are incomplete, and not fetched") {
    listing three{{leading_to("1", {made("r-1")}), leading_to("2"), last()}};
    CHECK(paged_lookup(asking(), three, {.most_pages = 2}).holds<incomplete>());
    CHECK(three.asked == names{"", "1"});
    CHECK(receipts(paged_lookup(asking(), three, {.most_pages = 3})));
    CHECK(paged_lookup(asking(), three, {.most_pages = 0}).holds<incomplete>());
}

TEST_CASE("an endless listing ends at a hundred pages if nothing else is said") {
    std::size_t fetched = 0;
    auto const endless = [&](std::string_view) -> paged {
        return leading_to(std::to_string(++fetched));
    };
    CHECK(paged_lookup(asking(), endless).holds<incomplete>());
    CHECK(fetched == 100);
}

TEST_CASE("a cursor that comes again is a loop, not an end") {
    listing to_itself{{leading_to("1"), leading_to("1", {made("r-1")})}};
    CHECK(paged_lookup(asking(), to_itself).holds<incomplete>());
    CHECK(to_itself.asked == names{"", "1"});
    listing to_an_earlier_one{{leading_to("1"), leading_to("2"), leading_to("1")}};
    CHECK(paged_lookup(asking(), to_an_earlier_one).holds<incomplete>());
    CHECK(to_an_earlier_one.asked == names{"", "1", "2"});
}

TEST_CASE("more effects than allowed are incomplete, one that is shown again is not more") {
    listing two{{leading_to("1", {made("r-1"), made("r-2")}), last({made("r-2")})}};
    CHECK(receipts(paged_lookup(asking(), two, {.most_effects = 2})) == names{"r-1", "r-2"});
    CHECK(paged_lookup(asking(), two, {.most_effects = 1}).holds<incomplete>());

    std::vector<shop::effect> many;
    for (int i = 0; i != 1'000; ++i)
        many.push_back(made("r-" + std::to_string(i)));
    listing full{{leading_to("1", many), last()}};
    CHECK(receipts(paged_lookup(asking(), full))->size() == 1'000);
    full.pages[1] = last({made("one more")});
    CHECK(paged_lookup(asking(), full).holds<incomplete>());
}

TEST_CASE("a cursor may have 4,096 bytes, or what is allowed") {
    std::string cursor(4'096, 'c');
    auto const fetch = [&](std::string_view c) -> paged {
        return c.empty() ? leading_to(cursor) : last();
    };
    CHECK(receipts(paged_lookup(asking(), fetch)));
    CHECK(paged_lookup(asking(), fetch, {.longest_cursor = 4'095}).holds<incomplete>());
    cursor += 'c';
    CHECK(paged_lookup(asking(), fetch).holds<incomplete>());
}

TEST_CASE("nothing more is fetched once a stop is requested, and that is incomplete") {
    std::stop_source stop;
    int fetched = 0;
    auto const fetch = [&](std::string_view) -> paged {
        if (++fetched == 2) stop.request_stop();
        return leading_to(std::to_string(fetched));
    };
    CHECK(paged_lookup(asking(stop.get_token()), fetch).holds<incomplete>());
    CHECK(fetched == 2);
}

TEST_CASE("a last page that was read before the stop counts") {
    std::stop_source stop;
    auto const fetch = [&](std::string_view) -> paged {
        stop.request_stop();
        return last({made("r-1")});
    };
    CHECK(receipts(paged_lookup(asking(stop.get_token()), fetch)) == names{"r-1"});
}

TEST_CASE("nothing to act on is said by the first page, or by none") {
    listing nothing{{paged(no_target{})}};
    CHECK(paged_lookup(asking(), nothing).holds<no_target>());
    listing vanished{{leading_to("1"), paged(no_target{})}};
    CHECK(paged_lookup(asking(), vanished).holds<incomplete>());
}

TEST_CASE("what a page throws goes through") {
    auto const fetch = [](std::string_view) -> paged { throw std::runtime_error("no route"); };
    CHECK_THROWS_AS((void)paged_lookup(asking(), fetch), std::runtime_error);
}

// ---- parts --------------------------------------------------------------------------------------

TEST_CASE("the parts are asked in their order, with the query, and give one answer") {
    std::string order;
    auto const part = [&](std::string name) {
        return [&order, name](shop::query const& q) -> shop::answer {
            order += name + ':' + std::string(q.key) + ' ';
            return shop::complete{{made(name)}};
        };
    };
    auto const found = composed_lookup(asking(), part("open"), part("closed"), part("archived"));
    CHECK(receipts(found) == names{"open", "closed", "archived"});
    CHECK(order == "open:order-1 closed:order-1 archived:order-1 ");
}

TEST_CASE("one part alone is what it answers") {
    CHECK(receipts(composed_lookup(asking(), shop::answer(shop::complete{{made("r")}}))) ==
          names{"r"});
    CHECK(composed_lookup(asking(), shop::answer(denied{})).holds<denied>());
    CHECK(composed_lookup(asking(), shop::answer(no_target{})).holds<no_target>());
}

TEST_CASE("the first part that was not read is the answer, and the others are not asked") {
    int asked = 0;
    auto const open = [&](shop::query const&) -> shop::answer {
        ++asked;
        return shop::complete{{made("r-1")}};
    };
    shop::answer const down = unavailable{"503"}, secret = denied{}, half = incomplete{};
    auto const found = composed_lookup(asking(), open, down, secret, open);
    REQUIRE(found.holds<unavailable>());
    CHECK(found.get_if<unavailable>()->why == "503");
    CHECK(asked == 1);
    CHECK(composed_lookup(asking(), open, secret, down, open).holds<denied>());
    CHECK(composed_lookup(asking(), half, open).holds<incomplete>());
    CHECK(composed_lookup(asking(), open, half).holds<incomplete>());
    CHECK(asked == 3);
}

TEST_CASE("no part is asked after a stop was requested") {
    std::stop_source stop;
    int asked = 0;
    auto const part = [&](shop::query const&) -> shop::answer {
        ++asked;
        stop.request_stop();
        return shop::complete{};
    };
    CHECK(composed_lookup(asking(stop.get_token()), part, part).holds<incomplete>());
    CHECK(asked == 1);
}

TEST_CASE("nothing to act on counts only where no part shows an effect") {
    shop::answer const gone = no_target{}, empty = shop::complete{},
                       trash = shop::complete{{made("r-1")}}, down = unavailable{};
    CHECK(composed_lookup(asking(), gone, empty).holds<no_target>());
    CHECK(composed_lookup(asking(), empty, gone).holds<no_target>());
    CHECK(receipts(composed_lookup(asking(), gone, trash)) == names{"r-1"});
    CHECK(composed_lookup(asking(), gone, down).holds<unavailable>());
    shop::answer const captured = shop::complete{.effects = {}, .target_id = "no. 7"};
    CHECK(composed_lookup(asking(), captured, gone).holds<incomplete>());
}

TEST_CASE("parts may be made of pages") {
    listing open{{leading_to("1"), last({made("r-1")})}}, closed{{last({made("r-2")})}};
    auto const pages_of = [](listing& l) {
        return [&l](shop::query const& q) { return paged_lookup(q, std::ref(l)); };
    };
    CHECK(receipts(composed_lookup(asking(), pages_of(open), pages_of(closed))) ==
          names{"r-1", "r-2"});
}

// ---- the same effect, shown again ---------------------------------------------------------------

TEST_CASE("the same effect on two pages or in two parts counts once") {
    for (auto const& found : shown_twice(made("r-1"), made("r-1")))
        CHECK(receipts(found) == names{"r-1"});
    for (auto const& found : shown_twice(made("r-1"), made("r-2")))
        CHECK(receipts(found) == names{"r-1", "r-2"});
}

TEST_CASE("twice on one page, or in one part, stays two") {
    listing one{{last({made("r-1"), made("r-1")})}};
    CHECK(receipts(paged_lookup(asking(), one)) == names{"r-1", "r-1"});
    listing two{{leading_to("1", {made("r-1")}), last({made("r-1"), made("r-1")})}};
    CHECK(receipts(paged_lookup(asking(), two)) == names{"r-1", "r-1"});
}

TEST_CASE("an effect without a receipt is never taken for another one") {
    for (auto const& found : shown_twice(made(""), made("")))
        CHECK(receipts(found) == names{"", ""});
}

TEST_CASE("a status may go on from one showing to the next; the later one counts") {
    std::pair<status, status> const steps[] = {{status::under_way, status::applied},
                                               {status::under_way, status::failed},
                                               {status::under_way, status::failed_for_good},
                                               {status::failed, status::under_way},
                                               {status::failed, status::applied},
                                               {status::failed, status::failed_for_good}};
    for (auto const& [from, to] : steps) {
        for (auto const& found : shown_twice(made("r-1", from), made("r-1", to))) {
            auto const* all = found.get_if<shop::complete>();
            REQUIRE(all != nullptr);
            REQUIRE(all->effects.size() == 1);
            CHECK(all->effects.front().status == to);
        }
    }
}

TEST_CASE("from a final status nothing goes on: that is incomplete") {
    for (status const final : {status::applied, status::failed_for_good}) {
        for (status const then :
             {status::under_way, status::failed, status::applied, status::failed_for_good}) {
            for (auto const& found : shown_twice(made("r-1", final), made("r-1", then))) {
                CHECK(found.holds<incomplete>() == (then != final));
            }
        }
    }
}

TEST_CASE("two showings that differ in anything else are incomplete") {
    shop::effect other_content = made("r-1"), no_content = made("r-1"), other_key = made("r-1"),
                 strangers = made("r-1");
    other_content.request = "two notebooks";
    no_content.request.reset();
    other_key.key = "order-2";
    strangers.ours = false;
    for (auto const& other : {other_content, no_content, other_key, strangers}) {
        for (auto const& found : shown_twice(made("r-1"), other))
            CHECK(found.holds<incomplete>());
        for (auto const& found : shown_twice(other, made("r-1")))
            CHECK(found.holds<incomplete>());
        for (auto const& found : shown_twice(other, other))
            CHECK(receipts(found) == names{"r-1"});
    }
}

TEST_CASE("a key that only one of them shows is the key of both") {
    shop::effect keyless = made("r-1");
    keyless.key.clear();
    for (auto const& [one, other] : {std::pair(keyless, made("r-1")), {made("r-1"), keyless}}) {
        for (auto const& found : shown_twice(one, other)) {
            auto const* all = found.get_if<shop::complete>();
            REQUIRE(all != nullptr);
            REQUIRE(all->effects.size() == 1);
            CHECK(all->effects.front().key == "order-1");
        }
    }
}

TEST_CASE("what is acted on has one id; two are incomplete") {
    auto const captured = [](std::string first, std::string second) {
        page one = leading_to("1"), two = last();
        one.target_id = first;
        two.target_id = second;
        listing both{{one, two}};
        shop::answer const a = shop::complete{{}, first}, b = shop::complete{{}, second};
        return std::vector<shop::answer>{paged_lookup(asking(), both),
                                         composed_lookup(asking(), a, b)};
    };
    for (auto const& [first, second] :
         {std::pair("", "no. 7"), {"no. 7", ""}, {"no. 7", "no. 7"}}) {
        for (auto const& found : captured(first, second)) {
            REQUIRE(found.holds<shop::complete>());
            CHECK(found.get_if<shop::complete>()->target_id == "no. 7");
        }
    }
    for (auto const& found : captured("no. 7", "no. 8"))
        CHECK(found.holds<incomplete>());
}

// ---- types of one's own -------------------------------------------------------------------------

/// No number below zero has a form.
struct number {
    int value;
};

} // namespace

template <> struct indoubt::codec<number> {
    static result<std::string> encode(number n) {
        if (n.value < 0) return error(rule::malformed_request);
        return std::to_string(n.value);
    }
    static result<number> decode(std::string_view bytes) {
        return number{std::stoi(std::string(bytes))};
    }
};

namespace {

using counter = provider_of<number, number>;

counter::answer both_parts(counter::effect first, counter::effect second) {
    number const zero{0};
    counter::query const q{id, "order-1", zero, "", 1s, {}};
    counter::answer const a = counter::complete{{first}}, b = counter::complete{{second}};
    return composed_lookup(q, a, b);
}

TEST_CASE("receipts and contents are compared as they are encoded") {
    auto const found =
        both_parts({.receipt = {7}, .request = number{1}}, {.receipt = {7}, .request = number{1}});
    REQUIRE(found.holds<counter::complete>());
    CHECK(found.get_if<counter::complete>()->effects.size() == 1);
}

TEST_CASE("what has no form is equal to nothing, not even to itself") {
    CHECK(
        both_parts({.receipt = {7}, .request = number{-1}}, {.receipt = {7}, .request = number{-1}})
            .holds<incomplete>());
    auto const found = both_parts({.receipt = {-7}}, {.receipt = {-7}});
    REQUIRE(found.holds<counter::complete>());
    CHECK(found.get_if<counter::complete>()->effects.size() == 2);
}

TEST_SUITE_END();

} // namespace
