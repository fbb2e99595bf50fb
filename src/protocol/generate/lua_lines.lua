-- Lines of a Lua text, by the places of their characters.

-- Where the line begins in which a character stands.
local function start_of(text, at)
  while at > 1 and text:byte(at - 1) ~= 10 do at = at - 1 end
  return at
end

-- Where the comment begins that stands right above a line; without one: where the line begins. What a module declares in its
-- head ("-- gives: ...") belongs to no statement.
local function above_comment(text, line)
  while line > 1 do
    local above = start_of(text, line - 1)
    local comment = text:match('^ *%-%-([^\n]*)', above)
    if not comment or comment:find('^ %l+: ') then return line end
    line = above
  end
  return line
end

return {start_of = start_of, above_comment = above_comment}
