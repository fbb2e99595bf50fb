-- json.lua: reads JSON text, as `reeve help --json` prints it. decode(text) returns the value; null is nil.
local escapes = {b = '\b', f = '\f', n = '\n', r = '\r', t = '\t'}

local function utf8_of(code)
  if code < 0x80 then return string.char(code) end
  if code < 0x800 then return string.char(0xc0 + math.floor(code / 64), 0x80 + code % 64) end
  return string.char(0xe0 + math.floor(code / 4096), 0x80 + math.floor(code / 64) % 64, 0x80 + code % 64)
end

local decode_value

local function decode_string(text, at)
  local parts = {}
  while true do
    local from, to = text:find('^[^"\\]+', at)
    if from then
      parts[#parts + 1] = text:sub(from, to)
      at = to + 1
    end
    local mark = text:sub(at, at)
    if mark == '"' then return table.concat(parts), at + 1 end
    assert(mark == '\\', 'a string has no end')
    local letter = text:sub(at + 1, at + 1)
    if letter == 'u' then
      parts[#parts + 1] = utf8_of(tonumber(text:sub(at + 2, at + 5), 16))
      at = at + 6
    else
      parts[#parts + 1] = escapes[letter] or letter
      at = at + 2
    end
  end
end

-- The elements of an array or the members of an object, from behind its first bracket on.
local function decode_list(text, at, close)
  local list, count = {}, 0
  at = text:find('%S', at)
  if text:sub(at, at) == close then return list, at + 1 end
  while true do
    local key, value
    if close == '}' then
      key, at = decode_string(text, text:find('"', at, true) + 1)
      at = text:find(':', at, true) + 1
    else
      count = count + 1
      key = count
    end
    value, at = decode_value(text, at)
    list[key] = value
    at = text:find('%S', at)
    if text:sub(at, at) == close then return list, at + 1 end
    assert(text:sub(at, at) == ',', 'a comma is missing')
    at = at + 1
  end
end

function decode_value(text, at)
  at = text:find('%S', at)
  local mark = text:sub(at, at)
  if mark == '"' then return decode_string(text, at + 1) end
  if mark == '{' then return decode_list(text, at + 1, '}') end
  if mark == '[' then return decode_list(text, at + 1, ']') end
  local word = text:match('^[%w.+-]+', at)
  if word == 'true' then return true, at + 4 end
  if word == 'false' then return false, at + 5 end
  if word == 'null' then return nil, at + 4 end
  return assert(tonumber(word)), at + #word
end

return {decode = function(text) return (decode_value(text, 1)) end}
