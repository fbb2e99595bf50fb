#!/usr/bin/env bash
# st_newer_data.sh - data of a newer release in the same format: fields, settings, events, messages and requests that this
# release does not know. It uses the tasks and queues, passes on what it does not know, and removes none of it.
. "$(dirname "$0")/lib.sh"

# A task with a field in its envelope, and in info:<id>, that this release does not know.
age() {
    local handle=$1 queue id envelope end=$'}\n' newer=$',"newer":{"a":[1,"x"]}}\n'
    queue=${1%/*} id=${1#*/}
    envelope=$(redis HGET "reeve:{$queue}:tasks" "$id"; echo .)
    envelope=${envelope%?.}
    redis HSET "reeve:{$queue}:tasks" "$id" "${envelope/"$end"/"$newer"}" >/dev/null
    [ "$(of_task "$handle" state)" != '' ] || fail "$handle is not shown"
}
expect_newer() { expect_has "$(redis HGET "reeve:{${1%/*}}:tasks" "${1#*/}")" '"newer":{"a":[1,"x"]}'; }

start_redis
redis HSET "reeve:{q}:settings" newer 7 >/dev/null
expect_status 0 reeve settings q --keep-completed 1d
expect_status 0 reeve events q --keep 1000

# Tasks that wait are changed, moved, retried and run.
for id in edited moved late failed; do expect_status 0 reeve enqueue q echo "\"$id\"" --id $id --in 1h --tag t; done
expect_status 0 reeve enqueue q echo '"blocked"' --id blocked
for id in edited moved late blocked failed; do age "q/$id"; done
expect_status 0 reeve edit q/edited --payload '"changed"' --attempts 3
expect_newer q/edited
expect_status 0 reeve tag q/edited --add other
expect_newer q/edited
expect_status 0 reeve reschedule q/late --in 2h --priority 4
expect_newer q/late
expect_status 0 reeve move q/moved --to r
expect_newer r/moved
expect_status 0 reeve enqueue r noop --id parent --in 1h
expect_status 0 reeve depend q/blocked --after r/parent
expect_newer q/blocked
expect_status 0 reeve fail q/failed --message m
expect_eq "$(of_task q/failed state)" '"dead"'
expect_newer q/failed
expect_status 0 reeve retry q/failed
expect_newer q/failed
expect_status 0 reeve retry q/late
expect_status 0 reeve retry q/edited r/moved r/parent
redis HSET "reeve:{q}:info:failed" newer 1 >/dev/null

# A worker gets messages and requests that it does not know, and a message that no release can read waits for a newer one.
redis RPUSH "reeve:{q}:outbox" "1 Z r/moved later" >/dev/null
write_conf w "session = 1.0" 'pools = ( { name = "p"; queues = [ "q", "r" ]; threads = 2; } );'
start_worker w
wait_for '[ "$(of_task q/blocked state)" = "\"completed\"" ]' 20
for handle in q/edited q/late q/failed r/moved; do
    expect_status 0 reeve wait "$handle" --timeout 40
    expect_eq "$(of_task "$handle" state)" '"completed"'
    expect_newer "$handle"
done
expect_eq "$(redis HGET "reeve:{q}:info:failed" newer)" 1
wait_for '[ "$(redis LLEN "reeve:{q}:unread")" = 1 ]' 20
redis PUBLISH reeve:control "newer q 1 2 3" >/dev/null
redis PUBLISH reeve:control "due" >/dev/null
worker=$(redis KEYS 'reeve:worker:*')
redis HSET "$worker" newer 1 >/dev/null
redis PUBLISH "reeve:alive:${worker##*:}" "ask 123 newer words" >/dev/null
wait_for '[ "$(redis LLEN reeve:answer:123)" = 1 ]' 20
expect_has "$(redis LRANGE reeve:answer:123 0 -1)" "refused"
expect_status 0 reeve workers
expect_eq "$(redis HGET "reeve:{q}:settings" newer)" 7
expect_has "$(reeve enqueue q echo '"still"' --wait=20)" 'result: "still"'

# An event and a recurring entry.
redis XADD "reeve:{q}:events" '*' event newer id edited more 1 >/dev/null
expect_status 0 timeout 20 "$REEVE" watch q/edited
expect_status 0 reeve cron add tick 'every 1h' q echo '"tick"'
expect_status 0 reeve cron list
end "$WORKER_PID"
expect_eq "$ENDED" 0 "the worker's status"
expect_status 0 reeve check r
