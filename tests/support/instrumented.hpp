// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef TESTS_SUPPORT_INSTRUMENTED_HPP
#define TESTS_SUPPORT_INSTRUMENTED_HPP

#include <cstdint>

/// Whether a sanitizer watches each access to memory. A test of very many rounds makes fewer then:
/// each takes several times as long, and goes the same ways through the code.
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
inline constexpr bool instrumented = true;
#else
inline constexpr bool instrumented = false;
#endif
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool instrumented = true;
#else
inline constexpr bool instrumented = false;
#endif

/// From one step that fails to the next one that is tried.
inline constexpr std::uint64_t next_step = instrumented ? 3 : 1;

#endif
