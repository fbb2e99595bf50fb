-- Removes the tasks of a bulk insert (lib/bulk_insert.lua) whose segment got no place. Returns them in the form of the
-- arguments of "plain" (enqueue.lua); or nil and an error text, and then nothing is changed.
--
-- requires: base
-- gives: bulk_fallback

local function bulk_fallback(P, ARGV)
  local head = '{"at":' .. (ARGV[2] or '') .. ',"p":' .. (ARGV[3] or '') .. ','
  local list, count = P .. 'segment:' .. (ARGV[3] or ''), tonumber(ARGV[4])
  if #ARGV ~= 4 or not (count and count >= 1 and count <= @SEGMENT_MAX@ and count % 1 == 0) then
    return nil, 'a bulk insert takes its time, its segment and how many tasks, at most @SEGMENT_MAX@'
  end
  local ids = call('LRANGE', list, text(-count), '-1')
  local envelopes = #ids == count and call('HMGET', P .. 'tasks', unpack(ids)) or {}
  local listed = {'plain'}
  for i = 1, count do
    if not envelopes[i] or sub(envelopes[i], 1, #head) ~= head then
      return nil, 'segment ' .. ARGV[3] .. ' does not end with ' .. text(count) .. ' tasks of that time'
    end
    listed[i + 1], listed[i + 1 + count] = ids[i], sub(envelopes[i], #head + 1)
  end
  call('HDEL', P .. 'tasks', unpack(ids))
  call('LTRIM', list, '0', text(-count - 1))
  return listed
end
