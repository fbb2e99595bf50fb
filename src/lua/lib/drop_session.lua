-- The hash of a session that holds no leases any more goes, with what this and other versions keep there about the
-- session. A task whose id begins with `#`, which is no id, may have been handed over and stands there, too: it dies.
--
-- requires: base, put_aside
-- gives: drop_session

local function drop_session(P, key)
  local fields = call('HGETALL', key)
  if #fields == 0 then return end
  call('DEL', key)
  for i = 1, #fields, 2 do
    local own = fields[i] == '#' or fields[i] == '#flushed' or fields[i] == '#suspect'
    if not own and find(fields[i + 1], '^%d+ .') and call('HEXISTS', P .. 'tasks', fields[i]) == 1 then
      put_aside(P, fields[i])
    end
  end
end
