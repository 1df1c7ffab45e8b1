// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef EXAMPLES_JOURNAL_TOOL_LOG_JOURNAL_HPP
#define EXAMPLES_JOURNAL_TOOL_LOG_JOURNAL_HPP

#include "journal.hpp"
#include "read_only_files.hpp"

#include <indoubt/adapter/log/replay.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace journal_tool {

namespace log = indoubt::detail;

/// The lock of a log, if there is one: a copy may lack it. Errors: journal_in_use.
inline result<read_only_files::file> lock_log(std::string const& path) {
    auto opened = read_only_files::open(path + "/lock");
    if (!opened) {
        if (opened.error().rule() != indoubt::rule::journal_missing) return opened.error();
        return read_only_files::file();
    }
    BOOST_OUTCOME_TRY(bool const ours, read_only_files::lock(opened.value()));
    if (!ours) {
        return indoubt::detail::about_log_file(indoubt::rule::journal_in_use, path,
                                               "has another owner");
    }
    return std::move(opened).value();
}

/// A log journal as an open would find it.
class log_journal final : public journal {
public:
    static result<std::unique_ptr<journal>> open(std::string const& path) {
        BOOST_OUTCOME_TRY(auto lock, lock_log(path));
        auto made = std::make_unique<log_journal>(path, std::move(lock));
        BOOST_OUTCOME_TRY(made->replay_.go());
        return std::unique_ptr<journal>(std::move(made));
    }

    log_journal(std::string const& path, read_only_files::file lock)
        : lock_(std::move(lock)), store_(folder(read_only_files(), path)) {}

    result<void> each_operation(see_operation const& see) override {
        return each_entry([&](log::log_entry const& e, log::log_place place) -> result<bool> {
            if (e.kind != log::log_format::entry::whole) return true;
            BOOST_OUTCOME_TRY(auto const known, standing_with(e.payload, place));
            if (known == 0) return true; // written again elsewhere
            BOOST_OUTCOME_TRY(auto const r, store_.load(known));
            return see(r);
        });
    }

    result<void> each_name(see_name const& see) override {
        return each_entry([&](log::log_entry const& e, log::log_place place) -> result<bool> {
            if (e.kind != log::log_format::entry::name) return true;
            log::log_reader in(e.payload);
            auto const name = in.text();
            indoubt::identity id{std::string(in.text()), {}};
            id.key = in.text();
            auto const stands = store_.contents.index().find(
                log::log_digest_of(name), [&](log::log_place p) { return p == place; });
            return stands == 0 || see(name, id);
        });
    }

    result<std::vector<std::string>> flaws() override {
        std::vector<std::string> found;
        if (!lock_) found.push_back(store_.folder.path() + " has no file named lock");
        for (auto const& [path, offset] : store_.folder.files().all_mended())
            found.push_back(at(path, offset) + " is not whole; its copy is, and repairs it");
        BOOST_OUTCOME_TRY(each_segment([&](segment& s, log::log_buffer& bytes) -> result<bool> {
            auto const path = path_of(s.number);
            for (std::size_t const copy : {std::size_t{0}, log::log_format::header_copy}) {
                log::log_header h;
                if (log::take_header(bytes.data() + copy, h) != log::header_is::whole)
                    found.push_back(at(path, copy) + " a copy of the header is not whole");
            }
            walk(bytes, [&](std::string_view, std::size_t offset) {
                std::size_t const frame = offset - log::log_format::frame_header;
                if (auto const copy = bad_copy_of(bytes, frame))
                    found.push_back(at(path, *copy) + " the copy of a frame is not whole");
                return true;
            });
            return true;
        }));
        auto const& end = replay_.end();
        if (end.how == log::log_end::kind::torn) {
            found.push_back(at(path_of(replay_.end_number()), end.offset) +
                            " begins what was being written when the power went, or is no frame"
                            " any more: the next open cuts it off");
        }
        return found;
    }

    std::vector<file> files() override {
        std::vector<file> all;
        for (std::size_t i = 0; auto const* s = store_.tail.older(i); ++i)
            all.push_back({store_.folder.name_of(s->number), s->size});
        return all;
    }
    std::uint32_t epoch() const override { return replay_.last_header().epoch; }
    indoubt::time_point high_water() const override { return replay_.high_water(); }

private:
    using folder = log::log_folder<read_only_files>;
    using segment = log::log_segment<read_only_files>;

    static std::string at(std::string const& path, std::uint64_t offset) {
        return path + " at offset " + std::to_string(offset) + ":";
    }
    std::string path_of(std::uint64_t number) const {
        return store_.folder.in(folder::name_of(number));
    }

    /// Where the record stands whose intent stands at this place; 0 if it stands elsewhere now.
    result<log::log_place> standing_with(std::string_view whole, log::log_place place) {
        std::optional<indoubt::error> bad;
        auto const d = log::log_digest_of(log::identity_of_whole(whole));
        auto const known = store_.contents.index().find(d, [&](log::log_place p) {
            auto const found = store_.whole_of(p);
            if (!found) bad = found.error();
            return found && found.value() == place;
        });
        if (bad) return std::move(*bad);
        return known;
    }

    /// Calls see(segment&, its bytes) -> result<bool>; they were found whole when it was opened.
    template <class See> result<void> each_segment(See see) {
        log::log_buffer bytes;
        for (std::size_t i = 0; auto* s = store_.tail.older(i); ++i) {
            bytes.shrink_to(0);
            auto const size = static_cast<std::size_t>(s->size);
            char* const to = bytes.add(size);
            BOOST_OUTCOME_TRY(auto const got, store_.folder.files().read(s->file, 0, {to, size}));
            if (got != size) return store_.folder.damaged(s->number, got, "ends early");
            BOOST_OUTCOME_TRY(bool const go_on, see(*s, bytes));
            if (!go_on) break;
        }
        return indoubt::success();
    }

    /// Calls apply(entries, offset of the first) -> bool for each frame.
    template <class Apply> static void walk(log::log_buffer& bytes, Apply apply) {
        auto const mend = [](std::uint64_t, log::log_buffer const&) { return true; };
        (void)log::log_walk(bytes, header_of(bytes), apply, mend).go();
    }

    static log::log_header header_of(log::log_buffer const& bytes) {
        log::log_header h;
        if (log::take_header(bytes.data(), h) != log::header_is::whole)
            (void)log::take_header(bytes.data() + log::log_format::header_copy, h);
        return h;
    }

    /// Where the copy of a frame stands, if it is not whole.
    static std::optional<std::uint64_t> bad_copy_of(log::log_buffer const& bytes,
                                                    std::size_t frame) {
        using namespace log::log_format;
        auto const nonce = header_of(bytes).nonce;
        auto const f = *log::frame_at(bytes.view(frame, bytes.size() - frame), nonce);
        if (f.other == 0) return std::nullopt;
        std::size_t const second = frame + log::in_whole_sectors(f.size);
        if (second + f.size > bytes.size()) return second;
        auto const c = log::frame_at(bytes.view(second, bytes.size() - second), nonce);
        bool const whole =
            c && c->kind == copy && c->sequence == f.sequence && c->other == f.checksum &&
            log::is_intact(bytes.data() + second, *c, log::copy_seed(nonce, c->sequence));
        return whole ? std::nullopt : std::optional<std::uint64_t>(second);
    }

    /// Calls see(entry, place) -> result<bool> in the order in which they were written.
    template <class See> result<void> each_entry(See see) {
        return each_segment([&](segment& s, log::log_buffer& bytes) {
            result<bool> going = true;
            walk(bytes, [&](std::string_view entries, std::size_t offset) {
                while (!entries.empty() && going && going.value()) {
                    auto const left = entries.size();
                    auto const e = log::next_entry(entries);
                    if (!e) return false;
                    going = see(*e, log::place_of(s.number, offset));
                    offset += left - entries.size();
                }
                return going && going.value();
            });
            return going;
        });
    }

    read_only_files::file lock_;
    log::log_store<read_only_files> store_;
    log::log_replay<read_only_files> replay_{store_};
};

} // namespace journal_tool

#endif
