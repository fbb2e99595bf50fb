# st_queue_settings.sh - each setting of a queue (src/protocol/definition/settings.lua) arrives as it was given, by its option of
# `reeve settings` and by the configuration of a worker: in Redis, in what the command prints, and in its JSON.
. "$(dirname "$0")/lib.sh"

: "${REEVE_SOURCE:=$(cd "$(dirname "$0")/../.." && pwd)}"
"$(lua)" "$REEVE_SOURCE/src/protocol/generate/main.lua" setting_cases "$TEST_DIR/cases" || fail "no cases"

# expect_fields QUEUE FIELD=PART...: the fields of its settings have these parts.
expect_fields() {
    local queue=$1 field
    shift
    for field in "$@"; do
        expect_has "$(redis HGET "reeve:{$queue}:settings" "${field%%=*}")" "${field#*=}"
    done
}

start_redis
count=0
while IFS=$'\t' read -r kind flag value label shown members fields unset; do
    [ "$kind" = flag ] || continue
    expect_status 0 reeve settings "q$count" "--$flag" "$value"
    expect_has "$(tr -s ' ' <<<"$OUT")" "$label: $shown"
    expect_status 0 reeve settings "q$count" --json
    for part in $members; do expect_has "$OUT" "$part"; done
    # shellcheck disable=SC2086
    expect_fields "q$count" $fields
    if [ "$unset" != - ]; then
        expect_status 0 reeve settings "q$count" "--$flag" "$unset"
        expect_eq "$(redis HEXISTS "reeve:{q$count}:settings" "${fields%%=*}")" 0 "--$flag $unset"
    fi
    count=$((count + 1))
done <"$TEST_DIR/cases"
[ "$count" -ge 10 ] || fail "only $count options were tried"

IFS=$'\t' read -r _ text fields < <(grep '^file' "$TEST_DIR/cases")
write_conf one 'log = { level = "debug"; };' "queues = ( { name = \"file\"; $text } );" 'pools = ( { queues = [ "other" ]; } );'
start_worker one
wait_for '[ "$(logged one program.settings)" = 1 ]' 30
# shellcheck disable=SC2086
expect_fields file $fields
echo "$count options"
