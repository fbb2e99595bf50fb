# A task that a supervised worker ran, and that crashed; cases of st_json.sh.

reeve enqueue q noop --id crashed --in 1h >/dev/null
redis HSET "reeve:{q}:info:crashed" kind crash message SIGSEGV backtrace "#0 crash+0x12 (sample.so+0x1342)" >/dev/null
prints show 0 show q/crashed
expect_has "$OUT" '"backtrace":"#0 crash+0x12 (sample.so+0x1342)"'
redis LPUSH reeve:crashes '{"at":1700000000000,"worker":"w","thread":"p/1","task":"q/crashed","type":"t","message":"SIGSEGV","backtrace":"#0 f","crashed":1}' >/dev/null
prints 'workers --crashes' 0 workers --crashes
expect_has "$OUT" '"handle":"q/crashed"'
