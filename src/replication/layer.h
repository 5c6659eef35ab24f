// replication: which object states go to which client, how they are encoded, and how a client applies them.
// Spec: §14, §16, §17 (fields only); X-01… … …, C-04, C-05, S-06, A-01, A-07.
//
// Does, on the authority:
//   ObjectTable      ids, dense slots, host storage of every live object
//   VersionHistory   quantized versions of each object, made only when something changed, 64 ticks deep
//   RecipientState   per client: the acked version of every object, its priority, removals not yet acked
//   SnapshotBuilder  one client, one tick: builds the parts to send; encodes each entry once and copies the
//   bits
//   Interest         per client: the objects that it is to see, by rule, room and distance
// Does, on a client:
//   SnapshotApplier  checks a whole part, keeps every received state as a possible baseline for 128 ticks,
//                    applies the states that are newer than the object's, and tells a SnapshotListener
//   DespawnGate      holds an object's removal until the reliable RPCs before it have come; EarlyRpcs counts
//                    the RPCs that came before the object
// Does, on both:
//   RpcCodec, RpcGate, RpcInbox   the RPC body, who may send an RPC, and the RPCs that must wait
//
// Order of calls on the authority, once per tick and once per send:
//   table.spawn -> history.begin -> every recipient.object_added
//   every recipient.object_removed -> history.end -> table.despawn   (recipients first: they need the id)
//   simulate; table.mark_written; history.record(tick)
//   builder.begin_send(tick); for each client builder.build(recipient, header, budget); send the parts
//   recipient.on_receipt for every receipt the transport resolves
//
// Refuses: sockets, connections, clocks, threads. Bytes come in and go out as spans; time is a tick or
// an argument. It never decides who owns an object and never runs game code: it calls a listener.
#pragma once
