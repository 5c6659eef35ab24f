-- Parts of snapshots: the header, blocks and entries (docs/spec/data.md, Snapshots).
local lattice = ...
if not lattice then return end -- Wireshark runs each file of a plugin folder; lattice.lua runs this one

local f, bit_cursor, fail, states = lattice.f, lattice.bit_cursor, lattice.fail, lattice.states
local DELTA, FULL, REMOVED, RESTED, PIECES = 0, 1, 2, 3, 4
local PIECE_BYTES, LARGEST_LENGTH = 64, 65536
local LARGEST_U32, LARGEST_SLOT, LARGEST_AGE = 2 ^ 32 - 1, 2 ^ 32 - 2, 2 ^ 20

local long_state

local function gap(bits, k)
  local ones = 0
  while ones < 12 and bits:take(1) == 1 do ones = ones + 1 end
  if ones == 12 then return bits:varint(0, LARGEST_U32) end
  return ones * 2 ^ k + bits:take(k)
end

-- `head` is that of the previous full entry of the block, if there is one. Returns this one's, and the object.
local function full_entry(bits, head)
  if head and bits:take(1) == 1 then
    bits:mark()
    return head, bits:network_id()
  end
  bits:mark()
  local type_id = bits:varint(0, LARGEST_U32)
  bits:add("entry.type_id", type_id)
  bits:add("entry.owner", bits:varint64())
  local mode = bits:take(2)
  bits:add("entry.mode", mode)
  if mode > 1 then fail("mode " .. mode .. " (D-18)") end
  bits:add("entry.tenure", bits:varint(0, LARGEST_U32))
  return { type_id = type_id }, bits:network_id()
end

local function removed_entry(bits)
  bits:add("entry.left", bits:take(1) == 1)
  if bits:take(1) == 1 then bits:network_id() end
  if bits:take(1) == 1 then bits:add("entry.rpc_count", bits:varint(1, LARGEST_U32)) end
end

-- Changes have no length, and to read them takes the schema and the states before. So what cannot be read ends what can
-- be shown.
local function rest_as_bytes(c, at)
  c.at = math.floor(at / 8)
  if c:left() == 0 then fail("changes are cut short") end
  c:rest("snapshot.changes")
end

-- ---- Changes (D-43) ---------------------------------------------------------------------------------------------

local function same_marks(a, b)
  for i, marks in ipairs(a) do
    for k, mark in ipairs(marks) do
      if mark ~= b[i][k] then return false end
    end
  end
  return true
end

local function any(marks)
  for _, mark in ipairs(marks) do
    if mark then return true end
  end
  return false
end

local function read_mask(bits, t)
  local several, present, mask = #t.behaviours > 1, nil, {}
  if several then present = states.mask_of(bits, #t.behaviours) end
  for i, behaviour in ipairs(t.behaviours) do
    local there = not several or present[i]
    mask[i] = {}
    for k = 1, #behaviour.members do mask[i][k] = there and bits:take(1) == 1 end
    if several and there and not any(mask[i]) then fail("a behaviour that is marked without a member (D-43)") end
  end
  return mask
end

local function mask_of_entry(bits, t, run)
  local previous = run.type == t and run.mask
  run.type = t
  if previous and bits:take(1) == 1 then return previous end
  local mask = read_mask(bits, t)
  if previous and same_marks(mask, previous) then fail("the mask of the previous entry, written again (D-43)") end
  run.mask = mask
  return mask
end

-- The members of each behaviour; those of several have entries of their own.
local function each_behaviour(bits, t, base, is_there, read)
  local state = {}
  for i, behaviour in ipairs(t.behaviours) do
    local of = base and base[i]
    if not is_there(i) then
      state[i] = of
    elseif #t.behaviours == 1 then
      state[i] = read(i, behaviour.members, of)
    else
      state[i] = lattice.within(bits, behaviour.name, function() return read(i, behaviour.members, of) end)
    end
  end
  return state
end

local function zero_state(t)
  if not t.zero then
    t.zero = {}
    for i, behaviour in ipairs(t.behaviours) do t.zero[i] = states.zeros(behaviour.members) end
  end
  return t.zero
end

-- The state that changes make of `base`, which is false where it is not known. `run` holds the previous entry's mask.
local function changes(bits, t, base, run)
  if t.has_mask then
    local mask = mask_of_entry(bits, t, run)
    return each_behaviour(bits, t, base, function(i) return any(mask[i]) end, function(i, members, of)
      return states.marked(bits, members, mask[i], of)
    end)
  end
  local present = states.mask_of(bits, #t.behaviours)
  run.type, run.mask = t, nil
  return each_behaviour(bits, t, base, function(i) return present[i] end, function(_, members, of)
    local state = states.masked(bits, members, of)
    if states.equal(state, of) then fail("a present behaviour that does not differ (D-10)") end
    return state
  end)
end

-- ---- Blocks -----------------------------------------------------------------------------------------------------

-- A run of pieces of a state that is longer than a part (D-55).
local function pieces(c, bits, part, slot)
  local age = bits:varint(0, LARGEST_AGE)
  bits:add("pieces.age", age)
  local length = bits:varint(1, LARGEST_LENGTH)
  bits:add("pieces.length", length)
  local total = math.floor((length + PIECE_BYTES - 1) / PIECE_BYTES)
  local first = bits:varint(0, total - 1)
  bits:add("pieces.first", first)
  local count = bits:varint(1, total - first)
  bits:add("pieces.count", count)
  c.at = math.floor(bits.at / 8)
  local bytes = c:take(math.min(count * PIECE_BYTES, length - first * PIECE_BYTES), "pieces")
  c.tree:add(f["snapshot.pieces.bytes"], bytes)
  if not part.game then return end
  local of_tick = (part.tick - age) % 2 ^ 32
  long_state(c, part, slot, of_tick, c.session.world:pieces(slot, of_tick, length, first, bytes:bytes()))
end

-- The type of an entry's object, what the object is called, and the state that the changes begin with.
local function origin(bits, part, entry, kind, age)
  if kind == FULL then
    local t = part.game.types[entry.type_id]
    if not t then fail("type_id " .. entry.type_id .. " (D-18)") end
    return t, string.format("%s %s", t.name, tostring(entry.network_id)), zero_state(t), ""
  end
  local base_tick = age > 0 and (part.tick - age) % 2 ^ 32 or nil
  local found = bits.c.session.world:baseline(entry.slot, base_tick)
  local t = found and part.game.types[found.type_id]
  if not t then lattice.stop("the capture holds no full entry of the object in slot " .. entry.slot) end
  local note = ""
  if not found.base then
    note = base_tick and string.format(" (the baseline of tick %d is not in the capture)", base_tick) or
      " (against the state in which it was placed)"
  end
  return t, string.format("%s %s", t.name, tostring(found.network_id)), found.base, note
end

-- Reads the changes of an entry. Returns false where they end what can be shown.
local function entry_changes(c, bits, part, entry, kind, age, run)
  local is_read = lattice.guarded(c, bits.at, "snapshot.changes", function()
    local t, name, base, note = origin(bits, part, entry, kind, age)
    entry.state = lattice.within(bits, name .. note, function() return changes(bits, t, base, run) end)
  end)
  if is_read then part.entries[#part.entries + 1] = entry end
  return is_read
end

local function block_entries(c, bits, kind, mixed, k, part)
  local count = bits:varint64()
  bits:add("block.count", count)
  count = count:tonumber()
  if count == 0 then fail("a block of no entries (D-18)") end
  local block_age = 0
  if kind == DELTA or kind == RESTED then
    block_age = bits:age(kind)
    bits:add("block.age", block_age)
  end
  local slot = bits:varint(0, LARGEST_SLOT)
  if kind == PIECES then
    if count ~= 1 or k ~= 0 then fail("a block of pieces (D-59)") end
    bits:mark()
    bits:add("entry.slot", slot)
    return pieces(c, bits, part, slot)
  end
  local head, run = nil, {}
  for i = 1, count do
    bits:mark()
    if i > 1 then slot = slot + 1 + gap(bits, k) end
    if slot > LARGEST_SLOT then fail("slot " .. slot .. " (D-18)") end
    bits:add("entry.slot", slot)
    local age = block_age
    if mixed and bits:take(1) == 1 then
      age = bits:age(kind)
      bits:add("entry.age", age)
    end
    local entry = { slot = slot, tick = part.tick }
    if kind == FULL then
      head, entry.network_id = full_entry(bits, head)
      entry.type_id = head.type_id
    end
    if kind == DELTA or kind == FULL then
      if not part.game then return rest_as_bytes(c, bits.at) end
      if not entry_changes(c, bits, part, entry, kind, age, run) then return end
    end
    if kind == REMOVED then removed_entry(bits) end
  end
  bits:pad()
end

local function block(c, part)
  local outer, first = c.tree, c.at
  c.tree = outer:add(lattice.wire, c.tvb(first, c.last - first), "Block")
  local head = c:take(1, "block")
  for _, name in ipairs({ "kind", "mixed", "k" }) do c.tree:add(f["snapshot.block." .. name], head) end
  local kind, mixed, k = math.floor(head:uint() / 32), head:uint() % 32 >= 16, head:uint() % 16
  if kind > PIECES or mixed and kind ~= DELTA and kind ~= RESTED then fail("kind of a block (D-18)") end
  block_entries(c, bit_cursor(c), kind, mixed, k, part)
  c.tree:set_len(c.at - first)
  c.tree:append_text(": " .. lattice.BLOCK_KINDS[kind])
  c.tree = outer
end

-- Pieces make together a block with one entry (D-55). `whole` is nil while pieces are missing.
function long_state(c, part, slot, tick, whole)
  if not whole then return end
  local tvb = whole:tvb("State of slot " .. slot)
  local inner = lattice.cursor(tvb, 0, tvb:len(), c.tree)
  inner.session = c.session
  block(inner, { tick = tick, game = part.game, entries = part.entries })
  if inner:left() > 0 then fail("pieces that are not one entry of their slot (D-59)") end
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
  local game = c:left() > 0 and c.session:game(c.tree) or nil
  local part = { tick = tick, game = game, entries = {} }
  while c:left() > 0 do block(c, part) end
  c.session.world:apply(part.entries, math.floor(flags / 32) % 2 == 1)
  return "snapshot " .. tick
end
