// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef INDOUBT_HPP
#define INDOUBT_HPP

// indoubt finishes remote writes left in doubt without doing them twice. This is the one header
// most programs need; the default journal is in <indoubt/adapter/sqlite_storage.hpp> and the codec
// for structs in <indoubt/adapter/canonical_json.hpp>.

#include <indoubt/adapter/bounded_budget.hpp>
#include <indoubt/adapter/exact_fingerprint.hpp>
#include <indoubt/adapter/memory_storage.hpp>
#include <indoubt/adapter/system_clock.hpp>
#include <indoubt/recovery/recovery.hpp>

#endif
