// How a program uses generated TypeScript, of examples/10-schema-compiler/camp.lattice, and what it refuses.
//! [use]
import { BitReader, BitWriter, Vec2 } from "./lattice.js";
import { CamperState, Food, Store, TaskWhich } from "./camp.js";
//! [use]

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

travel();
cutWhatDoesNotFit();
console.log("TypeScript: the camper travels");
