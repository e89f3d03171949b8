// SPDX-License-Identifier: Apache-2.0
#include "sim/riscv/shape.h"

#include <bit>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "proto/base/status_macros.h"

namespace sideband::riscv {
namespace {

constexpr uint64_t kCacheBytesMax = uint64_t{64} << 20;
constexpr uint32_t kWaysMax = 32;
constexpr uint32_t kLatencyMax = 10'000;

struct Range {
  uint64_t min;
  uint64_t max;
};

absl::Status CheckRange(absl::string_view name, uint64_t value, Range range) {
  if (value >= range.min && value <= range.max) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(name, " must be ", range.min, " to ", range.max));
}

absl::Status CheckPower(absl::string_view name, uint64_t value, Range range) {
  if (value >= range.min && value <= range.max && std::has_single_bit(value)) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(name, " must be a power of two, ", range.min, " to ", range.max));
}

// `parts` caches of equal size.
absl::Status CheckCache(absl::string_view name, const CacheShape& cache, uint32_t line_bytes, uint32_t parts) {
  SIDEBAND_RETURN_IF_ERROR(CheckRange(absl::StrCat(name, ".ways"), cache.ways, {1, kWaysMax}));
  const uint64_t unit = uint64_t{line_bytes} * cache.ways * parts;
  if (cache.bytes <= kCacheBytesMax && cache.bytes % unit == 0 && std::has_single_bit(cache.bytes / unit)) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat(name, ".bytes must be ", unit, " times a power of two, at most ", kCacheBytesMax));
}

constexpr absl::string_view kCoreNames[kCoreEvents] = {"cycles",       "instructions",  "l1i_read",
                                                       "l1i_readmiss", "l1d_read",      "l1d_readmiss",
                                                       "l1d_write",    "l1d_writemiss", "l1d_writeback"};
constexpr absl::string_view kSliceNames[kSliceEvents] = {"l2_read", "l2_readmiss", "l2_write", "l2_writemiss",
                                                         "l2_writeback"};

}  // namespace

absl::Status Validate(const MachineShape& shape) {
  SIDEBAND_RETURN_IF_ERROR(CheckRange("cores", shape.cores, {1, MachineShape::kCoresMax}));
  SIDEBAND_RETURN_IF_ERROR(CheckPower("memory_bytes", shape.memory_bytes, {uint64_t{64} << 10, uint64_t{1} << 30}));
  SIDEBAND_RETURN_IF_ERROR(CheckPower("line_bytes", shape.line_bytes, {16, 256}));
  SIDEBAND_RETURN_IF_ERROR(CheckPower("l2_slices", shape.l2_slices, {1, MachineShape::kSlicesMax}));
  SIDEBAND_RETURN_IF_ERROR(CheckCache("l1i", shape.l1i, shape.line_bytes, 1));
  SIDEBAND_RETURN_IF_ERROR(CheckCache("l1d", shape.l1d, shape.line_bytes, 1));
  SIDEBAND_RETURN_IF_ERROR(CheckCache("l2", shape.l2, shape.line_bytes, shape.l2_slices));
  SIDEBAND_RETURN_IF_ERROR(CheckRange("hop_cycles", shape.hop_cycles, {1, kLatencyMax}));
  SIDEBAND_RETURN_IF_ERROR(CheckRange("l2_cycles", shape.l2_cycles, {1, kLatencyMax}));
  return CheckRange("memory_cycles", shape.memory_cycles, {1, kLatencyMax});
}

absl::string_view NameOf(CoreEvent event) { return kCoreNames[Index(event)]; }
absl::string_view NameOf(SliceEvent event) { return kSliceNames[Index(event)]; }

std::string EventWires::Name(sim::WireId wire) const {
  if (wire < slice(0)) return absl::StrCat("core", wire / kCoreEvents, ".", kCoreNames[wire % kCoreEvents]);
  const sim::WireId own = wire - slice(0);
  return absl::StrCat("slice", own / kSliceEvents, ".", kSliceNames[own % kSliceEvents]);
}

}  // namespace sideband::riscv
