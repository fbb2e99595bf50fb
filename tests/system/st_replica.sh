#!/usr/bin/env bash
# st_replica.sh - verbs that only read run on a replica, and where Redis is out of memory; all others are refused there with
# one exit status. A server of our own becomes a replica without a master: it has its data, and takes no writes.
. "$(dirname "$0")/lib.sh"

start_redis

fill() {
    expect_status 0 reeve enqueue q t x --id a --tag w
    expect_status 0 reeve enqueue q t x --id b --after q/a
    expect_status 0 reeve enqueue q t x --id c
    expect_status 0 reeve cancel q/c
    expect_status 0 reeve cron add daily '0 3 * * *' q t
    expect_status 0 reeve limit q --concurrency 5
    expect_status 0 reeve events q --keep 100
    expect_status 0 reeve enqueue q t x --id d
    printf '%s\n' '{"queue":"p","type":"t"}' '{"queue":"p","type":"t"}' >"$TEST_DIR/two"
    expect_status 0 reeve enqueue --bulk <"$TEST_DIR/two"
}

# Each line of what reads: its words, a bar, and what its output has.
reads() {
    local words said
    while IFS='|' read -r words said; do
        # shellcheck disable=SC2086
        expect_status 0 reeve $words
        expect_has "$OUT" "$said"
    done <<'END'
show q/a|q/a
list q|q/a
list q --state cancelled|q/c
list q --tag w|q/a
peek q|q/a
tags q|w
queues|q
queues q|q
workers|
workers --pools|
stats|q
stats q|q
failures|
failures q|
why q/a|no live worker
why q|no live worker
limit q|5
settings q|q
events q|100
cancel p --all --dry-run|2 of 2 would be cancelled
cancel q --all --state blocked --dry-run|1 of 1 would be cancelled
cron list|daily
cron list q|daily
ping|redis
END
}

# Where no word can be left that somebody waits, reeve looks again and again; kept events can be watched.
waits_and_watches() {
    expect_status 7 reeve wait q/a --timeout 0.5
    expect_has "$ERR" "q/a has not ended in time"
    expect_status 6 reeve wait q/c
    expect_has "$ERR" "q/c was cancelled"
    expect_status 1 reeve wait q/none
    expect_has "$ERR" "no task q/none"
    expect_status 0 reeve watch q --since 1h --count 1
    expect_has "$OUT" "q/d"
}

writes_are_refused() {
    local words
    while read -r words; do
        # shellcheck disable=SC2086
        expect_status 1 reeve $words
        expect_has "$ERR" "READONLY"
    done <<'END'
enqueue q t
watch other --timeout 0.5
cancel q/a
pause q
cron pause q/daily
END
    expect_status 1 reeve doctor
    expect_has "$OUT" "a replica"
}

on_a_replica() {
    # (A server in cluster mode becomes no replica without a master.)
    [ "${REEVE_TEST_OVER:-unix}" != cluster ] || return 0
    redis REPLICAOF 127.0.0.1 1 >/dev/null
    reads
    waits_and_watches
    writes_are_refused
    redis REPLICAOF NO ONE >/dev/null
}

out_of_memory() {
    redis CONFIG SET maxmemory 1 >/dev/null
    reads
    redis CONFIG SET maxmemory 0 >/dev/null
}

fill
reads
on_a_replica
out_of_memory
