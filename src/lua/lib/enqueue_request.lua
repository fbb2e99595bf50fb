-- The careful path of enqueue.lua: reads and checks the arguments.
--
-- requires: options, enqueue_parts
-- gives: read_request

-- Reads ARGV[1], which the head of enqueue.lua describes. Returns whether it is valid.
local function read_way(request, way) -- inline
  if way == 'plain' or way == 'idle' or way == 'bulk' then
    request.is_plain, request.is_bulk = true, way == 'bulk'
    return true
  end
  request.is_repeated = way ~= '0'
  if way == '0' or way == '1' then return true end
  local elapsed, began = string.match(way, '^again (%d+) ?(%d*)$')
  request.elapsed, request.began = tonumber(elapsed), tonumber(began)
  request.source, request.number, request.floor = string.match(way, '^carried ([%w._~-]+) (%d+) (%d+)$')
  return elapsed or request.source
end

-- Creates a task of the request; enqueue_any.lua describes the fields.
local function new_task(id, options, rest)
  return {id = id, options = options, rest = rest, known = nil, due = nil, deadline = nil, has_info = nil, place = nil}
end

-- Adds the tasks of the arguments to request.tasks. Returns an error text, or nil.
local function list_tasks(request, given) -- inline
  local tasks, is_plain, width = request.tasks, request.is_plain, request.is_plain and 2 or 3
  local count = (#given - 1) / width
  if count % 1 ~= 0 then
    return (#given - 1) .. ' arguments after ARGV[1], which are ' .. width .. ' for each task'
  end
  -- unpack is called with lists of the tasks. More values do not fit on the stack of Redis's Lua.
  if count > @ENQUEUE_MAX@ then return 'more than @ENQUEUE_MAX@ tasks in one call' end
  for i = 1, count do
    if is_plain then
      tasks[i] = new_task(given[i + 1], '', given[i + 1 + count])
    else
      tasks[i] = new_task(given[3 * i - 1], given[3 * i], given[3 * i + 1])
    end
  end
end

-- Checks all tasks, and decodes their options. Tasks of a bulk insert have none; the client has checked them. Returns
-- an error text, or nil.
local function check_tasks(request) -- inline
  local tasks, fault = request.tasks, nil
  for i = 1, #tasks do
    local task = tasks[i]
    if request.is_bulk then task.options = NO_OPTIONS else task.options, fault = checked_options(task.id, task.options, task.rest) end
    if fault then
      fault = 'task ' .. i .. ' of ' .. #tasks .. ': ' .. fault
      break
    end
    local o = task.options
    if o.tags then o.tags, task.rest = part('tags_once')(o.tags, task.rest) end
    request.has_children = request.has_children or o.after
    request.is_irreversible = request.is_irreversible or o.conflict or o.after
  end
  return fault
end

-- Returns an error text, or nil.
local function read_request(request, given) -- inline
  local is_known = read_way(request, given[1] or '')
  if not is_known then return 'ARGV[1] is none of "0", "1", "again <ms> <at>", "carried ...", "plain", "idle" and "bulk"' end
  local tasks, fault = given, nil
  if request.is_bulk then tasks, fault = part('bulk_fallback')(request.P, given) end
  if fault then return fault end
  fault = list_tasks(request, tasks)
  if fault then return fault end
  if request.source and #request.tasks ~= 1 then return 'a message brings one task' end
  fault = check_tasks(request)
  return fault
end
