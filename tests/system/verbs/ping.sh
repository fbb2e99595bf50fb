# reeve ping: which Redis answers, and how fast. For st_json.sh.
prints ping 0 ping
redis CONFIG SET maxmemory 1gb >/dev/null
prints ping 0 ping
redis CONFIG SET maxmemory 0 >/dev/null
