-- Functions that only some calls of enqueue.lua need. Lua creates the functions of a script anew in each call, and to
-- create one costs about as much as a small command. So part(name) creates a function when it is needed first. The
-- names of the first block are created alone. For a name below that block, all modules above it are created as well;
-- the cheap ones come first.
--
-- gives: part
-- fields: answer_known, end_placed, find_unplaced, note_received, order_of_call, unknown_parent, was_received

local function make_part(name)
  if name == 'rights' then
-- require: expect
    return unfit
  elseif name == 'bulk_fallback' then
-- require: bulk_fallback
    return bulk_fallback
  elseif name == 'message' then
-- require: received
    return {was_received = was_received, note_received = note_received}
  elseif name == 'repeat' then
-- require: enqueue_repeat
    return {find_unplaced = find_unplaced, answer_known = answer_known, end_placed = end_placed}
  elseif name == 'proof' then
-- require: proof
    return all_kept
  end
-- require: tags_once
  if name == 'tags_once' then return tags_once end
-- require: ties
  if name == 'times' then return add_behind end
-- require: index
  if name == 'tags' then return index_tags end
-- require: deadline
  if name == 'deadlines' then return add_deadlines end
-- require: unique
  if name == 'key' then return lock end
-- require: event
  if name == 'events' then return {know_in_force = know_in_force, tell = tell} end
-- require: enqueue_parents
  if name == 'parents' then return {order_of_call = order_of_call, unknown_parent = unknown_parent} end
-- require: enqueue_children
  if name == 'children' then return link_children end
-- require: enqueue_replace
  if name == 'replacement' then return replace_holder end
end

local made_parts = {}
local function part(name)
  made_parts[name] = made_parts[name] or make_part(name)
  return made_parts[name]
end
