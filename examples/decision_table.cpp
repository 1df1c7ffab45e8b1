// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)

// Prints the decision table that runs: what follows from what is known and what was seen. The first
// row that fits decides. With --markdown it prints the same table for a page.

#include <indoubt/recovery/decision_table.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <iostream>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace {

using namespace indoubt;

/// Joins the names of what is in a set; `last` is its largest possible member.
template <class E>
std::string in_words(detail::set_of<E> set, E last, std::string_view what_all_means) {
    std::string words;
    bool all = true;
    for (unsigned i = 0; i <= static_cast<unsigned>(last); ++i) {
        auto const e = static_cast<E>(i);
        if constexpr (std::is_same_v<E, state_id>) {
            if (e == state_id::none) continue; // no record, no decision
        }
        if (!set.has(e)) {
            all = false;
        } else {
            words.append(words.empty() ? "" : "; ").append(to_string(e));
        }
    }
    return all ? std::string(what_all_means) : words;
}

std::string_view in_words(action a) {
    switch (a) {
    case action::look: return "look up";
    case action::wait: return "wait, then decide again";
    case action::report: return "stop, change nothing";
    case action::send: return "send";
    case action::resend: return "send again";
    case action::confirm: return "confirmed";
    case action::contradict: return "review: it cannot be";
    case action::refer: return "review: nobody can tell";
    case action::reopen: return "back to pending";
    case action::reject: return "rejected";
    case action::cancel: return "cancelled";
    case action::record: return "record it, decide again";
    }
    return "";
}

constexpr std::string_view no_words = "(no words for this reason)";

std::string_view in_words(detail::reason const& why) {
    using detail::situation;
    if (why.told == &situation::recorded_rule) return "as recorded";
    if (why.told == &situation::contradiction_rule) return "what was seen";
    if (why.told == &situation::candidates_rule) return "whose records were found";
    if (why.told == &situation::refusal_rule) return "how the provider refused";
    if (why.told == &situation::uncovered_rule) return "no guarantee, or its window is closed";
    if (why.told != nullptr) return no_words;
    return why.fixed == rule::none ? "" : to_string(why.fixed);
}

constexpr std::size_t columns = 6;
using cells = std::array<std::string, columns>;
constexpr cells titles() {
    return {"", "known", "observed", "when", "next", "why"};
}

std::vector<cells> rows() {
    std::vector<cells> all;
    for (auto const& row : detail::decision_table) {
        std::string when;
        for (auto const& condition : row.when) {
            if (condition.holds == nullptr) continue;
            when.append(when.empty() ? "" : " and ").append(condition.words);
        }
        all.push_back({std::to_string(all.size() + 1),
                       in_words(row.known, state_id::abandoned, "any state"),
                       in_words(row.observed, seen::receipt_taken, "anything"), when,
                       std::string(in_words(row.next)), std::string(in_words(row.why))});
    }
    return all;
}

/// Takes from the front of `text` what fits into `width`, whole words at a time.
std::string take_line(std::string& text, std::size_t width) {
    if (text.size() <= width) return std::exchange(text, {});
    auto end = text.rfind(' ', width);
    if (end == std::string::npos) end = text.find(' ');
    std::string line = text.substr(0, end);
    text.erase(0, end == std::string::npos ? end : end + 1);
    return line;
}

void print(cells row) {
    constexpr std::array<std::size_t, columns> widths{2, 11, 19, 21, 15, 22}; // 100 with the gaps
    while (!std::ranges::all_of(row, &std::string::empty)) {
        std::string line;
        for (std::size_t i = 0; i != columns; ++i) {
            std::string part = take_line(row[i], widths[i]);
            if (i == 0) part.insert(0, widths[i] - part.size(), ' ');
            part.resize(widths[i], ' ');
            line.append(i == 0 ? "" : "  ").append(part);
        }
        std::cout << line.substr(0, line.find_last_not_of(' ') + 1) << '\n';
    }
}

void print_markdown(cells const& row) {
    for (auto const& cell : row)
        std::cout << "| " << cell << ' ';
    std::cout << "|\n";
}

} // namespace

int main(int argc, char** argv) {
    if (argc > 2 || (argc == 2 && std::string_view(argv[1]) != "--markdown")) {
        std::cerr << "usage: decision_table [--markdown]\n";
        return 2;
    }
    if (argc == 2) {
        print_markdown(titles());
        std::cout << "|---:|---|---|---|---|---|\n";
        for (auto const& row : rows())
            print_markdown(row);
    } else {
        std::cout << "The first row that fits decides.\n\n";
        print(titles());
        std::cout << std::string(100, '-') << '\n';
        for (auto const& row : rows())
            print(row);
    }
    auto const untold = [](cells const& row) { return row.back() == no_words; };
    return std::ranges::none_of(rows(), untold) ? 0 : 1;
}
