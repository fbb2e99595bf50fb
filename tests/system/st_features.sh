# st_features.sh - docs/features.md speaks of what is there: the tests that it names are files, the costs in figures are
# those that ct_costs and its like assert, each row of their tables among them, and every public function has its place in the documents.
# docs/designs.md names tests that are there, and all operations of the tests of designs.
. "$(dirname "$0")/lib.sh"

: "${REEVE_SOURCE:=$(cd "$(dirname "$0")/../.." && pwd)}"
FEATURES=${FEATURES:-$REEVE_SOURCE/docs/features.md}
DESIGNS=${DESIGNS:-$REEVE_SOURCE/docs/designs.md}
COSTS=("$REEVE_SOURCE"/tests/component/ct_costs*.c)

# (A process for each name would take a minute: each function below is one pass of awk, which says what is wrong.)

# The names of tests that there are.
ls "$REEVE_SOURCE"/tests/*/[ucs]t_*.c "$REEVE_SOURCE"/tests/*/[ucs]t_*.sh | sed 's,.*/,,; s/\.[a-z]*$//' >"$TEST_DIR/tests"

# Of the tables' rows: the third column names tests, and every feature has one. Also in the text.
tests_exist() {
    awk -F' *[|] *' '
        NR == FNR { there[$0]; next }
        /^\|/ && NF == 6 && $2 != "feature" && $2 !~ /^-/ {
            rows++
            n = split($4, name, /[ ,]+/)
            if (n == 0) { print "\"" $2 "\" names no test"; bad = 1 }
            for (i = 1; i <= n; i++) {
                count++
                if (!(name[i] in there)) { print "\"" $2 "\": there is no test " name[i]; bad = 1 }
            }
        }
        { rest = $0; while (match(rest, /(^|[^a-z_])(ut|ct|st)_[a-z_]+[a-z]/)) {
            word = substr(rest, RSTART, RLENGTH); rest = substr(rest, RSTART + RLENGTH)
            sub(/^[^a-z]/, "", word)
            if (rest !~ /^[a-z_0-9]/ && !(word in there)) { print "there is no test " word; bad = 1 } } }
        END {
            if (count <= 100) { print "only " count " tests are named: is the table read right?"; exit 1 }
            print count " names of tests in " rows " rows"
            exit bad }' "$TEST_DIR/tests" "$FEATURES" >"$TEST_DIR/out" || fail "$FEATURES"
    cat "$TEST_DIR/out"
}

# Of the rows of designs.md, | operation | in reeve | ct_a: one, two; ct_b |: the files, their functions, and the calls of reeve; and
# all operations that the tests of designs have are in the tables.
designs_are_tested() {
    grep -oE 'TEST_OPERATION\([a-z_0-9]+' "$REEVE_SOURCE"/tests/component/ct_*.c | sed 's,.*/,,; s/\.c:.*(/ /' >"$TEST_DIR/operations"
    awk -F' *[|] *' '
        FILENAME ~ /tests$/ { there[$0]; next }
        FILENAME ~ /operations$/ { split($0, pair, " "); operations[pair[1], pair[2]]; next }
        /^\|/ && NF == 5 && $4 != "test" && $2 !~ /^-/ {
            rows++
            n = split($4, test, / *; */)
            if (n == 0) { print "\"" $2 "\" names no test"; bad = 1 }
            for (i = 1; i <= n; i++) {
                named = test[i]; sub(/:.*/, "", named)
                m = split(named, name, /[ ,]+/)
                for (j = 1; j <= m; j++) if (!(name[j] in there)) { print "\"" $2 "\": there is no test " name[j]; bad = 1 }
                if (test[i] !~ /:/) continue
                functions = test[i]; sub(/^[^:]*: */, "", functions)
                k = split(functions, function_, /[ ,]+/)
                for (j = 1; j <= k; j++) {
                    count++
                    listed[name[m], function_[j]]
                    if (!((name[m], function_[j]) in operations)) { print "\"" $2 "\": " name[m] " has no " function_[j]; bad = 1 }
                }
            }
        }
        END {
            for (one in operations) {
                split(one, pair, SUBSEP)
                if (pair[1] ~ /^ct_design_/ && !(one in listed)) { print "no table names " pair[1] ": " pair[2]; bad = 1 }
            }
            if (count <= 30) { print "only " count " operations are named: are the tables read right?"; exit 1 }
            print count " operations of designs in " rows " rows"
            exit bad }' "$TEST_DIR/tests" "$TEST_DIR/operations" "$DESIGNS" >"$TEST_DIR/out" || fail "$DESIGNS"
    cat "$TEST_DIR/out"
    words "$REEVE_SOURCE"/include/reeve/*.h >"$TEST_DIR/public"
    expect_eq "$(words "$DESIGNS" | grep -E '[a-z]$' | comm -23 - "$TEST_DIR/public")" "" "names in $DESIGNS that are not public"
}

# words FILE...: the names that begin with reeve_ in them, each once.
words() { grep -hoE '\breeve_[a-z0-9_]+\b' "$@" | LC_ALL=C sort -u; }

# What the tests assert, in one line: a long text is written in parts.
asserted() {
    cat "${COSTS[@]}" | tr '\n' ' ' | sed 's/  */ /g; s/" "//g'
}

# `hset=2 time=1`, `zadd+1 zcard-1`: word for word in the tests.
costs_are_asserted() {
    asserted >"$TEST_DIR/asserted"
    grep -oE '`[a-z]+[-+=][0-9]+( [a-z]+[-+=][0-9]+)*`' "$FEATURES" | tr -d '`' | LC_ALL=C sort -u >"$TEST_DIR/costs"
    expect_eq "$(awk 'NR == FNR { all = all $0; next } !index(all, "\"" $0 "\"")' "$TEST_DIR/asserted" "$TEST_DIR/costs")" "" \
        "costs that no ct_costs asserts"
    count 15 costs
}

# {"checkpoint, later", before, act, than, "hset=1"} stands as | checkpoint, later | `hset=1` |.
rows_are_told() {
    asserted | grep -oE '\{"[^"]+", [A-Za-z_]+, [A-Za-z_]+, [A-Za-z_]+, "[^"]*"\}' |
        sed -E 's/^\{"([^"]+)", .*, "([^"]*)"\}$/| \1 | `\2` |/' | LC_ALL=C sort -u >"$TEST_DIR/told"
    expect_eq "$(LC_ALL=C sort -u "$FEATURES" | LC_ALL=C comm -23 "$TEST_DIR/told" -)" "" "rows that features.md does not tell"
    count 50 told
}

functions_have_their_place() {
    grep -hoE '^ *REEVE_API .*\b(reeve_[a-z0-9_]+)\(' "$REEVE_SOURCE"/include/reeve/*.h |
        grep -oE '\breeve_[a-z0-9_]+\($' | sed 's/($//; s/_sized$//' | LC_ALL=C sort -u >"$TEST_DIR/functions"
    words "$FEATURES" "$REEVE_SOURCE/docs/guide.md" "$REEVE_SOURCE"/docs/guide/*.md "$REEVE_SOURCE/docs/protocol.md" >"$TEST_DIR/placed"
    expect_eq "$(LC_ALL=C comm -23 "$TEST_DIR/functions" "$TEST_DIR/placed")" "" "functions without a place in the documents"
    count 60 functions
}

# count MORE_THAN FILE: so many lines are in $TEST_DIR/FILE.
count() {
    local lines
    mapfile -t lines <"$TEST_DIR/$2"
    [ "${#lines[@]}" -gt "$1" ] || fail "only ${#lines[@]} $2 were found"
    echo "${#lines[@]} $2"
}

# Each of them finds what it is for.
faults_are_found() {
    local good=$FEATURES designs=$DESIGNS
    FEATURES=$TEST_DIR/features.md DESIGNS=$TEST_DIR/designs.md
    finds() {
        if ("$2") >/dev/null 2>"$TEST_DIR/said"; then fail "$2 does not find: $1"; fi
        grep -qF -- "$1" "$TEST_DIR/said" || fail "$2 does not find: $1, but: $(cat "$TEST_DIR/said")"
        cp "$good" "$FEATURES"
        cp "$designs" "$DESIGNS"
    }
    { cat "$good"; echo '(st_unheard_of)'; } >"$FEATURES"
    finds "there is no test st_unheard_of" tests_exist
    { cat "$good"; echo '`hset=987`'; } >"$FEATURES"
    finds "'hset=987'" costs_are_asserted
    { cat "$designs"; echo '| o | reeve_unheard | ct_unheard |'; } >"$DESIGNS"
    finds "there is no test ct_unheard" designs_are_tested
    { cat "$designs"; echo 'reeve_unheard'; } >"$DESIGNS"
    finds reeve_unheard designs_are_tested
    { cat "$designs"; echo "| o | c | $(sed -n '1s/ .*//p' "$TEST_DIR/operations"): unheard |"; } >"$DESIGNS"
    finds "has no unheard" designs_are_tested
    grep -v "$(sed -n '/^ct_design_/{s/.* //p;q}' "$TEST_DIR/operations")" "$designs" >"$DESIGNS"
    finds "no table names" designs_are_tested
    grep -vF "$(head -n 1 "$TEST_DIR/told")" "$good" >"$FEATURES"
    finds "$(head -n 1 "$TEST_DIR/told")" rows_are_told
}

tests_exist
designs_are_tested
costs_are_asserted
rows_are_told
functions_have_their_place
faults_are_found
