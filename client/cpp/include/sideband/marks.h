// SPDX-License-Identifier: Apache-2.0
//
// Marks of a VM's or a context's work, and what was counted between two of them.
//   const auto begin = client.PlaceMark({.device = "gpu0", .vm = "vm1", .label = "kernel begins"});
//   const auto end = client.PlaceMark({.device = "gpu0", .vm = "vm1", .label = "kernel ends"});
//   if (!begin || !end) return 1;
//   const auto span = client.GetSpan({.device = "gpu0", .vm = "vm1", .from = begin->id, .to = end->id});
//   if (span) std::cout << span->duration.count() << " ns\n";
// The span is there once the mark was read, with the next snapshot: until then GetSpan() is kFailedPrecondition.
#ifndef SIDEBAND_MARKS_H_
#define SIDEBAND_MARKS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sideband/device.h"
#include "sideband/snapshot.h"
#include "sideband/time.h"

namespace sideband {

struct MarkRequest {
  std::string device;
  // By name or UUID.
  std::string vm;
  // Empty: the VM itself.
  std::string context;
  // Up to 64 bytes of UTF-8 without control characters.
  std::string label;
};

enum class MarkState {
  kUnknown,
  // The counts until then have not been read yet.
  kPending,
  kRead,
  // It came too late: the device keeps the newest eight marks of a scope, and none of an ended one.
  kLost,
};

struct Mark {
  // The number among its VM's marks on this device, from 1 on in each run of the daemon.
  uint64_t id = 0;
  Scope scope;
  std::string label;
  uint64_t boot_id = 0;
  MarkState state = MarkState::kUnknown;
  // When the device was asked, by its reference clock.
  Duration requested{};
  // The instant that is marked, by the same clock and by the host's. Absent unless the mark was read.
  std::optional<Duration> reference_time;
  std::optional<Time> host_time;
  Duration host_time_error{};

  bool operator==(const Mark&) const = default;
};

// An empty member sets no limit.
struct MarkFilter {
  std::string device;
  std::string vm;
  std::string context;
};

struct SpanRequest {
  std::string device;
  // By name or UUID.
  std::string vm;
  // Marks of one scope; the later one may be named first.
  uint64_t from = 0;
  uint64_t to = 0;
  // Empty: all that the caller may read.
  std::vector<std::string> events;
};

struct Span {
  Mark from;
  Mark to;
  // By the device's reference clock, with an error to either side.
  Duration duration{};
  Duration duration_error{};
  // The counts in between; rates are over the duration.
  std::vector<Counter> counters;
  // The same as ScopeCounters::flags.
  std::vector<std::string> flags;

  bool operator==(const Span&) const = default;
};

}  // namespace sideband

#endif  // SIDEBAND_MARKS_H_
