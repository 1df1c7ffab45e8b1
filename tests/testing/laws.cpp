// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#include <indoubt/testing/budget_laws.hpp>
#include <indoubt/testing/codec_laws.hpp>
#include <indoubt/testing/fingerprint_laws.hpp>
#include <indoubt/testing/laws.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// A law suite is worth what it catches: each of these implementations breaks one law, and the suite
// must name that law.

namespace {

using namespace indoubt;
using indoubt::testing::laws;

bool names(laws const& found, std::string_view law) {
    return std::ranges::find(found.broken(), law) != found.broken().end();
}

TEST_CASE("laws keep what is broken, once each, and count what was checked") {
    laws found;
    CHECK(found.hold());
    found.expect(true, "kept");
    found.expect(false, "broken");
    found.expect(false, "broken");
    found.expect(false, "broken too");
    CHECK_FALSE(found.hold());
    CHECK(found.broken() == std::vector<std::string>{"broken", "broken too"});
    CHECK(found.report() == "broken\nbroken too\n");
    CHECK(found.checked() == 4);
    for (int i = 0; i < 100; ++i)
        found.expect(false, std::to_string(i));
    CHECK(found.broken().size() == 32);
}

// ---- codecs -------------------------------------------------------------------------------------

/// A number as text. Each F is one way to get it wrong.
template <class F> struct number {
    std::int64_t value = 0;
    friend bool operator==(number const&, number const&) = default;
};

struct sound {};
struct drops_digits {};
struct forgives_white_space {};
struct forgets_a_bit {};
struct has_two_forms {};
struct wrong_error {};
struct refuses_zero {};

} // namespace

template <class F> struct indoubt::codec<number<F>> {
    static result<std::string> encode(number<F> const& n) {
        std::int64_t value = n.value;
        if constexpr (std::same_as<F, drops_digits>) value -= value % 10;
        if constexpr (std::same_as<F, refuses_zero>) {
            if (value == 0) return error(rule::malformed_request);
        }
        std::string text = std::to_string(value);
        if constexpr (std::same_as<F, has_two_forms>) {
            static int asked = 0;
            if (++asked % 2 == 0) text.insert(0, " ");
        }
        return text;
    }
    static result<number<F>> decode(std::string_view bytes) {
        if constexpr (std::same_as<F, forgives_white_space> || std::same_as<F, has_two_forms>) {
            while (bytes.starts_with(' '))
                bytes.remove_prefix(1);
        }
        auto const refused = [] {
            return error(std::same_as<F, wrong_error> ? rule::malformed_request
                                                      : rule::undecodable);
        };
        number<F> n;
        auto const read = std::from_chars(bytes.data(), bytes.data() + bytes.size(), n.value);
        if (read.ec != std::errc() || read.ptr != bytes.data() + bytes.size()) return refused();
        if (!std::same_as<F, forgives_white_space> && std::to_string(n.value) != bytes) {
            return refused();
        }
        if constexpr (std::same_as<F, forgets_a_bit>) n.value &= ~std::int64_t{1};
        return n;
    }
};

namespace {

template <class F> laws check_number() {
    return testing::check_codec_laws<number<F>>(
        {{0}, {1}, {-1}, {1024}, {INT64_MAX}, {INT64_MAX - 1}, {INT64_MIN}, {9007199254740993}});
}

TEST_CASE("the codec laws hold for a sound codec and name what is wrong with others") {
    CHECK_MESSAGE(check_number<sound>().hold(), check_number<sound>().report());
    CHECK(check_number<sound>().checked() > 500);
    CHECK(names(check_number<drops_digits>(), "codec: decode(encode(v)) == v"));
    CHECK(names(check_number<drops_digits>(), "codec: different values, different bytes"));
    CHECK(names(check_number<forgets_a_bit>(), "codec: decode(encode(v)) == v"));
    CHECK(names(check_number<forgives_white_space>(),
                "codec: decode takes only bytes that encode makes"));
    CHECK(names(check_number<has_two_forms>(), "codec: equal values, equal bytes"));
    CHECK(names(check_number<wrong_error>(),
                "codec: bytes that are not a value's are rule::undecodable"));
    CHECK(names(check_number<refuses_zero>(), "codec: every value given to the suite has a form"));
}

TEST_CASE("the codec laws hold for plain text") {
    auto const found = testing::check_codec_laws<std::string>({"", "a", "b", std::string(1, '\0')});
    CHECK_MESSAGE(found.hold(), found.report());
}

// ---- fingerprints -------------------------------------------------------------------------------

struct compares_all {
    std::string_view rule() const { return "all/1"; }
    std::string digest(content const&) const { return {}; }
    bool same(std::string_view, content const& a, content const& b) const {
        return a.target == b.target && a.request == b.request;
    }
};
struct ignores_the_target : compares_all {
    bool same(std::string_view, content const& a, content const& b) const {
        return a.request == b.request;
    }
};
struct runs_parts_together : compares_all {
    std::string digest(content const& c) const { return std::string(c.target).append(c.request); }
    bool same(std::string_view stored, content const&, content const& b) const {
        return stored == digest(b);
    }
};
struct stops_at_nul : compares_all {
    bool same(std::string_view, content const& a, content const& b) const {
        auto const text = [](std::string_view t) { return t.substr(0, t.find('\0')); };
        return a.target == b.target && text(a.request) == text(b.request);
    }
};
struct looks_at_the_first_block : compares_all {
    bool same(std::string_view, content const& a, content const& b) const {
        return a.target == b.target && a.request.size() == b.request.size() &&
               a.request.substr(0, 256) == b.request.substr(0, 256);
    }
};
struct salts_every_digest : compares_all {
    std::string digest(content const&) const { return std::to_string(++asked); }
    static inline std::atomic<int> asked = 0;
};
struct same_as_nothing : compares_all {
    bool same(std::string_view, content const&, content const&) const { return false; }
};
struct nameless : compares_all {
    std::string_view rule() const { return {}; }
};

TEST_CASE("the fingerprint laws hold for a sound one and name what is wrong with others") {
    constexpr std::string_view differ =
        "fingerprint: contents that differ in any byte are not the same";
    auto const sound_one = testing::check_fingerprint_laws(compares_all());
    CHECK_MESSAGE(sound_one.hold(), sound_one.report());
    CHECK(names(testing::check_fingerprint_laws(ignores_the_target()), differ));
    CHECK(names(testing::check_fingerprint_laws(runs_parts_together()), differ));
    CHECK(names(testing::check_fingerprint_laws(stops_at_nul()), differ));
    CHECK(names(testing::check_fingerprint_laws(looks_at_the_first_block()), differ));
    CHECK(names(testing::check_fingerprint_laws(same_as_nothing()),
                "fingerprint: a content is the same as itself"));
    CHECK(names(testing::check_fingerprint_laws(salts_every_digest()),
                "fingerprint: equal contents have equal digests, whenever asked"));
    CHECK(names(testing::check_fingerprint_laws(nameless()), "fingerprint: the rule has a name"));
}

// ---- budgets ------------------------------------------------------------------------------------

/// Three tries and looks, a second apart; sound.
struct three_tries {
    std::optional<time_point> deadline(time_point begun_at) {
        return begun_at + milliseconds(60'000);
    }
    allowance may_send(record const& r, time_point now, milliseconds) {
        if (now >= r.deadline) return {.what = allowance::kind::too_late};
        if (r.attempts.size() >= 3) return {.what = allowance::kind::spent};
        time_point const next = r.attempts.empty() ? now : r.last_sent() + milliseconds(1'000);
        if (next > now) return {.what = allowance::kind::later, .not_before = next};
        return {.what = allowance::kind::now, .ends_at = r.deadline};
    }
    allowance may_look(record const&, time_point, milliseconds, unsigned looks) {
        return {.what = looks < 3 ? allowance::kind::now : allowance::kind::spent};
    }
};

struct forgets_attempts_at_a_restart : three_tries {
    allowance may_send(record const& r, time_point now, milliseconds call) {
        record mine = r;
        mine.attempts.resize(r.attempts.size() - std::min(r.attempts.size(), forgotten(r)));
        return three_tries::may_send(mine, now, call);
    }
    std::size_t forgotten(record const& r) {
        if (!known) known = r.attempts.size();
        return *known;
    }
    std::optional<std::size_t> known;
};
struct ignores_the_deadline : three_tries {
    allowance may_send(record const& r, time_point now, milliseconds call) {
        record mine = r;
        mine.deadline = time_point::max();
        return three_tries::may_send(mine, now, call);
    }
};
struct looks_for_ever : three_tries {
    allowance may_look(record const&, time_point, milliseconds, unsigned) { return {}; }
};
struct looks_once_after_the_deadline : three_tries {
    allowance may_look(record const& r, time_point now, milliseconds call, unsigned looks) {
        if (looks > 0 && now >= r.deadline) return {.what = allowance::kind::too_late};
        return three_tries::may_look(r, now, call, looks);
    }
};
struct gives_up_without_a_look : three_tries {
    allowance may_look(record const& r, time_point now, milliseconds call, unsigned looks) {
        if (now >= r.deadline) return {.what = allowance::kind::too_late};
        return three_tries::may_look(r, now, call, looks);
    }
};
struct waits_for_the_past : three_tries {
    allowance may_send(record const& r, time_point now, milliseconds call) {
        allowance answer = three_tries::may_send(r, now, call);
        if (answer.what == allowance::kind::later) answer.not_before = r.last_sent();
        return answer;
    }
};
struct never_comes_to_later : three_tries {
    allowance may_send(record const& r, time_point now, milliseconds call) {
        allowance answer = three_tries::may_send(r, now, call);
        if (answer.what == allowance::kind::later) answer.not_before = now + milliseconds(1);
        return answer;
    }
};
struct draws_anew : three_tries {
    allowance may_send(record const& r, time_point now, milliseconds call) {
        allowance answer = three_tries::may_send(r, now, call);
        if (answer.what == allowance::kind::later) answer.not_before += milliseconds(++asked % 7);
        return answer;
    }
    std::atomic<int> asked = 0;
};
struct allows_what_is_over : three_tries {
    allowance may_send(record const& r, time_point now, milliseconds call) {
        allowance answer = three_tries::may_send(r, now, call);
        answer.ends_at = now;
        return answer;
    }
};

template <class B> laws check_budget() {
    return testing::check_budget_laws([] { return B(); });
}

TEST_CASE("the budget laws hold for a sound budget and name what is wrong with others") {
    CHECK_MESSAGE(check_budget<three_tries>().hold(), check_budget<three_tries>().report());
    CHECK(names(check_budget<forgets_attempts_at_a_restart>(),
                "budget: sends are bounded over the life of an operation, restarts included"));
    CHECK(names(check_budget<ignores_the_deadline>(),
                "budget: at and after the deadline a send is too late"));
    CHECK(names(check_budget<looks_for_ever>(), "budget: looks are bounded per run"));
    std::string const not_for_looks = "budget: the deadline is over for sends, not for looks";
    CHECK(names(check_budget<looks_once_after_the_deadline>(), not_for_looks));
    CHECK(names(check_budget<gives_up_without_a_look>(), not_for_looks));
    CHECK(names(check_budget<waits_for_the_past>(), "budget: later is never in the past"));
    CHECK(names(check_budget<never_comes_to_later>(),
                "budget: asked again at not_before, it does not answer later"));
    CHECK(names(check_budget<draws_anew>(), "budget: the same question has the same answer"));
    CHECK(names(check_budget<allows_what_is_over>(), "budget: with now, ends_at is after now"));
}

} // namespace
