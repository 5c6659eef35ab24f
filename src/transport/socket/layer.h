// Layer socket: datagrams in and out, and networks that misbehave on purpose.
//
// Does:    one interface, DatagramSocket, over real UDP, an in-process hub, a seeded simulated network in
//          virtual time, and several of them as one; paths from addresses and back; impairments (delay,
//          jitter, loss, bursts, duplication, reordering, rate limit, blackout) that work the same over
//          simulated and real sockets.
// Refuses: reading a clock (now_ns is an argument), knowing the content of a datagram, retrying, queueing
//          without a bound. Only UdpSocket, and the wait of a composite, reach an operating system, through
//          platform.
// Uses:    platform, base.
// Source:  architecture §3 (transport/socket); STYLE "Network behaviour runs in the simulator".
#pragma once
