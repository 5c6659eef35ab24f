-- What is known of the objects of a connection: types, and the states that deltas begin with (D-15, D-26).
local lattice = ...
if not lattice then return end -- Wireshark runs each file of a plugin folder; lattice.lua runs this one

-- Wireshark reads a capture once in order, and later single packets again. What the first reading looked up is kept for
-- each frame, so that a packet that is read again shows the same. States are never changed, only replaced.

local STATES_KEPT, STATES_OF_KEEP_PARTS_KEPT = 64, 16
local MOST_UNDER_WAY = 64 -- states in pieces; a client refuses a ninth

local worlds, frames

local World = {}
World.__index = World

function lattice.forget_objects() worlds, frames = {}, {} end
lattice.forget_objects()

-- The world of a connection, for one reading of a frame.
function lattice.begin_frame(connection_id, pinfo)
  local key = tostring(connection_id)
  local objects = worlds[key]
  if not objects then
    objects = { slots = {}, types = {}, longs = {}, long_count = 0 }
    worlds[key] = objects
  end
  if not pinfo.visited then frames[pinfo.number] = nil end
  return setmetatable({ objects = objects, schema = objects.schema, frame = pinfo.number, at = 0,
    is_first = not pinfo.visited }, World)
end

function World:set_schema(schema)
  self.objects.schema, self.schema = schema, schema
end

-- What `find` returns in the first reading.
function World:recall(find)
  self.at = self.at + 1
  local found = frames[self.frame] or {}
  if self.is_first then
    frames[self.frame] = found
    found[self.at] = find()
  end
  return found[self.at]
end

-- The object of a slot and the state of it that a delta names: { type_id, network_id, base = state or false }, or nil.
-- `base_tick` is nil for the state in which it was placed, which no capture holds.
function World:baseline(slot, base_tick)
  return self:recall(function()
    local object = self.objects.slots[slot]
    if not object then return nil end
    return { type_id = object.type_id, network_id = object.network_id,
      base = base_tick and object.states[base_tick] or false }
  end)
end

function World:type_of(network_id)
  return self:recall(function() return self.objects.types[tostring(network_id)] end)
end

local function retain(object, order, most)
  if #order <= most then return end
  local old = table.remove(order, 1)
  for _, other in ipairs(order == object.order and object.kept or object.order) do
    if other == old then return end
  end
  object.states[old] = nil
end

-- Ticks come round (D-11).
local function is_before(a, b) return (a - b) % 2 ^ 32 >= 2 ^ 31 end

-- Takes the entries of a part that was read: { slot, tick, network_id, type_id, state }.
function World:apply(entries, keep)
  if not self.is_first then return end
  for _, entry in ipairs(entries) do
    local object = self.objects.slots[entry.slot]
    local is_other = entry.network_id and (not object or tostring(object.network_id) ~= tostring(entry.network_id))
    local is_late = is_other and object and is_before(entry.tick, object.order[#object.order])
    if is_late then
      object = nil -- the slot has another object by now
    elseif is_other then
      object = { type_id = entry.type_id, network_id = entry.network_id, states = {}, order = {}, kept = {} }
      self.objects.slots[entry.slot] = object
      self.objects.types[tostring(entry.network_id)] = entry.type_id
    end
    if object and not object.states[entry.tick] then
      object.states[entry.tick] = entry.state
      table.insert(object.order, entry.tick)
      retain(object, object.order, STATES_KEPT)
      if keep then
        table.insert(object.kept, entry.tick)
        retain(object, object.kept, STATES_OF_KEEP_PARTS_KEPT)
      end
    end
  end
end

-- Takes pieces of a state (D-55). Returns the bytes of the whole state with the last one, as a ByteArray.
function World:pieces(slot, tick, length, first, bytes)
  return self:recall(function()
    local objects = self.objects
    local key = slot .. " " .. tick
    local long = objects.longs[key]
    if not long then
      if objects.long_count >= MOST_UNDER_WAY then objects.longs, objects.long_count = {}, 0 end
      long = { length = length, have = {}, count = 0 }
      objects.longs[key], objects.long_count = long, objects.long_count + 1
    end
    if long.length ~= length then return nil end
    local total, n = math.floor((length + 63) / 64), 0
    for at = 0, bytes:len() - 1, 64 do
      local i = first + n
      if not long.have[i] then long.count = long.count + 1 end
      long.have[i], n = bytes:subset(at, math.min(64, bytes:len() - at)), n + 1
    end
    if long.count < total then return nil end
    objects.longs[key], objects.long_count = nil, objects.long_count - 1
    local whole = ByteArray.new()
    for i = 0, total - 1 do whole = whole .. long.have[i] end
    return whole
  end)
end
