-- SHA-256 (FIPS 180-4), for the schema hash. By arithmetic alone: see lattice.lua for the versions of Lua.
local lattice = ...
if not lattice then return end -- Wireshark runs each file of a plugin folder; lattice.lua runs this one

local floor = math.floor

-- XORS[a * 256 + b] is a xor b, of bytes; made at first use.
local XORS
local function make_xors()
  XORS = {}
  for a = 0, 255 do
    for b = 0, 255 do
      local value, bit, x, y = 0, 1, a, b
      while x > 0 or y > 0 do
        if x % 2 ~= y % 2 then value = value + bit end
        bit, x, y = bit * 2, floor(x / 2), floor(y / 2)
      end
      XORS[a * 256 + b] = value
    end
  end
end

local function xor(a, b)
  local value, place = 0, 1
  for _ = 1, 4 do
    value = value + XORS[a % 256 * 256 + b % 256] * place
    a, b, place = floor(a / 256), floor(b / 256), place * 256
  end
  return value
end

-- a + b counts the bits that both have twice, and those that one has once.
local function both(a, b) return (a + b - xor(a, b)) / 2 end

local function rotate(v, n) return floor(v / 2 ^ n) + v % 2 ^ n * 2 ^ (32 - n) end

local function sigma(v, i, j, k, is_shift)
  local last = is_shift and floor(v / 2 ^ k) or rotate(v, k)
  return xor(xor(rotate(v, i), rotate(v, j)), last)
end

-- The first 32 bits of the fractions of roots of the first `n` primes.
local function roots(n, exponent)
  local found, primes, candidate = {}, {}, 2
  while #primes < n do
    local is_prime = true
    for _, p in ipairs(primes) do is_prime = is_prime and candidate % p ~= 0 end
    if is_prime then
      primes[#primes + 1] = candidate
      found[#found + 1] = floor(candidate ^ exponent % 1 * 2 ^ 32)
    end
    candidate = candidate + 1
  end
  return found
end

local ROUNDS = roots(64, 1 / 3)

local function block(hash, text, at)
  local w = {}
  for i = 1, 16 do
    local a, b, c, d = text:byte(at + 4 * i - 4, at + 4 * i - 1)
    w[i] = ((a * 256 + b) * 256 + c) * 256 + d
  end
  for i = 17, 64 do
    w[i] = (w[i - 16] + sigma(w[i - 15], 7, 18, 3, true) + w[i - 7] + sigma(w[i - 2], 17, 19, 10, true)) % 2 ^ 32
  end
  local a, b, c, d, e, f, g, h = (table.unpack or unpack)(hash)
  for i = 1, 64 do
    local choice = xor(g, both(e, xor(f, g)))
    local one = h + sigma(e, 6, 11, 25) + choice + ROUNDS[i] + w[i]
    local majority = xor(both(a, b), both(c, xor(a, b)))
    local two = sigma(a, 2, 13, 22) + majority
    a, b, c, d, e, f, g, h = (one + two) % 2 ^ 32, a, b, c, (d + one) % 2 ^ 32, e, f, g
  end
  for i, v in ipairs({ a, b, c, d, e, f, g, h }) do hash[i] = (hash[i] + v) % 2 ^ 32 end
end

-- The first 8 bytes of the hash, as they are written: "0123456789abcdef".
function lattice.sha256_head(text)
  if not XORS then make_xors() end
  local hash, bits = roots(8, 1 / 2), #text * 8
  text = text .. "\128" .. string.rep("\0", -(#text + 9) % 64) .. "\0\0\0\0"
  for place = 3, 0, -1 do text = text .. string.char(floor(bits / 256 ^ place) % 256) end
  for at = 1, #text, 64 do block(hash, text, at) end
  return string.format("%08x%08x", hash[1], hash[2])
end
