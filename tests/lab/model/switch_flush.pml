// SPDX-License-Identifier: Apache-2.0
//
// The context switch of one slice, with the flush of the counter pipeline: README.md's description as a model for Spin.
//
//   spin -a -DEVENTS=1 -DTHRESHOLD=1 switch_flush.pml && gcc -O2 -DSAFETY -o pan pan.c && ./pan -m1000000
//
// The eleven steps are numbered in Firmware and Channel as in the README's list. Each line of a process is one step, and
// any step of any other process may precede it.
//
// Configuration (-D): UNITS, DEPTH of the channel buffer, RECORDS of a bank, EVENTS of each counter in a residency,
// THRESHOLD; POLL_FIRST for the order in which chip.cc works, else hardware does steps 6 and 7; LIVENESS for the claim.
// Mutants (-D): FLUSH_REMOVED, ACK_FIRST, NO_PAUSE, NO_HOLD, REBIND_EARLY.
// Laws (-D): LAW_x checks only law x of OWNER, LATE, CONSERVE, MMU; none given: all.
#ifndef UNITS
#define UNITS 2
#endif
#ifndef DEPTH
#define DEPTH 1
#endif
#ifndef RECORDS
#define RECORDS 1
#endif
#ifndef EVENTS
#define EVENTS 2
#endif
#ifndef THRESHOLD
#define THRESHOLD 2
#endif

#if !defined(LAW_OWNER) && !defined(LAW_LATE) && !defined(LAW_CONSERVE) && !defined(LAW_MMU)
#define LAW_OWNER
#define LAW_LATE
#define LAW_CONSERVE
#define LAW_MMU
#endif

// A count remembers whose events are in it: four bits for each of the two contexts.
#define ONE_OF(context) (1 << (4 * (context)))
#define ALL_OF(context) (15 << (4 * (context)))
#define ALL_UNITS ((1 << UNITS) - 1)
#define OTHER(context) (1 - (context))

mtype = { kTrigger, kFlushTrigger, kFlushRequest, kRecord, kAck };

// Who runs, and what is paused.
bool running = true;
bool triggers_paused = false;
bool ulcs_paused = false;
bit resident = 0;
bit next_context = 1;
byte events_done[UNITS];

// What the unit-level counters and their serialisers hold.
#define ULC(u, k) ulc[(u) * RECORDS + (k)]
byte ulc[UNITS * RECORDS];

// The collection units: two banks of RECORDS counters, each of which is one record. Banks go by their role.
#define ACTIVE(u, k) active_bank[(u) * RECORDS + (k)]
#define IDLE(u, k) idle_bank[(u) * RECORDS + (k)]
byte active_bank[UNITS * RECORDS];
byte idle_bank[UNITS * RECORDS];
bool leaving[UNITS];
byte next_record[UNITS];
bool held[UNITS];
bool flush_requested[UNITS];

// Trigger block: the wires to the units, in order, and the acknowledgements that it waits for.
chan wires[UNITS] = [1] of { mtype };
byte awaited = 0;

// Channel buffer, reduction channel, and the memory that it commits to.
chan buffer = [DEPTH] of { mtype, byte, byte };
byte sum = 0;
bit channel_to = 0;  // the block that the channel is pointed at
bit mmu_to = 0;      // the block that the MMU has bound

// What the laws are stated in.
byte acked = 0;         // units that have acknowledged since the last unpause
byte produced = 0;      // events counted since the last switch
byte committed = 0;     // of them, in the block

// --- Reduction channel and memory ------------------------------------------------------------------------------------

inline commit() {
  d_step {
#ifdef LAW_OWNER
    assert((sum & ALL_OF(OTHER(channel_to))) == 0);  // OWNER: no count goes to a block of another context
#endif
#ifdef LAW_MMU
    assert(channel_to == mmu_to);  // MMU: no commit faults
#endif
    committed = committed + sum;
    sum = 0;
  }
}

inline check_conservation() {
  d_step {
#ifdef LAW_CONSERVE
    assert(committed == produced);  // CONSERVE: the old context's block has all of its events
#endif
    committed = 0;
    produced = 0;
  }
}

inline commit_and_rebind() {
  commit();  // step 6: the RC commits to the old blocks and clears
  check_conservation();
  channel_to = next_context;  // step 7: the RC is pointed at the new blocks...
  mmu_to = next_context;      // ... and the MMU is rebound
}

inline take_ack(u) {
  acked = acked | (1 << u);
#if !defined(POLL_FIRST) && !defined(REBIND_EARLY)
  if
  :: awaited == (1 << u) -> commit_and_rebind()
  :: else
  fi;
#endif
  awaited = awaited & ~(1 << u)
}

active proctype Channel() {
  mtype kind;
  byte unit, count;
  do
  :: atomic { buffer?kind,unit,count ->
       if
       :: kind == kRecord ->
#ifdef LAW_LATE
          assert((acked & (1 << unit)) == 0);  // LATE: no record comes after its unit's acknowledgement
#endif
          sum = sum + count
       :: else
       fi;
       count = 0
     }
     if
     :: kind == kAck -> take_ack(unit)
     :: else
     fi;
     d_step { kind = 0; unit = 0 }
  :: atomic { sum != 0 -> commit() }  // its own period: at any time
  od
}

// --- Unit-level counters and collection units ------------------------------------------------------------------------

// Adds to the active bank what the unit-level counters hold.
inline deliver(u) {
  k = 0;
  do
  :: k < RECORDS -> ACTIVE(u, k) = ACTIVE(u, k) + ULC(u, k); ULC(u, k) = 0; k++
  :: else -> break
  od;
  k = 0
}

// The idle bank is empty here.
inline swap(u) {
  k = 0;
  do
  :: k < RECORDS -> IDLE(u, k) = ACTIVE(u, k); ACTIVE(u, k) = 0; k++
  :: else -> break
  od;
  k = 0;
  leaving[u] = true
}

inline trigger(u) {
  if
  :: !leaving[u] -> swap(u)
#ifdef NO_HOLD
  :: else  // mutant: a trigger that comes while the idle bank is leaving is lost
#else
  :: else -> held[u] = true  // one deep: several ask for the same swap
#endif
  fi
}

inline send_record(u) {
  buffer!kRecord,u,IDLE(u, next_record[u]);
  IDLE(u, next_record[u]) = 0;
  next_record[u] = next_record[u] + 1;
  if
  :: next_record[u] == RECORDS ->
     leaving[u] = false;
     next_record[u] = 0;
     if
     :: held[u] -> held[u] = false; swap(u)
     :: else
     fi
  :: else
  fi
}

#define COUNTS_IN(value) (((value) & 15) + ((value) >> 4))
#if RECORDS == 1
#define HOLDS_COUNTS(u) (ULC(u, 0) != 0)
#define OVER_THRESHOLD(u) (COUNTS_IN(ACTIVE(u, 0)) >= THRESHOLD)
#else
#define HOLDS_COUNTS(u) (ULC(u, 0) != 0 || ULC(u, 1) != 0)
#define OVER_THRESHOLD(u) (COUNTS_IN(ACTIVE(u, 0)) >= THRESHOLD || COUNTS_IN(ACTIVE(u, 1)) >= THRESHOLD)
#endif

#ifdef ACK_FIRST
#define MAY_ACK(u) (flush_requested[u])  // mutant: it does not wait for the records that are left
#else
#define MAY_ACK(u) (flush_requested[u] && !leaving[u])
#endif

// A collection unit with its unit-level counters. Step 5 is its last two branches.
proctype Unit(byte u) {
  byte k;
  do
  // The unit-level counters deliver at the end of a period, however long the serialiser takes for it.
  :: d_step { !ulcs_paused && HOLDS_COUNTS(u) -> deliver(u) }
  // Triggers: its own, which nobody pauses, and those of the trigger block.
  :: d_step { OVER_THRESHOLD(u) && !held[u] -> trigger(u) }
  :: d_step { wires[u]?[kTrigger] -> wires[u]?kTrigger; trigger(u) }
  // Step 3 arrives: it takes what its unit-level counters hold now, and swaps.
  :: d_step { wires[u]?[kFlushTrigger] ->
       wires[u]?kFlushTrigger;
       deliver(u);
       trigger(u)
     }
  // Step 4 arrives.
  :: d_step { wires[u]?[kFlushRequest] -> wires[u]?kFlushRequest; flush_requested[u] = true }
  // Records leave as the buffer has room; a full buffer stalls the unit.
  :: d_step { leaving[u] && nfull(buffer) -> send_record(u) }
  :: d_step { MAY_ACK(u) && nfull(buffer) -> buffer!kAck,u,0; flush_requested[u] = false }
  od
}

// --- Events, periodic triggers, firmware -----------------------------------------------------------------------------

#ifdef NO_PAUSE
#define MAY_TRIGGER true  // mutant: step 2 does not reach the periodic triggers
#else
#define MAY_TRIGGER !triggers_paused
#endif

// The running context's events and the periodic triggers, at any time; of each unit on its own, which allows more than
// a broadcast would.
proctype Surroundings(byte u) {
  do
  :: d_step { running && events_done[u] < EVENTS * RECORDS ->
       ULC(u, events_done[u] % RECORDS) = ULC(u, events_done[u] % RECORDS) + ONE_OF(resident);
       produced = produced + ONE_OF(resident);
       events_done[u] = events_done[u] + 1
     }
  :: d_step { MAY_TRIGGER && nfull(wires[u]) -> wires[u]!kTrigger }
  od
}

inline tell_every_unit(message) {
  u = 0;
  do
  :: u < UNITS -> wires[u]!message; u++
  :: else -> break
  od;
  u = 0
}

active proctype Firmware() {
  byte u;
  atomic {
    do
    :: u < UNITS -> run Unit(u); run Surroundings(u); u++
    :: else -> break
    od;
    u = 0
  }
  do
  :: running = false;  // step 1: halt the context
     d_step { ulcs_paused = true; triggers_paused = true }  // step 2: pause
     tell_every_unit(kFlushTrigger);  // step 3: trigger
#ifdef FLUSH_REMOVED
     commit_and_rebind();  // mutant: without steps 4, 5 and 8
#else
     awaited = ALL_UNITS;
     tell_every_unit(kFlushRequest);  // step 4: flush request; step 5 is the units'
#ifdef REBIND_EARLY
     commit_and_rebind();  // mutant: firmware does steps 6 and 7 before it has polled
#endif
     awaited == 0;  // step 8: poll until every acknowledgement is in
#ifdef POLL_FIRST
     commit_and_rebind();  // steps 6 and 7, by firmware
#endif
#endif
     d_step { resident = next_context; next_context = 1 - next_context }  // step 9: restore; nothing is counted
     d_step { acked = 0; triggers_paused = false };  // step 10: unpause the triggers...
     ulcs_paused = false;  // ... then the unit-level counters
     d_step {
       u = 0;
       do
       :: u < UNITS -> events_done[u] = 0; u++
       :: else -> break
       od;
       u = 0;
       running = true  // step 11: run
     }
  od
}

#ifdef LIVENESS
ltl acknowledged { [] ((awaited != 0) -> <> (awaited == 0)) }
#endif
