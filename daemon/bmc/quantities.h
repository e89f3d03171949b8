// SPDX-License-Identifier: Apache-2.0
//
// The table of what is published of a BMC's values: a row for each quantity, with where it is in Redfish, its unit and
// its plausible range, and where it goes in a BoardReading. What has no row is not published. Reports and resources use
// the same rows: a report's MetricProperty is the URI and JSON pointer of a resource's member.
//   const Located located = Locate("/redfish/v1/Chassis/HGX_GPU_0/Sensors/HGX_GPU_0_TEMP_0");   // gpu "GPU_0"
//   const BmcQuantity* row = FindQuantity(BmcVendor::kNvidia, *located.place);
//   const double celsius = ParseSample(*row, "32.937500").sample.number;
#ifndef SIDEBAND_DAEMON_BMC_QUANTITIES_H_
#define SIDEBAND_DAEMON_BMC_QUANTITIES_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "absl/strings/string_view.h"
#include "daemon/board/board_reading.h"

namespace sideband::daemon {

enum class BmcVendor : uint8_t { kNvidia, kAmd };

// The resources of a GPU.
enum class BmcResource : uint8_t {
  kSensor,              // Chassis/HGX_<GPU>/Sensors/HGX_<GPU>_<member>, Chassis/OAM_n/Sensors/GPU_n_<member>
  kProcessor,           // Systems/…/Processors/<GPU>
  kProcessorMetrics,    // …/ProcessorMetrics
  kEnvironmentMetrics,  // …/EnvironmentMetrics
  kMemory,              // Systems/…/Memory/<GPU>_DRAM_0, Systems/UBB/Memory/GPUn
  kMemoryMetrics,       // …/MemoryMetrics
  kPcieDevice,          // Chassis/HGX_<GPU>/PCIeDevices/<GPU>, Chassis/OAM_n/PCIeDevices/n
  kChassis,             // Chassis/HGX_<GPU>
  kPort,                // Systems/…/Processors/<GPU>/Ports/NVLink_n
  kPortMetrics,         // …/Ports/NVLink_n/Metrics
};

// A member of a GPU's resource.
struct BmcPlace {
  std::string gpu;  // as the processor's resource is called: "GPU_0", "GPU_SXM_1", "GPU0"
  BmcResource resource;
  std::string member;  // of a sensor "temp_0", else the JSON pointer "oem/nvidia/smactivitypercent"; in lower case
  // The number of a port, or of an element of a list, such as the second of ThrottleReasons; `member` ends before it.
  std::optional<uint8_t> index;
};

struct Located {
  std::optional<BmcPlace> place;
  // A value of a resource that does not say which member's: some firmware reports all members of a GPU like that.
  bool has_no_member = false;
};

// `property` is a MetricProperty, or the URI and pointer of a resource's member. Case, trailing slashes, the prefix of
// an aggregated service, "/Reading" and a pointer without slash do not matter.
Located Locate(absl::string_view property);

// Whether both are names of one GPU: without case.
bool IsSameGpu(absl::string_view a, absl::string_view b);

enum class BmcKind : uint8_t {
  kGauge,
  kCount,     // a counter: a fall is a new beginning
  kDuration,  // such a counter, of time: "P6DT23H36M51.224568128S"
  kState,     // "true" or "false"
  kThrottle,  // a word for a reason of throttling, or "NA"
  kHealth,    // "OK", "Warning" or "Critical"; its number is that of BoardHealth
  kText,      // of the identity
};

// A value of a row, at an instant.
struct BmcSample {
  double number = 0;   // of kGauge, kState and kHealth
  uint32_t mask = 0;   // of kThrottle
  std::string text;    // of kText
  RunningCount count;  // of kCount and kDuration
  uint8_t index = 0;
};

struct BmcQuantity {
  BmcVendor vendor;
  BmcResource resource;
  const char* member;
  BoardGroup group;
  BmcKind kind;
  double scale;     // from the BMC's unit to the reading's
  double min, max;  // of plausible values, in the BMC's unit
  void (*set)(const BmcSample& sample, BoardReading& reading);
  const char* unit = nullptr;  // of a sensor, as Redfish spells it
};
std::span<const BmcQuantity> BmcQuantities();

// Whether the values of a row are elements of a list, which an answer has whole.
bool IsList(const BmcQuantity& row);

// nullptr if it is not published.
const BmcQuantity* FindQuantity(BmcVendor vendor, const BmcPlace& place);

// Why a value is left out; the labels of a metric.
enum class BmcOmission : uint8_t { kNull, kNotANumber, kOutOfRange, kNoMember, kStale, kUnknownWord, kWrongUnit };
inline constexpr const char* kBmcOmissions[] = {"null",  "not_a_number", "out_of_range", "no_member",
                                                "stale", "unknown_word", "wrong_unit"};

// A BMC's text, as a row reads it: the sample without its count, and the counter's content, scaled and rounded.
struct BmcParsed {
  std::optional<BmcOmission> omission;  // then nothing else
  BmcSample sample;
  uint64_t counter = 0;
};
// Whether a row's samples are running counts.
inline bool IsCount(BmcKind kind) { return kind == BmcKind::kCount || kind == BmcKind::kDuration; }

BmcParsed ParseSample(const BmcQuantity& row, absl::string_view text);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_BMC_QUANTITIES_H_
