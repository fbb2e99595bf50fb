-- Short names for what the common path of a script calls often. A local name costs less at each use than a field of a
-- global table.
--
-- gives: byte, by_bytes, call, format, sub

local call, byte, format, sub = redis.call, string.byte, string.format, string.sub

-- Whether Redis's locale orders texts by their bytes, as most do: then a comparison of texts replaces a look at their
-- bytes, which calls a function.
local by_bytes = 'Z' < 'a'
