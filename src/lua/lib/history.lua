-- The history of a task, in the field `history` of info:<id>: a line of JSON for each failure, crash or manual change,
-- at most @HISTORY_MAX@. The first line stays; of the others, the oldest is removed. A task that completes at its first
-- attempt has none.
--
-- requires: base, event
-- gives: history_entry, history_line, history_with, note, note_ended

local HISTORY, WORDS = @HISTORY_MAX@, @HISTORY_TEXT_MAX@

-- Cuts a text that is too long, between two characters of UTF-8.
local function cut_words(words)
  if #words <= WORDS then return words end
  local last = WORDS
  while last > 0 and byte(words, last + 1) >= 128 and byte(words, last + 1) < 192 do last = last - 1 end
  return sub(words, 1, last)
end

-- Returns a line. worker: the id of the worker that did it, or nil; said: names and values (numbers or texts), up to a
-- name that is false or nil.
local function history_entry(now, what, worker, said)
  local parts = {'{"at":' .. text(now) .. ',"what":"' .. what .. '"'}
  if worker and worker ~= '' then parts[2] = ',"worker":"' .. worker .. '"' end
  for i = 1, #said, 2 do
    if not said[i] then break end
    local value = said[i + 1]
    value = type(value) == 'number' and text(value) or cjson.encode(cut_words(value))
    parts[#parts + 1] = ',"' .. said[i] .. '":' .. value
  end
  return table.concat(parts) .. '}'
end

-- The same, with names and values as arguments. The worker is that of act_as; if there is none, it was done manually.
local function history_line(now, what, ...)
  return history_entry(now, what, acting(), {...})
end

local function history_with(history, line)
  if not history or history == '' then return line end
  local _, breaks = string.gsub(history, '\n', '')
  if breaks + 1 >= HISTORY then
    local first = find(history, '\n', 1, true)
    history = sub(history, 1, first - 1) .. sub(history, find(history, '\n', first + 1, true) or #history + 1)
  end
  return history .. '\n' .. line
end

-- Adds a line for a task that has ended.
local function note_ended(P, id, now, what, ...)
  local info = P .. 'info:' .. id
  call('HSET', info, 'history', history_with(call('HGET', info, 'history'), history_line(now, what, ...)))
end

-- Adds a line for a waiting task, and the mark "info" to its envelope.
local function note(P, id, now, what, ...)
  local envelope = call('HGET', P .. 'tasks', id)
  if not envelope then return end
  note_ended(P, id, now, what, ...)
  mark_info(P, id, envelope)
end
