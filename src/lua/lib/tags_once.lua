-- A tag that is given twice is kept once.
--
-- Where the list of tags in the header of `rest` begins, its items as they are written there, and where it ends; nil when
-- it is not found. (A quotation mark inside of a JSON string has a backslash before it, so `"tags":[` stands in none.)
--
-- requires: base
-- gives: tags_once

local function written_tags(rest)
  local from, at = find(rest, '"tags"%s*:%s*%[')
  local items = {}
  while at do
    local opening = match(rest, '^[%s,]*()"', at + 1)
    if not opening then
      local close = match(rest, '^%s*()%]', at + 1)
      return close and from, items, close
    end
    at = find(rest, '["\\]', opening + 1)
    while at and byte(rest, at) == 92 do at = find(rest, '["\\]', at + 2) end
    items[#items + 1] = at and sub(rest, opening, at)
  end
end

-- The tags without repeats, and the rest of an envelope with as many. A rest that has others, or has them in a way that is
-- not understood, stays as it is: the index (tag:<tag>) has each task once anyway.
local function tags_once(tags, rest)
  local seen, list = {}, {}
  for _, tag in ipairs(tags) do
    if not seen[tag] then list[#list + 1], seen[tag] = tag, true end
  end
  if #list == #tags then return tags, rest end
  local from, items, close = written_tags(rest)
  if not from or #items ~= #tags then return list, rest end
  local kept = {}
  for i, item in ipairs(items) do
    if seen[tags[i]] then kept[#kept + 1], seen[tags[i]] = item, nil end
  end
  local fewer = sub(rest, 1, from - 1) .. '"tags":[' .. table.concat(kept, ',') .. sub(rest, close)
  local told = header('{"at":0,' .. fewer).tags or {}
  for i = 1, max(#list, #told) do
    if told[i] ~= list[i] then return list, rest end
  end
  return list, fewer
end
