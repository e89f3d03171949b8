// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "absl/numeric/int128.h"
#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "proto/base/text.h"
#include "secure_mcu/chip_file/chip_file_sections.h"
#include "sim/wires/domain_clock.h"

namespace sideband::mcu {
namespace {

constexpr uint64_t kHzMin = 1000;
constexpr uint64_t kHzMax = 100'000'000'000;
constexpr double kPpmMax = sim::DomainClock::kTolerancePpbMax / 1000.0;
constexpr absl::Duration kInstantMax = absl::Hours(24 * 365);
constexpr uint64_t kWireNsMax = 1'000'000;
constexpr uint64_t kSyncEdgesMax = 16;
constexpr uint64_t kSchedulerIdMax = 65'535;
constexpr uint64_t kReferenceDelayNsMax = 1'000'000;

// FNV-1a: a domain's clock depends on its name and on nothing else in the file.
uint64_t SeedOf(const std::string& name) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

absl::StatusOr<sim::Instant> ReadInstant(const YamlMap& map, const std::string& key, uint64_t clock_hz) {
  SIDEBAND_ASSIGN_OR_RETURN(const YamlNode node, map.Get(key));
  SIDEBAND_ASSIGN_OR_RETURN(const absl::Duration time, DurationValue(node, key, {absl::ZeroDuration(), kInstantMax}));
  return sim::Instant(absl::ToInt64Nanoseconds(time)) * clock_hz * (1 << sim::kInstantBits) / 1'000'000'000;
}

absl::StatusOr<uint64_t> ReadHz(const YamlMap& map) {
  SIDEBAND_ASSIGN_OR_RETURN(const YamlNode node, map.Get("hz"));
  return UintValue(node, "hz", {kHzMin, kHzMax});
}

absl::Status ReadSteps(const YamlMap& map, sim::DomainClockSpec& clock) {
  SIDEBAND_ASSIGN_OR_RETURN(const auto nodes, map.ListOrEmpty("steps"));
  for (const YamlNode& node : nodes) {
    SIDEBAND_ASSIGN_OR_RETURN(const YamlMap step, node.Map({"at", "hz"}));
    SIDEBAND_ASSIGN_OR_RETURN(const sim::Instant at, ReadInstant(step, "at", clock.reference_hz));
    SIDEBAND_ASSIGN_OR_RETURN(const uint64_t hz, ReadHz(step));
    clock.steps.push_back({at, hz});
  }
  return absl::OkStatus();
}

absl::Status ReadGates(const YamlMap& map, sim::DomainClockSpec& clock) {
  SIDEBAND_ASSIGN_OR_RETURN(const auto nodes, map.ListOrEmpty("gated"));
  for (const YamlNode& node : nodes) {
    SIDEBAND_ASSIGN_OR_RETURN(const YamlMap gate, node.Map({"from", "to"}));
    SIDEBAND_ASSIGN_OR_RETURN(const sim::Instant from, ReadInstant(gate, "from", clock.reference_hz));
    SIDEBAND_ASSIGN_OR_RETURN(const sim::Instant to, ReadInstant(gate, "to", clock.reference_hz));
    clock.gates.push_back({from, to});
  }
  return absl::OkStatus();
}

absl::Status ReadLevels(const YamlMap& map, sim::DomainClockSpec& clock) {
  SIDEBAND_ASSIGN_OR_RETURN(const auto nodes, map.ListOrEmpty("levels"));
  for (const YamlNode& node : nodes) {
    SIDEBAND_ASSIGN_OR_RETURN(const uint64_t level, UintValue(node, "levels", {kHzMin, clock.hz}));
    clock.levels.push_back(level);
  }
  return absl::OkStatus();
}

absl::StatusOr<sim::DomainClockSpec> ReadClock(const YamlMap& map, const std::string& name, uint64_t clock_hz) {
  const uint64_t seed = SeedOf(name);
  sim::DomainClockSpec clock{.reference_hz = clock_hz, .seed = seed, .phase = static_cast<uint32_t>(seed >> 32)};
  SIDEBAND_ASSIGN_OR_RETURN(clock.hz, ReadHz(map));
  SIDEBAND_ASSIGN_OR_RETURN(const double ppm, NumberField(map, "ppm", 0, {-kPpmMax, kPpmMax}));
  clock.offset_ppb = std::llround(ppm * 1000);
  clock.tolerance_ppb = static_cast<uint64_t>(std::abs(clock.offset_ppb));
  SIDEBAND_RETURN_IF_ERROR(
      Uint32Field(map, "wander_ppb_per_s", {0, sim::DomainClock::kWanderMax}, clock.wander_ppb_per_s));
  SIDEBAND_RETURN_IF_ERROR(ReadSteps(map, clock));
  SIDEBAND_RETURN_IF_ERROR(ReadGates(map, clock));
  SIDEBAND_RETURN_IF_ERROR(ReadLevels(map, clock));
  SIDEBAND_ASSIGN_OR_RETURN(clock.announces, BoolField(map, "announces", true));
  return clock;
}

// How long a trigger takes, of a domain or of a trigger line.
template <typename Spec>
absl::Status ReadWire(const YamlMap& map, const std::string& key, Spec& spec) {
  const auto node = map.Find(key);
  if (!node) return absl::OkStatus();
  SIDEBAND_ASSIGN_OR_RETURN(const auto ends, node->List());
  if (ends.size() != 2) return node->Error(absl::StrCat(key, " must be [least, most]"));
  SIDEBAND_ASSIGN_OR_RETURN(spec.wire_min_ns, UintValue(ends[0], key, {0, kWireNsMax}));
  SIDEBAND_ASSIGN_OR_RETURN(spec.wire_max_ns, UintValue(ends[1], key, {spec.wire_min_ns, kWireNsMax}));
  return absl::OkStatus();
}

absl::StatusOr<DomainSpec> ReadDomain(const YamlNode& node, uint64_t clock_hz) {
  SIDEBAND_ASSIGN_OR_RETURN(const YamlMap map, node.Map({"name", "hz", "ppm", "wander_ppb_per_s", "steps", "gated",
                                                         "levels", "announces", "wire_ns", "sync_edges"}));
  DomainSpec domain;
  SIDEBAND_ASSIGN_OR_RETURN(domain.name, ReadName(map));
  SIDEBAND_ASSIGN_OR_RETURN(domain.clock, ReadClock(map, domain.name, clock_hz));
  SIDEBAND_RETURN_IF_ERROR(ReadWire(map, "wire_ns", domain));
  SIDEBAND_RETURN_IF_ERROR(Uint32Field(map, "sync_edges", {0, kSyncEdgesMax}, domain.sync_edges));
  const absl::Status status = sim::DomainClock::Create(domain.clock).status();
  if (!status.ok()) return node.Error(absl::StrCat("domain '", domain.name, "': ", status.message()));
  return domain;
}

absl::Status ReadScheduler(const YamlMap& root, ChipFile& file) {
  const auto node = root.Find("scheduler");
  if (!node) return absl::OkStatus();
  if (file.pipeline.domains.empty())
    return node->Error("a scheduler needs 'domains', whose clocks its triggers are for");
  SIDEBAND_ASSIGN_OR_RETURN(const YamlMap map, node->Map({"id", "domain", "reference_delay_ns"}));
  SchedulerSpec& scheduler = file.pipeline.scheduler;
  SIDEBAND_ASSIGN_OR_RETURN(const uint64_t id, UintField(map, "id", 0, {0, kSchedulerIdMax}));
  scheduler.id = static_cast<uint16_t>(id);
  SIDEBAND_ASSIGN_OR_RETURN(scheduler.reference_delay_ns,
                            UintField(map, "reference_delay_ns", 0, {0, kReferenceDelayNsMax}));
  if (const auto domain = map.Find("domain")) {
    SIDEBAND_ASSIGN_OR_RETURN(scheduler.domain, FindDomain(*domain, file));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status ReadDomains(const YamlMap& root, ChipFile& file) {
  SIDEBAND_ASSIGN_OR_RETURN(const auto nodes, root.ListOrEmpty("domains"));
  for (const YamlNode& node : nodes) {
    SIDEBAND_ASSIGN_OR_RETURN(DomainSpec domain, ReadDomain(node, file.pipeline.clock_hz));
    if (std::ranges::find(file.pipeline.domains, domain.name, &DomainSpec::name) != file.pipeline.domains.end()) {
      return node.Error(absl::StrCat("domain '", domain.name, "' is listed twice"));
    }
    file.pipeline.domains.push_back(std::move(domain));
    if (file.pipeline.domains.size() == kDomainsMax) {
      return node.Error(absl::StrCat("more than ", kDomainsMax - 1, " domains"));
    }
  }
  if (!nodes.empty()) file.domains_line = nodes[0].line();
  return absl::OkStatus();
}

absl::StatusOr<uint32_t> FindDomain(const YamlNode& node, const ChipFile& file) {
  SIDEBAND_ASSIGN_OR_RETURN(const std::string name, node.String());
  std::vector<std::string> names;
  for (const DomainSpec& domain : file.pipeline.domains) {
    names.push_back(domain.name);
    if (domain.name == name) return static_cast<uint32_t>(names.size());
  }
  return node.Error(absl::StrCat("no domain '", name, "'", DidYouMean(name, names)));
}

absl::Status FinishDomains(const YamlMap& root, ChipFile& file) {
  if (!file.pipeline.domains.empty() && file.units.empty()) {
    return root.Find("domains")->Error("domains need units, which are in them");
  }
  SIDEBAND_RETURN_IF_ERROR(ReadScheduler(root, file));
  std::vector<uint32_t> shared = {file.pipeline.scheduler.domain};
  for (const auto* units : {&file.shared_units, &file.device_units}) {
    for (const UnitFileSpec& unit : *units) shared.push_back(unit.ulc.domain);
  }
  for (const uint32_t domain : shared) {
    if (domain != 0) file.pipeline.domains[domain - 1].is_shared = true;
  }
  return absl::OkStatus();
}

absl::Status ReadTriggerLine(const YamlMap& root, ChipFile& file) {
  if (!root.Find("trigger_line")) {
    const auto wire = root.Find("trigger_wire_ns");
    return wire ? wire->Error("trigger_wire_ns needs a trigger_line") : absl::OkStatus();
  }
  TriggerLineFileSpec& line = file.trigger_line.emplace();
  SIDEBAND_ASSIGN_OR_RETURN(line.name, ReadName(root, "trigger_line"));
  return ReadWire(root, "trigger_wire_ns", line);
}

}  // namespace sideband::mcu
