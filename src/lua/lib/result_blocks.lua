-- Splits and removes result blocks (lib/result_block.lua).
--
-- requires: base, result_block
-- gives: leave_result_block, sweep_result_blocks, split_some_result_blocks

-- Splits a result block: each of its tasks that is in `completed` gets a field of its own. Returns how many results it
-- had.
local PART = 500
local function split_result_block(P, ended)
  local field = '+' .. ended
  local result_block = call('HGET', P .. 'results', field)
  if not result_block then return 0 end
  local results, ids = parse_result_block(result_block)
  local there = tonumber(ended)
  for first = 1, #ids, PART do
    local last = min(first + PART - 1, #ids)
    local scores, fields, n = call('ZMSCORE', P .. 'completed', unpack(ids, first, last)), {}, 0
    for i = first, last do
      if tonumber(scores[i - first + 1]) == there then
        fields[n + 1], fields[n + 2], n = ids[i], results[ids[i]], n + 2
      end
    end
    if n > 0 then call('HSET', P .. 'results', unpack(fields)) end
  end
  call('HDEL', P .. 'results', field)
  call('ZREM', P .. 'result_blocks', ended)
  return #ids
end

-- Splits the oldest blocks, until they had `most` results. Returns whether there are more blocks.
local function split_some_result_blocks(P, most)
  local first = call('ZRANGE', P .. 'result_blocks', '0', '0')[1]
  while first and most > 0 do
    most = most - split_result_block(P, first)
    first = call('ZRANGE', P .. 'result_blocks', '0', '0')[1]
  end
  return first ~= nil
end

-- A task with the score `ended` was removed from `completed`: splits the block of that time.
local function leave_result_block(P, ended)
  if call('EXISTS', P .. 'result_blocks') == 1 then split_result_block(P, ended) end
end

-- The `most` oldest tasks were removed from `completed`: removes the blocks that are older than the rest; each of them
-- had a result of one of these tasks. Returns whether `results` contains only blocks now.
local function sweep_result_blocks(P, most)
  if call('EXISTS', P .. 'result_blocks') == 0 then return false end
  local oldest = call('ZRANGE', P .. 'completed', '0', '0', 'WITHSCORES')[2]
  local behind = oldest and '(' .. oldest or '+inf'
  local gone = call('ZRANGEBYSCORE', P .. 'result_blocks', '-inf', behind, 'LIMIT', '0', text(most))
  if #gone > 0 then
    for i = 1, #gone do gone[i] = '+' .. gone[i] end
    call('HDEL', P .. 'results', unpack(gone))
    call('ZREMRANGEBYRANK', P .. 'result_blocks', '0', text(#gone - 1))
  end
  -- A task that was removed may be enqueued again and end in this same ms, with another result or none.
  if oldest and tonumber(oldest) >= clock() then split_result_block(P, oldest) end
  return call('HLEN', P .. 'results') == call('ZCARD', P .. 'result_blocks')
end
