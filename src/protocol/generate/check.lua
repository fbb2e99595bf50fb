-- lua5.1 check.lua DIR: compares the definition (../definition) with the scripts in DIR, each with what it includes. Prints
-- what does not agree, and then fails.
local here = arg[0]:match('^(.*)/[^/]*$') or '.'
package.path = here .. '/?.lua;' .. here .. '/../definition/?.lua'

local faults = 0
local function fault(...)
  faults = faults + 1
  print((...):format(select(2, ...)))
end

-- ---- the scripts -------------------------------------------------------------------------------------------------

local names, texts, all = {}, {}, nil
local listing = assert(io.popen("ls '" .. arg[1] .. "'/*.lua"))
for path in listing:lines() do
  local file = assert(io.open(path, 'rb'))
  local name = path:match('([^/]*)%.lua$')
  names[name] = true
  texts[#texts + 1] = '\n' .. file:read('*a')
  texts[name] = texts[#texts]
  file:close()
end
listing:close()
all = table.concat(texts):gsub('\n%s*%-%-[^\n]*', '\n')
if #texts == 0 then fault('there are no scripts in %s', arg[1]) end

-- Each text in quotes.
local quoted = {}
for text in all:gmatch("'([^'\n]*)'") do quoted[text] = true end

-- ---- the tables --------------------------------------------------------------------------------------------------

-- The rows of a table by name; a name that comes twice is a fault.
local function by_name(table_name, help)
  local rows = {}
  for _, row in ipairs(require(table_name)) do
    if row.name then
      if rows[row.name] then fault('%s: %s is there twice', table_name, row.name) end
      if (row[help or 'help'] or '') == '' then fault('%s: %s has no help', table_name, row.name) end
      rows[row.name] = row
    end
  end
  return rows
end

local keys, states, events, outcomes = by_name('keys'), by_name('states'), by_name('events'), by_name('outcomes')
local fields = by_name('envelope')
by_name('constants')
by_name('info')
local findings = by_name('findings', 'rule')

-- ---- keys --------------------------------------------------------------------------------------------------------

local known = {}
for name in pairs(keys) do known[name:match('^[^<]+')] = name end
for _, row in ipairs(require('global_keys')) do
  local channel = row.name:match('^<prefix>([^<]+)')
  if channel then known[channel] = row.name end
end

-- What follows the prefix of a queue, which scripts call P; P_2 and so on where the build has put functions together.
local used = {}
for name in all:gmatch("%f[%w_]P[_%d]* %.%. '([%a_][%a_:]*)") do used[name] = true end
for name in pairs(used) do
  if not known[name] and not known[name:match('^[%a_]+:') or ''] then fault('keys: scripts use %s, which is not in the table', name) end
end
for prefix, name in pairs(known) do
  local by_clients = keys[name] and keys[name].writers == 'clients'
  if not used[prefix] and not quoted[prefix] and not by_clients then fault('keys: no script uses %s', name) end
end

-- ---- states and transitions --------------------------------------------------------------------------------------

for name, row in pairs(states) do
  if not keys[row.key] then fault('states: %s is in %s, which is no key', name, row.key) end
end
local seen, reached = {}, {}
for _, row in ipairs(require('transitions')) do
  local arrow = row.from .. ' to ' .. row.to
  if seen[arrow] then fault('transitions: %s is there twice', arrow) end
  seen[arrow] = true
  reached[row.from], reached[row.to] = true, true
  for _, state in ipairs({row.from, row.to}) do
    if state ~= 'none' and not states[state] then fault('transitions: %s: there is no state %s', arrow, state) end
  end
  for _, scripts in ipairs({row.by, row.rarely or {}}) do
    for _, script in ipairs(scripts) do
      if not names[script] then fault('transitions: %s: there is no script %s', arrow, script) end
    end
  end
end
for name in pairs(states) do
  if not reached[name] then fault('transitions: none leads to %s', name) end
end

-- ---- events, outcomes, fields of envelopes -----------------------------------------------------------------------

local told = {}
for name in all:gmatch("tell%([%w._]-P[_%d]*, '([%w_]+)'") do told[name] = true end
for name in all:gmatch("tell_as%(P[_%d]*, '([%w_]+)'") do told[name] = true end
for name in pairs(told) do
  if not events[name] then fault('events: scripts tell of %s, which is not in the table', name) end
end
for name, row in pairs(events) do
  -- That a task is completed is told by its state.
  if not told[name] and not (name == 'completed' and quoted[name]) then fault('events: no script tells of %s', name) end
  for _, state in ipairs(row.to or {}) do
    if state ~= 'none' and not states[state] then fault('events: %s: there is no state %s', name, state) end
  end
end

-- A finding is looked for and repaired under its name.
for name, row in pairs(findings) do
  for _, script in ipairs(row.client and {} or {'check', 'repair'}) do
    if not (texts[script] or ''):find('%f[%w_]' .. name .. ' = ') then fault('findings: %s does not know %s', script, name) end
  end
end
for name in ((texts.repair or ''):match('\n%s*local FINDINGS = (%b{})') or ''):gmatch('([%a_]+) = ') do
  if not findings[name] and name ~= 'edge_known' then fault('findings: scripts look for %s, which is not in the table', name) end
end

for name in (texts.turn or ''):gmatch("%f[%w_]verb [=~]= '([%w_]+)'") do
  if not outcomes[name] then fault('outcomes: turn knows %s, which is not in the table', name) end
end
for name in pairs(outcomes) do
  if not quoted[name] then fault('outcomes: no script knows %s', name) end
end

-- The fields that the reader of envelopes and field_fault name are checked, and no others.
local function body_of(name)
  local _, body = all:match('\n( *)local function ' .. name .. '(%(.-)\n%1end\n')
  return body or ''
end
local checked = {}
for name in (body_of('header') .. body_of('field_fault')):gmatch('[^%w_]o%.([%w_]+)') do checked[name] = true end
for name in body_of('field_fault'):gmatch("o%['([%w_]+)'%]") do checked[name] = true end
checked.malformed, checked.spoilt = nil, nil
for name in pairs(checked) do
  if not (fields[name] and fields[name].checked) then fault('envelope: scripts check %s, and the table does not say so', name) end
end
for name, row in pairs(fields) do
  if row.checked and not checked[name] then fault('envelope: no script checks %s', name) end
end

os.exit(faults == 0 and 0 or 1)
