-- The members of a JSON object as text. A header is changed as text: decoded and encoded again, its numbers would not
-- be the same.
--
-- requires: base
-- gives: join_members, member_of, members_of, put_member, without_key

-- The place of the closing quotation mark of the string that begins at `at`.
local function string_end(json, at)
  local place = find(json, '["\\]', at + 1)
  while place and byte(json, place) == 92 do place = find(json, '["\\]', place + 2) end
  return place
end

-- The place of the comma or bracket behind the value that begins at `at`.
local function value_end(json, at)
  local depth, place = 0, find(json, '["%[%]{},]', at)
  while place do
    local char = sub(json, place, place)
    if char == '"' then
      place = string_end(json, place)
    elseif char == '{' or char == '[' then
      depth = depth + 1
    elseif depth == 0 then
      return place
    elseif char ~= ',' then
      depth = depth - 1
    end
    place = find(json, '["%[%]{},]', place + 1)
  end
end

-- json: an object that JSON accepts. Returns a list of {name, value}, both as JSON.
local function members_of(json)
  local list, at = {}, find(json, '["}]', 2)
  while at and byte(json, at) == 34 do
    local name_end = string_end(json, at)
    local from = find(json, '[^%s:]', name_end + 1)
    local to = value_end(json, from)
    list[#list + 1] = {sub(json, at, name_end), sub(json, from, to - 1)}
    at = find(json, '["}]', to)
  end
  return list
end

local function join_members(list)
  local parts = {}
  for i, member in ipairs(list) do parts[i] = member[1] .. ':' .. member[2] end
  return '{' .. table.concat(parts, ',') .. '}'
end

-- Whether a name, as JSON, is this text.
local function is_named(name, wanted)
  return name == '"' .. wanted .. '"' or find(name, '\\', 1, true) and cjson.decode('[' .. name .. ']')[1] == wanted
end

-- The place of a member in a list, or nil.
local function member_of(list, wanted)
  for i, member in ipairs(list) do
    if is_named(member[1], wanted) then return i end
  end
end

-- Sets a member to a value, as JSON; '': removes it. rank: of each known name, its place among the others; a new member
-- comes before the first one of a higher rank.
local function put_member(list, wanted, value, rank)
  local at = member_of(list, wanted)
  if at then
    if value == '' then table.remove(list, at) else list[at][2] = value end
    return
  end
  if value == '' then return end
  at = #list + 1
  for i = #list, 1, -1 do
    if (rank[list[i][1]] or 1000) > (rank['"' .. wanted .. '"'] or 1000) then at = i end
  end
  table.insert(list, at, {cjson.encode(wanted), value})
end

-- An envelope whose task has no unique key any more. One that is not understood stays as it is.
local function without_key(envelope, id)
  if header(envelope, id).malformed then return envelope end
  local line_end = find(envelope, '\n', 1, true)
  local list = members_of(sub(envelope, 1, line_end - 1))
  for _, name in ipairs({'unique', 'until', 'unique_for'}) do put_member(list, name, '', {}) end
  return join_members(list) .. sub(envelope, line_end)
end
