#!/bin/sh
# check.sh <rule>, from the top of the project: runs <rule>.awk over the files it is about.
# Fails if the rule prints anything.
set -eu
LC_ALL=C
export LC_ALL
here=$(dirname "$0")

# The files with one of the given endings in the folders that exist.
files() {
    for folder in $folders; do
        [ ! -e "$folder" ] || find "$folder" -name "*.$1" -o -name "*.${2:-$1}"
    done | sort
}

case $1 in
    include_directions | headers) folders=include; list=$(files hpp) ;;
    sources) folders="include tests examples benchmarks"; list=$(files hpp cpp) ;;
    snippets) folders="README.md docs"; list=$(files md) ;;
esac
[ -n "$list" ] || exit 0

# shellcheck disable=SC2086 # no file of ours has a space in its name
complaints=$(awk -f "$here/$1.awk" $list)
[ -z "$complaints" ] || { printf '%s\n' "$complaints"; exit 1; }
