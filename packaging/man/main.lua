-- lua5.1 main.lua OUT REEVE REEVE_WORKER PLUGIN_H DATE: writes the manual pages of the programs into OUT/man1, man3, man5 and
-- man8. They are made from `reeve help --json`, from `reeve-worker --help` and --help-config, and from the header of plugins, so
-- that they say what --help says.
local here = arg[0]:match('^(.*/)') or './'
local json, roff = dofile(here .. 'json.lua'), dofile(here .. 'roff.lua')
local out, reeve, worker, plugin_header, date = arg[1], arg[2], arg[3], arg[4], arg[5]

local function output_of(command)
  local pipe = assert(io.popen(command))
  local text = pipe:read('*a')
  pipe:close()
  assert(#text > 0, command .. ' printed nothing')
  return text
end

local function quote(path) return "'" .. path .. "'" end

local help = json.decode(output_of(quote(reeve) .. ' help --json'))
local source, manual = 'reeve ' .. help.version, 'reeve'

local function lower_first(text) return text:sub(1, 1):lower() .. text:sub(2) end

local function term_of(option)
  if not option.argument then return '--' .. option.name end
  if option.argument_optional then return ('--%s[=%s]'):format(option.name, option.argument) end
  return ('--%s %s'):format(option.name, option.argument)
end

local function options(page, list)
  for _, option in ipairs(list) do page:item(term_of(option), option.help .. '.') end
end

local function name(page, what, summary)
  page:head('NAME')
  page:add((what:gsub('%-', '\\-')) .. ' \\-')
  page:fill(summary)
end

-- ---- the commands -------------------------------------------------------------------------------------------------------

local function notes_and_examples(page, notes)
  local before, examples = notes:match('^(.-)\n?Examples?:\n(.*)$')
  page:text(before or notes)
  return examples
end

local function verb_page(verb)
  local page = roff.page('reeve-' .. verb.verb, 1, date, source, manual)
  name(page, 'reeve-' .. verb.verb, lower_first(verb.summary))
  page:head('SYNOPSIS')
  page:literal(verb.synopsis)
  page:head('DESCRIPTION')
  page:text(verb.summary .. '.')
  local examples = verb.notes and notes_and_examples(page, verb.notes)
  if #verb.options > 0 then
    page:head('OPTIONS')
    page:text('Defaults are in parentheses.')
    options(page, verb.options)
  end
  page:head('GLOBAL OPTIONS')
  options(page, verb.global_options)
  page:head('EXIT STATUS')
  page:text(verb.exits)
  if examples then
    page:head('EXAMPLES')
    page:text(examples)
  end
  page:see_also{'reeve(1)'}
  page:write(out .. '/man1/reeve-' .. verb.verb .. '.1')
end

local environment = {
  {'REEVE_REDIS', 'The URL of Redis.'},
  {'REEVE_SIZE_LIMITS', 'Size limits for enqueued tasks, as for --size-limit.'},
  {'REEVE_PLUGIN_DIR', 'The directory of plugins that are given by name.'},
  {'NO_COLOR', 'If it is set and not empty, no colours are used.'},
}

local function main_page()
  local page = roff.page('reeve', 1, date, source, manual)
  name(page, 'reeve', 'enqueues, inspects and controls background tasks in Redis')
  page:head('SYNOPSIS')
  page:literal{'reeve [--redis URL] [--ns NAME] [--json] COMMAND ...'}
  page:head('DESCRIPTION')
  page:text((help.terms:gsub('^Terms: a', 'A')))
  page:head('COMMANDS')
  local section
  for _, title in ipairs{'Tasks', 'Changing tasks', 'Queues', 'Workers and Redis', 'Trying and measuring'} do
    for _, verb in ipairs(help.verbs) do
      if verb.section == title then
        if section ~= title then page:sub(title) end
        section = title
        page:item('reeve ' .. verb.verb, verb.summary .. '.')
      end
    end
  end
  page:head('OPTIONS')
  page:text('They stand before or after the command.')
  options(page, help.global_options)
  page:head('EXIT STATUS')
  for _, row in ipairs(help.exit_statuses) do page:item(tostring(row.status), row.meaning .. '.') end
  page:head('ENVIRONMENT')
  for _, row in ipairs(environment) do page:item(row[1], row[2]) end
  local others = {}
  for _, verb in ipairs(help.verbs) do others[#others + 1] = 'reeve-' .. verb.verb .. '(1)' end
  others[#others + 1] = 'reeve-plugin(3)'
  others[#others + 1] = 'reeve.conf(5)'
  others[#others + 1] = 'reeve-worker(8)'
  page:see_also(others)
  page:write(out .. '/man1/reeve.1')
end

-- ---- the worker ---------------------------------------------------------------------------------------------------------

-- A list of "  TERM     description" lines, whose descriptions go on with a deeper indent.
local function worker_items(page, lines)
  local items = {}
  for _, line in ipairs(lines) do
    local term, text = line:match('^  (%S.-)%s%s+(%S.*)$')
    if term then
      items[#items + 1] = {term, text}
    elseif line:match('^      ') and #items > 0 then
      items[#items][2] = items[#items][2] .. '\n' .. line:gsub('^%s+', '')
    end
  end
  for _, item in ipairs(items) do page:item(item[1], item[2]) end
end

local function worker_page()
  local page = roff.page('reeve-worker', 8, date, source, manual)
  local parts, synopsis, current = {}, {}, nil
  for line in output_of(quote(worker) .. ' --help'):gmatch('(.-)\n') do
    local title, rest = line:match('^(%u[%l ]+):%s*(.*)$')
    if title then
      current = {title = title, lines = {rest ~= '' and rest or nil}}
      parts[#parts + 1] = current
    elseif current then
      current.lines[#current.lines + 1] = line
    elseif line:match('reeve%-worker ') and line:match('^[ u]') then
      synopsis[#synopsis + 1] = line:gsub('^usage: ', ''):gsub('^%s+', '')
    elseif line ~= '' then
      parts[#parts + 1] = {title = 'Description', lines = {line}}
    end
  end
  name(page, 'reeve-worker', 'runs the tasks of queues on Redis with the handlers of plugins')
  page:head('SYNOPSIS')
  page:literal(synopsis)
  for _, part in ipairs(parts) do
    page:head(part.title:upper())
    local is_list = part.lines[1] and part.lines[1]:match('^  ')
    if is_list then worker_items(page, part.lines) end
    for i = #part.lines, 1, -1 do
      if is_list and part.lines[i]:match('^  ') then table.remove(part.lines, i) end
    end
    page:text(table.concat(part.lines, '\n') .. '\n')
  end
  page:see_also{'reeve(1)', 'reeve-plugin(3)', 'reeve.conf(5)'}
  page:write(out .. '/man8/reeve-worker.8')
end

local function configuration_page()
  local page = roff.page('reeve.conf', 5, date, source, manual)
  name(page, 'reeve.conf', 'the configuration of reeve-worker')
  page:head('DESCRIPTION')
  page:text('The file that reeve-worker -c reads is in the format of libconfig. Times are in seconds, whole or fractional.\n' ..
    'reeve-worker -c FILE --check checks it, and the plugins that it names.\n')
  page:head('SETTINGS')
  local term, lines
  local function flush()
    if term then page:item(term, table.concat(lines, '\n')) end
  end
  for line in output_of(quote(worker) .. ' --help-config'):gmatch('(.-)\n') do
    if line:match('^%S') then
      flush()
      term, lines = line, {}
    elseif line ~= '' and lines then
      lines[#lines + 1] = line:gsub('^%s+', '')
    end
  end
  flush()
  page:see_also{'reeve-worker(8)'}
  page:write(out .. '/man5/reeve.conf.5')
end

-- ---- the interface of plugins -------------------------------------------------------------------------------------------

-- The text of a comment, without its marks.
local function words_of(comment)
  comment = comment:gsub('^/%*%s*%*?%s*', ''):gsub('%s*%*/$', '')
  return (comment:gsub('\n %* ?', '\n'):gsub('^\n', ''))
end

-- A header is comments at the left margin, each followed by what it describes.
local function plugin_page()
  local file = assert(io.open(plugin_header, 'rb'))
  local text = file:read('*a')
  file:close()
  local page = roff.page('reeve-plugin', 3, date, source, manual)
  name(page, 'reeve-plugin', 'handlers of reeve in a shared object')
  page:head('SYNOPSIS')
  page:literal{'#include <reeve/plugin.h>'}
  page:head('DESCRIPTION')
  local first = text:match('^(/%*.-%*/)')
  page:text((words_of(first):gsub('^plugin%.h [^\n]*\n', '')))
  page:head('DECLARATIONS')
  local body = text:sub(#first + 1):gsub('#ifdef __cplusplus.-#endif\n', ''):gsub('#ifn?def [^\n]*\n', '')
  body = body:gsub('#define REEVE_PLUGIN_H\n', ''):gsub('#endif[^\n]*\n?', '')
  for block in (body .. '\n\n'):gmatch('(.-)\n\n+') do
    local comment, code = block:match('^%s*(/%*.-%*/)\n?(.*)$')
    if comment and block:match('^%s*/%*') then page:text(words_of(comment)) else code = block end
    local lines = {}
    for line in (code .. '\n'):gmatch('(.-)\n') do
      if line ~= '' or #lines > 0 then lines[#lines + 1] = line end
    end
    while lines[#lines] == '' do lines[#lines] = nil end
    if #lines > 0 then page:literal(lines) end
  end
  page:see_also{'reeve(1)', 'reeve-worker(8)'}
  page:write(out .. '/man3/reeve-plugin.3')
end

main_page()
for _, verb in ipairs(help.verbs) do verb_page(verb) end
worker_page()
configuration_page()
plugin_page()
