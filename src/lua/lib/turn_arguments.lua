-- The arguments of turn.lua: reads them, and checks their form. To read a number costs more than to compare a text: "1" and
-- "0", which most turns bring, are not read.
--
-- requires: shortcuts
-- gives: check_group, is_one_completion, read_clock, read_counts, read_group

-- How many tasks are wanted, in how many queues; or nil, nil and what is wrong. A session's life is only looked at: whoever
-- begins a session reads it.
local function read_counts(given, prefixes) -- inline
  local ask, queues, ttl = given[2], given[4], given[3]
  local want = ask == '1' and 1 or tonumber(ask)
  queues = queues == '1' and 1 or tonumber(queues)
  if not (want and want >= 0 and want % 1 == 0 and queues and queues >= 0 and queues <= #prefixes and queues % 1 == 0 and
    (queues == 1 and given[7] == '' and by_bytes and ttl >= '0' and ttl < ':' or (tonumber(ttl) or -1) >= 0) and
    #given >= 5 + 2 * queues) then
    return nil, nil, 'ARGV[2] to ARGV[4] are how many tasks, a time in ms, and how many of KEYS'
  end
  -- What is unpacked later must fit on the stack of Redis's Lua.
  if want > @CALL_MAX@ then want = @CALL_MAX@ end
  return want, queues
end

-- Redis's clock, the only one of the protocol: ms since the epoch, as text.
local function read_clock() -- inline
  local time = call('TIME')
  local micros = time[2]
  return time[1] .. (#micros == 6 and string.sub(micros, 1, 3) or format('%03d', micros / 1000))
end

-- Whether all groups are one plain completion of a task with an id that a client made, as most turns bring: such a group is
-- checked by this alone.
local function is_one_completion(given, prefixes, at) -- inline
  return #given == at + 5 and given[at] == '1' and given[at + 3] == '1' and given[at + 5] == '0' and prefixes[1] and
    #given[at + 4] == @UUID_BYTES@
end

-- Checks the group of settlements that begins at `at`, but for its records. Returns where the records begin, how many they are,
-- and what is wrong or nil.
local function check_group(given, prefixes, at) -- inline
  local final, index, count = #given, given[at], given[at + 3]
  count = count == '1' and 1 or tonumber(count)
  index = index == '1' and 1 or tonumber(index) or 0
  if not (prefixes[index] and count and count >= 0 and count <= @CALL_MAX@ and count % 1 == 0) then
    return 0, 0, 'a group names no queue of KEYS, or more than @CALL_MAX@ completions'
  end
  local last, fault = at + 3 + count, nil
  if last >= final then fault = 'ids are missing' end
  -- A field of a session's hash that begins with less than '-' tells of the session, and is no id. None of these is as long as
  -- the ids that clients make: to look at the length costs a tenth of a look at the first byte.
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
  if word == 'results' or word == 'bundle' then
    local results = tonumber(given[from + 1])
    if not (results and results >= 0 and results <= count and results % 1 == 0) then
      return 0, 0, 'more results than completions'
    end
    from, records = from + 2 + (word == 'bundle' and 1 or results), records - 1
  end
  return from, records
end

-- What a group that was checked says: the index of its queue in KEYS; where the ids of its plain completions begin, and how many
-- they are; how many of the last of these have results, whether these are one argument, and where they begin; where the records
-- begin, and how many they are.
local function read_group(given, at) -- inline
  local index, count = given[at], given[at + 3]
  index, count = index == '1' and 1 or tonumber(index), count == '1' and 1 or tonumber(count)
  local first = at + 4
  local records, from = given[first + count], first + count + 1
  if records == '0' then return index, first, count, 0, false, from, from, 0 end
  records = tonumber(records)
  local word = given[from]
  local is_block = word == 'bundle'
  if records == 0 or not is_block and word ~= 'results' then return index, first, count, 0, false, from, from, records end
  local results = tonumber(given[from + 1])
  return index, first, count, results, is_block, from + 2, from + 2 + (is_block and 1 or results), records - 1
end
