-- Result blocks: what the small results of one turn are kept in together. A field of its own for each costs Redis more than
-- all else that a result asks of it.
--
--   results  hash  "+<ms>" -> the results of plain completions that ended then: for each "<id> <bytes>", a newline and
--                  the bytes; nothing in between ('+' is in no id, <ms> is the task's score in `completed`)
--   result_blocks  zset  <ms> -> the same: the result_blocks that there are
--
-- turn.lua writes them and does not look into them; of turns that end tasks in the same ms, one is put behind the
-- other. For each there is a task in `completed` with its score: a result_block goes with the last one, and may tell of some
-- that are gone. Who makes fields of it (lib/result_blocks.lua) asks which are there. (While the time stands, another may
-- come and end under the id of one that is gone: see there.)
--
-- requires: base
-- gives: parse_result_block

-- Of a result_block: id -> result, and the ids. (Of two with the same id the later one counts.)
local function parse_result_block(result_block)
  local results, ids, at = {}, {}, 1
  while true do
    local id, bytes, from = match(result_block, '^(%S+) (%d+)\n()', at)
    if not id then return results, ids end
    at = from + bytes
    results[id], ids[#ids + 1] = sub(result_block, from, at - 1), id
  end
end
