-- Tables of games, which `latticec wireshark` makes: found, compiled, and chosen by the hash of a connection's schema.
local lattice = ...
if not lattice then return end -- Wireshark runs each file of a plugin folder; lattice.lua runs this one

-- A table enters _G.lattice_games by its name when its file is run: by Wireshark (plugin folder, or
-- -X lua_script:game.lua), by this script where it lies beside lattice.lua, or for the preference "Game table".

local states, wire = lattice.states, lattice.wire
local MOST_NESTED, MOST_ELEMENTS, LARGEST_MASK_BITS, MOST_BYTES = 10, 1024, 64, 4 * 2 ^ 20
local FORMS = { bool = ProtoField.bool, double = ProtoField.double, int = ProtoField.int64, uint = ProtoField.uint64,
  text = ProtoField.string }
local AXES = { ".x", ".y", ".z", ".w" }

lattice.member_fields = {} -- "Structure.member" -> { form, field }

-- ---- From a table to members -------------------------------------------------------------------------------------

local function compile_members(game, name, depth)
  local structure = game.by_name[name] or error("there is no structure '" .. tostring(name) .. "'", 0)
  if depth > MOST_NESTED then error("structures inside structures, too deep", 0) end
  if structure.members then return structure.members, structure.kind end
  local members = {}
  for i, each in ipairs(structure) do
    local m = { name = each[1], key = name .. "." .. each[1] }
    if each[3] or each[2] == "bool" then
      m.components = lattice.components(each[2], each[3] or "", game.enums[each[2]])
      m.kind = each[2] == "bool" and "bool" or "plain"
    else
      m.members, m.kind = compile_members(game, each[2], depth + 1)
      m.count = #m.members
      m.head_bits = states.bit_count(m.count)
    end
    local count = each.array or each.list or each.map
    if count then
      if count > MOST_ELEMENTS then error("more than " .. MOST_ELEMENTS .. " elements of '" .. m.key .. "'", 0) end
      m = { name = m.name, key = m.key, element = m, kind = each.array and "array" or each.list and "list" or "map",
        count = count, head_bits = states.bit_count(count) }
    end
    members[i] = m
  end
  structure.members = members
  return members, structure.kind
end

local function compile_type(game, raw)
  local t = { name = raw.name, behaviours = {}, rpcs = {} }
  local bits = 0
  for _, each in ipairs(raw) do
    if each.state then
      local members = compile_members(game, each.structure, 1)
      t.behaviours[#t.behaviours + 1] = { name = each.state, members = members }
      bits = bits + #members
    else
      t.rpcs[each.id] = { name = each.rpc, target = each.target,
        members = each.arguments and compile_members(game, each.arguments, 1) or {} }
    end
  end
  t.has_mask = bits + (#t.behaviours > 1 and #t.behaviours or 0) <= LARGEST_MASK_BITS
  return t
end

local function compile(name, raw)
  if type(raw.schema) ~= "string" then error("no text of the schema", 0) end
  local game = { name = name, from = raw.from, schema = raw.schema, types = {}, by_name = {}, enums = {} }
  for _, each in ipairs(raw.enums) do game.enums[each.name] = each end
  for _, each in ipairs(raw.structures) do
    game.by_name[each.name] = { kind = each.kind, (table.unpack or unpack)(each) }
  end
  for _, each in ipairs(raw.types) do game.types[each.id] = compile_type(game, each) end
  if raw.input then game.input, game.input_name = compile_members(game, raw.input, 1), raw.input end
  return game
end

-- ---- Fields of members ------------------------------------------------------------------------------------------

-- Wireshark takes fields only while its scripts are loaded. A table that comes later has no fields to filter by: its
-- values are texts in lattice.game.value.
local function add_fields(game)
  local fresh = {}
  local function one(key, label, component)
    if lattice.member_fields[key] then return end -- that of another table
    local field = FORMS[component.form]("lattice.game." .. key, label)
    lattice.member_fields[key] = { form = component.form, field = field }
    fresh[#fresh + 1] = field
  end
  for _, structure in pairs(game.by_name) do
    for _, m in ipairs(structure.members or {}) do
      m = m.element or m
      for i, component in ipairs(m.components or {}) do
        local axis = #m.components > 1 and AXES[i] or ""
        one(m.key .. axis, m.name .. axis, component)
      end
    end
  end
  wire.fields = fresh
end

-- ---- The tables that there are -----------------------------------------------------------------------------------

local tables = _G.lattice_games or {} -- as they were written
local games, problems = {}, {} -- by name
local choices, choices_channels = {}, nil -- what was chosen for a schema, with these channels

local function take(name, raw, may_add_fields)
  local ok, game = pcall(compile, name, raw)
  games[name], choices = ok and game or nil, {}
  problems[name] = not ok and "table '" .. tostring(name) .. "': " .. tostring(game) or nil
  if ok and may_add_fields then add_fields(game) end
end

local is_loading = true
_G.lattice_games = setmetatable({}, {
  __index = tables,
  __newindex = function(_, name, raw)
    tables[name] = raw
    take(name, raw, is_loading)
  end,
})
for name, raw in pairs(tables) do take(name, raw, true) end

-- Runs a file with nothing but the place that a table goes to. Returns what is wrong, or nil.
local function run(path)
  local file, why = io.open(path, "r")
  local text = file and file:read(MOST_BYTES)
  if file then file:close() end
  if not text then return why or path .. ": an empty file" end
  local games_of_file = setmetatable({}, {
    __index = tables,
    __newindex = function(_, name, raw) _G.lattice_games[name] = raw end,
  })
  local chunk, problem = load(text, "@" .. path, "t", { _G = { lattice_games = games_of_file } })
  if not chunk then return problem end
  local ok
  ok, problem = pcall(chunk)
  return not ok and tostring(problem) or nil
end

local function is_table(path)
  local file = io.open(path, "r")
  local line = file and file:read("*l")
  if file then file:close() end
  return line ~= nil and line:find("^%-%- Made by latticec from ") ~= nil
end

function lattice.load_tables_of(folder)
  for name in Dir.open(folder, ".lua") do
    if is_table(folder .. name) then problems[name] = run(folder .. name) end
  end
end

-- Loads the table that the preference names, when it names another than before.
local preferred = ""
function lattice.refresh_games()
  is_loading = false
  if wire.prefs.game == preferred then return end
  preferred = wire.prefs.game
  problems.preference, choices = preferred ~= "" and run(preferred) or nil, {}
end

-- ---- The table of a connection -----------------------------------------------------------------------------------

-- The hash (D-30) of a table with the channels of the preference, as "0x…".
local function schema_id(game)
  local modes, lines = lattice.channel_modes(), {}
  for channel = 0, 15 do
    if modes[channel] then lines[#lines + 1] = string.format("channel %d %s\n", channel, modes[channel]) end
  end
  local text = "lattice schema 1\nwire 1.0\nchannels\n" .. table.concat(lines) .. game.schema
  local pairs_of_digits = "(..)(..)(..)(..)(..)(..)(..)(..)" -- little-endian
  return "0x" .. lattice.sha256_head(text):gsub(pairs_of_digits, "%8%7%6%5%4%3%2%1")
end

local function first_problem()
  local _, problem = next(problems)
  return problem
end

local function choose(schema)
  local said, only, count = {}, nil, 0
  for name, game in pairs(games) do
    if schema and schema_id(game) == schema then return game end
    said[#said + 1], only, count = schema and name .. " " .. schema_id(game) or name, game, count + 1
  end
  if count == 0 then return nil, first_problem() end
  if not schema and count == 1 then return only end
  table.sort(said)
  local tables_said = table.concat(said, ", ")
  if not schema then return nil, "the handshake is not in the capture, so no table is chosen of " .. tables_said end
  return nil, "the connection's schema is " .. schema .. ", that of the table is " .. tables_said ..
    " (with the preference \"Application channels\")"
end

-- The table for a connection with this schema, "0x…", or nil where the handshake is not in the capture. Returns
-- nil and a reason, if there is one.
function lattice.game_of(schema)
  if choices_channels ~= wire.prefs.channels then choices, choices_channels = {}, wire.prefs.channels end
  local key = schema or "not known"
  if not choices[key] then choices[key] = { choose(schema) } end
  return choices[key][1], choices[key][2]
end
