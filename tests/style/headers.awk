# Every header: the licence in its first two lines, then a guard named after its path, and a length
# that can be read. In core, policy and recovery no clock, chance, thread or file of its own: these
# come in through policies.

function finish() {
    if (file != "" && lines > 400) print file ": " lines " lines, at most 400"
}

function forbid(pattern, what) {
    if (code ~ pattern) print FILENAME ":" FNR ": " what " comes in through a policy"
}

FNR == 1 {
    finish()
    file = FILENAME
    guard = toupper(file)
    sub(/^INCLUDE\//, "", guard)
    gsub(/[^A-Z0-9]/, "_", guard)
    pure = file ~ /^include\/indoubt\/(core|policy|recovery)\//
    if ($0 != "// Distributed under the Boost Software License, Version 1.0.")
        print file ":1: the licence is missing"
}
FNR == 2 && $0 != "// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)" {
    print file ":2: the licence is missing"
}
FNR == 3 && $0 != "#ifndef " guard { print file ":3: #ifndef " guard " expected" }
FNR == 4 && $0 != "#define " guard { print file ":4: #define " guard " expected" }

{ lines = FNR }

pure {
    code = $0
    gsub(/"([^"\\]|\\.)*"/, "\"\"", code)
    sub(/\/\/.*/, "", code)
    forbid("_clock::now", "the time")
    forbid("random_device", "chance")
    forbid("std::j?thread([^A-Za-z0-9_]|$)", "a thread")
    forbid("(^|[^A-Za-z0-9_>])::(open|fsync|fdatasync) *[(]", "a file")
}

END { finish() }
