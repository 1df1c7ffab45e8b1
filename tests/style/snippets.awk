# Every C++ block of a page stands word for word in a source that is compiled. The line before the
# block, blank lines aside, names it:
#
#   <!-- from: examples/shop.cpp -->
#   ```cpp

function trimmed(line) { sub(/[ \t\r]+$/, "", line); return line }

# Reads a source once; lines are kept apart by newlines, with one before the first.
function text_of(source,    line) {
    if (!(source in texts)) {
        texts[source] = "\n"
        while ((getline line < source) > 0) texts[source] = texts[source] trimmed(line) "\n"
        close(source)
    }
    return texts[source]
}

FNR == 1 {
    if (inside) print place ": the block has no end"
    inside = 0
    from = ""
}

inside && /^[ \t]*```[ \t]*$/ {
    if (cpp && from != "" && index(text_of(from), block) == 0)
        print place ": not a part of " from ", word for word"
    inside = 0
    from = ""
    next
}
inside { block = block trimmed($0) "\n"; next }

/^[ \t]*```/ {
    inside = 1
    block = "\n"
    place = FILENAME ":" FNR
    cpp = tolower($0) ~ /^[ \t]*```[ \t]*(cpp|c[+][+]|cxx|cc|hpp)([^a-z]|$)/
    if (cpp && from == "") print place ": the line before a C++ block says where it is from"
    next
}

/^<!-- from: [^ ]+ -->[ \t]*$/ { from = $3; next }
!/^[ \t]*$/ { from = "" }

END { if (inside) print place ": the block has no end" }
