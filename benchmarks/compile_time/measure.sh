#!/bin/sh
# Distributed under the Boost Software License, Version 1.0.
# (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#
# measure.sh <include folder> <rounds> <compiler>...: what the headers cost a compiler.
#
# For each compiler, in user seconds (the least of all rounds, taken in turn so that a busy machine
# hits all alike): what core and the whole library include from Boost and the standard library,
# then core, the whole library, and a program with one run. The ratios are what counts:
#   core / its dependencies                at most 1.4
#   <indoubt.hpp> / its dependencies       at most 2
#   program with one run / <indoubt.hpp>   at most 3
# Exits with 1 if one is exceeded, unless REPORT_ONLY is set.
set -eu
include=$1
rounds=$2
shift 2
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# What a unit includes from elsewhere, through our own headers.
foreign() {
    "$1" -std=c++20 -I "$include" -MM "$2" | tr ' \\' '\n\n' | grep '/indoubt' |
        xargs sed -n 's/^#include <\(.*\)>.*/\1/p' | grep -v '^indoubt' | sort -u |
        sed 's/.*/#include <&>/'
}

user_seconds() { # the user time of one compilation
    /usr/bin/env bash -c 'TIMEFORMAT=%U; time "$@" 2>/dev/null' _ "$@" 2>&1
}

exceeded=0
for compiler; do
    command -v "$compiler" >/dev/null || { echo "$compiler: not run (not installed)"; continue; }
    for header in core/transitions core/contract core/attempt; do
        echo "#include <indoubt/$header.hpp>"
    done >"$work/core.cpp"
    echo '#include <indoubt.hpp>' >"$work/library.cpp"
    cp "$here/program.cpp" "$work/program.cpp"
    foreign "$compiler" "$work/core.cpp" >"$work/core_needs.cpp"
    foreign "$compiler" "$work/library.cpp" >"$work/library_needs.cpp"
    rm -f "$work"/*.times
    round=0
    while [ "$round" -lt "$rounds" ]; do
        for unit in core_needs core library_needs library program; do
            user_seconds "$compiler" -std=c++20 -I "$include" -c "$work/$unit.cpp" \
                -o "$work/unit.o" >>"$work/$unit.times"
        done
        round=$((round + 1))
    done
    for unit in core_needs core library_needs library program; do
        sort -n "$work/$unit.times" | sed -n "1s/^/$unit /p"
    done >"$work/least"
    awk -v compiler="$compiler" '
        { t[$1] = $2 }
        function line(what, a, b, most,   r) {
            r = t[a] / t[b]
            printf "%-12s %-40s %5.2f s  %5.2f s  ratio %.2f (at most %.1f)%s\n", compiler, what,
                   t[a], t[b], r, most, (r > most ? "  EXCEEDED" : "")
            if (r > most) bad = 1
        }
        END {
            line("core / its dependencies", "core", "core_needs", 1.4)
            line("<indoubt.hpp> / its dependencies", "library", "library_needs", 2)
            line("program with one run / <indoubt.hpp>", "program", "library", 3)
            exit bad
        }' "$work/least" || exceeded=1
done
[ -z "${REPORT_ONLY:-}" ] || exceeded=0
exit $exceeded
