-- Inputs and RPCs (docs/spec/data.md, Inputs and RPCs).
local lattice = ...
if not lattice then return end -- Wireshark runs each file of a plugin folder; lattice.lua runs this one

local f, fail, states, within = lattice.f, lattice.fail, lattice.states, lattice.within
local MOST_INPUTS, LARGEST_U32, LARGEST_RPC_ID = 32, 2 ^ 32 - 1, 65535
local SIGHT_TICKS = 4096 -- D-45
local VIEW, SNAPSHOT = 256, 1 -- parts of a tick

-- What follows behind a body is less than a byte of zeros (D-1).
local function at_end(c, bits)
  if 8 * c.last - bits.at >= 8 then fail("bytes behind the end (D-1)") end
  if bits:take(8 * c.last - bits.at) ~= 0 then fail("padding is not zero (D-1)") end
  c.at = c.last
end

-- ---- What a player saw (D-45, D-46) ------------------------------------------------------------------------------

-- Checks a moment, in parts of a tick, against the tick of its input.
local function moment(value, tick, unit)
  local age = tick * unit - value
  if age < 0 or age > SIGHT_TICKS * unit or math.floor(value / unit) == 0 then
    fail("a moment that its input cannot name (D-45)")
  end
  return value
end

-- Nil for none.
local function by_age(age, tick, unit)
  if age == 0 then return nil end
  return moment(tick * unit - (age - 1), tick, unit)
end

local function older_view(bits, newer, tick)
  local code = bits:take(2)
  if code == 3 then
    local view = by_age(bits:varint(0, LARGEST_U32), tick, VIEW)
    local drift = view and newer and view - (newer - 256)
    if not view and not newer or drift and math.abs(drift) <= 256 then fail("a view in the long form (D-46)") end
    return view
  end
  if not newer then
    if code ~= 0 then fail("a view against none (D-46)") end
    return nil
  end
  if code == 0 then return moment(newer, tick, VIEW) end
  local drift = code == 1 and bits:take(5) - 16 or bits:take(9) - 256
  if code == 2 and drift >= -16 and drift < 16 then fail("a view in the longer form (D-46)") end
  return moment(newer - 256 + drift, tick, VIEW)
end

local function older_snapshot(bits, newer, tick)
  local step = bits:take(1) == 1 and bits:take(3) + 1 or 0
  if step == 8 then
    local seen = by_age(bits:varint(0, LARGEST_U32), tick, SNAPSHOT)
    if not seen and not newer or seen and newer and newer - seen >= 0 and newer - seen <= 7 then
      fail("a snapshot in the long form (D-46)")
    end
    return seen
  end
  if not newer and step > 0 then fail("a snapshot against none (D-46)") end
  return newer and moment(newer - step, tick, SNAPSHOT)
end

local function show_sight(bits, view, seen)
  local range, tree = bits:range(), bits.c.tree
  local at = view and string.format("tick %d + %d/256", math.floor(view / 256) % 2 ^ 32, view % 256) or "none"
  tree:add(lattice.wire, range, "View: " .. at)
  tree:add(lattice.wire, range, "Snapshot: " .. (seen and string.format("tick %d", seen % 2 ^ 32) or "none"))
end

-- ---- Inputs -----------------------------------------------------------------------------------------------------

local function input_values(c, game, tick, count, view, seen)
  if count < 1 or count > MOST_INPUTS or tick < count then fail("a window of inputs (D-19)") end
  local bits = lattice.bit_cursor(c)
  view, seen = by_age(view, tick, VIEW), by_age(seen, tick, SNAPSHOT)
  local state = within(bits, game.input_name .. " of tick " .. tick, function()
    local value = states.whole_members(bits, game.input)
    show_sight(bits, view, seen)
    return value
  end)
  for i = 1, count - 1 do
    state = within(bits, string.format("%s of tick %d", game.input_name, tick - i), function()
      local value, more = state, ": as the newer one"
      if bits:take(1) == 1 then
        value, more = states.masked(bits, game.input, state), nil
        if states.equal(value, state) then fail("an input marked as changed that does not differ (D-19)") end
      end
      bits:mark()
      view, seen = older_view(bits, view, tick - i), older_snapshot(bits, seen, tick - i)
      show_sight(bits, view, seen)
      return value, more
    end)
  end
  at_end(c, bits)
end

function lattice.inputs(c)
  local tick = c:uint("input.newest_tick", 4)
  local count = c:uint("input.count", 1)
  c:uint("input.lead", 1)
  local view, seen = c:varint("input.view_age"), c:varint("input.snapshot_age")
  local game = c.session:game(c.tree)
  if game and game.input then
    view, seen = view:tonumber(), seen:tonumber()
    if math.max(view, seen) > LARGEST_U32 then fail("an age of more than 32 bits (W-5)") end
    lattice.guarded(c, 8 * c.at, "input.values", function() input_values(c, game, tick, count, view, seen) end)
  else
    c:rest("input.values")
  end
  return "inputs to " .. tick
end

-- ---- RPCs -------------------------------------------------------------------------------------------------------

-- The peer of target 3 begins two bits into a byte.
local function rpc_peer(c, bits)
  local first = math.floor(bits.at / 8)
  local value = bits:varint64()
  c.tree:add(f["rpc.peer"], c.tvb(first, math.floor((bits.at - 1) / 8) + 1 - first), value)
end

local function fits(rpc, target) return rpc.target == target or rpc.target == 2 and target == 3 end

-- The declared RPC. Where the object's type is not in the capture, it is the only one with this number and target.
local function declared(game, type_id, id, target)
  local t, found, several = type_id and game.types[type_id], nil, false
  if t then return t.rpcs[id], t end
  for _, each in pairs(game.types) do
    local rpc = each.rpcs[id]
    if rpc and fits(rpc, target) then
      several, found, t = found ~= nil, rpc, each
      if several then return nil, nil end
    end
  end
  return found, t
end

local function arguments(c, bits, game, network_id, id, target)
  if tostring(network_id) == "0" or id > LARGEST_RPC_ID then fail("the ids of an RPC (D-22)") end
  local type_id = c.session.world:type_of(network_id)
  local rpc, t = declared(game, type_id, id, target)
  if not rpc then
    local name = t and t.name or "object " .. tostring(network_id) .. ", whose type the capture does not tell,"
    c.tree:add_proto_expert_info(lattice.not_known, name .. " has no rpc " .. id)
    return nil
  end
  lattice.guarded(c, bits.at, "rpc.arguments", function()
    within(bits, t.name .. "." .. rpc.name, function() return states.whole_members(bits, rpc.members) end)
    at_end(c, bits)
  end)
  return t.name .. "." .. rpc.name
end

function lattice.rpc(c)
  local network_id = c:varint("rpc.network_id")
  local id = c:varint("rpc.rpc_id")
  c:uint("rpc.tick", 4)
  if c:left() == 0 then fail("target is cut short") end
  local bits = lattice.bit_cursor(c)
  c.tree:add(f["rpc.target"], c.tvb(c.at, 1))
  local target = bits:take(2)
  if target == 3 then rpc_peer(c, bits) end
  local game = c.session:game(c.tree)
  local name = game and arguments(c, bits, game, network_id, id:tonumber(), target)
  if c:left() > 0 then c:rest("rpc.arguments") end
  return "rpc " .. (name or tostring(id))
end
