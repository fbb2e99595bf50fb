# cluster.sh - a Redis Cluster of a test's own, on loopback; sourced after lib.sh.
#
#     start_cluster MASTERS [REPLICAS]
#
# Variables:  NODES  how many there are; the first MASTERS are masters, the others replicas of the first ones
#             PORT[i], NODE_PID[i], NODE_ID[i]  of node i, from 0;  REEVE_REDIS is exported with the URL of the cluster
declare -a PORT NODE_PID NODE_ID

# node I COMMAND...: as redis-cli, on one node.
node() {
    local at=${PORT[$1]}
    shift
    redis_at "$at" "$@"
}

# start_node I: a server on a free port. Another program may take a port meanwhile: then it tries others.
start_node() {
    local dir=$TEST_DIR/node$1 tries
    mkdir -p "$dir"
    for tries in 1 2 3 4 5 6 7 8 9 10; do
        PORT[$1]=$((20000 + (RANDOM * 32768 + RANDOM) % 12000))
        redis-server --port "${PORT[$1]}" --cluster-port $((PORT[$1] + 12345)) --bind 127.0.0.1 --dir "$dir" --save '' \
            --appendonly no --daemonize no --logfile "$dir/redis.log" --cluster-enabled yes \
            --cluster-config-file nodes.conf --cluster-node-timeout "${CLUSTER_TIMEOUT:-1000}" \
            --repl-diskless-sync-delay 0 </dev/null >/dev/null 2>&1 &
        NODE_PID[$1]=$!
        wait_for "answers $1" 10
        if kill -0 "${NODE_PID[$1]}" 2>/dev/null; then
            own "${NODE_PID[$1]}"
            return
        fi
    done
    fail "no free port after $tries tries"
}

# answers I: the node answers, or its process has ended.
answers() { [ "$(node "$1" PING 2>/dev/null)" = PONG ] || ! kill -0 "${NODE_PID[$1]}" 2>/dev/null; }

# sees_all I: the node knows all others, and all slots are served.
sees_all() {
    local info
    info=$(node "$1" CLUSTER INFO)
    case $info in *cluster_state:ok*"cluster_known_nodes:$NODES"*) return 0 ;; *) return 1 ;; esac
}

start_cluster() {
    local masters=$1 i first last
    NODES=$(($1 + ${2:-0}))
    for ((i = 0; i < NODES; i++)); do start_node "$i"; done
    for ((i = 0; i < NODES; i++)); do
        NODE_ID[i]=$(node "$i" CLUSTER MYID)
        node "$i" CLUSTER SET-CONFIG-EPOCH $((i + 1)) >/dev/null
        [ "$i" = 0 ] || node 0 CLUSTER MEET 127.0.0.1 "${PORT[i]}" $((PORT[i] + 12345)) >/dev/null
    done
    for ((i = 0; i < masters; i++)); do
        first=$((16384 * i / masters)) last=$((16384 * (i + 1) / masters - 1))
        node "$i" CLUSTER ADDSLOTSRANGE "$first" "$last" >/dev/null
    done
    for ((i = 0; i < masters; i++)); do wait_for "sees_all $i" 20; done
    for ((i = masters; i < NODES; i++)); do
        wait_for "node $i CLUSTER NODES | grep -q '${NODE_ID[i - masters]}'" 20
        node "$i" CLUSTER REPLICATE "${NODE_ID[i - masters]}" >/dev/null
        wait_for "node $((i - masters)) INFO replication | grep -q state=online" 20
    done
    export REEVE_REDIS=redis-cluster://127.0.0.1:${PORT[0]},127.0.0.1:${PORT[1]}
}

# slot_of QUEUE: its hash slot.  node_of QUEUE MASTERS: the master that start_cluster gave it to.
slot_of() { node 0 CLUSTER KEYSLOT "$1"; }
node_of() { echo $(($(slot_of "$1") * $2 / 16384)); }

# move_slot SLOT FROM TO [KEYS]: as redis-cli --cluster reshard does it, so many keys at a time.
move_slot() {
    local slot=$1 from=$2 to=$3 keys i
    node "$to" CLUSTER SETSLOT "$slot" IMPORTING "${NODE_ID[$from]}" >/dev/null
    node "$from" CLUSTER SETSLOT "$slot" MIGRATING "${NODE_ID[$to]}" >/dev/null
    while keys=$(node "$from" CLUSTER GETKEYSINSLOT "$slot" "${4:-5}") && [ -n "$keys" ]; do
        # shellcheck disable=SC2086
        node "$from" MIGRATE 127.0.0.1 "${PORT[$to]}" '' 0 5000 KEYS $keys >>"$TEST_DIR/migrate.log"
    done
    for ((i = 0; i < NODES; i++)); do
        node "$i" CLUSTER SETSLOT "$slot" NODE "${NODE_ID[$to]}" >/dev/null 2>&1
    done
}
