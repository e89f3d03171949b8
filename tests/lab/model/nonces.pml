// SPDX-License-Identifier: Apache-2.0
//
// Nonces of sealed records (proto/envelope/README.md, "Epochs of an exchange"): a daemon and a device that seal for the
// same guest, restarts at any moment, rotation, the grace of the exchange before, and a network that repeats, withholds
// and reorders whatever was sent.
//
//   spin -a nonces.pml && gcc -O2 -DSAFETY -DCOLLAPSE -o pan pan.c && ./pan -m1000000
//
// Each option of a process is one step, and any step of any other process may precede it. An exchange has the number of
// its secret, which its sealer draws. A record is its exchange and its position: epoch and sequence.
//
// Configuration (-D): REQUESTS, EXCHANGES, EPOCHS, SEQUENCES (of each epoch; EPOCHS * SEQUENCES is at most 8).
// Mutants (-D): RESTART_KEEPS_KEY, SHARED_KEY, SENT_THEN_COUNTED, ROTATION_KEEPS_KEY, EQUAL_ACCEPTED, EPOCHS_APART,
// GUEST_RESTART_KEEPS_KEY, CHALLENGE_KEPT, GRACE_FOREVER.
// Laws (-D): LAW_x checks only law x of NONCE, ORDER, ENDED, ONCE; none given: all.
#ifndef REQUESTS
#define REQUESTS 2
#endif
#ifndef EXCHANGES
#define EXCHANGES REQUESTS
#endif
#ifndef EPOCHS
#define EPOCHS 2
#endif
#ifndef SEQUENCES
#define SEQUENCES 2
#endif

#if !defined(LAW_NONCE) && !defined(LAW_ORDER) && !defined(LAW_ENDED) && !defined(LAW_ONCE)
#define LAW_NONCE
#define LAW_ORDER
#define LAW_ENDED
#define LAW_ONCE
#endif

#define SEALERS 2
#define NONE EXCHANGES
#define BIT(i) (1 << (i))
#define HAS(mask, i) (((mask) & BIT(i)) != 0)
#define POSITION(epoch, sequence) ((epoch) * SEQUENCES + (sequence))

// What a sealer remembers, until it restarts.
byte current[SEALERS] = NONE, previous[SEALERS] = NONE;
byte challenges[SEALERS];  // a bit for each request that it may still answer
byte epoch[EXCHANGES], next_sequence[EXCHANGES];
byte key[EXCHANGES];  // the secret that the exchange's keys are derived of

// What the guest remembers, until its program ends.
byte private_keys;  // a bit for each request that has no answer yet
byte opens;         // a bit for each exchange that it has the secret of
byte newest[EXCHANGES];  // 1 + the position of its newest accepted record; 0: none

// What the network has.
byte drawn;  // requests
byte begun;  // exchanges, each with its answer
byte request_of[EXCHANGES];
byte sent[EXCHANGES];  // a bit for each record, by position

// What the laws are stated in.
byte used[EXCHANGES];  // a bit for each (key, nonce), by the secret and the position that the key and nonce are of
byte accepted[EXCHANGES];
byte ended, answered;

// --- A sealer --------------------------------------------------------------------------------------------------------

// Its keys are wiped.
inline end_exchange(x) {
  if
  :: x != NONE -> ended = ended | BIT(x); epoch[x] = 0; next_sequence[x] = 0
  :: else
  fi
}

// The answer to a request that names an open challenge.
inline answer(r) {
#ifdef LAW_ONCE
  assert(!HAS(answered, r));  // ONCE: a request that is repeated has no second answer
#endif
  answered = answered | BIT(r);
#ifndef CHALLENGE_KEPT
  challenges[s] = challenges[s] & ~BIT(r);
#endif
#if EXCHANGES > 2
  end_exchange(previous[s]);  // of two exchanges, none is in its grace when another begins
#endif
  previous[s] = current[s];
  current[s] = begun;
  request_of[begun] = r;
  key[begun] = begun;
#ifdef SHARED_KEY
  if
  :: current[1 - s] != NONE -> key[begun] = key[current[1 - s]]  // mutant: the guest's key, whoever seals
  :: else
  fi;
#endif
  begun++
}

inline encrypt(x) {
  at = POSITION(epoch[x], next_sequence[x]);
#ifdef ROTATION_KEEPS_KEY
  nonce = next_sequence[x];
#else
  nonce = at;
#endif
#ifdef LAW_NONCE
  assert(!HAS(used[key[x]], nonce));  // NONCE: no (key, nonce) seals twice; each record is another plaintext
#endif
#ifdef LAW_ENDED
  assert(!HAS(ended, x));  // ENDED: no key seals after a restart, or after its grace
#endif
  used[key[x]] = used[key[x]] | BIT(nonce);
#ifndef SENT_THEN_COUNTED
  next_sequence[x]++;
#endif
  nonce = 0
}

inline send(x) {
  sent[x] = sent[x] | BIT(at);
#ifdef SENT_THEN_COUNTED
  next_sequence[x]++
#endif
}

inline restart() {
  end_exchange(current[s]);
  end_exchange(previous[s]);
  challenges[s] = 0;
#ifndef RESTART_KEEPS_KEY
  current[s] = NONE;
#endif
  previous[s] = NONE
}

inline rotate(x) {
  epoch[x]++;
  next_sequence[x] = 0
}

// One record under an exchange: encrypted, and then sent, or lost, or the sealer restarts.
inline seal(x) {
  d_step { which = x; encrypt(which) };
  if
  :: d_step { send(which); which = NONE; at = 0 }
  :: d_step { which = NONE; at = 0 }
  :: d_step { restart(); which = NONE; at = 0 }
  fi
}

#define CAN_SEAL(x) ((x) != NONE && next_sequence[x] < SEQUENCES)
#define CAN_ROTATE(x) ((x) != NONE && epoch[x] + 1 < EPOCHS)

active [SEALERS] proctype Sealer() {
  byte s = _pid, r = 0, which = NONE, at = 0, nonce = 0;
end:
  do
  :: atomic {
       begun < EXCHANGES && challenges[s] != 0 ->
       select(r : 0 .. REQUESTS - 1);
       if
       :: HAS(challenges[s], r) -> answer(r)
       :: else  // a request that the network repeats, or that is for the other sealer
       fi;
       r = 0
     }
  :: CAN_SEAL(current[s]) -> seal(current[s])
  :: CAN_SEAL(previous[s]) -> seal(previous[s])
  :: d_step { CAN_ROTATE(current[s]) -> rotate(current[s]) }
  :: d_step { CAN_ROTATE(previous[s]) -> rotate(previous[s]) }
  :: d_step {
       previous[s] != NONE ->  // its grace is over
#ifdef GRACE_FOREVER
       ended = ended | BIT(previous[s])
#else
       end_exchange(previous[s]);
       previous[s] = NONE
#endif
     }
  :: d_step { current[s] != NONE || challenges[s] != 0 -> restart() }
  od
}

// --- The guest -------------------------------------------------------------------------------------------------------

inline accept(x, position) {
#ifdef LAW_ORDER
  assert((accepted[x] >> (position)) == 0);  // ORDER: neither a record twice, nor one before another
#endif
  accepted[x] = accepted[x] | BIT(position);
  newest[x] = 1 + (position)
}

#ifdef EQUAL_ACCEPTED
#define IS_NEW(x, position) (1 + (position) >= newest[x])
#elif defined(EPOCHS_APART)
// Mutant: of another epoch, whichever.
#define IS_NEW(x, position) \
  (1 + (position) > newest[x] || newest[x] != 0 && (position) / SEQUENCES != (newest[x] - 1) / SEQUENCES)
#else
#define IS_NEW(x, position) (1 + (position) > newest[x])
#endif

// Draws a challenge of a sealer for a request.
inline draw(s) {
  private_keys = private_keys | BIT(drawn);
  challenges[s] = challenges[s] | BIT(drawn);
  drawn++
}

active proctype Guest() {
  byte x = 0, position = 0;
end:
  do
  :: d_step { drawn < REQUESTS -> draw(0) }
  :: d_step { drawn < REQUESTS -> draw(1) }
  :: atomic {  // an answer
       begun > 0 && private_keys != 0 ->
       select(x : 0 .. EXCHANGES - 1);
       if
       :: x < begun && HAS(private_keys, request_of[x]) ->
          private_keys = private_keys & ~BIT(request_of[x]);
          opens = opens | BIT(x)
       :: else
       fi;
       x = 0
     }
  :: atomic {  // a record, whichever was sent, whenever
       opens != 0 ->
       select(x : 0 .. EXCHANGES - 1);
       select(position : 0 .. EPOCHS * SEQUENCES - 1);
       if
       :: HAS(opens, x) && HAS(sent[x], position) && IS_NEW(x, position) -> accept(x, position)
       :: else
       fi;
       x = 0;
       position = 0
     }
  :: d_step {  // its program ends; another begins
       private_keys != 0 || opens != 0 ->
       private_keys = 0;
#ifdef GUEST_RESTART_KEEPS_KEY
       x = 0;
       do :: x < EXCHANGES -> newest[x] = 0; x++ :: else -> break od;
       x = 0
#else
       opens = 0
#endif
     }
  od
}
