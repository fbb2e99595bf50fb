-- Whether a recurring entry that is not due was paused, or has ended: its number of runs is reached, or its last slot has
-- passed. `cron:stopped` tells them apart. Releases that do not know this key only remove the entry from `cron:due`: such
-- an entry counts as ended if its definition shows that it has, else as paused.
--
-- requires: base
-- gives: cron_stopped

-- The arguments are what `cron:due`, `cron:stopped`, `cron` and `cron:runs` have of an entry. Returns "" if it is due at
-- some time, "paused" or "ended".
local function cron_stopped(due, mark, definition, made)
  if due then return '' end
  if mark == 'paused' or mark == 'ended' then return mark end
  local entry = decoded(sub(definition, 1, (find(definition, '\n', 1, true) or 0) - 1)) or {}
  local runs, ends = number_of(entry.runs, 1), number_of(entry.ends, 1)
  return (runs and count_of(made) >= runs or ends and ends < clock()) and 'ended' or 'paused'
end
