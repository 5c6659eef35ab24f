-- A Wireshark dissector of the Lattice wire standard (docs/spec). Install: docs/capture.md.
--
-- There are two forms of a datagram. "lattice" is a UDP payload as it was on the wire: header and clear parts are
-- shown, and sealed parts are bytes. "lattice_opened" is the form that a capture exports: header, clear part and
-- plaintext, without the tag. Field names, and W-, S-, R- and D-numbers, are those of the specification.
--
-- Written for Lua 5.2, in Wireshark 3.6 to 4.2, and for Lua 5.4, in later versions: no bit operators, no bit library.

local wire = Proto("lattice", "Lattice")
local opened = Proto("lattice_opened", "Lattice, opened")

wire.prefs.channels = Pref.string("Application channels", "",
  "Modes of channels 4 to 13, as the schema text has them: \"4 unreliable_sequenced, 5 reliable_unordered\"")
wire.prefs.game = Pref.string("Game table", "",
  "A file that latticec made: latticec wireshark game.lattice -o game.lua. With it members have names and values")
wire.prefs.server_port = Pref.uint("Server port", 27015, "Who is the server, where the handshake was not captured")

-- The other files of this folder add to this table what the rest uses.
local lattice = { wire = wire, f = {} }
local folder = (__DIR__ or debug.getinfo(1, "S").source:match("^@?(.*)[/\\]") or ".") .. "/"
local PARTS = { "fields", "reading", "control", "values", "states", "sha256", "objects", "snapshots", "calls",
  "messages", "games" }
for _, name in ipairs(PARTS) do
  assert(loadfile(folder .. "lattice_" .. name .. ".lua"))(lattice)
end

local fail = lattice.fail
local HANDSHAKE, PAYLOAD, KEEPALIVE, DISCONNECT, RESPONSE = 0, 1, 2, 3, 4
local TAG_BYTES = 16

local registered = {}
for _, each in pairs(lattice.f) do registered[#registered + 1] = each end
wire.fields = registered

wire.experts = { lattice.malformed, lattice.not_known, lattice.no_table }
lattice.load_tables_of(folder)

-- The address of the server of each connection: the source of ConnectionAccepted. It is needed because engine traffic
-- is snapshots in one direction and inputs in the other.
local server_of = {}

function wire.init()
  server_of = {}
  lattice.forget_objects()
end

local function source(pinfo) return tostring(pinfo.src) .. " " .. tostring(pinfo.src_port) end

local function is_from_server(pinfo, connection_id)
  local server = server_of[tostring(connection_id)]
  if server then return server == source(pinfo) end
  return pinfo.src_port == wire.prefs.server_port
end

-- What snapshots, inputs and RPCs of a datagram are read with.
local Session = {}
Session.__index = Session

-- The table of the game, or nil; if there is a reason for that, it is told once for each datagram.
function Session:game(tree)
  if not self.is_chosen then
    lattice.refresh_games()
    self.is_chosen = true
    self.chosen, self.why = lattice.game_of(self.world.schema)
    if self.why then tree:add_proto_expert_info(lattice.no_table, self.why) end
  end
  return self.chosen
end

local function handshake(c, pinfo, is_opened, connection_id)
  local kind = c:uint("handshake.message", 1)
  pinfo.cols.info:set(lattice.HANDSHAKE_MESSAGES[kind] or ("Handshake " .. kind))
  if kind == 3 then server_of[tostring(connection_id)] = source(pinfo) end
  local read = lattice.HANDSHAKE_READERS[kind]
  if not read then fail("handshake message " .. kind) end
  local schema = read(c, is_opened)
  if kind == 3 and is_opened then c.session.world:set_schema("0x" .. schema:tohex()) end
end

local function datagram(c, pinfo, is_opened)
  c:bytes("protocol_id", 4)
  local kind = c:uint("packet_type", 1)
  pinfo.cols.info:set(lattice.PACKET_TYPES[kind] or ("Type " .. kind))
  local connection_id = c:uint("connection_id", 8)
  c.session = setmetatable({ world = lattice.begin_frame(connection_id, pinfo) }, Session)
  c:uint("key_epoch", 1)
  local number = c:varint("packet_seq")
  if kind == HANDSHAKE then
    handshake(c, pinfo, is_opened, connection_id)
  elseif kind == RESPONSE then
    lattice.response(c, is_opened)
  elseif kind == PAYLOAD or kind == KEEPALIVE or kind == DISCONNECT then
    pinfo.cols.info:append(" " .. tostring(number))
    if not is_opened then
      if c:left() < TAG_BYTES then fail("shorter than its tag (W-7)") end
      c:rest("sealed")
    elseif kind == PAYLOAD then
      lattice.payload(c, pinfo, is_from_server(pinfo, connection_id))
    elseif kind == KEEPALIVE then
      lattice.keepalive(c, pinfo)
    else
      lattice.disconnect(c, pinfo)
    end
  else
    c:rest("handshake.rest")
  end
  if c:left() > 0 then fail(c:left() .. " bytes behind the end") end
end

local function dissect(tvb, pinfo, root, is_opened)
  pinfo.cols.protocol:set("Lattice")
  local tree = root:add(wire, tvb())
  local c = lattice.cursor(tvb, 0, tvb:len(), tree)
  local ok, problem = pcall(datagram, c, pinfo, is_opened)
  if ok then return tvb:len() end
  if type(problem) ~= "table" then error(problem, 0) end
  tree:add_proto_expert_info(lattice.malformed, "Malformed: " .. problem.malformed)
  return tvb:len()
end

function wire.dissector(tvb, pinfo, root) return dissect(tvb, pinfo, root, false) end

function opened.dissector(tvb, pinfo, root) return dissect(tvb, pinfo, root, true) end

-- Recognizes Lattice in a capture of UDP itself, on any port, by the magic (W-8) and a known type.
wire:register_heuristic("udp", function(tvb, pinfo, root)
  if tvb:len() < 15 or tvb(0, 2):uint() ~= 0x4c54 or tvb(4, 1):uint() > 5 then return false end
  dissect(tvb, pinfo, root, false)
  return true
end)
