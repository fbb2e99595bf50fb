# st_unit.sh - the unit of systemd: it is well formed, confines the worker, and never gives up restarting it.
. "$(dirname "$0")/lib.sh"

command -v systemd-analyze >/dev/null || fail "there is no systemd-analyze"
UNIT=$TEST_DIR/reeve-worker@media.service
sed "s#@CMAKE_INSTALL_FULL_BINDIR@/reeve-worker#$REEVE_WORKER#; s#@CMAKE_INSTALL_FULL_DOCDIR@#/usr/share/doc/reeve#" \
    "$REEVE_SOURCE/packaging/reeve-worker@.service.in" >"$UNIT"
expect_status 0 systemd-analyze verify --man=no "$UNIT"
expect_quiet
expect_status 0 systemd-analyze security --offline=true --threshold=30 "$UNIT"
for line in StartLimitIntervalSec=0 Restart=always RestartPreventExitStatus=2 'StateDirectory=reeve/%i' 'RuntimeDirectory=reeve/%i'; do
    grep -qxF "$line" "$UNIT" || fail "the unit lacks $line"
done

# RestartPreventExitStatus= holds for the main process only: a check before it that fails would be repeated for ever.
if grep -q '^ExecStartPre=' "$UNIT"; then fail "a mistake in the configuration would be restarted for ever"; fi
expect_status 2 "$REEVE_WORKER" -c "$TEST_DIR/absent.conf"
