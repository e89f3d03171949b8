// SPDX-License-Identifier: Apache-2.0
#include "daemon/bmc/quantities.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "proto/mailbox/board_items.h"
#include "proto/mailbox/memory_links.h"

namespace sideband::daemon {
namespace {

using mailbox::BoardClock;
using mailbox::EccMemory;
using mailbox::MetricId;
using mailbox::MiscFlag;
using mailbox::PowerSource;
using mailbox::SysId;
using mailbox::TempSensor;
using mailbox::ThrottleReason;

// Some firmware writes this for "unknown".
constexpr double kUnset32 = 4294967295.0;
// A counter of more has no plausible unit.
constexpr double kCountMax = 9e15;
// An NVLink carries 9e15 bytes in 50 hours.
constexpr double kBytesMax = 9e18;
// A century; some firmware takes nanoseconds for milliseconds.
constexpr double kSecondsMax = 3.2e9;

template <auto kGroup, auto kMap, auto kKey>
void SetNumber(const BmcSample& sample, BoardReading& reading) {
  (reading.*kGroup.*kMap)[kKey] = sample.number;
}
template <auto kGroup, auto kMap, auto kKey>
void SetCount(const BmcSample& sample, BoardReading& reading) {
  (reading.*kGroup.*kMap)[kKey] = sample.count;
}
template <auto kGroup, auto kMember>
void SetMember(const BmcSample& sample, BoardReading& reading) {
  using Value = typename std::remove_reference_t<decltype(reading.*kGroup.*kMember)>::value_type;
  if constexpr (std::is_same_v<Value, RunningCount>) {
    reading.*kGroup.*kMember = sample.count;
  } else {
    reading.*kGroup.*kMember = static_cast<Value>(sample.number);
  }
}
template <MetricId kMetric>
void SetRatio(const BmcSample& sample, BoardReading& reading) {
  reading.metrics.scopes[{}].ratios[kMetric] = sample.number;
}
template <MetricId kMetric>
void SetRate(const BmcSample& sample, BoardReading& reading) {
  reading.metrics.scopes[{}].bytes_per_second[kMetric] = sample.number;
}
template <MetricId kMetric>
void SetDecoder(const BmcSample& sample, BoardReading& reading) {
  reading.decoders.ratios[{kMetric, sample.index}] = sample.number;
}
// Of two rows with one member, the first has it.
template <auto kMember>
void SetLink(const BmcSample& sample, BoardReading& reading) {
  auto& links = reading.nvlink.links;
  if (links.size() <= sample.index) links.resize(sample.index + 1);
  auto& member = links[sample.index].*kMember;
  if (member) return;
  using Value = typename std::remove_reference_t<decltype(member)>::value_type;
  if constexpr (std::is_same_v<Value, RunningCount>) {
    member = sample.count;
  } else {
    member = static_cast<Value>(sample.number);
  }
}
template <auto kLimit>
void SetPowerLimit(const BmcSample& sample, BoardReading& reading) {
  reading.power_limits.limits[PowerSource::kTotal].*kLimit = sample.number;
}
template <SysId kItem>
void SetText(const BmcSample& sample, BoardReading& reading) {
  reading.identity.items[kItem] = sample.text;
}
// Boards report it like this: 32 digits.
void SetGuid(const BmcSample& sample, BoardReading& reading) {
  reading.identity.items[SysId::kGuid] = absl::StrReplaceAll(absl::AsciiStrToLower(sample.text), {{"-", ""}});
}
template <MiscFlag kFlag>
void SetFlag(const BmcSample& sample, BoardReading& reading) {
  reading.flags.flags[kFlag] = sample.number != 0;
}

struct ThrottleWord {
  const char* word;
  uint32_t mask;
};
constexpr ThrottleWord kThrottleWords[] = {
    {"NA", 0},
    {"SWPowerCap", MaskOf(ThrottleReason::kSoftwarePowerCap)},
    {"HWSlowdown", MaskOf(ThrottleReason::kHardwareSlowdown)},
    {"HWThermalSlowdown", MaskOf(ThrottleReason::kHardwareThermal)},
    {"HWPowerBrakeSlowdown", MaskOf(ThrottleReason::kHardwarePowerBrake)},
    {"SyncBoost", MaskOf(ThrottleReason::kSyncBoost)},
    {"ClockOptimizedForThermalEngage", MaskOf(ThrottleReason::kSoftwareThermal)},
};

// Whoever lists the active reasons says of the others that they are not active.
void SetThrottle(const BmcSample& sample, BoardReading& reading) {
  reading.clocks.throttle_active = reading.clocks.throttle_active.value_or(0) | sample.mask;
  uint32_t all = 0;
  for (const ThrottleWord& row : kThrottleWords) all |= row.mask;
  reading.clock_limits.throttle_supported = all;
}

struct HealthWord {
  const char* word;
  BoardHealth health;
};
constexpr HealthWord kHealthWords[] = {
    {"OK", BoardHealth::kOk}, {"Warning", BoardHealth::kWarning}, {"Critical", BoardHealth::kCritical}};

void SetHealth(const BmcSample& sample, BoardReading& reading) {
  const auto health = static_cast<BoardHealth>(sample.number);
  reading.health.worst = std::max(reading.health.worst.value_or(health), health);
}

using R = BmcResource;
using G = BoardGroup;
using K = BmcKind;
using B = BoardReading;
constexpr BmcVendor kNvidia = BmcVendor::kNvidia, kAmd = BmcVendor::kAmd;

constexpr double kPercent = 0.01;
constexpr double kGbps = 1e9 / 8;
constexpr double kGiga = 1e9;
constexpr double kMilli = 1000;

constexpr char kCelsius[] = "Cel", kWatts[] = "W", kJoules[] = "J";
constexpr BmcQuantity Sensor(BmcVendor vendor, const char* member, BoardGroup group, double min, double max,
                             void (*set)(const BmcSample&, BoardReading&)) {
  const char* const unit = group == G::kPower ? kWatts : kCelsius;
  return {vendor, R::kSensor, member, group, K::kGauge, 1, min, max, set, unit};
}
template <MetricId kMetric>
constexpr BmcQuantity Activity(const char* member) {
  return {kNvidia, R::kProcessorMetrics, member, G::kMetrics, K::kGauge, kPercent, 0, 100, SetRatio<kMetric>};
}
template <MetricId kMetric>
constexpr BmcQuantity Bandwidth(const char* member) {
  return {kNvidia, R::kProcessorMetrics, member, G::kMetrics, K::kGauge, kGbps, 0, 1e6, SetRate<kMetric>};
}
template <auto kGroup, auto kMember>
constexpr BmcQuantity Counter(BmcVendor vendor, BmcResource resource, const char* member, BoardGroup group) {
  return {vendor, resource, member, group, K::kCount, 1, 0, kCountMax, SetMember<kGroup, kMember>};
}
template <auto kMember>
constexpr BmcQuantity LinkCounter(const char* member, double max = kCountMax) {
  return {kNvidia, R::kPortMetrics, member, G::kNvlink, K::kCount, 1, 0, max, SetLink<kMember>};
}
template <auto kMember>
constexpr BmcQuantity LinkRate(const char* member) {
  return {kNvidia, R::kPortMetrics, member, G::kNvlink, K::kGauge, kGbps, 0, 1e6, SetLink<kMember>};
}
template <SpeedLimit kLimit>
constexpr BmcQuantity SlowTime(const char* member) {
  return {kNvidia,
          R::kProcessorMetrics,
          member,
          G::kViolations,
          K::kDuration,
          kMilli,
          0,
          kSecondsMax,
          SetCount<&B::violations, &ViolationReading::milliseconds, kLimit>};
}
constexpr BmcQuantity Health(BmcVendor vendor, BmcResource resource, const char* member) {
  return {vendor, resource, member, G::kHealth, K::kHealth, 1, 0, 0, SetHealth};
}
template <SysId kItem>
constexpr BmcQuantity Text(BmcVendor vendor, const char* member) {
  return {vendor, R::kProcessor, member, G::kIdentity, K::kText, 1, 0, 0, SetText<kItem>};
}

// NVIDIA's and AMD's names (docs/bmc.md has what is read from which resource).
constexpr BmcQuantity kQuantities[] = {
    Sensor(kNvidia, "temp_0", G::kTemperature, -60, 250,
           SetNumber<&B::temperature, &TemperatureReading::celsius, TempSensor::kGpu0>),
    Sensor(kNvidia, "dram_0_temp_0", G::kTemperature, -60, 250,
           SetNumber<&B::temperature, &TemperatureReading::celsius, TempSensor::kMemory>),
    // Degrees below the first limit, though its unit is a temperature's.
    Sensor(kNvidia, "temp_1", G::kMargin, -100, 250, SetMember<&B::margin, &MarginReading::celsius>),
    Sensor(kNvidia, "power_0", G::kPower, 0, 20'000, SetNumber<&B::power, &PowerReading::watts, PowerSource::kTotal>),
    Sensor(kNvidia, "dram_0_power_0", G::kPower, 0, 20'000,
           SetNumber<&B::power, &PowerReading::watts, PowerSource::kMemory>),
    {kNvidia, R::kSensor, "energy_0", G::kEnergy, K::kCount, kMilli, 0, kCountMax / kMilli,
     SetCount<&B::energy, &EnergyReading::millijoules, PowerSource::kTotal>, kJoules},

    Activity<MetricId::kEngineActive>("oem/nvidia/graphicsengineactivitypercent"),
    Activity<MetricId::kSmActivity>("oem/nvidia/smactivitypercent"),
    Activity<MetricId::kSmOccupancy>("oem/nvidia/smoccupancypercent"),
    Activity<MetricId::kTensorActivity>("oem/nvidia/tensorcoreactivitypercent"),
    Activity<MetricId::kFp64Activity>("oem/nvidia/fp64activitypercent"),
    Activity<MetricId::kFp32Activity>("oem/nvidia/fp32activitypercent"),
    Activity<MetricId::kFp16Activity>("oem/nvidia/fp16activitypercent"),
    Activity<MetricId::kIntegerActivity>("oem/nvidia/integeractivityutilizationpercent"),
    // Firmware of 2024 spells it like that.
    Activity<MetricId::kIntegerActivity>("oem/nvidia/intergeractivityutilizationpercent"),
    Activity<MetricId::kDmmaActivity>("oem/nvidia/dmmautilizationpercent"),
    Activity<MetricId::kHmmaActivity>("oem/nvidia/hmmautilizationpercent"),
    Activity<MetricId::kImmaActivity>("oem/nvidia/immautilizationpercent"),
    // Its report is read less often than those of the other activities.
    {kNvidia, R::kMemoryMetrics, "bandwidthpercent", G::kMemoryActivity, K::kGauge, kPercent, 0, 100,
     SetRatio<MetricId::kDramUsage>},
    Activity<MetricId::kNvdec>("oem/nvidia/nvdecutilizationpercent"),
    Activity<MetricId::kNvjpg>("oem/nvidia/nvjpgutilizationpercent"),
    Activity<MetricId::kNvofa>("oem/nvidia/nvofautilizationpercent"),
    Bandwidth<MetricId::kPcieTx>("oem/nvidia/pcierawtxbandwidthgbps"),
    Bandwidth<MetricId::kPcieRx>("oem/nvidia/pcierawrxbandwidthgbps"),
    Bandwidth<MetricId::kNvlinkRawTx>("oem/nvidia/nvlinkrawtxbandwidthgbps"),
    Bandwidth<MetricId::kNvlinkRawRx>("oem/nvidia/nvlinkrawrxbandwidthgbps"),
    Bandwidth<MetricId::kNvlinkDataTx>("oem/nvidia/nvlinkdatatxbandwidthgbps"),
    Bandwidth<MetricId::kNvlinkDataRx>("oem/nvidia/nvlinkdatarxbandwidthgbps"),
    {kNvidia, R::kProcessorMetrics, "oem/nvidia/nvdecinstanceutilizationpercent", G::kDecoders, K::kGauge, kPercent, 0,
     100, SetDecoder<MetricId::kNvdecPerInstance>},
    {kNvidia, R::kProcessorMetrics, "oem/nvidia/nvjpginstanceutilizationpercent", G::kDecoders, K::kGauge, kPercent, 0,
     100, SetDecoder<MetricId::kNvjpgPerInstance>},

    {kNvidia, R::kProcessorMetrics, "operatingspeedmhz", G::kClocks, K::kGauge, 1, 1, 20'000,
     SetNumber<&B::clocks, &ClockReading::current_mhz, BoardClock::kGraphics>},
    {kNvidia, R::kMemoryMetrics, "operatingspeedmhz", G::kClocks, K::kGauge, 1, 1, 20'000,
     SetNumber<&B::clocks, &ClockReading::current_mhz, BoardClock::kMemory>},
    {kNvidia, R::kProcessorMetrics, "oem/nvidia/throttlereasons", G::kClocks, K::kThrottle, 1, 0, 0, SetThrottle},

    SlowTime<SpeedLimit::kPower>("powerlimitthrottleduration"),
    SlowTime<SpeedLimit::kThermal>("thermallimitthrottleduration"),
    SlowTime<SpeedLimit::kHardware>("oem/nvidia/hardwareviolationthrottleduration"),
    SlowTime<SpeedLimit::kSoftware>("oem/nvidia/globalsoftwareviolationthrottleduration"),

    Counter<&B::pcie, &PcieReading::correctable>(kNvidia, R::kProcessorMetrics, "pcieerrors/correctableerrorcount",
                                                 G::kPcie),
    Counter<&B::pcie, &PcieReading::non_fatal>(kNvidia, R::kProcessorMetrics, "pcieerrors/nonfatalerrorcount",
                                               G::kPcie),
    Counter<&B::pcie, &PcieReading::fatal>(kNvidia, R::kProcessorMetrics, "pcieerrors/fatalerrorcount", G::kPcie),
    Counter<&B::pcie, &PcieReading::unsupported>(kNvidia, R::kProcessorMetrics, "pcieerrors/unsupportedrequestcount",
                                                 G::kPcie),
    Counter<&B::pcie, &PcieReading::recoveries>(kNvidia, R::kProcessorMetrics, "pcieerrors/l0torecoverycount",
                                                G::kPcie),
    Counter<&B::pcie, &PcieReading::replays>(kNvidia, R::kProcessorMetrics, "pcieerrors/replaycount", G::kPcie),
    Counter<&B::pcie, &PcieReading::replay_rollovers>(kNvidia, R::kProcessorMetrics, "pcieerrors/replayrollovercount",
                                                      G::kPcie),
    Counter<&B::pcie, &PcieReading::naks_sent>(kNvidia, R::kProcessorMetrics, "pcieerrors/naksentcount", G::kPcie),
    Counter<&B::pcie, &PcieReading::naks_received>(kNvidia, R::kProcessorMetrics, "pcieerrors/nakreceivedcount",
                                                   G::kPcie),
    {kNvidia, R::kPcieDevice, "pcieinterface/lanesinuse", G::kPcie, K::kGauge, 1, 1, 32,
     SetMember<&B::pcie, &PcieReading::lanes>},

    {kNvidia, R::kPort, "currentspeedgbps", G::kNvlink, K::kGauge, kGiga, 0, 1e5,
     SetLink<&NvlinkStatus::bits_per_second>},
    LinkCounter<&NvlinkStatus::tx>("txbytes", kBytesMax),
    LinkCounter<&NvlinkStatus::rx>("rxbytes", kBytesMax),
    LinkCounter<&NvlinkStatus::receive_errors>("rxerrors"),
    LinkCounter<&NvlinkStatus::symbol_errors>("oem/nvidia/symbolerrors"),
    // Without those that somebody wanted.
    LinkCounter<&NvlinkStatus::downs>("oem/nvidia/unintentionallinkdowncount"),
    // Blackwell has the first, Hopper the others.
    LinkCounter<&NvlinkStatus::recoveries>("oem/nvidia/linkerrorrecoverycount"),
    LinkCounter<&NvlinkStatus::recoveries>("oem/nvidia/nvlinkerrors/recoverycount"),
    LinkCounter<&NvlinkStatus::replays>("oem/nvidia/nvlinkerrors/replaycount"),
    LinkCounter<&NvlinkStatus::flit_crc>("oem/nvidia/nvlinkerrors/flitcrccount"),
    LinkCounter<&NvlinkStatus::data_crc>("oem/nvidia/nvlinkerrors/datacrccount"),
    LinkRate<&NvlinkStatus::raw_tx_rate>("oem/nvidia/nvlinkrawtxbandwidthgbps"),
    LinkRate<&NvlinkStatus::raw_rx_rate>("oem/nvidia/nvlinkrawrxbandwidthgbps"),
    LinkRate<&NvlinkStatus::data_tx_rate>("oem/nvidia/nvlinkdatatxbandwidthgbps"),
    LinkRate<&NvlinkStatus::data_rx_rate>("oem/nvidia/nvlinkdatarxbandwidthgbps"),

    {kNvidia, R::kProcessorMetrics, "cachemetricstotal/lifetime/correctableeccerrorcount", G::kEcc, K::kCount, 1, 0,
     kCountMax, SetCount<&B::ecc, &EccReading::corrected, EccMemory::kSram>},
    {kNvidia, R::kProcessorMetrics, "cachemetricstotal/lifetime/uncorrectableeccerrorcount", G::kEcc, K::kCount, 1, 0,
     kCountMax, SetCount<&B::ecc, &EccReading::uncorrected, EccMemory::kSram>},
    {kNvidia, R::kMemoryMetrics, "lifetime/correctableeccerrorcount", G::kEcc, K::kCount, 1, 0, kCountMax,
     SetCount<&B::ecc, &EccReading::corrected, EccMemory::kDram>},
    {kNvidia, R::kMemoryMetrics, "lifetime/uncorrectableeccerrorcount", G::kEcc, K::kCount, 1, 0, kCountMax,
     SetCount<&B::ecc, &EccReading::uncorrected, EccMemory::kDram>},
    {kNvidia, R::kProcessorMetrics, "oem/nvidia/srameccerrorthresholdexceeded", G::kEcc, K::kState, 1, 0, 1,
     SetMember<&B::ecc, &EccReading::sram_threshold_exceeded>},

    Counter<&B::row_remaps, &RowRemapReading::corrected>(
        kNvidia, R::kMemoryMetrics, "oem/nvidia/rowremapping/correctablerowremappingcount", G::kRowRemaps),
    Counter<&B::row_remaps, &RowRemapReading::uncorrected>(
        kNvidia, R::kMemoryMetrics, "oem/nvidia/rowremapping/uncorrectablerowremappingcount", G::kRowRemaps),
    {kNvidia, R::kMemory, "oem/nvidia/rowremappingfailed", G::kRowRemaps, K::kState, 1, 0, 1,
     SetMember<&B::row_remaps, &RowRemapReading::has_failed>},
    {kNvidia, R::kMemory, "oem/nvidia/rowremappingpending", G::kRowRemaps, K::kState, 1, 0, 1,
     SetMember<&B::row_remaps, &RowRemapReading::is_pending>},

    // The rollup is that of all parts of the GPU, too.
    Health(kNvidia, R::kChassis, "status/health"),
    Health(kNvidia, R::kChassis, "status/healthrollup"),
    Health(kNvidia, R::kProcessor, "status/health"),
    Health(kNvidia, R::kProcessor, "status/healthrollup"),

    Text<SysId::kMarketingName>(kNvidia, "model"),
    Text<SysId::kBoardPartNumber>(kNvidia, "partnumber"),
    Text<SysId::kSerialNumber>(kNvidia, "serialnumber"),
    Text<SysId::kFirmwareVersion>(kNvidia, "firmwareversion"),
    {kNvidia, R::kProcessor, "uuid", G::kIdentity, K::kText, 1, 0, 0, SetGuid},
    {kNvidia, R::kProcessor, "maxspeedmhz", G::kClockLimits, K::kGauge, 1, 1, 20'000,
     SetNumber<&B::clock_limits, &ClockLimitReading::maximum_mhz, BoardClock::kGraphics>},
    {kNvidia, R::kProcessor, "minspeedmhz", G::kClockLimits, K::kGauge, 1, 1, 20'000,
     SetNumber<&B::clock_limits, &ClockLimitReading::minimum_mhz, BoardClock::kGraphics>},
    {kNvidia, R::kProcessor, "memorysummary/eccmodeenabled", G::kFlags, K::kState, 1, 0, 1,
     SetFlag<MiscFlag::kEccCurrent>},
    {kNvidia, R::kProcessor, "oem/nvidia/migmodeenabled", G::kFlags, K::kState, 1, 0, 1,
     SetFlag<MiscFlag::kMigCurrent>},
    {kNvidia, R::kProcessor, "memorysummary/totalmemorysizemib", G::kMemory, K::kGauge, 1, 1, 16e6,
     SetMember<&B::memory, &MemoryReading::total_mib>},

    {kNvidia, R::kEnvironmentMetrics, "powerlimitwatts/setpoint", G::kPowerLimits, K::kGauge, 1, 1, 20'000,
     SetPowerLimit<&PowerLimits::current>},
    {kNvidia, R::kEnvironmentMetrics, "powerlimitwatts/allowablemin", G::kPowerLimits, K::kGauge, 1, 0, 20'000,
     SetPowerLimit<&PowerLimits::minimum>},
    {kNvidia, R::kEnvironmentMetrics, "powerlimitwatts/allowablemax", G::kPowerLimits, K::kGauge, 1, 1, 20'000,
     SetPowerLimit<&PowerLimits::maximum>},
    {kNvidia, R::kEnvironmentMetrics, "powerlimitwatts/defaultsetpoint", G::kPowerLimits, K::kGauge, 1, 1, 20'000,
     SetPowerLimit<&PowerLimits::standard>},

    Sensor(kAmd, "die_temp", G::kTemperature, -60, 250,
           SetNumber<&B::temperature, &TemperatureReading::celsius, TempSensor::kGpu0>),
    Sensor(kAmd, "memory_temp", G::kTemperature, -60, 250,
           SetNumber<&B::temperature, &TemperatureReading::celsius, TempSensor::kMemory>),
    Sensor(kAmd, "power", G::kPower, 0, 20'000, SetNumber<&B::power, &PowerReading::watts, PowerSource::kTotal>),
    Counter<&B::pcie, &PcieReading::recoveries>(kAmd, R::kPcieDevice, "pcieerrors/l0torecoverycount", G::kPcie),
    Counter<&B::pcie, &PcieReading::replays>(kAmd, R::kPcieDevice, "pcieerrors/replaycount", G::kPcie),
    Counter<&B::pcie, &PcieReading::naks_sent>(kAmd, R::kPcieDevice, "pcieerrors/naksentcount", G::kPcie),
    Counter<&B::pcie, &PcieReading::naks_received>(kAmd, R::kPcieDevice, "pcieerrors/nakreceivedcount", G::kPcie),
    {kAmd, R::kProcessor, "systeminterface/pcie/lanesinuse", G::kPcie, K::kGauge, 1, 1, 32,
     SetMember<&B::pcie, &PcieReading::lanes>},
    {kAmd, R::kMemoryMetrics, "operatingspeedmhz", G::kClocks, K::kGauge, 1, 1, 20'000,
     SetNumber<&B::clocks, &ClockReading::current_mhz, BoardClock::kMemory>},
    {kAmd, R::kMemoryMetrics, "currentperiod/correctableeccerrorcount", G::kEcc, K::kCount, 1, 0, kCountMax,
     SetCount<&B::ecc, &EccReading::corrected, EccMemory::kDram>},
    Health(kAmd, R::kProcessor, "status/health"),
    Health(kAmd, R::kProcessor, "status/healthrollup"),
    Text<SysId::kMarketingName>(kAmd, "model"),
    Text<SysId::kBoardPartNumber>(kAmd, "partnumber"),
    Text<SysId::kSerialNumber>(kAmd, "serialnumber"),
    Text<SysId::kFirmwareVersion>(kAmd, "firmwareversion"),
    {kAmd, R::kProcessor, "uuid", G::kIdentity, K::kText, 1, 0, 0, SetGuid},
    {kAmd, R::kEnvironmentMetrics, "powerlimitwatts/setpoint", G::kPowerLimits, K::kGauge, 1, 1, 20'000,
     SetPowerLimit<&PowerLimits::current>},
};

// The names of a path, in lower case and without empty ones.
std::vector<std::string> Names(absl::string_view path) {
  return absl::StrSplit(absl::AsciiStrToLower(path), '/', absl::SkipEmpty());
}

bool IsGpu(absl::string_view name) { return absl::StartsWithIgnoreCase(name, "gpu"); }

// The name of a path's element as it is spelled.
std::string Spelled(absl::string_view uri, size_t element) {
  const std::vector<std::string> names = absl::StrSplit(uri, '/', absl::SkipEmpty());
  return element < names.size() ? names[element] : "";
}

// Splits an index off the end: "throttlereasons/1".
void SplitIndex(BmcPlace& place) {
  const size_t slash = place.member.rfind('/');
  uint32_t index = 0;
  if (slash == std::string::npos || !absl::SimpleAtoi(place.member.substr(slash + 1), &index) || index > 255) return;
  place.index = static_cast<uint8_t>(index);
  place.member.resize(slash);
}

bool IsPort(BmcResource resource) { return resource == R::kPort || resource == R::kPortMetrics; }

// Takes the number out of the path of an NVLink: "ports/nvlink_3/metrics" becomes "ports/metrics".
std::optional<uint8_t> TakePort(std::string& below) {
  absl::string_view rest = below;
  uint32_t number = 0;
  if (!absl::ConsumePrefix(&rest, "ports/nvlink_")) return std::nullopt;
  const absl::string_view digits = rest.substr(0, rest.find('/'));
  // Compared as a text: SimpleAtoi takes signs, blanks and leading zeros.
  if (!absl::SimpleAtoi(digits, &number) || number >= mailbox::kNvlinksMax || absl::StrCat(number) != digits) {
    return std::nullopt;
  }
  below = absl::StrCat("ports", rest.substr(digits.size()));
  return static_cast<uint8_t>(number);
}

// The GPU of a module: of "OAM_3", "GPU3".
std::optional<std::string> GpuOfModule(absl::string_view chassis) {
  uint32_t number = 0;
  if (!absl::ConsumePrefix(&chassis, "oam_") || !absl::SimpleAtoi(chassis, &number)) return std::nullopt;
  return absl::StrCat("GPU", number);
}

std::optional<BmcPlace> LocateSensor(const std::vector<std::string>& names, absl::string_view uri, size_t first) {
  absl::string_view sensor = names[first + 3];
  absl::string_view chassis = names[first + 1];
  if (const auto gpu = GpuOfModule(chassis)) {
    const std::string prefix = absl::StrCat("gpu_", chassis.substr(4), "_");
    if (!absl::ConsumePrefix(&sensor, prefix)) return std::nullopt;
    return BmcPlace{.gpu = *gpu, .resource = R::kSensor, .member = std::string(sensor), .index = {}};
  }
  absl::ConsumePrefix(&chassis, "hgx_");
  absl::ConsumePrefix(&sensor, "hgx_");
  if (!IsGpu(chassis) || !absl::ConsumePrefix(&sensor, absl::StrCat(chassis, "_"))) return std::nullopt;
  const std::string spelled = Spelled(uri, first + 1);
  return BmcPlace{.gpu = spelled.substr(spelled.size() - chassis.size()),
                  .resource = R::kSensor,
                  .member = std::string(sensor),
                  .index = {}};
}

std::optional<BmcPlace> LocateChassis(absl::string_view uri, size_t first, absl::string_view pointer) {
  const std::string spelled = Spelled(uri, first + 1);
  const size_t prefix = absl::StartsWithIgnoreCase(spelled, "hgx_") ? 4 : 0;
  const std::string member = absl::StrJoin(Names(pointer), "/");
  if (!IsGpu(spelled.substr(prefix)) || member.empty()) return std::nullopt;
  return BmcPlace{.gpu = spelled.substr(prefix), .resource = R::kChassis, .member = member, .index = {}};
}

struct ResourceName {
  const char* collection;
  const char* resource;  // below the GPU's; "": itself
  BmcResource kind;
};
constexpr ResourceName kResourceNames[] = {
    {"processors", "", R::kProcessor},
    {"processors", "processormetrics", R::kProcessorMetrics},
    {"processors", "environmentmetrics", R::kEnvironmentMetrics},
    {"processors", "ports", R::kPort},
    {"processors", "ports/metrics", R::kPortMetrics},
    {"memory", "", R::kMemory},
    {"memory", "memorymetrics", R::kMemoryMetrics},
};

// The seconds of a duration of ISO 8601 without years and months: "P6DT23H36M51.2S".
std::optional<double> ParseDuration(absl::string_view text) {
  if (!absl::ConsumePrefix(&text, "P")) return std::nullopt;
  std::optional<double> seconds;
  // Each unit at most once, in this order; hours, minutes and seconds after a T.
  absl::string_view units = "DTHMS";
  bool is_time = false;
  while (!text.empty()) {
    const size_t end = text.find_first_not_of("0123456789.");
    const size_t unit = end == absl::string_view::npos ? end : units.find(text[end]);
    if (unit == absl::string_view::npos) return std::nullopt;
    const char name = units[unit];
    units.remove_prefix(unit + 1);
    const absl::string_view digits = text.substr(0, end);
    text.remove_prefix(end + 1);
    if (name == 'T' && digits.empty()) {
      is_time = true;
      continue;
    }
    double number = 0;
    if (is_time == (name == 'D') || !absl::SimpleAtod(digits, &number)) return std::nullopt;
    seconds = seconds.value_or(0) + number * (name == 'D' ? 86400 : name == 'H' ? 3600 : name == 'M' ? 60 : 1);
  }
  return seconds;
}

}  // namespace

Located Locate(absl::string_view property) {
  const size_t fragment = property.find('#');
  const absl::string_view uri = property.substr(0, fragment);
  absl::string_view pointer = fragment == absl::string_view::npos ? "" : property.substr(fragment + 1);
  std::vector<std::string> names = Names(uri);
  // Below "redfish/v1", wherever that is.
  const auto root = std::ranges::find(names, "redfish");
  const auto first = static_cast<size_t>(root - names.begin()) + 2;
  if (names.size() == first + 2 && names[first] == "chassis") return {.place = LocateChassis(uri, first, pointer)};
  if (names.size() < first + 4) return {};
  if (names[first] == "chassis" && names[first + 2] == "sensors") {
    // "…/TEMP_0", "…/TEMP_0/Reading" and "…/TEMP_0#/Reading" are the same.
    std::vector<std::string> below(names.begin() + static_cast<ptrdiff_t>(first + 4), names.end());
    for (std::string& name : Names(pointer)) below.push_back(std::move(name));
    if (!below.empty() && below != std::vector<std::string>{"reading"}) return {};
    return {.place = LocateSensor(names, uri, first)};
  }
  BmcPlace place{.gpu = {}, .resource = R::kPcieDevice, .member = absl::StrJoin(Names(pointer), "/"), .index = {}};
  SplitIndex(place);
  if (names[first] == "chassis" && names[first + 2] == "pciedevices" && names.size() == first + 4) {
    const auto module = GpuOfModule(names[first + 1]);
    place.gpu = module ? *module : Spelled(uri, first + 3);
  } else if (names[first] == "systems") {
    std::string below = absl::StrJoin(names.begin() + static_cast<ptrdiff_t>(first + 4), names.end(), "/");
    const auto port = TakePort(below);
    const auto row = std::ranges::find_if(kResourceNames, [&](const ResourceName& of) {
      return names[first + 2] == of.collection && below == of.resource;
    });
    if (row == std::end(kResourceNames)) return {};
    if (IsPort(row->kind)) {
      if (!port || place.index) return {};
      place.index = port;
    }
    place.resource = row->kind;
    place.gpu = Spelled(uri, first + 3);
    if (names[first + 2] == "memory" && absl::EndsWithIgnoreCase(place.gpu, "_dram_0")) {
      place.gpu.resize(place.gpu.size() - absl::string_view("_dram_0").size());
    }
  }
  if (!IsGpu(place.gpu)) return {};
  if (place.member.empty()) return {.place = {}, .has_no_member = true};
  return {.place = std::move(place)};
}

bool IsSameGpu(absl::string_view a, absl::string_view b) { return absl::EqualsIgnoreCase(a, b); }

std::span<const BmcQuantity> BmcQuantities() { return kQuantities; }

bool IsList(const BmcQuantity& row) { return row.kind == K::kThrottle || row.group == G::kDecoders; }

const BmcQuantity* FindQuantity(BmcVendor vendor, const BmcPlace& place) {
  const auto row = std::ranges::find_if(kQuantities, [&](const BmcQuantity& of) {
    return of.vendor == vendor && of.resource == place.resource && of.member == place.member &&
           (!place.index || IsList(of) || IsPort(of.resource));
  });
  return row == std::end(kQuantities) ? nullptr : &*row;
}

BmcParsed ParseSample(const BmcQuantity& row, absl::string_view text) {
  const auto omit = [](BmcOmission why) { return BmcParsed{.omission = why, .sample = {}}; };
  if (text.empty()) return omit(BmcOmission::kNull);
  BmcParsed parsed{.omission = {}, .sample = {}};
  if (row.kind == K::kText) {
    const bool is_placeholder = text == "NA" || text.find_first_not_of("0x-") == absl::string_view::npos;
    const bool is_printable = std::ranges::all_of(text, [](char c) { return absl::ascii_isprint(c); });
    if (is_placeholder) return omit(BmcOmission::kNull);
    if (!is_printable || text.size() > 128) return omit(BmcOmission::kOutOfRange);
    parsed.sample.text = std::string(text);
    return parsed;
  }
  if (row.kind == K::kThrottle) {
    const auto word = std::ranges::find_if(kThrottleWords, [&](const ThrottleWord& of) { return of.word == text; });
    if (word == std::end(kThrottleWords)) return omit(BmcOmission::kUnknownWord);
    parsed.sample.mask = word->mask;
    return parsed;
  }
  if (row.kind == K::kHealth) {
    const auto word =
        std::ranges::find_if(kHealthWords, [&](const HealthWord& of) { return absl::EqualsIgnoreCase(of.word, text); });
    if (word == std::end(kHealthWords)) return omit(BmcOmission::kUnknownWord);
    parsed.sample.number = static_cast<double>(word->health);
    return parsed;
  }
  double number = 0;
  bool state = false;
  if (row.kind == K::kDuration) {
    const auto seconds = ParseDuration(text);
    if (!seconds) return omit(BmcOmission::kNotANumber);
    number = *seconds;
  } else if (row.kind == K::kState && absl::SimpleAtob(text, &state)) {
    number = state ? 1 : 0;
  } else if (!absl::SimpleAtod(text, &number) || !std::isfinite(number)) {
    return omit(BmcOmission::kNotANumber);
  }
  if (number < row.min || number > row.max || number == kUnset32) return omit(BmcOmission::kOutOfRange);
  parsed.sample.number = number * row.scale;
  if (IsCount(row.kind)) parsed.counter = static_cast<uint64_t>(std::llround(parsed.sample.number));
  return parsed;
}

}  // namespace sideband::daemon
