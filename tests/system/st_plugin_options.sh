# st_plugin_options.sh - options of plugins: declared by the plugin, set in the configuration or by `reeve run`, checked
# before the load hook runs, and printed by --dump-plugin.
. "$(dirname "$0")/lib.sh"

OPTIONS=$REEVE_BUILD/tests/plugins/options.so

run_with() { reeve run "$OPTIONS" options "$@"; }

described() {
    expect_status 0 "$REEVE_WORKER" --dump-plugin "$OPTIONS"
    expect_has "$OUT" "options       6"
    expect_has "$OUT" "option name: who it is"
    expect_has "$OUT" "  default     required"
    expect_has "$OUT" '  expected    "fast" or "exact"'
    expect_has "$OUT" "  expected    a whole number from -1 to 9"
    expect_status 0 "$REEVE_WORKER" --dump-plugin "$OPTIONS" --json
    expect_has "$OUT" '{"name":"wait","type":"seconds","expected":"seconds","default":"0.25","required":false,"summary":null}'
}

run_by_hand() {
    expect_status 0 run_with --option name=ann
    expect_eq "$OUT" "ann - 3 0 250 0 0"
    expect_status 0 run_with --option name=a=b --option mode=exact --option retry.max=-1 --option share=1e-1 \
        --option wait=2 --option loud=true
    expect_eq "$OUT" "a=b exact -1 0.1 2000 1 0"
    expect_status 1 run_with
    expect_has "$ERR" 'option "name" is required: text'
    refuse 'naem_=x' 'option "naem_" is unknown; did you mean "name"?'
    refuse 'mode=slow' 'option "mode": expected "fast" or "exact", got "slow"'
    refuse 'retry.max=10' 'option "retry.max": expected a whole number from -1 to 9, got "10"'
    refuse 'retry.max=2.5' 'expected a whole number'
    refuse 'share=nan' 'option "share": expected a number, got "nan"'
    refuse 'share=1e999' 'expected a number'
    refuse 'wait=1m' 'option "wait": expected seconds, got "1m"'
    refuse 'loud=yes' 'option "loud": expected true or false, got "yes"'
    refuse 'name=bob' 'option "name" is given twice'
    expect_status 2 run_with --option name
}

refuse() {
    expect_status 1 run_with --option name=ann --option "$1"
    expect_has "$ERR" "$2"
}

in_a_file() {
    start_redis
    conf good "{ name = \"$OPTIONS\";
      options = { name = \"ann\"; retry = { max = 7; }; share = 0.5; wait = 1; loud = true; }; }"
    start_worker good
    expect_status 0 reeve enqueue q options --id one --wait
    expect_has "$OUT" "ann - 7 0.5 1000 1 0"
    conf bad "{ name = \"$OPTIONS\";
      options = {
        name = \"ann\";
        retry = {
          max = \"many\"; }; }; }"
    expect_status 2 "$REEVE_WORKER" --check -c "$TEST_DIR/bad.conf"
    at=$(grep -n many "$TEST_DIR/bad.conf" | cut -d: -f1)
    expect_has "$ERR" "bad.conf:$at: plugins[0]: plugin $OPTIONS: option \"retry.max\": expected a whole number from -1 to 9"
    conf bad "{ name = \"$OPTIONS\"; options = [ 1 ]; }"
    expect_status 2 "$REEVE_WORKER" --check -c "$TEST_DIR/bad.conf"
    expect_has "$ERR" "plugins[0].options"
    conf bad "{ name = \"$OPTIONS\"; options = { name = [ \"x\" ]; }; }"
    expect_status 2 "$REEVE_WORKER" --check -c "$TEST_DIR/bad.conf"
    expect_has "$ERR" "plugins[0].options.name: expected a text, a number, true or false, or a group"
    conf bad "{ options = { name = \"x\"; }; }"
    expect_status 2 "$REEVE_WORKER" --check -c "$TEST_DIR/bad.conf"
    expect_has "$ERR" "plugins[0].name: missing"
    conf bad "\"$OPTIONS\", { name = \"$OPTIONS\"; options = { name = \"x\"; }; }"
    expect_status 2 "$REEVE_WORKER" --check -c "$TEST_DIR/bad.conf"
    expect_has "$ERR" "stands at [0] already"
}

# conf NAME PLUGINS: a configuration with this list of plugins.
conf() {
    write_conf "$1" "" "pools = ( { queues = [ \"q\" ]; } );" "plugins = ( $2 );"
    sed -i 's/ plugins = \[.*//' "$TEST_DIR/$1.conf"
}

described
run_by_hand
in_a_file
