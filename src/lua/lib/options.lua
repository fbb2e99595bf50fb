-- Checks a task that a script is to enqueue, before anything is written. The functions return an error text, or nil.
--
-- requires: base
-- gives: NO_OPTIONS, checked_options, form_fault, option_fault, place_fault, task_fault

-- [[handle, policy], ...] (lib/dependency_register.lua). A handle that begins with "!" is a placeholder for parents
-- that are named later, or "!<name>", a signal.
local function are_edges(edges)
  if type(edges) ~= 'table' or #edges > @PARENTS_MAX@ then return false end
  for _, edge in ipairs(edges) do
    local good = type(edge) == 'table' and type(edge[1]) == 'string' and type(edge[2]) == 'string'
    if not good or not find(edge[2], '^[fgwx][ge]?$') then return false end
    if not find(edge[1], '^![%w._-]*$') and not find(edge[1], '^[%w._~-]+/[%w._:-]+$') then return false end
  end
  return true
end

-- Checks the options (a table) that decide its place and times.
local function place_fault(o)
  local fault = field_fault(o)
  if fault then return fault end
  for _, name in ipairs({'at', 'in', 'deadline', 'expires'}) do
    if not is_whole(o[name], -INT64, INT64) then return 'its ' .. name .. ' is not a whole number of ms' end
  end
end

-- Checks all its options.
local function option_fault(o)
  local fault = place_fault(o)
  if fault then return fault end
  if o.conflict ~= nil and o.conflict ~= 'replace' and o.conflict ~= 'debounce' then
    return 'its conflict is neither "replace" nor "debounce"'
  end
  if o.after ~= nil and not are_edges(o.after) then return 'its after is not a list of at most @PARENTS_MAX@ parents' end
end

-- Checks its id and the form of the rest of its envelope.
local function form_fault(id, rest)
  if not is_id(id) then return ID_FAULT end
  if not find(rest, '^"type":"[%w._:/-]+"[^\n]*}\n') then return 'its envelope does not begin with "type":"<type>"' end
end

-- Checks its id and the rest of its envelope. A unique key must be in both the options and the envelope: the end of the
-- task reads it from there.
local function task_fault(id, rest, o)
  local fault = form_fault(id, rest)
  if fault or not o.unique then return fault end
  local told = header('{"at":0,' .. rest)
  if told.malformed then return told.malformed end
  if told.unique ~= o.unique then return 'its envelope names another unique key' end
end

-- Returns its options, decoded; or nil and an error text. NO_OPTIONS is never changed.
local NO_OPTIONS = {}
local function checked_options(id, options, rest)
  local o, fault = NO_OPTIONS, nil
  if options ~= '' then
    o = decoded(options)
    if not o then return nil, 'its options are not a JSON object' end
    fault = option_fault(o)
  end
  fault = fault or task_fault(id, rest, o)
  if fault then return nil, fault end
  return o
end
