-- The values of members: numbers, rotations, texts, as docs/spec/data.md (Members and components) packs them.
local lattice = ...
if not lattice then return end -- Wireshark runs each file of a plugin folder; lattice.lua runs this one

-- A component is { form, zero, read, value, key }. `read` returns a content: a number of up to 53 bits, a UInt64, or a
-- string; two are equal exactly when the contents of the standard are. `value` gives what a content stands for: a
-- number, an Int64, a UInt64 or a text. `form` names the field that takes it. `key` orders the entries of a map.

local fail = lattice.fail
local LARGEST_EXACT_BITS, LARGEST_U32 = 53, 2 ^ 32 - 1
local function is_signed(type_name) return type_name:sub(1, 3) == "int" end

-- ---- Bits -------------------------------------------------------------------------------------------------------

local function code(bits, width)
  if width <= LARGEST_EXACT_BITS then return bits:take(width) end
  local high = bits:take(width - 32)
  return UInt64.new(bits:take(32), high)
end

-- The bytes of a number, lowest first.
local function scalar(bits, width)
  local half = { 0, 0 }
  for i = 0, width / 8 - 1 do
    local at = i < 4 and 1 or 2
    half[at] = half[at] + bits:take(8) * 2 ^ (8 * (i % 4))
  end
  return width <= 32 and half[1] or UInt64.new(half[1], half[2])
end

local function varint(bits, width)
  local value = bits:varint64()
  if width == 64 then return value end
  value = value:tonumber()
  if value > LARGEST_U32 then fail("a varint of more than 32 bits (D-3)") end
  return value
end

-- ---- What contents stand for -------------------------------------------------------------------------------------

local function ieee(sign, exponent, fraction, exponent_bits, fraction_bits)
  local bias, value = 2 ^ (exponent_bits - 1) - 1, nil
  if exponent == 2 ^ exponent_bits - 1 then
    value = fraction == 0 and math.huge or 0 / 0
  elseif exponent == 0 then
    value = fraction * 2 ^ (1 - bias - fraction_bits)
  else
    value = (1 + fraction / 2 ^ fraction_bits) * 2 ^ (exponent - bias)
  end
  return sign == 1 and -value or value
end

local function half_value(v) return ieee(math.floor(v / 2 ^ 15), math.floor(v / 2 ^ 10) % 2 ^ 5, v % 2 ^ 10, 5, 10) end

local function float_value(v) return ieee(math.floor(v / 2 ^ 31), math.floor(v / 2 ^ 23) % 2 ^ 8, v % 2 ^ 23, 8, 23) end

local function double_value(v)
  local high = v:higher()
  local fraction = high % 2 ^ 20 * 2 ^ 32 + v:lower()
  return ieee(math.floor(high / 2 ^ 31), math.floor(high / 2 ^ 20) % 2 ^ 11, fraction, 11, 52)
end

-- Of raw bits, as a signed number.
local function signed(content, width)
  if width == 64 then return Int64.new(content:lower(), content:higher()) end
  return content >= 2 ^ (width - 1) and content - 2 ^ width or content
end

-- Of a zig-zag value.
local function unzigzag(z)
  if type(z) == "number" then return z % 2 == 0 and z / 2 or -(z + 1) / 2 end
  local odd, rest = z:lower() % 2 == 1, z:rshift(1)
  if odd then rest = rest:bnot() end
  return Int64.new(rest:lower(), rest:higher())
end

local function number_text(v)
  if type(v) ~= "number" then return tostring(v) end
  if v == math.floor(v) and math.abs(v) < 2 ^ 53 then return string.format("%d", v) end
  return string.format("%.9g", v)
end

local function rotation_text(q)
  local words = {}
  for i = 1, 4 do words[i] = string.format("%.6g", q[i]) end
  return "(" .. table.concat(words, ", ") .. ")"
end

-- ---- Packings ---------------------------------------------------------------------------------------------------

-- Each takes the type's name and `next_word`, which gives the next word of the packing, and returns a component.
local PACKINGS = {}

-- Codes 0 to `largest`.
local function code_reader(width, largest)
  return function(bits)
    local v = code(bits, width)
    if type(v) == "number" and v > largest then fail("code " .. v .. " above " .. largest .. " (D-3)") end
    return v
  end
end

local function same(content) return content end

function PACKINGS.ordinal(_, next_word, names)
  local width, count = tonumber(next_word()), tonumber(next_word())
  local values, zero = {}, 0
  for i = 0, count - 1 do
    values[i] = tonumber(next_word() or i)
    if values[i] == 0 then zero = i end
  end
  return { form = "text", zero = zero, read = code_reader(width, count - 1), key = function(i) return values[i] end,
    value = function(i) return names and names[i + 1] and names[i + 1][1] or string.format("%d", values[i]) end }
end

-- A number of 64 bits, mod 2^64.
local function wrapped(text)
  if text:sub(1, 1) ~= "-" then return UInt64.new(text) end
  return (UInt64.new(text:sub(2)) - UInt64.new(1)):bnot()
end

-- A range whose numbers need more than 53 bits.
local function wide_range(width, low, high, is_int)
  local first, one = wrapped(low), UInt64.new(1)
  local span = wrapped(high) + first:bnot() + one
  local function exact(offset) return type(offset) == "number" and UInt64.new(offset) or offset end
  local function value(offset)
    local v = first + exact(offset)
    return is_int and Int64.new(v:lower(), v:higher()) or v
  end
  local function read(bits)
    local offset = code(bits, width)
    if exact(offset) > span then fail("an offset above " .. tostring(span) .. " (D-3)") end
    return offset
  end
  local zero = UInt64.new(0)
  if low:sub(1, 1) == "-" then zero = high:sub(1, 1) == "-" and span or first:bnot() + one end
  if width <= LARGEST_EXACT_BITS then zero = zero:tonumber() end
  return { form = is_int and "int" or "uint", zero = zero, read = read, key = value, value = value }
end

function PACKINGS.ranged(type_name, next_word)
  local width, low, high = tonumber(next_word()), next_word(), next_word()
  local first, last = tonumber(low), tonumber(high)
  local is_wide = math.max(math.abs(first), math.abs(last)) >= 2 ^ 52
  if is_wide then return wide_range(width, low, high, is_signed(type_name)) end
  local function value(offset) return first + offset end
  return { form = is_signed(type_name) and "int" or "uint", zero = math.min(math.max(0, first), last) - first,
    read = code_reader(width, last - first), key = value, value = value }
end

function PACKINGS.bits(_, next_word)
  local width = tonumber(next_word())
  local zero = width <= LARGEST_EXACT_BITS and 0 or UInt64.new(0, 0)
  return { form = "uint", zero = zero, read = function(bits) return code(bits, width) end, key = same, value = same }
end

local function bounds(next_word)
  return tonumber(next_word()), tonumber(next_word()), tonumber(next_word()), tonumber(next_word())
end

-- What a code stands for: `high` for the last one, `steps`.
local function step_value(low, high, steps)
  local step = (high - low) / steps
  return function(v) return v == steps and high or low + v * step end
end

-- The code of 0 is that of the sender's formulas (D-4, D-39).
function PACKINGS.compressed(_, next_word)
  local width, low, high, steps = bounds(next_word)
  local nearest = math.min(math.max(0, low), high)
  local zero = math.floor((nearest - low) * (steps / (high - low)) + 0.5)
  return { form = "double", zero = zero, read = code_reader(width, steps), value = step_value(low, high, steps) }
end

function PACKINGS.angle(_, next_word)
  local width, low, high, steps = bounds(next_word)
  local distance = (0 - low) * (steps / (high - low))
  local zero = math.abs(distance) < 2 ^ 52 and math.floor(distance + 0.5) % steps or 0
  return { form = "double", zero = zero, read = code_reader(width, steps - 1), value = step_value(low, high, steps) }
end

function PACKINGS.half(_, next_word)
  next_word() -- 16
  return { form = "double", zero = 0, read = function(bits) return bits:take(16) end, value = half_value }
end

function PACKINGS.fixed(type_name, next_word)
  local width = tonumber(next_word())
  local component = { form = "uint", zero = width <= 32 and 0 or UInt64.new(0, 0),
    read = function(bits) return scalar(bits, width) end, value = same, key = same }
  if type_name == "fixed64" then
    component.form = "double"
    component.value = function(v) return signed(v, 64):tonumber() / 2 ^ 32 end
  elseif is_signed(type_name) then
    component.form = "int"
    component.value = function(v) return signed(v, width) end
    component.key = component.value
  end
  return component
end

function PACKINGS.varint(type_name, next_word)
  local width = tonumber(next_word())
  local component = { form = "uint", zero = width == 32 and 0 or UInt64.new(0, 0),
    read = function(bits) return varint(bits, width) end, value = same, key = same }
  if is_signed(type_name) then
    component.form, component.value, component.key = "int", unzigzag, unzigzag
  end
  return component
end

-- `base` is the baseline's content, or false when it is not known: then the difference alone is known.
function PACKINGS.difference(type_name, next_word)
  local width = tonumber(next_word())
  local component = PACKINGS.fixed(type_name, function() return width end)
  component.read = function(bits, base)
    local z = varint(bits, width)
    if not base then return false, "a difference of " .. number_text(unzigzag(z)) .. " to a value that is not known" end
    if width == 32 then return (base + unzigzag(z)) % 2 ^ 32 end
    local change = z:rshift(1)
    if z:lower() % 2 == 1 then change = change:bnot() end
    return base + change
  end
  return component
end

function PACKINGS.full(_, next_word)
  local width = tonumber(next_word())
  if width ~= 128 then
    return { form = "double", zero = width == 32 and 0 or UInt64.new(0, 0),
      read = function(bits) return scalar(bits, width) end, value = width == 32 and float_value or double_value }
  end
  local function parts(content)
    local q, i = {}, 1
    for word in content:gmatch("%d+") do q[i], i = float_value(tonumber(word)), i + 1 end
    return q
  end
  return { form = "text", zero = "0 0 0 1065353216", value = function(content) return rotation_text(parts(content)) end,
    read = function(bits)
      local words = {}
      for i = 1, 4 do words[i] = string.format("%d", scalar(bits, 32)) end
      local content, length = table.concat(words, " "), 0
      for _, v in ipairs(parts(content)) do length = length + v * v end
      if not (length > 0 and length < math.huge) then fail("a rotation of length 0 or not finite (D-3)") end
      return content
    end }
end

function PACKINGS.smallest_three(_, next_word)
  local n = math.floor((tonumber(next_word()) - 2) / 3)
  local top = 2 ^ n - 2
  local half_step = 1 / (2 ^ 0.5 * top)
  local function value(content)
    local index, a, b, c = content:match("(%d+) (%d+) (%d+) (%d+)")
    local q, rest = {}, 2 * top * top
    for i, v in ipairs({ a, b, c }) do
      local distance = 2 * tonumber(v) - top
      q[i], rest = distance * half_step, rest - distance * distance
    end
    table.insert(q, tonumber(index) + 1, math.max(0, rest) ^ 0.5 * half_step)
    return rotation_text(q)
  end
  local function read(bits)
    local index, rest, codes = bits:take(2), 2 * top * top, {}
    for i = 1, 3 do
      codes[i] = bits:take(n)
      if codes[i] > top then fail("a code of a rotation above " .. top .. " (D-3)") end
      rest = rest - (2 * codes[i] - top) ^ 2
    end
    if rest < 0 then fail("a rotation longer than 1 (D-3)") end
    return string.format("%d %d %d %d", index, codes[1], codes[2], codes[3])
  end
  return { form = "text", zero = string.format("3 %d %d %d", top / 2, top / 2, top / 2), read = read, value = value }
end

local function hex_of(b) return string.format("%02x:", b:byte()) end

function PACKINGS.capacity(type_name, next_word)
  local capacity = tonumber(next_word())
  local function read(bits)
    local n = bits:varint64():tonumber()
    if n > capacity then fail("a length of " .. n .. " above " .. capacity .. " (D-3)") end
    if 8 * n > 8 * bits.c.last - bits.at then fail("the bits are cut short") end
    local bytes = {}
    for i = 1, n do bytes[i] = string.char(bits:take(8)) end
    local content = table.concat(bytes)
    if type_name == "string" and not lattice.is_text(content) then fail("a string that is not text (W-26)") end
    if type_name == "fixed_string" and content:find("\0", 1, true) then fail("a zero byte in a string (D-3)") end
    return content
  end
  local function value(content)
    if type_name == "string" then return content end
    if type_name == "bytes" then return (content:gsub(".", hex_of):sub(1, -2)) end
    return (content:gsub("[^ -~]", function(b) return string.format("\\x%02x", b:byte()) end))
  end
  return { form = "text", zero = "", read = read, value = value }
end

-- A value of the game's own format. Its reader is in _G.lattice_customs, by the name of the format: a function that
-- gets `take`, which returns the next so many bits (up to 32) as a number, and returns a text.
local function custom(name)
  local function read(bits)
    local reader = (_G.lattice_customs or {})[name]
    if not reader then lattice.stop("'" .. name .. "' has no reader in _G.lattice_customs") end
    local ok, text = pcall(reader, function(n) return bits:take(n) end)
    if ok then return tostring(text) end
    error(type(text) == "table" and text or { unknown = "the reader of '" .. name .. "': " .. tostring(text) }, 0)
  end
  return { form = "text", zero = false, read = read, value = same }
end

-- The components of a packing, which is the rest of a member's line of the schema text (D-31). `names` are those of an
-- enum's values. An error for a packing that is not known.
function lattice.components(type_name, packing, names)
  local next_word = packing:gmatch("%S+")
  if type_name == "bool" then
    return { { form = "bool", zero = 0, read = function(bits) return bits:take(1) end, value = same } }
  end
  if type_name == "custom" then return { custom(next_word()) } end
  local components = {}
  for kind in next_word do
    if not PACKINGS[kind] then error("there is no packing '" .. kind .. "'", 0) end
    components[#components + 1] = PACKINGS[kind](type_name, next_word, names)
  end
  if #components == 0 then error("a member without a packing", 0) end
  return components
end

lattice.number_text = number_text
