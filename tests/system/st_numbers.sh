# st_numbers.sh - a number that is out of range is refused wherever people can give one, and the range is told: each option of
# `reeve` that takes a number, each numeric setting of `reeve-worker`, each numeric member of a line of --bulk.
. "$(dirname "$0")/lib.sh"

WRONG=$TEST_DIR/none.sock # (options are read before anything is connected to)
export REEVE_REDIS="unix://$WRONG"

# Enough arguments for the verb, so that only the option can be wrong, in ARGUMENTS.
arguments() {
    case $1 in
    enqueue) ARGUMENTS=(q t) ;;
    limit | settings | list | peek | events | failures | sweep) ARGUMENTS=(q) ;;
    cron) ARGUMENTS=(add n @daily q t) ;;
    reschedule | wait | show | depend) ARGUMENTS=(q/a) ;;
    run) ARGUMENTS=(plugin.so t) ;;
    bench) ARGUMENTS=(enqueue) ;;
    *) ARGUMENTS=() ;;
    esac
}

# refused VERB OPTION VALUE: wrong usage, which names the option and what is expected.
refused() {
    arguments "$1"
    expect_status 2 reeve "$1" "${ARGUMENTS[@]}" "--$2=$3"
    expect_has "$ERR" "--$2"
    expect_has "$ERR" "expected "
}

# Each option whose argument is a number, by what --help calls it.
options() {
    local verb option argument count=0 value texts=(1e3 0x10 ' 1' 1x)
    for verb in $(verbs); do
        while read -r option argument; do
            # (Options share a few readers of numbers, cli_read_number and its like: each option meets one of these texts.)
            for value in 99999999999999999999 -99999999999999999999 "${texts[count % 4]}"; do
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

# conf SECTION TEXT: a configuration with these settings of a section, whose path is as --help-config has it: queues[].keep.dead.
conf() {
    local path=${1//\[\]/} rest text pools='pools = ( { queues = [ "q" ]; } );'
    nested "${path#*.}" "$2"
    rest=$NESTED
    [ "${path#*.}" != "$path" ] || rest=$2
    case $path in
    pools | pools.*) text="pools = ( { queues = [ \"q\" ]; $rest } );" pools= ;;
    queues | queues.*) text="queues = ( { name = \"q\"; $rest } );" ;;
    handlers | handlers.*) text="handlers = ( { type = \"t\"; $rest } );" ;;
    limits | limits.*) text="limits = ( { queue = \"q\"; type = \"t\"; $rest } );" ;;
    cron | cron.*) text="cron = ( { name = \"n\"; spec = \"@daily\"; queue = \"q\"; type = \"t\"; $rest } );" ;;
    *) nested "$path" "$2" && text=$NESTED ;;
    esac
    echo "$pools $text" >"$TEST_DIR/numbers.conf"
}

# nested a.b TEXT: sets NESTED to the text in these groups.
nested() {
    local rest=$1
    NESTED=$2
    while [ -n "$rest" ]; do
        NESTED="${rest##*.} = { $NESTED };"
        case $rest in *.*) rest=${rest%.*} ;; *) rest= ;; esac
    done
}

# section PATH NAME LEAST MOST...: below and above the range, and what is no number, is refused for each setting of a section. A check
# tells all that is wrong, so that one has all settings of the section.
section() {
    local path=$1 kind name least most text i value
    shift
    local rows=("$@")
    for kind in above far_above below text flag "just below"; do
        text=
        for ((i = 0; i < ${#rows[@]}; i += 3)); do
            name=${rows[i]} least=${rows[i + 1]} most=${rows[i + 2]}
            case $kind in
            above) value="$((most + 1))L" ;;
            far_above) value=1e30 ;;
            below) value=-99999 ;;
            text) value='"5"' ;;
            flag) value=true ;;
            *) [[ $least == *.* ]] && value=$((${least%.*} - 3)).5 || value=$((least - 3)).5 ;;
            esac
            text+="$name = $value; "
        done
        conf "$path" "$text"
        expect_status 2 "$REEVE_WORKER" -c "$TEST_DIR/numbers.conf" --check
        for ((i = 0; i < ${#rows[@]}; i += 3)); do
            name=${rows[i]} most=${rows[i + 2]}
            [[ $ERR =~ [.]"$name: expected "[^$'\n']*"$most" ]] || fail "$path.$name, $kind: $ERR"
        done
    done
}

# The range that --help-config tells of each setting.
settings() {
    local path= count=0 line rows=()
    local pattern='^\| `([a-z_]+)` \| (a whole number|seconds) from (-?[0-9.]+) to ([0-9]+)'
    while IFS= read -r line; do
        case $line in
        '### `'*)
            [ ${#rows[@]} = 0 ] || section "$path" "${rows[@]}"
            path=${line#*\`} && path=${path%%\`*} && rows=()
            ;;
        esac
        [[ $line =~ $pattern ]] || continue
        rows+=("${BASH_REMATCH[1]}" "${BASH_REMATCH[3]}" "${BASH_REMATCH[4]}")
        count=$((count + 1))
    done < <("$REEVE_WORKER" --help-config=markdown)
    [ ${#rows[@]} = 0 ] || section "$path" "${rows[@]}"
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
