// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef INDOUBT_TESTS_ADAPTER_OTHER_PROCESS_HPP
#define INDOUBT_TESTS_ADAPTER_OTHER_PROCESS_HPP

#include <csignal>
#include <fcntl.h>
#include <stdexcept>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

// A forked child that runs a function and never returns to the test that forked it.

namespace indoubt::tests {

class other_process {
public:
    /// In the child body(tell) runs, where tell(text) sends text to the parent; its result is the
    /// exit status. The child ends without running destructors, as if it were killed.
    template <class Body> explicit other_process(Body body) {
        int ends[2];
        if (::pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
        child_ = ::fork();
        if (child_ < 0) throw std::runtime_error("no child");
        if (child_ == 0) {
            ::close(ends[0]);
            int const status = body([&](std::string const& text) {
                if (::write(ends[1], text.data(), text.size()) < 0) ::_exit(101);
            });
            ::_exit(status);
        }
        ::close(ends[1]);
        heard_from_ = ends[0];
    }
    other_process(other_process const&) = delete;
    other_process& operator=(other_process const&) = delete;
    ~other_process() {
        if (!ended_) kill();
        ::close(heard_from_);
    }

    pid_t id() const { return child_; }

    /// Waits until the child has told something. Returns: all of it; empty if it ended in silence.
    std::string hear() {
        char text[256];
        auto const length = ::read(heard_from_, text, sizeof text);
        return length > 0 ? std::string(text, static_cast<std::size_t>(length)) : std::string();
    }
    /// Everything it tells until its end.
    std::string hear_all() {
        std::string all;
        for (std::string more = hear(); !more.empty(); more = hear())
            all += more;
        return all;
    }
    /// Waits for its end. Returns: its exit status, or minus the signal that killed it.
    int wait() {
        int status = 0;
        ::waitpid(child_, &status, 0);
        ended_ = true;
        return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
    }
    void kill() {
        ::kill(child_, SIGKILL);
        wait();
    }

private:
    pid_t child_ = -1;
    int heard_from_ = -1;
    bool ended_ = false;
};

} // namespace indoubt::tests

#endif
