-- About `most` of a session's leases, oldest first: {{id, lease}, ...}, without what the session keeps about itself
-- (fields that begin with '#').
local HASH_SIGN = 35
local function leases_of(key, most)
  local found, leases = call('HSCAN', key, 0, 'COUNT', most)[2], {}
  for i = 1, #found, 2 do
    if byte(found[i]) ~= HASH_SIGN then leases[#leases + 1] = {found[i], found[i + 1]} end
  end
  table.sort(leases, function(a, b) return a[2] < b[2] or a[2] == b[2] and a[1] < b[1] end)
  return leases
end
