# st_names.sh - names in src: no two files of one name, and a function that other files use begins with the name of its file,
# or of the header that declares it. CONTRIBUTING.md states the rule. And a comment before each public type.
. "$(dirname "$0")/lib.sh"

: "${REEVE_SOURCE:=$(cd "$(dirname "$0")/../.." && pwd)}"
cd "$REEVE_SOURCE/src" || exit 1

# Files with words that everything uses, in which rv_ is enough: rv_now_ms, rv_alloc, rv_fail, rv_arg.
VOCABULARY="clock error id mem text text_time command"

# "ROOM STEM FUNCTION" for each function that is not static. In programs, the room has the prefix.
functions() {
    find . -name '*.c' -print0 | xargs -0 awk '
        FNR == 1 { n = split(FILENAME, part, "/"); stem = part[n]; sub(/\.c$/, "", stem); room = part[2] "/" part[3] }
        /^[a-z]/ && !/^(static|typedef|extern)/ && /[a-z0-9_]+\(/ && !/;$/ {
            name = $0; sub(/\(.*/, "", name); sub(/.*[ *]/, "", name)
            if (name ~ /^(rv|cli|host|bench|web)_/) print room, stem, name
        }'
}

# "STEM FUNCTION" for each function that a header declares; x_private.h belongs to x.
declared() {
    find . -name '*.h' -print0 | xargs -0 awk '
        FNR == 1 { n = split(FILENAME, part, "/"); stem = part[n]; sub(/(_private)?\.h$/, "", stem) }
        { line = $0; while (match(line, /rv_[a-z0-9_]+\(/)) {
            print stem, substr(line, RSTART, RLENGTH - 1); line = substr(line, RSTART + RLENGTH) } }' | sort -u
}

misnamed() {
    declared >"$TEST_DIR/declared"
    awk -v vocabulary="$VOCABULARY" '
        function fits(name, stem) { return name == "rv_" stem || index(name, "rv_" stem "_") == 1 }
        BEGIN { n = split(vocabulary, word, " "); for (i = 1; i <= n; i++) free[word[i]] = 1
                prefix["programs/cli"] = "cli_"; prefix["programs/reeve"] = "cli_"; prefix["programs/run"] = "cli_"
                prefix["programs/web"] = "web_"; prefix["programs/bench"] = "bench_"; prefix["programs/worker"] = "host_"; prefix["programs/runner"] = "host_"; prefix["programs/log"] = "host_" }
        NR == FNR { headers[$2] = headers[$2] " " $1; next }
        $1 in prefix { if (index($3, prefix[$1]) != 1) print "programs: " $2 ".c: " $3; next }
        ($2 in free) || fits($3, $2) { next }
        { good = 0; n = split(headers[$3], stem, " "); for (i = 1; i <= n; i++) good = good || fits($3, stem[i])
          if (!good) print $2 ".c: " $3 }' "$TEST_DIR/declared" "$1"
}

functions >"$TEST_DIR/functions"
[ "$(wc -l <"$TEST_DIR/functions")" -gt 500 ] || fail "only $(wc -l <"$TEST_DIR/functions") functions were found"
wrong=$(misnamed "$TEST_DIR/functions")
[ -z "$wrong" ] || fail "functions that do not begin with rv_<name of their file>: $wrong"

for kind in c h; do
    twice=$(find . -name "*.$kind" | sed 's,.*/,,' | sort | uniq -d)
    [ -z "$twice" ] || fail "files of one name: $twice"
done
# A source and a header of one name are in one room.
apart=$(find . -name '*.[ch]' | sed 's/\.[ch]$//' | sort -u | sed 's,.*/,,' | sort | uniq -d)
[ -z "$apart" ] || fail "a source and a header of one name in two rooms: $apart"

# Each public type has a comment before it, except a repeated declaration, whose comment names the header.
uncommented() {
    awk 'FNR == 1 { last = "" }
        /^typedef/ && last !~ /\*\/$/ && !/\/\* [a-z]*\.h \*\/$/ { print FILENAME ":" FNR ": " $0 }
        { last = $0 }' "$@"
}
wrong=$(uncommented ../include/reeve/*.h)
[ -z "$wrong" ] || fail "public types without a comment: $wrong"
[ "$(grep -h '^typedef' ../include/reeve/*.h | wc -l)" -gt 50 ] || fail "the public types were not found"

# What the test is for is found.
printf '/* One. */\ntypedef int one;\ntypedef int two;\n' >"$TEST_DIR/types.h"
[ "$(uncommented "$TEST_DIR/types.h" | wc -l)" = 1 ] || fail "a type without a comment is not found"
echo "running turn rv_batches_count" >"$TEST_DIR/one"
[ -n "$(misnamed "$TEST_DIR/one")" ] || fail "a function with the name of no file is not found"
echo "$(wc -l <"$TEST_DIR/functions") functions"
