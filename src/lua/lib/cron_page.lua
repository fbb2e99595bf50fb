-- A page of the recurring entries of a queue, as cron_look.lua returns it.
--
-- requires: base, cron_stopped
-- gives: cron_page

local function cron_page(P, cursor)
  local PAGE = 200
  local page = call('HSCAN', P .. 'cron', cursor, 'COUNT', PAGE)
  local found, names, reply = page[2], {}, {page[1]}
  for i = 1, #found, 2 do names[#names + 1] = found[i] end
  if #names == 0 then return reply end
  local due, last = call('ZMSCORE', P .. 'cron:due', unpack(names)), call('HMGET', P .. 'cron:last', unpack(names))
  local runs, marks = call('HMGET', P .. 'cron:runs', unpack(names)), call('HMGET', P .. 'cron:stopped', unpack(names))
  for i = 1, #names do
    local n = #reply
    reply[n + 1], reply[n + 2] = names[i], found[2 * i]
    reply[n + 3], reply[n + 4] = tonumber(due[i]) or -1, last[i] or ''
    reply[n + 5], reply[n + 6] = runs[i] or '', cron_stopped(due[i], marks[i], found[2 * i], runs[i])
  end
  return reply
end
