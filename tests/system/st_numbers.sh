# st_numbers.sh - a number that is out of range is refused wherever people can give one, and the range is told: each option of
# `reeve` that takes a number, each numeric setting of `reeve-worker`, each numeric member of a line of --bulk.
. "$(dirname "$0")/lib.sh"

WRONG=$TEST_DIR/none.sock # (options are read before anything is connected to)
export REEVE_REDIS="unix://$WRONG"

# Enough arguments for the verb, so that only the option can be wrong.
arguments() {
    case $1 in
    enqueue) echo q t ;;
    limit | settings | list | peek | events | failures | sweep) echo q ;;
    cron) echo add n @daily q t ;;
    reschedule | wait | show | depend) echo q/a ;;
    run) echo plugin.so t ;;
    bench) echo enqueue ;;
    *) echo ;;
    esac
}

# refused VERB OPTION VALUE: wrong usage, which names the option and what is expected.
refused() {
    # shellcheck disable=SC2046
    expect_status 2 reeve "$1" $(arguments "$1") "--$2=$3"
    expect_has "$ERR" "--$2"
    expect_has "$ERR" "expected "
}

# Each option whose argument is a number, by what --help calls it.
options() {
    local verb option argument count=0 value
    for verb in $(verbs); do
        while read -r option argument; do
            for value in 99999999999999999999 -99999999999999999999 1e3 0x10 ' 1' 1x; do
                refused "$verb" "$option" "$value"
            done
            case $argument in
            DURATION*) refused "$verb" "$option" 2000000001 && refused "$verb" "$option" 23149d ;;
            esac
            count=$((count + 1))
        done < <("$REEVE" "$verb" --help | sed -n '/^Options (.*:$/,/^$/s/^  --\([a-z-]*\) \(N\|N|[a-z]*\|DURATION\|DURATION|[a-z]*\|BYTES\|BYTES|[a-z]*\|DAYS\|RATE|none\)  *.*/\1 \2/p')
    done
    [ "$count" -gt 50 ] || fail "only $count options were found"
    echo "$count options"
    # A time that means "not given" is no deadline.
    refused enqueue deadline 0
    refused enqueue wait 2000000001
    refused enqueue backoff fixed:99999999999999999999
}

# conf PATH VALUE: a configuration with that setting, whose path is as --help-config has it: queues[].keep.dead.age.
conf() {
    local path=${1//\[\]/} rest text pools='pools = ( { queues = [ "q" ]; } );'
    rest=$(nested "${path#*.}" "$2")
    case $path in
    pools.*) text="pools = ( { queues = [ \"q\" ]; $rest } );" pools= ;;
    queues.*) text="queues = ( { name = \"q\"; $rest } );" ;;
    handlers.*) text="handlers = ( { type = \"t\"; $rest } );" ;;
    cron.*) text="cron = ( { name = \"n\"; spec = \"@daily\"; queue = \"q\"; type = \"t\"; $rest } );" ;;
    *) text=$(nested "$path" "$2") ;;
    esac
    echo "$pools $text" >"$TEST_DIR/numbers.conf"
}

# a.b.c = 5 as groups.
nested() {
    case $1 in
    *.*) echo "${1%%.*} = { $(nested "${1#*.}" "$2") };" ;;
    *) echo "$1 = $2;" ;;
    esac
}

# Below and above the range that --help-config tells of each setting.
settings() {
    local section= name least most count=0 value line
    while IFS= read -r line; do
        case $line in
        '### `'*) section=${line#*\`} && section=${section%%\`*} ;;
        '| `'*)
            name=$(sed -nE 's/^\| `([a-z_]+)` \| (a whole number|seconds) from (-?[0-9.]+) to ([0-9]+).*/\1 \3 \4/p' <<<"$line")
            [ -n "$name" ] || continue
            read -r name least most <<<"$name"
            for value in "$((most + 1))L" 1e30 -99999 '"5"' true "$(awk -v least="$least" 'BEGIN { printf "%g", least - 2.5 }')"; do
                conf "$section.$name" "$value"
                expect_status 2 "$REEVE_WORKER" -c "$TEST_DIR/numbers.conf" --check
                expect_has "$ERR" "$name: expected"
                expect_has "$ERR" "$most"
            done
            count=$((count + 1))
            ;;
        esac
    done < <("$REEVE_WORKER" --help-config=markdown)
    [ "$count" -gt 40 ] || fail "only $count settings were found"
    echo "$count settings"
}

# Lines of JSON.
members() {
    local member value
    start_redis
    for member in attempts max_crashes priority weight timeout heartbeat in expires_in unique_for at deadline; do
        for value in 99999999999999999999 1e3 1e400 -99999999999999999999 2000000000000 true null; do
            case $member$value in at2000000000000 | deadline2000000000000) value=99999999999999 ;; esac
            printf '{"queue":"q","type":"t","group":"g","unique":"u","%s":%s}\n' "$member" "$value"
        done
    done >"$TEST_DIR/lines"
    expect_status 1 reeve enqueue --bulk --json <"$TEST_DIR/lines"
    expect_silent
    expect_eq "$(wc -l <"$TEST_DIR/err")" "$(wc -l <"$TEST_DIR/lines")"
    expect_eq "$(grep -c 'expected ' "$TEST_DIR/err")" "$(wc -l <"$TEST_DIR/lines")"
}

options
settings
members
