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
wire.prefs.server_port = Pref.uint("Server port", 27015, "Who is the server, where the handshake was not captured")

-- ---- Names ------------------------------------------------------------------------------------------------------

local HANDSHAKE, PAYLOAD, KEEPALIVE, DISCONNECT, RESPONSE = 0, 1, 2, 3, 4
local TAG_BYTES = 16
local DELTA, FULL, REMOVED, RESTED, PIECES = 0, 1, 2, 3, 4
local PIECE_BYTES, LARGEST_LENGTH = 64, 65536
local PADDING = 0xef -- where a message would begin
local LARGEST_U32, LARGEST_SLOT, LARGEST_AGE = 2 ^ 32 - 1, 2 ^ 32 - 2, 2 ^ 20

local PACKET_TYPES = { [0] = "Handshake", "Payload", "Keepalive", "Disconnect", "ChallengeResponse", "RelayCtrl" }
local HANDSHAKE_MESSAGES = { "ConnectionRequest", "Challenge", "ConnectionAccepted", "ConnectionDenied", "Punch",
  "ConnectionRefused" }
local TOKEN_KINDS = { "connect", "relay" }
local TOKEN_ROLES = { "initiator", "responder" }
local REASONS = { [0] = "None", "Requested", "Timeout", "TokenInvalid", "TokenExpired", "TokenReused",
  "VersionMismatch", "SchemaMismatch", "ServerFull", "Kicked", "ProtocolError", "ResourceLimit", "InternalError",
  "HostLeft", "ConfigMismatch", "ServerRestarted", "NoAnswer", "Unreachable",
  "PlacedMismatch" }
local CONTROL_TYPES = { "RekeyInit", "RekeyResponse", "SchemaInfo", "InputSetup", "TablePart", "TableAck",
  "RequestAuthority", "NotifyAuthorityChange", "GrantAuthority", "DenyAuthority", "StateCell", "StateConfirm",
  "RekeyAsk", "ResetToken", "Credit", [16] = "TransferOffer", [17] = "TransferAccept", [18] = "TransferHold", [19] = "TransferEnd" }
local BLOCK_KINDS = { [0] = "delta", "full", "removed", "rested", "pieces" }
local AUTHORITY_MODES = { [0] = "server", "shared" }
local RPC_TARGETS = { [0] = "to the authority", "to the owner", "to all", "to one peer" }
local BUILT_IN_CHANNELS = { [0] = "unreliable", [1] = "unreliable_sequenced", [2] = "reliable_unordered",
  [3] = "reliable_ordered", [14] = "ack", [15] = "reliable_ordered" }

-- ---- Fields -----------------------------------------------------------------------------------------------------

local f = {}
local function field(name, make, ...)
  f[name] = make("lattice." .. name, ...)
end
local DEC, HEX = base.DEC, base.HEX

field("protocol_id", ProtoField.bytes, "Protocol")
field("packet_type", ProtoField.uint8, "Packet type", DEC, PACKET_TYPES)
field("connection_id", ProtoField.uint64, "Connection", HEX)
field("key_epoch", ProtoField.uint8, "Key epoch", DEC)
field("packet_seq", ProtoField.uint64, "Packet number", DEC)
field("sealed", ProtoField.bytes, "Sealed")

field("handshake.message", ProtoField.uint8, "Message", DEC, HANDSHAKE_MESSAGES)
field("handshake.client_key", ProtoField.bytes, "Client key")
field("handshake.bucket_key", ProtoField.bytes, "Bucket key")
field("handshake.challenge_nonce", ProtoField.bytes, "Cookie")
field("handshake.key_index", ProtoField.uint8, "Bucket", DEC)
field("handshake.token_length", ProtoField.uint16, "Token length", DEC)
field("handshake.padding", ProtoField.bytes, "Padding")
field("handshake.accept_random", ProtoField.bytes, "Accept random")
field("handshake.token_id", ProtoField.bytes, "Token id")
field("handshake.schema_id", ProtoField.uint64, "Schema", HEX)
field("handshake.features", ProtoField.uint32, "Features", HEX)
field("handshake.max_datagram", ProtoField.uint16, "Largest datagram", DEC)
field("handshake.max_objects", ProtoField.uint32, "Room for objects", DEC)
field("handshake.placed_count", ProtoField.uint32, "Placed objects", DEC)
field("handshake.placed_key_sum", ProtoField.uint64, "Sum of placed keys", HEX)
field("handshake.placed_key_squares", ProtoField.uint64, "Sum of squares of placed keys", HEX)
field("handshake.placed_digest", ProtoField.uint64, "Digest of placed objects", HEX)
field("handshake.connection_id", ProtoField.uint64, "Connection", HEX)
field("handshake.server_tick", ProtoField.uint32, "Server tick", DEC)
field("handshake.mtu_hint", ProtoField.uint16, "MTU hint", DEC)
field("handshake.tick_rate", ProtoField.uint16, "Tick rate", DEC)
field("handshake.peer_id", ProtoField.uint64, "Peer", DEC)
field("handshake.reason", ProtoField.uint16, "Reason", DEC, REASONS)
field("handshake.protocol_id", ProtoField.bytes, "Server's protocol")
field("handshake.text_length", ProtoField.uint8, "Text length", DEC)
field("handshake.text", ProtoField.string, "Text")
field("handshake.rest", ProtoField.bytes, "Rest")

field("token.magic", ProtoField.string, "Magic")
field("token.kind", ProtoField.uint8, "Kind", DEC, TOKEN_KINDS)
field("token.role", ProtoField.uint8, "Role", DEC, TOKEN_ROLES)
field("token.user_data_length", ProtoField.uint16, "User data length", DEC)
field("token.issuer_key_id", ProtoField.bytes, "Issuer key id")
field("token.token_id", ProtoField.bytes, "Token id")
field("token.protocol_id", ProtoField.bytes, "Protocol")
field("token.reserved", ProtoField.bytes, "Reserved")
field("token.schema_id", ProtoField.uint64, "Schema", HEX)
field("token.issued", ProtoField.uint64, "Issued", DEC)
field("token.expires", ProtoField.uint64, "Expires", DEC)
field("token.aud", ProtoField.bytes, "For the server")
field("token.cnf", ProtoField.bytes, "Of the client")
field("token.player", ProtoField.bytes, "Player")
field("token.session", ProtoField.bytes, "Session")
field("token.user_data", ProtoField.bytes, "User data")
field("token.signature", ProtoField.bytes, "Signature")

field("ack.seq", ProtoField.uint16, "Acknowledged", DEC)
field("ack.bitfield", ProtoField.uint32, "And below it", HEX)
field("ack.delay", ProtoField.uint16, "Delay (32 µs)", DEC)

field("message.channel", ProtoField.uint8, "Channel", DEC, nil, 0xf0)
field("message.is_fragment", ProtoField.bool, "Fragment", 8, nil, 0x01)
field("message.is_rpc", ProtoField.bool, "RPC", 8, nil, 0x02)
field("message.is_snapshot", ProtoField.bool, "Engine traffic", 8, nil, 0x04)
field("message.ack_elided", ProtoField.bool, "Acknowledgement elided", 8, nil, 0x08)
field("message.sequence", ProtoField.uint16, "Sequence", DEC)
field("message.message_id", ProtoField.uint16, "Message id", DEC)
field("message.length", ProtoField.uint16, "Length", DEC, nil, 0xfffc)
field("message.reserved", ProtoField.uint16, "Reserved", DEC, nil, 0x0003)
field("message.body", ProtoField.bytes, "Body")
field("payload.padding", ProtoField.bytes, "Padding")
field("fragment.group", ProtoField.uint16, "Fragment group", DEC)
field("fragment.index", ProtoField.uint8, "Fragment index", DEC)
field("fragment.count", ProtoField.uint8, "Fragment count (0: 256)", DEC)
field("fragment.data", ProtoField.bytes, "Fragment data")

field("snapshot.server_tick", ProtoField.uint32, "Server tick", DEC)
field("snapshot.flags", ProtoField.uint8, "Flags", HEX)
field("snapshot.has_input", ProtoField.bool, "Input", 8, nil, 0x80)
field("snapshot.confirms_own", ProtoField.bool, "Confirms own objects", 8, nil, 0x40)
field("snapshot.keep", ProtoField.bool, "Keep", 8, nil, 0x20)
field("snapshot.unchanged", ProtoField.bool, "Unchanged", 8, nil, 0x10)
field("snapshot.progress", ProtoField.bool, "Progress of joining", 8, nil, 0x08)
field("snapshot.input_age", ProtoField.uint32, "Input age (0: none, 1: this tick)", DEC)
field("snapshot.input_margin", ProtoField.int8, "Input margin (quarter ticks)", DEC)
field("snapshot.interval", ProtoField.uint32, "Interval (ticks)", DEC)
field("snapshot.join_objects", ProtoField.uint32, "Objects at join", DEC)
field("snapshot.join_missing", ProtoField.uint32, "Objects missing", DEC)
field("snapshot.block.kind", ProtoField.uint8, "Kind", DEC, BLOCK_KINDS, 0xe0)
field("snapshot.block.mixed", ProtoField.bool, "Ages of entries", 8, nil, 0x10)
field("snapshot.block.k", ProtoField.uint8, "Low bits of a gap", DEC, nil, 0x0f)
field("snapshot.block.count", ProtoField.uint64, "Entries", DEC)
field("snapshot.block.age", ProtoField.uint32, "Age", DEC)
field("snapshot.entry.slot", ProtoField.uint32, "Slot", DEC)
field("snapshot.entry.age", ProtoField.uint32, "Own age", DEC)
field("snapshot.entry.type_id", ProtoField.uint32, "Type", DEC)
field("snapshot.entry.owner", ProtoField.uint64, "Owner", DEC)
field("snapshot.entry.mode", ProtoField.uint8, "Authority mode", DEC, AUTHORITY_MODES)
field("snapshot.entry.tenure", ProtoField.uint32, "Tenure (ticks)", DEC)
field("snapshot.entry.network_id", ProtoField.uint64, "Object", DEC)
field("snapshot.entry.left", ProtoField.bool, "Left the set")
field("snapshot.entry.rpc_count", ProtoField.uint32, "Reliable RPCs before it", DEC)
field("snapshot.pieces.age", ProtoField.uint32, "Age of the state", DEC)
field("snapshot.pieces.length", ProtoField.uint32, "Length of the state", DEC)
field("snapshot.pieces.first", ProtoField.uint32, "First piece", DEC)
field("snapshot.pieces.count", ProtoField.uint32, "Pieces", DEC)
field("snapshot.pieces.bytes", ProtoField.bytes, "Bytes")
field("snapshot.changes", ProtoField.bytes, "Changes and what follows")
field("input.newest_tick", ProtoField.uint32, "Newest tick", DEC)
field("input.count", ProtoField.uint8, "Inputs", DEC)
field("input.lead", ProtoField.uint8, "Lead (quarter ticks)", DEC)
field("input.view_age", ProtoField.uint64, "View age (0: none, 1: this tick; 256ths)", DEC)
field("input.snapshot_age", ProtoField.uint64, "Snapshot age (0: none, 1: this tick)", DEC)
field("input.values", ProtoField.bytes, "Values")
field("rpc.network_id", ProtoField.uint64, "Object", DEC)
field("rpc.rpc_id", ProtoField.uint64, "RPC", DEC)
field("rpc.tick", ProtoField.uint32, "Tick", DEC)
field("rpc.target", ProtoField.uint8, "Target", DEC, RPC_TARGETS, 0xc0)
field("rpc.peer", ProtoField.uint64, "Peer", DEC)
field("rpc.arguments", ProtoField.bytes, "Target and arguments")
field("control.type", ProtoField.uint8, "Control type", DEC, CONTROL_TYPES)
field("control.epoch", ProtoField.uint32, "Epoch", DEC)
field("control.key", ProtoField.bytes, "Key")
field("control.reset_token", ProtoField.bytes, "Reset token")
field("control.channel", ProtoField.uint8, "Channel", DEC)
field("control.messages", ProtoField.uint16, "Messages", DEC)
field("control.data", ProtoField.bytes, "Data")
field("transfer.id", ProtoField.uint16, "Transfer", DEC)
field("transfer.size", ProtoField.uint64, "Size", DEC)
field("transfer.held", ProtoField.uint8, "Held", DEC)
field("transfer.side", ProtoField.uint8, "Said by", DEC, { [0] = "sender", [1] = "receiver" })
field("transfer.reason", ProtoField.uint8, "Reason", DEC,
  { [0] = "done", [1] = "refused", [2] = "cancelled", [3] = "failed", [4] = "too large" })
field("transfer.offset", ProtoField.uint64, "From byte", DEC)
field("transfer.bytes", ProtoField.bytes, "Bytes")

field("keepalive.flags", ProtoField.uint8, "Flags", HEX)
field("keepalive.has_probe", ProtoField.bool, "Probe", 8, nil, 0x01)
field("keepalive.has_echo", ProtoField.bool, "Echo", 8, nil, 0x02)
field("keepalive.has_challenge", ProtoField.bool, "Path challenge", 8, nil, 0x04)
field("keepalive.has_response", ProtoField.bool, "Path response", 8, nil, 0x08)
field("keepalive.is_mtu_probe", ProtoField.bool, "MTU probe", 8, nil, 0x10)
field("keepalive.asks_for_ack", ProtoField.bool, "Ack requested", 8, nil, 0x20)
field("keepalive.tick", ProtoField.uint32, "Tick", DEC)
field("keepalive.probe_us", ProtoField.uint64, "Probe (µs)", DEC)
field("keepalive.echo_us", ProtoField.uint64, "Echo of (µs)", DEC)
field("keepalive.echo_delay_us", ProtoField.uint32, "Echo delay (µs)", DEC)
field("keepalive.challenge", ProtoField.bytes, "Path challenge")
field("keepalive.response", ProtoField.bytes, "Path response")
field("keepalive.padding", ProtoField.bytes, "Padding")

field("disconnect.reason", ProtoField.uint16, "Reason", DEC, REASONS)
field("disconnect.flags", ProtoField.uint8, "Flags (1: acknowledges)", DEC)
field("disconnect.text_length", ProtoField.uint8, "Text length", DEC)
field("disconnect.text", ProtoField.string, "Text")

local registered = {}
for _, each in pairs(f) do registered[#registered + 1] = each end
wire.fields = registered

local malformed = ProtoExpert.new("lattice.malformed", "Malformed", expert.group.MALFORMED, expert.severity.ERROR)
wire.experts = { malformed }

-- ---- Reading ----------------------------------------------------------------------------------------------------

-- A cursor over bytes, little-endian, that adds each field it reads to `tree`. A read past the end ends the dissection
-- with an entry "malformed", not with an error of Lua.
local Cursor = {}
Cursor.__index = Cursor

local function cursor(tvb, first, last, tree)
  return setmetatable({ tvb = tvb, at = first, last = last, tree = tree }, Cursor)
end

local function fail(what)
  error({ malformed = what }, 0)
end

function Cursor:left() return self.last - self.at end

function Cursor:take(n, what)
  if n > self:left() then fail(what .. " is cut short") end
  self.at = self.at + n
  return self.tvb(self.at - n, n)
end

function Cursor:uint(name, n)
  local range = self:take(n, name)
  self.tree:add_le(f[name], range)
  if n == 8 then return range:le_uint64() end
  return range:le_uint()
end

-- Adds no entry when `n` is 0.
function Cursor:bytes(name, n)
  if n == 0 then return nil end
  local range = self:take(n, name)
  self.tree:add(f[name], range)
  return range
end

function Cursor:text(name, n)
  if n > 0 then self.tree:add_packet_field(f[name], self:take(n, name), ENC_UTF_8) end
end

function Cursor:rest(name) return self:bytes(name, self:left()) end

-- Reads a varint (W-4) by calling `next_byte`, which returns one byte. Returns the value as UInt64.
local function read_varint(next_byte)
  local low, high = 0, 0
  for group = 0, 8 do
    local byte = next_byte()
    local bits = group < 8 and byte % 128 or byte
    local shift = 7 * group
    if shift < 32 then
      local value = bits * 2 ^ shift
      low, high = low + value % 2 ^ 32, high + math.floor(value / 2 ^ 32)
    else
      high = high + bits * 2 ^ (shift - 32)
    end
    if group == 8 or byte < 128 then
      if group > 0 and byte == 0 then fail("a varint that is not the shortest (W-4)") end
      return UInt64.new(low, high)
    end
  end
end

function Cursor:varint(name)
  local first = self.at
  local value = read_varint(function() return self:take(1, name):uint() end)
  self.tree:add(f[name], self.tvb(first, self.at - first), value)
  return value
end

-- ---- Handshake --------------------------------------------------------------------------------------------------

local function token(c)
  local n = c:uint("handshake.token_length", 2)
  if n > c:left() then fail("the token is cut short") end
  local t = cursor(c.tvb, c.at, c.at + n, c.tree:add(wire, c.tvb(c.at, n), "Token"))
  c.at = c.at + n
  t:bytes("token.magic", 4)
  t:uint("token.kind", 1)
  t:uint("token.role", 1)
  local user_bytes = t:uint("token.user_data_length", 2)
  t:bytes("token.issuer_key_id", 8)
  t:bytes("token.token_id", 16)
  t:bytes("token.protocol_id", 4)
  t:bytes("token.reserved", 4)
  t:uint("token.schema_id", 8)
  t:uint("token.issued", 8)
  t:uint("token.expires", 8)
  t:bytes("token.aud", 32)
  t:bytes("token.cnf", 32)
  t:bytes("token.player", 16)
  t:bytes("token.session", 16)
  t:bytes("token.user_data", user_bytes)
  t:bytes("token.signature", 64)
  if t:left() > 0 then fail("bytes behind the token (S-4)") end
end

local function text_field(c, name)
  local n = c:uint(name .. "_length", 1)
  c:text(name, n)
end

local HANDSHAKE_READERS = {
  function(c)
    c:bytes("handshake.client_key", 32)
    token(c)
    c:rest("handshake.padding")
  end,
  function(c)
    c:bytes("handshake.bucket_key", 32)
    c:bytes("handshake.challenge_nonce", 16)
    c:uint("handshake.key_index", 1)
  end,
  function(c, is_opened)
    c:bytes("handshake.accept_random", 16)
    if not is_opened then return c:rest("sealed") end
    c:uint("handshake.connection_id", 8)
    c:uint("handshake.server_tick", 4)
    c:uint("handshake.mtu_hint", 2)
    c:uint("handshake.tick_rate", 2)
    c:uint("handshake.peer_id", 8)
    c:uint("handshake.schema_id", 8)
    c:uint("handshake.features", 4)
  end,
  function(c)
    c:uint("handshake.reason", 2)
    c:bytes("handshake.protocol_id", 4)
  end,
  function(c) c:rest("handshake.rest") end,
  function(c, is_opened)
    c:bytes("handshake.accept_random", 16)
    if not is_opened then return c:rest("sealed") end
    c:uint("handshake.reason", 2)
    c:uint("handshake.schema_id", 8)
    text_field(c, "handshake.text")
  end,
}

local function response(c, is_opened)
  c:bytes("handshake.client_key", 32)
  c:bytes("handshake.challenge_nonce", 16)
  c:uint("handshake.key_index", 1)
  token(c)
  if not is_opened then return c:rest("sealed") end
  c:bytes("handshake.challenge_nonce", 16)
  c:bytes("handshake.token_id", 16)
  c:uint("handshake.schema_id", 8)
  c:uint("handshake.features", 4)
  c:uint("handshake.max_datagram", 2)
  c:uint("handshake.tick_rate", 2)
  c:uint("handshake.max_objects", 4)
  c:uint("handshake.placed_count", 4)
  c:uint("handshake.placed_key_sum", 8)
  c:uint("handshake.placed_key_squares", 8)
  c:uint("handshake.placed_digest", 8)
end

-- ---- Channel messages -------------------------------------------------------------------------------------------

local function channel_modes()
  local modes = {}
  for channel, mode in pairs(BUILT_IN_CHANNELS) do modes[channel] = mode end
  for channel, mode in string.gmatch(wire.prefs.channels, "(%d+)[ =:]+([a-z_]+)") do
    modes[tonumber(channel)] = mode
  end
  return modes
end

local function ack_block(c)
  c:uint("ack.seq", 2)
  c:uint("ack.bitfield", 4)
end

-- A cursor over bits, bit 7 of each byte first, from where the cursor `c` is.
local Bits = {}
Bits.__index = Bits

local function bit_cursor(c) return setmetatable({ c = c, at = 8 * c.at, first = 8 * c.at }, Bits) end

-- Reads up to 15 bits.
function Bits:take(n)
  if self.at + n > 8 * self.c.last then fail("a block is cut short") end
  if n == 0 then return 0 end
  local byte = math.floor(self.at / 8)
  local range = self.c.tvb(byte, math.floor((self.at + n - 1) / 8) - byte + 1)
  self.at = self.at + n
  return range:bitfield(self.at - n - 8 * byte, n)
end

-- Begins a field.
function Bits:mark() self.first = self.at end

-- Adds a field: the bits since the last mark.
function Bits:add(name, value)
  local byte = math.floor(self.first / 8)
  self.c.tree:add(f["snapshot." .. name], self.c.tvb(byte, math.floor((self.at + 7) / 8) - byte), value)
  self:mark()
end

function Bits:varint64()
  return read_varint(function() return self:take(8) end)
end

function Bits:varint(least, most)
  local value = self:varint64():tonumber()
  if value < least or value > most then fail("varint " .. value) end
  return value
end

-- Age 0 of a delta: the state in which both sides placed the object (D-51).
function Bits:age(kind) return self:varint(kind == DELTA and 0 or 1, LARGEST_AGE) end

function Bits:network_id()
  local value = self:varint64()
  if tostring(value) == "0" then fail("network_id 0 (D-18)") end
  self:add("entry.network_id", value)
end

function Bits:pad()
  if self:take(-self.at % 8) ~= 0 then fail("padding is not zero (D-18)") end
  self.c.at = math.floor(self.at / 8)
end

local function gap(bits, k)
  local ones = 0
  while ones < 12 and bits:take(1) == 1 do ones = ones + 1 end
  if ones == 12 then return bits:varint(0, LARGEST_U32) end
  return ones * 2 ^ k + bits:take(k)
end

local function full_entry(bits)
  bits:add("entry.type_id", bits:varint(0, LARGEST_U32))
  bits:add("entry.owner", bits:varint64())
  local mode = bits:take(2)
  bits:add("entry.mode", mode)
  if mode > 1 then fail("mode " .. mode .. " (D-18)") end
  bits:add("entry.tenure", bits:varint(0, LARGEST_U32))
  bits:network_id()
end

local function removed_entry(bits)
  bits:add("entry.left", bits:take(1) == 1)
  if bits:take(1) == 1 then bits:network_id() end
  if bits:take(1) == 1 then bits:add("entry.rpc_count", bits:varint(1, LARGEST_U32)) end
end

-- Changes have no length, and to read them takes the schema and all states before. So the first block with changes ends
-- what can be shown.
local function changes(c, bits)
  c.at = math.floor(bits.at / 8)
  if c:left() == 0 then fail("changes are cut short") end
  c:rest("snapshot.changes")
end

-- A run of pieces of a state that is longer than a part (D-55).
local function pieces(c, bits)
  bits:add("pieces.age", bits:varint(0, LARGEST_AGE))
  local length = bits:varint(1, LARGEST_LENGTH)
  bits:add("pieces.length", length)
  local total = math.floor((length + PIECE_BYTES - 1) / PIECE_BYTES)
  local first = bits:varint(0, total - 1)
  bits:add("pieces.first", first)
  local count = bits:varint(1, total - first)
  bits:add("pieces.count", count)
  c.at = math.floor(bits.at / 8)
  c.tree:add(f["snapshot.pieces.bytes"], c:take(math.min(count * PIECE_BYTES, length - first * PIECE_BYTES), "pieces"))
end

local function block_entries(c, bits, kind, mixed, k)
  local count = bits:varint64()
  bits:add("block.count", count)
  count = count:tonumber()
  if count == 0 then fail("a block of no entries (D-18)") end
  if kind == DELTA or kind == RESTED then bits:add("block.age", bits:age(kind)) end
  local slot = bits:varint(0, LARGEST_SLOT)
  if kind == PIECES then
    if count ~= 1 or k ~= 0 then fail("a block of pieces (D-59)") end
    bits:mark()
    bits:add("entry.slot", slot)
    return pieces(c, bits)
  end
  for i = 1, count do
    bits:mark()
    if i > 1 then slot = slot + 1 + gap(bits, k) end
    if slot > LARGEST_SLOT then fail("slot " .. slot .. " (D-18)") end
    bits:add("entry.slot", slot)
    if mixed and bits:take(1) == 1 then bits:add("entry.age", bits:age(kind)) end
    if kind == FULL then full_entry(bits) end
    if kind == DELTA or kind == FULL then return changes(c, bits) end
    if kind == REMOVED then removed_entry(bits) end
  end
  bits:pad()
end

local function block(c)
  local outer, first = c.tree, c.at
  c.tree = outer:add(wire, c.tvb(first, c.last - first), "Block")
  local head = c:take(1, "block")
  for _, name in ipairs({ "kind", "mixed", "k" }) do c.tree:add(f["snapshot.block." .. name], head) end
  local kind, mixed, k = math.floor(head:uint() / 32), head:uint() % 32 >= 16, head:uint() % 16
  if kind > PIECES or mixed and kind ~= DELTA and kind ~= RESTED then fail("kind of a block (D-18)") end
  block_entries(c, bit_cursor(c), kind, mixed, k)
  c.tree:set_len(c.at - first)
  c.tree:append_text(": " .. BLOCK_KINDS[kind])
  c.tree = outer
end

local function snapshot(c)
  local tick = c:uint("snapshot.server_tick", 4)
  if tick == 0 then fail("server_tick 0 (D-18)") end
  local range = c:take(1, "flags")
  local flags = range:uint()
  for _, name in ipairs({ "flags", "has_input", "confirms_own", "keep", "unchanged", "progress" }) do
    c.tree:add(f["snapshot." .. name], range)
  end
  if flags % 8 > 0 then fail("reserved flags (D-18)") end
  if flags % 16 > 0 and flags ~= 8 then fail("progress with another flag (D-48)") end
  if flags >= 128 then
    local bits = bit_cursor(c)
    bits:add("input_age", bits:varint(0, LARGEST_U32))
    c.at = math.floor(bits.at / 8)
    c:uint("snapshot.input_margin", 1)
  end
  if flags % 32 >= 16 then
    local bits = bit_cursor(c)
    bits:add("interval", bits:varint(1, LARGEST_U32))
    c.at = math.floor(bits.at / 8)
    if c:left() > 0 then fail("a block behind unchanged (D-18)") end
  end
  if flags == 8 then
    local bits = bit_cursor(c)
    local objects = bits:varint(0, LARGEST_U32)
    bits:add("join_objects", objects)
    bits:add("join_missing", bits:varint(0, objects))
    c.at = math.floor(bits.at / 8)
    if c:left() > 0 then fail("a block behind progress (D-48)") end
  end
  while c:left() > 0 do block(c) end
  return "snapshot " .. tick
end

local function inputs(c)
  local tick = c:uint("input.newest_tick", 4)
  c:uint("input.count", 1)
  c:uint("input.lead", 1)
  c:varint("input.view_age")
  c:varint("input.snapshot_age")
  c:rest("input.values")
  return "inputs to " .. tick
end

-- The peer of target 3 begins two bits into a byte.
local function rpc_peer(c, first)
  local at = first * 8 + 2
  local value = read_varint(function()
    local byte = math.floor(at / 8)
    if byte + 2 > c.last then fail("peer is cut short") end
    at = at + 8
    return math.floor(c.tvb(byte, 2):uint() / 64) % 256
  end)
  c.tree:add(f["rpc.peer"], c.tvb(first, math.floor((at - 1) / 8) + 1 - first), value)
end

local function rpc(c)
  c:varint("rpc.network_id")
  local id = c:varint("rpc.rpc_id")
  c:uint("rpc.tick", 4)
  if c:left() == 0 then fail("target is cut short") end
  local first = c.at
  local target = c.tvb(first, 1)
  c.tree:add(f["rpc.target"], target)
  if math.floor(target:uint() / 64) == 3 then rpc_peer(c, first) end
  c:rest("rpc.arguments")
  return "rpc " .. tostring(id)
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
  return CONTROL_TYPES[kind] or ("control " .. kind)
end

local function chunk(c)
  c:uint("transfer.id", 2)
  local offset = c:varint("transfer.offset")
  c:rest("transfer.bytes")
  return "chunk from " .. tostring(offset)
end

local function acknowledgement(c)
  ack_block(c)
  if c:left() >= 2 then c:uint("ack.delay", 2) end
  return nil
end

local function body_reader(channel, mode, flags, from_server)
  if mode == "ack" then return acknowledgement end
  if channel == 15 then return control end
  if mode == "bulk" then return chunk end
  if flags.is_snapshot then return from_server and snapshot or inputs end
  if flags.is_rpc then return rpc end
  return function(c)
    c:rest("message.body")
    return "message"
  end
end

-- Reads one channel message. Returns its description for the information column, or nil.
local function message(c, modes, from_server)
  local outer, first = c.tree, c.at
  c.tree = outer:add(wire, c.tvb(first, c.last - first), "Message")
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
    if not flags.ack_elided then ack_block(c) end
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

local function payload(c, pinfo, from_server)
  local modes, said = channel_modes(), {}
  while c:left() > 0 and c.tvb(c.at, 1):uint() ~= PADDING do
    said[#said + 1] = message(c, modes, from_server)
  end
  if c:left() > 0 then c:rest("payload.padding") end
  pinfo.cols.info:append(#said > 0 and (": " .. table.concat(said, ", ")) or ": acknowledgement")
end

-- ---- Keepalive, Disconnect --------------------------------------------------------------------------------------

local function keepalive(c, pinfo)
  local range = c:take(1, "flags")
  local flags = range:uint()
  c.tree:add(f["keepalive.flags"], range)
  for _, name in ipairs({ "has_probe", "has_echo", "has_challenge", "has_response", "is_mtu_probe", "asks_for_ack" }) do
    c.tree:add(f["keepalive." .. name], range)
  end
  ack_block(c)
  c:uint("keepalive.tick", 4)
  local said = {}
  local function when(bit, what, read)
    if flags % (2 * bit) < bit then return end
    said[#said + 1] = what
    read()
  end
  when(1, "probe", function() c:uint("keepalive.probe_us", 8) end)
  when(2, "echo", function()
    c:uint("keepalive.echo_us", 8)
    c:uint("keepalive.echo_delay_us", 4)
  end)
  when(4, "path challenge", function() c:bytes("keepalive.challenge", 8) end)
  when(8, "path response", function() c:bytes("keepalive.response", 8) end)
  when(16, "MTU probe", function() end)
  c:rest("keepalive.padding")
  if #said > 0 then pinfo.cols.info:append(": " .. table.concat(said, ", ")) end
end

local function disconnect(c, pinfo)
  local reason = c:uint("disconnect.reason", 2)
  c:uint("disconnect.flags", 1)
  text_field(c, "disconnect.text")
  pinfo.cols.info:append(": " .. (REASONS[reason] or ("reason " .. reason)))
end

-- ---- Datagrams --------------------------------------------------------------------------------------------------

-- The address of the server of each connection: the source of ConnectionAccepted. It is needed because engine traffic
-- is snapshots in one direction and inputs in the other.
local server_of = {}

function wire.init() server_of = {} end

local function source(pinfo) return tostring(pinfo.src) .. " " .. tostring(pinfo.src_port) end

local function is_from_server(pinfo, connection_id)
  local server = server_of[tostring(connection_id)]
  if server then return server == source(pinfo) end
  return pinfo.src_port == wire.prefs.server_port
end

local function handshake(c, pinfo, is_opened, connection_id)
  local kind = c:uint("handshake.message", 1)
  pinfo.cols.info:set(HANDSHAKE_MESSAGES[kind] or ("Handshake " .. kind))
  if kind == 3 then server_of[tostring(connection_id)] = source(pinfo) end
  local read = HANDSHAKE_READERS[kind]
  if not read then fail("handshake message " .. kind) end
  read(c, is_opened)
end

local function datagram(c, pinfo, is_opened)
  c:bytes("protocol_id", 4)
  local kind = c:uint("packet_type", 1)
  pinfo.cols.info:set(PACKET_TYPES[kind] or ("Type " .. kind))
  local connection_id = c:uint("connection_id", 8)
  c:uint("key_epoch", 1)
  local number = c:varint("packet_seq")
  if kind == HANDSHAKE then
    handshake(c, pinfo, is_opened, connection_id)
  elseif kind == RESPONSE then
    response(c, is_opened)
  elseif kind == PAYLOAD or kind == KEEPALIVE or kind == DISCONNECT then
    pinfo.cols.info:append(" " .. tostring(number))
    if not is_opened then
      if c:left() < TAG_BYTES then fail("shorter than its tag (W-7)") end
      c:rest("sealed")
    elseif kind == PAYLOAD then
      payload(c, pinfo, is_from_server(pinfo, connection_id))
    elseif kind == KEEPALIVE then
      keepalive(c, pinfo)
    else
      disconnect(c, pinfo)
    end
  else
    c:rest("handshake.rest")
  end
  if c:left() > 0 then fail(c:left() .. " bytes behind the end") end
end

local function dissect(tvb, pinfo, root, is_opened)
  pinfo.cols.protocol:set("Lattice")
  local tree = root:add(wire, tvb())
  local c = cursor(tvb, 0, tvb:len(), tree)
  local ok, problem = pcall(datagram, c, pinfo, is_opened)
  if ok then return tvb:len() end
  if type(problem) ~= "table" then error(problem, 0) end
  tree:add_proto_expert_info(malformed, "Malformed: " .. problem.malformed)
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
