-- Documents: each part between `<!-- generated: NAME -->` and `<!-- end of generated -->` is what document_NAME.lua makes.
return function(old)
  assert(old, 'there is no such document')
  local function renew(open, name, close)
    local made = require('document_' .. name)()
    return open .. '\n' .. made:gsub('%s*$', '') .. '\n' .. close
  end
  local opened = select(2, old:gsub('<!%-%- generated: ', ''))
  local text, count = old:gsub('(<!%-%- generated: ([%w_]+) %-%->)\n.-(<!%-%- end of generated %-%->)', renew)
  assert(count == opened, 'a generated part has no end, or its first line has more than the mark')
  return text
end
