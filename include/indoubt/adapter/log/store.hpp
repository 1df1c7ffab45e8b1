// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef INDOUBT_ADAPTER_LOG_STORE_HPP
#define INDOUBT_ADAPTER_LOG_STORE_HPP

#include <indoubt/adapter/log/contents.hpp>
#include <indoubt/adapter/log/tail.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

// What an open log holds, and where it is found: on disk, in the frame that is being filled, or in
// memory. Without a lock of its own.

namespace indoubt::detail {

template <log_files Files> class log_store {
public:
    explicit log_store(log_folder<Files> f) : folder(std::move(f)) {}
    log_store(log_store const&) = delete;
    log_store& operator=(log_store const&) = delete;

    log_folder<Files> folder;
    log_tail<Files> tail{folder};
    log_contents contents{};
    std::unique_ptr<log_draft> draft = std::make_unique<log_draft>();

    // ---- the frame that is being written
    // ---------------------------------------------------------

    /// The draft becomes what is being written; a new one begins where that will end.
    /// Returns: it, and the place it is for.
    std::pair<log_draft*, log_link> launch(std::uint64_t number) {
        std::size_t const length = draft->room();
        draft->bytes().reserve(length); // whoever reads an entry meanwhile: it stays where it is
        std::swap(draft, flying_);
        flying_base_ = tail.base();
        flying_size_ = flying_->size(); // which grows while it is sealed
        return {flying_.get(), tail.take(number, length)};
    }
    /// It is on disk, or never will be.
    void landed() {
        flying_->clear();
        flying_size_ = 0;
    }

    // ---- what is changed
    // --------------------------------------------------------------------------

    template <class Put> log_place append(bool evidence, Put put) {
        std::size_t const from = draft->add(evidence, put);
        return place_of(tail.number(), tail.base() + from);
    }

    /// The record stands at `latest` from now on, and its intent at `whole`. known: where it stood
    /// before; 0: nowhere.
    void stands(log_digest const& d, log_place known, record const& r, log_place whole,
                log_place latest) {
        bool const was_live = log_contents::is_live(known);
        log_place to = latest;
        if (is_unsettled(r)) {
            if (was_live) {
                log_live& l = contents.live(known);
                auto intent = std::move(l.kept.intent); // which never changes
                l.kept = r;
                l.kept.intent = std::move(intent);
                l.whole = whole;
                return;
            }
            to = contents.keep(r, whole, d);
        } else if (!r.tombstone) {
            contents.settled().add(r.written_at, latest);
        }
        if (known == 0) {
            contents.index().insert(d, to);
        } else {
            contents.index().move(d, known, to);
            if (was_live) contents.drop(known);
        }
    }

    // ---- what is found
    // ----------------------------------------------------------------------------

    struct entry_read {
        log_format::entry kind;
        std::string payload;
    };

    /// Returns: 0 if the log holds no such operation.
    result<log_place> place_of_record(log_digest const& d, identity const& id) {
        std::optional<error> bad;
        log_place const place = contents.index().find(d, [&](log_place p) {
            if (log_contents::is_live(p)) return contents.live(p).kept.identity() == id;
            auto const whole = whole_of(p);
            auto const e = whole ? read(whole.value()) : result<entry_read>(whole.error());
            if (!e) bad = e.error();
            return e && e.value().kind == log_format::entry::whole &&
                   is_whole_of(e.value().payload, id);
        });
        if (bad) return std::move(*bad);
        return place;
    }

    /// Calls found(log_reader&), which reads scope and key, for the entry of a name.
    ///
    /// Returns: its place; 0 if nobody has the name.
    template <class Found>
    result<log_place> place_of_name(log_digest const& d, std::string_view name, Found found) {
        std::optional<error> bad;
        log_place const place = contents.index().find(d, [&](log_place p) {
            if (log_contents::is_live(p)) return false;
            auto const e = read(p);
            if (!e) bad = e.error();
            if (!e || e.value().kind != log_format::entry::name) return false;
            log_reader in(e.value().payload);
            if (in.text() != name) return false;
            found(in);
            return true;
        });
        if (bad) return std::move(*bad);
        return place;
    }

    /// The place of the record whose intent stands there; 0 if none does.
    result<log_place> place_of_intent(log_digest const& d, log_place whole) {
        std::optional<error> bad;
        log_place const place = contents.index().find(d, [&](log_place p) {
            auto const its = whole_of(p);
            if (!its) bad = its.error();
            return its && its.value() == whole;
        });
        if (bad) return std::move(*bad);
        return place;
    }

    /// The place of the intent of a record.
    result<log_place> whole_of(log_place p) {
        if (log_contents::is_live(p)) return contents.live(p).whole;
        BOOST_OUTCOME_TRY(auto const e, read(p));
        if (e.kind != log_format::entry::change) return p;
        auto const c = take_change(e.payload);
        return c ? c->whole : p;
    }

    /// Whose record the entry at a place is, which may have been overwritten.
    result<log_digest> digest_at(log_place p) {
        BOOST_OUTCOME_TRY(auto const e, read(p));
        if (e.kind == log_format::entry::whole) return log_digest_of(identity_of_whole(e.payload));
        auto const c = take_change(e.payload);
        if (e.kind != log_format::entry::change || !c) return unreadable(p);
        return c->digest;
    }

    result<record> load(log_place p) {
        if (log_contents::is_live(p)) return contents.live(p).kept;
        BOOST_OUTCOME_TRY(auto const e, read(p));
        record r;
        auto const c = e.kind == log_format::entry::change ? take_change(e.payload) : std::nullopt;
        if (!c) {
            if (take_whole(e.payload, r)) return r;
            return unreadable(p);
        }
        BOOST_OUTCOME_TRY(auto const whole, read(c->whole));
        record first;
        log_reader in(c->state);
        if (!take_whole(whole.payload, first) || !take_state(in, r)) return unreadable(p);
        r.intent = std::move(first.intent);
        r.operation = first.operation;
        return r;
    }

    error unreadable(log_place p) const {
        return folder.damaged(segment_of(p), offset_of(p), "has an entry that cannot be read");
    }

    /// The entry at a place, from memory while it is not on disk.
    result<entry_read> read(log_place p) {
        std::uint64_t const offset = offset_of(p);
        bool const here = segment_of(p) == tail.number();
        if (here && offset >= tail.base())
            return taken(draft->bytes(), draft->size(), offset - tail.base(), p);
        if (here && flying_size_ != 0 && offset >= flying_base_)
            return taken(flying_->bytes(), flying_size_, offset - flying_base_, p);
        auto* const s = tail.at(segment_of(p));
        if (s == nullptr) return unreadable(p);
        std::array<char, 512> first{};
        BOOST_OUTCOME_TRY(auto const got, folder.files().read(s->file, offset, first));
        if (got < log_entry_header) return unreadable(p);
        auto const length = std::size_t{::indoubt::detail::load<std::uint32_t>(first.data() + 1)};
        entry_read e{log_format::entry{static_cast<std::uint8_t>(first[0])}, std::string()};
        if (length > log_format::largest_segment) return unreadable(p);
        e.payload.resize(length);
        std::size_t const part = std::min(length, got - log_entry_header);
        std::copy_n(first.data() + log_entry_header, part, e.payload.data());
        if (part < length) {
            std::span<char> const rest(e.payload.data() + part, length - part);
            BOOST_OUTCOME_TRY(auto const more,
                              folder.files().read(s->file, offset + log_entry_header + part, rest));
            if (more != rest.size()) return unreadable(p);
        }
        return e;
    }

private:
    result<entry_read> taken(log_buffer const& b, std::size_t size, std::uint64_t from,
                             log_place p) const {
        if (from >= size) return unreadable(p);
        auto rest = b.view(static_cast<std::size_t>(from), size - static_cast<std::size_t>(from));
        auto const e = next_entry(rest);
        if (!e) return unreadable(p);
        return entry_read{e->kind, std::string(e->payload)};
    }

    std::unique_ptr<log_draft> flying_ = std::make_unique<log_draft>();
    std::uint64_t flying_base_ = 0; ///< where the frame begins that is being written
    std::size_t flying_size_ = 0;   ///< up to its last entry; 0: none is
};

} // namespace indoubt::detail

#endif
