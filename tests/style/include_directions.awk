# Which room may include which. A room includes itself, except that an adapter includes no other
# adapter: only its own parts, adapter/<first words of its name>/.

BEGIN {
    may["core"] = "core"
    may["policy"] = "core policy"
    may["adapter"] = "core policy"
    may["recovery"] = "core policy recovery"
    may["receiver"] = "core policy receiver"
    may["testing"] = "core policy recovery testing"
    pure = "core policy recovery"
}

function has(words, word) { return index(" " words " ", " " word " ") > 0 }

function own_part(target,    parts) {
    split(target, parts, "/") # adapter, folder, file
    return parts[3] != "" && (self ~ "^adapter/" parts[2] "/" || self ~ "^adapter/" parts[2] "[_.]")
}

function allowed(target,    to) {
    if (room == "indoubt.hpp") return 1
    to = target
    sub(/\/.*/, "", to)
    return has(may[room], to) || (room == "adapter" && to == "adapter" && own_part(target)) ||
           (room == "testing" && target == "adapter/memory_storage.hpp")
}

FNR == 1 {
    self = FILENAME
    sub(/^include\//, "", self)
    sub(/^indoubt\//, "", self)
    room = self
    sub(/\/.*/, "", room)
    if (!(room in may) && room != "indoubt.hpp") print FILENAME ": no rule for this room"
}

/^[ \t]*#[ \t]*include/ {
    target = $0
    sub(/^[^<"]*/, "", target)
    sub(/[>"][^>"]*$/, "", target)
    quote = substr(target, 1, 1)
    target = substr(target, 2)
    if (quote != "<") {
        print FILENAME ":" FNR ": write the include with <> and its whole path"
    } else if (target ~ /^indoubt/) {
        sub(/^indoubt\//, "", target)
        if (!allowed(target)) print FILENAME ":" FNR ": " room " must not include " target
    } else if (has(pure, room) && target !~ /^boost\// && target ~ /[.\/]/) {
        print FILENAME ":" FNR ": " room " includes Boost and the standard library only: " target
    }
}
