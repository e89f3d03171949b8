// SPDX-License-Identifier: Apache-2.0
//
// The register read path (docs/design/registers.md) as a model for Spin: threads that share the client of their core,
// and the manager that answers the clients of several cores.
//
//   spin -a -DTHREADS=2 -DTAGS=1 hpc_read.pml && gcc -O2 -DSAFETY -o pan pan.c && ./pan -m1000000
//
// Each line of a process is one step, and any step of any other process may precede it. A thread takes steps only while
// it runs on its core.
//
// Configuration (-D): CORES; THREADS of each; TAGS of a client; SWITCHES of a core at most, else any number; WHOLE for
// accesses of 64 bits, else of 32; OPTIMISTIC for threads that may read without waiting; WILD for a last thread that
// makes any accesses; ASKERS for cores that only ask. A switch cancels the request and clears the client; with
// SWITCH_WITHDRAWS it also takes the requests off the wires, and with SWITCH_KEEPS it only sets `interrupted`. LIVENESS
// for the claim.
// Mutants (-D): ONE_MORE, SET_BITS, CHECK_LATE, REFUSAL_IGNORED, READERROR_IGNORED, TWO_READS, NO_TAGS, TAGS_WRAP,
// REFUSED_CLEARS, HIGH_HALF_CLEARS, EMPTY_ASKS, EMPTY_SHOWS, READERROR_KEPT, FIXED_PRIORITY. REFERENCE: the protocol of
// the published text.
// Laws (-D): LAW_x checks only law x of OWN, CAUSE, LEAK, TAG, WAIT, FAIR, and LAW_ENDS none of them; none given: all
// (without LEAK with SWITCH_KEEPS, without CAUSE with OPTIMISTIC).
#ifdef REFERENCE
#define WHOLE
#define SWITCH_KEEPS
#define ONE_MORE
#define SET_BITS
#define CHECK_LATE
#define READERROR_IGNORED
#define NO_TAGS
#define REFUSED_CLEARS
#define EMPTY_SHOWS
#endif

#ifndef CORES
#define CORES 1
#endif
#ifndef THREADS
#define THREADS 2
#endif
#ifndef TAGS
#define TAGS 1
#endif

#if !defined(LAW_OWN) && !defined(LAW_CAUSE) && !defined(LAW_LEAK) && !defined(LAW_TAG) && !defined(LAW_WAIT) && \
    !defined(LAW_FAIR) && !defined(LAW_ENDS)
#define LAW_OWN
#ifndef OPTIMISTIC
#define LAW_CAUSE
#endif
#ifndef SWITCH_KEEPS
#define LAW_LEAK
#endif
#define LAW_TAG
#define LAW_WAIT
#define LAW_FAIR
#endif

// A manager has two counters; hpcm has one bit in each half.
#define LOW_HALF 1
#define HIGH_HALF 2
#define LOWEST(bitmap) ((bitmap) & -(bitmap))

// Threads are numbered from 1. A request and its values are marked with their thread, and whether they are of its last
// request or of an earlier one.
#define NONE 0
#define LAST(thread) (2 * (thread) + 1)
#define EARLIER(thread) (2 * (thread))
#define THREAD_OF(mark) ((mark) / 2)

typedef Request {
  byte mark;
  byte tag;
  byte bitmap;
}

typedef Client {
  bool trigger;
  bool interrupted;
  byte readerror;  // the thread whose read set it
  byte refused;    // the thread whose trigger set it
  byte hpcm;
  byte hpcm_of;  // the thread whose bits they are
  byte hpcr;     // mark of the value that was read last; its high half is held
  byte hpcr_bit;
  Request current;  // while trigger is 1; without a tag it waits for one
  byte taken;       // bit t: tag t is not free
  byte running;     // the thread that runs on this core
#ifdef TAGS_WRAP
  byte last_tag;
#endif
}
Client client[CORES];
chan fifo[CORES] = [2] of { byte, byte };  // mark, bit

// Wires to the manager, in order; the request that it answers, and its core.
chan requests[CORES] = [TAGS] of { byte, byte, byte };
byte asked = 0;  // requests on all wires
Request answered;
byte granted = 0;

// What the laws are stated in.
#define THREAD(c, me) ((c) * THREADS + (me) - 1)
bool switched[CORES * THREADS];  // the thread was switched out since its attempt began
#if CORES > 1
byte passed[CORES * CORES];  // [x * CORES + y]: grants of core y while core x asks
#endif
#ifdef LIVENESS
bool reading;  // thread 1 of core 0 has not had its values yet
#endif

// Scratch, 0 between steps.
Request queued;
byte n;

// --- Client: register accesses ---------------------------------------------------------------------------------------

inline empty_fifo(c) {
  do
  :: len(fifo[c]) > 0 -> fifo[c]?_,_
  :: else -> break
  od
#ifndef EMPTY_SHOWS  // mutant: hpcr shows the last value as long as there is no other
  ;
  client[c].hpcr = NONE;
  client[c].hpcr_bit = 0
#endif
}

// The answer to what was sent finds no request with its tag.
inline cancel(c) {
  client[c].trigger = false;
  client[c].current.mark = NONE;
  client[c].current.tag = NONE;
  client[c].current.bitmap = 0
}

#ifdef SET_BITS
#define KEPT_BITS(c) client[c].hpcm  // mutant: the published text uses an instruction that sets bits
#else
#define KEPT_BITS(c) 0
#endif

// Clears the high half.
inline write_hpcm_low(c, me, bits) {
  if
  :: !client[c].trigger ->
     client[c].hpcm = KEPT_BITS(c) | ((bits) & LOW_HALF);
     client[c].hpcm_of = me;
     client[c].interrupted = false;
     client[c].readerror = NONE;
     empty_fifo(c)
#ifdef REFUSED_CLEARS
  :: else -> client[c].interrupted = false  // mutant: so does a write that has no effect
#else
  :: else
#endif
  fi
}

inline write_hpcm_high(c, me, bits) {
  if
  :: !client[c].trigger ->
     client[c].hpcm = KEPT_BITS(c) | (client[c].hpcm & LOW_HALF) | ((bits) & HIGH_HALF);
     client[c].hpcm_of = me;
#ifdef HIGH_HALF_CLEARS
     client[c].interrupted = false  // mutant: as the write of the low half does
#endif
  :: else
  fi
}

// The thread writes to trigger: what it asked for before is no longer its last request.
inline mark_earlier(c, me) {
  if
  :: client[c].hpcr == LAST(me) -> client[c].hpcr = EARLIER(me)
  :: else
  fi;
  if
  :: granted == c && answered.mark == LAST(me) -> answered.mark = EARLIER(me)
  :: else
  fi;
  n = len(requests[c]);
  do
  :: n > 0 ->
     requests[c]?queued.mark,queued.tag,queued.bitmap;
     if
     :: queued.mark == LAST(me) -> queued.mark = EARLIER(me)
     :: else
     fi;
     requests[c]!queued.mark,queued.tag,queued.bitmap;
     n--
  :: else -> break
  od;
  queued.mark = NONE;
  queued.tag = NONE;
  queued.bitmap = 0
}

#ifdef EMPTY_ASKS
#define IS_COMPLETE(c) false  // mutant: a request for no values takes a tag
#else
#define IS_COMPLETE(c) (client[c].hpcm == 0)
#endif

inline write_trigger(c, me) {
  mark_earlier(c, me);
  if
  :: !client[c].trigger ->
     client[c].refused = NONE;
     empty_fifo(c);
     if
     :: IS_COMPLETE(c)
     :: else ->
        client[c].trigger = true;
        client[c].current.mark = LAST(me);
        client[c].current.bitmap = client[c].hpcm
     fi;
     client[c].hpcm = 0;
     client[c].hpcm_of = NONE
  :: else
  fi
}

inline write_refused_trigger(c, me) {
  mark_earlier(c, me);
  if
  :: !client[c].trigger -> client[c].refused = me
  :: else
  fi
}

#define IS_OWN(thread) ((thread) == NONE || (thread) == me)

inline check_hpcr(c, me) {
#ifdef LAW_LEAK
  assert(IS_OWN(THREAD_OF(client[c].hpcr)));  // LEAK: no bit of another thread is visible
#endif
  skip
}

// The low half; the high half is held.
inline read_hpcr(c, me) {
  if
  :: len(fifo[c]) > 0 -> fifo[c]?client[c].hpcr,client[c].hpcr_bit
  :: else -> empty_fifo(c); client[c].readerror = me
  fi;
  check_hpcr(c, me)
}

// --- Client: requests ------------------------------------------------------------------------------------------------

inline take_tag(c) {
#ifdef NO_TAGS
  client[c].current.tag = 1;  // mutant: all answers look alike
#else
#ifdef TAGS_WRAP
  client[c].last_tag = client[c].last_tag % TAGS + 1;
  client[c].current.tag = client[c].last_tag;  // mutant: the next one, free or not
#else
  client[c].current.tag = 1;
  do
  :: client[c].taken & (1 << client[c].current.tag) -> client[c].current.tag++
  :: else -> break
  od;
#endif
#endif
#ifdef LAW_TAG
  assert((client[c].taken & (1 << client[c].current.tag)) == 0);  // TAG: no two requests under way have one tag
#endif
  client[c].taken = client[c].taken | (1 << client[c].current.tag)
}

#if defined(NO_TAGS) || defined(TAGS_WRAP)
#define HAS_FREE_TAG(c) nfull(requests[c])
#else
#define HAS_FREE_TAG(c) (client[c].taken != (1 << (TAGS + 1)) - 2)
#endif

// --- Interconnect and manager ----------------------------------------------------------------------------------------

#if CORES > 1
inline count_grant() {
  other = 0;
  do
  :: other < CORES ->
     passed[granted * CORES + other] = 0;
     if
     :: other != granted && len(requests[other]) > 0 ->
        passed[other * CORES + granted]++;
#ifdef LAW_FAIR
        assert(passed[other * CORES + granted] <= 1);  // FAIR: of two that ask, none is granted twice in a row
#endif
#ifdef LAW_WAIT
        n = 0;
        do
        :: n < CORES -> waited = waited + passed[other * CORES + n]; n++
        :: else -> break
        od;
        assert(waited < CORES);  // WAIT: a request waits for at most one grant of each other core
        waited = 0;
        n = 0
#endif
     :: else
     fi;
     other++
  :: else -> break
  od;
  other = 0
}
#endif

// The first core that asks, from the one after the last granted.
inline grant() {
#ifdef FIXED_PRIORITY
  granted = 0;  // mutant: always from the same one
#else
  granted = (granted + 1) % CORES;
#endif
  do
  :: len(requests[granted]) == 0 -> granted = (granted + 1) % CORES
  :: else -> break
  od;
  requests[granted]?answered.mark,answered.tag,answered.bitmap;
  asked--;
#if CORES > 1
  count_grant()
#endif
}

#define IS_AWAITED (client[granted].trigger && client[granted].current.tag == answered.tag)

// The next value arrives at the client. The FIFO has room: the start has emptied it.
inline answer() {
  value = LOWEST(answered.bitmap);
  answered.bitmap = answered.bitmap - value;
  if
  :: IS_AWAITED ->
     fifo[granted]!answered.mark,value;
     client[granted].hpcm = client[granted].hpcm | value;
     client[granted].hpcm_of = THREAD_OF(answered.mark)
  :: else
  fi;
  value = 0;
  if
  :: answered.bitmap == 0 ->  // it was the last
     client[granted].taken = client[granted].taken & ~(1 << answered.tag);
     if
     :: IS_AWAITED -> cancel(granted)
     :: else
     fi;
     answered.mark = NONE;
     answered.tag = NONE
  :: else
  fi
}

active proctype Manager() {
  byte value;
#if CORES > 1
  byte other, waited;
#endif
  do
  :: d_step { answered.bitmap == 0 && asked > 0 -> grant() }
  :: d_step { answered.bitmap != 0 -> answer() }
  od
}

// All that is on the wires, and the answer under way.
inline withdraw(c) {
  do
  :: len(requests[c]) > 0 -> requests[c]?_,_,_; asked--
  :: else -> break
  od;
  if
  :: granted == c -> answered.mark = NONE; answered.tag = NONE; answered.bitmap = 0
  :: else
  fi;
  client[c].taken = 0;
#if CORES > 1
  n = 0;
  do
  :: n < CORES -> passed[c * CORES + n] = 0; n++
  :: else -> break
  od;
  n = 0
#endif
}

// --- Requests that leave ---------------------------------------------------------------------------------------------

#ifdef ASKERS
// What the manager sees of a core: requests at any time, no more than the core has tags, and their withdrawal.
proctype Asker(byte c) {
  do
  :: d_step { nfull(requests[c]) -> requests[c]!NONE,NONE,LOW_HALF; asked++ }
  :: d_step { nempty(requests[c]) -> withdraw(c) }
  od
}

inline run_core(c) {
  run Asker(c)
}
#else
proctype Sender(byte c) {
  do
  :: d_step { client[c].trigger && client[c].current.tag == NONE && HAS_FREE_TAG(c) ->
       take_tag(c);
       requests[c]!client[c].current.mark,client[c].current.tag,client[c].current.bitmap;
       asked++
     }
  od
}

// --- Threads ---------------------------------------------------------------------------------------------------------

#define RUNS (client[c].running == me)

#ifdef WHOLE
#define NEXT_HALF
#else
#define NEXT_HALF } d_step { RUNS ->  // a switch may come between the halves
#endif

#ifdef ONE_MORE
#define READS(bitmap) ((bitmap) | 4)  // mutant: one more than there are values
#else
#define READS(bitmap) (bitmap)
#endif

#ifdef CHECK_LATE
#define SEES_INTERRUPTED(c) false  // mutant: it looks only when it has all values
#else
#define SEES_INTERRUPTED(c) client[c].interrupted
#endif

#ifdef REFUSAL_IGNORED
#define SEES_REFUSED(c) false  // mutant: it waits for values only
#else
#define SEES_REFUSED(c) (client[c].refused != NONE && !client[c].interrupted)
#endif

#ifdef OPTIMISTIC
#define IS_OPTIMISTIC true
#else
#define IS_OPTIMISTIC false
#endif

#ifdef TWO_READS
#define IS_GOOD(c) (client[c].readerror == NONE)
#else
#ifdef READERROR_IGNORED
#define IS_GOOD(c) (!client[c].interrupted)  // mutant
#else
#define IS_GOOD(c) (!client[c].interrupted && client[c].readerror == NONE)
#endif
#endif

inline begin_attempt() {
  switched[THREAD(c, me)] = false;
#ifdef LIVENESS
  reading = reading || THREAD(c, me) == 0;
#endif
  cancel(c)
}

inline end_attempt() {
  bitmap = 0;
  left = 0;
  asked_in_vain = false;
  foreign = false
}

inline fail() {
#ifdef LAW_CAUSE
  assert(switched[THREAD(c, me)]);  // CAUSE: an attempt fails only because of a switch
#endif
  end_attempt()
}

inline end_reading() {
#ifdef LIVENESS
  reading = reading && THREAD(c, me) != 0;
#endif
  end_attempt()
}

inline accept() {
#ifdef LAW_OWN
  assert(!foreign);  // OWN: an accepted reading has the values of the thread's own last request ...
#endif
  end_reading()
}

inline report_refusal() {
#ifdef LAW_OWN
  assert(asked_in_vain);  // ... and a reported refusal is of that request
#endif
  end_reading()
}

inline compare_value() {
  check_hpcr(c, me);
  foreign = foreign || ((left & bitmap) && (client[c].hpcr != LAST(me) || client[c].hpcr_bit != LOWEST(left)))
}

// Reads for ever, each time the counters that it likes. A thread that gives up after 8 attempts and is asked again
// takes the steps of one that tries a ninth time.
proctype Thread(byte c; byte me) {
  byte bitmap, left;
  bool asked_in_vain, foreign;
again:
  if
  :: d_step { RUNS -> bitmap = LOW_HALF; begin_attempt() }
  :: d_step { RUNS -> bitmap = HIGH_HALF; begin_attempt() }
  :: d_step { RUNS -> bitmap = LOW_HALF | HIGH_HALF; begin_attempt() }
  fi;
  d_step { RUNS ->
    write_hpcm_low(c, me, bitmap);
    NEXT_HALF
    write_hpcm_high(c, me, bitmap)
  }
  if
  :: d_step { RUNS -> write_trigger(c, me); left = READS(bitmap) }
#ifndef REFERENCE  // there, a trigger without right raises an exception
  :: d_step { RUNS -> asked_in_vain = !client[c].trigger; write_refused_trigger(c, me); left = READS(bitmap) }
#endif
  fi;
  do
  :: left != 0 ->
     if
     :: RUNS && (len(fifo[c]) > 0 || IS_OPTIMISTIC)
     :: d_step { RUNS && SEES_INTERRUPTED(c) -> fail() } goto again
     :: d_step { RUNS && SEES_REFUSED(c) -> report_refusal() } goto again
     fi;
     d_step { RUNS ->
       read_hpcr(c, me);
       compare_value();
       NEXT_HALF
       compare_value();
       left = left & ~LOWEST(left)
     }
  :: else -> break
  od;
#ifdef TWO_READS
  if
  :: RUNS && !client[c].interrupted  // mutant: a switch may come before it sees readerror
  :: d_step { RUNS && client[c].interrupted -> fail() } goto again
  fi;
#endif
  if
  :: d_step { RUNS && IS_GOOD(c) -> accept() } goto again
  :: d_step { RUNS && !IS_GOOD(c) -> fail() } goto again
  fi
}

#ifdef WILD
// Makes any accesses in any order, and sees what it can.
proctype Wild(byte c; byte me) {
  do
  :: d_step { RUNS -> cancel(c) }
  :: d_step { RUNS -> write_trigger(c, me) }
  :: d_step { RUNS -> write_refused_trigger(c, me) }
  :: d_step { RUNS -> write_hpcm_low(c, me, 0) }
  :: d_step { RUNS -> write_hpcm_low(c, me, LOW_HALF) }
  :: d_step { RUNS -> write_hpcm_high(c, me, 0) }
  :: d_step { RUNS -> write_hpcm_high(c, me, HIGH_HALF) }
  :: d_step { RUNS -> read_hpcr(c, me) }
#ifdef LAW_LEAK
  :: d_step { RUNS ->
       check_hpcr(c, me);
       assert(IS_OWN(client[c].hpcm_of));
       assert(IS_OWN(client[c].refused));
       assert(IS_OWN(client[c].readerror))
     }
#endif
  od
}
#endif

// --- Switches --------------------------------------------------------------------------------------------------------

inline switch_threads(c) {
  switched[THREAD(c, client[c].running)] = true;
  client[c].running = client[c].running % THREADS + 1;
  client[c].interrupted = true;
#ifndef SWITCH_KEEPS
  cancel(c);
  empty_fifo(c);
  client[c].hpcm = 0;
  client[c].hpcm_of = NONE;
  client[c].refused = NONE;
#ifndef READERROR_KEPT  // mutant: a bit of hpcc stays
  client[c].readerror = NONE;
#endif
#ifdef SWITCH_WITHDRAWS
  withdraw(c);
#endif
#endif
}

#ifdef SWITCHES
#define MAY_SWITCH (switches < SWITCHES)
#else
#define MAY_SWITCH true
#endif

// Switches at any time, until it stops for ever: a thread that waits must not need another switch.
proctype Scheduler(byte c) {
#ifdef SWITCHES
  byte switches;
#endif
  do
  :: d_step { MAY_SWITCH ->
       switch_threads(c);
#ifdef SWITCHES
       switches++
#endif
     }
  :: break
  od
}

#ifdef WILD
#define READERS (THREADS - 1)
#else
#define READERS THREADS
#endif

inline run_core(c) {
  client[c].running = 1;
  run Sender(c);
  run Scheduler(c);
  me = 1;
  do
  :: me <= READERS -> run Thread(c, me); me++
  :: else -> break
  od;
#ifdef WILD
  run Wild(c, me);
#endif
  me = 0
}
#endif

init {
  byte core, me;
  atomic {
    do
    :: core < CORES -> run_core(core); core++
    :: else -> break
    od;
    core = 0
  }
}

#ifdef LIVENESS
// While it runs, a thread that reads gets its values or an error.
#define WAITS (reading && client[0].running == 1)
ltl ends { [] (WAITS -> <> !WAITS) }
#endif
