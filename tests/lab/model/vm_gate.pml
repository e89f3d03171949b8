// SPDX-License-Identifier: Apache-2.0
//
// The gate of one slice: exits, entries, context switches and the guest's own writes, with units that see a new vector
// arbitrarily late (virtual-counters.md, "Mechanism").
//
//   spin -a vm_gate.pml && gcc -O2 -DSAFETY -o pan pan.c && ./pan -m1000000
//
// Each line of a process is one step, and any step of any other process may precede it. The load and store indicators
// of the VMs, and their identifiers, are drawn at the start.
//
// Configuration (-D): UNITS.
// Mutants (-D): LOAD_FIRST, WRITE_IN_EXIT, IDS_OF_VM, NO_RESET, RUN_EARLY.
// Laws (-D): LAW_x checks only law x of MIXED, STORE, OWNER, IDS; none given: all.
#ifndef UNITS
#define UNITS 2
#endif

#if !defined(LAW_MIXED) && !defined(LAW_STORE) && !defined(LAW_OWNER) && !defined(LAW_IDS)
#define LAW_MIXED
#define LAW_STORE
#define LAW_OWNER
#define LAW_IDS
#endif

#define VMS 2
#define NOBODY VMS

// A value remembers who wrote it: 0 the host, 1 + n VM n; and one enable bit.
#define VALUE(writer, bit_of) (2 * (writer) + (bit_of))
#define WRITER(value) ((value) / 2)
#define WRITER_OF(vm) (1 + (vm))

// The slice.
byte gce = VALUE(0, 1);
byte seen[UNITS];  // the value that each unit counts by
bool running = false;
bool in_guest = false;
byte bound = NOBODY;
bool busy = false;  // the gate's sequencer has work
bool host_ids = false, counts_by = false;  // whether the group matches: the host's ids, and what the gate uses

// Control blocks.
byte guest_value[VMS], host_value[VMS];
bool guest_load[VMS], host_load[VMS], guest_store[VMS], host_store[VMS], ids[VMS];

// What the laws are stated in.
byte of_guest[VMS];  // the slice's value when the VM last ran

// --- The sequencer ----------------------------------------------------------------------------------------------------

inline all_seen() {
#ifndef RUN_EARLY
  d_step { k = 0; do :: k < UNITS && seen[k] == gce -> k++ :: else -> break od; finished = (k == UNITS); k = 0 }
#else
  finished = true  // mutant: the slice runs before every unit has the value
#endif
}

// Until every unit counts by the value; the slice is halted.
inline await_units() {
  finished = false;
  do
  :: !finished -> all_seen()
  :: finished -> break
  od;
  finished = false
}

inline show_ids() {
#ifdef IDS_OF_VM
  counts_by = (bound == NOBODY -> host_ids : ids[bound])  // mutant: also while the host runs
#else
  counts_by = (in_guest -> ids[bound] : host_ids)
#endif
}

inline exit_vm() {
  running = false;
#ifdef LOAD_FIRST
  if
  :: host_load[bound] -> gce = host_value[bound]
  :: else
  fi;
#endif
  if
  :: guest_store[bound] -> guest_value[bound] = gce
  :: else
  fi;
#ifndef LOAD_FIRST
  if
  :: host_load[bound] -> gce = host_value[bound]
  :: else
  fi;
#endif
  await_units();
  d_step {
#ifdef LAW_STORE
    assert(!guest_store[bound] || guest_value[bound] == of_guest[bound]);  // STORE: what the guest had is kept
#endif
    in_guest = false;
    show_ids()
  }
}

inline enter_vm() {
  running = false;
  if
  :: host_store[bound] -> host_value[bound] = gce
  :: else
  fi;
  if
  :: guest_load[bound] -> gce = guest_value[bound]
  :: else
  fi;
  await_units();
  d_step {
#ifdef LAW_OWNER
    // OWNER: a VM runs with a value of its own or of the host's.
    assert(WRITER(gce) == 0 || WRITER(gce) == WRITER_OF(bound));
#endif
    in_guest = true;
    of_guest[bound] = gce;
    show_ids();
    running = true
  }
}

inline switch_to(vm) {
  if
  :: in_guest -> exit_vm()
  :: else -> running = false
  fi;
#ifndef NO_RESET
  if
  :: vm != bound || vm == NOBODY -> gce = VALUE(0, 1)
  :: else
  fi;
#endif
  d_step { bound = vm; show_ids() };
  if
  :: bound != NOBODY -> enter_vm()
  :: else -> await_units(); running = true
  fi
}

active proctype Hypervisor() {
  byte k, next;
  bool finished;
  // Indicators and identifiers: of VM 0 in any combination, of VM 1 all or none.
  if :: guest_load[0] = true :: true fi;
  if :: host_load[0] = true :: true fi;
  if :: guest_store[0] = true :: true fi;
  if :: host_store[0] = true :: true fi;
  if :: ids[0] = true :: true fi;
  if
  :: d_step {
       guest_load[1] = true; host_load[1] = true; guest_store[1] = true; host_store[1] = true; ids[1] = true
     }
  :: true
  fi;
  do
  :: k < VMS -> host_value[k] = VALUE(0, 1); guest_value[k] = VALUE(0, 1); k++
  :: else -> break
  od;
  if :: host_ids = true :: true fi;
  k = 0;
  do
  :: k < UNITS -> seen[k] = gce; k++
  :: else -> break
  od;
  k = 0;
  show_ids();
  do
  :: atomic { !busy -> busy = true };
     if
     :: in_guest -> exit_vm(); running = true
     :: !in_guest && bound != NOBODY -> enter_vm()
     :: true ->
        if :: next = 0 :: next = 1 :: next = NOBODY fi;
        switch_to(next)
     fi;
     busy = false
  od
}

// --- The guest, the units, and the slice's cycles ---------------------------------------------------------------------

// The guest writes its vector: the gate is its own until every unit has it.
active proctype Guest() {
  byte k;
  bool finished;
  do
#ifdef WRITE_IN_EXIT
  :: atomic { in_guest -> gce = VALUE(WRITER_OF(bound), 0); of_guest[bound] = gce }  // mutant: also meanwhile
#else
  :: atomic { in_guest && running && !busy -> busy = true; running = false };
     d_step {
       if
       :: gce == VALUE(WRITER_OF(bound), 0) -> gce = VALUE(WRITER_OF(bound), 1)
       :: else -> gce = VALUE(WRITER_OF(bound), 0)
       fi;
       of_guest[bound] = gce
     };
     await_units();
     d_step { running = true; busy = false }
#endif
  od
}

active [UNITS] proctype Unit() {
  byte own = _pid - 2;
end:
  do
  :: d_step { seen[own] != gce -> seen[own] = gce }
  od
}

// A cycle in which the slice counts.
active proctype Cycle() {
  byte k;
  do
  :: d_step {
       running ->
       k = 0;
       do
       :: k < UNITS ->
#ifdef LAW_MIXED
          assert(seen[k] == gce);  // MIXED: every unit counts by the same vector, the slice's
#endif
          k++
       :: else -> break
       od;
#ifdef LAW_IDS
       assert(counts_by == (in_guest -> ids[bound] : host_ids));  // IDS: of who runs
#endif
       k = 0
     }
  od
}
