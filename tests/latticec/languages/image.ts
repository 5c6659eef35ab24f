// What the cases of make_cases are made of, for TypeScript.
import * as lattice from "./lattice.js";

declare class TextDecoder {
  constructor(label: string, options: { fatal: boolean; ignoreBOM: boolean });
  decode(bytes: Uint8Array): string;
}

/** Values as they lie in the host memory of C++. */
export class Image {
  private readonly view: DataView;
  constructor(private readonly data: Uint8Array) {
    this.view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  }
  Bool(at: number): boolean { return this.data[at] !== 0; }
  I8(at: number): number { return this.view.getInt8(at); }
  U8(at: number): number { return this.data[at]; }
  I16(at: number): number { return this.view.getInt16(at, true); }
  U16(at: number): number { return this.view.getUint16(at, true); }
  I32(at: number): number { return this.view.getInt32(at, true); }
  U32(at: number): number { return this.view.getUint32(at, true); }
  I64(at: number): bigint { return this.view.getBigInt64(at, true); }
  U64(at: number): bigint { return this.view.getBigUint64(at, true); }
  F32(at: number): number { return this.view.getFloat32(at, true); }
  F64(at: number): number { return this.view.getFloat64(at, true); }
  Vec2(at: number, v: lattice.Vec2): void { v.x = this.F32(at); v.y = this.F32(at + 4); }
  Vec3(at: number, v: lattice.Vec3): void { this.Vec2(at, v); v.z = this.F32(at + 8); }
  Vec4(at: number, v: lattice.Vec4): void { this.Vec3(at, v); v.w = this.F32(at + 12); }
  Quat(at: number, v: lattice.Quat): void { this.Vec4(at, v); }
  DVec2(at: number, v: lattice.Vec2): void { v.x = this.F64(at); v.y = this.F64(at + 8); }
  DVec3(at: number, v: lattice.Vec3): void { this.DVec2(at, v); v.z = this.F64(at + 16); }
  DVec4(at: number, v: lattice.Vec4): void { this.DVec3(at, v); v.w = this.F64(at + 24); }
  FixedText(at: number, capacity: number): Uint8Array {
    let n = 0;
    while (n < capacity && this.data[at + n] !== 0) ++n;
    return this.data.slice(at, at + n);
  }
  Text(at: number, capacity: number): string {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(this.FixedText(at, capacity));
  }
  Blob(at: number): Uint8Array { return this.data.slice(at + 2, at + 2 + this.U16(at)); }
}

/** A structure of a tested type: where it lies in a state and in host memory. */
export interface Part {
  place: number;
  offset: number;
  make: () => lattice.Structure;
  load: (m: Image, at: number, o: lattice.Structure) => void;
}

export class Tested {
  readonly parts: Part[];
  constructor(readonly name: string, readonly codec: lattice.StructureCodec | lattice.ObjectCodec, ...parts: Part[]) {
    this.parts = parts;
  }
}
