// How a program uses generated TypeScript, of examples/10-schema-compiler/camp.lattice, and what it refuses.
//! [use]
import { BitReader, BitWriter, Vec2 } from "./lattice.js";
import { CamperState, Food, Store, TaskWhich } from "./camp.js";
//! [use]

import * as lattice from "./lattice.js";

declare const console: { log(text: string): void };

function expect(isSo: boolean, what: string): void {
  if (!isSo) throw new Error(what);
}

function travel(): void {
  //! [send]
  const camper = new CamperState();
  camper.place.x = 3;
  camper.name = "Ada";
  camper.task.which = TaskWhich.walk_to;
  camper.task.walk_to.x = 10;
  camper.bag.push(Object.assign(new Store(), { food: Food.fish, portions: 2 }));

  const before = CamperState.codec.newState();
  const now = CamperState.codec.newState();
  camper.pack(now);
  const writer = new BitWriter(new Uint8Array(1200));
  CamperState.codec.encodeDelta(writer, before, now);
  const bytes = writer.finish();
  //! [send]

  const copy = new CamperState();
  //! [receive]
  const reader = new BitReader(bytes);
  const received = CamperState.codec.newState();
  if (CamperState.codec.decodeDelta(reader, before, received) && reader.atEnd()) {
    copy.unpack(received);
  } else {
    console.log("refused: " + reader.refusal); // the camper stays as it was
  }
  //! [receive]
  expect(received.isSame(now) && copy.name === "Ada" && copy.bag[0].food === Food.fish, "the camper travels");
  expect(Math.abs(copy.task.walk_to.x - 10) < 0.01 && copy.place instanceof Vec2, "the camper walks");
  reader.reset(bytes.subarray(0, bytes.length - 1));
  expect(!CamperState.codec.decodeDelta(reader, before, received), "half a camper");
  expect(reader.refusal === "truncated" && received.isSame(before), "the reason, and the state before");
}

function cutWhatDoesNotFit(): void {
  const camper = new CamperState();
  const s = CamperState.codec.newState();
  expect(camper.pack(s) && s.isSame(CamperState.codec.newState()), "a new camper is the zero baseline");
  for (const [name, left] of [
    ["one\0two", "one"], ["lone\ud800", "lone"], ["\udc00", ""], ["twelve bytes and more", "twelve bytes"],
    ["eleven byte\u00e9", "eleven byte"],
  ]) {
    camper.name = name;
    expect(!camper.pack(s), "a name that does not fit");
    camper.unpack(s);
    expect(camper.name === left, "the name that is left");
  }
  for (let i = 0; i < 5; ++i) camper.bag.push(Object.assign(new Store(), { food: i % 3, portions: 1 / 0 }));
  expect(!camper.pack(s), "a bag with too much");
  camper.unpack(s);
  expect(camper.bag.length === 3 && camper.bag[0].portions === 1023, "the bag that is left");
  camper.place.x = NaN;
  camper.place.y = 1e9;
  expect(!camper.pack(s), "a place that is none");
  camper.unpack(s);
  expect(Math.abs(camper.place.x) < 0.01 && camper.place.y === 100, "the place that is left");
}

/** The fields are pairs of a value and its number of bits. Without `before` it is a whole state. */
function refused(why: lattice.Refusal, codec: lattice.StructureCodec, before: lattice.State | null, ...fields: number[]): void {
  const writer = new BitWriter(new Uint8Array(64));
  for (let i = 0; i < fields.length; i += 2) writer.bits(fields[i], fields[i + 1]);
  const reader = new BitReader(writer.finish());
  const s = codec.newState();
  const isRead = before === null ? codec.decode(reader, s) : codec.decodeDelta(reader, before, s);
  expect(!(isRead && reader.atEnd()) && reader.refusal === why, `${why}, and not ${reader.refusal}`);
  expect(isRead || s.isSame(before ?? codec.newState()), "what is left after " + why);
}

function nameEachRefusal(): void {
  const of = (member: lattice.Codec) => new lattice.StructureCodec(false, member);
  const number = lattice.Integer.fixed(8, false);
  const map = of(new lattice.MapCodec(new lattice.StructureCodec(false, number, new lattice.Bool()), 3));
  refused("truncated", of(lattice.Integer.fixed(32, false)), null, 1, 8);
  refused("truncated", of(new lattice.Text(9)), null, 9, 8, 1, 8);
  refused("long varint", of(lattice.Integer.varint(32, false)), null, 0x80, 8, 0, 8);
  refused("large number", of(lattice.Integer.varint(32, true)), null, 0xffffffff, 32, 0x7f, 8);
  refused("large number", of(lattice.Integer.ranged(8, 0, 4)), null, 5, 3);
  refused("large number", of(lattice.Long.ranged(0n, 4n)), null, 5, 3);
  refused("large number", of(lattice.Real.bounds(true, 0, 1, 4)), null, 5, 3);
  refused("large number", of(lattice.Ordinal.plain(3)), null, 3, 2);
  refused("large length", of(new lattice.Text(2)), null, 3, 8, 0x616161, 24);
  refused("large length", of(new lattice.ListCodec(new lattice.Bool(), 2)), null, 3, 2);
  refused("wrong tag", of(new lattice.UnionCodec(new lattice.Bool(), new lattice.Bool())), null, 3, 2);
  refused("not text", of(new lattice.Text(4)), null, 2, 8, 0xc080, 16);
  refused("zero byte", of(new lattice.Text(4)), null, 1, 8, 0, 8);
  refused("zero byte", of(lattice.Blob.withoutZeros(4)), null, 1, 8, 0, 8);
  refused("no rotation", of(lattice.Rotation.smallestThree(4)), null, 0, 2, 15, 4, 0, 8);
  refused("no rotation", of(lattice.Rotation.full()), null, 0, 32, 0, 32, 0, 32, 0, 32);
  refused("key order", map, null, 2, 2, 5, 8, 0, 1, 5, 8, 1, 1);
  refused("bytes left", of(new lattice.Bool()), null, 1, 1, 0, 8);
  refused("bytes left", of(new lattice.Bool()), null, 0, 1, 1, 1);
  refused("nothing changed", of(number), of(number).newState(), 1, 1, 0, 8);
  const known = map.newState();
  expect(map.decode(new BitReader(new Uint8Array([0x41, 0x40])), known), "a map of one entry, of the key 5");
  refused("known key", map, known, 1, 1, 0, 1, 1, 1, 5, 8, 1, 1, 0, 1);
}

travel();
cutWhatDoesNotFit();
nameEachRefusal();
console.log("TypeScript: the camper travels");
