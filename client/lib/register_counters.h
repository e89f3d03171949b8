// SPDX-License-Identifier: Apache-2.0
//
// Reads counters by registers, and chooses what is counted: the two algorithms of registers.md, "The two algorithms",
// and the enable bits of gate groups, "What is counted".
//
//   SIDEBAND_ASSIGN_OR_RETURN(const Reading before, GetCountersShared(page, {.module = 0, .extend = 0}, 0b1011, {}));
//   RunKernel();
//   SIDEBAND_ASSIGN_OR_RETURN(const Reading after, GetCountersShared(page, {.module = 0, .extend = 0}, 0b1011, {}));
//   const uint64_t first = after.values[0] - before.values[0];    // of counter 0
//
// Events by their numbers, of any managers of a module:
//   SIDEBAND_ASSIGN_OR_RETURN(const EventReading reading, ReadEvents(page, /*module=*/0, {3, 70}, {.is_shared =
//   true})); const uint64_t of_70 = reading.counts[1];
//
// A supervisor's page chooses what is counted of its VM, from inside:
//   SIDEBAND_RETURN_IF_ERROR(WriteGate(page, {.vector_enable = true, .vector = 0b01}));    // group 0 alone
//   SIDEBAND_ASSIGN_OR_RETURN(const GateValue value, ReadGate(page));
//   SIDEBAND_RETURN_IF_ERROR(WriteContextGate(page, /*context=*/2, {.value = value, .load = true}));
//
// Errors of gates besides those of the page:
//  UNAVAILABLE  there are no such registers: the page is a user's, or the device has no gate groups
//  NOT_FOUND    of WriteContextGate: the VM has no such context
//  ABORTED      other threads of the supervisor always came in between
#ifndef SIDEBAND_CLIENT_LIB_REGISTER_COUNTERS_H_
#define SIDEBAND_CLIENT_LIB_REGISTER_COUNTERS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/lib/register_page.h"

namespace sideband::client {

// Accesses to the registers hpcc, hpcm and hpcr, whole or by halves, collected and performed together.
//
// Not thread-safe.
class RegisterBatch {
 public:
  // `page` must outlive it; `access_bytes` is 4 or 8.
  RegisterBatch(RegisterPage& page, uint8_t access_bytes) : page_(page), access_bytes_(access_bytes) {}

  // The low half comes first (registers.md, "Registers").
  void Write(uint16_t offset, uint64_t value);
  void Read(uint16_t offset);
  // Performs what was collected, and returns what the reads have read.
  absl::StatusOr<std::vector<uint64_t>> Perform();

 private:
  RegisterPage& page_;
  const uint8_t access_bytes_;
  std::vector<hpc::PageAccess> accesses_;
};

// Counters of one module and extend; the tables of modules and of fields are in registers.md, "Registers".
struct HpcManager {
  uint16_t module = 0;  // below 2048
  uint8_t extend = 0;   // below 64
};

// When a reader takes the values; all get the same ones, in the same order.
enum class Reader {
  kOptimistic,  // together and at once, in the batch of the request; as a patient reader if they were not there yet. A
                // page that is dear to reach, or a short residency, leaves time for little else
  kPatient,     // together, once the last is there
  kEager,       // each as it arrives, by a read of hpcc and one of hpcr: the first values soonest
};

struct ReadOptions {
  // Size of the accesses: 4 where the bus to the registers has no wider ones.
  uint8_t access_bytes = 8;
  // Whether to ask for the reference cycle at which the values are taken.
  bool stamp = false;
  Reader reader = Reader::kOptimistic;
  // The page is a user's: useren cannot be written, and need not be read first to keep it.
  bool is_user = false;
  // ReadEvents reads by GetCountersShared.
  bool is_shared = false;
  // The longest time of a call, beside what a single access takes; on the monotonic clock.
  absl::Duration patience = absl::Seconds(10);
};

struct Reading {
  std::optional<uint64_t> stamp;  // reference cycle
  std::vector<uint64_t> values;   // in ascending order of the bitmap's bits; of one cycle
};

// Takes the counters that `bitmap` selects. Errors besides those of the page:
//   PERMISSION_DENIED  the registers refuse: no such counter, another's, or no right; they do not say which
//   ABORTED            a switch interrupted the reading
//   DEADLINE_EXCEEDED  the values did not arrive
//   UNAVAILABLE        the page does not hold these registers
// For a program that has its slice for itself: no request may be under way.
absl::StatusOr<Reading> GetCounters(RegisterPage& page, HpcManager manager, uint64_t bitmap,
                                    const ReadOptions& options);
// The same for programs that are switched: begins again when a switch interrupts it. UNAVAILABLE, in place of ABORTED,
// after hpc::kAttemptsMax attempts.
absl::StatusOr<Reading> GetCountersShared(RegisterPage& page, HpcManager manager, uint64_t bitmap,
                                          const ReadOptions& options);

struct EventReading {
  std::vector<uint64_t> counts;  // in the order of the events
  std::vector<uint64_t> stamps;  // the same, if asked for; events of one manager have the same
};

// Takes the events, each below hpc::kEventsMax, of a module, by one request for each manager. A repeated event is taken
// once.
absl::StatusOr<EventReading> ReadEvents(RegisterPage& page, uint16_t module, const std::vector<uint16_t>& events,
                                        const ReadOptions& options);

// The first module of [first, first + count) that the caller may read: on which slice the caller runs, if it was not
// told. PERMISSION_DENIED if there is none; other errors as above.
absl::StatusOr<uint16_t> FindModule(RegisterPage& page, uint16_t first, uint16_t count, const ReadOptions& options);

// Which gate groups are enabled. Initially all are.
struct GateValue {
  bool master = true;          // false: no group is
  bool vector_enable = false;  // false: every group is, whatever the vector
  uint64_t vector = 0;         // bit g: group g
  bool operator==(const GateValue&) const = default;
};

struct ContextGate {
  GateValue value;
  bool load = false;   // a switch to the context loads the value; else all groups are enabled
  bool store = false;  // a switch from it stores the value
  bool operator==(const ContextGate&) const = default;
};

// The value that the VM has on the page's slice. What the operator does not allow is closed, and what it has pinned is
// open, whatever the value.
absl::StatusOr<GateValue> ReadGate(RegisterPage& page);
absl::Status WriteGate(RegisterPage& page, const GateValue& value);

// The control block of a context, below 65535, which takes effect at the context's next turn. All bits of a context
// that is not there read 0, `master` too; and a control block of zeros is written to it without an error.
absl::StatusOr<ContextGate> ReadContextGate(RegisterPage& page, uint16_t context);
absl::Status WriteContextGate(RegisterPage& page, uint16_t context, const ContextGate& control);

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_LIB_REGISTER_COUNTERS_H_
