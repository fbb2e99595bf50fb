# st_features.sh - docs/features.md speaks of what is there: the tests that it names are files, the costs in figures are
# those that ct_costs and its like assert, each row of their tables among them, and every public function has its place in the documents.
# docs/designs.md names tests that are there, and all operations of the tests of designs.
. "$(dirname "$0")/lib.sh"

: "${REEVE_SOURCE:=$(cd "$(dirname "$0")/../.." && pwd)}"
FEATURES=${FEATURES:-$REEVE_SOURCE/docs/features.md}
DESIGNS=${DESIGNS:-$REEVE_SOURCE/docs/designs.md}
COSTS=("$REEVE_SOURCE"/tests/component/ct_costs*.c)

# Of the tables' rows: the third column names tests, and every feature has one.
tests_exist() {
    local name count=0 row
    awk -F' *[|] *' '/^\|/ && NF == 6 && $2 != "feature" && $2 !~ /^-/ { print $2 "\t" $4 }' \
        "$FEATURES" >"$TEST_DIR/rows"
    while IFS=$'\t' read -r row names; do
        [ -n "$names" ] || fail "\"$row\" names no test"
        for name in ${names//,/ }; do
            ls "$REEVE_SOURCE"/tests/*/"$name".c "$REEVE_SOURCE"/tests/*/"$name".sh 2>/dev/null | grep -q . ||
                fail "\"$row\": there is no test $name"
            count=$((count + 1))
        done
    done <"$TEST_DIR/rows"
    [ "$count" -gt 100 ] || fail "only $count tests are named: is the table read right?"
    # (Also in the text.)
    for name in $(grep -oE '\b(ut|ct|st)_[a-z_]+[a-z]\b' "$FEATURES" | sort -u); do
        ls "$REEVE_SOURCE"/tests/*/"$name".* >/dev/null 2>&1 || fail "there is no test $name"
    done
    echo "$count names of tests in $(wc -l <"$TEST_DIR/rows") rows"
}

# Of the rows of designs.md, | operation | in reeve | ct_a: one, two; ct_b |: the files, their functions, and the calls of reeve.
designs_are_tested() {
    local row tests test name file function count=0
    awk -F' *[|] *' '/^\|/ && NF == 5 && $4 != "test" && $2 !~ /^-/ { print $2 "\t" $4 }' "$DESIGNS" >"$TEST_DIR/designs"
    while IFS=$'\t' read -r row tests; do
        [ -n "$tests" ] || fail "\"$row\" names no test"
        while read -r test; do
            for name in $(echo "${test%%:*}" | tr -d ,); do
                file=$(ls "$REEVE_SOURCE"/tests/*/"$name".c "$REEVE_SOURCE"/tests/*/"$name".sh 2>/dev/null)
                [ -n "$file" ] || fail "\"$row\": there is no test $name"
            done
            [ "$test" != "${test#*:}" ] || continue
            for function in $(echo "${test#*:}" | tr -d ,); do
                grep -qF "TEST_OPERATION($function)" "$file" || fail "\"$row\": $name has no $function"
                count=$((count + 1))
            done
        done < <(echo "$tests" | tr ';' '\n')
    done <"$TEST_DIR/designs"
    [ "$count" -gt 30 ] || fail "only $count operations are named: are the tables read right?"
    for name in $(grep -oE '\breeve_[a-z_]+[a-z]\b' "$DESIGNS" | sort -u); do
        grep -qrE "\b$name\b" "$REEVE_SOURCE/include" || fail "there is no $name"
    done
    echo "$count operations of designs in $(wc -l <"$TEST_DIR/designs") rows"
}

# All operations that the tests of designs have are in the tables.
operations_are_listed() {
    local file name function
    for file in "$REEVE_SOURCE"/tests/component/ct_design_*.c; do
        name=$(basename "$file" .c)
        for function in $(grep -oE 'TEST_OPERATION\([a-z_]+' "$file" | sed 's/.*(//'); do
            grep -E "$name: [^|;]*\b$function\b" "$DESIGNS" | grep -q . || fail "no table names $name: $function"
        done
    done
}

# What the tests assert, in one line: a long text is written in parts.
asserted() {
    cat "${COSTS[@]}" | tr '\n' ' ' | sed 's/  */ /g; s/" "//g'
}

# `hset=2 time=1`, `zadd+1 zcard-1`: word for word in the tests.
costs_are_asserted() {
    local cost count=0
    asserted >"$TEST_DIR/asserted"
    grep -oE '`[a-z]+[-+=][0-9]+( [a-z]+[-+=][0-9]+)*`' "$FEATURES" | tr -d '`' | sort -u >"$TEST_DIR/costs"
    while read -r cost; do
        grep -qF "\"$cost\"" "$TEST_DIR/asserted" || fail "no ct_costs asserts \"$cost\""
        count=$((count + 1))
    done <"$TEST_DIR/costs"
    [ "$count" -gt 15 ] || fail "only $count costs were found"
    echo "$count costs"
}

# {"checkpoint, later", before, act, than, "hset=1"} stands as | checkpoint, later | `hset=1` |.
rows_are_told() {
    local row count=0
    asserted | grep -oE '\{"[^"]+", [A-Za-z_]+, [A-Za-z_]+, [A-Za-z_]+, "[^"]*"\}' |
        sed -E 's/^\{"([^"]+)", .*, "([^"]*)"\}$/| \1 | `\2` |/' >"$TEST_DIR/told"
    while read -r row; do
        grep -qxF "$row" "$FEATURES" || fail "features.md does not tell: $row"
        count=$((count + 1))
    done <"$TEST_DIR/told"
    [ "$count" -gt 50 ] || fail "only $count rows were found"
    echo "$count rows"
}

functions_have_their_place() {
    local name count=0
    for name in $(grep -hoE '^ *REEVE_API .*\b(reeve_[a-z0-9_]+)\(' "$REEVE_SOURCE"/include/reeve/*.h |
        grep -oE '\breeve_[a-z0-9_]+\($' | tr -d '(' | sed 's/_sized$//' | sort -u); do
        grep -qE "\b$name\b" "$FEATURES" "$REEVE_SOURCE/docs/guide.md" "$REEVE_SOURCE"/docs/guide/*.md "$REEVE_SOURCE/docs/protocol.md" ||
            fail "$name has no place in the documents"
        count=$((count + 1))
    done
    [ "$count" -gt 60 ] || fail "only $count functions were found"
    echo "$count functions"
}

tests_exist
designs_are_tested
operations_are_listed
costs_are_asserted
rows_are_told
functions_have_their_place
