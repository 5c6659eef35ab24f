// replication: which object states go to which client, how they are encoded, and how a client applies them.
// Spec: §14, §16, §17 (fields only); X-01… … …, C-04, C-05, S-06, A-01, A-07.
//
// Does, on the authority:
//   ObjectTable      ids, slots, host storage of every live object
//   StateStore       quantized versions of the objects that were written, the log of what changed
//   ReplicaList      per client: the objects in its set, their acked versions and priority; removals that are
//                    not acked yet; groups of objects that change all the time (StepList)
//   SnapshotBuilder  one client, one tick: finds what is new to it, plans blocks and parts (BlockPlan), and
//                    writes them; each entry is encoded once and copied (EntryCache), and so are the blocks
//                    of groups (BlockCache)
//   plain encoder    (encoding/) how the changes of an entry look; its other half is on the client
//   LongSends        per client: the states that are longer than a part and go in pieces
//   Interest         per client: the objects that it is to see, by rule, room and distance
// Does, on a client:
//   SnapshotApplier  checks a whole part, keeps received states as baselines (ReceivedStates), applies the
//                    states that are newer than the object's, and tells a SnapshotListener
//   ReceivedPieces   the states that come in pieces, until they are complete
//   DespawnGate      holds an object's removal until the reliable RPCs before it have come; RpcCounts counts
//                    the RPCs on objects that are not here
// Does, on both:
//   Authority        who writes an object, and since when
//   RpcCodec, RpcGate, RpcInbox   the RPC body, who may send an RPC, and the RPCs that must wait
//
// Order of calls on the authority, once per tick and once per send:
//   table.spawn -> store.begin -> every recipient.enter
//   every recipient.destroyed -> store.end -> table.despawn   (recipients first: they need the id)
//   simulate; store.mark for what is written; store.record(tick)
//   builder.begin_send(tick); for each client builder.build(recipient, header, budget); send the parts
//   recipient.on_receipt for every receipt the transport resolves
//
// Refuses: sockets, connections, clocks, threads. Bytes come in and go out as spans; time is a tick or
// an argument. It never decides who owns an object and never runs game code: it calls a listener.
#pragma once
