# st_task_options.sh - each option of a task that is a number, a time span, a flag or a text (src/protocol/definition/task_options.lua)
# arrives as it was given: by a flag, by a member of a bulk line, and by a recurring entry, which keeps it.
. "$(dirname "$0")/lib.sh"

: "${REEVE_SOURCE:=$(cd "$(dirname "$0")/../.." && pwd)}"
"$(lua)" "$REEVE_SOURCE/src/protocol/generate/main.lua" option_cases "$TEST_DIR/cases" || fail "no cases"

# shown HANDLE MEMBER: that member of the task's JSON.
shown() { member "$2" "$("$REEVE" show --json "$1")"; }

start_redis
count=0
while IFS=$'\t' read -r json flags members expected cron; do
    # shellcheck disable=SC2086
    expect_status 0 reeve enqueue "flags-$count" noop --id "$json" $flags
    expect_eq "$(shown "flags-$count/$json" "$json")" "$expected" "$flags"
    printf '{"queue":"lines-%d","type":"noop","id":"%s",%s}\n' "$count" "$json" "$members" >"$TEST_DIR/lines"
    expect_status 0 reeve enqueue --bulk <"$TEST_DIR/lines"
    expect_eq "$(shown "lines-$count/$json" "$json")" "$expected" "$members"
    if [ "$cron" = cron ]; then
        # shellcheck disable=SC2086
        expect_status 0 reeve cron add "$json" @yearly cron noop $flags
        expect_status 0 reeve cron add "$json" @monthly cron noop
        expect_has "$ERR" "kept as it was"
        expect_status 0 reeve cron run "cron/$json"
        expect_eq "$(shown "$OUT" "$json")" "$expected" "cron add $flags"
    fi
    count=$((count + 1))
done <"$TEST_DIR/cases"
[ "$count" -ge 11 ] || fail "only $count options were tried"
echo "$count options"
