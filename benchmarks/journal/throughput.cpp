// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)

// How many operations a second end up durable, beside what the disk and the machine allow and
// beside peers. Each round runs every candidate once, those with the same load right after each
// other and in an order that is drawn anew: what is compared is a ratio within a round, so that a
// machine that is slower for a while is slower for all of them.
//
// JOURNAL_ROUNDS: how many. JOURNAL_SLICE_MS: how long each candidate works in each.

#include "bounds.hpp"
#include "own.hpp"
#include "peers.hpp"
#include "replay.hpp"

#include <indoubt/adapter/log_storage.hpp>

#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <sys/utsname.h>
#include <sys/vfs.h>
#include <vector>

namespace {

using namespace bench;

struct entry {
    std::string name;
    std::function<std::unique_ptr<candidate>()> make;
};

/// Those that are compared under every load.
std::vector<entry> everywhere() {
    using indoubt::log_storage;
    std::vector<entry> all{
        {"indoubt", [] { return make_own<log_storage, proving_provider>("indoubt"); }},
        {"indoubt_early", [] { return make_own<log_storage, asked_provider>("indoubt_early"); }},
        {"ref", [] { return std::make_unique<reference>(); }},
        {"sqlite", [] { return std::make_unique<sqlite_peer>("sqlite.db"); }},
        {"sqlite_synced", [] { return std::make_unique<sqlite_peer>("synced.db", true); }},
    };
#ifdef JOURNAL_LEVELDB
    all.push_back(
        {"leveldb", [] { return std::make_unique<leveldb_peer>("leveldb", leveldb::Options()); }});
#endif
#ifdef JOURNAL_ROCKSDB
    all.push_back(
        {"rocksdb", [] { return std::make_unique<rocksdb_peer>("rocksdb", rocksdb::Options()); }});
#endif
#ifdef JOURNAL_LMDB
    all.push_back({"lmdb", [] { return std::make_unique<lmdb_peer>("lmdb.db"); }});
#endif
    return all;
}

/// sqlite_storage, and its statements without it.
void add_sqlite_pair(std::vector<entry>& to, unsigned batch) {
    std::string const suffix = std::to_string(batch) + ".db";
    to.push_back({"sqlite_storage", [suffix] {
                      return make_own<indoubt::sqlite_storage, proving_provider>("own" + suffix);
                  }});
    to.push_back(
        {"raw_sqlite", [=] { return std::make_unique<raw_sqlite>("raw" + suffix, batch); }});
}

struct group {
    load with;
    std::string suffix;
    std::vector<entry> entries;
};

std::vector<group> groups() {
    std::chrono::milliseconds const slice(number_from_environment("JOURNAL_SLICE_MS", 100));
    std::vector<group> all;
    for (unsigned const threads : {1U, 8U, 32U, 128U}) {
        group g{{threads, 1, slice}, "/threads:" + std::to_string(threads), everywhere()};
        if (threads == 1) {
            g.entries.push_back({"seed", [] { return std::make_unique<seed>(); }});
            add_sqlite_pair(g.entries, 1);
        }
        if (threads == 128)
            g.entries.push_back({"futex", [] { return std::make_unique<wake_up>(); }});
        all.push_back(std::move(g));
    }
    for (unsigned const batch : {32U, 128U, 1024U}) {
        group g{{1, batch, slice}, "/batch:" + std::to_string(batch), everywhere()};
        std::erase_if(g.entries, [](entry const& e) { return e.name == "sqlite_synced"; });
        if (batch == 128) add_sqlite_pair(g.entries, batch);
        all.push_back(std::move(g));
    }
    return all;
}

class candidates {
public:
    /// The same one every time. A new one works a little before it is measured.
    candidate& get(entry const& e, load const& with) {
        bool const is_of_a_batch = e.name == "sqlite_storage" || e.name == "raw_sqlite";
        auto& there = all_[e.name + (is_of_a_batch ? std::to_string(with.batch) : "")];
        if (!there) {
            there = e.make();
            load warm_up = with;
            warm_up.lasts = std::max(warm_up.lasts / 4, std::chrono::milliseconds(1));
            there->run(warm_up);
        }
        return *there;
    }
    void clear() { all_.clear(); }

private:
    std::map<std::string, std::unique_ptr<candidate>> all_;
};

void describe_machine() {
    utsname u{};
    if (::uname(&u) == 0) benchmark::AddCustomContext("kernel", u.release);
    constexpr decltype(statfs::f_type) tmpfs = 0x01021994;
    struct statfs s{};
    if (::statfs(data_folder::path().c_str(), &s) == 0 && s.f_type == tmpfs)
        benchmark::AddCustomContext("warning", "the data is on tmpfs: there is no disk in it");
    benchmark::AddCustomContext("compiler", __VERSION__);
    benchmark::AddCustomContext("sqlite", sqlite3_libversion());
#ifdef JOURNAL_LEVELDB
    benchmark::AddCustomContext("leveldb", std::to_string(leveldb::kMajorVersion) + '.' +
                                               std::to_string(leveldb::kMinorVersion));
#endif
#ifdef JOURNAL_ROCKSDB
    benchmark::AddCustomContext("rocksdb", rocksdb::GetRocksVersionAsString());
#endif
#ifdef JOURNAL_LMDB
    benchmark::AddCustomContext("lmdb", mdb_version(nullptr, nullptr, nullptr));
#endif
}

} // namespace

int main(int argc, char** argv) {
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
    describe_machine();
    candidates made;
    auto all = groups();
    std::minstd_rand random(std::random_device{}());
    std::uint64_t const rounds = number_from_environment("JOURNAL_ROUNDS", 7);
    for (std::uint64_t round = 0; round != rounds; ++round) {
        for (group& g : all) {
            std::ranges::shuffle(g.entries, random);
            for (entry const& e : g.entries) {
                auto const slice = [&made, e, with = g.with, round](benchmark::State& state) {
                    candidate& c = made.get(e, with);
                    measured m;
                    for (auto _ : state) {
                        m = c.run(with);
                        state.SetIterationTime(m.seconds);
                    }
                    state.SetItemsProcessed(static_cast<std::int64_t>(m.operations));
                    state.counters["round"] = static_cast<double>(round);
                    if (m.p99_us != 0) state.counters["p99_us"] = m.p99_us;
                };
                benchmark::RegisterBenchmark((e.name + g.suffix).c_str(), slice)
                    ->Iterations(1)
                    ->UseManualTime()
                    ->Unit(benchmark::kMillisecond);
            }
        }
    }
    benchmark::RunSpecifiedBenchmarks();
    made.clear();
    data_folder::remove();
}
