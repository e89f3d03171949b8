// SPDX-License-Identifier: Apache-2.0
//
// A COMMIT of what is counted, among exits, entries, context switches and the guest's own writes, with units that send
// their records and take a new configuration arbitrarily late (virtual-counters.md, "Changes at run time").
//
//   spin -a vm_commit.pml && gcc -O2 -DSAFETY -DCOLLAPSE -o pan pan.c && ./pan -m1000000
//
// Each line of a process is one step, and any step of any other process may precede it. A COMMIT changes what every VM's
// selection has. VM 0 loads and stores its values, and a COMMIT may name a word of its control block; the other VMs have
// the host's value, and so have all with two slices.
//
// Configuration (-D): SLICES, UNITS and VMS of each slice (each 1 or 2), DEPTH of the channel buffer.
// Mutants (-D): APPLY_FIRST, MEANINGS_EARLY, OLD_IMAGE, IMAGE_BEFORE_EXIT, RUN_EARLY, ONE_SLICE, NO_WAIT, SUM_STAYS.
// Laws (-D): LAW_x checks only law x of MEANING, REVISION, OWNER, CONSERVE, INSTANT, STORE; none given: all.
#ifndef SLICES
#define SLICES 1
#endif
#ifndef UNITS
#define UNITS 1
#endif
#ifndef VMS
#define VMS 2
#endif
#ifndef DEPTH
#define DEPTH 1
#endif

#if !defined(LAW_MEANING) && !defined(LAW_REVISION) && !defined(LAW_OWNER) && !defined(LAW_CONSERVE) && \
    !defined(LAW_INSTANT) && !defined(LAW_STORE)
#define LAW_MEANING
#define LAW_REVISION
#define LAW_OWNER
#define LAW_CONSERVE
#define LAW_INSTANT
#define LAW_STORE
#endif

#define NOBODY VMS
#define ALL_UNITS (SLICES * UNITS)
#define SLICE_OF(u) ((u) / UNITS)
#define HAS_BLOCK(s) (resident[s] == 0)  // the VM has values

// What a unit counts: the events that a VM's selection has in a revision. A count remembers which: two bits for each.
#define SOURCE(vm, rev) (2 * (vm) + (rev))
#define ONE_OF(source) (1 << (2 * (source)))
#define OF_REVISION(rev) (51 << (2 * (rev)))
#define OF_VM(vm) (15 << (4 * (vm)))

mtype = { kRecord, kAck, kNothing, kValue, kLoad };

// Slices.
bool running[SLICES];
byte resident[SLICES];
bool in_guest[SLICES];
bool busy[SLICES];  // the slice's sequencer has work: an exit, an entry, a switch, a write, a COMMIT
bit gce[SLICES];

// The control block of VM 0.
bit guest_value, host_value;
bool guest_load = true;

// The configuration in force, and that by which channels look up what counts mean.
bit revision, meanings;

// Units: the source that each has to count and that it counts, what it holds, and the record that leaves.
byte wanted[SLICES];
byte connected[ALL_UNITS];
byte held[ALL_UNITS];
byte leaving[ALL_UNITS];
bool flush_requested[ALL_UNITS];

// Channel buffer, reduction channels, and acknowledgements that a flush waits for.
chan buffer = [DEPTH] of { mtype, byte, byte };
byte sum[SLICES];
byte awaited[SLICES];

// What the laws are stated in.
bool done[ALL_UNITS];    // the unit had its event since the last flush
byte produced[SLICES];   // events since the last flush
byte committed[SLICES];  // of them, in the block of the resident and the snapshot of the revision
bit of_guest;            // VM 0's value when it last ran
bit kept_guest, kept_host;

// --- Channels and memory ----------------------------------------------------------------------------------------------

inline commit_sum(s) {
  d_step {
#ifdef LAW_OWNER
    assert((sum[s] & ~OF_VM(resident[s])) == 0);  // OWNER: no count goes to another VM
#endif
#ifdef LAW_REVISION
    assert((sum[s] & OF_REVISION(1 - revision)) == 0);  // REVISION: no count of another revision
#endif
    committed[s] = committed[s] + sum[s];
    sum[s] = 0
  }
}

active proctype Channel() {
  mtype kind;
  byte unit, count;
  do
  :: atomic { buffer?kind,unit,count ->
       if
       :: kind == kRecord ->
#ifdef LAW_MEANING
          assert((count & OF_REVISION(1 - meanings)) == 0);  // MEANING: looked up as it was counted
#endif
          sum[SLICE_OF(unit)] = sum[SLICE_OF(unit)] + count
       :: else -> awaited[SLICE_OF(unit)] = awaited[SLICE_OF(unit)] - 1
       fi;
       d_step { kind = 0; unit = 0; count = 0 }
     }
  :: atomic { sum[0] != 0 -> commit_sum(0) }  // its own period: at any time
#if SLICES > 1
  :: atomic { sum[1] != 0 -> commit_sum(1) }
#endif
  od
}

// --- Units ------------------------------------------------------------------------------------------------------------

inline count_event(u) {
#ifdef LAW_INSTANT
  assert(connected[u] == SOURCE(resident[SLICE_OF(u)], revision));  // INSTANT: by the configuration in force
#endif
  held[u] = held[u] + ONE_OF(connected[u]);
  produced[SLICE_OF(u)] = produced[SLICE_OF(u)] + ONE_OF(connected[u]);
  done[u] = true
}

proctype Unit(byte u) {
  do
  :: d_step { running[SLICE_OF(u)] && !done[u] -> count_event(u) }
  :: d_step { held[u] != 0 && leaving[u] == 0 -> leaving[u] = held[u]; held[u] = 0 }
  :: d_step { leaving[u] != 0 && nfull(buffer) -> buffer!kRecord,u,leaving[u]; leaving[u] = 0 }
  :: d_step { flush_requested[u] && held[u] == 0 && leaving[u] == 0 && nfull(buffer) ->
       buffer!kAck,u,0;
       flush_requested[u] = false
     }
  :: d_step { connected[u] != wanted[SLICE_OF(u)] -> connected[u] = wanted[SLICE_OF(u)] }
  od
}

// --- Flushes, exits, entries ------------------------------------------------------------------------------------------

inline request_flush(s) {
  d_step {
    k = s * UNITS;
    do
    :: k < (s + 1) * UNITS -> flush_requested[k] = true; awaited[s] = awaited[s] + 1; k++
    :: else -> break
    od;
    k = 0
  }
}

// All of the slice's counts since the last flush are in the block.
inline close(s) {
  d_step {
#ifdef LAW_CONSERVE
    assert(committed[s] == produced[s]);  // CONSERVE: nothing is lost, doubled or moved
#endif
    committed[s] = 0;
    produced[s] = 0;
    k = s * UNITS;
    do
    :: k < (s + 1) * UNITS -> done[k] = false; k++
    :: else -> break
    od;
    k = 0
  }
}

#define IS_CONNECTED(s) (connected[(s) * UNITS] == wanted[s] && connected[(s) * UNITS + UNITS - 1] == wanted[s])

inline exit_vm(s) {
  running[s] = false;
#if SLICES == 1
  if
  :: HAS_BLOCK(s) ->
     d_step { guest_value = gce[s]; kept_guest = of_guest };
     gce[s] = host_value
  :: else
  fi;
#endif
  in_guest[s] = false
}

inline enter_vm(s) {
  running[s] = false;
#if SLICES == 1
  if
  :: HAS_BLOCK(s) ->
     d_step { host_value = gce[s]; kept_host = gce[s] };
     if
     :: guest_load -> gce[s] = guest_value
     :: else
     fi;
     of_guest = gce[s]
  :: else
  fi;
#endif
  in_guest[s] = true
}

// --- What happens on a slice ------------------------------------------------------------------------------------------

// The eleven steps, in short.
inline switch_to(s, next) {
  if
  :: in_guest[s] -> exit_vm(s)
  :: else -> running[s] = false
  fi;
  request_flush(s);
  awaited[s] == 0;
  commit_sum(s);
  close(s);
  d_step {
    gce[s] = 0;  // the host's own value
    resident[s] = next;
    wanted[s] = (next == NOBODY -> wanted[s] : SOURCE(next, revision))
  };
  IS_CONNECTED(s);
  if
  :: next != NOBODY -> enter_vm(s)
  :: else
  fi
}

inline write_value(s) {
  d_step {
    gce[s] = 1 - gce[s];
    if
    :: in_guest[s] && HAS_BLOCK(s) -> of_guest = gce[s]
    :: else
    fi
  }
}

proctype Slice(byte s) {
  byte k, next;
  do
  :: atomic { !busy[s] -> busy[s] = true };
     if
     :: in_guest[s] -> exit_vm(s)
     :: !in_guest[s] && resident[s] != NOBODY -> enter_vm(s)
#if SLICES == 1
     :: resident[s] != NOBODY -> write_value(s)  // the guest its own, the hypervisor the host's
#endif
     :: select(next : 0 .. VMS); switch_to(s, next); next = 0
     fi;
     d_step { running[s] = (resident[s] != NOBODY); busy[s] = false }
  od
}

// --- Transactions -----------------------------------------------------------------------------------------------------

#define FOR_SLICES(action) s = 0; do :: s < SLICES -> action; s++ :: else -> break od; s = 0

inline halt_slice() {
#ifdef NO_WAIT
  running[s] = false  // mutant: whatever the sequencer does
#else
  atomic { !busy[s] -> busy[s] = true; running[s] = false }
#endif
}

inline halt_slices() {
#ifdef ONE_SLICE
  s = 0; halt_slice()  // mutant: the others run on
#else
  FOR_SLICES(halt_slice())
#endif
}

inline latch_slice() {
  awaited[s] == 0;
#ifndef SUM_STAYS
  commit_sum(s);
#endif
  close(s)
}

inline latch() {
  FOR_SLICES(request_flush(s));
#ifdef MEANINGS_EARLY
  meanings = 1 - meanings;  // mutant: before the last record
#endif
  FOR_SLICES(latch_slice())
}

inline want_slice() { wanted[s] = (resident[s] == NOBODY -> wanted[s] : SOURCE(resident[s], revision)) }

// The new revision, at one instant.
inline apply_selections() {
  d_step {
    revision = 1 - revision;
#ifndef MEANINGS_EARLY
    meanings = revision;
#endif
    FOR_SLICES(want_slice())
  }
}

// The words over what is in force; where the VM runs, between an exit and an entry.
inline apply_words() {
  if
  :: in_guest[0] && HAS_BLOCK(0) && named != kNothing -> has_exit = true; exit_vm(0)
  :: else
  fi;
  d_step {
#if defined(OLD_IMAGE) || defined(IMAGE_BEFORE_EXIT)
    guest_value = image_guest;
    host_value = image_host;
#endif
    if
    :: named == kValue -> guest_value = word; kept_guest = word
    :: named == kLoad -> guest_load = word
    :: else
    fi;
#ifdef LAW_STORE
    assert(guest_value == kept_guest && host_value == kept_host);  // STORE: the last of each
#endif
  };
  if
  :: has_exit -> enter_vm(0); has_exit = false
  :: else
  fi
}

inline take_image() { d_step { image_guest = guest_value; image_host = host_value } }

inline resume_slice() {
#ifndef RUN_EARLY
  IS_CONNECTED(s);
#endif
  d_step { running[s] = (resident[s] != NOBODY); busy[s] = false }
}

proctype Controller() {
  byte k, s;
  mtype named;
  bit word;
  bool has_exit;
#if defined(OLD_IMAGE) || defined(IMAGE_BEFORE_EXIT)
  bit image_guest, image_host;
#endif
  do
  :: true;  // BEGIN
#if SLICES == 1
     if :: named = kNothing :: named = kValue :: named = kLoad fi;  // ADDRESS
     if :: word = 0 :: word = 1 fi;                                 // WRITE
#endif
#ifdef OLD_IMAGE
     take_image();  // mutant: of BEGIN
#endif
     halt_slices();  // COMMIT
#ifdef APPLY_FIRST
     apply_selections();  // mutant
     latch();
#else
     latch();
     apply_selections();
#endif
#ifdef IMAGE_BEFORE_EXIT
     take_image();  // mutant: of the latch, before the exit that stores
#endif
#if SLICES == 1
     apply_words();
#endif
     FOR_SLICES(resume_slice());
     d_step { named = 0; word = 0 }
  od
}

init {
  byte k;
  atomic {
    k = 0;
    do
    :: k < ALL_UNITS -> run Unit(k); k++
    :: else -> break
    od;
    k = 0;
    do
    :: k < SLICES -> resident[k] = NOBODY; run Slice(k); k++
    :: else -> break
    od;
    k = 0;
    run Controller()
  }
}
