#!/usr/bin/env bash
# st_reload_web.sh - what is served over HTTP changes while it runs: the sections `web` and `metrics` by a reload of the worker,
# and certificates, also those of `reeve web`. A task that runs is not disturbed.
. "$(dirname "$0")/lib.sh"

cd "$TEST_DIR" || exit 1
conf() { write_conf w 'session = 5; log = { level = "info"; };' 'pools = ( { name = "p"; queues = [ "q" ]; threads = 1; } );' "$@"; }
reload() { run reeve signal w reload --wait 20s; }
# status SOCKET PATH [CURL ARGUMENT...]: of the answer; 000: nobody answers.
status() { curl -s -m 10 -o answer -w '%{http_code}' --unix-socket "$1" "http://localhost$2" "${@:3}"; }
# certificate NAME: a new one for localhost, in cert.pem and key.pem.
certificate() {
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj "/CN=$1" \
        -addext subjectAltName=DNS:localhost,IP:127.0.0.1 -keyout key.pem.new -out cert.pem.new 2>/dev/null || fail "no certificate"
    mv key.pem.new key.pem && mv cert.pem.new cert.pem
}
# subject ADDRESS: of the certificate that a new connection to HOST:PORT gets.
subject() { openssl s_client -connect "$1" </dev/null 2>/dev/null | sed -n 's/^subject=CN = //p'; }

start_redis
web="listen = \"unix:$TEST_DIR/web.sock\";"
conf "web = { $web };" "metrics = { listen = \"unix:$TEST_DIR/one.sock\"; };"
start_worker w
wait_for '[ "$(status web.sock /health)" = 200 ] && [ "$(status one.sock /healthz)" = 200 ]' 20
reeve enqueue q noop --id first --wait=20 >/dev/null || fail "no worker"

# ---- sections ----------------------------------------------------------------------------------------------------------

expect_eq "$(status web.sock /api/v1/queues/q/pause -X POST -H 'X-Reeve: 1' -H 'Content-Type: application/json')" 200 "$(cat answer)"
expect_eq "$(status web.sock /api/v1/queues/q/resume -X POST -H 'X-Reeve: 1' -H 'Content-Type: application/json')" 200
long=$(reeve enqueue q sleep '{"ms":3000}')
wait_for '[ "$(member state "$(reeve show "$long" --json)")" = "\"running\"" ]' 20
conf "web = { $web read_only = true; };" "metrics = { listen = \"unix:$TEST_DIR/two.sock\"; };"
reload
expect_eq "$STATUS" 0 "$OUT$ERR"
expect_has "$OUT" 'web.read_only: false -> true'
expect_lacks "$OUT" 'next start'
expect_eq "$(status web.sock /api/v1/queues/q/pause -X POST -H 'X-Reeve: 1' -H 'Content-Type: application/json')" 403
expect_eq "$(status one.sock /healthz) $(status two.sock /healthz)" "000 200"
[ ! -e one.sock ] || fail "the old socket is still there"

# What cannot be served is refused, and what was served is served again.
conf "web = { $web users = \"$TEST_DIR/none\"; };" "metrics = { listen = \"unix:$TEST_DIR/no/m.sock\"; };" \
    'queues = ( { name = "q"; concurrency = 4; } );'
reload
expect_eq "$STATUS" 1
expect_eq "$(redis HGET 'reeve:{q}:settings' concurrency)" 4 "a setting of the same file"
expect_has "$OUT" 'web could not be changed: '
expect_has "$OUT" 'metrics could not be changed: '
expect_eq "$(status web.sock /api/v1/queues/q/pause -X POST -H 'X-Reeve: 1' -H 'Content-Type: application/json')" 403
expect_eq "$(status two.sock /healthz)" 200

conf
reload
expect_eq "$STATUS" 0 "$OUT$ERR"
expect_eq "$(status web.sock /health) $(status two.sock /healthz)" "000 000"
expect_status 0 reeve wait "$long" --timeout 20
expect_eq "$(member failures "$(reeve show "$long" --json)") $(logged w worker.started)" "0 1" "the running task was disturbed"
conf "web = { $web };"
reload
expect_eq "$(status web.sock /health)" 200

# ---- the certificate of a worker -----------------------------------------------------------------------------------------

certificate one
port=$(free_port)
conf "web = { listen = \"127.0.0.1:$port\"; cert = \"$TEST_DIR/cert.pem\"; key = \"$TEST_DIR/key.pem\"; };"
reload
expect_eq "$STATUS" 0 "$OUT$ERR"
expect_eq "$(subject "127.0.0.1:$port")" one
certificate two
reload
expect_eq "$STATUS" 0 "$OUT$ERR"
expect_eq "$(subject "127.0.0.1:$port")" two
echo nonsense >cert.pem
reload
expect_eq "$STATUS" 1
expect_has "$OUT" 'web: the present certificate stays: cannot start the HTTPS server: are '
expect_eq "$(subject "127.0.0.1:$port")" two
certificate three
kill -HUP "$WORKER_PID"
wait_for '[ "$(subject "127.0.0.1:$port")" = three ]' 20
end "$WORKER_PID"
expect_eq "$ENDED" 0

# ---- the certificate of reeve web ----------------------------------------------------------------------------------------

"$REEVE" web --listen 127.0.0.1:0 --cert cert.pem --key key.pem </dev/null >web.out 2>web.log &
web_pid=$!
own "$web_pid"
wait_for '[ -s web.out ]' 20
address=$(sed -n '1s|https://\(.*\)/|\1|p' web.out)
expect_eq "$(subject "$address")" three
curl -sN -k "https://$address/api/v1/events" >events 2>/dev/null &
stream=$!
own "$stream"
wait_for '[ -s events ]' 20
certificate four
kill -HUP "$web_pid"
wait_for '[ "$(subject "$address")" = four ]' 20
# The page that was open goes on.
size=$(stat -c %s events)
reeve enqueue q noop >/dev/null
# shellcheck disable=SC2016
wait_for '[ "$(stat -c %s events)" -gt "'"$size"'" ]' 20
echo nonsense >key.pem
kill -HUP "$web_pid"
wait_for 'grep -q "event=web.renewed.*the present certificate stays" web.log' 20
expect_eq "$(subject "$address")" four
end "$web_pid"
expect_eq "$ENDED" 0

# ---- users and tokens ----------------------------------------------------------------------------------------------------

# hash PASSWORD
hash() { echo "$1" | "$REEVE" web --hash-password; }
# users LINE...: the file of users, and tokens LINE...
users() { (umask 077 && printf '%s\n' "$@" >users.new) && mv users.new users; }
tokens() { (umask 077 && printf '%s\n' "$@" >tokens.new) && mv tokens.new tokens; }
ann=$(hash of-ann) ben=$(hash of-ben)
users "ann:admin:$ann" "ben:admin:$ben" "eve:admin:$ben"
tokens bot:admin:token-one
"$REEVE" web --listen 127.0.0.1:0 --users users --token-file tokens </dev/null >web.out 2>web.log &
web_pid=$!
own "$web_pid"
wait_for '[ "$(wc -l <web.out)" = 1 ]' 20
url=$(sed -n 1p web.out)
# code PATH [CURL ARGUMENT...]: the status; role JAR: of a session.
code() { curl -s -m 20 -o answer -w '%{http_code}' "${@:2}" "${url}$1"; }
role() { [ "$(code api/v1/session -b "$1")" = 200 ] && grep -o '"role":"[a-z]*"' answer; }
for who in ann ben; do expect_eq "$(code api/v1/login -c $who -d "{\"user\":\"$who\",\"password\":\"of-$who\"}")" 200; done
expect_eq "$(code api/v1/login -c eve -d '{"user":"eve","password":"of-ben"}')" 200
expect_eq "$(role ann)" '"role":"admin"'
curl -sN -b eve "${url}api/v1/events" >stream 2>/dev/null &
stream=$!
own "$stream"
wait_for '[ -s stream ]' 20
# Her password stays, with another role; his is another one; the third is not in the file any more.
users "ann:viewer:$ann" "ben:admin:$(hash another)"
tokens bot:admin:token-two
kill -HUP "$web_pid"
wait_for '[ "$(role ann)" = "\"role\":\"viewer\"" ]' 20
expect_eq "$(role ben) $(role eve)" '"role":"nobody" "role":"nobody"'
expect_eq "$(code api/v1/queues/q/pause -b ann -X POST)" 403
expect_eq "$(code api/v1/queues -H 'Authorization: Bearer token-one')" 401
expect_eq "$(code api/v1/queues -H 'Authorization: Bearer token-two')" 200
wait_for '! kill -0 "$stream" 2>/dev/null' 20 # (the stream of an ended session ends)
# A file with an error changes nothing.
users "ann:viewer:$ann" nonsense
kill -HUP "$web_pid"
wait_for 'grep -q "event=web.renewed.*the present users and tokens stay.*line 2" web.log' 20
expect_eq "$(role ann)" '"role":"viewer"'
expect_eq "$(code api/v1/queues -H 'Authorization: Bearer token-two')" 200
expect_eq "$(code api/v1/login -d '{"user":"ben","password":"another"}')" 200
grep -q 'of-ann\|token-' web.log && fail "a secret is in the log"
end "$web_pid"
expect_eq "$ENDED" 0
