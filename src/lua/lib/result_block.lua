-- Result blocks: the small results of one turn are kept together in one field of `results`. A field for each result
-- costs Redis more than everything else that it does for a result.
--
--   results  hash  "+<ms>" -> the results of plain completions that ended then: for each "<id> <bytes>", a newline and
--                  the bytes; nothing in between ('+' is in no id, <ms> is the task's score in `completed`)
--   result_blocks  zset  member <ms>, score <ms>: the times of the existing result blocks
--
-- turn.lua writes blocks and does not parse them. If several turns end tasks in the same ms, their blocks are
-- concatenated. A block is removed with the last task in `completed` that has its score; until then it may contain
-- results of tasks that were removed before. So lib/result_blocks.lua, which makes single fields of a block, asks which
-- tasks exist, and whether another task has come under the id of a removed one.
--
-- requires: base
-- gives: parse_result_block

-- Parses a block. Returns a table id -> result, and the list of ids. If an id is in it twice, the later result counts.
local function parse_result_block(result_block)
  local results, ids, at = {}, {}, 1
  while true do
    local id, bytes, from = match(result_block, '^(%S+) (%d+)\n()', at)
    if not id then return results, ids end
    at = from + bytes
    results[id], ids[#ids + 1] = sub(result_block, from, at - 1), id
  end
end
