-- The names and fields of the standard.
local lattice = ...
if not lattice then return end -- Wireshark runs each file of a plugin folder; lattice.lua runs this one

lattice.PACKET_TYPES = { [0] = "Handshake", "Payload", "Keepalive", "Disconnect", "ChallengeResponse", "RelayCtrl" }
lattice.HANDSHAKE_MESSAGES = { "ConnectionRequest", "Challenge", "ConnectionAccepted", "ConnectionDenied", "Punch",
  "ConnectionRefused", "SchemaDifference" }
local TOKEN_KINDS = { "connect", "relay" }
local TOKEN_ROLES = { "initiator", "responder" }
lattice.REASONS = { [0] = "None", "Requested", "Timeout", "TokenInvalid", "TokenExpired", "TokenReused",
  "VersionMismatch", "SchemaMismatch", "ServerFull", "Kicked", "ProtocolError", "ResourceLimit", "InternalError",
  "HostLeft", "ConfigMismatch", "ServerRestarted", "NoAnswer", "Unreachable",
  "PlacedMismatch" }
lattice.CONTROL_TYPES = { "RekeyInit", "RekeyResponse", "SchemaInfo", "InputSetup", "TablePart", "TableAck",
  "RequestAuthority", "NotifyAuthorityChange", "GrantAuthority", "DenyAuthority", "StateCell", "StateConfirm",
  "RekeyAsk", "ResetToken", "Credit", [16] = "TransferOffer", [17] = "TransferAccept", [18] = "TransferHold", [19] = "TransferEnd" }
lattice.BLOCK_KINDS = { [0] = "delta", "full", "removed", "rested", "pieces" }
local AUTHORITY_MODES = { [0] = "server", "shared" }
local RPC_TARGETS = { [0] = "to the authority", "to the owner", "to all", "to one peer" }
lattice.BUILT_IN_CHANNELS = { [0] = "unreliable", [1] = "unreliable_sequenced", [2] = "reliable_unordered",
  [3] = "reliable_ordered", [14] = "ack", [15] = "reliable_ordered" }

local f = lattice.f
local function field(name, make, ...)
  f[name] = make("lattice." .. name, ...)
end
local DEC, HEX = base.DEC, base.HEX

field("protocol_id", ProtoField.bytes, "Protocol")
field("packet_type", ProtoField.uint8, "Packet type", DEC, lattice.PACKET_TYPES)
field("connection_id", ProtoField.uint64, "Connection", HEX)
field("key_epoch", ProtoField.uint8, "Key epoch", DEC)
field("packet_seq", ProtoField.uint64, "Packet number", DEC)
field("sealed", ProtoField.bytes, "Sealed")

field("handshake.message", ProtoField.uint8, "Message", DEC, lattice.HANDSHAKE_MESSAGES)
field("handshake.client_key", ProtoField.bytes, "Client key")
field("handshake.bucket_key", ProtoField.bytes, "Bucket key")
field("handshake.token_echo", ProtoField.bytes, "Beginning of SHA-256(token)")
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
field("handshake.reason", ProtoField.uint16, "Reason", DEC, lattice.REASONS)
field("handshake.protocol_id", ProtoField.bytes, "Server's protocol")
field("handshake.text_length", ProtoField.uint8, "Text length", DEC)
field("handshake.text", ProtoField.string, "Text")
field("handshake.page", ProtoField.uint16, "Page of the schema", DEC)
field("handshake.pages", ProtoField.uint16, "Pages", DEC)
field("handshake.page_bytes", ProtoField.bytes, "Bytes of the page")
field("handshake.salt", ProtoField.bytes, "Salt")
field("handshake.lines", ProtoField.string, "What differs")
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
field("snapshot.block.kind", ProtoField.uint8, "Kind", DEC, lattice.BLOCK_KINDS, 0xe0)
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
field("control.type", ProtoField.uint8, "Control type", DEC, lattice.CONTROL_TYPES)
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

field("disconnect.reason", ProtoField.uint16, "Reason", DEC, lattice.REASONS)
field("disconnect.flags", ProtoField.uint8, "Flags (1: acknowledges)", DEC)
field("disconnect.text_length", ProtoField.uint8, "Text length", DEC)
field("disconnect.text", ProtoField.string, "Text")

-- Members have fields of their own (lattice_games.lua). This is for a table that came too late for that.
f["game.value"] = ProtoField.string("lattice.game.value", "Value")

local group, severity = expert.group, expert.severity
lattice.malformed = ProtoExpert.new("lattice.malformed", "Malformed", group.MALFORMED, severity.ERROR)
lattice.not_known = ProtoExpert.new("lattice.not_known", "Not in the capture", group.UNDECODED, severity.NOTE)
lattice.no_table = ProtoExpert.new("lattice.no_table", "No table of the game", group.UNDECODED, severity.WARN)
