// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/chip/domain_rules.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"

namespace sideband::mcu {
namespace {

constexpr uint64_t kWireNsMax = 1'000'000;
constexpr uint64_t kSyncEdgesMax = 16;
constexpr uint64_t kReferenceDelayNsMax = 1'000'000;
// Between the phases of one domain's clocks on neighbouring slices, in units of 2^-32 cycles: by the golden ratio.
constexpr uint32_t kPhaseStep = 0x9e3779b9;

absl::Status CheckDomain(const PipelineConfig& config, const DomainSpec& domain) {
  SIDEBAND_RETURN_IF_ERROR(CheckRange("wire_ns", domain.wire_max_ns, domain.wire_min_ns, kWireNsMax));
  SIDEBAND_RETURN_IF_ERROR(CheckRange("sync_edges", domain.sync_edges, 0, kSyncEdgesMax));
  sim::DomainClockSpec spec = domain.clock;
  spec.reference_hz = config.clock_hz;
  return sim::DomainClock::Create(spec).status();
}

// A collection unit is in one domain, so that its records are of one clock.
absl::Status CheckCcu(const CcuSpec& ccu, size_t domains) {
  for (const UlcSpec& ulc : ccu.ulcs) {
    SIDEBAND_RETURN_IF_ERROR(CheckRange("domain", ulc.domain, 0, domains));
    if (ulc.domain == ccu.ulcs[0].domain) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("unit '", ulc.name, "' is in another clock domain than '", ccu.ulcs[0].name, "'"));
  }
  return absl::OkStatus();
}

// Its clock is not stepped.
absl::Status CheckScheduler(const PipelineConfig& config) {
  const uint32_t domain = config.scheduler.domain;
  if (domain == 0 || config.domains[domain - 1].clock.levels.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("the scheduler cannot run in domain '", config.domains[domain - 1].name, "', which has levels"));
}

absl::Status CheckNames(const PipelineConfig& config) {
  std::set<std::string> names;
  for (const DomainSpec& domain : config.domains) {
    if (domain.name.empty()) return absl::InvalidArgumentError("a clock domain has no name");
    if (names.insert(domain.name).second) continue;
    return absl::InvalidArgumentError(absl::StrCat("domain '", domain.name, "' is listed twice"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckDomains(const PipelineConfig& config) {
  const size_t domains = config.domains.size();
  SIDEBAND_RETURN_IF_ERROR(CheckRange("the scheduler's domain", config.scheduler.domain, 0, domains));
  if (domains == 0) return absl::OkStatus();
  SIDEBAND_RETURN_IF_ERROR(CheckRange("number of domains", domains, 0, kDomainsMax - 1));
  SIDEBAND_RETURN_IF_ERROR(
      CheckRange("reference_delay_ns", config.scheduler.reference_delay_ns, 0, kReferenceDelayNsMax));
  SIDEBAND_RETURN_IF_ERROR(CheckNames(config));
  SIDEBAND_RETURN_IF_ERROR(CheckScheduler(config));
  for (const DomainSpec& domain : config.domains) {
    SIDEBAND_RETURN_IF_ERROR(Named(absl::StrCat("domain '", domain.name, "'"), CheckDomain(config, domain)));
  }
  for (const CcuSpec& ccu : config.ccus) SIDEBAND_RETURN_IF_ERROR(Named(ccu.name, CheckCcu(ccu, domains)));
  return CheckRange("number of domains, each on its slices and on the device,", RowsOf(config).size(), 0,
                    kDomainRowsMax);
}

std::vector<DomainRow> RowsOf(const PipelineConfig& config) {
  std::set<DomainRow> rows;
  if (config.domains.empty()) return {};
  for (const CcuSpec& ccu : config.ccus) {
    for (const UlcSpec& ulc : ccu.ulcs) {
      if (ulc.domain != 0) rows.insert({ccu.channel, ulc.domain});
    }
  }
  return {rows.begin(), rows.end()};
}

std::shared_ptr<const sim::DomainClock> MakeClock(const PipelineConfig& config, const DomainRow& row) {
  const DomainSpec& domain = config.domains[row.domain - 1];
  sim::DomainClockSpec spec = domain.clock;
  spec.reference_hz = config.clock_hz;
  if (!domain.is_shared) {
    spec.seed += row.channel;
    spec.phase += row.channel * kPhaseStep;
  }
  return std::make_shared<const sim::DomainClock>(*sim::DomainClock::Create(spec));
}

sim::LocalClocks MakeClocks(const PipelineConfig& config, uint8_t channel) {
  if (config.domains.empty()) return {};
  std::vector<std::shared_ptr<const sim::DomainClock>> clocks = {nullptr};
  for (uint32_t domain = 1; domain <= config.domains.size(); ++domain) {
    clocks.push_back(MakeClock(config, {channel, domain}));
  }
  return sim::LocalClocks(std::move(clocks));
}

}  // namespace sideband::mcu
