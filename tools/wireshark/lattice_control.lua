-- The handshake, Keepalive and Disconnect.
local lattice = ...
if not lattice then return end -- Wireshark runs each file of a plugin folder; lattice.lua runs this one

local f, cursor, fail = lattice.f, lattice.cursor, lattice.fail

local function token(c)
  local n = c:uint("handshake.token_length", 2)
  if n > c:left() then fail("the token is cut short") end
  local t = cursor(c.tvb, c.at, c.at + n, c.tree:add(lattice.wire, c.tvb(c.at, n), "Token"))
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

local function answered(c)
  c:bytes("handshake.client_key", 32)
  c:bytes("handshake.challenge_nonce", 16)
  c:uint("handshake.key_index", 1)
  token(c)
end

-- Each gives the hash of the schema where it accepts a connection.
lattice.HANDSHAKE_READERS = {
  function(c)
    c:bytes("handshake.client_key", 32)
    token(c)
    c:rest("handshake.padding")
  end,
  function(c)
    c:bytes("handshake.token_echo", 8)
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
    local schema = c:uint("handshake.schema_id", 8)
    c:uint("handshake.features", 4)
    return schema
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
    if c:left() == 0 then return end
    c:uint("handshake.page", 2)
    c:uint("handshake.pages", 2)
    c:rest("handshake.page_bytes")
  end,
  function(c, is_opened)
    answered(c)
    c:bytes("handshake.salt", 16)
    if not is_opened then return c:rest("sealed") end
    c:uint("handshake.schema_id", 8)
    c:text("handshake.lines", c:left())
  end,
}

function lattice.response(c, is_opened)
  answered(c)
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

function lattice.keepalive(c, pinfo)
  local range = c:take(1, "flags")
  local flags = range:uint()
  c.tree:add(f["keepalive.flags"], range)
  for _, name in ipairs({ "has_probe", "has_echo", "has_challenge", "has_response", "is_mtu_probe", "asks_for_ack" }) do
    c.tree:add(f["keepalive." .. name], range)
  end
  lattice.ack_block(c)
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

function lattice.disconnect(c, pinfo)
  local reason = c:uint("disconnect.reason", 2)
  c:uint("disconnect.flags", 1)
  text_field(c, "disconnect.text")
  pinfo.cols.info:append(": " .. (lattice.REASONS[reason] or ("reason " .. reason)))
end
