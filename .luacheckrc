-- For luacheck (scripts/lint), which looks at the scripts as they are sent to Redis, with their modules put in.
std = {
  read_globals = {
    'KEYS', 'ARGV', 'redis', 'cjson', 'string', 'math', 'table', 'ipairs', 'pairs', 'next', 'tonumber', 'tostring', 'type',
    'unpack', 'select', 'pcall', 'error'
  }
}
max_line_length = false
ignore = {
  '212', '213', '221', '231', '311', -- a module gives what some scripts do not use
  '211/by_bytes', -- the same of a value
  '43.', -- a function is given what it needs, under the name that it has outside; some modules stand in functions
  '512', -- a loop that runs once, for `break` to leave it: Lua 5.1 has no goto
  '542', -- an empty branch
  -- The build writes functions that are called once where they are called: what stands behind an early return, results that the call
  -- does not take, and names that stand twice.
  '411/known', '511', '531', '241/untaken', '211/_', '211/__.*', '211/family',
  '581' -- not (x > 0): NaN is not
}
