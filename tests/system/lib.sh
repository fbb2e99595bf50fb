# lib.sh - what the system tests share. A test begins with:
#
#     . "$(dirname "$0")/lib.sh"
#
# and ends well by reaching its end. REEVE_BUILD names the build directory whose programs are tested.
#
# Variables:  TEST_DIR  a directory of this test's own, removed at the end
#             REEVE, REEVE_WORKER  the programs;  PLUGIN_DIR  where the build put the plugins
#             REDIS_URL, REDIS_SOCKET, REDIS_PID, REDIS_DIR  set by start_redis; REEVE_REDIS is exported with the URL.
#             REEVE_TEST_OVER=tls or =cluster makes the programs of all tests connect in that way; =acl as users with the
#             rights that `reeve acl` prints: workers as worker, commands as operator.
#             OUT, ERR, STATUS  what the last `run` or `expect_status` printed and returned; the raw bytes are in
#             $TEST_DIR/out and $TEST_DIR/err
#             WORKER_PID  the worker that start_worker started last
#             SANITIZED  1 when the programs are built with sanitizers: slower and larger (or REEVE_SANITIZED=1 says so)
# Processes:  a test registers what it starts with `own PID`; the trap kills those by pid, never by name.
set -u

: "${REEVE_BUILD:?set REEVE_BUILD to the build directory}"
REEVE="$REEVE_BUILD/bin/reeve"
REEVE_WORKER="$REEVE_BUILD/bin/reeve-worker"
PLUGIN_DIR="$REEVE_BUILD/plugins"
[ -x "$REEVE" ] && [ -x "$REEVE_WORKER" ] || { echo "$REEVE_BUILD: there are no programs" >&2; exit 1; }
TEST_DIR=$(mktemp -d "${TMPDIR:-/tmp}/reeve-st.XXXXXX") || exit 1
mkfifo "$TEST_DIR/never" || exit 1 # to which nobody writes
OUT= ERR= STATUS=0 REDIS_PID= REDIS_DIR= OWNED= WORKER_PID= REDIS_PORT=
SANITIZED=${REEVE_SANITIZED:-$(exec sed -n 's/^REEVE_SANITIZE:[A-Z]*=..*/1/p' "$REEVE_BUILD/CMakeCache.txt" 2>/dev/null)}
# A socket of an earlier shell must not be used by mistake.
unset REEVE_REDIS

# verbs: the names of all verbs, as `reeve --help` lists them.
verbs() { "$REEVE" --help | sed -n '/^Options/q;s/^  \([a-z]*\)  *.*/\1/p'; }

# lua: the interpreter of the build.
lua() { command -v lua5.1 || command -v lua || command -v luajit || fail "there is no Lua"; }

# own PID...: kill these when the test ends.
own() { OWNED="$OWNED $*"; }

# end PID [SIGNAL]: ends a process that was owned (default TERM) and waits for it; ENDED is its exit status.
end() {
    local pid left=
    kill "-${2:-TERM}" "$1" 2>/dev/null
    ENDED=0
    wait "$1" 2>/dev/null || ENDED=$?
    for pid in $OWNED; do [ "$pid" = "$1" ] || left="$left $pid"; done
    OWNED=$left
}

# freeze PID: stops it, and waits until each of its threads has stopped.
freeze() {
    kill -STOP "$1"
    wait_for "! grep -L '^State:.*(stopped)' /proc/$1/task/*/status | grep -q ." 10
}

# What sanitizers said in the logs of this test makes it fail, unless it expects that (SANITIZER_EXPECTED=1).
look_for_reports() {
    [ -n "$SANITIZED" ] && [ -z "${SANITIZER_EXPECTED:-}" ] || return 0
    ! grep -hE -A 30 'Sanitizer|runtime error:' "$TEST_DIR"/*.log "$TEST_DIR/err" >&2 2>/dev/null
}

# What the users of give_rights were refused makes the test fail. (CONFIG GET shows passwords: workers do without it.)
look_for_refusals() {
    [ "${REEVE_TEST_OVER:-unix}" = acl ] && [ -n "$REDIS_PID" ] || return 0
    local refused
    refused=$(redis ACL LOG 128 2>/dev/null | sed -n '/^object$/{n;p};/^username$/{n;p}' | paste - - |
        grep -P '\t(operator|worker)$' | grep -v '^config|get' | sort -u)
    [ -z "$refused" ] || echo "refused: $refused" >&2
    [ -z "$refused" ]
}

clean_up() {
    local status=$? pid
    trap - EXIT INT TERM
    look_for_refusals || status=1
    for pid in $OWNED $REDIS_PID; do
        # A supervised worker would end by itself, a moment later.
        for pid in $(tr -d '\0' 2>/dev/null <"/proc/$pid/task/$pid/children") "$pid"; do
            kill -CONT "$pid" 2>/dev/null
            kill -KILL "$pid" 2>/dev/null
        done
        wait "$pid" 2>/dev/null
    done
    look_for_reports || status=1
    rm -rf "$TEST_DIR"
    exit "$status"
}
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# fail WORDS...: says where and why, shows what the last program said, ends the test. (In a subshell it ends that only.)
fail() {
    local frame=0
    echo "FAILED: $*" >&2
    while caller $frame >&2; do frame=$((frame + 1)); done
    if [ -s "$TEST_DIR/out" ]; then echo "--- last output:"; head -c 2000 "$TEST_DIR/out"; fi >&2
    if [ -s "$TEST_DIR/err" ]; then echo "--- last errors:"; head -c 2000 "$TEST_DIR/err"; fi >&2
    exit 1
}

# run COMMAND...: runs it (standard input is the caller's) and sets OUT, ERR, STATUS.
run() {
    STATUS=0
    "$@" >"$TEST_DIR/out" 2>"$TEST_DIR/err" || STATUS=$?
    text_of OUT "$TEST_DIR/out"
    text_of ERR "$TEST_DIR/err"
}

# text_of NAME FILE: sets NAME to the file's text, without its NULs and the newlines at its end. (As $(...) would, but
# without a process: to start one takes longer than most of what the tests do.)
text_of() {
    local text='' part=
    while IFS= read -r -d '' part; do text+=$part; done <"$2"
    text+=$part
    while [[ $text == *$'\n' ]]; do text=${text%$'\n'}; done
    printf -v "$1" %s "$text"
}

# expect_status N COMMAND...: run, and the exit status is N.
expect_status() {
    local want=$1
    shift
    run "$@"
    [ "$STATUS" = "$want" ] || fail "status $STATUS, expected $want: $*"
}

# expect_eq ACTUAL EXPECTED [WORDS...]
expect_eq() {
    local actual=$1 expected=$2
    shift 2
    [ "$actual" = "$expected" ] || fail "'$actual' is not '$expected'${*:+ ($*)}"
}

# expect_lines N: standard output of the last command has so many.  expect_silent, expect_quiet: nothing was printed there,
# or on standard error.
expect_lines() {
    local lines
    mapfile -t lines <"$TEST_DIR/out"
    expect_eq "${#lines[@]}" "$1" "lines of output"
}
expect_silent() { expect_eq "$OUT" "" "standard output"; }
expect_quiet() { expect_eq "$ERR" "" "standard error"; }

# expect_has TEXT PART: TEXT contains PART, literally.  expect_lacks: it does not.
expect_has() { case $1 in *"$2"*) ;; *) fail "'$2' is not in '$1'" ;; esac; }
expect_lacks() { case $1 in *"$2"*) fail "'$2' is in '$1'" ;; esac; }

# pause SECONDS: as sleep, without a process.
pause() { read -rt "$1" <>"$TEST_DIR/never" || :; }

# wait_for CONDITION SECONDS: evaluates CONDITION every 20 ms until it is true; fails when four times SECONDS have passed
# (which say how long it may take where the machine has time).
wait_for() {
    local condition=$1 seconds=$2 end
    end=$((${EPOCHREALTIME//[.,]/} + seconds * 4000000))
    until eval "$condition"; do
        [ "${EPOCHREALTIME//[.,]/}" -lt "$end" ] || fail "not within $((4 * seconds)) s: $condition"
        pause 0.02
    done
}

# free_port: a port that nobody listens on; another program may take it meanwhile.
free_port() {
    local port
    while port=$((20000 + (RANDOM * 32768 + RANDOM) % 12000)) && (exec 9<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; do :; done
    echo "$port"
}

# make_certificate DIR: an authority and a server's certificate for 127.0.0.1, in DIR: ca.pem, server.pem, server.key.
make_certificate() (
    new="-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes"
    mkdir -p "$1" && cd "$1" || exit 1
    printf 'subjectAltName=IP:127.0.0.1\n' >server.ext
    # shellcheck disable=SC2086
    {
        openssl req -x509 $new -days 2 -subj /CN=ca -keyout ca.key -out ca.pem
        openssl req -new $new -subj /CN=server -keyout server.key -out server.csr
        openssl x509 -req -in server.csr -CA ca.pem -CAkey ca.key -CAcreateserial -extfile server.ext -days 2 -out server.pem
    } >openssl.log 2>&1
)

# How programs reach the server of start_redis: REEVE_TEST_OVER is unix (the default), acl, tls, or cluster, which is a node that
# has all slots. `redis` goes to its unix socket in any case. Sets REDIS_URL and REDIS_OVER, the server's arguments for that.
choose_transport() {
    local port
    REDIS_OVER=(--port 0)
    REDIS_URL=unix://$REDIS_SOCKET
    [[ ! ${REEVE_TEST_OVER:-unix} =~ ^(unix|acl)$ ]] || return 0
    port=${REDIS_PORT:-$(free_port)}
    REDIS_PORT=$port
    case $REEVE_TEST_OVER in
    tls)
        [ -e "$TEST_DIR/tls/server.pem" ] || make_certificate "$TEST_DIR/tls" || fail "openssl makes no certificate"
        REDIS_URL="rediss://127.0.0.1:$port?ca=$TEST_DIR/tls/ca.pem"
        REDIS_OVER+=(--tls-port "$port" --tls-auth-clients no --tls-ca-cert-file "$TEST_DIR/tls/ca.pem"
            --tls-cert-file "$TEST_DIR/tls/server.pem" --tls-key-file "$TEST_DIR/tls/server.key")
        ;;
    cluster)
        REDIS_URL=redis-cluster://127.0.0.1:$port
        REDIS_OVER=(--port "$port" --cluster-port "$((port - 10000))" --bind 127.0.0.1 --cluster-enabled yes)
        ;;
    *) fail "REEVE_TEST_OVER is unix, acl, tls or cluster" ;;
    esac
}

# start_redis [ARGUMENT...]: a redis-server of this test's own, without persistence unless the arguments say so
# (start_redis --appendonly yes). After stop_redis it starts again at the same place and in the same directory.
start_redis() {
    REDIS_DIR=${REDIS_DIR:-$TEST_DIR/redis}
    REDIS_SOCKET=$REDIS_DIR/redis.sock
    mkdir -p "$REDIS_DIR"
    rm -f "$REDIS_SOCKET"
    choose_transport
    export REEVE_REDIS=$REDIS_URL
    redis-server "${REDIS_OVER[@]}" --unixsocket "$REDIS_SOCKET" --dir "$REDIS_DIR" --save '' --appendonly no \
        --daemonize no --logfile "$REDIS_DIR/redis.log" "$@" </dev/null >/dev/null 2>&1 &
    REDIS_PID=$!
    wait_for '[ "$(redis PING 2>/dev/null)" = PONG ]' 30
    [ "${REEVE_TEST_OVER:-unix}" != cluster ] || serve_all_slots
    [ "${REEVE_TEST_OVER:-unix}" != acl ] || give_rights
}

# Users with the rights that `reeve acl` prints: REEVE_REDIS is the URL of the operator.
give_rights() {
    local role rules
    for role in operator worker; do
        rules=$("$REEVE" acl "$role") || fail "reeve acl $role"
        set -f
        # shellcheck disable=SC2086
        redis ACL SETUSER "$role" reset on '>secret' $rules >/dev/null
        set +f
    done
    REEVE_REDIS=$(redis_as operator:secret)
}

serve_all_slots() {
    case $(redis CLUSTER INFO) in
    *cluster_slots_assigned:0*) redis CLUSTER ADDSLOTSRANGE 0 16383 >/dev/null ;;
    esac
    wait_for '[[ $(redis CLUSTER INFO) == *cluster_state:ok* ]]' 30
}

# redis_as USER:PASSWORD: the URL of that server for this user; ":PASSWORD" for the default one.
redis_as() { printf '%s\n' "${REDIS_URL/:\/\//://$1@}"; }

# skip_over TRANSPORT WHY: a test that cannot be run over it.
skip_over() {
    [ "${REEVE_TEST_OVER:-unix}" = "$1" ] || return 0
    echo "over $1: $2"
    exit 77
}

# stop_redis [SIGNAL]: ends it (default TERM) and waits for its end.
stop_redis() {
    kill "-${1:-TERM}" "$REDIS_PID" 2>/dev/null
    wait "$REDIS_PID" 2>/dev/null
    REDIS_PID=
}

# redis COMMAND...: redis-cli on that server. redis_at SOCKET|PORT COMMAND...: on another of this machine. (By tests/redis_call,
# which starts much sooner, where that is built; with options of redis-cli, or commands on standard input, by itself.)
redis() { redis_at "$REDIS_SOCKET" "$@"; }
redis_at() {
    case $REDIS_CALL,${2:-} in
    ,* | *,-* | *,) if [[ $1 == */* ]]; then redis-cli -s "$@"; else redis-cli -p "$@"; fi ;;
    *) "$REDIS_CALL" "$@" ;;
    esac
}
REDIS_CALL=$REEVE_BUILD/tests/redis_call
[ -x "$REDIS_CALL" ] || REDIS_CALL=

# reeve ARGUMENT...: the command line, on that server by REEVE_REDIS.
reeve() { "$REEVE" "$@"; }

# member NAME TEXT: the value of a member in a line of JSON, as it is written there (strings with their quotes).
member() {
    local name=$1 text=$2 pattern
    pattern="\"$name\":(\"([^\"\\\\]|\\\\.)*\"|[^,{}\"]+|\[[^]]*\]|\{[^}]*\})"
    [[ $text =~ $pattern ]] && printf '%s' "${BASH_REMATCH[1]}"
}

# in_queue QUEUE MEMBER: a number of a queue (ready, running, completed, dead, ...).  of_task HANDLE MEMBER: of a task.
in_queue() { member "$2" "$(exec "$REEVE" queues "$1" --json 2>/dev/null)"; }
of_task() { member "$2" "$(exec "$REEVE" show "$1" --json 2>/dev/null)"; }

# is_still QUEUE COMPLETED DEAD: so many tasks have ended, and none is anywhere else.
is_still() {
    local line
    line=$(exec "$REEVE" queues "$1" --json 2>/dev/null)
    case $line in
    *'"blocked":0,"scheduled":0,"ready":0,"parked":0,"running":0,'*"\"completed\":$2,\"dead\":$3,"*) return 0 ;;
    *) return 1 ;;
    esac
}

# bulk QUEUE: enqueues the JSON lines of standard input. (At the end of a pipe: `... | bulk q || exit 1`.)
bulk() { reeve enqueue --bulk "$1" >"$TEST_DIR/handles" 2>"$TEST_DIR/err" || fail "not all was enqueued"; }

# write_conf NAME WORKER LINE...: $TEST_DIR/NAME.conf, for a worker of that name with these settings of its group
# ("session = 1;"), the sample plugin, and the lines (the pools, at least).
write_conf() {
    local name=$1 settings=$2
    shift 2
    {
        echo "worker = { name = \"$name\"; $settings };"
        echo "plugin_dir = \"$PLUGIN_DIR\"; plugins = [ \"sample\" ];"
        printf '%s\n' "$@"
    } >"$TEST_DIR/$name.conf"
}

# start_worker NAME [ARGUMENT...]: a worker by $TEST_DIR/NAME.conf; its log goes to the end of $TEST_DIR/NAME.log.
start_worker() {
    local name=$1
    shift
    (
        [ "${REEVE_TEST_OVER:-unix}" != acl ] || export REEVE_REDIS="${REEVE_REDIS/operator:/worker:}"
        exec "$REEVE_WORKER" -c "$TEST_DIR/$name.conf" "$@"
    ) </dev/null >>"$TEST_DIR/$name.log" 2>&1 &
    WORKER_PID=$!
    own "$WORKER_PID"
}

# start_alone NAME [ARGUMENT...]: the same without a supervisor, for tests that kill or stop the worker's process itself.
start_alone() { start_worker "$@" --no-supervise; }

# worker_child PID: the process of a supervised worker, whose supervisor is PID.
worker_child() { tr -d ' \0' 2>/dev/null <"/proc/$1/task/$1/children"; }

# takes_signals PID: the program has come so far that USR1 (number 10) does not end it: it catches or blocks the signal.
takes_signals() {
    local name mask
    while read -r name mask; do
        case $name in SigCgt: | SigBlk:) [ $((0x$mask & 1 << 9)) = 0 ] || return 0 ;; esac
    done 2>/dev/null <"/proc/$1/status"
    return 1
}

# are_busy NAME N: so many threads of the worker that was started last run a handler; its log is $TEST_DIR/NAME.log. (A task is
# running from its lease on, and its thread may not have read of it yet.)
are_busy() {
    takes_signals "$WORKER_PID" || return 1
    kill -USR1 "$WORKER_PID"
    pause 0.05
    local stats
    mapfile -t stats < <(exec grep event=program.stats "$TEST_DIR/$1.log")
    [[ ${stats[-1]:-} =~ " busy=$2"(" "|$) ]]
}

# logged NAME EVENT: how many lines of that event the log of $TEST_DIR/NAME.log has.
logged() { grep -c "event=$2 " "$TEST_DIR/$1.log"; }

# aof_ended SET: the ids that were put into a set of ended tasks (".*:completed"), one line for each time, from the
# append-only file, which has what scripts did as plain commands. Needs start_redis --appendonly yes
# --auto-aof-rewrite-percentage 0.
aof_ended() {
    cat "$REDIS_DIR"/appendonlydir/*.incr.aof | tr -d '\r' | LC_ALL=C awk -v "set=$1" '
        # An argument: its length after a dollar sign, then so many bytes, perhaps over several lines.
        function argument(  length_, text) {
            getline; length_ = substr($0, 2) + 0
            getline; text = $0
            while (length(text) < length_) { getline; text = text "\n" $0 }
            return text
        }
        /^\*[0-9]+$/ {
            count = substr($0, 2) + 0
            for (i = 1; i <= count; i++) words[i] = argument()
            if (toupper(words[1]) != "ZADD" || words[2] !~ (set "$")) next
            for (i = 4; i <= count; i += 2) print words[i]
        }'
}

# ---- a terminal -----------------------------------------------------------------------------------------------------------

# tmux_start COLUMNS LINES COMMAND...: runs it on a terminal of this size, of a tmux server of this test's own.
tmux_start() {
    local columns=$1 lines=$2
    shift 2
    TMUX_SOCKET=$(mktemp -u "$TEST_DIR/tmux.XXXXXX")
    tmux -f /dev/null -S "$TMUX_SOCKET" new-session -d -x "$columns" -y "$lines" -s t "$@" \; set -g status off ||
        fail "tmux does not start"
    own "$(tmux -S "$TMUX_SOCKET" display -p '#{pid}')"
}

# tmux_type KEYS...: as tmux send-keys. tmux_screen: what the terminal shows. tmux_wait PATTERN: until a line shows it.
tmux_type() { tmux -S "$TMUX_SOCKET" send-keys -t t "$@" || fail "the terminal is gone"; }
tmux_screen() { tmux -S "$TMUX_SOCKET" capture-pane -p -t t 2>/dev/null; }
tmux_wait() {
    local pattern=$1
    (wait_for 'tmux_screen | grep -qE -- "$pattern"' "${2:-15}") 2>"$TEST_DIR/waited" && return
    tmux_screen >&2
    fail "the terminal does not show $pattern"
}
tmux_end() { tmux -S "$TMUX_SOCKET" kill-server 2>/dev/null; }
