/* Model of key_rotation.h for Spin: tests/models runs it, and the three variants that must fail.
 *
 * Two sides, C (client) and S (server), go through ROTATIONS epochs. A control message arrives once and in
 * order, in a packet sealed under whatever its sender seals under when it gets through: that is what a
 * reliable channel with retransmissions amounts to. Data packets are kept back and overtaken at will, two
 * under way each way; LOSSES of them are lost, and a side sends one more than that in each epoch, which is how
 * a run comes to an end. Time is left out: an overlap ends at any moment after it began, so every length of it
 * is covered, also none.
 *
 * A key is named by the two ephemeral keys that made it, 16 * client's + server's number.
 *
 * Checked:
 *   same_key    a packet never meets another key of its epoch
 *   receivable  no packet is sealed under an epoch its receiver has not made yet
 *   two_live    a third epoch is never live
 *   accepted    no message of an honest peer is refused
 *   finishes    nothing can stop the two before both seal under the last epoch
 *
 * Variants: BOTH_START   either side may begin a rotation
 *           SEND_EARLY   the server seals under the new epoch as soon as it has answered
 *           BEGIN_EARLY  the client begins the next rotation while its old epoch is live
 */
#ifndef ROTATIONS
#define ROTATIONS 3
#endif
#define LOSSES 2
#define C 0
#define S 1
#define INIT 1
#define RESPONSE 2

/* Each side's keys: the newest epoch and the one before it. */
byte newest[2], sends[2];
byte newest_key[2], old_key[2];
bool old_live[2], heard[2], in_flight[2];
byte made[2];           /* ephemeral keys made so far */
byte own[2];            /* the one of the rotation in flight */

/* Control messages on their way from each side: type, epoch, key. */
chan control[2] = [2] of { byte, byte, byte };

/* Data packets on their way from each side. */
typedef Packet { bool used; byte epoch; byte key };
Packet wire[4];         /* side * 2 + slot */
byte may_send[2];       /* in this epoch */
byte may_lose = LOSSES;

#define PEER(who) (1 - (who))
#define SEND_KEY(who) (sends[who] == newest[who] -> newest_key[who] : old_key[who])

/* `who` gets a packet sealed under `epoch` with `key`; opened says whether it opens. */
inline receive(who) {
  assert(epoch <= newest[who]);                                             /* receivable */
  opened = false;
  if
  :: epoch == newest[who] ->
     assert(key == newest_key[who]);                                        /* same_key */
     opened = true;
     if
     :: !heard[who] -> heard[who] = true; seal_under_newest(who)
     :: else
     fi
  :: else ->
     if
     :: epoch + 1 == newest[who] && old_live[who] ->
        assert(key == old_key[who]);                                        /* same_key */
        opened = true
     :: else
     fi
  fi
}

inline install(who, k) {
  assert(!old_live[who]);                                                   /* two_live */
  old_key[who] = newest_key[who];
  old_live[who] = true;
  newest[who] = newest[who] + 1;
  newest_key[who] = k;
  heard[who] = false
}

inline seal_under_newest(who) {
  sends[who] = newest[who];
  may_send[who] = LOSSES + 1
}

inline begin(who) {
  made[who] = made[who] + 1;
  own[who] = made[who];
  in_flight[who] = true;
  control[who]!INIT, newest[who] + 1, own[who]
}

#define KEY(who, mine, theirs) ((who) == C -> 16 * (mine) + (theirs) : 16 * (theirs) + (mine))

/* RekeyInit{epoch, key} reached `who`. */
inline answer(who) {
#ifndef BOTH_START
  assert(epoch == newest[who] + 1 && heard[who]);                           /* accepted */
#endif
  old_live[who] = false;
  made[who] = made[who] + 1;
  install(who, KEY(who, made[who], key));
#ifdef SEND_EARLY
  seal_under_newest(who);
#endif
  control[who]!RESPONSE, newest[who], made[who]
}

/* RekeyResponse{epoch, key} reached `who`. */
inline finish(who) {
#ifdef BOTH_START
  if
  :: newest[who] == epoch -> newest_key[who] = KEY(who, own[who], key)  /* after an answer of its own */
  :: else -> old_live[who] = false; install(who, KEY(who, own[who], key))
  fi;
#else
  assert(epoch == newest[who] + 1 && in_flight[who]);                       /* accepted */
  install(who, KEY(who, own[who], key));
#endif
  seal_under_newest(who);
  in_flight[who] = false
}

#ifdef BEGIN_EARLY
#define MAY_BEGIN(who) (newest[who] < ROTATIONS && !in_flight[who])
#else
#define MAY_BEGIN(who) \
  (newest[who] < ROTATIONS && !in_flight[who] && heard[who] && !old_live[who])
#endif
#ifdef BOTH_START
#define STARTS(who) true
#else
#define STARTS(who) ((who) == C)
#endif

/* A packet the peer sends now opens: its epoch is the newest here, or the one before it and live. */
#define CAN_OPEN(who) (sends[PEER(who)] >= newest[who] || (sends[PEER(who)] + 1 == newest[who] && old_live[who]))

#define DONE                                                                                   \
  (newest[C] == ROTATIONS && newest[S] == ROTATIONS && sends[C] == ROTATIONS && sends[S] == ROTATIONS)

inline send_data(who) {
  wire[slot].epoch = sends[who];
  wire[slot].key = SEND_KEY(who);
  wire[slot].used = true;
  may_send[who] = may_send[who] - 1;
  slot = 0
}

inline take_data(who) {
  epoch = wire[slot].epoch;
  key = wire[slot].key;
  wire[slot].used = false;
  wire[slot].epoch = 0;
  wire[slot].key = 0;
  slot = 0;
  if
  :: receive(who)
  :: may_lose > 0 -> may_lose = may_lose - 1
  fi;
  opened = false;
  epoch = 0;
  key = 0
}

/* The next control message of the peer gets through, if the packet it is in opens. */
inline take_control(who) {
  epoch = sends[PEER(who)];
  key = SEND_KEY(PEER(who));
  receive(who);
  if
  :: opened ->
     control[PEER(who)]?type, epoch, key;
     if
     :: type == INIT -> answer(who)
     :: else -> finish(who)
     fi
  :: else
  fi;
  type = 0;
  epoch = 0;
  key = 0;
  opened = false
}

proctype party(byte me) {
  bool opened;
  byte slot, type, epoch, key;
end:
  do
  :: atomic { STARTS(me) && MAY_BEGIN(me) -> begin(me) }
  :: atomic { nempty(control[PEER(me)]) && CAN_OPEN(me) -> take_control(me) }
  /* A packet leaves. */
  :: atomic { may_send[me] > 0 && !wire[me * 2].used -> slot = me * 2; send_data(me) }
  :: atomic { may_send[me] > 0 && !wire[me * 2 + 1].used -> slot = me * 2 + 1; send_data(me) }
  /* Any packet under way arrives, or is lost. */
  :: atomic { wire[PEER(me) * 2].used -> slot = PEER(me) * 2; take_data(me) }
  :: atomic { wire[PEER(me) * 2 + 1].used -> slot = PEER(me) * 2 + 1; take_data(me) }
  /* The overlap ends. */
  :: atomic { old_live[me] && heard[me] -> old_live[me] = false }
  od
}

init {
  atomic {
    heard[C] = true;
    heard[S] = true;
    newest_key[C] = 255;
    newest_key[S] = 255;
    may_send[C] = LOSSES + 1;
    may_send[S] = LOSSES + 1;
    run party(C);
    run party(S)
  }
  /* Nothing moves any more. */
  timeout;
  assert(DONE)                                                              /* finishes */
}
