# Distributed under the Boost Software License, Version 1.0.
# (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
"""The plain way: one transaction of SQLite for each step of an operation.

seed.py <database> <milliseconds>, prints: operations, seconds, p99 of one in microseconds.
"""

import sqlite3
import sys
import time

REQUEST = (
    '{"item":"practice-notebook","quantity":1,"customer":"c-1234567",'
    '"note":"deliver to the back door"}'
)


def main():
    path, milliseconds = sys.argv[1], int(sys.argv[2])
    db = sqlite3.connect(path, isolation_level=None)
    db.execute("PRAGMA journal_mode = DELETE")
    db.execute("PRAGMA synchronous = FULL")
    if db.execute("PRAGMA synchronous").fetchone()[0] != 2:
        sys.exit("synchronous = FULL was not taken")
    db.execute(
        "CREATE TABLE IF NOT EXISTS operations (key TEXT PRIMARY KEY, state TEXT NOT NULL,"
        " request TEXT NOT NULL, attempts INTEGER NOT NULL, receipt TEXT)"
    )
    number = 100_000_000 + db.execute("SELECT count(*) FROM operations").fetchone()[0]

    def step(statement, *values):
        db.execute("BEGIN IMMEDIATE")
        if db.execute(statement, values).rowcount != 1:
            sys.exit("a row was not written")
        db.execute("COMMIT")

    times = []
    start = before = time.perf_counter()
    while not times or before < start + milliseconds / 1000:
        key = f"tenant-7/invoice-{number}"
        number += 1
        step("INSERT INTO operations VALUES (?, 'pending', ?, 0, NULL)", key, REQUEST)
        step("UPDATE operations SET state = 'uncertain', attempts = 1 WHERE key = ?", key)
        step(
            "UPDATE operations SET state = 'confirmed', receipt = ? WHERE key = ?", "r" + key, key
        )
        now = time.perf_counter()
        times.append(now - before)
        before = now
    took = before - start
    times.sort()
    print(len(times), took, 1e6 * times[len(times) * 99 // 100])


main()
