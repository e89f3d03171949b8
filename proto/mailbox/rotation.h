// SPDX-License-Identifier: Apache-2.0
//
// Counter rotation: multiplexing of more events than counters. Sets of events are counted one after another, in slots
// of each context's own time; the counts that a set missed are estimated, with an error (counter-rotation.md).
//   const RotationPlan& plan = catalog.plans[0];                    // the chip's own
//   const BlockRotation& numbers = snapshot.rotation[block];
//   const RotationTime time = TimeOf(numbers, catalog.plans, event, group);
//   time.running;                        // cycles in which the event was counted, of time.enabled
#ifndef SIDEBAND_PROTO_MAILBOX_ROTATION_H_
#define SIDEBAND_PROTO_MAILBOX_ROTATION_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/base/bytes.h"
#include "proto/mailbox/counting.h"

namespace sideband::mailbox {

inline constexpr size_t kRotationSetsMax = 64;  // of all plans of a device together
inline constexpr size_t kRelationsMax = 1024;
inline constexpr uint32_t kRotationStepMax = 1000;  // intervals of a window
inline constexpr size_t kPlansMax = 64;
inline constexpr uint16_t kOwnPlan = 0;  // the number of the plan that the chip boots with
// A part of this number has the cycles of plans that are not known any more, as if of one set: running are those in
// which each event of them that was counted at all ran at least.
inline constexpr uint16_t kForgottenPlan = 0xFFFF;

// A relation that is always true of the contributions of events in any cycles, of one clock, of one scope, and of one
// gate group or of none.
struct Relation {
  enum class Kind : uint8_t {
    kCycles = 0,  // the members together gain `times` in each cycle
    kSum = 1,     // `whole` gains what the members gain together
    kAtMost = 2,  // `whole` gains at most what its one member gains
  };
  Kind kind = Kind::kCycles;
  std::vector<uint16_t> members;  // events, ascending, at least one
  uint16_t whole = 0;             // not of kCycles
  uint32_t times = 1;             // of kCycles, at least 1
  bool operator==(const Relation&) const = default;
};

enum class RotationProfile : uint8_t {
  kFast = 0,    // every set takes turns, in an order that only the device knows
  kTwoSet = 1,  // two sets alternate; each generation of a context counts other two (a pass)
};

// How the turns are made. Times are in cycles of the reference clock, and of each context's own. The values here are
// those of kFast at 1 GHz; rotation_file.h has each profile's at every clock.
struct RotationSettings {
  RotationProfile profile = RotationProfile::kFast;
  uint64_t stable_slot = 200'000, fluctuating_slot = 100'000;
  uint64_t interval = 500'000'000;       // between the classifier's looks
  uint32_t threshold_per_mille = 50;     // a relative change above it is fluctuation
  uint32_t step = 4;                     // intervals of a window
  uint32_t sets_per_pass = 0;            // that one generation of a context counts; 0: all
  bool adapt = true;                     // more turns for the sets that need them; kFast only
  std::map<uint16_t, uint32_t> weights;  // of an event's error among the others', in 1/1000; 1000 without an entry
  bool operator==(const RotationSettings&) const = default;
};

// A request of APPLY: the device makes the sets.
struct RotationRequest {
  uint16_t vm = 0;
  std::vector<uint16_t> contexts;  // ascending; none: the whole VM
  RotationSettings settings;
  EventSet events;  // that take turns; none: all that can
  EventSet always;  // of these, in every set
  bool operator==(const RotationRequest&) const = default;
};

// A plan in force.
struct RotationPlan {
  uint16_t number = 0;         // 0: the chip's own; others are of this boot
  bool of_device = false;      // of device-scope events, which take turns in the device's own cycles
  std::vector<EventSet> sets;  // what is counted or derived while each is in turn, fixed events not included
  EventSet derived;            // of these, computed from others by a relation
  RotationSettings settings;
  bool operator==(const RotationPlan&) const = default;
};

// The runs (generations of a context) in which every set of a plan is counted: one has set 0, of kTwoSet the first;
// each other one has the next `sets_per_pass` (0: one run has all).
size_t Passes(size_t sets, size_t sets_per_pass);

// The numbers that a block has of one plan. Index 0 of the innermost dimension is all of the block's own cycles; index
// 1 + g those with the gate of group g open.
struct RotationPart {
  uint16_t plan = 0;              // its number
  std::vector<uint64_t> enabled;  // cycles under the plan
  std::vector<uint64_t> running;  // the same of each set's slots: set after set
  bool operator==(const RotationPart&) const = default;
};

inline constexpr uint64_t kUnknownNumber = std::numeric_limits<uint64_t>::max();

// The estimate of an event of a block since the block's generation began, with the counted number: counted <= truth <=
// upper, and counted <= estimate <= upper. None ever falls but the deviation.
struct EventEstimate {
  uint64_t estimate = 0;
  uint64_t upper = 0;      // kUnknownNumber: a counter saturated
  uint64_t deviation = 0;  // the standard error, rounded up; 1.96 times it is a 95 % interval's half; kUnknownNumber:
                           // too few slots
  bool operator==(const EventEstimate&) const = default;
};

// The numbers of a block beside its counters, which hold what was counted.
struct BlockRotation {
  std::vector<RotationPart> parts;    // ascending by number; none: no plan was ever in force
  std::vector<EventEstimate> events;  // of the catalogue's rotated and derived events, in its order; or none
  bool operator==(const BlockRotation&) const = default;
};

// Cycles of a block in which an event could have been counted, and in which it was.
struct RotationTime {
  uint64_t enabled = 0;
  uint64_t running = 0;
  bool operator==(const RotationTime&) const = default;
};

// The time of an event with the gate group of that index (none: of no group), in all parts. Running are the slots of
// the sets that include the event. A part without the group does not count at all, nor one whose plan is of the other
// scope: events are of the device where a plan of the device includes them. A part whose plan is not among `plans`
// counts in enabled only, of events that are not of the device, whose plan is never forgotten.
RotationTime TimeOf(const BlockRotation& numbers, const std::vector<RotationPlan>& plans, size_t event,
                    std::optional<size_t> gate_group);

// The running slots of the part of kForgottenPlan. Whether the event was counted under such a plan is not known, unless
// it has numbers.
uint64_t ForgottenRunning(const BlockRotation& numbers, std::optional<size_t> gate_group);

// "rotation: WHAT".
absl::Status MalformedRotation(absl::string_view what);

// The items of which catalogues, plans and requests of counter rotation consist on the wire (stream_format.md,
// "Rotation").
void Encode(const EventSet& events, ByteWriter& out);
void Encode(const RotationSettings& settings, ByteWriter& out);
void Encode(const RotationPlan& plan, ByteWriter& out);
void Encode(const Relation& relation, ByteWriter& out);

// All events must be below `events`. INVALID_ARGUMENT: truncated, an event that does not exist, events that do not
// ascend, no or more than kRotationSetsMax sets, an unknown kind or profile, a relation without members, or one that
// cannot be.
absl::Status Decode(ByteReader& in, size_t events, EventSet& set);
absl::Status Decode(ByteReader& in, size_t events, RotationSettings& settings);
absl::Status Decode(ByteReader& in, size_t events, RotationPlan& plan);
absl::Status Decode(ByteReader& in, size_t events, Relation& relation);

// The payload of the catalogue's section. INVALID_ARGUMENT also for bytes after the end, more than kRelationsMax
// relations or kPlansMax plans, numbers of plans that do not ascend, and more than kRotationSetsMax sets together.
Bytes EncodeRotations(const std::vector<Relation>& relations, const std::vector<RotationPlan>& plans);
absl::Status DecodeRotations(ByteSpan payload, size_t events, std::vector<Relation>& relations,
                             std::vector<RotationPlan>& plans);

// The bytes that opcode ROTATE moves: a request for the upload buffer, and the stream of PLAN (stream_format.md,
// "Rotation").
Bytes EncodeRotationRequest(const RotationRequest& request);
// `bytes` come from an untrusted peer. INVALID_ARGUMENT for truncated input, bytes after the end, contexts that do not
// ascend, an event that is not below `events`, and an unknown profile.
absl::StatusOr<RotationRequest> DecodeRotationRequest(ByteSpan bytes, size_t events);

// Returns a whole stream, frame included. `scope` as in the command PLAN (extension.h).
Bytes EncodePlanStream(uint64_t boot_id, uint32_t scope, const RotationPlan& plan);
// `stream` comes from an untrusted peer. DATA_LOSS if the frame is damaged, ABORTED if the stream is of another
// scope, INVALID_ARGUMENT for another kind of stream and as for DecodeRotationRequest, and for no or more than
// kRotationSetsMax sets.
absl::StatusOr<RotationPlan> DecodePlanStream(ByteSpan stream, uint32_t scope, size_t events);

}  // namespace sideband::mailbox

#endif  // SIDEBAND_PROTO_MAILBOX_ROTATION_H_
