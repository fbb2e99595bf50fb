# A task that a supervised worker ran, and that crashed; cases of st_json.sh.

reeve enqueue q noop --id crashed --in 1h >/dev/null
redis HSET "reeve:{q}:info:crashed" kind crash message SIGSEGV backtrace "#0 crash+0x12 (sample.so+0x1342)" >/dev/null
prints show 0 show q/crashed
expect_has "$OUT" '"backtrace":"#0 crash+0x12 (sample.so+0x1342)"'
