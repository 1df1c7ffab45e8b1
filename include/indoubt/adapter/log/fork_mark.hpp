// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef INDOUBT_ADAPTER_LOG_FORK_MARK_HPP
#define INDOUBT_ADAPTER_LOG_FORK_MARK_HPP

#include <cstddef>
#include <memory>
#include <sys/mman.h>
#include <sys/types.h>
#include <unistd.h>

// Whether this is a child of the process that opened a log. It is asked in every call, so it is a
// read of memory: the kernel clears the mark as a process is forked.

namespace indoubt::detail {

class fork_mark {
public:
    fork_mark() {
#ifdef MADV_WIPEONFORK
        void* const page =
            ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (page == MAP_FAILED) return;
        page_.reset(static_cast<char*>(page));
        if (::madvise(page, size, MADV_WIPEONFORK) != 0) { // an old kernel
            page_.reset();
            return;
        }
        *page_ = 1;
#endif
    }

    bool is_in_a_child() const {
        return page_ ? *static_cast<char const volatile*>(page_.get()) == 0
                     : ::getpid() != process_;
    }

private:
    static constexpr std::size_t size = 4096;
    struct unmap {
        void operator()(char* p) const { ::munmap(p, size); }
    };

    std::unique_ptr<char, unmap> page_{};
    pid_t process_ = ::getpid();
};

} // namespace indoubt::detail

#endif
