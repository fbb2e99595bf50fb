# st_completion.sh - completion in bash, zsh and fish: commands, options, and what Redis has; without Redis it neither hangs nor
# starts one.
. "$(dirname "$0")/lib.sh"

DIR=$REEVE_SOURCE/packaging/completion
export PATH=$REEVE_BUILD/bin:$PATH HOME=$TEST_DIR

# offered WORD...: the candidates in place of the last word, without descriptions.
offered() { "$REEVE" complete -- "$@" | cut -f1 | tr '\n' ' '; }

# ---- without Redis -------------------------------------------------------------------------------------------------------

expect_eq "$(offered qu)" "queues queues-of "
expect_eq "$(offered wait --time)" "--timeout "
expect_eq "$(offered list q --state pa)" "parked "
expect_eq "$(offered --redis x --ns y cron re)" "remove resume "
expect_eq "$(offered cron list '')" ""
expect_eq "$(offered settle h sn)" "snooze "
expect_eq "$(offered nosuch '')" ""
expect_eq "$(offered help vers)" "version "
expect_has "$(offered enqueue q t '')" ":files"
expect_lacks "$(offered run --)" "--redis"
expect_lacks "$(offered '')" "complete"
# Neither the default, a private server, nor one that is named so is started.
mkdir "$TEST_DIR/none"
expect_eq "$(XDG_RUNTIME_DIR=$TEST_DIR/none XDG_STATE_HOME=$TEST_DIR/none offered list '')" ""
expect_eq "$(offered --redis "embedded:$TEST_DIR/none" list '')" ""
expect_eq "$(find "$TEST_DIR/none" -mindepth 1)" "" "files of a private server"
# A Redis that never answers: what listens here takes no connection.
perl -MIO::Socket::UNIX -e '
    my $s = IO::Socket::UNIX->new(Local => $ARGV[0], Listen => 1) or die; $| = 1; print "ready\n"; sleep 60' \
    "$TEST_DIR/silent.sock" >"$TEST_DIR/silent.log" &
own $!
wait_for '[ -s "$TEST_DIR/silent.log" ]' 10
expect_eq "$(timeout 30 "$REEVE" complete -- --redis "unix://$TEST_DIR/silent.sock" list '')" ""

# ---- with one -------------------------------------------------------------------------------------------------------------

start_redis
for queue in mail maps; do reeve enqueue $queue echo --id "one-$queue" >/dev/null; done
expect_eq "$(offered list ma)" "mail maps "
expect_eq "$(offered show ma)" "mail/ maps/ "
expect_eq "$(offered show mail/)" "mail/one-mail "
expect_eq "$(offered show mail/one-mail maps/o)" "maps/one-maps "
expect_eq "$(offered list --ns other '')" ""
expect_has "$("$REEVE" complete -- list mai)" "mail	1 ready, 0 running"

in_bash() {
    bash --norc -c '. "$1"; shift; COMP_WORDS=(reeve "$@"); COMP_CWORD=$#; _reeve; printf "%s\n" "${COMPREPLY[@]}"' - \
        "$DIR/reeve.bash" "$@" | tr '\n' ' '
}
expect_eq "$(in_bash qu)" "queues queues-of "
expect_eq "$(in_bash list ma)" "mail maps "
expect_eq "$(in_bash list mail --st)" "--state "
touch "$TEST_DIR/payload-file"
expect_eq "$(cd "$TEST_DIR" && in_bash flush payload-)" "payload-file "

in_fish() { fish --no-config -c '. $argv[1]; complete -C $argv[2]' "$DIR/reeve.fish" "$1" | cut -f1 | tr '\n' ' '; }
expect_eq "$(in_fish 'reeve qu')" "queues queues-of "
expect_eq "$(in_fish 'reeve list ma')" "mail maps "
expect_eq "$(in_fish 'reeve list mail --st')" "--state "

# A shell on a terminal: zsh completes only there.
tmux_start 80 24 env -i PATH="$PATH" HOME="$TEST_DIR" REEVE_REDIS="$REEVE_REDIS" TERM=xterm PS1='> ' zsh -f
tmux_type "fpath=('$DIR' \$fpath); autoload -Uz compinit; compinit -u -D; clear; echo is ready" Enter
tmux_wait '^is ready'
tmux_type 'reeve queues'
tmux_type ' '
tmux_wait '> reeve queues *$'
tmux_type 'ma'
tmux_type Tab
tmux_wait 'mail .*1 ready'
tmux_type 'i'
tmux_type Tab
tmux_wait '> reeve queues mail *$'
