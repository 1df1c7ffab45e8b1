// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef EXAMPLES_JOURNAL_TOOL_SALVAGE_LOG_HPP
#define EXAMPLES_JOURNAL_TOOL_SALVAGE_LOG_HPP

#include "log_journal.hpp"
#include "salvage.hpp"
#include "text.hpp"

#include <indoubt/adapter/sqlite/schema.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// The whole frames of a log, wherever they stand, and what they say together. Nothing is taken
// whose checksum does not hold.

namespace journal_tool {

/// The fields are named, and written, as the columns of a SQLite journal.
inline void put_state(json_object& o, indoubt::record const& r) {
    using indoubt::detail::word_of;
    auto const ms = [](indoubt::time_point t) { return t.time_since_epoch().count(); };
    auto const bits = [](std::uint64_t n) { return static_cast<std::int64_t>(n); };
    indoubt::case_notes const& notes = r.notes_or_none();
    o.number("version_epoch", r.version.epoch).number("version_counter", r.version.counter);
    o.text("state", word_of(r.state)).text("basis", word_of(r.basis));
    o.text("concern", word_of(r.concern)).number("reason", static_cast<std::uint8_t>(r.reason));
    o.text("came_from", word_of(r.came_from)).number("ever_confirmed", r.ever_confirmed);
    o.number("cancel_requested", r.cancel_requested).number("clean_up_due", r.clean_up_due);
    o.number("restored", r.restored).number("generation", r.generation);
    o.number("extra_attempts", r.extra_attempts).number("claim_epoch", r.claim.epoch);
    o.number("claim_holder", bits(r.claim.holder)).number("begun_at_ms", ms(r.begun_at));
    o.number("written_at_ms", ms(r.written_at));
    r.deadline == indoubt::time_point::max() ? o.raw("deadline_ms", "null")
                                             : o.number("deadline_ms", ms(r.deadline));
    o.number("confirmed_at_ms", ms(r.confirmed_at)).number("next_check_ms", ms(r.next_check));
    o.text("provider_key", r.provider_key).text("receipt", r.receipt).text("hints", notes.hints);
    o.text("target_id", notes.target_id).text("remarks", notes.remarks);
    o.text("review_owner", notes.owner).number("hook_due", r.hook_due);
    o.number("tombstone", r.tombstone);
    json_array attempts, decisions, former_keys, set_aside;
    for (auto const& a : r.attempts) {
        json_object one;
        one.number("sent_at_ms", ms(a.sent_at)).text("outcome", word_of(a.outcome));
        one.number("generation", a.generation).text("guarantee", word_of(a.guarantee.kind));
        a.guarantee.lasts == indoubt::milliseconds::max()
            ? one.raw("lasts_ms", "null")
            : one.number("lasts_ms", a.guarantee.lasts.count());
        one.number("arrives_within_ms", a.guarantee.arrives_within.count());
        attempts.add(one.number("domain", bits(a.guarantee.domain)).line());
    }
    for (auto const& d : notes.decisions) {
        json_object one;
        one.number("at_ms", ms(d.at)).text("what", d.what).text("who", d.who).text("why", d.why);
        decisions.add(one.text("id", d.id).line());
    }
    for (auto const& text : notes.former_keys)
        former_keys.add(json_object().text("text", text).line());
    for (auto const& text : notes.set_aside)
        set_aside.add(json_object().text("text", text).line());
    o.raw("attempts", attempts.line()).raw("decisions", decisions.line());
    o.raw("former_keys", former_keys.line()).raw("set_aside", set_aside.line());
}

class log_salvage {
public:
    log_salvage(std::string path, salvaged& to) : path_(std::move(path)), to_(to) {}

    /// Errors: journal_in_use, storage_failed if not even the folder can be read.
    result<void> go() {
        BOOST_OUTCOME_TRY(auto const lock, lock_log(path_));
        BOOST_OUTCOME_TRY(auto const names, read_only_files::list(path_));
        bool any = false;
        for (auto const& name : names) {
            std::uint64_t const number = folder::number_of(name);
            if (number == 0) continue;
            any = true;
            segment(number, path_ + "/" + name);
        }
        if (!any)
            return log::about_log_file(indoubt::rule::not_a_journal, path_, "holds no segment");
        for (auto const& [segment, what] : missing_)
            if (segment > retired_) to_.skipped.push_back(what);
        write_operations();
        for (auto const& [name, id] : names_) {
            json_object o;
            to_.name(o.text("name", name).text("scope", id.scope).text("key", id.key).line());
        }
        return indoubt::success();
    }

private:
    using folder = log::log_folder<read_only_files>;
    using digest = std::pair<std::uint64_t, std::uint64_t>;

    static digest digest_of(indoubt::identity const& id) {
        auto const d = log::log_digest_of(id);
        return {d.high, d.low};
    }

    /// In the order in which they began. Of one whose intent is lost, a name may tell whose it is.
    void write_operations() {
        std::map<digest, indoubt::identity> named;
        for (auto const& [name, id] : names_)
            named[digest_of(id)] = id;
        std::vector<std::pair<digest, indoubt::record const*>> all;
        for (auto const& [d, r] : operations_)
            all.emplace_back(d, &r);
        std::ranges::sort(
            all, {}, [](auto const& one) { return std::pair(one.second->operation, one.first); });
        for (auto const& [d, r] : all) {
            json_object o;
            if (r->intent) {
                auto const& [id, target, request, fingerprint, fingerprint_rule] = *r->intent;
                o.number("operation", static_cast<std::int64_t>(r->operation));
                o.text("scope", id.scope).text("key", id.key).text("target", target);
                o.text("request", request).text("fingerprint", fingerprint);
                o.text("fingerprint_rule", fingerprint_rule);
            } else if (auto const known = named.find(d); known != named.end()) {
                o.text("scope", known->second.scope).text("key", known->second.key);
            } else {
                o.number("digest_high", static_cast<std::int64_t>(d.first));
                o.number("digest_low", static_cast<std::int64_t>(d.second));
            }
            put_state(o, *r);
            to_.operation(o.line());
        }
    }

    void skip(std::string const& path, std::uint64_t offset, std::string_view what) {
        to_.skipped.push_back(path + " at offset " + std::to_string(offset) + ": " +
                              std::string(what));
    }

    // ---- frames ---------------------------------------------------------------------------------

    void segment(std::uint64_t number, std::string const& path) {
        log::log_buffer bytes;
        if (!read(path, bytes)) return;
        std::uint64_t nonce = 0; // not known
        log::log_header h;
        if (bytes.size() >= log::log_format::data && header_of(bytes, h)) {
            nonce = h.nonce;
            before_ = {h.before_sequence, h.checksum};
            if (!last_) last_ = h.before_sequence;
            if (h.came == log::log_format::origin::restored) mark_restored();
        } else if (!log::are_zeros(bytes.view(0, bytes.size()))) {
            before_ = {};
            skip(path, 0, "no whole header");
        }
        frames(number, path, bytes, nonce);
    }

    static bool header_of(log::log_buffer const& bytes, log::log_header& h) {
        using log::log_format::header_copy;
        return log::take_header(bytes.data(), h) == log::header_is::whole ||
               log::take_header(bytes.data() + header_copy, h) == log::header_is::whole;
    }

    /// The frame before, as far as its header can be read: what the next checksum goes on from.
    struct before {
        std::uint64_t sequence = 0;
        std::optional<std::uint64_t> checksum{};
    };

    void frames(std::uint64_t number, std::string const& path, log::log_buffer const& bytes,
                std::uint64_t nonce) {
        using namespace log::log_format;
        std::optional<std::size_t> bad; // where bytes begin that are no whole frame
        auto const say_bad = [&](std::size_t to) {
            if (bad) skip(path, *bad, std::to_string(to - *bad) + " bytes are in no whole frame");
            bad.reset();
        };
        std::size_t at = data;
        while (at + sector <= bytes.size()) {
            auto const rest = bytes.view(at, bytes.size() - at);
            char const* const here = rest.data();
            auto const own = log::load<std::uint64_t>(here + at_frame_nonce);
            auto const f = log::frame_at(rest, nonce != 0 ? nonce : own);
            bool const is_copy = f && f->kind == copy;
            bool whole = false;
            if (is_copy) {
                whole = log::is_intact(here, *f, log::copy_seed(own, f->sequence));
            } else if (f) {
                whole = before_.checksum && before_.sequence + 1 == f->sequence &&
                        log::is_intact(here, *f, *before_.checksum);
            }
            if (f && (!is_copy || whole)) before_ = {f->sequence, is_copy ? f->other : f->checksum};
            if (!whole) {
                if (!bad && !log::are_zeros(rest.substr(0, sector))) bad = at;
                at += sector;
                continue;
            }
            std::size_t const length = log::in_whole_sectors(f->size);
            // A copy stands where its frame ended.
            std::size_t const frame = is_copy && at >= data + length ? at - length : at;
            if (is_copy && bad == frame) {
                bad.reset();
                skip(path, frame, "not whole, or not to be checked: taken from its copy");
            }
            say_bad(at);
            if (last_ && f->sequence > *last_ + 1) {
                missing_.emplace_back(number, path + " before offset " + std::to_string(at) +
                                                  ": frames " + std::to_string(*last_ + 1) +
                                                  " to " + std::to_string(f->sequence - 1) +
                                                  " are missing");
            }
            if (!last_ || f->sequence > *last_) { // else it is the copy of one that was taken
                last_ = f->sequence;
                entries(path, frame, rest.substr(frame_header, f->size - frame_header));
            }
            at += length;
            // The next sectors are its copy, which says the same.
            if (!is_copy && f->other != 0) at += log::in_whole_sectors(f->other);
        }
        say_bad(bytes.size());
    }

    // ---- what they say --------------------------------------------------------------------------

    void entries(std::string const& path, std::size_t frame, std::string_view rest) {
        while (!rest.empty()) {
            auto const e = log::next_entry(rest);
            if (!e || !take(*e)) {
                skip(path, frame, "a frame with an entry that cannot be read");
                if (!e) return;
            }
        }
    }

    bool take(log::log_entry const& e) {
        log::log_reader in(e.payload);
        switch (e.kind) {
        case log::log_format::entry::whole: {
            indoubt::record r;
            if (!log::take_whole(e.payload, r)) return false;
            auto& known = operations_[digest_of(r.identity())];
            known = std::move(r);
            return true;
        }
        case log::log_format::entry::change: {
            auto const c = log::take_change(e.payload);
            indoubt::record r;
            if (!c) return false;
            log::log_reader state(c->state);
            if (!log::take_state(state, r)) return false;
            auto& known = operations_[{c->digest.high, c->digest.low}];
            r.intent = known.intent;
            r.operation = known.operation;
            known = std::move(r);
            return true;
        }
        case log::log_format::entry::name: {
            std::string name(in.text()), scope(in.text());
            names_[std::move(name)] = {std::move(scope), std::string(in.text())};
            return in.good();
        }
        case log::log_format::entry::retired:
            retired_ = std::max(retired_, in.fixed());
            return in.good();
        }
        return false;
    }

    void mark_restored() {
        for (auto& [d, r] : operations_)
            if (indoubt::may_have_gone_on(r)) r.restored = true;
    }

    /// All of a segment; what the disk does not give is zeros. Returns: false if nothing is there.
    bool read(std::string const& path, log::log_buffer& bytes) {
        auto opened = read_only_files::open(path);
        auto const size =
            opened ? read_only_files::size(opened.value()) : result<std::uint64_t>(opened.error());
        if (!size) {
            to_.skipped.push_back(std::string(size.error().detail()));
            return false;
        }
        auto const length = static_cast<std::size_t>(
            std::min<std::uint64_t>(size.value(), log::log_format::largest_segment));
        std::memset(bytes.add(length), 0, length);
        constexpr std::size_t piece = 4096;
        for (std::size_t at = 0; at < length; at += piece) {
            std::span<char> const into(bytes.data() + at, std::min(piece, length - at));
            if (!read_only_files::read(opened.value(), at, into)) skip(path, at, "cannot be read");
        }
        return true;
    }

    std::string path_;
    salvaged& to_;
    before before_{};
    std::optional<std::uint64_t> last_{}; ///< sequence of the last frame that was taken
    std::uint64_t retired_ = 0;
    std::vector<std::pair<std::uint64_t, std::string>> missing_{}; ///< segment, and what
    std::map<digest, indoubt::record> operations_{}; ///< without intent if that was not found
    std::map<std::string, indoubt::identity> names_{};
};

} // namespace journal_tool

#endif
