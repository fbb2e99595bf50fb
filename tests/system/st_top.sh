# st_top.sh - `reeve top` on terminals of two sizes: what it shows, where the keys lead, and what they change.
. "$(dirname "$0")/lib.sh"

start_redis
for i in 1 2 3; do reeve enqueue mail echo --id "ready-$i" --priority "$i" >/dev/null; done
reeve enqueue thumbs echo --id late --in 1h >/dev/null
reeve fail mail/ready-3 --kind smtp --message 'no route' >/dev/null || fail "no dead task"

# top COLUMNS LINES [ARGUMENT...]: on a terminal of its own, in a shell that has job control.
top() {
    local columns=$1 lines=$2
    shift 2
    tmux_start "$columns" "$lines" env -i PATH="$PATH" REEVE_REDIS="$REEVE_REDIS" TERM=xterm LANG=C.UTF-8 bash --norc --noprofile
    tmux_type "PS1='sh> '; clear; '$REEVE' top $* --interval 200ms" Enter
}

# ---- without a terminal ----------------------------------------------------------------------------------------------------

expect_status 0 reeve top --once --lines 12
expect_lines 12
expect_has "$OUT" "[1 Queues]"
expect_has "$OUT" "ready 2  running 0  dead 1"
grep -qE '^> +mail +no +2 +0 +0 +1' "$TEST_DIR/out" || fail "no row of mail"
expect_status 0 reeve top mail --once --tab dead
expect_has "$OUT" "no route"
expect_status 2 reeve top </dev/null
expect_has "$ERR" "--once"
expect_status 2 reeve top --tab nonsense
expect_status 3 reeve top --once --redis unix:///nonexistent/redis.sock

# ---- 80 x 24 -----------------------------------------------------------------------------------------------------------------

top 80 24
tmux_wait '\[1 Queues\]'
tmux_wait '^> +mail '
[ "$(tmux_screen | LC_ALL=C.UTF-8 wc -L)" -le 80 ] || fail "lines are too long"
tmux_wait '^top is|\?: help'
tmux_wait '6 Log.* top [0-9.]+ ms *$'
tmux_type Enter
tmux_wait '\[2 Tasks\]'
tmux_wait 'queue mail, ready'
tmux_wait '^> +mail/ready-'
tmux_type j
tmux_wait '^> +mail/ready-2|^> +mail/ready-1'
# What changes something asks, tells the count and the command, and does nothing without a yes.
tmux_type Space
tmux_type k
tmux_type Space
tmux_type Space
tmux_wait '2 marked|1 marked'
tmux_type u
tmux_type K
tmux_wait 'reeve cancel mail/ready-[12].*1 of them'
tmux_type n Enter
tmux_wait 'nothing was changed'
expect_eq "$(reeve list mail --json | wc -l)" 2
tmux_type D
tmux_wait 'delete the tasks, 1 of them'
tmux_type y Enter
tmux_wait 'deleted mail/ready-.*\[reeve delete mail/ready-'
expect_eq "$(reeve list mail --json | wc -l)" 1
# The dead ones; a filter; back.
tmux_type 4
tmux_wait 'mail/ready-3.*no route'
tmux_type / nothing-like-it Enter
tmux_wait 'filter "nothing-like-it"'
wait_for '! tmux_screen | grep -q ready-3' 10
tmux_type Escape
tmux_wait 'mail/ready-3'
tmux_type R
tmux_wait 'reeve retry mail/ready-3'
tmux_type y Enter
tmux_wait 'retried mail/ready-3'
expect_eq "$(reeve list mail --json | wc -l)" 2
# Any command.
tmux_type : 'queues thumbs' Enter
tmux_wait 'status 0; Enter goes back'
tmux_wait '^thumbs +no'
tmux_type Enter
tmux_wait '\[4 Dead\]'
# P on queues; what happens outside is seen.
tmux_type 1
tmux_wait '^> +mail +no'
tmux_type P
tmux_wait 'reeve pause mail'
tmux_type y Enter
tmux_wait '^> +mail +([0-9]+ s ago|now|yes)'
reeve enqueue zebra echo >/dev/null
tmux_wait '^ +zebra '
# Ctrl-Z and back; another size; help; the end.
tmux_type C-z
tmux_wait 'Stopped'
tmux_type fg Enter
tmux_wait '\[1 Queues\]'
# The totals, the help and each question fit, also that for a long handle.
expect_has "$(tmux_screen | head -n 2)" "workers 0"
expect_lacks "$(tmux_screen | head -n 2)" "…"
tmux_type '?'
tmux_wait 'signal WORKER quiet'
expect_lacks "$(tmux_screen)" "…"
tmux_type '?'
long=zebra/$(printf 'long%056d' 1)
reeve enqueue zebra echo --id "${long#*/}" --priority -9 >/dev/null
tmux_type / zebra Enter
tmux_wait 'filter "zebra"'
tmux_type Enter
tmux_wait '^> +zebra/long'
tmux_type K
tmux_wait "reeve cancel $long"
tmux_wait 'cancel the tasks, 1 of them\? \(y/n, Enter\)'
tmux_type n Enter
tmux_wait 'nothing was changed'
tmux_type 1
tmux_type / Enter
tmux -S "$TMUX_SOCKET" resize-window -t t -x 60 -y 12
wait_for '[ "$(tmux_screen | wc -l)" -le 12 ] && tmux_screen | grep -q "\[1 Queues\]"' 10
tmux_type '?'
tmux_wait 'any command of reeve'
tmux_type '?'
tmux_type q
tmux_wait '^sh> *$'
tmux_end

# ---- what a refresh costs Redis ----------------------------------------------------------------------------------------------

# A refresh is one call of a script in each tab; Log asks for events besides. (In a cluster queues are asked one by one.)
calls() { redis INFO commandstats | sed -n "s/^cmdstat_$1:calls=\([0-9]*\).*/\1/p"; }
costs() {
    local tab=$1 expected=$2 before
    expect_status 0 reeve top mail --once --tab "$tab"
    before=$(calls evalsha)
    expect_status 0 reeve top mail --once --tab "$tab"
    expect_eq "$(($(calls evalsha) - before))" "$expected" "calls of scripts in the tab $tab"
}
if [ "${REEVE_TEST_OVER:-unix}" != cluster ]; then
    for tab in queues tasks workers dead cron; do costs "$tab" 1; done
    costs log 2
fi

# ---- slow links, other terminals --------------------------------------------------------------------------------------------

# watched BYTES COLUMNS LINES [VARIABLE=VALUE...]: what the terminal gets in ten refreshes, behind the first one, is at most BYTES
# each, while numbers change. The bytes are in $TEST_DIR/bytes.
watched() {
    local limit=$1 columns=$2 lines=$3 refreshes before
    shift 3
    tmux_start "$columns" "$lines" env -i PATH="$PATH" REEVE_REDIS="$REEVE_REDIS" TERM=xterm "$@" bash --norc --noprofile
    tmux_type "PS1='sh> '; clear; '$REEVE' top --interval 200ms" Enter
    tmux_wait '^> +mail '
    tmux -S "$TMUX_SOCKET" pipe-pane -t t "cat >>'$TEST_DIR/bytes'"
    : >"$TEST_DIR/bytes"
    before=$(calls smembers)
    wait_for 'reeve enqueue thumbs echo >/dev/null && [ "$(calls smembers)" -ge $(('"$before"' + 10)) ]' 30
    refreshes=$(($(calls smembers) - before))
    [ -s "$TEST_DIR/bytes" ] || fail "nothing changed on the screen"
    [ "$(stat -c %s "$TEST_DIR/bytes")" -le $((limit * refreshes)) ] ||
        fail "$(stat -c %s "$TEST_DIR/bytes") bytes in $refreshes refreshes"
    tmux_type q
    tmux_wait '^sh> *$'
    tmux_end
}
watched 2048 80 24 LANG=C.UTF-8
watched 2048 200 60 LANG=C.UTF-8
watched 2048 80 24 LANG=C NO_COLOR=1
LC_ALL=C grep -q '[^ -~[:cntrl:]]' "$TEST_DIR/bytes" && fail "bytes beyond ASCII on a terminal without UTF-8"
LC_ALL=C grep -q $'\e\[[0-9;]*3[0-7]m' "$TEST_DIR/bytes" && fail "colours with NO_COLOR"

# ---- 200 x 60 ----------------------------------------------------------------------------------------------------------------

top 200 60 mail --tab tasks
tmux_wait 'queue mail, ready'
tmux_wait 'FAILURES +ERROR'
for i in $(seq 1 80); do echo "{\"id\":\"n$i\"}"; done | reeve enqueue --bulk mail echo >/dev/null 2>&1
wait_for '[ "$(tmux_screen | grep -c mail/)" -ge 50 ]' 10
tmux_type G
tmux_wait '^> +mail/ready-'
# Redis is away: it says so, and goes on when it is back.
stop_redis
tmux_wait 'redis.sock|127.0.0.1:'
start_redis
reeve enqueue mail echo --id anew >/dev/null
tmux_wait '^> +mail/anew'
wait_for '! tmux_screen | grep -qE "redis.sock|127.0.0.1:"' 10
tmux_type q
tmux_wait '^sh> *$'
tmux_end
