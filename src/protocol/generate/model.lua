-- model/definition.h: what the randomised test (tests/model) takes from the definition.
local function list(out, name, lines)
  out[#out + 1] = ('\n#define %s(X) \\\n    %s'):format(name, table.concat(lines, ' \\\n    '))
end

-- parked:<group>: the part before the variable, and the name of the function that reads such a key.
local function key(row)
  local prefix = row.name:match('^[^<]+')
  local stem = prefix:gsub(':$', ''):gsub('%W', '_')
  return ('X("%s", "%s", %s)'):format(prefix, row.type, prefix ~= row.name and stem .. '_of' or stem)
end

local function keys()
  local lines = {}
  for _, row in ipairs(require('keys')) do
    if row.name and row.model ~= false then lines[#lines + 1] = key(row) end
  end
  return lines
end

-- The keys with fixed names, whether the randomised test reaches them or not.
local function fixed_keys()
  local lines = {}
  for _, row in ipairs(require('keys')) do
    if row.name and not row.name:find('<', 1, true) then lines[#lines + 1] = ('X("%s", "%s")'):format(row.name, row.type) end
  end
  return lines
end

local function states()
  local lines = {'X(NONE, "none", "")'}
  for _, row in ipairs(require('states')) do
    lines[#lines + 1] = ('X(%s, "%s", "%s")'):format(row.name:upper(), row.name, row.shown or row.name)
  end
  return lines
end

-- `ready` has segments, too: the model reads it by a function of its own.
local function state_sets()
  local lines = {}
  for _, row in ipairs(require('states')) do
    if row.rank and row.name ~= 'ready' then lines[#lines + 1] = ('X(%s, %s)'):format(row.key, row.name:upper()) end
  end
  return lines
end

local function transitions()
  local lines = {}
  for _, row in ipairs(require('transitions')) do
    for _, which in ipairs({'by', 'rarely'}) do
      for _, script in ipairs(row[which] or {}) do
        lines[#lines + 1] = ('X(%s, %s, "%s", %s)'):format(row.from:upper(), row.to:upper(), script,
          which == 'by' and 'true' or 'false')
      end
    end
  end
  return lines
end

-- For each event the states that it leads to, as a set of bits; of one that ends a task or removes it also that it is gone.
local function events()
  local ended, lines = {}, {}
  for _, row in ipairs(require('states')) do ended[row.name] = row.ended end
  for _, row in ipairs(require('events')) do
    local bits = {}
    for _, state in ipairs(row.to or {}) do bits[#bits + 1] = ('(1u << %s)'):format(state:upper()) end
    if ended[row.name] then bits[#bits + 1] = '(1u << NONE)' end
    lines[#lines + 1] = ('X("%s", %s)'):format(row.name, bits[1] and table.concat(bits, ' | ') or '0')
  end
  return lines
end

return function()
  local out = {'/* made from src/protocol/definition; do not edit */', '#ifndef TEST_MODEL_DEFINITION_H', '#define TEST_MODEL_DEFINITION_H'}
  out[#out + 1] = '\n/* A key of a queue, or what its name begins with; its type; who reads it. */'
  list(out, 'MODEL_KEYS', keys())
  out[#out + 1] = '\n/* A key of a queue with a fixed name, and its type. */'
  list(out, 'MODEL_FIXED_KEYS', fixed_keys())
  out[#out + 1] = '\n/* A state: its name in the definition, and the one that users see. */'
  list(out, 'MODEL_STATES', states())
  out[#out + 1] = '\n/* A state whose key is a sorted set of ids: its key, its name in the definition. */'
  list(out, 'MODEL_STATE_SETS', state_sets())
  out[#out + 1] = '\n/* A transition that a script may make; whether a full run must meet it. */'
  list(out, 'MODEL_ALLOWED', transitions())
  out[#out + 1] = '\n/* An event; the states that tasks can be in after it. */'
  list(out, 'MODEL_EVENTS', events())
  out[#out + 1] = '\n#endif\n'
  return table.concat(out, '\n')
end
