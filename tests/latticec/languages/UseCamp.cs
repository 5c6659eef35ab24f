// How a program uses generated C#, of examples/10-schema-compiler/camp.lattice, and what that costs and refuses.
using System;
//! [use]
using Lattice;
using camp;
//! [use]

static class UseCamp
{
    static void Expect(bool isSo, string what)
    {
        if (!isSo) throw new Exception(what);
    }

    static void Travel()
    {
        //! [send]
        var camper = new CamperState { place = new Vec2(3, 4), name = "Ada" };
        camper.task.which = Task.Tag.walk_to;
        camper.task.walk_to = new Vec2(10, -2);
        camper.bag.Add(new Store { food = Food.fish, portions = 2 });

        State before = CamperState.Codec.NewState(), now = CamperState.Codec.NewState();
        camper.Pack(now);
        var bytes = new byte[1200];
        var writer = new BitWriter(bytes);
        CamperState.Codec.EncodeDelta(writer, before, now);  // writer.ByteCount bytes
        //! [send]

        int count = writer.ByteCount;
        var copy = new CamperState();
        //! [receive]
        var reader = new BitReader();
        reader.Reset(bytes, 0, count);
        State received = CamperState.Codec.NewState();
        if (CamperState.Codec.DecodeDelta(reader, before, received) && reader.AtEnd())
        {
            copy.Unpack(received);
        }
        else
        {
            Console.WriteLine("refused: " + reader.Refusal);  // the camper stays as it was
        }
        //! [receive]
        Expect(received.IsSame(now) && copy.name == "Ada" && copy.bag[0].food == Food.fish, "the camper travels");
        Expect(Math.Abs(copy.task.walk_to.x - 10) < 0.01, "the camper walks");
        reader.Reset(bytes, 0, count - 1);
        Expect(!CamperState.Codec.DecodeDelta(reader, before, received), "half a camper");
        Expect(reader.Refusal == Refusal.Truncated && received.IsSame(before), "the reason, and the state before");
    }

    static void CutWhatDoesNotFit()
    {
        var camper = new CamperState();
        State s = CamperState.Codec.NewState();
        Expect(camper.Pack(s) && s.IsSame(CamperState.Codec.NewState()), "a new camper is the zero baseline");
        foreach (string[] name in new[] {
            new[] { "one\0two", "one" }, new[] { "lone\ud800", "lone" }, new[] { "\udc00", "" },
            new[] { "twelve bytes and more", "twelve bytes" }, new[] { "eleven byte\u00e9", "eleven byte" },
            new[] { null, "" } })
        {
            camper.name = name[0];
            Expect(camper.Pack(s) == (name[0] == null), "a name that does not fit");
            camper.Unpack(s);
            Expect(camper.name == name[1], "the name that is left");
        }
        for (int i = 0; i < 5; ++i) camper.bag.Add(new Store { food = (Food)(i % 3) });
        Expect(!camper.Pack(s), "a bag with too much");
        camper.Unpack(s);
        Expect(camper.bag.Count == 3, "the bag that is left");
        camper.place = new Vec2(float.NaN, 1e9f);
        Expect(!camper.Pack(s), "a place that is none");
        camper.Unpack(s);
        Expect(Math.Abs(camper.place.x) < 0.01 && camper.place.y == 100, "the place that is left");
    }

    // The fields are pairs of a value and its number of bits. `before` is null for a whole state.
    static void Refused(Refusal expected, StructureCodec codec, State before, params ulong[] fields)
    {
        var bytes = new byte[64];
        var writer = new BitWriter(bytes);
        for (int i = 0; i < fields.Length; i += 2) writer.Bits(fields[i], (int)fields[i + 1]);
        var reader = new BitReader();
        reader.Reset(bytes, 0, writer.ByteCount);
        State s = codec.NewState();
        bool isRead = before == null ? codec.Decode(reader, s) : codec.DecodeDelta(reader, before, s);
        Expect(!(isRead && reader.AtEnd()) && reader.Refusal == expected, expected + ", and not " + reader.Refusal);
        Expect(isRead || s.IsSame(before ?? codec.NewState()), "what is left after " + expected);
    }
    static void Refused(Refusal expected, Codec member, params ulong[] fields)
    {
        Refused(expected, new StructureCodec(false, member), null, fields);
    }

    static void NameEachRefusal()
    {
        var number = Integer.Fixed(8, false);
        var map = new StructureCodec(false, new MapCodec(new StructureCodec(false, number, new Bool()), 3));
        Refused(Refusal.Truncated, Integer.Fixed(32, false), 1, 8);
        Refused(Refusal.Truncated, new Text(9), 9, 8, 1, 8);
        Refused(Refusal.LongVarint, Integer.Varint(32, false), 0x80, 8, 0, 8);
        Refused(Refusal.LargeNumber, Integer.Varint(32, true), 0xFFFFFFFF, 32, 0x7F, 8);
        Refused(Refusal.LargeNumber, Integer.Ranged(8, 0, 4), 5, 3);
        Refused(Refusal.LargeNumber, Real.Bounds(0, 1, 4), 5, 3);
        Refused(Refusal.LargeNumber, Ordinal.Plain(3), 3, 2);
        Refused(Refusal.LargeLength, new Text(2), 3, 8, 0x616161, 24);
        Refused(Refusal.LargeLength, new ListCodec<Bool>(new Bool(), 2), 3, 2);
        Refused(Refusal.WrongTag, new UnionCodec(new Bool(), new Bool()), 3, 2);
        Refused(Refusal.NotText, new Text(4), 2, 8, 0xC080, 16);
        Refused(Refusal.ZeroByte, new Text(4), 1, 8, 0, 8);
        Refused(Refusal.ZeroByte, Blob.WithoutZeros(4), 1, 8, 0, 8);
        Refused(Refusal.NoRotation, Rotation.SmallestThree(4), 0, 2, 15, 4, 0, 8);
        Refused(Refusal.NoRotation, Rotation.Full(), 0, 64, 0, 64);
        Refused(Refusal.KeyOrder, map, null, 2, 2, 5, 8, 0, 1, 5, 8, 1, 1);
        Refused(Refusal.BytesLeft, new Bool(), 1, 1, 0, 8);
        Refused(Refusal.BytesLeft, new Bool(), 0, 1, 1, 1);
        var one = new StructureCodec(false, number);
        Refused(Refusal.NothingChanged, one, one.NewState(), 1, 1, 0, 8);
        State known = map.NewState();
        var five = new byte[] { 0x41, 0x40 };  // one entry, of the key 5
        Expect(map.Decode(new BitReader(five), known), "a map of one entry");
        Refused(Refusal.KnownKey, map, known, 1, 1, 0, 1, 1, 1, 5, 8, 1, 1, 0, 1);
    }

    static void AllocateNothing()
    {
        var camper = new CamperState { name = "Gr\u00e1inne \U0001F3D5" };
        camper.task.which = Task.Tag.rest_until;
        camper.bag.Add(new Store());
        State before = CamperState.Codec.NewState(), now = CamperState.Codec.NewState(), read = CamperState.Codec.NewState();
        var bytes = new byte[1200];
        var writer = new BitWriter(bytes);
        var reader = new BitReader();
        int collections = 0;
        for (int i = 0; i < 300000; ++i)
        {
            if (i == 1000) collections = GC.CollectionCount(0);
            camper.task.rest_until = (uint)i;
            camper.place.x = i % 90;
            camper.Pack(now);
            writer.Reset();
            CamperState.Codec.EncodeDelta(writer, before, now);
            reader.Reset(bytes, 0, writer.ByteCount);
            CamperState.Codec.DecodeDelta(reader, before, read);
            camper.Unpack(read);
            before.CopyFrom(now);
        }
        Expect(GC.CollectionCount(0) == collections, "nothing is allocated");
    }

    static int Main()
    {
        Travel();
        CutWhatDoesNotFit();
        NameEachRefusal();
        AllocateNothing();
        Console.WriteLine("C#: the camper travels");
        return 0;
    }
}
