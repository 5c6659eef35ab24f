-- States: what bits make of them, with the members of a game's table (docs/spec/data.md, Whole and Delta).
local lattice = ...
if not lattice then return end -- Wireshark runs each file of a plugin folder; lattice.lua runs this one

-- A value is a content (lattice_values.lua) of a bool; a list of contents of a plain member; a list of values of a
-- structure or an array; { n = length, values } of a list or a map; { tag = tag, value = value } of a union. Values are
-- never changed, so states share what did not change. `false` stands for a value that is not known: the capture does
-- not hold the baseline.

local fail, stop = lattice.fail, lattice.stop
local AXES = { ".x", ".y", ".z", ".w" }
local MOST_SHOWN = 20000 -- values of a datagram; Wireshark itself ends at a million entries, with an error
local NOT_KNOWN = "not known: it is that of a baseline that the capture does not hold"

local function bit_count(largest)
  local n = 0
  while largest >= 2 ^ n do n = n + 1 end
  return n
end

-- ---- Showing ----------------------------------------------------------------------------------------------------

local function as_form(form, value)
  if type(value) ~= "number" then return value end
  if form == "int" then return Int64.new(value) end
  if form == "uint" then return UInt64.new(value) end
  if form == "bool" then return value == 1 end
  return value
end

local function text_of(component, content)
  if content == false then return "?" end
  if component.form == "bool" then return content == 1 and "true" or "false" end
  return lattice.number_text(component.value(content))
end

local function add(tree, range, label, key, component, content, note)
  if content == false then return tree:add(lattice.wire, range, label .. ": " .. (note or NOT_KNOWN)) end
  local text, field = label .. ": " .. text_of(component, content), lattice.member_fields[key]
  if not field or field.form ~= component.form then return tree:add(lattice.f["game.value"], range, text) end
  return tree:add(field.field, range, as_form(component.form, component.value(content))):set_text(text)
end

-- Values that take no bits could be without end.
local function count_one(c)
  c.session.shown = (c.session.shown or 0) + 1
  if c.session.shown > MOST_SHOWN then stop("more than " .. MOST_SHOWN .. " values in a datagram") end
end

-- Adds the value of a bool or a plain member: the bits since the last mark.
local function show(bits, m, label, value, notes)
  count_one(bits.c)
  local range, tree = bits:range(), bits.c.tree
  bits:mark()
  local contents = m.kind == "bool" and { value } or value
  if #m.components == 1 then return add(tree, range, label, m.key, m.components[1], contents[1], notes[1]) end
  local texts = {}
  for i, component in ipairs(m.components) do texts[i] = text_of(component, contents[i]) end
  local inner = tree:add(lattice.wire, range, label .. ": (" .. table.concat(texts, ", ") .. ")")
  for i, component in ipairs(m.components) do
    add(inner, range, m.name .. AXES[i], m.key .. AXES[i], component, contents[i], notes[i])
  end
end

-- Runs `read` with an entry of its own in the tree. Returns what it returns; a text behind that goes to the entry.
local function within(bits, text, read)
  local c, outer, first = bits.c, bits.c.tree, math.floor(bits.at / 8)
  count_one(c)
  c.tree = outer:add(lattice.wire, bits:rest_range(), text)
  local value, more = read()
  c.tree:set_len(math.max(1, math.floor((bits.at + 7) / 8) - first))
  if more then c.tree:append_text(more) end
  c.tree = outer
  bits:mark()
  return value
end
lattice.within = within

-- ---- Values -----------------------------------------------------------------------------------------------------

-- True, false, or nil where that is not known.
local function equal(a, b)
  if a == false or b == false then return nil end
  if type(a) ~= "table" then return a == b end
  if rawequal(a, b) then return true end
  if a.n ~= b.n or a.tag ~= b.tag or #a ~= #b then return false end
  local all = true
  if a.tag and a.tag > 0 then all = equal(a.value, b.value) end
  for i = 1, #a do
    local one = equal(a[i], b[i])
    if one == false then return false end
    if one == nil then all = nil end
  end
  return all
end

-- The zero baseline (D-6).
local function zero(m)
  if m.zero ~= nil then return m.zero end
  local value = {}
  if m.kind == "bool" then
    value = 0
  elseif m.kind == "plain" then
    for i, component in ipairs(m.components) do value[i] = component.zero end
  elseif m.kind == "array" then
    for i = 1, m.count do value[i] = zero(m.element) end
  elseif m.kind == "list" or m.kind == "map" then
    value.n = 0
  elseif m.kind == "union" then
    value.tag = 0
  else
    for i, each in ipairs(m.members) do value[i] = zero(each) end
  end
  m.zero = value
  return value
end

local function zeros(members)
  local value = {}
  for i, each in ipairs(members) do value[i] = zero(each) end
  return value
end

-- A value that begins as `base`, whose own changes leave that as it is.
local function copy(base, n)
  local value = {}
  for i = 1, n do value[i] = base and base[i] end
  return value
end

local function head(bits, m)
  local v = bits:take(m.head_bits)
  if v > m.count then fail("a length or tag of " .. v .. " above " .. m.count .. " (D-7)") end
  return v
end

local function element_label(label, i) return string.format("%s[%d]", label, i - 1) end

local function key_of(m, entry)
  return m.element.members[1].components[1].key(entry[1][1])
end

local function check_keys(m, entries)
  for i = 2, #entries do
    if not (key_of(m, entries[i - 1]) < key_of(m, entries[i])) then fail("keys that do not ascend (D-7, D-64)") end
  end
end

-- ---- Whole (D-7) ------------------------------------------------------------------------------------------------

local whole

local function whole_members(bits, members)
  local value = {}
  for i, each in ipairs(members) do value[i] = whole(bits, each, each.name) end
  return value
end

local function whole_elements(bits, m, n, label)
  local value = {}
  for i = 1, n do value[i] = whole(bits, m.element, element_label(label, i)) end
  return value
end

local WHOLE = {
  array = function(bits, m, label) return whole_elements(bits, m, m.count, label), "" end,
  list = function(bits, m, label)
    local n = head(bits, m)
    local value = whole_elements(bits, m, n, label)
    value.n = n
    return value, ": " .. n .. " elements"
  end,
  union = function(bits, m)
    local tag = head(bits, m)
    if tag == 0 then return { tag = 0 }, ": none" end
    local active = m.members[tag]
    return { tag = tag, value = whole(bits, active, active.name) }, ": " .. active.name
  end,
}

function WHOLE.map(bits, m, label)
  local value, more = WHOLE.list(bits, m, label)
  check_keys(m, value)
  return value, more
end

function whole(bits, m, label)
  bits:mark()
  if m.kind == "bool" then
    local value = bits:take(1)
    show(bits, m, label, value, {})
    return value
  end
  if m.kind == "plain" then
    local value = {}
    for i, component in ipairs(m.components) do value[i] = component.read(bits, component.zero) end
    show(bits, m, label, value, {})
    return value
  end
  return within(bits, label, function()
    if WHOLE[m.kind] then return WHOLE[m.kind](bits, m, label) end
    return whole_members(bits, m.members)
  end)
end

-- ---- Changes (D-8 to D-10, D-63, D-64) --------------------------------------------------------------------------

local changes

local function mask_of(bits, n)
  local mask = {}
  for i = 1, n do mask[i] = bits:take(1) == 1 end
  return mask
end

local function marked(bits, members, mask, base)
  local value = copy(base, #members)
  for i, each in ipairs(members) do
    if mask[i] then value[i] = changes(bits, each, value[i], each.name) end
  end
  return value
end

local function masked(bits, members, base)
  return marked(bits, members, mask_of(bits, #members), base)
end

local CHANGES = {}

function CHANGES.array(bits, m, base, label)
  local value, mask = copy(base, m.count), mask_of(bits, m.count)
  for i = 1, m.count do
    if mask[i] then value[i] = changes(bits, m.element, value[i], element_label(label, i)) end
  end
  return value
end

function CHANGES.list(bits, m, base, label)
  local n, more = base and base.n, nil
  if bits:take(1) == 1 then
    local now = head(bits, m)
    if now == n then fail("a length that did not change (D-63)") end
    n, more = now, ": " .. now .. " elements"
  elseif not base then
    stop("how long '" .. label .. "' is, a baseline says that the capture does not hold")
  end
  local value = { n = n }
  for i = 1, n do
    value[i] = false
    if base then value[i] = i > base.n and zero(m.element) or base[i] end
    if bits:take(1) == 1 then value[i] = changes(bits, m.element, value[i], element_label(label, i)) end
  end
  return value, more
end

local function map_entry(bits, m, base)
  if m.element.kind == "delta" then
    local members, values = {}, {}
    for i = 2, #m.element.members do members[i - 1], values[i - 1] = m.element.members[i], base[i] end
    local changed = masked(bits, members, values)
    table.insert(changed, 1, base[1])
    return changed
  end
  local changed = { base[1] }
  for i = 2, #m.element.members do
    local each = m.element.members[i]
    changed[i] = whole(bits, each, each.name)
  end
  return changed
end

local function entry_label(m, label, entry)
  local component = m.element.members[1].components[1]
  return label .. "[" .. text_of(component, entry[1][1]) .. "]"
end

function CHANGES.map(bits, m, base, label)
  if not base then stop("how many entries '" .. label .. "' has, a baseline says that the capture does not hold") end
  local entries, fresh, old = {}, {}, {}
  for i = 1, base.n do
    local entry = base[i]
    old[tostring(key_of(m, entry))] = true
    if bits:take(1) == 0 then
      entries[#entries + 1] = entry
    elseif bits:take(1) == 1 then
      bits.c.tree:add(lattice.wire, bits:range(bits.at - 1), entry_label(m, label, entry) .. ": removed")
    else
      local changed = within(bits, entry_label(m, label, entry), function() return map_entry(bits, m, entry) end)
      if equal(changed, entry) then fail("an entry marked as changed that does not differ (D-64)") end
      entries[#entries + 1] = changed
    end
  end
  while #entries < m.count and bits:take(1) == 1 do
    local entry = whole(bits, m.element, label .. ", a new entry")
    if old[tostring(key_of(m, entry))] then fail("a new entry with the key of an old one (D-64)") end
    fresh[#fresh + 1], entries[#entries + 1] = entry, entry
  end
  check_keys(m, fresh)
  table.sort(entries, function(a, b) return key_of(m, a) < key_of(m, b) end)
  entries.n = #entries
  return entries, ": " .. entries.n .. " entries"
end

function CHANGES.union(bits, m, base)
  if bits:take(1) == 1 then
    local value, more = WHOLE.union(bits, m)
    if base and value.tag == base.tag then fail("a tag that did not change (D-63)") end
    return value, more
  end
  if not base then stop("which alternative is active, a baseline says that the capture does not hold") end
  if base.tag == 0 then fail("changes of no alternative (D-63)") end
  local active = m.members[base.tag]
  return { tag = base.tag, value = changes(bits, active, base.value, active.name) }, ": " .. active.name
end

local function changed_value(bits, m, base, label)
  if m.kind == "bool" then
    local value = base and 1 - base
    show(bits, m, label, value, { "the other value than before, which is not known" })
    return value
  end
  if m.kind == "plain" then
    local value, notes = {}, {}
    for i, component in ipairs(m.components) do value[i], notes[i] = component.read(bits, base and base[i]) end
    show(bits, m, label, value, notes)
    return value
  end
  if m.kind == "whole" then return whole(bits, m, label) end
  return within(bits, label, function()
    if m.kind == "delta" then return masked(bits, m.members, base) end
    return CHANGES[m.kind](bits, m, base, label)
  end)
end

function changes(bits, m, base, label)
  bits:mark()
  local value = changed_value(bits, m, base, label)
  if equal(value, base) then fail("a member marked as changed that does not differ (D-10)") end
  return value
end

lattice.states = { whole_members = whole_members, masked = masked, marked = marked, mask_of = mask_of, equal = equal,
  zeros = zeros, bit_count = bit_count }
