// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)

// The machine driven by hand, for a program that has an event loop of its own and never blocks.
// Each step is one line: begin, decide, dispatch, write, permit, attempt, weigh, confirm. What a
// step needs is in its parameter types, so a step that is not justified does not compile.

#include <indoubt.hpp>
#include <indoubt/adapter/canonical_json.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <deque>
#include <iostream>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

struct order {
    std::string instrument;
    int quantity;
};
BOOST_HANA_ADAPT_STRUCT(order, instrument, quantity);

namespace {

using namespace indoubt;
using namespace std::chrono_literals;

using names = provider_of<order>;
using order_journal = journal<memory_storage, system_clock>;

constexpr contract exchange{.lookup = complete_lookup{}, .call_timeout = 500ms};

/// What the event loop delivers.
struct event {
    identity of;
    std::variant<names::reply, names::answer> what;
};

/// Stands in for the exchange and for the line to it. The line loses every reply to an order, and
/// the exchange shows an order only when it is asked for it the second time.
class wire {
public:
    void post(attempt<order> const& a) {
        auto fill = "fill-" + std::to_string(booked_.size() + 1);
        booked_.push_back({{std::move(fill), std::string(a.key()), a.request()}});
        events_.push_back({a.identity(), unknown{"timeout"}});
    }
    void ask(identity const& id, std::string_view key) {
        names::complete found;
        for (auto& b : booked_) {
            if (b.effect.key == key && std::exchange(b.shown, true)) {
                found.effects.push_back(b.effect);
            }
        }
        events_.push_back({id, std::move(found)});
    }
    std::optional<event> next() {
        if (events_.empty()) return std::nullopt;
        event e = std::move(events_.front());
        events_.pop_front();
        return e;
    }
    std::size_t booked() const { return booked_.size(); }

private:
    struct booking {
        names::effect effect;
        bool shown = false;
    };
    std::vector<booking> booked_;
    std::deque<event> events_;
};

class gateway {
public:
    gateway(order_journal& book, wire& out) : book_(book), wire_(out) {}

    void place(identity const& id, order const& wanted) {
        auto intent = intend("exchange/orders", wanted, fingerprint_);
        if (!intent) return report(intent.error());
        auto op = book_.begin(id, std::move(intent).value(), fingerprint_);
        if (!op) return report(op.error());
        std::move(op).value().visit([&](auto&& x) { drive(std::move(x), {}); });
    }

    void handle(event e) {
        auto entry = waiting_.extract(e.of);
        if (entry.empty()) return; // too late: nobody waits for it any more
        auto resume = [&](auto op) {
            auto const seen = std::visit(
                [&](auto& news) { return weigh(exchange, op, std::move(news)); }, e.what);
            drive(std::move(op), seen);
        };
        std::visit(resume, std::move(entry.mapped()));
    }

private:
    // No attempt may have been applied yet.
    void drive(operation<pending> op, observation const& seen) {
        auto next = decide(op, exchange, seen, as_of_now(op));
        std::move(next).visit(
            [&](look_up) { look(std::move(op)); },
            [&](clearance c) { send(book_.write(dispatch(std::move(op), std::move(c)))); },
            [&](match m) { settled(book_.write(confirm(std::move(op), std::move(m)))); },
            [&](refusal r) { settled(book_.write(reject(std::move(op), std::move(r)))); },
            [&](contradiction c) { settled(book_.write(refer(std::move(op), std::move(c)))); },
            [&](doubt d) { settled(book_.write(refer(std::move(op), std::move(d)))); },
            [&](cancellation c) { settled(book_.write(cancel(std::move(op), std::move(c)))); },
            [&](wait w) { come_back(w, std::move(op)); },
            [&](stop s) { tell(error_about(op.stored(), s.rule).message()); });
    }

    // An attempt may have been applied. The contract documents no guarantee, so this answer has no
    // resend_clearance: a case for it would not compile.
    void drive(operation<uncertain> op, observation const& seen) {
        auto next = decide(op, exchange, seen, as_of_now(op));
        std::move(next).visit(
            [&](look_up) { look(std::move(op)); },
            [&](match m) { settled(book_.write(confirm(std::move(op), std::move(m)))); },
            [&](refusal r) { settled(book_.write(reject(std::move(op), std::move(r)))); },
            [&](contradiction c) { settled(book_.write(refer(std::move(op), std::move(c)))); },
            [&](doubt d) { settled(book_.write(refer(std::move(op), std::move(d)))); },
            [&](non_application n) { goes_on(book_.write(reopen(std::move(op), std::move(n)))); },
            [&](attempt_outcome o) {
                goes_on(book_.write(record_outcome(std::move(op), std::move(o))));
            },
            [&](wait w) { come_back(w, std::move(op)); },
            [&](stop s) { tell(error_about(op.stored(), s.rule).message()); });
    }

    // Settled already, or waiting for a person.
    template <state S> void drive(operation<S> op, observation const&) {
        tell(printable(op.identity()) + " is " + std::string(to_string(S::id)) + " already");
    }

    // By now the attempt is recorded and flushed.
    void send(result<permit> allowed) {
        if (!allowed) return report(allowed.error());
        auto out = allowed.value().attempt<order>(book_);
        if (!out) return report(out.error());
        std::cout << printable(out.value().identity()) << " is sent\n";
        looks_.erase(out.value().identity());
        wire_.post(out.value());
        keep(std::move(allowed).value().operation());
    }

    template <state S> void look(operation<S> op) {
        std::cout << printable(op.identity()) << " is " << to_string(S::id) << ", looking it up\n";
        ++looks_[op.identity()];
        wire_.ask(op.identity(), op.stored().key());
        keep(std::move(op));
    }

    // A real event loop sets a timer instead.
    template <state S> void come_back(wait w, operation<S> op) {
        auto const delay = budget_.look_delay(op.stored(), looks_[op.identity()]);
        book_.wait_until(std::max(w.until, book_.now() + delay), {});
        drive(std::move(op), {});
    }

    template <state S> void goes_on(result<operation<S>> written) {
        if (!written) return report(written.error());
        drive(std::move(written).value(), {});
    }

    template <state S> void settled(result<operation<S>> written) {
        if (!written) return report(written.error());
        tell(printable(written.value().identity()) + " is " + std::string(to_string(S::id)));
    }

    // What is told about an operation must survive, so it is flushed first.
    void tell(std::string const& line) {
        if (auto flushed = book_.flush(); !flushed) return report(flushed.error());
        std::cout << line << '\n';
    }

    void report(error const& e) {
        std::cout << e.message() << (e.in_doubt() ? " (in doubt)" : "") << '\n';
    }

    template <state S> moment as_of_now(operation<S> const& op) {
        return book_.moment(op.stored(), budget_, exchange, {.looks = looks_[op.identity()]});
    }

    using waiting_operation = std::variant<operation<pending>, operation<uncertain>>;
    void keep(waiting_operation op) {
        auto id = std::visit([](auto const& x) { return x.identity(); }, op);
        waiting_.emplace(std::move(id), std::move(op));
    }

    order_journal& book_;
    wire& wire_;
    exact_fingerprint fingerprint_;
    bounded_budget budget_{.first_look_delay = 1ms};
    std::map<identity, waiting_operation> waiting_; // for a reply or an answer
    std::map<identity, unsigned> looks_;
};

} // namespace

int main() {
    memory_storage storage; // forgets everything; a real program uses sqlite_storage
    order_journal book(storage);
    wire line;
    gateway desk(book, line);

    identity const id{"desk-7", "order-1"};
    desk.place(id, {"ACME", 100});
    while (auto e = line.next())
        desk.handle(std::move(*e));
    desk.place(id, {"ACME", 100}); // the same intent again
    desk.place(id, {"ACME", 900}); // another intent under the same identity

    std::cout << "orders booked: " << line.booked() << '\n';
    return line.booked() == 1 ? 0 : 1;
}
