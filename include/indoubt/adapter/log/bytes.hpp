// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef INDOUBT_ADAPTER_LOG_BYTES_HPP
#define INDOUBT_ADAPTER_LOG_BYTES_HPP

#include <indoubt/core/error.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <string_view>

// Bytes that go to disk and come back. A reader never reads beyond its end: what does not fit makes
// it bad, and everything after that is zero or empty.

namespace indoubt::detail {

template <class T> void store(char* at, T value) {
    static_assert(std::endian::native == std::endian::little, "a log is written little-endian");
    std::memcpy(at, &value, sizeof value);
}
template <class T> T load(char const* at) {
    T value;
    std::memcpy(&value, at, sizeof value);
    return value;
}

inline bool are_zeros(std::string_view bytes) {
    return bytes.empty() || (bytes.front() == 0 &&
                             std::memcmp(bytes.data(), bytes.data() + 1, bytes.size() - 1) == 0);
}

/// Bytes at an address that direct writes take.
class log_buffer {
public:
    static constexpr std::size_t alignment = 4096;

    explicit log_buffer(std::size_t capacity = std::size_t{64} << 10) { grow(capacity); }

    char* data() { return bytes_.get(); }
    char const* data() const { return bytes_.get(); }
    std::size_t size() const { return size_; }
    std::string_view view(std::size_t from, std::size_t length) const {
        return {bytes_.get() + from, length};
    }

    /// Returns: where `more` new bytes begin, which the caller writes.
    char* add(std::size_t more) {
        if (capacity_ - size_ < more) [[unlikely]]
            grow(2 * (size_ + more));
        char* const at = bytes_.get() + size_;
        size_ += more;
        return at;
    }
    void reserve(std::size_t capacity) {
        if (capacity_ < capacity) grow(capacity);
    }
    /// Zeros up to a multiple.
    void pad(std::size_t multiple) {
        if (std::size_t const rest = size_ % multiple; rest != 0)
            std::memset(add(multiple - rest), 0, multiple - rest);
    }
    void shrink_to(std::size_t size) { size_ = size; }

private:
    struct aligned_delete {
        void operator()(char* p) const { ::operator delete(p, std::align_val_t{alignment}); }
    };
    [[gnu::noinline]] void grow(std::size_t capacity) {
        capacity = (capacity + alignment - 1) / alignment * alignment;
        std::unique_ptr<char, aligned_delete> more(
            static_cast<char*>(::operator new(capacity, std::align_val_t{alignment})));
        if (size_ != 0) std::memcpy(more.get(), bytes_.get(), size_);
        bytes_ = std::move(more);
        capacity_ = capacity;
    }

    std::unique_ptr<char, aligned_delete> bytes_{};
    std::size_t size_ = 0, capacity_ = 0;
};

/// Puts at the end of a buffer. Small numbers are short: seven bits a byte, the lowest first.
class log_writer {
public:
    explicit log_writer(log_buffer& out) : out_(out) {}

    void byte(std::uint8_t b) { *out_.add(1) = static_cast<char>(b); }
    void number(std::uint64_t n) {
        if (n < 0x80) return byte(static_cast<std::uint8_t>(n)); // nearly all are
        char* at = out_.add(10);
        char* const from = at;
        for (; n >= 0x80; n >>= 7U)
            *at++ = static_cast<char>(n | 0x80U);
        *at++ = static_cast<char>(n);
        out_.shrink_to(out_.size() - 10 + static_cast<std::size_t>(at - from));
    }
    /// Small negative numbers are short, too.
    void difference(std::int64_t d) {
        auto const n = static_cast<std::uint64_t>(d);
        number((n << 1U) ^ (d < 0 ? ~std::uint64_t{0} : 0));
    }
    /// A moment, as its distance from another one; it wraps around, as the reader does.
    void moment(time_point t, time_point from) {
        difference(static_cast<std::int64_t>(bits(t) - bits(from)));
    }
    void fixed(std::uint64_t n) { store(out_.add(sizeof n), n); }
    void raw(std::string_view text) {
        char* const at = out_.add(text.size());
        if (!text.empty()) std::memcpy(at, text.data(), text.size());
    }
    void text(std::string_view t) {
        number(t.size());
        raw(t);
    }

    static std::uint64_t bits(time_point t) {
        return static_cast<std::uint64_t>(t.time_since_epoch().count());
    }

private:
    log_buffer& out_;
};

class log_reader {
public:
    explicit log_reader(std::string_view bytes) : left_(bytes) {}

    bool good() const { return good_; }
    bool at_end() const { return left_.empty(); }
    std::size_t left() const { return left_.size(); }

    std::uint8_t byte() {
        auto const b = take(1);
        return b.empty() ? std::uint8_t{0} : static_cast<std::uint8_t>(b.front());
    }
    std::uint64_t number() {
        std::uint64_t n = 0;
        for (unsigned shift = 0; shift < 64; shift += 7) {
            std::uint8_t const b = byte();
            if (shift == 63 && b > 1) break; // more than 64 bits
            n |= std::uint64_t{b & 0x7fU} << shift;
            if (b < 0x80) return n;
        }
        good_ = false;
        return 0;
    }
    /// A number of at most `most`; a larger one is bad.
    template <class T> T at_most(T most) {
        std::uint64_t const n = number();
        if (n <= static_cast<std::uint64_t>(most)) return static_cast<T>(n);
        good_ = false;
        return T{};
    }
    std::int64_t difference() {
        std::uint64_t const n = number();
        return static_cast<std::int64_t>((n >> 1U) ^ ((n & 1U) != 0 ? ~std::uint64_t{0} : 0));
    }
    time_point moment(time_point from) {
        auto const at = log_writer::bits(from) + static_cast<std::uint64_t>(difference());
        return time_point(milliseconds(static_cast<std::int64_t>(at)));
    }
    std::uint64_t fixed() {
        auto const b = take(sizeof(std::uint64_t));
        return b.empty() ? 0 : load<std::uint64_t>(b.data());
    }
    std::string_view text() {
        std::uint64_t const length = number();
        if (length > left_.size()) {
            good_ = false;
            return {};
        }
        return take(static_cast<std::size_t>(length));
    }
    std::string_view take(std::size_t length) {
        if (!good_ || length > left_.size()) {
            good_ = false;
            left_ = {};
            return {};
        }
        auto const taken = left_.substr(0, length);
        left_.remove_prefix(length);
        return taken;
    }

private:
    std::string_view left_;
    bool good_ = true;
};

} // namespace indoubt::detail

#endif
