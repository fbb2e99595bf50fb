-- How check.lua goes through the elements of a key, some at a time.
--
-- A place in it is "<cursor of SCAN> <how many elements of that page were passed> <COUNT of the next page>".
--
-- requires: base, budget
-- gives: walk_key

local PAGE_MIN, PAGE_MAX, PAGE_BYTES = 4, 64, 262144

-- Values are read with their fields: after a page with many bytes the next one is smaller.
local function next_count(count, elements, step)
  local bytes = 0
  for i = 1, #elements do bytes = bytes + #elements[i] end
  if step == 1 or bytes * 2 < PAGE_BYTES then return min(PAGE_MAX, count * 2) end
  return bytes > PAGE_BYTES and max(1, math.floor(count / 4)) or count
end

-- command: SCAN, HSCAN, SSCAN or ZSCAN; key: nil for SCAN, whose page has names of keys that begin with `prefix`.
local function page_of(command, key, cursor, count, prefix)
  if key then return call(command, key, cursor, 'COUNT', text(count)) end
  return call(command, cursor, 'MATCH', prefix .. '*', 'COUNT', text(count))
end

-- look: is called with each element, its value and the place behind it, and returns true where the call is to end. A
-- small hash or set is one page however large COUNT is, so a call may end within a page. Returns where to go on, or nil
-- at the end, and how many elements were looked at.
local function walk_key(command, key, place, prefix, look)
  local cursor, passed, count = match(place, '^(%d+) (%d+) (%d+)$')
  if not cursor then cursor, passed, count = '0', '0', text(PAGE_MIN) end
  local step = (command == 'HSCAN' or command == 'ZSCAN') and 2 or 1
  local seen, is_full = 0, false
  repeat
    local page = page_of(command, key, cursor, tonumber(count), prefix)
    local elements = page[2]
    for i = 1 + tonumber(passed) * step, #elements, step do
      local behind = cursor .. ' ' .. text((i - 1) / step + 1) .. ' ' .. count
      is_full = look(elements[i], elements[i + 1], behind)
      seen = seen + 1
      if (is_full or budget.left <= 0) and i + step <= #elements then return behind, seen end
    end
    cursor, passed, count = page[1], '0', text(next_count(tonumber(count), elements, step))
    budget.left = budget.left - 1 - math.floor(#elements / 10)
  until cursor == '0' or is_full or budget.left <= 0
  if cursor == '0' then return nil, seen end
  return cursor .. ' 0 ' .. count, seen
end
