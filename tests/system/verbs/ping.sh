# reeve ping: which Redis answers, and how fast. For st_json.sh.
prints ping 0 ping
redis CONFIG SET maxmemory 1gb >/dev/null
prints ping 0 ping
redis CONFIG SET maxmemory 0 >/dev/null

# The master and the Sentinels of a redis-sentinel:// URL.
. "${BASH_SOURCE%/*}/../lib_sentinel.sh"

ping_by_sentinel() {
    start_server master
    PORTS=("$PORT")
    start_sentinel sentinel
    prints ping 0 ping --redis "redis-sentinel://127.0.0.1:$PORT/main"
    expect_eq "$(member master "$OUT") $(member sentinels "$OUT")" \
        "\"127.0.0.1:${PORTS[0]}\" [\"127.0.0.1:$PORT\"]"
    end "${PIDS[$PORT]}"
    end "${PIDS[${PORTS[0]}]}"
}

ping_by_sentinel
