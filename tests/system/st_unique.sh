# st_unique.sh - unique keys as a user meets them: how long one is held, what a conflict does, what is said about it.
. "$(dirname "$0")/lib.sh"

HELD="another task holds the unique key"

# ---- bad input needs no Redis --------------------------------------------------------------------------------------

usage() {
    export REEVE_REDIS=unix:///nonexistent/redis.sock
    expect_status 2 reeve enqueue q noop --unique ''
    expect_status 2 reeve enqueue q noop --unique "$(printf 'k%.0s' {1..201})"
    expect_status 2 reeve enqueue q noop --unique $'\xff'
    expect_has "$ERR" "UTF-8"
    expect_status 2 reeve enqueue q noop --unique k --unique-until settled
    expect_has "$ERR" '--unique-until "settled": expected started or ended'
    expect_status 2 reeve enqueue q noop --unique k --unique-for 0
    expect_has "$ERR" "above zero"
    expect_status 2 reeve enqueue q noop --unique k --unique-for 5 --unique-until ended
    expect_has "$ERR" "--unique-until and --unique-for: give one of them"
    expect_status 2 reeve enqueue q noop --unique k --on-conflict merge
    expect_has "$ERR" "reject, replace or debounce"
    for option in "--unique-until started" "--unique-for 5" "--on-conflict reject"; do
        # shellcheck disable=SC2086
        expect_status 2 reeve enqueue q noop $option
        expect_has "$ERR" "${option%% *} goes with --unique KEY"
    done
    expect_status 2 reeve enqueue q noop --on-dead 't t'
    expect_status 3 reeve enqueue q noop --unique k
    unset REEVE_REDIS
}

# ---- conflicts -----------------------------------------------------------------------------------------------------

rejecting() {
    expect_status 0 reeve enqueue a noop --id one --unique 'k "ü"'
    expect_status 1 reeve enqueue a noop --id two --unique 'k "ü"'
    expect_eq "$OUT" ""
    expect_eq "$ERR" 'reeve: enqueue: the unique key "k "ü"" is held by a/one'
    expect_status 1 reeve enqueue a noop --unique 'k "ü"' --on-conflict reject --json
    expect_eq "$OUT" ""
    expect_eq "$(member error "$ERR") $(member unique "$ERR") $(member holder "$ERR")" '"unique" "k \"ü\"" "a/one"'
    expect_status 1 reeve enqueue a noop --unique 'k "ü"' --wait=5 --json
    expect_eq "$(member holder "$ERR")" '"a/one"'
    expect_status 0 reeve show a/one
    expect_has "$OUT" 'unique:   k "ü"'
    expect_status 0 reeve show a/one --json
    expect_eq "$(member unique "$OUT")" '"k \"ü\""'
    expect_eq "$(in_queue a ready)" 1
    # (Keys are of a queue, and no two keys are in each other's way.)
    expect_status 0 reeve enqueue b noop --unique 'k "ü"'
    expect_status 0 reeve enqueue a noop --unique other
    expect_status 0 reeve enqueue a noop
    expect_eq "$(of_task "${OUT}" unique)" null
}

replacing() {
    expect_status 0 reeve enqueue r noop first --id first --unique k
    expect_status 0 reeve enqueue r noop after --id after
    expect_status 0 reeve enqueue r noop second --id second --unique k --on-conflict replace
    expect_eq "$OUT" r/second
    expect_status 1 reeve show r/first
    expect_eq "$(in_queue r ready)" 2
    # (In the place of the one before: ahead of what came in between.)
    expect_eq "$(reeve list r --json | sed 's/.*"id":"\([^"]*\)".*/\1/' | paste -sd,)" second,after
    expect_status 0 reeve enqueue r noop third --id third --unique k --on-conflict replace --in 1h
    expect_eq "$(of_task r/third state)" '"scheduled"'
    expect_eq "$(in_queue r ready)" 1
}

debouncing() {
    local before after
    expect_status 0 reeve enqueue d noop 1 --id one --unique k --on-conflict debounce --in 10m
    before=$(of_task d/one due_ms)
    expect_status 0 reeve enqueue d noop 2 --id two --unique k --on-conflict debounce --in 20m
    after=$(of_task d/two due_ms)
    [ $((after - before)) -ge 600000 ] || fail "it was not pushed back: $before, $after"
    expect_eq "$(in_queue d scheduled)" 1
    expect_eq "$(of_task d/two payload)" '"2"'
    expect_status 1 reeve show d/one
}

bulk_lines() {
    cat >"$TEST_DIR/in" <<'END'
{"id":"1","unique":"k"}
{"id":"2","unique":"k"}
{"id":"3","unique":"k","on_conflict":"replace"}
{"id":"4","unique":"j","unique_for":"1h","on_dead":"told"}
{"id":"5","unique":"j","on_conflict":"reject","unique_until":"started"}
{"id":"6","unique_for":5}
{"id":"7","unique":"j","on_conflict":"never"}
END
    expect_status 1 reeve enqueue --bulk lines noop <"$TEST_DIR/in"
    expect_eq "$OUT" "$(printf 'lines/%s\n' 1 3 4)"
    expect_has "$ERR" 'line 2: the unique key "k" is held by lines/1'
    expect_has "$ERR" 'line 5: the unique key "j" is held by lines/4'
    expect_has "$ERR" 'line 6: "unique" is missing; "unique_for" goes with it'
    expect_has "$ERR" 'line 7: "on_conflict": expected reject, replace or debounce, not "never"'
    expect_has "${ERR##*$'\n'}" "3 enqueued, 4 refused ("
    expect_has "${ERR##*$'\n'}" "$HELD: 2"
    expect_status 1 reeve show lines/1
}

# ---- how long a key is held ----------------------------------------------------------------------------------------

freed_by_hand() {
    expect_status 0 reeve enqueue h noop --id 1 --unique k --unique-for 1h
    expect_status 0 reeve cancel h/1
    expect_status 0 reeve enqueue h noop --id 2 --unique k
    expect_status 0 reeve delete h/2
    expect_status 0 reeve enqueue h noop --id 3 --unique k
    # (The cancelled one cannot come back while another has its key.)
    expect_status 1 reeve retry h/1
    expect_has "$ERR" "h/3"
    expect_status 1 reeve retry h/1 --json
    expect_eq "$(member error "$ERR") $(member handle "$ERR")" '"unique" "h/1"'
    expect_status 1 reeve retry h --all --state cancelled
    expect_eq "$OUT" "retried 0 of 1 (1 refused)"
    expect_has "$ERR" "unique key"
    expect_status 1 reeve retry h --all --state cancelled --json
    expect_eq "$OUT" '{"queue":"h","action":"retry","seen":1,"done":0,"cancelling":0,"refused":1,"dry_run":false,"first":null}'
    expect_status 0 reeve delete h/3
    expect_status 0 reeve retry h --all --state cancelled
    expect_eq "$OUT" "retried 1 of 1"
}

freed_by_a_worker() {
    write_conf one "" 'pools = ( { queues = [ "w" ]; threads = 2; } );'
    start_worker one
    # until it has ended
    expect_status 0 reeve enqueue w sleep '{"ms":600000}' --id runs --unique ended --attempts 1 --timeout 5
    wait_for '[ "$(of_task w/runs state)" = "\"running\"" ]' 30
    expect_status 1 reeve enqueue w noop --unique ended --on-conflict replace
    expect_has "$ERR" 'the unique key "ended" is held by w/runs'
    wait_for '[ "$(of_task w/runs state)" = "\"dead\"" ]' 60
    expect_status 0 reeve enqueue w noop --unique ended --wait=30
    expect_status 0 reeve enqueue w noop --unique ended --wait=30
    # until it has started
    expect_status 0 reeve enqueue w sleep '{"ms":600000}' --id started --unique started --unique-until started \
        --timeout 5 --attempts 1
    wait_for '[ "$(of_task w/started state)" = "\"running\"" ]' 30
    expect_status 0 reeve enqueue w noop --unique started --unique-until started --wait=30
    # for a time, whatever becomes of it
    expect_status 0 reeve enqueue w noop --id timed --unique timed --unique-for 6 --wait=30
    expect_status 1 reeve enqueue w noop --unique timed
    expect_has "$ERR" "w/timed"
    wait_for 'reeve enqueue w noop --unique timed >/dev/null 2>&1' 30
}

usage
start_redis
rejecting
replacing
debouncing
bulk_lines
freed_by_hand
freed_by_a_worker
