# reeve flow: a tree of tasks. For st_json.sh.
tree='{"queue":"flows","type":"noop","id":"root","parents":[{"type":"noop","id":"a","rule":"go","parents":[{"type":"noop","id":"b"}]},{"queue":"flows-2","type":"noop","id":"c"}]}'
prints flow 0 flow "$tree"
expect_eq "$(printf '%s\n' "$OUT" | grep -o '"id":"[a-z]*"\|"depth":[0-9]' | tr -d '"\n')" "id:rootdepth:0id:adepth:1id:bdepth:2id:cdepth:1"
expect_eq "$(of_task flows/root state) $(of_task flows/root parent_count)" '"blocked" 2'
expect_has "$(of_task flows/root parents)" '"on_death":"go"'
expect_eq "$(of_task flows/a parent_count) $(of_task flows/b state) $(of_task flows-2/c state)" '1 "ready" "ready"'
expect_eq "$("$REEVE" flow '{"type":"noop","id":"x","parents":[{"type":"noop","id":"y"}]}' --queue flows)" $'flows/x\n  flows/y'
fails 1 exists flow '{"queue":"flows","type":"noop","id":"x"}'
for wrong in '' '[]' '{' '{"type":"noop"}' '{"queue":"flows","type":"noop","rule":"go"}' '{"queue":"flows","type":"noop","parents":{}}' \
    '{"queue":"flows","type":"noop","parents":[{"type":"noop","rule":"never"}]}' '{"queue":"flows","type":"noop","nonsense":1}'; do
    fails 2 invalid flow "$wrong"
done
expect_eq "$(reeve list flows --state all --json | wc -l)" 5
