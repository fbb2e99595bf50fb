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
# The tree is shown; a limit leaves out what is far away, and says so.
expect_eq "$("$REEVE" show flows/root --tree)" $'flows/root  blocked  noop\nwaits for:\n  flows/a  blocked  noop  (go)\n    flows/b  ready  noop\n  flows-2/c  ready  noop'
expect_eq "$("$REEVE" show flows/b --tree)" $'flows/b  ready  noop\nis waited for by:\n  flows/a  blocked  noop\n    flows/root  blocked  noop'
prints 'show --tree' 0 show --tree flows/root
expect_eq "$(printf '%s\n' "$OUT" | grep -o '"relation":"[a-z]*"\|"depth":[0-9]' | tr -d '"\n')" \
    "relation:rootdepth:0relation:parentdepth:1relation:parentdepth:2relation:parentdepth:1"
expect_status 0 reeve show --tree flows/root --limit 2
expect_has "$ERR" "left out 2"
fails 1 not_found show --tree flows/nosuch
fails 2 usage show --tree flows/a flows/b
fails 2 usage show flows/a --limit 3
reeve enqueue flows noop --id missing --after flows/never:known-or-gone --after flows/x:wait >/dev/null
prints 'show --tree' 0 show --tree flows/missing
expect_has "$OUT" '"relation":"parent","depth":1,"type":null,"state":null,"ended":"completed","on_death":"fail"'
