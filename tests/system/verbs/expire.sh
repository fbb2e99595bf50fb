# reeve expire: a lease ends by hand. For st_json.sh.
reeve enqueue by-hand noop --id waits >/dev/null || fail "not enqueued"
fails 1 state expire by-hand/waits
fails 1 not_found expire by-hand/nope
prints "expire QUEUE" 0 expire by-hand --all
