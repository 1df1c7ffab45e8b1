// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef TESTS_SIMULATION_WALK_FOLLOWING_HPP
#define TESTS_SIMULATION_WALK_FOLLOWING_HPP

#include "state.hpp"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

// What can follow a state: each step with the sentence that tells it, and the invariants that it
// broke on its way.

namespace walk {

/// Put together only when a history is printed.
struct sentence {
    std::string_view what;
    unsigned attempt = 0; ///< it is about; 0: none
    seen sight = seen::not_asked;
    std::string_view then{}; ///< what the library made of it
    unsigned worker = 0;     ///< who; 0: nobody
};

inline std::string told_as(telling const& t) {
    std::string text(to_string(t.state));
    if (t.state == state_id::in_review) {
        text += t.reviewed_for == concern::doubt           ? " (doubt)"
                : t.reviewed_for == concern::contradiction ? " (contradiction)"
                                                           : " (effect missing)";
    }
    return t.cancel_requested ? text + ", cancel requested" : text;
}

inline std::string text_of(sentence const& s, snapshot const& after) {
    std::string text;
    if (s.worker != 0) text = "worker " + std::to_string(s.worker) + ": ";
    if (s.attempt != 0) text += "attempt " + std::to_string(s.attempt) + ": ";
    text += s.what;
    if (s.sight != seen::not_asked) text.append(" [").append(to_string(s.sight)).append("]");
    if (!s.then.empty()) text.append(" -> ").append(s.then);
    return text + " | " + told_as(after.as_is());
}

class following {
public:
    struct step {
        snapshot to;
        sentence told;
        char const* broken; ///< an invariant, or null
    };

    /// Effects: the next step added is one that breaks this invariant.
    void breaks(char const* invariant) { broken_ = invariant; }

    void add(snapshot const& to, sentence const& told) {
        steps_.push_back({to, told, std::exchange(broken_, nullptr)});
    }

    std::vector<step> const& steps() const { return steps_; }
    void clear() { steps_.clear(); }

private:
    std::vector<step> steps_;
    char const* broken_ = nullptr;
};

} // namespace walk

#endif
