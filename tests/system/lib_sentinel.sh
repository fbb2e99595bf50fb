# lib_sentinel.sh - a master, two replicas and three Sentinels of a test's own, on loopback. To be read after lib.sh.
#
# start_nodes [ARGUMENT...]  starts all six; the arguments are those of the three servers. Sets PORTS (of the servers, the
#                            master first), SENTINELS (ports), SENTINEL_URL
# master_port                the port that a Sentinel names;  moved_since EPOCH: whether a failover has ended
# PIDS                       of the servers, by port: ${PIDS[PORT]}

declare -A PIDS=()
declare -a PORTS=() SENTINELS=()

# start_node NAME COMMAND...: starts a program that gets a free port as its last arguments, and waits until it answers.
# Sets PORT; its process is ${PIDS[PORT]}.
start_node() {
    local name=$1 pid
    shift
    mkdir -p "$TEST_DIR/$name"
    while :; do
        PORT=$((10000 + (RANDOM * 32768 + RANDOM) % 22000))
        [ -z "${PIDS[$PORT]:-}" ] || continue
        "$@" --port $PORT </dev/null >/dev/null 2>&1 &
        pid=$!
        while kill -0 $pid 2>/dev/null; do
            if [ "$(redis_at $PORT INFO server 2>/dev/null | sed -n 's/^process_id:\([0-9]*\).*/\1/p')" = $pid ]; then
                PIDS[$PORT]=$pid
                own $pid
                return 0
            fi
            pause 0.02
        done
    done
}

# start_server NAME [ARGUMENT...]
start_server() {
    local name=$1
    shift
    start_node "$name" redis-server --bind 127.0.0.1 --dir "$TEST_DIR/$name" --save '' --appendonly yes --daemonize no \
        --logfile "$TEST_DIR/$name/log" --repl-diskless-sync-delay 0 --repl-ping-replica-period 1 "$@"
}

# start_again PORT [ARGUMENT...]: a server that has ended, on its port.
start_again() {
    local port=$1
    shift
    redis-server --bind 127.0.0.1 --dir "$TEST_DIR" --save '' --appendonly no --daemonize no --port "$port" \
        --repl-diskless-sync-delay 0 "$@" </dev/null >/dev/null 2>&1 &
    PIDS[$port]=$!
    own $!
}

start_sentinel() {
    local name=$1 conf=$TEST_DIR/$1.conf
    {
        echo "sentinel monitor main 127.0.0.1 ${PORTS[0]} 2"
        echo "sentinel down-after-milliseconds main 1000"
        echo "sentinel failover-timeout main 2000"
    } >"$conf"
    start_node "$name" redis-server "$conf" --sentinel --bind 127.0.0.1 --logfile "$TEST_DIR/$name/log"
}

# knows_all: the first Sentinel knows two replicas and two other Sentinels, and so do the others.
knows_all() {
    local port
    for port in "${SENTINELS[@]}"; do
        redis_at "$port" INFO sentinel 2>/dev/null | grep -q 'status=ok,.*,slaves=2,sentinels=3' || return 1
    done
}

start_nodes() {
    local i
    start_server server1 "$@"
    PORTS=("$PORT")
    for i in 2 3; do
        start_server "server$i" --replicaof "127.0.0.1 ${PORTS[0]}" "$@"
        PORTS+=("$PORT")
    done
    for i in 1 2 3; do
        start_sentinel "sentinel$i"
        SENTINELS+=("$PORT")
    done
    SENTINEL_URL=redis-sentinel://127.0.0.1:${SENTINELS[0]},127.0.0.1:${SENTINELS[1]},127.0.0.1:${SENTINELS[2]}/main
    wait_for knows_all 20
}

# master_port [SENTINEL]
master_port() {
    redis_at "${1:-${SENTINELS[2]}}" SENTINEL GET-MASTER-ADDR-BY-NAME main 2>/dev/null | sed -n 2p
}

# sentinel_epoch SENTINEL: how many failovers it knows of, and more.
sentinel_epoch() { redis_at "$1" SENTINEL MASTER main 2>/dev/null | sed -n '/^config-epoch$/{n;p}'; }

# moved_since EPOCH: all Sentinels know of a later failover and name one server, which says that it is a master. (A name
# alone does not tell: a second failover may have gone back.)
moved_since() {
    local sentinel epoch port named=
    for sentinel in "${SENTINELS[@]}"; do
        epoch=$(sentinel_epoch "$sentinel") port=$(master_port "$sentinel")
        [ -n "$port" ] && [ "$port" = "${named:-$port}" ] && [ "${epoch:-0}" -gt "$1" ] || return 1
        named=$port
    done
    [ "$(redis_at "$named" ROLE 2>/dev/null | head -n 1)" = master ]
}
