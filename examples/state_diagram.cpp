// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)

// Prints the machine: its states and transitions as a Mermaid diagram and as tables, from the
// transition table of the library. docs/state_diagram.md shows what this prints.

#include <indoubt/core/transition_table.hpp>

#include <boost/hana/first.hpp>
#include <boost/hana/for_each.hpp>
#include <boost/hana/second.hpp>

#include <algorithm>
#include <iostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using namespace indoubt;
namespace hana = boost::hana;

template <class Evidence> constexpr std::string_view name = "";
template <> constexpr std::string_view name<clearance> = "clearance";
template <> constexpr std::string_view name<resend_clearance> = "resend_clearance";
template <> constexpr std::string_view name<match> = "match";
template <> constexpr std::string_view name<contradiction> = "contradiction";
template <> constexpr std::string_view name<doubt> = "doubt";
template <> constexpr std::string_view name<non_application> = "non_application";
template <> constexpr std::string_view name<refusal> = "refusal";
template <> constexpr std::string_view name<attempt_outcome> = "attempt_outcome";
template <> constexpr std::string_view name<adoption> = "adoption";
template <> constexpr std::string_view name<cancellation> = "cancellation";
template <> constexpr std::string_view name<ruling> = "ruling";
template <class To> constexpr std::string_view name<resumption<To>> = "resumption";
template <class To> constexpr std::string_view name<dismissal<To>> = "dismissal";
template <> constexpr std::string_view name<abandonment> = "abandonment";
template <> constexpr std::string_view name<supersession> = "supersession";

/// The function that takes an operation in state From and this evidence. There is no more than one.
template <class From, class E> constexpr std::string_view verb() {
    using op = operation<From>;
    if constexpr (requires(op o, E e) { dispatch(std::move(o), std::move(e)); }) return "dispatch";
    if constexpr (requires(op o, E e) { resend(std::move(o), std::move(e)); }) return "resend";
    if constexpr (requires(op o, E e) { confirm(std::move(o), std::move(e)); }) return "confirm";
    if constexpr (requires(op o, E e) { refer(std::move(o), std::move(e)); }) return "refer";
    if constexpr (requires(op o, E e) { reopen(std::move(o), std::move(e)); }) return "reopen";
    if constexpr (requires(op o, E e) { reject(std::move(o), std::move(e)); }) return "reject";
    if constexpr (requires(op o, E e) { record_outcome(std::move(o), std::move(e)); }) {
        return "record_outcome";
    }
    if constexpr (requires(op o, E e) { cancel(std::move(o), std::move(e)); }) return "cancel";
    if constexpr (requires(op o, E e) { adopt(std::move(o), std::move(e)); }) return "adopt";
    if constexpr (requires(op o, E e) { rule_out(std::move(o), std::move(e)); }) return "rule_out";
    if constexpr (requires(op o, E e) { resume(std::move(o), std::move(e)); }) return "resume";
    if constexpr (requires(op o, E e) { dismiss(std::move(o), std::move(e)); }) return "dismiss";
    if constexpr (requires(op o, E e) { abandon(std::move(o), std::move(e)); }) return "abandon";
    if constexpr (requires(op o, E e) { supersede(std::move(o), std::move(e)); }) {
        return "supersede";
    }
    return "";
}

struct transition {
    state_id from, to;
    std::string_view evidence, verb;
};

/// In the order of the table.
std::vector<transition> all_transitions() {
    std::vector<transition> all;
    hana::for_each(transition_table, [&](auto row) {
        using what = typename decltype(+hana::first(row))::type;
        using from = typename what::from;
        using evidence = typename what::evidence;
        using to = typename decltype(+hana::second(row))::type;
        static_assert(!name<evidence>.empty() && !verb<from, evidence>().empty());
        all.push_back({from::id, to::id, name<evidence>, verb<from, evidence>()});
    });
    return all;
}

constexpr state_id states[] = {state_id::pending,   state_id::uncertain, state_id::in_review,
                               state_id::confirmed, state_id::rejected,  state_id::cancelled,
                               state_id::abandoned};

/// Adds to a list, unless it is there.
void add(std::vector<std::string>& list, std::string what) {
    if (std::ranges::find(list, what) == list.end()) list.push_back(std::move(what));
}
std::string joined(std::vector<std::string> const& list) {
    std::string all;
    for (auto const& one : list)
        all.append(all.empty() ? "" : ", ").append(one);
    return all;
}

/// One arrow from a state to another, with all verbs that lead there.
void print_diagram(std::vector<transition> const& all) {
    std::cout << "```mermaid\nstateDiagram-v2\n    [*] --> pending : begin\n";
    for (state_id const from : states) {
        for (state_id const to : states) {
            std::vector<std::string> verbs;
            for (auto const& t : all) {
                if (t.from == from && t.to == to) add(verbs, std::string(t.verb));
            }
            if (verbs.empty()) continue;
            std::cout << "    " << to_string(from) << " --> " << to_string(to) << " : "
                      << joined(verbs) << '\n';
        }
        if (is_final(from)) std::cout << "    " << to_string(from) << " --> [*]\n";
    }
    std::cout << "```\n";
}

/// Where each state comes from and leads to; what stays in a state does neither.
void print_states(std::vector<transition> const& all) {
    std::cout << "| state | entered by | left by | terminal |\n|---|---|---|---|\n";
    for (state_id const s : states) {
        std::vector<std::string> entered, left;
        if (s == state_id::pending) entered.emplace_back("begin");
        for (auto const& t : all) {
            if (t.from == t.to) continue;
            auto const verb = std::string("`").append(t.verb).append("`");
            if (t.to == s) add(entered, verb);
            if (t.from == s) add(left, verb);
        }
        std::cout << "| `" << to_string(s) << "` | " << joined(entered) << " | " << joined(left)
                  << " | " << (is_final(s) ? "yes" : "no") << " |\n";
    }
}

void print_transitions(std::vector<transition> const& all) {
    std::cout << "| from | by | with | to |\n|---|---|---|---|\n";
    for (auto const& t : all) {
        std::cout << "| `" << to_string(t.from) << "` | `" << t.verb << "` | `" << t.evidence
                  << "` | `" << to_string(t.to) << "` |\n";
    }
}

} // namespace

int main(int argc, char** argv) {
    std::string_view const what = argc > 1 ? argv[1] : "";
    auto const all = all_transitions();
    if (what == "diagram" || what.empty()) print_diagram(all);
    if (what.empty()) std::cout << '\n';
    if (what == "states" || what.empty()) print_states(all);
    if (what.empty()) std::cout << '\n';
    if (what == "transitions" || what.empty()) print_transitions(all);
}
