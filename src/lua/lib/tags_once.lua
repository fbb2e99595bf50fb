-- Removes repeated tags from the options and the envelope of a new task.
--
-- requires: base
-- gives: tags_once

local function are_same(list, others)
  for i = 1, max(#list, #others) do
    if list[i] ~= others[i] then return false end
  end
  return true
end

-- Returns the tags without repeats, and the rest of the envelope without them. A rest with other tags, or with tags
-- that cannot be found in its text, is not changed: the index (tag:<tag>) contains each task once anyway.
local function tags_once(tags, rest)
  local seen, list = {}, {}
  for _, tag in ipairs(tags) do
    if not seen[tag] then list[#list + 1], seen[tag] = tag, true end
  end
  if #list == #tags then return tags, rest end
  -- A quotation mark inside of a JSON string has a backslash before it, so this stands in none. The list ends with the
  -- first bracket with which it is one: those before are in its tags.
  local from, at = find(rest, '"tags"%s*:%s*%[')
  local to, found = at, nil
  while to and not found do
    to = find(rest, ']', to + 1, true)
    found = to and decoded(sub(rest, at, to))
  end
  if not found or not are_same(found, tags) then return list, rest end
  local fewer = sub(rest, 1, from - 1) .. '"tags":' .. cjson.encode(list) .. sub(rest, to + 1)
  return list, are_same(header('{"at":0,' .. fewer).tags or {}, list) and fewer or rest
end
