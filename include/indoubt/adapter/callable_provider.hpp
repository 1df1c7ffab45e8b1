// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef INDOUBT_ADAPTER_CALLABLE_PROVIDER_HPP
#define INDOUBT_ADAPTER_CALLABLE_PROVIDER_HPP

#include <indoubt/policy/provider.hpp>

#include <concepts>
#include <string>
#include <string_view>
#include <type_traits>

// A provider made of two functions, for programs that have them already:
//
//     constexpr contract documented{.lookup = complete_lookup{}};
//     callable_provider<order>{"orders", documented, submit, lookup}
//
// The first function takes an attempt and answers a reply, the second takes a query and answers an
// answer. A contract that is constexpr is checked at compile time; another one when it is built.

namespace indoubt {

namespace detail {
/// Stands where the contract documents no look-up.
struct nobody_to_ask {};
} // namespace detail

template <class Request, class Receipt, class Contract, class Submit, class Lookup>
struct basic_callable_provider : provider_of<Request, Receipt> {
    basic_callable_provider(std::string_view name, Contract documented, Submit send, Lookup look)
        : target(name), contract(documented), submit_(std::move(send)), lookup_(std::move(look)) {}

    auto submit(attempt<Request> const& a)
        requires std::invocable<Submit&, attempt<Request> const&>
    {
        return submit_(a);
    }
    auto lookup(query<Request> const& q)
        requires std::invocable<Lookup&, query<Request> const&>
    {
        return lookup_(q);
    }

    std::string target;
    Contract contract;

private:
    Submit submit_;
    Lookup lookup_;
};

/// Request, and where it is not text Receipt, are named; everything else is deduced.
template <class Request, class Receipt = std::string, class Contract, class Submit,
          class Lookup = detail::nobody_to_ask>
[[nodiscard]] auto callable_provider(std::string_view target, Contract contract, Submit submit,
                                     Lookup lookup = {}) {
    return basic_callable_provider<Request, Receipt, Contract, Submit, Lookup>(
        target, contract, std::move(submit), std::move(lookup));
}

} // namespace indoubt

#endif
