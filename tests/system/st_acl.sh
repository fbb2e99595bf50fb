# st_acl.sh - producers, a worker, an operator and a viewer under users who have just the rights that `reeve acl` prints.
. "$(dirname "$0")/lib.sh"

start_redis --appendonly yes
expect_status 2 reeve acl boss
expect_status 2 reeve acl producer --queue 'no queue'
expect_status 2 reeve acl

# user NAME ROLE [ARGUMENT...]: a user with the rights of that role.  as NAME ARGUMENT...: reeve, as that user.
user() {
    local name=$1
    shift
    expect_status 0 reeve acl "$@"
    set -f
    # shellcheck disable=SC2086
    expect_eq "$(redis ACL SETUSER "$name" reset on '>secret' $OUT)" OK "$name"
    set +f
}
as() {
    local name=$1
    shift
    "$REEVE" --redis "$(redis_as "$name:secret")" "$@"
}

# Whatever scripts, the library and the workers send is among the rules of the operator, and each key of the namespace.
operators_may_do_all() {
    local rules name part
    rules=" $(reeve acl operator) "
    redis COMMAND LIST | tr a-z A-Z | sort >"$TEST_DIR/commands"
    (
        cd "$REEVE_SOURCE/src" || exit 1
        grep -rhoE "'[A-Z]{3,}'" lua
        grep -rhoE 'rv_args\([^"]*"[A-Z]{3,}"\)' client protocol redis running upkeep worker consumer | grep -oE '"[A-Z]+"'
    ) | tr -d "\"'" | sort -u | comm -12 - "$TEST_DIR/commands" >"$TEST_DIR/sent"
    [ "$(wc -l <"$TEST_DIR/sent")" -gt 60 ] || fail "only $(wc -l <"$TEST_DIR/sent") commands were found"
    # (Its own server; and a command that Redis 7.0 does not know.)
    for name in $(grep -vxE 'SHUTDOWN|WAITAOF|AUTH|HELLO' "$TEST_DIR/sent" | tr A-Z a-z); do
        [[ $rules == *" +$name "* || $rules == *" +$name|"* ]] || fail "operators may not $name"
    done
    for name in $(sed -n "s/.*{name = 'reeve:\([^']*\)'.*/\1/p" "$REEVE_SOURCE/src/protocol/definition/global_keys.lua"); do
        part=reeve:${name%%<*}
        [ "$part" = "reeve:$name" ] || part="$part*"
        [[ $rules == *" ~$part "* || $rules == *" &$part "* ]] || fail "operators have no rights to $name"
    done
}
operators_may_do_all

user shop producer --queue mail
user works worker --queue mail
user boss operator
user looks viewer
redis ACL LOG RESET >/dev/null

write_conf w "session = 1;" 'pools = ( { queues = [ "mail" ]; threads = 2; } );'
start_worker w --redis "$(redis_as works:secret)"
wait_for '[ "$(redis SCARD reeve:workers)" = 1 ]' 20
# An idle thread is handed its task; a batch is bulk-inserted; options, a wait, a child.
expect_status 0 as shop enqueue mail echo a --wait
expect_status 0 as shop enqueue mail echo b --id b --in 3600 --tag t --unique k --group g --priority 3
expect_status 1 as shop enqueue mail echo c --unique k
expect_status 0 as shop enqueue mail echo d --after mail/b
seq 200 | sed 's/.*/{"payload":"&"}/' >"$TEST_DIR/lines"
expect_status 0 as shop enqueue --bulk mail echo <"$TEST_DIR/lines"
expect_status 0 as shop show mail/b
expect_status 0 as shop cancel mail/b --cascade
expect_status 0 as shop queues mail
expect_status 0 as works enqueue mail fail '{"kind":"k","message":"m","times":1}' --attempts 1
wait_for '[ "$(in_queue mail ready)" = 0 ] && [ "$(in_queue mail running)" = 0 ]' 20
expect_eq "$(in_queue mail dead)" 1
for verb in "queues" "show mail/b" "list mail --state dead" "stats" "workers" "why mail" "failures mail" "tags mail" "limit mail" \
    "settings mail" "cron list mail" "peek mail" "ping" "events mail"; do
    # shellcheck disable=SC2086
    expect_status 0 as looks $verb
    # shellcheck disable=SC2086
    expect_status 0 as boss $verb
done
for verb in "broadcast mail noop" "check mail" "pause mail" "resume mail" "limit mail --concurrency 5" "settings mail --attempts 3" "retry mail --all" "events mail --keep 10" \
    "cron add nightly @daily mail echo" "cron remove mail/nightly"; do
    # shellcheck disable=SC2086
    expect_status 0 as boss $verb
done
expect_status 0 as boss doctor
expect_lacks "$(cat "$TEST_DIR/w.log")" level=error
expect_lacks "$(cat "$TEST_DIR/w.log")" control.deaf
# Nothing was refused that reeve needed; CONFIG GET tells passwords, and is for operators.
expect_eq "$(redis ACL LOG 128 | sed -n '/^object$/{n;p}' | grep -v '^config|get$' | sort -u)" ""

# What is not theirs.
expect_status 1 as shop enqueue other echo x
expect_has "$ERR" NOPERM
expect_status 1 as looks enqueue mail echo x
expect_status 1 as looks pause mail
for name in shop works looks; do
    for command in "FLUSHALL" "CONFIG SET maxmemory 1" "ACL SETUSER $name +@all" "SET other x" "GET other" "KEYS *"; do
        # shellcheck disable=SC2086
        expect_has "$(set -f; redis --user "$name" --pass secret --no-auth-warning $command 2>&1)" NOPERM
    done
done
expect_has "$(redis --user looks --pass secret --no-auth-warning DEL 'reeve:{mail}:tasks' 2>&1)" NOPERM
end "$WORKER_PID"
expect_eq "$ENDED" 0
