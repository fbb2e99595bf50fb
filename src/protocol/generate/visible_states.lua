-- The states that users see, in the order of their rows.
return function()
  local rows = {}
  for _, row in ipairs(require('states')) do
    if not row.shown then rows[#rows + 1] = row end
  end
  return rows
end
