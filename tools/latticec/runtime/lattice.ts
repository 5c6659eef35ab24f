// Lattice's wire format in TypeScript: bits, numbers, and codecs of whole structures. What 'latticec typescript' makes
// stands on this file, which is the same for every schema. It needs ES2020, for bigint, and nothing of a browser or of Node.
// The format is docs/spec/data.md; the rules D-1 to D-65 are there.

/** Why bytes were refused. */
export type Refusal =
  | "none"
  | "truncated" // the bytes end inside a field
  | "long varint" // a varint has more bytes than it needs
  | "large number" // a number is above what its type or its range holds
  | "large length" // a text, a list or a map is longer than its capacity
  | "wrong tag" // a union has no such alternative
  | "not text" // a text is not UTF-8
  | "zero byte" // a text holds a zero byte
  | "no rotation" // the numbers of a rotation are none
  | "key order" // the keys of a map do not ascend, or one comes twice
  | "known key" // a new entry of a map has the key of an entry that was there
  | "nothing changed" // something is marked as changed and equals its baseline
  | "bytes left"; // something follows behind the end

export class Vec2 { constructor(public x = 0, public y = 0) {} }
export class Vec3 { constructor(public x = 0, public y = 0, public z = 0) {} }
export class Vec4 { constructor(public x = 0, public y = 0, public z = 0, public w = 0) {} }
/** A rotation. All zeros count as none. */
export class Quat { constructor(public x = 0, public y = 0, public z = 0, public w = 0) {} }
export type Bytes = Uint8Array;

export function noBytes(): Bytes {
  return new Uint8Array(0);
}
/** The elements of an array member. */
export function elements<T>(count: number, make: () => T): T[] {
  const all: T[] = [];
  for (let i = 0; i < count; ++i) all.push(make());
  return all;
}
/** Makes a list so long. `make` gives the new elements. */
export function resize<T>(list: T[], count: number, make: () => T): void {
  if (list.length > count) list.length = count;
  while (list.length < count) list.push(make());
}

// ---- Bits ------------------------------------------------------------------------------------------------------

/** Writes bits into bytes, bit 7 of each byte first. Once something did not fit, `ok` is false and nothing more is
 * written. */
export class BitWriter {
  private at = 0;
  private isOk = true;

  constructor(private readonly bytes: Uint8Array) {}
  get ok(): boolean {
    return this.isOk;
  }
  get bitCount(): number {
    return this.at;
  }
  /** The bytes written; the last one is filled with zeros. A view, not a copy. */
  finish(): Uint8Array {
    return this.bytes.subarray(0, (this.at + 7) >> 3);
  }
  reset(): void {
    this.at = 0;
    this.isOk = true;
  }
  /** The low `count` bits, the highest first; 0 to 32. */
  bits(value: number, count: number): void {
    if (!this.isOk || count > this.bytes.length * 8 - this.at) {
      this.isOk = false;
      return;
    }
    while (count > 0) {
      const free = 8 - (this.at & 7);
      const take = count < free ? count : free;
      const part = (value >>> (count - take)) & ((1 << take) - 1);
      const before = free === 8 ? 0 : this.bytes[this.at >> 3];
      this.bytes[this.at >> 3] = before | (part << (free - take));
      this.at += take;
      count -= take;
    }
  }
  /** A number of two words; 0 to 64 bits. */
  long(low: number, high: number, count: number): void {
    const isThere = count <= this.bytes.length * 8 - this.at;
    if (!isThere) this.isOk = false;
    if (count > 32) this.bits(high, count - 32);
    this.bits(low, count > 32 ? 32 : count);
  }
  bool(value: boolean): void {
    this.bits(value ? 1 : 0, 1);
  }
  /** The four bytes of a number, or fewer, the lowest first. */
  scalar(value: number, bits: number): void {
    for (let i = 0; i < bits; i += 8) this.bits((value >>> i) & 0xff, 8);
  }
  varint(low: number, high: number): void {
    for (let groups = 1; groups < 9 && (high !== 0 || low >= 0x80); ++groups) {
      this.bits((low & 0x7f) | 0x80, 8);
      low = ((low >>> 7) | (high << 25)) >>> 0;
      high >>>= 7;
    }
    this.bits(low, 8);
  }
}

/** Reads what a BitWriter wrote. After a refusal every further read fails too. */
export class BitReader {
  private at = 0;
  private end = 0;
  private why: Refusal = "none";
  /** The upper word of the last long() or varint(). */
  high = 0;

  constructor(private bytes: Uint8Array = new Uint8Array(0)) {
    this.reset(bytes);
  }
  reset(bytes: Uint8Array): void {
    this.bytes = bytes;
    this.at = 0;
    this.end = bytes.length * 8;
    this.why = "none";
  }
  /** Why the bytes were refused; "none" while all is well. */
  get refusal(): Refusal {
    return this.why;
  }
  get bitsLeft(): number {
    return this.end - this.at;
  }
  /** False. The first reason stays. */
  refuse(why: Refusal): false {
    if (this.why === "none") this.why = why;
    this.at = this.end;
    return false;
  }
  /** A field of 0 to 32 bits; −1 after a refusal. */
  bits(count: number): number {
    if (this.why !== "none") return -1;
    if (count > this.end - this.at) {
      this.refuse("truncated");
      return -1;
    }
    let value = 0;
    while (count > 0) {
      const free = 8 - (this.at & 7);
      const take = count < free ? count : free;
      const part = (this.bytes[this.at >> 3] >> (free - take)) & ((1 << take) - 1);
      value = value * (1 << take) + part;
      this.at += take;
      count -= take;
    }
    return value;
  }
  /** A field of 0 to 64 bits: its lower word, and the upper one in `high`; −1 after a refusal. */
  long(count: number): number {
    this.high = 0;
    if (count > this.bitsLeft) this.refuse("truncated");
    if (count > 32) this.high = this.bits(count - 32);
    return this.bits(count > 32 ? 32 : count);
  }
  /** A field that is at most `most`; −1 after a refusal. */
  code(count: number, most: number, why: Refusal): number {
    const value = this.bits(count);
    if (value <= most) return value;
    this.refuse(why);
    return -1;
  }
  /** −1 after a refusal. */
  scalar(bits: number): number {
    let value = 0;
    for (let i = 0; i < bits; i += 8) {
      const part = this.bits(8);
      if (part < 0) return -1;
      value |= part << i;
    }
    return value >>> 0;
  }
  /** The lower word, and the upper one in `high`; −1 after a refusal. */
  varint(): number {
    let low = 0;
    let high = 0;
    for (let group = 0; group < 9; ++group) {
      const byte = this.bits(8);
      if (byte < 0) return -1;
      const part = group < 8 ? byte & 0x7f : byte;
      const shift = 7 * group;
      if (shift < 32) low |= part << shift;
      if (shift > 25) high |= shift < 32 ? part >> (32 - shift) : part << (shift - 32);
      if (byte < 0x80 || group === 8) {
        this.high = high >>> 0;
        if (group === 0 || byte !== 0) return low >>> 0;
        this.refuse("long varint");
        return -1;
      }
    }
    return -1;
  }
  /** True at the end: fewer than 8 bits are left, and all are zero (D-1). */
  atEnd(): boolean {
    if (this.why !== "none") return false;
    const left = this.bitsLeft;
    return (left < 8 && this.bits(left) === 0) || this.refuse("bytes left");
  }
}

// ---- Numbers ---------------------------------------------------------------------------------------------------

const scratch = new DataView(new ArrayBuffer(8));
const TWO_32 = 4294967296;

function bitsOf(value: number): number {
  scratch.setFloat32(0, value);
  return scratch.getUint32(0);
}
function floatOf(bits: number): number {
  scratch.setUint32(0, bits);
  return scratch.getFloat32(0);
}
/** How many bits a field takes that holds 0 to `most`. */
function bitsFor(most: number): number {
  let bits = 0;
  for (; most >= 1; most /= 2) ++bits;
  return bits;
}
/** The 16 bits of a number (D-65), of the bits of a float. */
function halfOf(bits: number): number {
  const sign = (bits >>> 16) & 0x8000;
  const magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000) return sign | 0x7c00 | ((magnitude >>> 13) & 0x3ff || 0x200);
  if (magnitude === 0x7f800000) return sign | 0x7c00;
  if (magnitude >= 0x477ff000) return sign | 0x7bff;
  let shift = 13;
  let whole = magnitude - 0x38000000;
  if (magnitude < 0x38800000) {
    shift = 126 - (magnitude >>> 23);
    if (shift > 24) return sign;
    whole = (magnitude & 0x7fffff) | 0x800000;
  }
  const kept = whole >>> shift;
  const rest = whole & ((1 << shift) - 1);
  const half = 1 << (shift - 1);
  return sign | (kept + (rest > half || (rest === half && (kept & 1) !== 0) ? 1 : 0));
}
function floatBitsOfHalf(half: number): number {
  const sign = (half & 0x8000) << 16;
  const exponent = (half >>> 10) & 0x1f;
  let content = half & 0x3ff;
  if (exponent === 0x1f) return (sign | 0x7f800000 | (content << 13)) >>> 0;
  if (exponent !== 0) return (sign | ((exponent + 112) << 23) | (content << 13)) >>> 0;
  if (content === 0) return sign >>> 0;
  let scale = 113;
  for (; (content & 0x400) === 0; content <<= 1) --scale;
  return (sign | (scale << 23) | ((content & 0x3ff) << 13)) >>> 0;
}

/** The packed contents of a structure or an object. Two states are equal exactly when their words are. */
export class State {
  readonly words: Uint32Array;
  /** False when a value did not fit its member, and another one was taken. */
  fits = true;

  constructor(words: number) {
    this.words = new Uint32Array(words);
  }
  isSame(other: State): boolean {
    return this.words.length === other.words.length && this.words.every((word, i) => word === other.words[i]);
  }
  copyFrom(other: State): void {
    this.words.set(other.words);
  }
}

/** What generated classes have in common. */
export abstract class Structure {
  /** Puts the values into a state from word `at` on; true when all fit. A value that does not fit is clamped, and to.fits
   * becomes false. */
  pack(to: State, at = 0): boolean {
    if (at === 0) to.fits = true;
    this.packAt(to, at);
    return to.fits;
  }
  /** Takes the values from a state. */
  unpack(from: State, at = 0): void {
    this.unpackAt(from, at);
  }
  abstract packAt(to: State, at: number): void;
  abstract unpackAt(from: State, at: number): void;
}

// ---- Codecs ----------------------------------------------------------------------------------------------------

type Key = number | bigint;

/** How a member, an element or a structure lies in a state and travels. `at` is its first word. */
export abstract class Codec {
  constructor(readonly words: number) {}
  /** The contents of the zero baseline (D-6). */
  abstract zero(s: State, at: number): void;
  abstract write(w: BitWriter, s: State, at: number): void;
  abstract read(r: BitReader, s: State, at: number): boolean;
  /** What follows behind the mark that says that it changed. */
  writeChanges(w: BitWriter, _before: State, _was: number, s: State, at: number): void {
    this.write(w, s, at);
  }
  /** `s` holds the contents of `before`. */
  readChanges(r: BitReader, _before: State, _was: number, s: State, at: number): boolean {
    return this.read(r, s, at);
  }
  /** The number of a key, in the order of keys. */
  key(_s: State, _at: number): Key {
    throw new Error("it is no key");
  }
  isSame(a: State, first: number, b: State, second: number): boolean {
    for (let i = 0; i < this.words; ++i) if (a.words[first + i] !== b.words[second + i]) return false;
    return true;
  }
  /** The changes of what is marked as changed: it must differ (D-10). */
  readMarked(r: BitReader, before: State, was: number, s: State, at: number): boolean {
    return this.readChanges(r, before, was, s, at) && (!this.isSame(before, was, s, at) || r.refuse("nothing changed"));
  }
}

export class Bool extends Codec {
  constructor() {
    super(1);
  }
  pack(to: State, at: number, value: boolean): void {
    to.words[at] = value ? 1 : 0;
  }
  unpack(from: State, at: number): boolean {
    return from.words[at] !== 0;
  }
  zero(s: State, at: number): void {
    s.words[at] = 0;
  }
  write(w: BitWriter, s: State, at: number): void {
    w.bits(s.words[at], 1);
  }
  read(r: BitReader, s: State, at: number): boolean {
    const bit = r.bits(1);
    s.words[at] = bit === 1 ? 1 : 0;
    return bit >= 0;
  }
  // The mask says it all (D-9).
  override writeChanges(): void {}
  override readChanges(_r: BitReader, before: State, was: number, s: State, at: number): boolean {
    s.words[at] = before.words[was] ^ 1;
    return true;
  }
}

/** An enum travels as the position in its list. */
export class Ordinal extends Codec {
  private readonly bits: number;

  private constructor(
    private readonly count: number,
    private readonly bytes: number,
    private readonly values: readonly number[] | null,
  ) {
    super(1);
    this.bits = bitsFor(count - 1);
  }
  static plain(count: number): Ordinal {
    return new Ordinal(count, 8, null);
  }
  /** The values are numbers of so many bytes. */
  static of(bytes: number, ...values: number[]): Ordinal {
    return new Ordinal(values.length, bytes, values);
  }
  pack(to: State, at: number, value: number): void {
    const found = this.values === null ? value : this.values.indexOf(value);
    const isKnown = Number.isInteger(found) && found >= 0 && found < this.count;
    if (!isKnown) to.fits = false;
    to.words[at] = isKnown ? found : 0;
  }
  unpack(from: State, at: number): number {
    return this.values === null ? from.words[at] : this.values[from.words[at]];
  }
  zero(s: State, at: number): void {
    s.words[at] = this.values === null ? 0 : Math.max(0, this.values.indexOf(0));
  }
  write(w: BitWriter, s: State, at: number): void {
    w.bits(s.words[at], this.bits);
  }
  read(r: BitReader, s: State, at: number): boolean {
    const code = r.code(this.bits, this.count - 1, "large number");
    s.words[at] = code < 0 ? 0 : code;
    return code >= 0;
  }
  // The schema holds the bits of a value as a signed number.
  override key(s: State, at: number): Key {
    const value = this.unpack(s, at);
    const half = 2 ** (8 * this.bytes - 1);
    return value < half ? value : value - 2 * half;
  }
}

/** An integer of up to 32 bits. */
export class Integer extends Codec {
  private constructor(
    private readonly form: "code" | "fixed" | "varint" | "difference",
    private readonly width: number,
    private readonly isSigned: boolean,
    private readonly bits: number,
    private readonly most: number,
    private readonly min: number,
  ) {
    super(1);
  }
  /** `width` is that of the type. */
  static fixed(width: number, isSigned: boolean): Integer {
    return new Integer("fixed", width, isSigned, width, 2 ** width - 1, 0);
  }
  static bits(width: number, bits: number): Integer {
    return new Integer("code", width, false, bits, 2 ** bits - 1, 0);
  }
  static ranged(width: number, min: number, max: number): Integer {
    return new Integer("code", width, false, bitsFor(max - min), max - min, min);
  }
  static varint(width: number, isSigned: boolean): Integer {
    return new Integer("varint", width, isSigned, width, 2 ** width - 1, 0);
  }
  /** Travels as the difference to the baseline. */
  static difference(width: number): Integer {
    return new Integer("difference", width, false, width, 2 ** width - 1, 0);
  }
  /** The part behind the point of a value does not travel. */
  pack(to: State, at: number, value: number): void {
    if (this.form === "code") {
      const content = Math.trunc(value) - this.min;
      const isIn = content >= 0 && content <= this.most;
      if (!isIn) to.fits = false;
      to.words[at] = isIn ? content : content > 0 ? this.most : 0;
    } else {
      const v = value | 0; // modulo 2^32
      to.words[at] = this.form === "varint" && this.isSigned ? (v << 1) ^ (v >> 31) : this.low(v);
    }
  }
  unpack(from: State, at: number): number {
    const content = from.words[at];
    if (this.form === "code") return content + this.min;
    if (!this.isSigned) return content;
    if (this.form === "varint") return (content >>> 1) ^ -(content & 1);
    return (content << (32 - this.width)) >> (32 - this.width);
  }
  private low(v: number): number {
    return this.width === 32 ? v >>> 0 : v & this.most;
  }
  zero(s: State, at: number): void {
    s.words[at] = this.min >= 0 ? 0 : Math.min(-this.min, this.most); // that of the value nearest to 0
  }
  write(w: BitWriter, s: State, at: number): void {
    this.writeAgainst(w, 0, s.words[at]);
  }
  read(r: BitReader, s: State, at: number): boolean {
    return this.readAgainst(r, 0, s, at);
  }
  override writeChanges(w: BitWriter, before: State, was: number, s: State, at: number): void {
    this.writeAgainst(w, before.words[was], s.words[at]);
  }
  override readChanges(r: BitReader, before: State, was: number, s: State, at: number): boolean {
    return this.readAgainst(r, before.words[was], s, at);
  }
  private writeAgainst(w: BitWriter, before: number, content: number): void {
    if (this.form === "code") {
      w.bits(content, this.bits);
    } else if (this.form === "fixed") {
      w.scalar(content, this.bits);
    } else {
      const v = (content - before) | 0;
      w.varint(this.form === "varint" ? content : ((v << 1) ^ (v >> 31)) >>> 0, 0);
    }
  }
  private readAgainst(r: BitReader, before: number, s: State, at: number): boolean {
    let content: number;
    if (this.form === "code") {
      content = r.code(this.bits, this.most, "large number");
    } else if (this.form === "fixed") {
      content = r.scalar(this.bits);
    } else {
      content = r.varint();
      if (content >= 0 && r.high !== 0) return r.refuse("large number");
    }
    if (content < 0) return false;
    if (this.form === "difference") content = before + ((content >>> 1) ^ -(content & 1));
    s.words[at] = content;
    return true;
  }
  override key(s: State, at: number): Key {
    return this.unpack(s, at);
  }
}

/** An integer of 64 bits. */
export class Long extends Codec {
  private readonly mostLow: number;
  private readonly mostHigh: number;

  private constructor(
    private readonly form: "code" | "fixed" | "varint" | "difference",
    private readonly isSigned: boolean,
    private readonly bits: number,
    private readonly most: bigint,
    private readonly min: bigint,
  ) {
    super(2);
    this.mostLow = Number(BigInt.asUintN(32, most));
    this.mostHigh = Number(most >> 32n);
  }
  static fixed(isSigned: boolean): Long {
    return new Long("fixed", isSigned, 64, 2n ** 64n - 1n, 0n);
  }
  static bits(bits: number): Long {
    return new Long("code", false, bits, 2n ** BigInt(bits) - 1n, 0n);
  }
  static ranged(min: bigint, max: bigint): Long {
    const most = max - min;
    return new Long("code", false, most === 0n ? 0 : most.toString(2).length, most, min);
  }
  static varint(isSigned: boolean): Long {
    return new Long("varint", isSigned, 64, 2n ** 64n - 1n, 0n);
  }
  /** Travels as the difference to the baseline. */
  static difference(): Long {
    return new Long("difference", true, 64, 2n ** 64n - 1n, 0n);
  }
  pack(to: State, at: number, value: bigint): void {
    let content = value;
    if (this.form === "code") {
      content -= this.min;
      if (content < 0n || content > this.most) {
        to.fits = false;
        content = content < 0n ? 0n : this.most;
      }
    } else if (this.form === "varint" && this.isSigned) {
      const v = BigInt.asIntN(64, value);
      content = (v << 1n) ^ (v >> 63n);
    }
    to.words[at] = Number(BigInt.asUintN(32, content));
    to.words[at + 1] = Number(BigInt.asUintN(32, content >> 32n));
  }
  unpack(from: State, at: number): bigint {
    const content = (BigInt(from.words[at + 1]) << 32n) | BigInt(from.words[at]);
    if (this.form === "code") return content + this.min;
    if (!this.isSigned) return content;
    return this.form === "varint" ? (content >> 1n) ^ -(content & 1n) : BigInt.asIntN(64, content);
  }
  zero(s: State, at: number): void {
    this.pack(s, at, this.min >= 0n ? this.min : -this.min < this.most ? 0n : this.min + this.most);
  }
  write(w: BitWriter, s: State, at: number): void {
    this.writeAgainst(w, 0, 0, s.words[at], s.words[at + 1]);
  }
  read(r: BitReader, s: State, at: number): boolean {
    return this.readAgainst(r, 0, 0, s, at);
  }
  override writeChanges(w: BitWriter, before: State, was: number, s: State, at: number): void {
    this.writeAgainst(w, before.words[was], before.words[was + 1], s.words[at], s.words[at + 1]);
  }
  override readChanges(r: BitReader, before: State, was: number, s: State, at: number): boolean {
    return this.readAgainst(r, before.words[was], before.words[was + 1], s, at);
  }
  private writeAgainst(w: BitWriter, wasLow: number, wasHigh: number, low: number, high: number): void {
    if (this.form === "code") {
      w.long(low, high, this.bits);
    } else if (this.form === "fixed") {
      w.scalar(low, 32);
      w.scalar(high, 32);
    } else if (this.form === "varint") {
      w.varint(low, high);
    } else {
      const up = (high - wasHigh - (low < wasLow ? 1 : 0)) | 0;
      const down = (low - wasLow) | 0;
      const sign = up >> 31;
      w.varint(((down << 1) ^ sign) >>> 0, (((up << 1) | (down >>> 31)) ^ sign) >>> 0);
    }
  }
  private readAgainst(r: BitReader, wasLow: number, wasHigh: number, s: State, at: number): boolean {
    let low: number;
    if (this.form === "fixed") {
      low = r.scalar(32);
      r.high = r.scalar(32);
    } else {
      low = this.form === "code" ? r.long(this.bits) : r.varint();
    }
    let high = r.high;
    if (low < 0 || high < 0) return false;
    if (this.form === "code" && (high > this.mostHigh || (high === this.mostHigh && low > this.mostLow))) {
      return r.refuse("large number");
    }
    if (this.form === "difference") {
      const sign = -(low & 1);
      low = (((low >>> 1) | (high << 31)) ^ sign) >>> 0;
      high = ((high >>> 1) ^ sign) >>> 0;
      const sum = low + wasLow;
      high = high + wasHigh + (sum >= TWO_32 ? 1 : 0);
      low = sum;
    }
    s.words[at] = low;
    s.words[at + 1] = high;
    return true;
  }
  override key(s: State, at: number): Key {
    return this.unpack(s, at);
  }
}

/** A float or a double. */
export class Real extends Codec {
  private readonly most: number;
  private readonly scale: number;
  private readonly step: number;

  private constructor(
    private readonly form: "bounds" | "angle" | "half" | "float" | "double",
    private readonly isFloat: boolean,
    private readonly min: number,
    private readonly max: number,
    private readonly steps: number,
    private readonly bits: number,
  ) {
    super(bits > 32 ? 2 : 1);
    this.most = form === "bounds" ? steps : form === "angle" ? steps - 1 : 0xffff;
    this.scale = steps / (max - min);
    this.step = (max - min) / steps;
  }
  /** `isFloat`: the value is one of 32 bits. */
  static bounds(isFloat: boolean, min: number, max: number, steps: number): Real {
    return new Real("bounds", isFloat, min, max, steps, bitsFor(steps));
  }
  static angle(isFloat: boolean, min: number, max: number, steps: number): Real {
    return new Real("angle", isFloat, min, max, steps, bitsFor(steps - 1));
  }
  static half(): Real {
    return new Real("half", true, 0, 0, 0, 16);
  }
  static float(): Real {
    return new Real("float", true, 0, 0, 0, 32);
  }
  static double(): Real {
    return new Real("double", false, 0, 0, 0, 64);
  }
  pack(to: State, at: number, value: number): void {
    const v = this.isFloat ? Math.fround(value) : value;
    switch (this.form) {
      case "bounds":
        if (!(v >= this.min && v <= this.max)) to.fits = false;
        this.set(to, at, this.boundsCode(v));
        break;
      case "angle":
        if (!Number.isFinite(v)) to.fits = false;
        this.set(to, at, this.angleCode(v));
        break;
      case "half":
        if (Number.isFinite(v) && Math.abs(v) >= 65520) to.fits = false;
        to.words[at] = halfOf(bitsOf(v));
        break;
      case "float":
        to.words[at] = bitsOf(v);
        break;
      default:
        scratch.setFloat64(0, v);
        to.words[at] = scratch.getUint32(4);
        to.words[at + 1] = scratch.getUint32(0);
    }
  }
  unpack(from: State, at: number): number {
    switch (this.form) {
      case "half":
        return floatOf(floatBitsOfHalf(from.words[at]));
      case "float":
        return floatOf(from.words[at]);
      case "double":
        scratch.setUint32(4, from.words[at]);
        scratch.setUint32(0, from.words[at + 1]);
        return scratch.getFloat64(0);
      default: {
        const code = this.get(from, at);
        const v = code === this.steps ? this.max : this.min + code * this.step;
        return this.isFloat ? Math.fround(v) : v;
      }
    }
  }
  // D-4.
  private boundsCode(v: number): number {
    if (Number.isNaN(v)) v = this.min <= 0 && this.max >= 0 ? 0 : this.min;
    if (v <= this.min) return 0;
    return v >= this.max ? this.steps : Math.floor((v - this.min) * this.scale + 0.5);
  }
  // D-39.
  private angleCode(v: number): number {
    if (!Number.isFinite(v)) v = 0;
    const distance = (v - this.min) * this.scale;
    if (!(Math.abs(distance) < 2 ** 52)) return 0;
    const rest = Math.floor(distance + 0.5) % this.steps;
    return rest < 0 ? rest + this.steps : rest + 0; // + 0: no negative zero
  }
  private get(s: State, at: number): number {
    return this.words === 1 ? s.words[at] : s.words[at] + s.words[at + 1] * TWO_32;
  }
  private set(s: State, at: number, code: number): void {
    s.words[at] = code % TWO_32;
    if (this.words === 2) s.words[at + 1] = Math.floor(code / TWO_32);
  }
  zero(s: State, at: number): void {
    this.set(s, at, this.form === "bounds" ? this.boundsCode(0) : this.form === "angle" ? this.angleCode(0) : 0);
  }
  write(w: BitWriter, s: State, at: number): void {
    if (this.form === "float" || this.form === "double") {
      for (let i = 0; i < this.words; ++i) w.scalar(s.words[at + i], 32);
    } else {
      w.long(s.words[at], this.words === 2 ? s.words[at + 1] : 0, this.bits);
    }
  }
  read(r: BitReader, s: State, at: number): boolean {
    if (this.form === "float" || this.form === "double") {
      for (let i = 0; i < this.words; ++i) {
        const part = r.scalar(32);
        if (part < 0) return false;
        s.words[at + i] = part;
      }
      return true;
    }
    const low = r.long(this.bits);
    if (low < 0) return false;
    const code = r.high * TWO_32 + low;
    if (code > this.most) return r.refuse("large number");
    this.set(s, at, code);
    return true;
  }
}

/** Two to four numbers that change as one. */
export class Vector extends Codec {
  private readonly parts: readonly Real[];

  constructor(...parts: Real[]) {
    super(parts.reduce((words, part) => words + part.words, 0));
    this.parts = parts;
  }
  pack(to: State, at: number, v: Vec2 | Vec3 | Vec4): void {
    this.parts[0].pack(to, at, v.x);
    this.parts[1].pack(to, at + this.place(1), v.y);
    if (this.parts.length > 2) this.parts[2].pack(to, at + this.place(2), (v as Vec3).z);
    if (this.parts.length > 3) this.parts[3].pack(to, at + this.place(3), (v as Vec4).w);
  }
  unpack(from: State, at: number, v: Vec2 | Vec3 | Vec4): void {
    v.x = this.parts[0].unpack(from, at);
    v.y = this.parts[1].unpack(from, at + this.place(1));
    if (this.parts.length > 2) (v as Vec3).z = this.parts[2].unpack(from, at + this.place(2));
    if (this.parts.length > 3) (v as Vec4).w = this.parts[3].unpack(from, at + this.place(3));
  }
  private place(part: number): number {
    let words = 0;
    for (let i = 0; i < part; ++i) words += this.parts[i].words;
    return words;
  }
  zero(s: State, at: number): void {
    for (let i = 0; i < this.parts.length; ++i) this.parts[i].zero(s, at + this.place(i));
  }
  write(w: BitWriter, s: State, at: number): void {
    for (let i = 0; i < this.parts.length; ++i) this.parts[i].write(w, s, at + this.place(i));
  }
  read(r: BitReader, s: State, at: number): boolean {
    for (let i = 0; i < this.parts.length; ++i) if (!this.parts[i].read(r, s, at + this.place(i))) return false;
    return true;
  }
}

const SQRT_2 = 1.4142135623730951;

/** A rotation: the index of the largest component and three codes, or four floats. */
export class Rotation extends Codec {
  private readonly top: number;
  private readonly scale: number;
  private readonly halfStep: number;
  private readonly q = [0, 0, 0, 0];
  private readonly rebuilt = [0, 0, 0, 0];

  /** `bits`: of a code; 0: four floats. */
  private constructor(private readonly bits: number) {
    super(4);
    this.top = 2 ** bits - 2;
    this.scale = (SQRT_2 * this.top) / 2;
    this.halfStep = 1 / (SQRT_2 * this.top);
  }
  static smallestThree(bits: number): Rotation {
    return new Rotation(bits);
  }
  static full(): Rotation {
    return new Rotation(0);
  }
  pack(to: State, at: number, v: Quat): void {
    const x = Math.fround(v.x), y = Math.fround(v.y), z = Math.fround(v.z), w = Math.fround(v.w);
    const square = x * x + y * y + z * z + w * w;
    if (!Number.isFinite(square)) to.fits = false;
    if (!(square > 0) || !Number.isFinite(square)) return this.zero(to, at);
    this.q[0] = x;
    this.q[1] = y;
    this.q[2] = z;
    this.q[3] = w;
    if (this.bits !== 0) return this.packThree(to, at, this.scale / Math.sqrt(square));
    for (let i = 0; i < 4; ++i) to.words[at + i] = bitsOf(this.q[i]);
  }
  unpack(from: State, at: number, v: Quat): void {
    if (this.bits !== 0) this.rebuild(from, at);
    else for (let i = 0; i < 4; ++i) this.rebuilt[i] = floatOf(from.words[at + i]);
    v.x = this.rebuilt[0];
    v.y = this.rebuilt[1];
    v.z = this.rebuilt[2];
    v.w = this.rebuilt[3];
  }
  // D-5.
  private packThree(to: State, at: number, scale: number): void {
    const q = this.q;
    const dropped = Rotation.largest(q);
    const signed = q[dropped] < 0 ? -scale : scale;
    const zero = this.top / 2;
    let most = 0;
    to.words[at] = dropped;
    for (let k = 0; k < 3; ++k) {
      const code = Math.floor(q[k >= dropped ? k + 1 : k] * signed + (zero + 0.5));
      to.words[at + 1 + k] = code;
      most = Math.max(most, (2 * code - this.top) * (2 * code - this.top));
    }
    // Far from a tie the dropped component is rebuilt as a larger float than any other.
    if ((this.rest(to, at) - most) * 2 ** 21 >= most) return;
    for (let pass = 0; pass < 4; ++pass) {
      this.rebuild(to, at);
      const largest = Rotation.largest(this.rebuilt);
      if (largest === dropped) return;
      const word = at + 1 + (largest < dropped ? largest : largest - 1);
      to.words[word] += to.words[word] > zero ? -1 : 1;
    }
  }
  private rebuild(s: State, at: number): void {
    const dropped = s.words[at];
    for (let k = 0; k < 3; ++k) {
      const distance = 2 * s.words[at + 1 + k] - this.top;
      this.rebuilt[k >= dropped ? k + 1 : k] = Math.fround(distance * this.halfStep);
    }
    this.rebuilt[dropped] = Math.fround(Math.sqrt(Math.max(this.rest(s, at), 0)) * this.halfStep);
  }
  // The square of the dropped component, in half steps: a whole number of up to 42 bits.
  private rest(s: State, at: number): number {
    let rest = 2 * this.top * this.top;
    for (let k = 1; k < 4; ++k) {
      const distance = 2 * s.words[at + k] - this.top;
      rest -= distance * distance;
    }
    return rest;
  }
  private static largest(q: readonly number[]): number {
    let largest = 0;
    for (let i = 1; i < 4; ++i) if (Math.abs(q[i]) > Math.abs(q[largest])) largest = i;
    return largest;
  }
  zero(s: State, at: number): void {
    const middle = this.bits === 0 ? 0 : 2 ** (this.bits - 1) - 1;
    s.words[at] = this.bits === 0 ? 0 : 3;
    s.words[at + 1] = s.words[at + 2] = middle;
    s.words[at + 3] = this.bits === 0 ? bitsOf(1) : middle;
  }
  write(w: BitWriter, s: State, at: number): void {
    for (let i = 0; i < 4; ++i) {
      if (this.bits === 0) w.scalar(s.words[at + i], 32);
      else w.bits(s.words[at + i], i === 0 ? 2 : this.bits);
    }
  }
  read(r: BitReader, s: State, at: number): boolean {
    let length = 0;
    let isThere = true;
    for (let i = 0; i < 4; ++i) {
      const part = this.bits === 0 ? r.scalar(32) : r.bits(i === 0 ? 2 : this.bits);
      if (part < 0) return false;
      s.words[at + i] = part;
      if (this.bits === 0) length += floatOf(part) * floatOf(part);
      else if (i !== 0 && part > this.top) isThere = false;
    }
    isThere = isThere && (this.bits !== 0 ? this.rest(s, at) >= 0 : length > 0 && Number.isFinite(length));
    return isThere || r.refuse("no rotation");
  }
}

/** Bytes in a state: a word for their number, then four in each word, the first one lowest. */
abstract class ByteCodec extends Codec {
  protected constructor(protected readonly capacity: number, private readonly hasZeros: boolean) {
    super(1 + ((capacity + 3) >> 2));
  }
  protected byteAt(s: State, at: number, i: number): number {
    return (s.words[at + 1 + (i >> 2)] >>> (8 * (i & 3))) & 0xff;
  }
  /** Appends a byte; false when there is no room. */
  protected append(s: State, at: number, value: number): boolean {
    const i = s.words[at];
    if (i === this.capacity) return false;
    s.words[at + 1 + (i >> 2)] |= value << (8 * (i & 3));
    s.words[at] = i + 1;
    return true;
  }
  zero(s: State, at: number): void {
    s.words.fill(0, at, at + this.words);
  }
  write(w: BitWriter, s: State, at: number): void {
    w.varint(s.words[at], 0);
    for (let i = 0; i < s.words[at]; ++i) w.bits(this.byteAt(s, at, i), 8);
  }
  read(r: BitReader, s: State, at: number): boolean {
    this.zero(s, at);
    const count = r.varint();
    if (count < 0) return false;
    if (r.high !== 0 || count > this.capacity) return r.refuse("large length");
    if (count * 8 > r.bitsLeft) return r.refuse("truncated");
    for (let i = 0; i < count; ++i) {
      const part = r.bits(8);
      if (part < 0) return false;
      if (part === 0 && !this.hasZeros) return r.refuse("zero byte");
      this.append(s, at, part);
    }
    return true;
  }
}

/** A member of type bytes or fixed_string. */
export class Blob extends ByteCodec {
  private constructor(capacity: number, private readonly endsAtZero: boolean) {
    super(capacity, !endsAtZero);
  }
  static of(capacity: number): Blob {
    return new Blob(capacity, false);
  }
  /** A fixed_string, whose bytes are not zero: it ends at the first zero. */
  static withoutZeros(capacity: number): Blob {
    return new Blob(capacity, true);
  }
  pack(to: State, at: number, value: Bytes): void {
    this.zero(to, at);
    for (let i = 0; i < value.length && !(this.endsAtZero && value[i] === 0); ++i) {
      if (this.append(to, at, value[i])) continue;
      to.fits = false;
      return;
    }
  }
  /** `now` if it has the same bytes already. */
  unpack(from: State, at: number, now: Bytes): Bytes {
    const count = from.words[at];
    let isSame = now.length === count;
    for (let i = 0; isSame && i < count; ++i) isSame = now[i] === this.byteAt(from, at, i);
    if (isSame) return now;
    const made = new Uint8Array(count);
    for (let i = 0; i < count; ++i) made[i] = this.byteAt(from, at, i);
    return made;
  }
}

/** A member of type string: UTF-8. */
export class Text extends ByteCodec {
  constructor(capacity: number) {
    super(capacity, false);
  }
  /** A text ends before a character that does not fit, a lone surrogate, or a zero. */
  pack(to: State, at: number, value: string): void {
    this.zero(to, at);
    for (let i = 0; i < value.length; ++i) {
      const c = value.codePointAt(i) as number;
      const bytes = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
      if (c === 0 || (c >= 0xd800 && c < 0xe000) || this.capacity - to.words[at] < bytes) {
        to.fits = false;
        return;
      }
      if (bytes === 4) ++i; // two units
      if (bytes === 1) this.append(to, at, c);
      else this.append(to, at, (bytes === 2 ? 0xc0 : bytes === 3 ? 0xe0 : 0xf0) | (c >> (6 * (bytes - 1))));
      for (let k = bytes - 2; k >= 0; --k) this.append(to, at, 0x80 | ((c >> (6 * k)) & 0x3f));
    }
  }
  unpack(from: State, at: number): string {
    let text = "";
    for (let i = 0; i < from.words[at]; ) {
      const lead = this.byteAt(from, at, i++);
      let more = lead < 0x80 ? 0 : lead < 0xe0 ? 1 : lead < 0xf0 ? 2 : 3;
      let c = more === 0 ? lead : lead & (0x3f >> more);
      for (; more > 0; --more) c = (c << 6) | (this.byteAt(from, at, i++) & 0x3f);
      text += String.fromCodePoint(c);
    }
    return text;
  }
  override read(r: BitReader, s: State, at: number): boolean {
    return super.read(r, s, at) && (this.isUtf8(s, at) || r.refuse("not text"));
  }
  // RFC 3629: no overlong form, no surrogate, nothing past U+10FFFF.
  private isUtf8(s: State, at: number): boolean {
    const count = s.words[at];
    for (let i = 0; i < count; ) {
      const lead = this.byteAt(s, at, i++);
      if (lead < 0x80) continue;
      if (lead < 0xc2 || lead > 0xf4) return false;
      let more = lead < 0xe0 ? 1 : lead < 0xf0 ? 2 : 3;
      if (count - i < more) return false;
      let low = lead === 0xe0 ? 0xa0 : lead === 0xf0 ? 0x90 : 0x80;
      let high = lead === 0xed ? 0x9f : lead === 0xf4 ? 0x8f : 0xbf;
      for (; more > 0; --more) {
        const next = this.byteAt(s, at, i++);
        if (next < low || next > high) return false;
        low = 0x80;
        high = 0xbf;
      }
    }
    return true;
  }
}

// ---- Structures ------------------------------------------------------------------------------------------------

const marks: boolean[][] = []; // the masks that are being read, one for each level of nesting
let level = 0;

/** Reads a changed mask, then calls `each` for what it marks, while that is true. */
function readMask(r: BitReader, first: number, end: number, each: (i: number) => boolean): boolean {
  if (marks.length === level) marks.push([]);
  const mask = marks[level];
  for (let i = first; i < end; ++i) {
    const bit = r.bits(1);
    if (bit < 0) return false;
    mask[i] = bit === 1;
  }
  ++level;
  let isOk = true;
  for (let i = first; isOk && i < end; ++i) if (mask[i]) isOk = each(i);
  --level;
  return isOk;
}

/** Members one behind the other, in a state and on the wire. */
abstract class Members extends Codec {
  protected readonly places: readonly number[];

  protected constructor(protected readonly members: readonly Codec[], first: number) {
    super(members.reduce((words, member) => words + member.words, first));
    this.places = members.map((member) => (first += member.words) - member.words);
  }
  zero(s: State, at: number): void {
    for (let i = 0; i < this.members.length; ++i) this.members[i].zero(s, at + this.places[i]);
  }
  write(w: BitWriter, s: State, at: number, first = 0): void {
    for (let i = first; i < this.members.length; ++i) this.members[i].write(w, s, at + this.places[i]);
  }
  read(r: BitReader, s: State, at: number, first = 0): boolean {
    for (let i = first; i < this.members.length; ++i) {
      if (!this.members[i].read(r, s, at + this.places[i])) return false;
    }
    return true;
  }
  private isSameMember(i: number, before: State, was: number, s: State, at: number): boolean {
    return this.members[i].isSame(before, was + this.places[i], s, at + this.places[i]);
  }
  /** A changed mask and what it marks (D-8), of the members from `first` on. */
  writeMasked(w: BitWriter, before: State, was: number, s: State, at: number, first: number): void {
    for (let i = first; i < this.members.length; ++i) w.bool(!this.isSameMember(i, before, was, s, at));
    for (let i = first; i < this.members.length; ++i) {
      if (this.isSameMember(i, before, was, s, at)) continue;
      this.members[i].writeChanges(w, before, was + this.places[i], s, at + this.places[i]);
    }
  }
  readMasked(r: BitReader, before: State, was: number, s: State, at: number, first: number): boolean {
    return readMask(r, first, this.members.length, (i) =>
      this.members[i].readMarked(r, before, was + this.places[i], s, at + this.places[i]),
    );
  }
}

/** What can be encoded by itself. */
abstract class Whole extends Members {
  /** A state that holds the zero baseline. */
  newState(): State {
    const made = new State(this.words);
    this.zero(made, 0);
    return made;
  }
  /** Writes all of a state. */
  encode(w: BitWriter, s: State): void {
    this.write(w, s, 0);
  }
  /** Reads all of a state. On failure it is false, r.refusal says why, and `s` is the zero baseline. */
  decode(r: BitReader, s: State): boolean {
    if (this.read(r, s, 0)) return true;
    this.zero(s, 0);
    return false;
  }
  /** Writes how a state differs from another one. */
  abstract encodeDelta(w: BitWriter, before: State, s: State): void;
  /** Reads what encodeDelta() wrote against the same state. On failure it is false, r.refusal says why, and `s` is a copy
   * of `before`, which must be another state. */
  decodeDelta(r: BitReader, before: State, s: State): boolean {
    if (before === s) throw new Error("the baseline is the result too");
    s.copyFrom(before);
    if (this.readDelta(r, before, s)) return true;
    s.copyFrom(before);
    return false;
  }
  protected abstract readDelta(r: BitReader, before: State, s: State): boolean;
}

export class StructureCodec extends Whole {
  /** `isDelta`: within another structure, each member that changed travels by itself. */
  constructor(private readonly isDelta: boolean, ...members: Codec[]) {
    super(members, 0);
  }
  override writeChanges(w: BitWriter, before: State, was: number, s: State, at: number): void {
    this.writeFrom(w, before, was, s, at, 0);
  }
  override readChanges(r: BitReader, before: State, was: number, s: State, at: number): boolean {
    return this.readFrom(r, before, was, s, at, 0);
  }
  /** The changes of an entry that keeps its key (D-64) leave the first member out. */
  writeFrom(w: BitWriter, before: State, was: number, s: State, at: number, first: number): void {
    if (this.isDelta) this.writeMasked(w, before, was, s, at, first);
    else this.write(w, s, at, first);
  }
  readFrom(r: BitReader, before: State, was: number, s: State, at: number, first: number): boolean {
    return this.isDelta ? this.readMasked(r, before, was, s, at, first) : this.read(r, s, at, first);
  }
  override key(s: State, at: number): Key {
    return this.members[0].key(s, at);
  }
  encodeDelta(w: BitWriter, before: State, s: State): void {
    this.writeMasked(w, before, 0, s, 0, 0);
  }
  protected readDelta(r: BitReader, before: State, s: State): boolean {
    return this.readMasked(r, before, 0, s, 0, 0);
  }
}

/** An object: one structure or several, which its delta marks first. */
export class ObjectCodec extends Whole {
  private readonly states: readonly StructureCodec[];

  constructor(...states: StructureCodec[]) {
    super(states, 0);
    this.states = states;
  }
  /** The first word of a structure, for its pack() and unpack(). */
  place(state: number): number {
    return this.places[state];
  }
  encodeDelta(w: BitWriter, before: State, s: State): void {
    const isSame = (i: number) => this.states[i].isSame(before, this.places[i], s, this.places[i]);
    for (let i = 0; i < this.states.length; ++i) w.bool(!isSame(i));
    for (let i = 0; i < this.states.length; ++i) {
      if (!isSame(i)) this.states[i].writeMasked(w, before, this.places[i], s, this.places[i], 0);
    }
  }
  protected readDelta(r: BitReader, before: State, s: State): boolean {
    return readMask(r, 0, this.states.length, (i) => {
      const at = this.places[i];
      if (!this.states[i].readMasked(r, before, at, s, at, 0)) return false;
      return !this.states[i].isSame(before, at, s, at) || r.refuse("nothing changed");
    });
  }
}

/** A word for the tag, then the words of all alternatives. Those that are not active are zero. */
export class UnionCodec extends Members {
  private readonly bits: number;

  constructor(...alternatives: Codec[]) {
    super(alternatives, 1);
    this.bits = bitsFor(alternatives.length);
  }
  /** Sets the tag and makes all alternatives zero. */
  begin(to: State, at: number, tag: number): void {
    const isKnown = Number.isInteger(tag) && tag >= 0 && tag <= this.members.length;
    if (!isKnown) to.fits = false;
    this.zero(to, at);
    to.words[at] = isKnown ? tag : 0;
  }
  tag(from: State, at: number): number {
    return from.words[at];
  }
  override zero(s: State, at: number): void {
    s.words[at] = 0;
    super.zero(s, at);
  }
  override write(w: BitWriter, s: State, at: number): void {
    const tag = s.words[at];
    w.bits(tag, this.bits);
    if (tag !== 0) this.members[tag - 1].write(w, s, at + this.places[tag - 1]);
  }
  override read(r: BitReader, s: State, at: number): boolean {
    this.zero(s, at);
    const tag = r.code(this.bits, this.members.length, "wrong tag");
    if (tag < 0) return false;
    s.words[at] = tag;
    return tag === 0 || this.members[tag - 1].read(r, s, at + this.places[tag - 1]);
  }
  // D-63.
  override writeChanges(w: BitWriter, before: State, was: number, s: State, at: number): void {
    const tag = s.words[at];
    const isOther = before.words[was] !== tag;
    w.bool(isOther);
    if (isOther) return this.write(w, s, at);
    if (tag === 0) return;
    const place = this.places[tag - 1];
    this.members[tag - 1].writeChanges(w, before, was + place, s, at + place);
  }
  override readChanges(r: BitReader, before: State, was: number, s: State, at: number): boolean {
    const tag = before.words[was];
    const isOther = r.bits(1);
    if (isOther < 0) return false;
    if (isOther === 1) return this.read(r, s, at) && (s.words[at] !== tag || r.refuse("nothing changed"));
    if (tag === 0) return r.refuse("nothing changed");
    const place = this.places[tag - 1];
    return this.members[tag - 1].readChanges(r, before, was + place, s, at + place);
  }
}

/** Elements in a row, behind `head` words. */
abstract class Row<T extends Codec> extends Codec {
  /** `each` is the codec of an element. */
  constructor(readonly each: T, protected readonly count: number, private readonly head: number) {
    super(head + count * each.words);
  }
  /** The first word of an element. */
  at(at: number, i: number): number {
    return at + this.head + i * this.each.words;
  }
  protected zeroFrom(s: State, at: number, first: number): void {
    for (let i = first; i < this.count; ++i) this.each.zero(s, this.at(at, i));
  }
  protected isSameElement(i: number, before: State, was: number, s: State, at: number): boolean {
    return this.each.isSame(before, this.at(was, i), s, this.at(at, i));
  }
}

export class ArrayCodec<T extends Codec> extends Row<T> {
  constructor(each: T, count: number) {
    super(each, count, 0);
  }
  zero(s: State, at: number): void {
    this.zeroFrom(s, at, 0);
  }
  write(w: BitWriter, s: State, at: number): void {
    for (let i = 0; i < this.count; ++i) this.each.write(w, s, this.at(at, i));
  }
  read(r: BitReader, s: State, at: number): boolean {
    for (let i = 0; i < this.count; ++i) if (!this.each.read(r, s, this.at(at, i))) return false;
    return true;
  }
  override writeChanges(w: BitWriter, before: State, was: number, s: State, at: number): void {
    for (let i = 0; i < this.count; ++i) w.bool(!this.isSameElement(i, before, was, s, at));
    for (let i = 0; i < this.count; ++i) {
      if (this.isSameElement(i, before, was, s, at)) continue;
      this.each.writeChanges(w, before, this.at(was, i), s, this.at(at, i));
    }
  }
  override readChanges(r: BitReader, before: State, was: number, s: State, at: number): boolean {
    return readMask(r, 0, this.count, (i) => this.each.readMarked(r, before, this.at(was, i), s, this.at(at, i)));
  }
}

/** A word for the length, then the words of all elements that there is room for. */
export class ListCodec<T extends Codec> extends Row<T> {
  private readonly bits: number;

  constructor(each: T, capacity: number) {
    super(each, capacity, 1);
    this.bits = bitsFor(capacity);
  }
  /** Sets the length, as far as there is room, and returns it. Elements behind it become zero. */
  begin(to: State, at: number, length: number): number {
    if (length > this.count) to.fits = false;
    const taken = length > this.count ? this.count : length;
    to.words[at] = taken;
    this.zeroFrom(to, at, taken);
    return taken;
  }
  length(from: State, at: number): number {
    return from.words[at];
  }
  zero(s: State, at: number): void {
    s.words[at] = 0;
    this.zeroFrom(s, at, 0);
  }
  write(w: BitWriter, s: State, at: number): void {
    w.bits(s.words[at], this.bits);
    for (let i = 0; i < s.words[at]; ++i) this.each.write(w, s, this.at(at, i));
  }
  read(r: BitReader, s: State, at: number): boolean {
    this.zero(s, at);
    const length = r.code(this.bits, this.count, "large length");
    if (length < 0) return false;
    s.words[at] = length;
    for (let i = 0; i < length; ++i) if (!this.readElement(r, s, at, i)) return false;
    return true;
  }
  protected readElement(r: BitReader, s: State, at: number, i: number): boolean {
    return this.each.read(r, s, this.at(at, i));
  }
  // D-63.
  override writeChanges(w: BitWriter, before: State, was: number, s: State, at: number): void {
    const length = s.words[at];
    const isResized = before.words[was] !== length;
    w.bool(isResized);
    if (isResized) w.bits(length, this.bits);
    for (let i = 0; i < length; ++i) {
      const isChanged = !this.isSameElement(i, before, was, s, at);
      w.bool(isChanged);
      if (isChanged) this.each.writeChanges(w, before, this.at(was, i), s, this.at(at, i));
    }
  }
  override readChanges(r: BitReader, before: State, was: number, s: State, at: number): boolean {
    let length = before.words[was];
    const isResized = r.bits(1);
    if (isResized < 0) return false;
    if (isResized === 1) {
      length = r.code(this.bits, this.count, "large length");
      if (length < 0) return false;
      if (length === before.words[was]) return r.refuse("nothing changed");
      s.words[at] = length;
      if (length < before.words[was]) this.zeroFrom(s, at, length);
    }
    for (let i = 0; i < length; ++i) {
      const isChanged = r.bits(1);
      if (isChanged < 0) return false;
      if (isChanged === 1 && !this.each.readMarked(r, before, this.at(was, i), s, this.at(at, i))) return false;
    }
    return true;
  }
}

/** A list of entries in the order of their keys. */
export class MapCodec extends ListCodec<StructureCodec> {
  private keyAt(s: State, at: number, i: number): Key {
    return this.each.key(s, this.at(at, i));
  }
  /** Puts entries in order. Of two with one key the first stays. */
  sort(s: State, at: number): void {
    const all = s.words[at];
    let kept = 0;
    for (let i = 0; i < all; ++i) {
      const key = this.keyAt(s, at, i);
      let low = 0;
      let high = kept;
      if (kept !== 0 && this.keyAt(s, at, kept - 1) < key) low = kept; // the usual case
      while (low < high) {
        const middle = (low + high) >> 1;
        if (this.keyAt(s, at, middle) < key) low = middle + 1;
        else high = middle;
      }
      if (low < kept && this.keyAt(s, at, low) === key) continue;
      if (low < i) {
        const entry = s.words.slice(this.at(at, i), this.at(at, i + 1));
        s.words.copyWithin(this.at(at, low + 1), this.at(at, low), this.at(at, i));
        s.words.set(entry, this.at(at, low));
      }
      ++kept;
    }
    if (kept === all) return;
    s.fits = false;
    s.words[at] = kept;
    this.zeroFrom(s, at, kept);
  }
  protected override readElement(r: BitReader, s: State, at: number, i: number): boolean {
    if (!super.readElement(r, s, at, i)) return false;
    return i === 0 || this.keyAt(s, at, i - 1) < this.keyAt(s, at, i) || r.refuse("key order");
  }
  // D-64.
  override writeChanges(w: BitWriter, before: State, was: number, s: State, at: number): void {
    const old = before.words[was];
    const now = s.words[at];
    let kept = 0;
    for (let i = 0, k = 0; i < old; ++i) {
      const key = this.keyAt(before, was, i);
      while (k < now && this.keyAt(s, at, k) < key) ++k;
      if (k === now || this.keyAt(s, at, k) !== key) {
        w.bits(3, 2); // touched, removed
        continue;
      }
      ++kept;
      const isTouched = !this.each.isSame(before, this.at(was, i), s, this.at(at, k));
      w.bits(isTouched ? 2 : 0, isTouched ? 2 : 1);
      if (isTouched) this.each.writeFrom(w, before, this.at(was, i), s, this.at(at, k), 1);
    }
    for (let i = 0, k = 0; k < now; ++k) {
      const key = this.keyAt(s, at, k);
      while (i < old && this.keyAt(before, was, i) < key) ++i;
      if (i < old && this.keyAt(before, was, i) === key) continue;
      w.bool(true);
      this.each.write(w, s, this.at(at, k));
      ++kept;
    }
    if (kept < this.count) w.bool(false);
  }
  override readChanges(r: BitReader, before: State, was: number, s: State, at: number): boolean {
    const old = before.words[was];
    let kept = 0;
    for (let i = 0; i < old; ++i) {
      const isTouched = r.bits(1);
      if (isTouched < 0) return false;
      const isRemoved = isTouched === 1 ? r.bits(1) : 0;
      if (isRemoved < 0) return false;
      if (isRemoved === 1) continue;
      const from = this.at(was, i);
      const place = this.at(at, kept++);
      for (let k = 0; k < this.each.words; ++k) s.words[place + k] = before.words[from + k];
      if (isTouched === 0) continue;
      if (!this.each.readFrom(r, before, from, s, place, 1)) return false;
      if (this.each.isSame(before, from, s, place)) return r.refuse("nothing changed");
    }
    for (let stayed = kept, i = 0; kept < this.count; ++kept) {
      const isAnother = r.bits(1);
      if (isAnother < 0) return false;
      if (isAnother === 0) break;
      this.each.zero(s, this.at(at, kept));
      if (!this.each.read(r, s, this.at(at, kept))) return false;
      const key = this.keyAt(s, at, kept);
      if (kept !== stayed && this.keyAt(s, at, kept - 1) >= key) return r.refuse("key order");
      while (i < old && this.keyAt(before, was, i) < key) ++i;
      if (i < old && this.keyAt(before, was, i) === key) return r.refuse("known key");
    }
    s.words[at] = kept;
    this.zeroFrom(s, at, kept);
    this.sort(s, at);
    return true;
  }
}
