// Lattice's wire format in C#: bits, numbers, and codecs of whole structures. What 'latticec csharp' makes stands on this
// file, which is the same for every schema. C# 7.2, without unsafe code and reflection. Packing, encoding and decoding
// allocate nothing; Unpack() allocates a text, bytes or an element only where it differs from what is there.
// The format is docs/spec/data.md; the rules D-1 to D-65 are there.
using System;
using System.Collections.Generic;
using System.Runtime.InteropServices;

namespace Lattice
{
    /// <summary>Why bytes were refused.</summary>
    public enum Refusal
    {
        None,
        /// <summary>The bytes end inside a field.</summary>
        Truncated,
        /// <summary>A varint has more bytes than it needs.</summary>
        LongVarint,
        /// <summary>A number is above what its type or its range holds.</summary>
        LargeNumber,
        /// <summary>A text, a list or a map is longer than its capacity.</summary>
        LargeLength,
        /// <summary>A union has no such alternative.</summary>
        WrongTag,
        /// <summary>A text is not UTF-8.</summary>
        NotText,
        /// <summary>A text holds a zero byte.</summary>
        ZeroByte,
        /// <summary>The numbers of a rotation are none.</summary>
        NoRotation,
        /// <summary>The keys of a map do not ascend, or one comes twice.</summary>
        KeyOrder,
        /// <summary>A new entry of a map has the key of an entry that was there.</summary>
        KnownKey,
        /// <summary>Something is marked as changed and equals its baseline.</summary>
        NothingChanged,
        /// <summary>Something follows behind the end.</summary>
        BytesLeft,
    }

    public struct Vec2 { public float x, y; public Vec2(float x, float y) { this.x = x; this.y = y; } }
    public struct Vec3 { public float x, y, z; public Vec3(float x, float y, float z) { this.x = x; this.y = y; this.z = z; } }
    public struct Vec4 { public float x, y, z, w; public Vec4(float x, float y, float z, float w) { this.x = x; this.y = y; this.z = z; this.w = w; } }
    public struct DVec2 { public double x, y; public DVec2(double x, double y) { this.x = x; this.y = y; } }
    public struct DVec3 { public double x, y, z; public DVec3(double x, double y, double z) { this.x = x; this.y = y; this.z = z; } }
    public struct DVec4 { public double x, y, z, w; public DVec4(double x, double y, double z, double w) { this.x = x; this.y = y; this.z = z; this.w = w; } }
    /// <summary>A rotation. All zeros count as none.</summary>
    public struct Quat { public float x, y, z, w; public Quat(float x, float y, float z, float w) { this.x = x; this.y = y; this.z = z; this.w = w; } }

    /// <summary>The elements of arrays and lists.</summary>
    public static class Elements
    {
        public static T[] Make<T>(int count, Func<T> make)
        {
            var all = new T[count];
            for (int i = 0; i < count; ++i) all[i] = make();
            return all;
        }
        /// <summary>Makes a list so long. `make` gives the new elements.</summary>
        public static void Resize<T>(List<T> list, int count, Func<T> make)
        {
            if (list.Count > count) list.RemoveRange(count, list.Count - count);
            while (list.Count < count) list.Add(make());
        }
    }

    // ---- Bits --------------------------------------------------------------------------------------------------

    /// <summary>Writes bits into bytes, bit 7 of each byte first. Once something did not fit, Ok is false and nothing more
    /// is written.</summary>
    public sealed class BitWriter
    {
        readonly byte[] bytes;
        int at;

        public BitWriter(byte[] bytes) { this.bytes = bytes; Ok = true; }
        public bool Ok { get; private set; }
        public int BitCount { get { return at; } }
        /// <summary>The bytes written; the last one is filled with zeros.</summary>
        public int ByteCount { get { return (at + 7) / 8; } }
        public void Reset() { at = 0; Ok = true; }

        /// <summary>The low `count` bits, the highest first; 0 to 64.</summary>
        public void Bits(ulong value, int count)
        {
            if (!Ok || count > bytes.Length * 8L - at) { Ok = false; return; }
            while (count > 0)
            {
                int free = 8 - (at & 7), take = count < free ? count : free;
                int part = (int)(value >> (count - take) & (1ul << take) - 1);
                int before = free == 8 ? 0 : bytes[at >> 3];
                bytes[at >> 3] = (byte)(before | part << (free - take));
                at += take;
                count -= take;
            }
        }
        public void Bool(bool value) { Bits(value ? 1ul : 0ul, 1); }
        /// <summary>The bytes of a number, the lowest first.</summary>
        public void Scalar(ulong value, int bits)
        {
            for (int i = 0; i < bits; i += 8) Bits(value >> i & 0xFF, 8);
        }
        public void Varint(ulong value)
        {
            for (int groups = 1; groups < 9 && value >= 0x80; ++groups, value >>= 7) Bits(value & 0x7F | 0x80, 8);
            Bits(value, 8);
        }
    }

    /// <summary>Reads what a BitWriter wrote. After a refusal every further read fails too.</summary>
    public sealed class BitReader
    {
        byte[] bytes;
        long at, end;

        public BitReader() { }
        public BitReader(byte[] bytes) { Reset(bytes, 0, bytes.Length); }
        /// <summary>Why the bytes were refused; None while all is well.</summary>
        public Refusal Refusal { get; private set; }
        public long BitsLeft { get { return end - at; } }
        public void Reset(byte[] from, int first, int count)
        {
            if (first < 0 || count < 0 || count > from.Length - first) throw new ArgumentOutOfRangeException("count");
            bytes = from;
            at = first * 8L;
            end = at + count * 8L;
            Refusal = Refusal.None;
        }
        /// <summary>False. The first reason stays.</summary>
        public bool Refuse(Refusal why)
        {
            if (Refusal == Refusal.None) Refusal = why;
            at = end;
            return false;
        }
        public bool Bits(int count, out ulong value)
        {
            value = 0;
            if (Refusal != Refusal.None) return false;
            if (count > end - at) return Refuse(Refusal.Truncated);
            while (count > 0)
            {
                int free = 8 - (int)(at & 7), take = count < free ? count : free;
                value = value << take | (ulong)(bytes[at >> 3] >> (free - take) & ((1 << take) - 1));
                at += take;
                count -= take;
            }
            return true;
        }
        public bool Bool(out bool value)
        {
            ulong bit;
            bool ok = Bits(1, out bit);
            value = bit != 0;
            return ok;
        }
        /// <summary>A field of so many bits that is at most `most`.</summary>
        public bool Code(int count, ulong most, Refusal why, out ulong value)
        {
            return Bits(count, out value) && (value <= most || Refuse(why));
        }
        public bool Scalar(int bits, out ulong value)
        {
            value = 0;
            for (int i = 0; i < bits; i += 8)
            {
                ulong part;
                if (!Bits(8, out part)) return false;
                value |= part << i;
            }
            return true;
        }
        public bool Varint(out ulong value)
        {
            value = 0;
            ulong part;
            for (int group = 0; group < 8; ++group)
            {
                if (!Bits(8, out part)) return false;
                value |= (part & 0x7F) << (7 * group);
                if ((part & 0x80) == 0) return group == 0 || part != 0 || Refuse(Refusal.LongVarint);
            }
            if (!Bits(8, out part)) return false;
            value |= part << 56;
            return part != 0 || Refuse(Refusal.LongVarint);
        }
        /// <summary>True at the end: fewer than 8 bits are left, and all are zero (D-1).</summary>
        public bool AtEnd()
        {
            ulong padding = 0;
            if (Refusal != Refusal.None) return false;
            return end - at < 8 && Bits((int)(end - at), out padding) && padding == 0 || Refuse(Refusal.BytesLeft);
        }
    }

    // ---- Numbers -----------------------------------------------------------------------------------------------

    /// <summary>The bits of floats, and the codes of numbers with bounds.</summary>
    public static class Numbers
    {
        [StructLayout(LayoutKind.Explicit)]
        struct FloatBits
        {
            [FieldOffset(0)] public float Value;
            [FieldOffset(0)] public uint Bits;
        }
        public static uint BitsOf(float value) { return new FloatBits { Value = value }.Bits; }
        public static float FloatOf(uint bits) { return new FloatBits { Bits = bits }.Value; }
        public static bool IsFinite(double v) { return v - v == 0; }
        public static int BitsFor(ulong most)
        {
            int bits = 0;
            for (; most != 0; most >>= 1) ++bits;
            return bits;
        }
        public static ulong ZigZag(long v) { return Unsigned(v << 1 ^ v >> 63); }
        public static long UnZigZag(ulong v) { return (long)(v >> 1) ^ -(long)(v & 1); }
        // The same bits, also where a project checks arithmetic.
        internal static ulong Unsigned(long v) { return unchecked((ulong)v); }
        internal static long Signed(ulong v) { return unchecked((long)v); }
        internal static uint Low(ulong v) { return (uint)(v & 0xFFFFFFFF); }
        internal static ulong Sum(ulong a, ulong b) { return unchecked(a + b); }
        internal static ulong Difference(ulong a, ulong b) { return unchecked(a - b); }

        /// <summary>The 16 bits of a number (D-65).</summary>
        public static uint HalfOf(uint bits)
        {
            uint sign = bits >> 16 & 0x8000, magnitude = bits & 0x7FFFFFFF;
            if (magnitude > 0x7F800000)
            {
                uint content = magnitude >> 13 & 0x3FF;
                return sign | 0x7C00 | (content != 0 ? content : 0x200);
            }
            if (magnitude == 0x7F800000) return sign | 0x7C00;
            if (magnitude >= 0x477FF000) return sign | 0x7BFF;
            bool isSmall = magnitude < 0x38800000;  // below 2^-14: no leading 1 is implied
            int shift = isSmall ? 126 - (int)(magnitude >> 23) : 13;
            if (shift > 24) return sign;
            uint whole = isSmall ? magnitude & 0x7FFFFF | 0x800000 : magnitude - 0x38000000;
            uint kept = whole >> shift, rest = whole & (1u << shift) - 1, half = 1u << (shift - 1);
            return sign | kept + (rest > half || rest == half && (kept & 1) != 0 ? 1u : 0u);
        }
        public static uint FloatBitsOfHalf(uint half)
        {
            uint sign = (half & 0x8000) << 16, exponent = half >> 10 & 0x1F, content = half & 0x3FF;
            if (exponent == 0x1F) return sign | 0x7F800000 | content << 13;
            if (exponent != 0) return sign | exponent + 112 << 23 | content << 13;
            if (content == 0) return sign;
            uint scale = 113;
            for (; (content & 0x400) == 0; content <<= 1) --scale;
            return sign | scale << 23 | (content & 0x3FF) << 13;
        }
    }

    /// <summary>The packed contents of a structure or an object. Two states are equal exactly when their words are.</summary>
    public sealed class State
    {
        public readonly uint[] Words;
        /// <summary>False when a value did not fit its member, and another one was taken.</summary>
        public bool Fits = true;
        public State(int words) { Words = new uint[words]; }
        public bool IsSame(State other)
        {
            if (other.Words.Length != Words.Length) return false;
            for (int i = 0; i < Words.Length; ++i) if (Words[i] != other.Words[i]) return false;
            return true;
        }
        public void CopyFrom(State other) { Array.Copy(other.Words, Words, Words.Length); }
        internal ulong Long(int at) { return Words[at] | (ulong)Words[at + 1] << 32; }
        internal void SetLong(int at, ulong value) { Words[at] = Numbers.Low(value); Words[at + 1] = Numbers.Low(value >> 32); }
    }

    /// <summary>What generated classes have in common.</summary>
    public abstract class Structure
    {
        /// <summary>Puts the values into a state from word `at` on. A value that does not fit is clamped, and to.Fits
        /// becomes false.</summary>
        public abstract void Pack(State to, int at);
        /// <summary>Takes the values from a state.</summary>
        public abstract void Unpack(State from, int at);
        /// <summary>The same for a state of this structure alone. True when all values fit.</summary>
        public bool Pack(State to)
        {
            to.Fits = true;
            Pack(to, 0);
            return to.Fits;
        }
        public void Unpack(State from) { Unpack(from, 0); }
    }

    // ---- Codecs ------------------------------------------------------------------------------------------------

    /// <summary>How a member, an element or a structure lies in a state and travels. `at` is its first word.</summary>
    public abstract class Codec
    {
        public readonly int Words;
        protected Codec(int words) { Words = words; }

        /// <summary>The contents of the zero baseline (D-6).</summary>
        internal abstract void Zero(State s, int at);
        internal abstract void Write(BitWriter w, State s, int at);
        internal abstract bool Read(BitReader r, State s, int at);
        /// <summary>What follows behind the mark that says that it changed.</summary>
        internal virtual void WriteChanges(BitWriter w, State before, int was, State s, int at) { Write(w, s, at); }
        /// <summary>`s` holds the contents of `before`.</summary>
        internal virtual bool ReadChanges(BitReader r, State before, int was, State s, int at) { return Read(r, s, at); }
        /// <summary>The number of a key, so that unsigned numbers have the order of keys.</summary>
        internal virtual ulong Key(State s, int at) { throw new InvalidOperationException("it is no key"); }

        internal bool IsSame(State a, int first, State b, int second)
        {
            for (int i = 0; i < Words; ++i) if (a.Words[first + i] != b.Words[second + i]) return false;
            return true;
        }
        /// <summary>The changes of what is marked as changed: it must differ (D-10).</summary>
        internal bool ReadMarked(BitReader r, State before, int was, State s, int at)
        {
            return ReadChanges(r, before, was, s, at) && (!IsSame(before, was, s, at) || r.Refuse(Refusal.NothingChanged));
        }
    }

    public sealed class Bool : Codec
    {
        public Bool() : base(1) { }
        public void Pack(State to, int at, bool value) { to.Words[at] = value ? 1u : 0u; }
        public bool Unpack(State from, int at) { return from.Words[at] != 0; }
        internal override void Zero(State s, int at) { s.Words[at] = 0; }
        internal override void Write(BitWriter w, State s, int at) { w.Bits(s.Words[at], 1); }
        internal override bool Read(BitReader r, State s, int at)
        {
            ulong bit;
            bool ok = r.Bits(1, out bit);
            s.Words[at] = (uint)bit;
            return ok;
        }
        // The mark says it all (D-9).
        internal override void WriteChanges(BitWriter w, State before, int was, State s, int at) { }
        internal override bool ReadChanges(BitReader r, State before, int was, State s, int at)
        {
            s.Words[at] = before.Words[was] ^ 1;
            return true;
        }
    }

    /// <summary>An enum travels as the position in its list.</summary>
    public sealed class Ordinal : Codec
    {
        readonly long[] values;  // null: 0, 1, 2, ...
        readonly int count, bits, unused;

        Ordinal(int count, int bytes, long[] values) : base(1)
        {
            this.values = values;
            this.count = count;
            bits = Numbers.BitsFor((ulong)count - 1);
            unused = 64 - 8 * bytes;
        }
        public static Ordinal Plain(int count) { return new Ordinal(count, 8, null); }
        /// <summary>The values are numbers of so many bytes.</summary>
        public static Ordinal Of(int bytes, params long[] values) { return new Ordinal(values.Length, bytes, values); }
        public void Pack(State to, int at, long value)
        {
            long found = values == null ? value : Array.IndexOf(values, value);
            if (found < 0 || found >= count) { to.Fits = false; found = 0; }
            to.Words[at] = (uint)found;
        }
        public long Unpack(State from, int at) { return values == null ? from.Words[at] : values[from.Words[at]]; }
        internal override void Zero(State s, int at)
        {
            s.Words[at] = values == null ? 0u : (uint)Math.Max(0, Array.IndexOf(values, 0L));
        }
        internal override void Write(BitWriter w, State s, int at) { w.Bits(s.Words[at], bits); }
        internal override bool Read(BitReader r, State s, int at)
        {
            ulong code;
            bool ok = r.Code(bits, (ulong)count - 1, Refusal.LargeNumber, out code);
            s.Words[at] = ok ? (uint)code : 0;
            return ok;
        }
        // The schema holds the bits of a value as a signed number.
        internal override ulong Key(State s, int at) { return Numbers.Unsigned(Unpack(s, at) << unused >> unused) ^ 1ul << 63; }
    }

    public sealed class Integer : Codec
    {
        enum Form { Code, Fixed, Varint, Difference }
        readonly Form form;
        readonly int width, bits;
        readonly bool isSigned;
        readonly long min;
        readonly ulong most;

        Integer(Form form, int width, bool isSigned, int bits, ulong most, long min) : base(width > 32 ? 2 : 1)
        {
            this.form = form;
            this.width = width;
            this.isSigned = isSigned;
            this.bits = bits;
            this.most = most;
            this.min = min;
        }
        static ulong Most(int bits) { return bits >= 64 ? ulong.MaxValue : (1ul << bits) - 1; }
        /// <summary>`width` is that of the type.</summary>
        public static Integer Fixed(int width, bool isSigned) { return new Integer(Form.Fixed, width, isSigned, width, Most(width), 0); }
        public static Integer Bits(int width, int bits) { return new Integer(Form.Code, width, false, bits, Most(bits), 0); }
        public static Integer Ranged(int width, long min, long max)
        {
            ulong span = Numbers.Difference(Numbers.Unsigned(max), Numbers.Unsigned(min));
            return new Integer(Form.Code, width, false, Numbers.BitsFor(span), span, min);
        }
        public static Integer Varint(int width, bool isSigned) { return new Integer(Form.Varint, width, isSigned, width, Most(width), 0); }
        /// <summary>Travels as the difference to the baseline.</summary>
        public static Integer Difference(int width) { return new Integer(Form.Difference, width, width == 64, width, Most(width), 0); }

        public void Pack(State to, int at, ulong value)
        {
            if (form != Form.Code || value <= long.MaxValue) Pack(to, at, Numbers.Signed(value));
            else Set(to, at, Clamped(to, value - Numbers.Unsigned(min), false));  // the least value of an unsigned type is not below 0
        }
        public void Pack(State to, int at, long value)
        {
            ulong raw = Numbers.Unsigned(value);
            if (form == Form.Code) Set(to, at, Clamped(to, Numbers.Difference(raw, Numbers.Unsigned(min)), value < min));
            else Set(to, at, form == Form.Varint && isSigned ? Numbers.ZigZag(value) : raw & most);
        }
        ulong Clamped(State to, ulong content, bool isLow)
        {
            if (!isLow && content <= most) return content;
            to.Fits = false;
            return isLow ? 0 : most;
        }
        public long Unpack(State from, int at)
        {
            ulong content = Get(from, at);
            if (form == Form.Code) return Numbers.Signed(Numbers.Sum(content, Numbers.Unsigned(min)));
            if (!isSigned) return Numbers.Signed(content);
            return form == Form.Varint ? Numbers.UnZigZag(content) : Numbers.Signed(content << 64 - width) >> 64 - width;
        }
        public ulong UnpackUnsigned(State from, int at) { return Numbers.Unsigned(Unpack(from, at)); }

        ulong Get(State s, int at) { return Words == 1 ? s.Words[at] : s.Long(at); }
        void Set(State s, int at, ulong content)
        {
            if (Words == 1) s.Words[at] = Numbers.Low(content); else s.SetLong(at, content);
        }
        internal override void Zero(State s, int at)
        {
            Set(s, at, min >= 0 ? 0 : Math.Min(Numbers.Difference(0, Numbers.Unsigned(min)), most));  // that of the value nearest to 0
        }
        internal override void Write(BitWriter w, State s, int at) { Write(w, 0, Get(s, at)); }
        internal override bool Read(BitReader r, State s, int at) { return Read(r, 0, s, at); }
        internal override void WriteChanges(BitWriter w, State before, int was, State s, int at) { Write(w, Get(before, was), Get(s, at)); }
        internal override bool ReadChanges(BitReader r, State before, int was, State s, int at) { return Read(r, Get(before, was), s, at); }
        void Write(BitWriter w, ulong before, ulong content)
        {
            if (form == Form.Code) w.Bits(content, bits);
            else if (form == Form.Fixed) w.Scalar(content, bits);
            else if (form == Form.Varint) w.Varint(content);
            else w.Varint(Numbers.ZigZag(Numbers.Signed(Numbers.Difference(content, before) << 64 - width) >> 64 - width));
        }
        bool Read(BitReader r, ulong before, State s, int at)
        {
            ulong content;
            bool ok = form == Form.Code ? r.Code(bits, most, Refusal.LargeNumber, out content)
                : form == Form.Fixed ? r.Scalar(bits, out content)
                : r.Varint(out content) && (content <= most || r.Refuse(Refusal.LargeNumber));
            if (ok && form == Form.Difference) content = Numbers.Sum(before, Numbers.Unsigned(Numbers.UnZigZag(content))) & most;
            Set(s, at, ok ? content : 0);
            return ok;
        }
        internal override ulong Key(State s, int at)
        {
            if (form == Form.Code || !isSigned) return Get(s, at);
            return Numbers.Unsigned(Unpack(s, at)) ^ 1ul << 63;
        }
    }

    /// <summary>A float or a double.</summary>
    public sealed class Real : Codec
    {
        enum Form { Bounds, Angle, Half, Float, Double }
        readonly Form form;
        readonly double min, max, scale, step;
        readonly int bits;
        readonly ulong count, most;  // steps; the last code

        Real(Form form, double min, double max, ulong steps, int bits) : base(bits > 32 ? 2 : 1)
        {
            this.form = form;
            this.min = min;
            this.max = max;
            count = steps;
            scale = steps / (max - min);
            step = (max - min) / steps;
            this.bits = bits;
            most = form == Form.Bounds ? steps : form == Form.Angle ? steps - 1 : 0;
        }
        public static Real Bounds(double min, double max, ulong steps) { return new Real(Form.Bounds, min, max, steps, Numbers.BitsFor(steps)); }
        public static Real Angle(double min, double max, ulong steps) { return new Real(Form.Angle, min, max, steps, Numbers.BitsFor(steps - 1)); }
        public static Real Half() { return new Real(Form.Half, 0, 0, 0, 16); }
        public static Real Float() { return new Real(Form.Float, 0, 0, 0, 32); }
        public static Real Double() { return new Real(Form.Double, 0, 0, 0, 64); }

        public void Pack(State to, int at, double v)
        {
            switch (form)
            {
                case Form.Bounds:
                    if (!(v >= min && v <= max)) to.Fits = false;
                    Set(to, at, BoundsCode(v));
                    break;
                case Form.Angle:
                    if (!Numbers.IsFinite(v)) to.Fits = false;
                    Set(to, at, AngleCode(v));
                    break;
                case Form.Half:
                    if (Numbers.IsFinite(v) && Math.Abs(v) >= 65520) to.Fits = false;
                    to.Words[at] = Numbers.HalfOf(Numbers.BitsOf((float)v));
                    break;
                case Form.Float:
                    to.Words[at] = Numbers.BitsOf((float)v);
                    break;
                default:
                    to.SetLong(at, Numbers.Unsigned(BitConverter.DoubleToInt64Bits(v)));
                    break;
            }
        }
        public double Unpack(State from, int at)
        {
            switch (form)
            {
                case Form.Half: return Numbers.FloatOf(Numbers.FloatBitsOfHalf(from.Words[at]));
                case Form.Float: return Numbers.FloatOf(from.Words[at]);
                case Form.Double: return BitConverter.Int64BitsToDouble(Numbers.Signed(from.Long(at)));
                default:
                    ulong code = Get(from, at);
                    return code == count ? max : min + (double)(long)code * step;
            }
        }
        // D-4.
        ulong BoundsCode(double v)
        {
            if (double.IsNaN(v)) v = min <= 0 && max >= 0 ? 0 : min;
            if (v <= min) return 0;
            return v >= max ? most : (ulong)(long)((v - min) * scale + 0.5);
        }
        // D-39.
        ulong AngleCode(double v)
        {
            if (!Numbers.IsFinite(v)) v = 0;
            double distance = (v - min) * scale;
            if (!(Math.Abs(distance) < 4503599627370496.0)) return 0;  // 2^52: no fraction is left
            long rest = (long)Math.Floor(distance + 0.5) % (long)count;
            return (ulong)(rest < 0 ? rest + (long)count : rest);
        }
        ulong Get(State s, int at) { return Words == 1 ? s.Words[at] : s.Long(at); }
        void Set(State s, int at, ulong content)
        {
            if (Words == 1) s.Words[at] = Numbers.Low(content); else s.SetLong(at, content);
        }
        internal override void Zero(State s, int at)
        {
            Set(s, at, form == Form.Bounds ? BoundsCode(0) : form == Form.Angle ? AngleCode(0) : 0);
        }
        internal override void Write(BitWriter w, State s, int at)
        {
            if (form >= Form.Float) w.Scalar(Get(s, at), bits); else w.Bits(Get(s, at), bits);
        }
        internal override bool Read(BitReader r, State s, int at)
        {
            ulong content;
            bool ok = form >= Form.Float ? r.Scalar(bits, out content)
                : r.Code(bits, form == Form.Half ? 0xFFFF : most, Refusal.LargeNumber, out content);
            Set(s, at, ok ? content : 0);
            return ok;
        }
    }

    /// <summary>Two to four numbers that change as one.</summary>
    public sealed class Vector : Codec
    {
        readonly Real[] parts;

        public Vector(params Real[] parts) : base(Sum(parts)) { this.parts = parts; }
        static int Sum(Real[] parts)
        {
            int words = 0;
            foreach (Real part in parts) words += part.Words;
            return words;
        }
        int Place(int part)
        {
            int words = 0;
            for (int i = 0; i < part; ++i) words += parts[i].Words;
            return words;
        }
        void Set(State to, int at, int part, double v) { parts[part].Pack(to, at + Place(part), v); }
        double Get(State from, int at, int part) { return parts[part].Unpack(from, at + Place(part)); }

        public void Pack(State to, int at, Vec2 v) { Set(to, at, 0, v.x); Set(to, at, 1, v.y); }
        public void Pack(State to, int at, Vec3 v) { Set(to, at, 0, v.x); Set(to, at, 1, v.y); Set(to, at, 2, v.z); }
        public void Pack(State to, int at, Vec4 v) { Set(to, at, 0, v.x); Set(to, at, 1, v.y); Set(to, at, 2, v.z); Set(to, at, 3, v.w); }
        public void Pack(State to, int at, DVec2 v) { Set(to, at, 0, v.x); Set(to, at, 1, v.y); }
        public void Pack(State to, int at, DVec3 v) { Set(to, at, 0, v.x); Set(to, at, 1, v.y); Set(to, at, 2, v.z); }
        public void Pack(State to, int at, DVec4 v) { Set(to, at, 0, v.x); Set(to, at, 1, v.y); Set(to, at, 2, v.z); Set(to, at, 3, v.w); }
        public Vec2 UnpackVec2(State from, int at) { return new Vec2((float)Get(from, at, 0), (float)Get(from, at, 1)); }
        public Vec3 UnpackVec3(State from, int at) { return new Vec3((float)Get(from, at, 0), (float)Get(from, at, 1), (float)Get(from, at, 2)); }
        public Vec4 UnpackVec4(State from, int at) { return new Vec4((float)Get(from, at, 0), (float)Get(from, at, 1), (float)Get(from, at, 2), (float)Get(from, at, 3)); }
        public DVec2 UnpackDVec2(State from, int at) { return new DVec2(Get(from, at, 0), Get(from, at, 1)); }
        public DVec3 UnpackDVec3(State from, int at) { return new DVec3(Get(from, at, 0), Get(from, at, 1), Get(from, at, 2)); }
        public DVec4 UnpackDVec4(State from, int at) { return new DVec4(Get(from, at, 0), Get(from, at, 1), Get(from, at, 2), Get(from, at, 3)); }

        internal override void Zero(State s, int at)
        {
            for (int i = 0; i < parts.Length; ++i) parts[i].Zero(s, at + Place(i));
        }
        internal override void Write(BitWriter w, State s, int at)
        {
            for (int i = 0; i < parts.Length; ++i) parts[i].Write(w, s, at + Place(i));
        }
        internal override bool Read(BitReader r, State s, int at)
        {
            for (int i = 0; i < parts.Length; ++i) if (!parts[i].Read(r, s, at + Place(i))) return false;
            return true;
        }
    }

    /// <summary>A rotation: the index of the largest component and three codes, or four floats.</summary>
    public sealed class Rotation : Codec
    {
        const double Sqrt2 = 1.4142135623730951;
        readonly int bits;  // of a code; 0: four floats
        readonly long top;
        readonly double scale, halfStep;

        struct Four
        {
            double x, y, z, w;
            internal double this[int i]
            {
                get { return i == 0 ? x : i == 1 ? y : i == 2 ? z : w; }
                set { if (i == 0) x = value; else if (i == 1) y = value; else if (i == 2) z = value; else w = value; }
            }
            /// <summary>The index of the largest magnitude, the first of equal ones.</summary>
            internal int Largest()
            {
                int largest = 0;
                for (int i = 1; i < 4; ++i) if (Math.Abs(this[i]) > Math.Abs(this[largest])) largest = i;
                return largest;
            }
        }

        Rotation(int bits) : base(4)
        {
            this.bits = bits;
            top = (1L << bits) - 2;
            scale = Sqrt2 * top / 2;
            halfStep = 1 / (Sqrt2 * top);
        }
        public static Rotation SmallestThree(int bits) { return new Rotation(bits); }
        public static Rotation Full() { return new Rotation(0); }

        public void Pack(State to, int at, Quat v)
        {
            double x = v.x, y = v.y, z = v.z, w = v.w, square = x * x + y * y + z * z + w * w;
            if (!Numbers.IsFinite(square)) to.Fits = false;
            bool isNone = !(square > 0) || !Numbers.IsFinite(square);
            if (isNone) Zero(to, at);
            else if (bits != 0) PackThree(to, at, v, Math.Sqrt(square));
            else
            {
                to.Words[at] = Numbers.BitsOf(v.x);
                to.Words[at + 1] = Numbers.BitsOf(v.y);
                to.Words[at + 2] = Numbers.BitsOf(v.z);
                to.Words[at + 3] = Numbers.BitsOf(v.w);
            }
        }
        public Quat Unpack(State from, int at)
        {
            uint[] s = from.Words;
            if (bits == 0)
            {
                return new Quat(Numbers.FloatOf(s[at]), Numbers.FloatOf(s[at + 1]), Numbers.FloatOf(s[at + 2]), Numbers.FloatOf(s[at + 3]));
            }
            Four rebuilt = Rebuild(from, at);
            return new Quat((float)rebuilt[0], (float)rebuilt[1], (float)rebuilt[2], (float)rebuilt[3]);
        }
        // D-5.
        void PackThree(State to, int at, Quat v, double norm)
        {
            var q = new Four();
            q[0] = v.x; q[1] = v.y; q[2] = v.z; q[3] = v.w;
            int dropped = q.Largest();
            double steps = scale / norm;
            if (q[dropped] < 0) steps = -steps;
            long zero = top / 2, most = 0;
            to.Words[at] = (uint)dropped;
            for (int k = 0; k < 3; ++k)
            {
                uint code = (uint)(int)(q[Kept(k, dropped)] * steps + (zero + 0.5));
                to.Words[at + 1 + k] = code;
                most = Math.Max(most, Distance(code) * Distance(code));
            }
            // Far from a tie the dropped component is rebuilt as a larger float than any other.
            if ((Rest(to, at) - most) * (1L << 21) >= most) return;
            for (int pass = 0; pass < 4; ++pass)
            {
                int largest = Rebuild(to, at).Largest();
                if (largest == dropped) return;
                int word = at + 1 + (largest < dropped ? largest : largest - 1);
                to.Words[word] = to.Words[word] > zero ? to.Words[word] - 1 : to.Words[word] + 1;
            }
        }
        Four Rebuild(State s, int at)
        {
            var rebuilt = new Four();
            int dropped = (int)s.Words[at];
            for (int k = 0; k < 3; ++k) rebuilt[Kept(k, dropped)] = (float)(Distance(s.Words[at + 1 + k]) * halfStep);
            rebuilt[dropped] = (float)(Math.Sqrt(Math.Max(Rest(s, at), 0)) * halfStep);
            return rebuilt;
        }
        // How far a code lies from zero, in half steps.
        long Distance(uint code) { return 2 * (long)code - top; }
        // The square of the dropped component, in half steps.
        long Rest(State s, int at)
        {
            long a = Distance(s.Words[at + 1]), b = Distance(s.Words[at + 2]), c = Distance(s.Words[at + 3]);
            return 2 * top * top - a * a - b * b - c * c;
        }
        static int Kept(int k, int dropped) { return k >= dropped ? k + 1 : k; }
        internal override void Zero(State s, int at)
        {
            uint[] words = s.Words;
            words[at] = bits != 0 ? 3u : 0;
            words[at + 1] = words[at + 2] = bits != 0 ? (1u << bits - 1) - 1 : 0;
            words[at + 3] = bits != 0 ? (1u << bits - 1) - 1 : Numbers.BitsOf(1);
        }
        internal override void Write(BitWriter w, State s, int at)
        {
            for (int i = 0; i < 4; ++i)
            {
                if (bits == 0) w.Scalar(s.Words[at + i], 32); else w.Bits(s.Words[at + i], i == 0 ? 2 : bits);
            }
        }
        internal override bool Read(BitReader r, State s, int at)
        {
            double length = 0;
            bool isThere = true;
            for (int i = 0; i < 4; ++i)
            {
                ulong part;
                if (!(bits == 0 ? r.Scalar(32, out part) : r.Bits(i == 0 ? 2 : bits, out part))) return false;
                s.Words[at + i] = (uint)part;
                if (bits == 0) length += (double)Numbers.FloatOf((uint)part) * Numbers.FloatOf((uint)part);
                else if (i != 0 && part > (ulong)top) isThere = false;
            }
            isThere = isThere && (bits != 0 ? Rest(s, at) >= 0 : length > 0 && Numbers.IsFinite(length));
            return isThere || r.Refuse(Refusal.NoRotation);
        }
    }

    /// <summary>Bytes in a state: a word for their number, then four in each word, the first one lowest.</summary>
    public abstract class Bytes : Codec
    {
        readonly int capacity;
        readonly bool hasZeros;

        protected Bytes(int capacity, bool hasZeros) : base(1 + (capacity + 3) / 4)
        {
            this.capacity = capacity;
            this.hasZeros = hasZeros;
        }
        internal static byte ByteAt(State s, int at, int i) { return (byte)(s.Words[at + 1 + (i >> 2)] >> 8 * (i & 3) & 0xFF); }
        /// <summary>Appends a byte; false when there is no room.</summary>
        protected bool Append(State s, int at, int value)
        {
            int i = (int)s.Words[at];
            if (i == capacity) return false;
            s.Words[at + 1 + (i >> 2)] |= (uint)value << 8 * (i & 3);
            s.Words[at] = (uint)i + 1;
            return true;
        }
        protected int Room(State s, int at) { return capacity - (int)s.Words[at]; }
        internal override void Zero(State s, int at) { Array.Clear(s.Words, at, Words); }
        internal override void Write(BitWriter w, State s, int at)
        {
            int count = (int)s.Words[at];
            w.Varint((ulong)count);
            for (int i = 0; i < count; ++i) w.Bits(ByteAt(s, at, i), 8);
        }
        internal override bool Read(BitReader r, State s, int at)
        {
            ulong count;
            Zero(s, at);
            if (!r.Varint(out count)) return false;
            if (count > (ulong)capacity) return r.Refuse(Refusal.LargeLength);
            if (count > (ulong)r.BitsLeft / 8) return r.Refuse(Refusal.Truncated);
            for (ulong i = 0; i < count; ++i)
            {
                ulong part;
                if (!r.Bits(8, out part)) return false;
                if (part == 0 && !hasZeros) return r.Refuse(Refusal.ZeroByte);
                Append(s, at, (int)part);
            }
            return true;
        }
    }

    /// <summary>A member of type bytes or fixed_string.</summary>
    public sealed class Blob : Bytes
    {
        readonly bool endsAtZero;

        Blob(int capacity, bool endsAtZero) : base(capacity, !endsAtZero) { this.endsAtZero = endsAtZero; }
        public static Blob Of(int capacity) { return new Blob(capacity, false); }
        /// <summary>A fixed_string, whose bytes are not zero: it ends at the first zero.</summary>
        public static Blob WithoutZeros(int capacity) { return new Blob(capacity, true); }
        public void Pack(State to, int at, byte[] value)
        {
            Zero(to, at);
            if (value == null) return;
            for (int i = 0; i < value.Length && !(endsAtZero && value[i] == 0); ++i)
            {
                if (!Append(to, at, value[i])) { to.Fits = false; return; }
            }
        }
        /// <summary>`now` if it has the same bytes already.</summary>
        public byte[] Unpack(State from, int at, byte[] now)
        {
            int count = (int)from.Words[at];
            bool isSame = now != null && now.Length == count;
            for (int i = 0; isSame && i < count; ++i) isSame = now[i] == ByteAt(from, at, i);
            if (isSame) return now;
            var made = new byte[count];
            for (int i = 0; i < count; ++i) made[i] = ByteAt(from, at, i);
            return made;
        }
    }

    /// <summary>A member of type string: UTF-8.</summary>
    public sealed class Text : Bytes
    {
        public Text(int capacity) : base(capacity, false) { }
        /// <summary>A text ends before a character that does not fit, a lone surrogate, or a zero.</summary>
        public void Pack(State to, int at, string value)
        {
            Zero(to, at);
            for (int i = 0; value != null && i < value.Length; ++i)
            {
                int c = value[i];
                if (char.IsHighSurrogate(value[i]) && i + 1 < value.Length && char.IsLowSurrogate(value[i + 1]))
                {
                    c = char.ConvertToUtf32(value[i], value[++i]);
                }
                int bytes = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
                if (c == 0 || c >= 0xD800 && c < 0xE000 || Room(to, at) < bytes) { to.Fits = false; return; }
                if (bytes == 1) { Append(to, at, c); continue; }
                Append(to, at, (bytes == 2 ? 0xC0 : bytes == 3 ? 0xE0 : 0xF0) | c >> 6 * (bytes - 1));
                for (int k = bytes - 2; k >= 0; --k) Append(to, at, 0x80 | c >> 6 * k & 0x3F);
            }
        }
        /// <summary>`now` if it is the same text already.</summary>
        public string Unpack(State from, int at, string now)
        {
            int chars = 0;
            bool isSame = now != null;
            for (int i = 0; i < from.Words[at]; ++chars)
            {
                int c = Next(from, at, ref i);
                if (c >= 0x10000)
                {
                    isSame = isSame && chars < now.Length && now[chars] == High(c);
                    ++chars;
                }
                isSame = isSame && chars < now.Length && now[chars] == (c >= 0x10000 ? Low(c) : (char)c);
            }
            if (isSame && now.Length == chars) return now;
            var made = new char[chars];
            chars = 0;
            for (int i = 0; i < from.Words[at];)
            {
                int c = Next(from, at, ref i);
                if (c >= 0x10000) made[chars++] = High(c);
                made[chars++] = c >= 0x10000 ? Low(c) : (char)c;
            }
            return new string(made);
        }
        static char High(int c) { return (char)(0xD800 + (c - 0x10000 >> 10)); }
        static char Low(int c) { return (char)(0xDC00 + (c - 0x10000 & 0x3FF)); }
        static int Next(State s, int at, ref int i)
        {
            int lead = ByteAt(s, at, i++);
            int more = lead < 0x80 ? 0 : lead < 0xE0 ? 1 : lead < 0xF0 ? 2 : 3;
            int c = more == 0 ? lead : lead & 0x3F >> more;
            for (; more > 0; --more) c = c << 6 | ByteAt(s, at, i++) & 0x3F;
            return c;
        }
        internal override bool Read(BitReader r, State s, int at)
        {
            return base.Read(r, s, at) && (IsUtf8(s, at) || r.Refuse(Refusal.NotText));
        }
        // RFC 3629: no overlong form, no surrogate, nothing past U+10FFFF.
        static bool IsUtf8(State s, int at)
        {
            int count = (int)s.Words[at];
            for (int i = 0; i < count;)
            {
                int lead = ByteAt(s, at, i++);
                if (lead < 0x80) continue;
                if (lead < 0xC2 || lead > 0xF4) return false;
                int more = lead < 0xE0 ? 1 : lead < 0xF0 ? 2 : 3;
                if (count - i < more) return false;
                int low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80, high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
                for (; more > 0; --more, low = 0x80, high = 0xBF)
                {
                    int next = ByteAt(s, at, i++);
                    if (next < low || next > high) return false;
                }
            }
            return true;
        }
    }

    /// <summary>The changed mask of up to 256 members or elements.</summary>
    struct Mask
    {
        ulong a, b, c, d;
        internal bool Read(BitReader r, int first, int end)
        {
            for (int i = first; i < end; ++i)
            {
                ulong bit;
                if (!r.Bits(1, out bit)) return false;
                bit <<= i & 63;
                if (i < 64) a |= bit; else if (i < 128) b |= bit; else if (i < 192) c |= bit; else d |= bit;
            }
            return true;
        }
        internal bool Has(int i) { return ((i < 64 ? a : i < 128 ? b : i < 192 ? c : d) >> (i & 63) & 1) != 0; }
    }

    // ---- Structures --------------------------------------------------------------------------------------------

    /// <summary>Members one behind the other, in a state and on the wire.</summary>
    public abstract class Members : Codec
    {
        protected readonly Codec[] members;
        protected readonly int[] places;

        protected Members(Codec[] members, int first) : base(Sum(members, first))
        {
            this.members = members;
            places = new int[members.Length];
            for (int i = 0; i < members.Length; first += members[i++].Words) places[i] = first;
        }
        static int Sum(Codec[] members, int words)
        {
            foreach (Codec member in members) words += member.Words;
            return words;
        }
        internal override void Zero(State s, int at)
        {
            for (int i = 0; i < members.Length; ++i) members[i].Zero(s, at + places[i]);
        }
        internal override void Write(BitWriter w, State s, int at) { Write(w, s, at, 0); }
        internal override bool Read(BitReader r, State s, int at) { return Read(r, s, at, 0); }
        internal void Write(BitWriter w, State s, int at, int first)
        {
            for (int i = first; i < members.Length; ++i) members[i].Write(w, s, at + places[i]);
        }
        internal bool Read(BitReader r, State s, int at, int first)
        {
            for (int i = first; i < members.Length; ++i) if (!members[i].Read(r, s, at + places[i])) return false;
            return true;
        }
        // A changed mask and what it marks (D-8), of the members from `first` on.
        internal void WriteMasked(BitWriter w, State before, int was, State s, int at, int first)
        {
            for (int i = first; i < members.Length; ++i)
            {
                w.Bool(!members[i].IsSame(before, was + places[i], s, at + places[i]));
            }
            for (int i = first; i < members.Length; ++i)
            {
                if (members[i].IsSame(before, was + places[i], s, at + places[i])) continue;
                members[i].WriteChanges(w, before, was + places[i], s, at + places[i]);
            }
        }
        internal bool ReadMasked(BitReader r, State before, int was, State s, int at, int first)
        {
            var mask = new Mask();
            if (!mask.Read(r, first, members.Length)) return false;
            for (int i = first; i < members.Length; ++i)
            {
                if (mask.Has(i) && !members[i].ReadMarked(r, before, was + places[i], s, at + places[i])) return false;
            }
            return true;
        }
    }

    /// <summary>What can be encoded by itself.</summary>
    public abstract class Whole : Members
    {
        protected Whole(Codec[] members) : base(members, 0) { }

        /// <summary>A state that holds the zero baseline.</summary>
        public State NewState()
        {
            var made = new State(Words);
            Zero(made, 0);
            return made;
        }
        /// <summary>Writes all of a state.</summary>
        public void Encode(BitWriter w, State s) { Write(w, s, 0); }
        /// <summary>Reads all of a state. On failure it is false, r.Refusal says why, and `s` is the zero baseline.</summary>
        public bool Decode(BitReader r, State s)
        {
            if (Read(r, s, 0)) return true;
            Zero(s, 0);
            return false;
        }
        /// <summary>Writes how a state differs from another one.</summary>
        public abstract void EncodeDelta(BitWriter w, State before, State s);
        /// <summary>Reads what EncodeDelta() wrote against the same state. On failure it is false, r.Refusal says why, and
        /// `s` is a copy of `before`, which must be another state.</summary>
        public bool DecodeDelta(BitReader r, State before, State s)
        {
            if (ReferenceEquals(before, s)) throw new ArgumentException("the baseline is the result too", "before");
            s.CopyFrom(before);
            if (ReadDelta(r, before, s)) return true;
            s.CopyFrom(before);
            return false;
        }
        internal abstract bool ReadDelta(BitReader r, State before, State s);
    }

    public sealed class StructureCodec : Whole
    {
        readonly bool isDelta;

        /// <summary>`isDelta`: within another structure, each member that changed travels by itself.</summary>
        public StructureCodec(bool isDelta, params Codec[] members) : base(members) { this.isDelta = isDelta; }
        internal override void WriteChanges(BitWriter w, State before, int was, State s, int at) { WriteFrom(w, before, was, s, at, 0); }
        internal override bool ReadChanges(BitReader r, State before, int was, State s, int at) { return ReadFrom(r, before, was, s, at, 0); }
        // The changes of an entry that keeps its key (D-64) leave the first member out.
        internal void WriteFrom(BitWriter w, State before, int was, State s, int at, int first)
        {
            if (isDelta) WriteMasked(w, before, was, s, at, first); else Write(w, s, at, first);
        }
        internal bool ReadFrom(BitReader r, State before, int was, State s, int at, int first)
        {
            return isDelta ? ReadMasked(r, before, was, s, at, first) : Read(r, s, at, first);
        }
        internal override ulong Key(State s, int at) { return members[0].Key(s, at); }
        public override void EncodeDelta(BitWriter w, State before, State s) { WriteMasked(w, before, 0, s, 0, 0); }
        internal override bool ReadDelta(BitReader r, State before, State s) { return ReadMasked(r, before, 0, s, 0, 0); }
    }

    /// <summary>An object: one structure or several, which its delta marks first.</summary>
    public sealed class ObjectCodec : Whole
    {
        readonly StructureCodec[] states;

        public ObjectCodec(params StructureCodec[] states) : base(states) { this.states = states; }
        /// <summary>The first word of a structure, for its Pack() and Unpack().</summary>
        public int Place(int state) { return places[state]; }
        public override void EncodeDelta(BitWriter w, State before, State s)
        {
            for (int i = 0; i < states.Length; ++i) w.Bool(!states[i].IsSame(before, places[i], s, places[i]));
            for (int i = 0; i < states.Length; ++i)
            {
                if (states[i].IsSame(before, places[i], s, places[i])) continue;
                states[i].WriteMasked(w, before, places[i], s, places[i], 0);
            }
        }
        internal override bool ReadDelta(BitReader r, State before, State s)
        {
            ulong present;
            if (!r.Bits(states.Length, out present)) return false;
            for (int i = 0; i < states.Length; ++i)
            {
                if ((present >> states.Length - 1 - i & 1) == 0) continue;
                if (!states[i].ReadMasked(r, before, places[i], s, places[i], 0)) return false;
                if (states[i].IsSame(before, places[i], s, places[i])) return r.Refuse(Refusal.NothingChanged);
            }
            return true;
        }
    }

    /// <summary>A word for the tag, then the words of all alternatives. Those that are not active are zero.</summary>
    public sealed class UnionCodec : Members
    {
        readonly int bits;

        public UnionCodec(params Codec[] alternatives) : base(alternatives, 1) { bits = Numbers.BitsFor((ulong)alternatives.Length); }
        /// <summary>Sets the tag and makes all alternatives zero.</summary>
        public void Begin(State to, int at, int tag)
        {
            if (tag < 0 || tag > members.Length) { to.Fits = false; tag = 0; }
            Zero(to, at);
            to.Words[at] = (uint)tag;
        }
        public int Tag(State from, int at) { return (int)from.Words[at]; }
        internal override void Zero(State s, int at)
        {
            s.Words[at] = 0;
            base.Zero(s, at);
        }
        internal override void Write(BitWriter w, State s, int at)
        {
            int tag = (int)s.Words[at];
            w.Bits((ulong)tag, bits);
            if (tag != 0) members[tag - 1].Write(w, s, at + places[tag - 1]);
        }
        internal override bool Read(BitReader r, State s, int at)
        {
            ulong tag;
            Zero(s, at);
            if (!r.Code(bits, (ulong)members.Length, Refusal.WrongTag, out tag)) return false;
            s.Words[at] = (uint)tag;
            return tag == 0 || members[tag - 1].Read(r, s, at + places[tag - 1]);
        }
        // D-63.
        internal override void WriteChanges(BitWriter w, State before, int was, State s, int at)
        {
            int tag = (int)s.Words[at];
            bool isOther = before.Words[was] != tag;
            w.Bool(isOther);
            if (isOther) Write(w, s, at);
            else if (tag != 0) members[tag - 1].WriteChanges(w, before, was + places[tag - 1], s, at + places[tag - 1]);
        }
        internal override bool ReadChanges(BitReader r, State before, int was, State s, int at)
        {
            bool isOther;
            int tag = (int)before.Words[was];
            if (!r.Bool(out isOther)) return false;
            if (isOther) return Read(r, s, at) && (s.Words[at] != tag || r.Refuse(Refusal.NothingChanged));
            if (tag == 0) return r.Refuse(Refusal.NothingChanged);
            return members[tag - 1].ReadChanges(r, before, was + places[tag - 1], s, at + places[tag - 1]);
        }
    }

    /// <summary>Elements in a row.</summary>
    public abstract class Row<T> : Codec where T : Codec
    {
        /// <summary>The codec of an element.</summary>
        public readonly T Each;
        protected readonly int count, head;

        protected Row(T each, int count, int head) : base(head + count * each.Words)
        {
            Each = each;
            this.count = count;
            this.head = head;
        }
        /// <summary>The first word of an element.</summary>
        public int At(int at, int i) { return at + head + i * Each.Words; }
        protected void ZeroFrom(State s, int at, int first)
        {
            for (int i = first; i < count; ++i) Each.Zero(s, At(at, i));
        }
    }

    public sealed class ArrayCodec<T> : Row<T> where T : Codec
    {
        public ArrayCodec(T each, int count) : base(each, count, 0) { }
        internal override void Zero(State s, int at) { ZeroFrom(s, at, 0); }
        internal override void Write(BitWriter w, State s, int at)
        {
            for (int i = 0; i < count; ++i) Each.Write(w, s, At(at, i));
        }
        internal override bool Read(BitReader r, State s, int at)
        {
            for (int i = 0; i < count; ++i) if (!Each.Read(r, s, At(at, i))) return false;
            return true;
        }
        internal override void WriteChanges(BitWriter w, State before, int was, State s, int at)
        {
            for (int i = 0; i < count; ++i) w.Bool(!Each.IsSame(before, At(was, i), s, At(at, i)));
            for (int i = 0; i < count; ++i)
            {
                if (!Each.IsSame(before, At(was, i), s, At(at, i))) Each.WriteChanges(w, before, At(was, i), s, At(at, i));
            }
        }
        internal override bool ReadChanges(BitReader r, State before, int was, State s, int at)
        {
            var mask = new Mask();
            if (!mask.Read(r, 0, count)) return false;
            for (int i = 0; i < count; ++i)
            {
                if (mask.Has(i) && !Each.ReadMarked(r, before, At(was, i), s, At(at, i))) return false;
            }
            return true;
        }
    }

    /// <summary>A word for the length, then the words of all elements that there is room for.</summary>
    public class ListCodec<T> : Row<T> where T : Codec
    {
        protected readonly int bits;

        public ListCodec(T each, int capacity) : base(each, capacity, 1) { bits = Numbers.BitsFor((ulong)capacity); }
        /// <summary>Sets the length, as far as there is room, and returns it. Elements behind it become zero.</summary>
        public int Begin(State to, int at, int length)
        {
            if (length > count) { to.Fits = false; length = count; }
            to.Words[at] = (uint)length;
            ZeroFrom(to, at, length);
            return length;
        }
        public int Count(State from, int at) { return (int)from.Words[at]; }
        internal override void Zero(State s, int at)
        {
            s.Words[at] = 0;
            ZeroFrom(s, at, 0);
        }
        internal override void Write(BitWriter w, State s, int at)
        {
            w.Bits(s.Words[at], bits);
            for (int i = 0; i < s.Words[at]; ++i) Each.Write(w, s, At(at, i));
        }
        internal override bool Read(BitReader r, State s, int at)
        {
            ulong length;
            Zero(s, at);
            if (!r.Code(bits, (ulong)count, Refusal.LargeLength, out length)) return false;
            s.Words[at] = (uint)length;
            for (int i = 0; i < (int)length; ++i) if (!ReadElement(r, s, at, i)) return false;
            return true;
        }
        internal virtual bool ReadElement(BitReader r, State s, int at, int i) { return Each.Read(r, s, At(at, i)); }
        // D-63.
        internal override void WriteChanges(BitWriter w, State before, int was, State s, int at)
        {
            uint length = s.Words[at];
            bool isResized = before.Words[was] != length;
            w.Bool(isResized);
            if (isResized) w.Bits(length, bits);
            for (int i = 0; i < length; ++i)
            {
                bool isChanged = !Each.IsSame(before, At(was, i), s, At(at, i));
                w.Bool(isChanged);
                if (isChanged) Each.WriteChanges(w, before, At(was, i), s, At(at, i));
            }
        }
        internal override bool ReadChanges(BitReader r, State before, int was, State s, int at)
        {
            bool isSet;
            ulong length = before.Words[was];
            if (!r.Bool(out isSet)) return false;
            if (isSet)
            {
                if (!r.Code(bits, (ulong)count, Refusal.LargeLength, out length)) return false;
                if (length == before.Words[was]) return r.Refuse(Refusal.NothingChanged);
                s.Words[at] = (uint)length;
                if (length < before.Words[was]) ZeroFrom(s, at, (int)length);
            }
            for (int i = 0; i < (int)length; ++i)
            {
                if (!r.Bool(out isSet)) return false;
                if (isSet && !Each.ReadMarked(r, before, At(was, i), s, At(at, i))) return false;
            }
            return true;
        }
    }

    /// <summary>A list of entries in the order of their keys.</summary>
    public sealed class MapCodec : ListCodec<StructureCodec>
    {
        public MapCodec(StructureCodec entry, int capacity) : base(entry, capacity) { }

        ulong KeyAt(State s, int at, int i) { return Each.Key(s, At(at, i)); }
        /// <summary>Puts entries in order. Of two with one key the first stays.</summary>
        public void Sort(State s, int at)
        {
            int kept = 0, all = (int)s.Words[at];
            for (int i = 0; i < all; ++i)
            {
                ulong key = KeyAt(s, at, i);
                int low = 0, high = kept;
                if (kept != 0 && KeyAt(s, at, kept - 1) < key) low = kept;  // the usual case
                while (low < high)
                {
                    int middle = (low + high) / 2;
                    if (KeyAt(s, at, middle) < key) low = middle + 1; else high = middle;
                }
                if (low < kept && KeyAt(s, at, low) == key) continue;
                // The entry goes in front of those from `low` on.
                Reverse(s.Words, At(at, low), At(at, i));
                Reverse(s.Words, At(at, i), At(at, i + 1));
                Reverse(s.Words, At(at, low), At(at, i + 1));
                ++kept;
            }
            if (kept == all) return;
            s.Fits = false;
            s.Words[at] = (uint)kept;
            ZeroFrom(s, at, kept);
        }
        static void Reverse(uint[] words, int first, int end)
        {
            for (; first < --end; ++first)
            {
                uint word = words[first];
                words[first] = words[end];
                words[end] = word;
            }
        }
        internal override bool ReadElement(BitReader r, State s, int at, int i)
        {
            return base.ReadElement(r, s, at, i) && (i == 0 || KeyAt(s, at, i - 1) < KeyAt(s, at, i) || r.Refuse(Refusal.KeyOrder));
        }
        // D-64.
        internal override void WriteChanges(BitWriter w, State before, int was, State s, int at)
        {
            int old = (int)before.Words[was], now = (int)s.Words[at], kept = 0;
            for (int i = 0, k = 0; i < old; ++i)
            {
                ulong key = KeyAt(before, was, i);
                while (k < now && KeyAt(s, at, k) < key) ++k;
                if (k == now || KeyAt(s, at, k) != key) { w.Bits(3, 2); continue; }  // touched, removed
                ++kept;
                bool isTouched = !Each.IsSame(before, At(was, i), s, At(at, k));
                w.Bits(isTouched ? 2ul : 0, isTouched ? 2 : 1);
                if (isTouched) Each.WriteFrom(w, before, At(was, i), s, At(at, k), 1);
            }
            for (int i = 0, k = 0; k < now; ++k)
            {
                ulong key = KeyAt(s, at, k);
                while (i < old && KeyAt(before, was, i) < key) ++i;
                if (i < old && KeyAt(before, was, i) == key) continue;
                w.Bool(true);
                Each.Write(w, s, At(at, k));
                ++kept;
            }
            if (kept < count) w.Bool(false);
        }
        internal override bool ReadChanges(BitReader r, State before, int was, State s, int at)
        {
            int old = (int)before.Words[was], kept = 0;
            bool isSet;
            for (int i = 0; i < old; ++i)
            {
                if (!r.Bool(out isSet)) return false;
                bool isTouched = isSet;
                if (isTouched && !r.Bool(out isSet)) return false;
                if (isTouched && isSet) continue;  // removed
                int place = At(at, kept++);
                Array.Copy(before.Words, At(was, i), s.Words, place, Each.Words);
                if (!isTouched) continue;
                if (!Each.ReadFrom(r, before, At(was, i), s, place, 1)) return false;
                if (Each.IsSame(before, At(was, i), s, place)) return r.Refuse(Refusal.NothingChanged);
            }
            for (int stayed = kept, i = 0; kept < count; ++kept)
            {
                if (!r.Bool(out isSet)) return false;
                if (!isSet) break;
                Each.Zero(s, At(at, kept));
                if (!Each.Read(r, s, At(at, kept))) return false;
                ulong key = KeyAt(s, at, kept);
                if (kept != stayed && KeyAt(s, at, kept - 1) >= key) return r.Refuse(Refusal.KeyOrder);
                while (i < old && KeyAt(before, was, i) < key) ++i;
                if (i < old && KeyAt(before, was, i) == key) return r.Refuse(Refusal.KnownKey);
            }
            s.Words[at] = (uint)kept;
            ZeroFrom(s, at, kept);
            Sort(s, at);
            return true;
        }
    }
}
