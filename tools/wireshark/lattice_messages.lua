-- Payloads: channel messages; snapshots, inputs and RPCs have files of their own.
local lattice = ...
if not lattice then return end -- Wireshark runs each file of a plugin folder; lattice.lua runs this one

local f, cursor, fail = lattice.f, lattice.cursor, lattice.fail
local PADDING = 0xef -- where a message would begin

function lattice.channel_modes()
  local modes = {}
  for channel, mode in pairs(lattice.BUILT_IN_CHANNELS) do modes[channel] = mode end
  for channel, mode in string.gmatch(lattice.wire.prefs.channels, "(%d+)[ =:]+([a-z_]+)") do
    modes[tonumber(channel)] = mode
  end
  return modes
end

function lattice.ack_block(c)
  c:uint("ack.seq", 2)
  c:uint("ack.bitfield", 4)
end

-- The fields after the type and before the rest of the message.
local TRANSFER_FIELDS = {
  [16] = { { "id", 2 }, { "size", 8 } },
  [17] = { { "id", 2 } },
  [18] = { { "id", 2 }, { "held", 1 } },
  [19] = { { "id", 2 }, { "side", 1 }, { "reason", 1 } },
}

local function control(c)
  local kind = c:uint("control.type", 1)
  if kind == 1 or kind == 2 then
    c:uint("control.epoch", 4)
    c:bytes("control.key", 32)
  elseif kind == 14 then
    c:bytes("control.reset_token", 16)
  elseif kind == 15 then
    c:uint("control.channel", 1)
    c:uint("control.messages", 2)
  end
  for _, each in ipairs(TRANSFER_FIELDS[kind] or {}) do c:uint("transfer." .. each[1], each[2]) end
  c:rest("control.data")
  return lattice.CONTROL_TYPES[kind] or ("control " .. kind)
end

local function chunk(c)
  c:uint("transfer.id", 2)
  local offset = c:varint("transfer.offset")
  c:rest("transfer.bytes")
  return "chunk from " .. tostring(offset)
end

local function acknowledgement(c)
  lattice.ack_block(c)
  if c:left() >= 2 then c:uint("ack.delay", 2) end
  return nil
end

local function body_reader(channel, mode, flags, from_server)
  if mode == "ack" then return acknowledgement end
  if channel == 15 then return control end
  if mode == "bulk" then return chunk end
  if flags.is_snapshot then return from_server and lattice.snapshot or lattice.inputs end
  if flags.is_rpc then return lattice.rpc end
  return function(c)
    c:rest("message.body")
    return "message"
  end
end

-- Reads one channel message. Returns its description for the information column, or nil.
local function message(c, modes, from_server)
  local outer, first = c.tree, c.at
  c.tree = outer:add(lattice.wire, c.tvb(first, c.last - first), "Message")
  local head = c:take(1, "message")
  local channel, bits = math.floor(head:uint() / 16), head:uint() % 16
  local flags = { is_fragment = bits % 2 >= 1, is_rpc = bits % 4 >= 2, is_snapshot = bits % 8 >= 4, ack_elided = bits >= 8 }
  for _, name in ipairs({ "channel", "is_fragment", "is_rpc", "is_snapshot", "ack_elided" }) do
    c.tree:add(f["message." .. name], head)
  end
  local mode = modes[channel]
  if not mode then fail("channel " .. channel .. " is not declared (preference \"Application channels\")") end
  if mode == "unreliable_sequenced" then c:uint("message.sequence", 2) end
  if mode == "reliable_ordered" or mode == "reliable_unordered" then
    c:uint("message.message_id", 2)
    if not flags.ack_elided then lattice.ack_block(c) end
  end
  if flags.is_fragment then
    c:uint("fragment.group", 2)
    c:uint("fragment.index", 1)
    c:uint("fragment.count", 1)
  end
  local length = c:take(2, "length")
  c.tree:add(f["message.length"], length)
  c.tree:add(f["message.reserved"], length)
  local n = math.floor(length:uint() / 4)
  if n > c:left() then fail("the body is cut short") end
  local body = cursor(c.tvb, c.at, c.at + n, c.tree)
  body.session = c.session
  c.at = c.at + n
  c.tree:set_len(c.at - first)
  c.tree:append_text(string.format(": channel %d, %d bytes", channel, n))
  c.tree = outer
  if flags.is_fragment then
    body:rest("fragment.data")
    return "fragment"
  end
  return body_reader(channel, mode, flags, from_server)(body)
end

function lattice.payload(c, pinfo, from_server)
  local modes, said = lattice.channel_modes(), {}
  while c:left() > 0 and c.tvb(c.at, 1):uint() ~= PADDING do
    said[#said + 1] = message(c, modes, from_server)
  end
  if c:left() > 0 then c:rest("payload.padding") end
  pinfo.cols.info:append(#said > 0 and (": " .. table.concat(said, ", ")) or ": acknowledgement")
end
