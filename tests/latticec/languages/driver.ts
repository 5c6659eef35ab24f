// Runs the cases of make_cases over generated TypeScript:  node driver.js CASES
import * as lattice from "./lattice.js";
import { Image, Tested } from "./image.js";
import { addAll } from "./loads.js";

declare function require(name: string): any;
declare const process: { argv: string[]; exitCode: number };
declare const console: { log(text: string): void; error(text: string): void };

const file: Uint8Array = require("fs").readFileSync(process.argv[2]);
const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
const room = new Uint8Array(1 << 20);
let position = 0;
let failures = 0;

function u32(): number {
  position += 4;
  return view.getUint32(position - 4, true);
}
function bytes(): Uint8Array {
  const n = u32();
  position += n;
  return file.slice(position - n, position);
}
function isSame(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, i) => byte === b[i]);
}

function run(type: Tested): void {
  const expect = (isSo: boolean, what: string): void => {
    if (!isSo && ++failures <= 10) console.error(`TypeScript: ${type.name}: ${what} differs`);
  };
  const wholeOf = (s: lattice.State): Uint8Array => {
    const w = new lattice.BitWriter(room);
    type.codec.encode(w, s);
    return w.finish();
  };
  const deltaOf = (a: lattice.State, b: lattice.State): Uint8Array => {
    const w = new lattice.BitWriter(room);
    type.codec.encodeDelta(w, a, b);
    return w.finish();
  };
  // A refusal has a reason, and leaves the baseline.
  const decode = (isDelta: boolean, from: Uint8Array, before: lattice.State, s: lattice.State): boolean => {
    const r = new lattice.BitReader(from);
    const isRead = isDelta ? type.codec.decodeDelta(r, before, s) : type.codec.decode(r, s);
    if (!isRead) {
      expect(r.refusal !== "none", "the reason of a refusal");
      expect(s.isSame(isDelta ? before : type.codec.newState()), "what a refusal leaves");
    }
    return isRead && r.atEnd();
  };
  const pack = (image: Uint8Array): lattice.State => {
    const s = type.codec.newState();
    for (const part of type.parts) {
      const o = part.make();
      part.load(new Image(image), part.offset, o);
      o.packAt(s, part.place);
    }
    return s;
  };

  const a = pack(bytes());
  const b = pack(bytes());
  const zero = type.codec.newState();
  const read = type.codec.newState();
  expect(b.fits === (u32() !== 0), "whether the values fit");
  expect(isSame(wholeOf(a), bytes()), "the state before, whole");
  const whole = bytes();
  const delta = bytes();
  const full = bytes();
  expect(isSame(wholeOf(b), whole), "the state after, whole");
  expect(isSame(deltaOf(a, b), delta), "the delta");
  expect(isSame(deltaOf(zero, b), full), "the delta from zero");
  expect(decode(false, whole, a, read) && read.isSame(b), "reading a whole state");
  expect(decode(true, delta, a, read) && read.isSame(b), "reading a delta");
  expect(decode(true, full, zero, read) && read.isSame(b), "reading a delta from zero");
  const again = type.codec.newState();
  for (const part of type.parts) {
    const o = part.make();
    o.unpackAt(a, part.place); // what is there does not matter
    o.unpackAt(b, part.place);
    o.packAt(again, part.place);
  }
  expect(again.isSame(b), "packing what was unpacked");
  for (let n = u32(); n > 0; --n) {
    const isDelta = u32() !== 0;
    const damaged = bytes();
    const isAccepted = u32() !== 0;
    const result = bytes();
    expect(decode(isDelta, damaged, a, read) === isAccepted, "accepting damaged bytes");
    if (isAccepted) expect(isSame(wholeOf(read), result), "reading damaged bytes");
  }
}

const all: Tested[] = [];
addAll(all);
let cases = 0;
for (; position < file.length; ++cases) run(all[u32()]);
console.log(`TypeScript: ${cases} cases, ${failures} failures`);
process.exitCode = failures !== 0 || cases === 0 ? 1 : 0;
