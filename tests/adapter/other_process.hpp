// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef INDOUBT_TESTS_ADAPTER_OTHER_PROCESS_HPP
#define INDOUBT_TESTS_ADAPTER_OTHER_PROCESS_HPP

#include <csignal>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

// A forked child that runs a function and never returns to the test that forked it.
//
// A child inherits what SQLite remembers of its parent's files. Where that matters, make the
// child before the parent opens one, and let it wait to be told.

namespace indoubt::tests {

/// One end of the line between the two.
class line {
public:
    explicit line(int fd) : fd_(fd) {}
    void operator()(std::string const& text) const { say(text); }
    void say(std::string const& text) const {
        if (::send(fd_, text.data(), text.size(), MSG_NOSIGNAL) < 0) ::_exit(101);
    }
    /// Waits until the other end has said something. Returns: all of it; empty if it has ended.
    std::string hear() const {
        char text[512];
        auto const length = ::read(fd_, text, sizeof text);
        return length > 0 ? std::string(text, static_cast<std::size_t>(length)) : std::string();
    }

private:
    int fd_;
};

class other_process {
public:
    /// In the child body(line) runs; its result is the exit status. The child ends without
    /// running destructors, as if it were killed.
    template <class Body> explicit other_process(Body body) {
        if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends_) != 0)
            throw std::runtime_error("no line to a child");
        child_ = ::fork();
        if (child_ < 0) throw std::runtime_error("no child");
        if (child_ == 0) {
            ::close(ends_[0]);
            ::_exit(body(line(ends_[1])));
        }
        ::close(ends_[1]);
    }
    other_process(other_process const&) = delete;
    other_process& operator=(other_process const&) = delete;
    ~other_process() {
        if (!ended_) kill();
        ::close(ends_[0]);
    }

    pid_t id() const { return child_; }
    void tell(std::string const& text) const { line(ends_[0]).say(text); }
    std::string hear() const { return line(ends_[0]).hear(); }
    /// Everything it tells until its end.
    std::string hear_all() const {
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
    int ends_[2] = {-1, -1};
    pid_t child_ = -1;
    bool ended_ = false;
};

} // namespace indoubt::tests

#endif
