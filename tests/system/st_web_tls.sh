#!/usr/bin/env bash
# st_web_tls.sh - the HTTP server of a worker reaches Redis as the worker does: with the certificates of its section `tls`.
. "$(dirname "$0")/lib.sh"

cd "$TEST_DIR" || exit 1
# status PATH [CURL ARGUMENT...]: of the answer to a POST.
status() {
    curl -s -m 30 -o answer -w '%{http_code}' --unix-socket web.sock -X POST -H 'X-Reeve: 1' \
        -H 'Content-Type: application/json' "http://localhost/api/v1$1" "${@:2}"
}

export REEVE_TEST_OVER=tls
start_redis
export REEVE_REDIS=${REDIS_URL%%\?*} # without the certificate
write_conf w 'session = 5;' "tls = { ca = \"$TEST_DIR/tls/ca.pem\"; };" "web = { listen = \"unix:$TEST_DIR/web.sock\"; };" \
    'pools = ( { queues = [ "served" ]; threads = 1; } );'
start_worker w
wait_for '[ -S web.sock ]' 20
expect_eq "$(status /queues/q/tasks -d '{"type":"t","id":"a"}')" 201 "$(cat answer)"
expect_eq "$(status /queues/q/lease -d '{"count":1,"for":"30s"}')" 200 "$(cat answer)"
expect_has "$(cat answer)" '"id":"a"'
