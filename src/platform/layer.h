// Layer platform: everything that the library needs from an operating system, behind plain functions.
//
// Does:    byte order, addresses, monotonic time, entropy for keys, batched non-blocking UDP, waiting for
// descriptors,
//          process memory,
//          large pages, small private files of this user.
// Refuses: threads, any other file, policy, logging; any protocol knowledge. Headers here include no OS
//          header: OS names occur only in posix/*.cpp (and win32/*.cpp when that back end exists).
// Uses:    no other layer.
// Source:  architecture §3; B-02 (byte order), P-rules for datagram sizes live above, not here.
#pragma once
