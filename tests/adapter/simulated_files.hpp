// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#ifndef INDOUBT_TESTS_ADAPTER_SIMULATED_FILES_HPP
#define INDOUBT_TESTS_ADAPTER_SIMULATED_FILES_HPP

#include <indoubt/adapter/log/files.hpp>
#include <indoubt/testing/seeded_random.hpp>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

// A disk in memory, with what a real one has between a write and its sync: it can lose its power,
// fail at any step, run full, and forget or alter what it holds. The same calls and seeds give the
// same bytes.

namespace indoubt::tests {

/// Paths begin at its top folder, which is always there: "/journal/00000001.log". It outlives the
/// files that are open on it.
class simulated_disk {
public:
    static constexpr std::size_t sector = 512;

    /// The seed decides how much of a failing step is done.
    explicit simulated_disk(std::uint64_t seed = 1) : random_(seed), top_(new_node(true)) {}
    simulated_disk(simulated_disk const&) = delete;
    simulated_disk& operator=(simulated_disk const&) = delete;

    // Steps are the calls that change something: create, write, sync, write_durably, rename,
    // remove, sync_folder, make_folder. The first is step 1. All other calls are counted as looks.

    std::uint64_t steps() const {
        return locked([&] { return steps_.count; });
    }
    std::uint64_t looks() const {
        return locked([&] { return looks_.count; });
    }

    /// This step fails with this errno, and so do the later ones up to `last`. What a failing step
    /// was about may be done, in part, or not.
    void fail(std::uint64_t first, std::uint64_t last = UINT64_MAX, int cause = EIO) {
        locked([&] { steps_.fail(first, last, cause); });
    }
    void fail_once(std::uint64_t step, int cause = EIO) { fail(step, step, cause); }
    /// The same for looks.
    void fail_looks(std::uint64_t first, std::uint64_t last = UINT64_MAX, int cause = EIO) {
        locked([&] { looks_.fail(first, last, cause); });
    }
    void work_again() {
        locked([&] {
            steps_.fail(UINT64_MAX, UINT64_MAX, 0);
            looks_.fail(UINT64_MAX, UINT64_MAX, 0);
        });
    }

    /// The power goes in the middle of this step: it and everything later fails until
    /// power_cut(), which decides what is left of it.
    void lose_power_at(std::uint64_t step) {
        locked([&] { dark_from_ = step; });
    }

    /// What is durable stays. Of everything else any part is kept, lost or garbled, as the seed
    /// says: sectors in any order, sizes, entries of folders. Then the disk works again, without
    /// any of the failures that were asked for; files that were open before are no more.
    void power_cut(std::uint64_t seed) {
        locked([&] {
            testing::seeded_random random(seed);
            settle_folders(random);
            std::set<node*> settled;
            settle(*top_, random, settled);
            start_again();
        });
    }

    /// The process dies: what was written is seen by the next one, and is as durable as it was.
    /// The disk works again as after power_cut().
    void crash() {
        locked([&] { start_again(); });
    }

    /// So many bytes have room in files with a name, rounded up to sectors.
    void set_capacity(std::uint64_t bytes) {
        locked([&] { capacity_ = bytes; });
    }
    std::uint64_t used() const {
        return locked([&] { return bytes_in(*top_); });
    }

    /// A file system that renames in two steps: a power cut may leave both names.
    void let_renames_leave_both_names() {
        locked([&] { renames_in_two_steps_ = true; });
    }

    // What happens behind the back of whoever uses the disk. The file must be there.

    /// Turns one bit around, for good; bit 0 is the lowest of the byte.
    void flip(std::string const& path, std::uint64_t byte, unsigned bit = 0) {
        locked([&] {
            node& n = *find(path);
            auto const at = static_cast<std::size_t>(byte);
            for (std::string* bytes : {&n.seen, &n.durable})
                if (at < bytes->size())
                    (*bytes)[at] = static_cast<char>(static_cast<unsigned char>((*bytes)[at]) ^
                                                     (1U << (bit & 7U)));
        });
    }
    /// Reads of the sector with this byte fail until it is written again.
    void make_unreadable(std::string const& path, std::uint64_t byte) {
        locked([&] { find(path)->unreadable.insert(static_cast<std::size_t>(byte / sector)); });
    }
    std::string bytes(std::string const& path) const {
        return locked([&] {
            node const& n = *find(path);
            return n.seen.substr(0, static_cast<std::size_t>(n.size));
        });
    }
    /// The file holds these bytes now, and durably. It is made where it is not there: a copy of
    /// another one then has marks of its own.
    void put(std::string const& path, std::string_view bytes) {
        locked([&] {
            node_ptr n = find(path);
            if (!n) {
                n = new_node(false);
                auto const [folder, name] = place_of(path);
                folder->entries[name] = folder->durable_entries[name] = n;
            }
            n->seen = bytes;
            n->seen.resize(sectors(bytes.size()) * sector);
            n->durable = n->seen;
            n->size = n->durable_size = bytes.size();
            n->states.assign(sectors(bytes.size()), state::clean);
            n->older.clear();
            n->unreadable.clear();
        });
    }
    bool has(std::string const& path) const {
        return locked([&] { return find(path) != nullptr; });
    }

private:
    friend class simulated_files;

    enum class state : unsigned char {
        clean,     ///< durable
        dirty,     ///< the next sync makes it durable
        forgotten, ///< a sync of it failed: none will, until it is written again
    };
    enum class fate {
        done,
        failed,
        cut_off,  ///< the power goes in the middle of it
        no_power, ///< nothing happens
    };

    struct node;
    using node_ptr = std::shared_ptr<node>;
    using entry_map = std::map<std::string, node_ptr>;

    /// A file or a folder.
    struct node {
        std::uint64_t number = 0;
        bool is_folder = false;
        unsigned names = 1;
        // a folder
        entry_map entries, durable_entries;
        // a file; whole sectors
        std::string seen, durable;
        std::uint64_t size = 0, durable_size = 0;
        std::vector<state> states; ///< of the sectors that are seen
        /// What else sectors that are not clean may hold: what was written, and then overwritten.
        std::map<std::size_t, std::vector<std::string>> older;
        std::set<std::size_t> unreadable;
        std::uint64_t owner = 0, owner_life = 0; ///< of its lock
    };

    /// A place in a folder.
    struct place {
        node_ptr folder;
        std::string name;
        friend bool operator<(place const& a, place const& b) {
            return std::pair(a.folder.get(), std::string_view(a.name)) <
                   std::pair(b.folder.get(), std::string_view(b.name));
        }
    };
    /// A change of folders that is not durable: a create has no `from`, a remove no `to`.
    struct renaming {
        node_ptr what;
        std::optional<place> from, to;
        bool forgotten = false;

        place const& home() const { return to ? *to : *from; }
        bool touches(std::set<place> const& places) const {
            return (from && places.contains(*from)) || (to && places.contains(*to));
        }
        void add_places(std::set<place>& places) const {
            if (from) places.insert(*from);
            if (to) places.insert(*to);
        }
        void apply(entry_map node::* of, bool and_leave = true) const {
            if (to) ((*to->folder).*of)[to->name] = what;
            if (!from || !and_leave) return;
            entry_map& e = (*from->folder).*of;
            if (auto const at = e.find(from->name); at != e.end() && at->second == what)
                e.erase(at);
        }
    };

    struct counted {
        std::uint64_t count = 0, first = UINT64_MAX, last = UINT64_MAX;
        int cause = 0;

        void fail(std::uint64_t from, std::uint64_t to, int with) {
            first = from;
            last = to;
            cause = with;
        }
        /// Returns: true if it fails.
        bool next() {
            ++count;
            return count >= first && count <= last;
        }
    };

    template <class Body> std::invoke_result_t<Body> locked(Body body) const {
        std::scoped_lock lock(mutex_);
        return body();
    }

    static std::size_t sectors(std::uint64_t bytes) {
        return static_cast<std::size_t>((bytes + sector - 1) / sector);
    }

    node_ptr new_node(bool is_folder) {
        auto n = std::make_shared<node>();
        n->number = ++nodes_;
        n->is_folder = is_folder;
        return n;
    }

    /// Returns: nothing if it is not there.
    node_ptr find(std::string_view path) const {
        node_ptr at = top_;
        while (at && !path.empty()) {
            auto const slash = std::min(path.find('/'), path.size());
            std::string const name(path.substr(0, slash));
            path.remove_prefix(std::min(slash + 1, path.size()));
            if (name.empty() || name == ".") continue;
            auto const found = at->entries.find(name);
            at = found == at->entries.end() ? nullptr : found->second;
        }
        return at;
    }
    place place_of(std::string_view path) const {
        while (path.size() > 1 && path.back() == '/')
            path.remove_suffix(1);
        auto const slash = path.rfind('/');
        if (slash == std::string_view::npos) return {top_, std::string(path)};
        node_ptr folder = find(path.substr(0, slash));
        if (folder && !folder->is_folder) folder = nullptr;
        return {std::move(folder), std::string(path.substr(slash + 1))};
    }

    static std::uint64_t bytes_in(node const& n) {
        std::uint64_t sum = sectors(n.size) * sector;
        for (auto const& entry : n.entries)
            sum += bytes_in(*entry.second);
        return sum;
    }

    /// Counts a step.
    fate step() {
        if (dark_) return fate::no_power;
        bool const fails = steps_.next();
        dark_ = steps_.count == dark_from_;
        return dark_ ? fate::cut_off : fails ? fate::failed : fate::done;
    }
    bool look_fails() { return dark_ || looks_.next(); }
    int step_cause() const { return dark_ ? EIO : steps_.cause; }
    int look_cause() const { return dark_ ? EIO : looks_.cause; }

    /// Whether a call that begins with power has an effect.
    bool takes_place(fate f) { return f != fate::failed || random_.chance(0.5); }

    void rename_entry(renaming r) {
        r.apply(&node::entries);
        renamings_.push_back(std::move(r));
    }

    /// Writes what has room, or of a failing write any part of that. Returns: whether all of it
    /// had room.
    bool put_bytes(node& n, std::uint64_t offset, std::span<char const> bytes, fate f, state as) {
        std::uint64_t const before = sectors(n.size) * sector;
        bool fits = true;
        if (offset + bytes.size() > before) {
            std::uint64_t const used = bytes_in(*top_);
            std::uint64_t const room = capacity_ > used ? (capacity_ - used) / sector * sector : 0;
            std::uint64_t const end = before + std::min(room, UINT64_MAX - before);
            fits = offset + bytes.size() <= end;
            if (!fits) {
                bytes = bytes.first(static_cast<std::size_t>(offset < end ? end - offset : 0));
            }
        }
        while (!bytes.empty()) {
            auto const s = static_cast<std::size_t>(offset / sector);
            auto const within = static_cast<std::size_t>(offset % sector);
            auto const piece = bytes.first(std::min(sector - within, bytes.size()));
            if (f != fate::failed || random_.chance(0.5)) {
                reach(n, offset + piece.size());
                auto const start = n.seen.begin() + static_cast<std::ptrdiff_t>(s * sector);
                if (n.states[s] != state::clean) remember(n, s);
                std::ranges::copy(piece, start + static_cast<std::ptrdiff_t>(within));
                n.states[s] = as;
                n.unreadable.erase(s);
            }
            bytes = bytes.subspan(piece.size());
            offset += piece.size();
        }
        return fits;
    }

    static void reach(node& n, std::uint64_t size) {
        n.size = std::max(n.size, size);
        n.seen.resize(sectors(n.size) * sector);
        n.states.resize(sectors(n.size), state::clean);
    }

    static void remember(node& n, std::size_t s) {
        constexpr std::size_t most = 8; // enough to choose from
        auto& all = n.older[s];
        if (all.size() == most) all.erase(all.begin());
        all.push_back(n.seen.substr(s * sector, sector));
    }

    static void make_durable(node& n, std::size_t s) {
        if (n.durable.size() < (s + 1) * sector) n.durable.resize((s + 1) * sector);
        n.durable.replace(s * sector, sector, n.seen, s * sector, sector);
        n.durable_size =
            std::max(n.durable_size, std::min<std::uint64_t>(n.size, (s + 1) * sector));
        n.states[s] = state::clean;
        n.older.erase(s);
    }

    void sync_bytes(node& n, fate f) {
        if (f == fate::cut_off) return;
        for (std::size_t s = 0; s < n.states.size(); ++s) {
            if (n.states[s] != state::dirty) continue;
            if (f == fate::done || random_.chance(0.5)) {
                make_durable(n, s);
            } else {
                n.states[s] = state::forgotten;
            }
        }
    }

    void sync_entries(node const& folder, fate f) {
        if (f == fate::cut_off) return;
        // With a change goes every earlier one of the same places.
        std::set<place> places;
        std::vector<bool> goes(renamings_.size());
        for (std::size_t i = renamings_.size(); i-- > 0;) {
            renaming& r = renamings_[i];
            bool const asked = r.home().folder.get() == &folder && !r.forgotten;
            if (asked && f == fate::failed) r.forgotten = random_.chance(0.5);
            goes[i] = (asked && !r.forgotten) || r.touches(places);
            if (goes[i]) r.add_places(places);
        }
        std::vector<renaming> left;
        for (std::size_t i = 0; i < goes.size(); ++i) {
            if (goes[i]) {
                renamings_[i].apply(&node::durable_entries);
            } else {
                left.push_back(std::move(renamings_[i]));
            }
        }
        renamings_ = std::move(left);
    }

    /// From none of it over some of it to all of it.
    static double any_share(testing::seeded_random& random) {
        constexpr double shares[] = {0, 0.1, 0.5, 0.9, 1};
        return shares[random.below(std::size(shares))];
    }

    void settle_folders(testing::seeded_random& random) {
        double const kept = any_share(random);
        std::set<place> lost;
        for (renaming const& r : renamings_) {
            if (r.touches(lost) || !random.chance(kept)) {
                r.add_places(lost);
                continue;
            }
            bool const half = renames_in_two_steps_ && r.from && r.to && random.chance(0.5);
            r.apply(&node::durable_entries, !half);
        }
        renamings_.clear();
    }

    void settle(node& n, testing::seeded_random& random, std::set<node*>& settled) {
        if (!settled.insert(&n).second) return;
        n.names = 0; // counted by whoever has an entry for it
        if (n.is_folder) {
            n.entries = n.durable_entries;
            for (auto const& entry : n.entries) {
                settle(*entry.second, random, settled);
                ++entry.second->names;
            }
            return;
        }
        double const kept = any_share(random);
        double const garbled = random.chance(0.5) ? 0 : 0.3;
        n.durable.resize(n.seen.size());
        for (std::size_t s = 0; s < n.states.size(); ++s) {
            if (n.states[s] == state::clean || !random.chance(kept)) continue;
            std::string left = any_version(n, s, random);
            if (random.chance(garbled)) garble(left, n.durable, s * sector, random);
            n.durable.replace(s * sector, sector, left);
        }
        if (n.durable_size < n.size && random.chance(kept)) {
            n.durable_size = n.size;
        } else if (random.chance(0.3)) {
            n.durable_size += random.below((n.size - n.durable_size) / sector + 1) * sector;
        }
        n.size = n.durable_size;
        n.durable.resize(static_cast<std::size_t>(n.size)); // nothing comes back behind the end
        n.durable.resize(sectors(n.size) * sector);
        n.seen = n.durable;
        n.states.assign(sectors(n.size), state::clean);
        n.older.clear();
        std::erase_if(n.unreadable, [&](std::size_t s) { return s >= n.states.size(); });
    }

    static std::string any_version(node const& n, std::size_t s, testing::seeded_random& random) {
        if (auto const found = n.older.find(s); found != n.older.end() && random.chance(0.3))
            return found->second[random.below(found->second.size())];
        return n.seen.substr(s * sector, sector);
    }

    static void garble(std::string& bytes, std::string const& old, std::size_t old_at,
                       testing::seeded_random& random) {
        switch (random.below(3)) {
        case 0: std::ranges::fill(bytes, '\0'); break;
        case 1: { // the write ended within the sector
            auto const end = static_cast<std::size_t>(random.below(bytes.size()));
            bytes.replace(end, bytes.size() - end, old, old_at + end, bytes.size() - end);
            break;
        }
        default:
            for (char& c : bytes)
                c = static_cast<char>(random.next() & 0xffU);
        }
    }

    void start_again() {
        ++life_;
        dark_ = false;
        dark_from_ = 0;
        steps_.fail(UINT64_MAX, UINT64_MAX, 0);
        looks_.fail(UINT64_MAX, UINT64_MAX, 0);
    }

    mutable std::mutex mutex_;
    testing::seeded_random random_;
    std::uint64_t nodes_ = 0, handles_ = 0;
    std::uint64_t life_ = 1; ///< begins with each crash or power cut
    node_ptr top_;
    std::vector<renaming> renamings_; ///< in the order in which they were made
    counted steps_, looks_;
    std::uint64_t dark_from_ = 0;
    bool dark_ = false; ///< without power
    bool renames_in_two_steps_ = false;
    std::uint64_t capacity_ = UINT64_MAX;
};

/// The file policy of a log, on such a disk.
class simulated_files {
    using disk = simulated_disk;
    using fate = disk::fate;

public:
    explicit simulated_files(simulated_disk& disk) : disk_(&disk) {}

    class file {
    public:
        file() = default;
        file(file&& o) noexcept
            : disk_(o.disk_), node_(std::move(o.node_)), path_(std::move(o.path_)), id_(o.id_),
              life_(o.life_) {}
        file& operator=(file&& o) noexcept {
            std::swap(disk_, o.disk_);
            std::swap(node_, o.node_);
            std::swap(path_, o.path_);
            std::swap(id_, o.id_);
            std::swap(life_, o.life_);
            return *this;
        }
        ~file() {
            if (!node_) return;
            std::scoped_lock lock(disk_->mutex_);
            if (node_->owner == id_) node_->owner = 0;
        }
        explicit operator bool() const { return node_ != nullptr; }

    private:
        friend simulated_files;
        file(simulated_disk& disk, simulated_disk::node_ptr node, std::string path)
            : disk_(&disk), node_(std::move(node)), path_(std::move(path)), id_(++disk.handles_),
              life_(disk.life_) {}

        simulated_disk* disk_ = nullptr;
        simulated_disk::node_ptr node_;
        std::string path_;
        std::uint64_t id_ = 0, life_ = 0;
    };

    result<file> create(std::string const& path) { return make(path, false); }

    result<file> open(std::string const& path) {
        std::scoped_lock lock(disk_->mutex_);
        if (disk_->look_fails()) return failed(path, "cannot be opened", disk_->look_cause());
        auto node = disk_->find(path);
        if (!node) return about(rule::journal_missing, path, "is missing");
        if (node->is_folder) return about(rule::not_a_journal, path, "is not a regular file");
        if (node->names != 1)
            return about(rule::not_a_journal, path, "has a second name (a hard link)");
        return file(*disk_, std::move(node), path);
    }

    result<bool> lock(file& f) {
        std::scoped_lock lock(disk_->mutex_);
        BOOST_OUTCOME_TRY(look_at(f));
        auto& node = *f.node_;
        if (node.owner != 0 && node.owner_life == disk_->life_) return node.owner == f.id_;
        node.owner = f.id_;
        node.owner_life = disk_->life_;
        return true;
    }

    result<std::uint64_t> size(file& f) {
        std::scoped_lock lock(disk_->mutex_);
        BOOST_OUTCOME_TRY(look_at(f));
        return f.node_->size;
    }

    result<detail::log_file_marks> marks(file& f) {
        std::scoped_lock lock(disk_->mutex_);
        BOOST_OUTCOME_TRY(look_at(f));
        auto const number = f.node_->number;
        return detail::log_file_marks{number, 1, static_cast<std::int64_t>(number)};
    }

    result<std::size_t> read(file& f, std::uint64_t offset, std::span<char> into) {
        std::scoped_lock lock(disk_->mutex_);
        BOOST_OUTCOME_TRY(look_at(f));
        auto const& node = *f.node_;
        if (offset >= node.size || into.empty()) return std::size_t{0};
        auto const length =
            static_cast<std::size_t>(std::min<std::uint64_t>(into.size(), node.size - offset));
        auto const bad =
            node.unreadable.lower_bound(static_cast<std::size_t>(offset / disk::sector));
        if (bad != node.unreadable.end() && *bad < disk::sectors(offset + length))
            return failed(f.path_, "cannot be read", EIO);
        std::ranges::copy(
            std::string_view(node.seen).substr(static_cast<std::size_t>(offset), length),
            into.begin());
        return length;
    }

    result<void> write(file& f, std::uint64_t offset, std::span<char const> bytes) {
        std::scoped_lock lock(disk_->mutex_);
        BOOST_OUTCOME_TRY(auto const how, begin(f));
        if (!disk_->put_bytes(*f.node_, offset, bytes, how, disk::state::dirty))
            return failed(f.path_, "cannot be written", ENOSPC);
        return end(how, f.path_, "cannot be written");
    }

    result<void> sync(file& f) {
        std::scoped_lock lock(disk_->mutex_);
        BOOST_OUTCOME_TRY(auto const how, begin(f));
        disk_->sync_bytes(*f.node_, how);
        return end(how, f.path_, "cannot be made durable");
    }

    result<void> write_durably(file& f, std::uint64_t offset, std::span<char const> bytes) {
        std::scoped_lock lock(disk_->mutex_);
        BOOST_OUTCOME_TRY(auto const how, begin(f));
        if (offset % disk::sector != 0 || bytes.size() % disk::sector != 0 ||
            reinterpret_cast<std::uintptr_t>(bytes.data()) % 4096 != 0) {
            return failed(f.path_, "was given bytes that are not aligned", EINVAL);
        }
        auto& node = *f.node_;
        if (!disk_->put_bytes(node, offset, bytes, how, disk::state::forgotten))
            return failed(f.path_, "cannot be written", ENOSPC);
        if (how == fate::done) {
            auto const first = static_cast<std::size_t>(offset / disk::sector);
            for (std::size_t s = first; s < first + bytes.size() / disk::sector; ++s)
                disk::make_durable(node, s);
        }
        return end(how, f.path_, "cannot be written");
    }

    result<void> rename(std::string const& from, std::string const& to) {
        std::scoped_lock lock(disk_->mutex_);
        fate const how = disk_->step();
        if (how == fate::no_power) return failed(from, "cannot be renamed", EIO);
        auto const node = disk_->find(from);
        auto target = disk_->place_of(to);
        if (!node || !target.folder) return failed(from, "cannot be renamed", ENOENT);
        if (target.folder->entries.contains(target.name))
            return about(rule::journal_exists, to, "exists");
        if (disk_->takes_place(how))
            disk_->rename_entry({node, disk_->place_of(from), std::move(target)});
        return end(how, from, "cannot be renamed");
    }

    result<void> remove(std::string const& path) {
        std::scoped_lock lock(disk_->mutex_);
        fate const how = disk_->step();
        if (how == fate::no_power) return failed(path, "cannot be removed", EIO);
        auto const node = disk_->find(path);
        if (!node) return about(rule::journal_missing, path, "is missing");
        if (node->is_folder) return failed(path, "cannot be removed", EISDIR);
        if (disk_->takes_place(how)) {
            disk_->rename_entry({node, disk_->place_of(path), std::nullopt});
            --node->names;
        }
        return end(how, path, "cannot be removed");
    }

    result<void> sync_folder(std::string const& path) {
        std::scoped_lock lock(disk_->mutex_);
        fate const how = disk_->step();
        if (how == fate::no_power) return failed(path, "cannot be made durable", EIO);
        auto const folder = disk_->find(path);
        if (!folder) return about(rule::journal_missing, path, "is missing");
        if (!folder->is_folder) return about(rule::not_a_journal, path, "is not a folder");
        disk_->sync_entries(*folder, how);
        return end(how, path, "cannot be made durable");
    }

    result<std::vector<std::string>> list(std::string const& path) {
        std::scoped_lock lock(disk_->mutex_);
        if (disk_->look_fails()) return failed(path, "cannot be read", disk_->look_cause());
        auto const folder = disk_->find(path);
        if (!folder) return about(rule::journal_missing, path, "is missing");
        if (!folder->is_folder) return about(rule::not_a_journal, path, "is not a folder");
        std::vector<std::string> names;
        for (auto const& entry : folder->entries)
            names.push_back(entry.first);
        return names;
    }

    result<void> make_folder(std::string const& path) {
        BOOST_OUTCOME_TRY(make(path, true));
        return success();
    }

private:
    static error about(rule why, std::string_view path, std::string_view what) {
        return detail::about_log_file(why, path, what);
    }
    static error failed(std::string_view path, std::string_view what, int cause) {
        return detail::about_log_file(rule::storage_failed, path, what, cause);
    }

    /// A file that was opened before the last crash or power cut is of no use.
    static result<void> alive(file const& f) {
        if (f.node_ && f.life_ == f.disk_->life_) return success();
        return failed(f.path_, "is not open", EBADF);
    }
    result<void> look_at(file const& f) {
        BOOST_OUTCOME_TRY(alive(f));
        if (disk_->look_fails()) return failed(f.path_, "cannot be read", disk_->look_cause());
        return success();
    }
    /// Errors: there is no power, or the file is not open: nothing may be done.
    result<fate> begin(file const& f) {
        BOOST_OUTCOME_TRY(alive(f));
        fate const how = disk_->step();
        if (how == fate::no_power) return failed(f.path_, "cannot be reached", EIO);
        return how;
    }
    result<void> end(fate how, std::string_view path, std::string_view what) {
        if (how == fate::done) return success();
        return failed(path, what, disk_->step_cause());
    }

    result<file> make(std::string const& path, bool is_folder) {
        std::scoped_lock lock(disk_->mutex_);
        fate const how = disk_->step();
        if (how == fate::no_power) return failed(path, "cannot be created", EIO);
        auto place = disk_->place_of(path);
        if (!place.folder) return failed(path, "cannot be created", ENOENT);
        if (place.name.empty() || place.folder->entries.contains(place.name))
            return about(rule::journal_exists, path, "exists");
        auto node = disk_->new_node(is_folder);
        if (disk_->takes_place(how)) disk_->rename_entry({node, std::nullopt, std::move(place)});
        BOOST_OUTCOME_TRY(end(how, path, "cannot be created"));
        return file(*disk_, std::move(node), path);
    }

    simulated_disk* disk_;
};

static_assert(detail::log_files<simulated_files>);

/// Small segments, each of them made when it is needed: every step has its number.
struct few_bytes : simulated_files {
    using simulated_files::simulated_files;
    static constexpr std::size_t smallest_segment = std::size_t{20} << 10;
    static constexpr bool makes_nothing_ahead = true;
};

} // namespace indoubt::tests

#endif
