-- What show.lua tells of a task's parents and children (lib/dependency_edges.lua), at most 100 of each.
-- Of the first LOOKED_AT parents in the same queue that have not ended for the task, the state they are in is told,
-- which may well be dead: a retry may complete such a one. Of fewer where there are many sessions.
--
-- requires: base, states
-- gives: add_family

local FAMILY, LOOKED_AT = 100, 10
local POLICIES = {f = 'fail', g = 'go', w = 'wait', x = 'death'}
local ENDS = {c = 'completed', d = 'dead', x = 'cancelled'}

-- What another program wrote may be no handle. A handle has no character that JSON would escape.
local function is_handle(handle)
  return handle == '!' or find(handle, '^[%w._~-]+/[%w._:-]+$')
end

-- A child fails by a rule that is none.
local function parent_json(handle, value, state)
  local ended = ENDS[sub(value, 2, 2)]
  return '{"handle":"' .. handle .. '","on_death":"' .. (POLICIES[sub(value, 1, 1)] or 'fail') .. '"' ..
    (ended and ',"ended":"' .. ended .. '"' or '') .. (state and ',"state":"' .. state .. '"' or '') .. '}'
end

-- Handle -> state, of the first of these edges.
local function states_of_parents(P, list)
  local handles, ids, states = {}, {}, {}
  for _, edge in ipairs(list) do
    local queue, id = string.match(edge[2], '^([^/]+)/(.+)$')
    if #ids < LOOKED_AT and sub(edge[3], 2, 2) == '-' and queue == string.match(P, '{(.*)}:$') then
      handles[#handles + 1], ids[#ids + 1] = edge[2], id
    end
  end
  local found, known = states_of(P, ids, '')
  for i = 1, known do
    states[handles[i]] = call('HEXISTS', P .. 'tasks', ids[i]) == 1 and found[i] and found[i][1] or 'gone'
  end
  return states
end

local function add_words(reply, ...)
  for _, word in ipairs({...}) do reply[#reply + 1] = word end
end

local function add_parents(reply, P, key)
  local count = call('HLEN', key)
  if count == 0 then return add_words(reply, 'parent_count', '0') end
  local page, list = call('HSCAN', key, '0', 'COUNT', FAMILY)[2], {}
  for i = 1, math.min(#page, 2 * FAMILY), 2 do
    local value = page[i + 1]
    if is_handle(page[i]) then list[#list + 1] = {tonumber(string.match(value, '^..(%d+)')) or 0, page[i], value} end
  end
  table.sort(list, function(a, b) return a[1] < b[1] end)
  local states = states_of_parents(P, list)
  for i, edge in ipairs(list) do list[i] = parent_json(edge[2], edge[3], states[edge[2]]) end
  add_words(reply, 'parents', '[' .. table.concat(list, ',') .. ']', 'parent_count', text(count))
end

local function add_children(reply, P, id)
  if call('SISMEMBER', P .. 'linked', id) == 0 then return add_words(reply, 'child_count', '0') end
  local list, count = {}, 0
  for _, set in ipairs({'children:', 'awaiting_retry:'}) do
    count = count + call('ZCARD', P .. set .. id)
    local some = #list < FAMILY and call('ZRANGE', P .. set .. id, 0, FAMILY - 1 - #list) or {}
    for _, child in ipairs(some) do
      if is_handle(child) then list[#list + 1] = '"' .. child .. '"' end
    end
  end
  add_words(reply, 'children', '[' .. table.concat(list, ',') .. ']', 'child_count', text(count))
end

local function add_family(P, id, reply)
  add_parents(reply, P, P .. 'parents:' .. id)
  add_children(reply, P, id)
  return reply
end
