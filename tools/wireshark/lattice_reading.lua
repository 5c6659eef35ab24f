-- Cursors over bytes and bits.
local lattice = ...
if not lattice then return end -- Wireshark runs each file of a plugin folder; lattice.lua runs this one

local f = lattice.f
local LARGEST_AGE = 2 ^ 20

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

-- All bytes of the buffer, as a string.
function Cursor:raw()
  self.data = self.data or self.tvb:raw()
  return self.data
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

-- A cursor over bits, bit 7 of each byte first, from where the cursor `c` is.
local Bits = {}
Bits.__index = Bits

local POWERS = { [0] = 1, 2, 4, 8, 16, 32, 64, 128, 256 }

local function bit_cursor(c)
  return setmetatable({ c = c, data = c:raw(), at = 8 * c.at, first = 8 * c.at }, Bits)
end

-- Reads up to 53 bits.
function Bits:take(n)
  if self.at + n > 8 * self.c.last then fail("the bits are cut short") end
  local value, left, data = 0, n, self.data
  while left > 0 do
    local above = self.at % 8
    local k = math.min(8 - above, left)
    local byte = string.byte(data, math.floor(self.at / 8) + 1)
    value = value * POWERS[k] + math.floor(byte / POWERS[8 - above - k]) % POWERS[k]
    self.at, left = self.at + k, left - k
  end
  return value
end

-- Begins a field.
function Bits:mark() self.first = self.at end

-- The bytes with the bits from `first`, which is by default the last mark, up to here.
-- At least one, because some values take no bits.
function Bits:range(first)
  local byte = math.min(math.floor((first or self.first) / 8), self.c.last - 1)
  return self.c.tvb(byte, math.max(1, math.floor((self.at + 7) / 8) - byte))
end

-- The bytes from here to the end.
function Bits:rest_range()
  local byte = math.min(math.floor(self.at / 8), self.c.last - 1)
  return self.c.tvb(byte, self.c.last - byte)
end

-- Adds a field: the bits since the last mark.
function Bits:add(name, value)
  self.c.tree:add(f["snapshot." .. name], self:range(), value)
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

-- Age 0 of a delta (kind 0): the state in which both sides placed the object (D-51).
function Bits:age(kind) return self:varint(kind == 0 and 0 or 1, LARGEST_AGE) end

function Bits:network_id()
  local value = self:varint64()
  if tostring(value) == "0" then fail("network_id 0 (D-18)") end
  self:add("entry.network_id", value)
  return value
end

function Bits:pad()
  if self:take(-self.at % 8) ~= 0 then fail("padding is not zero (D-18)") end
  self.c.at = math.floor(self.at / 8)
end

-- True for UTF-8 without a zero (W-26).
function lattice.is_text(s)
  local at = 1
  while at <= #s do
    local a, b, c, d = s:byte(at, at + 3)
    local n
    if a > 0 and a < 0x80 then
      n = 1
    elseif a >= 0xc2 and a <= 0xdf then
      n = 2
    elseif a >= 0xe0 and a <= 0xef then
      n = 3
      if not b or a == 0xe0 and b < 0xa0 or a == 0xed and b > 0x9f then return false end
    elseif a >= 0xf0 and a <= 0xf4 then
      n = 4
      if not b or a == 0xf0 and b < 0x90 or a == 0xf4 and b > 0x8f then return false end
    else
      return false
    end
    for _, each in ipairs({ n > 1 and (b or 0) or 0x80, n > 2 and (c or 0) or 0x80, n > 3 and (d or 0) or 0x80 }) do
      if each < 0x80 or each > 0xbf then return false end
    end
    at = at + n
  end
  return true
end

-- Ends the reading of a body whose further bits cannot be told apart.
function lattice.stop(what) error({ unknown = what }, 0) end

-- Runs `read`, and returns true. Where that stops, what begins at the bit `at` is shown as the bytes `name`.
function lattice.guarded(c, at, name, read)
  local tree = c.tree
  local ok, problem = pcall(read)
  if ok then return true end
  if type(problem) ~= "table" or not problem.unknown then error(problem, 0) end
  c.tree = tree
  tree:add_proto_expert_info(lattice.not_known, problem.unknown)
  c.at = math.floor(at / 8)
  c:rest(name)
  return false
end

lattice.cursor, lattice.bit_cursor, lattice.fail, lattice.read_varint = cursor, bit_cursor, fail, read_varint
