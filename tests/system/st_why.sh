# st_why.sh - why a task does not run, with real workers: where it runs, a type without a handler, a worker that is quiet,
# limits; what `queues` says of them; and the word that comes while one waits.
. "$(dirname "$0")/lib.sh"

start_redis

# reasons NAME: the names of the reasons that `why NAME` has, separated by blanks.
reasons() {
    reeve why --json "$1" 2>/dev/null | grep -oE '"reason":"[a-z_]+"' | sed 's/.*:"//; s/"//' | paste -sd' '
}

a_wait_says_what_is_missing() {
    expect_status 7 reeve enqueue nobody noop --wait=0.4
    expect_has "$ERR" "nobody/"
    expect_has "$ERR" " cannot run yet: no live worker serves the queue"
    expect_eq "$(member workers "$(reeve queues nobody --json)")" 0
}

where_it_runs() {
    write_conf one 'session = 2;' 'pools = ( { queues = [ "q" ]; threads = 1; batch = 1; } );'
    start_alone one
    wait_for '[ "$(member workers "$(reeve queues q --json)")" = 1 ]' 10
    expect_status 0 reeve enqueue q sleep '{"ms":600000}' --id runs
    wait_for '[ "$(of_task q/runs state)" = "\"running\"" ]' 10
    expect_status 0 reeve why q/runs
    expect_has "$OUT" "it runs since "
    expect_has "$OUT" "(one on "
    expect_status 0 reeve enqueue q noop --id next
    expect_status 0 reeve enqueue q noop --id behind
    # As the worker's record says soon.
    wait_for '[ "$(reasons q/next)" = "busy ready" ]' 10
    expect_status 0 reeve show q/behind
    expect_has "$OUT" "1 task is before it"
    expect_eq "$(reasons q)" "busy running ready"
    expect_status 0 reeve why q
    expect_has "$OUT" "the only thread that serves the queue runs a task (\`reeve workers --running\` shows them"
    expect_has "$(reeve why q --json)" '"reason":"busy","text":"the only thread'
    expect_has "$(reeve workers --pools --json)" '"threads":1,"busy":1,'
}

a_type_without_a_handler() {
    expect_status 0 reeve enqueue q unheard-of --id odd --priority -1
    expect_eq "$(reasons q/odd)" "no_handler ready"
    expect_status 0 reeve why q
    expect_has "$OUT" "the worker that serves the queue has no handler for type unheard-of, of q/odd"
    expect_status 0 reeve delete q/odd
}

limits_are_shown() {
    expect_status 0 reeve limit q --concurrency 1 --rate 10/s --pause-for 1h
    expect_status 0 reeve why q/next
    expect_has "$OUT" "the queue is paused until "
    expect_has "$OUT" "the queue is at its limit: 1 run, and 1 may run at once"
    expect_status 0 reeve queues q
    expect_has "$OUT" "concurrency 1, rate 10/1s"
    expect_has "$OUT" "paused until "
    expect_has "$(reeve queues q --json)" '"concurrency":1,"rate":{"count":10,"period_ms":1000,"burst":10}'
    expect_status 0 reeve limit q --concurrency none --rate none --pause-for none
}

a_worker_that_is_quiet() {
    kill -TSTP "$WORKER_PID"
    wait_for '[ "$(reasons q/next)" = "quiet ready" ]' 10
    end "$WORKER_PID" KILL
    wait_for '[ "$(reasons q/next)" = "unserved ready" ] || [ "$(reasons q/next)" = "unserved behind" ]' 10
}

a_wait_says_what_is_missing
where_it_runs
a_type_without_a_handler
limits_are_shown
a_worker_that_is_quiet
