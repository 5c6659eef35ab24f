// Runs the cases of make_cases over generated C#:  driver.exe CASES
using System;
using System.Collections.Generic;
using System.IO;
using System.Text;
using Lattice;

/// <summary>Values as they lie in the host memory of C++.</summary>
sealed class Image
{
    readonly byte[] data;
    public Image(byte[] data) { this.data = data; }
    public bool Bool(int at) { return data[at] != 0; }
    public sbyte I8(int at) { return unchecked((sbyte)data[at]); }
    public byte U8(int at) { return data[at]; }
    public short I16(int at) { return BitConverter.ToInt16(data, at); }
    public ushort U16(int at) { return BitConverter.ToUInt16(data, at); }
    public int I32(int at) { return BitConverter.ToInt32(data, at); }
    public uint U32(int at) { return BitConverter.ToUInt32(data, at); }
    public long I64(int at) { return BitConverter.ToInt64(data, at); }
    public ulong U64(int at) { return BitConverter.ToUInt64(data, at); }
    public float F32(int at) { return BitConverter.ToSingle(data, at); }
    public double F64(int at) { return BitConverter.ToDouble(data, at); }
    public Vec2 Vec2(int at) { return new Vec2(F32(at), F32(at + 4)); }
    public Vec3 Vec3(int at) { return new Vec3(F32(at), F32(at + 4), F32(at + 8)); }
    public Vec4 Vec4(int at) { return new Vec4(F32(at), F32(at + 4), F32(at + 8), F32(at + 12)); }
    public Quat Quat(int at) { return new Quat(F32(at), F32(at + 4), F32(at + 8), F32(at + 12)); }
    public DVec2 DVec2(int at) { return new DVec2(F64(at), F64(at + 8)); }
    public DVec3 DVec3(int at) { return new DVec3(F64(at), F64(at + 8), F64(at + 16)); }
    public DVec4 DVec4(int at) { return new DVec4(F64(at), F64(at + 8), F64(at + 16), F64(at + 24)); }
    public byte[] FixedText(int at, int capacity)
    {
        int n = 0;
        while (n < capacity && data[at + n] != 0) ++n;
        return Part(at, n);
    }
    public string Text(int at, int capacity) { return Encoding.UTF8.GetString(FixedText(at, capacity)); }
    public byte[] Blob(int at) { return Part(at + 2, U16(at)); }
    byte[] Part(int at, int n)
    {
        var part = new byte[n];
        Array.Copy(data, at, part, 0, n);
        return part;
    }
}

/// <summary>A structure of a tested type: where it lies in a state and in host memory.</summary>
sealed class Part
{
    public readonly int Place, Offset;
    public readonly Func<Structure> Make;
    public readonly Action<Image, int, Structure> Load;
    public Part(int place, int offset, Func<Structure> make, Action<Image, int, Structure> load)
    {
        Place = place;
        Offset = offset;
        Make = make;
        Load = load;
    }
}

sealed class Tested
{
    public readonly string Name;
    public readonly Whole Codec;
    public readonly Part[] Parts;
    public Tested(string name, Whole codec, params Part[] parts)
    {
        Name = name;
        Codec = codec;
        Parts = parts;
    }
}

sealed class Runner
{
    public int Failures;
    readonly BinaryReader feed;
    readonly byte[] room = new byte[1 << 20];
    Tested type;

    public Runner(BinaryReader feed) { this.feed = feed; }

    byte[] Bytes() { return feed.ReadBytes((int)feed.ReadUInt32()); }
    void Expect(bool isSo, string what)
    {
        if (!isSo && ++Failures <= 10) Console.Error.WriteLine("C#: " + type.Name + ": " + what + " differs");
    }
    static bool IsSame(byte[] a, byte[] b)
    {
        bool isSame = a.Length == b.Length;
        for (int i = 0; isSame && i < a.Length; ++i) isSame = a[i] == b[i];
        return isSame;
    }
    byte[] Written(BitWriter w)
    {
        var made = new byte[w.ByteCount];
        Array.Copy(room, made, made.Length);
        return made;
    }
    byte[] WholeOf(State s)
    {
        var w = new BitWriter(room);
        type.Codec.Encode(w, s);
        return Written(w);
    }
    byte[] DeltaOf(State a, State b)
    {
        var w = new BitWriter(room);
        type.Codec.EncodeDelta(w, a, b);
        return Written(w);
    }
    // A refusal has a reason, and leaves the baseline.
    bool Decode(bool isDelta, byte[] bytes, State before, State s)
    {
        var r = new BitReader(bytes);
        bool isRead = isDelta ? type.Codec.DecodeDelta(r, before, s) : type.Codec.Decode(r, s);
        if (!isRead)
        {
            Expect(r.Refusal != Refusal.None, "the reason of a refusal");
            Expect(s.IsSame(isDelta ? before : type.Codec.NewState()), "what a refusal leaves");
        }
        return isRead && r.AtEnd();
    }
    State Pack(byte[] image, out bool fits)
    {
        State s = type.Codec.NewState();
        foreach (Part part in type.Parts)
        {
            Structure o = part.Make();
            part.Load(new Image(image), part.Offset, o);
            o.Pack(s, part.Place);
        }
        fits = s.Fits;
        return s;
    }

    public void Run(Tested tested)
    {
        type = tested;
        bool fits;
        State a = Pack(Bytes(), out fits), b = Pack(Bytes(), out fits), zero = type.Codec.NewState(), read = type.Codec.NewState();
        Expect(fits == (feed.ReadUInt32() != 0), "whether the values fit");
        Expect(IsSame(WholeOf(a), Bytes()), "the state before, whole");
        byte[] whole = Bytes(), delta = Bytes(), full = Bytes();
        Expect(IsSame(WholeOf(b), whole), "the state after, whole");
        Expect(IsSame(DeltaOf(a, b), delta), "the delta");
        Expect(IsSame(DeltaOf(zero, b), full), "the delta from zero");
        Expect(Decode(false, whole, a, read) && read.IsSame(b), "reading a whole state");
        Expect(Decode(true, delta, a, read) && read.IsSame(b), "reading a delta");
        Expect(Decode(true, full, zero, read) && read.IsSame(b), "reading a delta from zero");
        State again = type.Codec.NewState();
        foreach (Part part in type.Parts)
        {
            Structure o = part.Make();
            o.Unpack(a, part.Place);  // what is there does not matter
            o.Unpack(b, part.Place);
            o.Pack(again, part.Place);
        }
        Expect(again.IsSame(b), "packing what was unpacked");
        for (uint n = feed.ReadUInt32(); n > 0; --n)
        {
            bool isDelta = feed.ReadUInt32() != 0;
            byte[] bytes = Bytes();
            bool isAccepted = feed.ReadUInt32() != 0;
            byte[] result = Bytes();
            Expect(Decode(isDelta, bytes, a, read) == isAccepted, "accepting damaged bytes");
            if (isAccepted) Expect(IsSame(WholeOf(read), result), "reading damaged bytes");
        }
    }
}

static class Program
{
    static int Main(string[] arguments)
    {
        var all = new System.Collections.Generic.List<Tested>();
        Loads.AddAll(all);
        var feed = new BinaryReader(new MemoryStream(File.ReadAllBytes(arguments[0])));
        var runner = new Runner(feed);
        int cases = 0;
        for (; feed.BaseStream.Position < feed.BaseStream.Length; ++cases) runner.Run(all[(int)feed.ReadUInt32()]);
        Console.WriteLine("C#: " + cases + " cases, " + runner.Failures + " failures");
        return runner.Failures != 0 || cases == 0 ? 1 : 0;
    }
}
