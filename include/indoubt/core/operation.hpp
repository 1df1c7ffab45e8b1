// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef INDOUBT_CORE_OPERATION_HPP
#define INDOUBT_CORE_OPERATION_HPP

#include <indoubt/core/one_of.hpp>
#include <indoubt/core/record.hpp>
#include <indoubt/core/states.hpp>

#include <concepts>
#include <memory>
#include <string_view>
#include <utility>

// An operation is a value whose type says what is known. A transition turns an operation and
// evidence into a step; only a journal turns a step into an operation, by writing it.

namespace indoubt {

class permit;

namespace detail {
class scribe;  // reads and writes: recovery/journal.hpp
class transit; // core/transitions.hpp
} // namespace detail

/// An operation that the journal has in state S. Move-only; a moved-from operation is unusable.
template <state S> class [[nodiscard]] operation {
public:
    using state_type = S;

    operation(operation&&) noexcept = default;
    operation& operator=(operation&&) noexcept = default;

    indoubt::identity const& identity() const { return record_->identity(); }
    record const& stored() const { return *record_; }
    indoubt::stamp stamp() const { return record_->stamp(); }
    std::string_view receipt() const
        requires std::same_as<S, confirmed>
    {
        return record_->receipt;
    }

private:
    friend detail::scribe;
    friend detail::transit;
    friend permit;
    explicit operation(std::unique_ptr<record> r) : record_(std::move(r)) {}
    std::unique_ptr<record> record_; // one record from begin to told: moves cost a pointer
};

/// Decided, not yet written.
template <state To> class [[nodiscard]] step {
public:
    step(step&&) noexcept = default;
    step& operator=(step&&) noexcept = default;

private:
    friend detail::scribe;
    friend detail::transit;
    explicit step(std::unique_ptr<record> r) : record_(std::move(r)) {}
    std::unique_ptr<record> record_; // version is still that of the operation it was made from
};

/// A step that ends in a send. Written and flushed it becomes a permit.
class [[nodiscard]] departure {
public:
    departure(departure&&) noexcept = default;
    departure& operator=(departure&&) noexcept = default;

private:
    friend detail::scribe;
    friend detail::transit;
    departure(std::unique_ptr<record> r, time_point send_before)
        : record_(std::move(r)), send_before_(send_before) {}
    std::unique_ptr<record> record_;
    time_point send_before_;
};

using any_operation =
    one_of<operation<pending>, operation<uncertain>, operation<confirmed>, operation<rejected>,
           operation<cancelled>, operation<in_review>, operation<abandoned>>;

} // namespace indoubt

#endif
