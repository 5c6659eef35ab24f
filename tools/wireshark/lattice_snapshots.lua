-- Parts of snapshots: the header, blocks and entries (docs/spec/data.md, Snapshots).
local lattice = ...
if not lattice then return end -- Wireshark runs each file of a plugin folder; lattice.lua runs this one

local f, bit_cursor, fail = lattice.f, lattice.bit_cursor, lattice.fail
local DELTA, FULL, REMOVED, RESTED, PIECES = 0, 1, 2, 3, 4
local PIECE_BYTES, LARGEST_LENGTH = 64, 65536
local LARGEST_U32, LARGEST_SLOT, LARGEST_AGE = 2 ^ 32 - 1, 2 ^ 32 - 2, 2 ^ 20

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
  c.tree = outer:add(lattice.wire, c.tvb(first, c.last - first), "Block")
  local head = c:take(1, "block")
  for _, name in ipairs({ "kind", "mixed", "k" }) do c.tree:add(f["snapshot.block." .. name], head) end
  local kind, mixed, k = math.floor(head:uint() / 32), head:uint() % 32 >= 16, head:uint() % 16
  if kind > PIECES or mixed and kind ~= DELTA and kind ~= RESTED then fail("kind of a block (D-18)") end
  block_entries(c, bit_cursor(c), kind, mixed, k)
  c.tree:set_len(c.at - first)
  c.tree:append_text(": " .. lattice.BLOCK_KINDS[kind])
  c.tree = outer
end

function lattice.snapshot(c)
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
