# Every source: at most 100 columns, no note to self, and no name that says nothing.

BEGIN {
    vague = "(manager|helper|util|engine)s?"
    # The same words as whole words in snake_case, and in PascalCase.
    snake = "(^|[^a-z])" vague "([^a-z]|$)"
    pascal = "(Manager|Helper|Util|Engine)s?([^a-z]|$)"
    # Written so that this file could stand its own rule.
    note = "(^|[^A-Za-z0-9_])(TO" "DO|FIX" "ME|X" "XX|HA" "CK)([^A-Za-z0-9_]|$)"
}

FNR == 1 {
    name = FILENAME
    sub(/^[a-z]*\//, "", name)
    if (tolower(name) ~ snake) print FILENAME ": say in the name what it does"
}

{
    columns = $0
    gsub(/[\200-\277]/, "", columns) # the later bytes of a UTF-8 character
    if (length(columns) > 100) print FILENAME ":" FNR ": " length(columns) " columns, at most 100"
    if ($0 ~ note) print FILENAME ":" FNR ": a note to self"
}

!/^[ \t]*#[ \t]*include/ {
    code = $0
    gsub(/"([^"\\]|\\.)*"/, "\"\"", code)
    sub(/\/\/.*/, "", code)
    gsub(/std::[a-z_]+/, "", code)
    if (code ~ snake || code ~ pascal) print FILENAME ":" FNR ": say in the name what it does"
}
