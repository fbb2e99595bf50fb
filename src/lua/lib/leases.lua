-- About `most` of a session's leases, oldest first: {{id, lease}, ...}, without what the session keeps about itself
-- (fields that begin with '#').
local HASH_SIGN = 35
local function leases_of(key, most)
  local cursor, leases = '0', {}
  repeat -- (a hash that was large may be empty at its beginning)
    local page = call('HSCAN', key, cursor, 'COUNT', most)
    local found = page[2]
    cursor = page[1]
    for i = 1, #found, 2 do
      if byte(found[i]) ~= HASH_SIGN then leases[#leases + 1] = {found[i], found[i + 1]} end
    end
  until #leases > 0 or cursor == '0'
  table.sort(leases, function(a, b) return a[2] < b[2] or a[2] == b[2] and a[1] < b[1] end)
  return leases
end
