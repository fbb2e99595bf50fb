# st_example_tenants.sh - the service of examples/tenants: turns by weight, limits of each tenant, requests that are
# made once, a stop that loses nothing.
. "$(dirname "$0")/lib.sh"

TENANTS="$REEVE_BUILD/examples/tenants"
[ -x "$TENANTS" ] || { echo "built without the examples: skipped"; exit 77; }
LOG=$TEST_DIR/serve.out
: >"$LOG"

start_service() {
    "$TENANTS" serve </dev/null >>"$LOG" 2>>"$TEST_DIR/serve.log" &
    SERVICE_PID=$!
    own "$SERVICE_PID"
}

# submit: requests on standard input; the answers are in OUT.
submit() { expect_status 0 "$TENANTS" submit; }

# reports TENANT FROM TO MS: requests.
reports() { seq "$2" "$3" | sed "s/.*/$1 $1-& $4/"; }

# ask TENANT FROM TO MS: submits them. (Not at the end of a pipe: a failure must end the test.)
ask() {
    reports "$@" >"$TEST_DIR/requests"
    submit <"$TEST_DIR/requests"
}

# said WHAT TENANT: how many lines of that.
said() { grep -c " $1 $2 " "$LOG"; }

# most TENANT: how many of its reports were made at once, at most.
most() {
    awk -v "tenant=$1" '
        $3 == tenant { n += $2 == "begin" ? 1 : -1; if (n > most) most = n }
        END { print most + 0 }' "$LOG"
}

# Nobody serves yet: what waits stands in the order in which it will run.
in_turn_and_once() {
    local first
    { reports acme 1 8 1; reports globex 1 8 1; } >"$TEST_DIR/requests"
    submit <"$TEST_DIR/requests"
    first=$OUT
    expect_eq "$(grep -c '^accepted ' <<<"$OUT")" 16
    # (acme pays for three times as much.)
    expect_eq "$(reeve list reports --limit 8 --json | grep -c '"group":"acme"')" 6
    submit <"$TEST_DIR/requests"
    expect_eq "$OUT" "${first//accepted/known}"
    expect_eq "$(in_queue reports ready)" 16
    start_service
    wait_for 'is_still reports 16 0' 30
    expect_eq "$(cut -d' ' -f2- "$LOG" | sort | uniq -d)" "" "what was made twice"
    expect_eq "$(said end acme) $(said end globex)" "8 8"
    expect_eq "$(reeve list reports --state completed --json | grep -c '"result":"acme-8 for acme"')" 1
    # It has ended, so it may be asked for again.
    submit <<<"acme acme-1 1"
    expect_has "$OUT" "accepted acme acme-1 reports/"
    wait_for 'is_still reports 17 0' 30
}

plans() {
    expect_status 0 reeve limit reports
    expect_has "$OUT" "each group's concurrency: 1"
    expect_has "$OUT" "each group's rate:        10/1s:1"
    grep -Eq '^acme +3 +none ' "$TEST_DIR/out" || fail "no limits of acme"
    grep -Eq '^globex +2 +none ' "$TEST_DIR/out" || fail "no limits of globex"
}

# Two tenants keep all threads busy for long; a third comes with three reports.
flood() {
    local before begin end
    ask acme 1001 1600 20
    wait_for '[ "$(said end acme)" -ge 40 ]' 30 # (three at once, though there are four threads)
    expect_eq "$(most acme)" 3 "reports of acme at once"
    [ "$(in_queue reports parked)" -gt 0 ] || fail "acme's reports are not parked"
    ask globex 1001 1600 20
    wait_for '[ "$(said begin globex)" -ge 20 ]' 30
    printf 'tiny yearly 20\ntiny monthly 20\ntiny yearly 20\ntiny weekly 20\n' >"$TEST_DIR/requests"
    submit <"$TEST_DIR/requests"
    before=$(grep -c ' begin ' "$LOG")
    expect_eq "$(grep -c '^accepted ' <<<"$OUT") $(grep -c '^known ' <<<"$OUT")" "3 1"
    wait_for '[ "$(said end tiny)" = 3 ]' 30
    expect_eq "$(grep ' begin tiny ' "$LOG" | cut -d' ' -f4 | xargs)" "yearly monthly weekly" "one by one, in order"
    # Its first report was next but for a few, and all of them were made while hundreds waited that had come before.
    begin=$(grep ' begin ' "$LOG" | grep -n ' begin tiny yearly' | cut -d: -f1)
    [ "$begin" -le $((before + 12)) ] || fail "$((begin - before)) reports of others went before"
    wait_for 'is_still reports 1220 0' 60
    end=$(sed '1,/ end tiny weekly/d' "$LOG" | grep -cE ' begin (acme|globex) ')
    [ "$end" -ge 100 ] || fail "only $end reports of others came after"
    expect_eq "$(most acme) $(most globex) $(most tiny)" "3 2 1" "reports at once"
}

# Ten starts a second: one, and ten more in a second.
rate() {
    local began last
    began=$(date +%s%3N)
    ask frugal 1 11 0
    wait_for 'is_still reports 1231 0' 30
    last=$(grep ' begin frugal ' "$LOG" | tail -1 | cut -d' ' -f1)
    [ $((last - began)) -ge 950 ] || fail "11 starts in $((last - began)) ms"
}

# A limit is changed while it holds.
changed() {
    local before
    ask acme 2001 2600 20
    wait_for '[ "$(in_queue reports running)" -ge 2 ]' 30
    expect_status 0 reeve limit reports --group acme --concurrency 1
    wait_for '[ "$(in_queue reports running)" = 1 ]' 30
    before=$(wc -l <"$LOG")
    wait_for '[ "$(wc -l <"$LOG")" -gt '$((before + 20))' ]' 30
    # (The first lines may be of what ran when the limit came; two in a row begin only where two run.)
    sed "1,${before}d" "$LOG" | awk '$2 == "begin" && was == "begin" { exit 1 } { was = $2 }' || fail "two at once"
    expect_status 0 reeve cancel reports --all
    wait_for '[ "$(in_queue reports running)" = 0 ]' 30
}

# What is not made when it stops is made when it starts again.
stopped() {
    local done
    done=$(in_queue reports completed)
    ask globex 801 830 300
    wait_for '[ "$(in_queue reports completed)" -gt '"$done"' ]' 30
    end "$SERVICE_PID" TERM
    expect_eq "$ENDED" 0
    expect_eq "$(in_queue reports running)" 0
    [ $(($(in_queue reports ready) + $(in_queue reports parked))) -gt 0 ] || fail "nothing was left to do"
    start_service
    wait_for 'is_still reports '$((done + 30))' 0' 60
    expect_eq "$(grep -E ' end globex globex-8[0-3].$' "$LOG" | cut -d' ' -f4 | sort | uniq | wc -l)" 30
}

refused() {
    expect_status 2 "$TENANTS"
    expect_status 1 "$TENANTS" submit <<<$'nonsense\nacme last 1'
    expect_has "$ERR" "expected TENANT REPORT"
    expect_has "$OUT" "accepted acme last reports/"
    expect_status 3 "$TENANTS" submit unix:///nonexistent/redis.sock
}

start_redis
in_turn_and_once
plans
flood
rate
changed
stopped
refused
