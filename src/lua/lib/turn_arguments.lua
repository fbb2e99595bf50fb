-- The arguments of turn.lua, whose head has their grammar: reads them, and checks their form. To read a number costs
-- more than to compare a text: so "1" and "0", which most calls bring, are compared and not read.
--
--   given     ARGV
--   final     how many arguments there are
--   prefixes  KEYS
--   group     a settlement group: what to settle for one session in one queue
--
-- requires: shortcuts
-- gives: check_group, is_one_completion, names_of_several, read_clock, read_counts, read_group, threads_without

-- Returns how many tasks are wanted, as a number and as a text that Redis reads as the same number ("0x1" is a number
-- to Lua alone); L, the number of queues to lease from; the mode; and the fault, or nil.
local function read_counts(given, final, prefixes) -- inline
  local want_text, queues, mode, fault = given[2], given[3], given[4], nil
  local want = want_text == '1' and 1 or tonumber(want_text)
  queues = queues == '1' and 1 or tonumber(queues)
  if not (want and want >= 0 and want % 1 == 0 and queues and queues >= 0 and queues <= #prefixes and queues % 1 == 0 and
    final >= 4 + queues) then
    fault = 'ARGV[2] and ARGV[3] are not want and L'
  elseif mode ~= 'idle' and mode ~= '' and mode ~= 'again' and mode ~= 'woken' and mode ~= 'several' then
    fault = 'ARGV[4] is no mode'
  elseif want > @CALL_MAX@ then
    -- The ids are unpacked later, and must fit on the stack of Redis's Lua.
    want, want_text = @CALL_MAX@, '@CALL_MAX@'
  elseif want ~= 1 then
    want_text = want .. ''
  else
    want_text = '1'
  end
  return want, want_text, queues, mode, fault
end

-- The time of Redis's clock, which is the only clock of the protocol: ms since the epoch, as text.
local function read_clock() -- inline
  local time = call('TIME')
  local micros = time[2]
  return time[1] .. (#micros == 6 and sub(micros, 1, 3) or format('%03d', micros / 1000))
end

-- The names of threads in "<name> <name> ...", at most want + 1 of them: so the caller sees that there are too many.
local function names_of_several(thread, want) -- inline
  local names, n = {}, 0
  for name in string.gmatch(thread, '[^ ]+') do
    if n > want then break end
    n = n + 1
    names[n] = name
  end
  return names
end

-- Returns those names that are not among the first `dealt` ones, each once: their threads are leased nothing. nil:
-- there are none.
local function threads_without(names, dealt) -- inline
  local found, seen = nil, {}
  for i = 1, #names do
    local name = names[i]
    if i > dealt and not seen[name] then
      found = found or {}
      found[#found + 1] = name
    end
    seen[name] = true
  end
  return found
end

-- Whether there is one settlement group, and it is one plain completion of a task with an id that a client generated.
-- Most calls are so. Such a group needs no other check.
local function is_one_completion(given, final, prefixes, at) -- inline
  return final == at + 5 and given[at] == '1' and given[at + 3] == '1' and given[at + 5] == '0' and prefixes[1] and
    #given[at + 4] == @UUID_BYTES@
end

-- Checks the settlement group that begins at `at`, except its records. Returns the place of the first record, the
-- number of records, and the fault or nil.
local function check_group(given, final, prefixes, at) -- inline
  local index, count = given[at], given[at + 3]
  count = count == '1' and 1 or tonumber(count)
  index = index == '1' and 1 or tonumber(index) or 0
  if not (prefixes[index] and count and count >= 0 and count <= @CALL_MAX@ and count % 1 == 0) then
    return 0, 0, 'a group names no queue of KEYS, or more than @CALL_MAX@ completions'
  end
  local last, fault = at + 3 + count, nil
  if last >= final then fault = 'ids are missing' end
  -- In a session's hash a field whose first byte is less than '-' is about the session, and is no id. None of these
  -- fields is as long as a generated id: so an id of that length needs no look at its first byte, which costs ten times
  -- as much.
  for i = at + 4, last < final and last or final do
    local id = given[i]
    if #id ~= @UUID_BYTES@ and (byte(id) or 0) < @ID_BYTE_MIN@ then
      fault = 'an id is none'
      break
    end
  end
  if fault then return 0, 0, fault end
  local records, from = given[last + 1], last + 2
  if records == '0' then return from, 0 end
  records = tonumber(records)
  if not (records and records >= 0 and records % 1 == 0) then return 0, 0, 'no number of records' end
  local word = given[from]
  if records > 0 and (word == 'results' or word == 'result_block') then
    local results = tonumber(given[from + 1])
    if not (results and results >= 0 and results <= count and results % 1 == 0) then
      return 0, 0, 'more results than completions'
    end
    from, records = from + 2 + (word == 'result_block' and 1 or results), records - 1
  end
  return from, records
end

-- Reads a settlement group that was checked. Returns the index of its queue in KEYS; the place of the first id of its
-- plain completions, and their number; of their results the number (they are those of the last completions), whether
-- they are one argument, and the place of the first; the place and the number of the records.
local function read_group(given, at) -- inline
  local index, count, first = given[at], given[at + 3], at + 4
  if index ~= '1' then index = tonumber(index) else index = 1 end
  if count ~= '1' then count = tonumber(count) else count = 1 end
  local records, records_at = given[first + count], first + count + 1
  local results, is_block, results_at = 0, false, records_at + 2
  if records == '0' then
    records = 0
  else
    local word = given[records_at]
    records, is_block = tonumber(records), word == 'result_block'
    if records > 0 and (is_block or word == 'results') then
      results, records = tonumber(given[records_at + 1]), records - 1
      records_at = results_at + (is_block and 1 or results)
    else
      is_block = false
    end
  end
  return index, first, count, results, is_block, results_at, records_at, records
end
