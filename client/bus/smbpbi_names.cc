// SPDX-License-Identifier: Apache-2.0
#include "client/bus/smbpbi_names.h"

#include <array>
#include <span>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "proto/mailbox/word.h"

namespace sideband::client {
namespace {

using Names = std::span<const char* const>;

// The name of `number`; without a name, `kind` and the number.
std::string NameIn(Names names, uint8_t number, absl::string_view kind) {
  if (number < names.size() && names[number] != nullptr) return names[number];
  return absl::StrFormat("%s 0x%02X", kind, number);
}

// Opcodes 0x00 to 0x28. OpcodeText() prefers the names of proto/mailbox, which cover the opcodes of the emulated
// device.
constexpr const char* kOpcodes[] = {
    "NULL",
    "GET_CAPABILITIES",
    "GET_TEMP",
    "GET_EXT_TEMP",
    "GET_POWER",
    "GET_SYS_ID",
    "GET_ECC_V1",
    "GET_ECC_V2",
    "GPU_PCONTROL",
    "GPU_SYSCONTROL",
    "SET_PRIMARY_CAPS",
    "GPU_REQUEST_CPL",
    "GET_ECC_V3",
    "SCRATCH_READ",
    "SCRATCH_WRITE",
    "SCRATCH_COPY",
    "ASYNC_REQUEST",
    "REGISTER_ACCESS",
    "GET_POWER_CONNECTOR_STATE",
    "GET_PAGE_RETIREMENT_STATS",
    "GET_ECC_V4",
    "GET_THERM_PARAM",
    "GET_ECC_V5",
    "ACCESS_WP_MODE",
    "GET_MISC_FLAGS",
    "GPU_UTIL_COUNTERS",
    "GET_NVLINK_INFO",
    "GET_CLOCK_FREQ_INFO",
    "BUNDLE_LAUNCH",
    "GET_DRIVER_EVENT_MSG",
    "GET_ECC_V6",
    nullptr,
    "REMAP_ROW_STATS",
    "GET_PCIE_LINK_INFO",
    "GET_ENERGY_COUNTER",
    nullptr,
    nullptr,
    nullptr,
    "GET_POWER_HINT_INFO",
    "DYNAMIC_SYSTEM_INFORMATION",
    "GPU_PERFORMANCE_MONITORING",
};

constexpr const char* kSensors[] = {"GPU0", "GPU1", nullptr, nullptr, "board", "memory", "power supply", "T.Limit"};

constexpr const char* kPowerSources[] = {"total", "SMBPBI", "memory", "module"};

constexpr const char* kAsyncTypes[] = {
    "get power limit",   "set power limit",     "power limit info",    "fan count",        "fan info",
    "fan status",        "get overclock limit", "set overclock limit", "energy",           "violation counters",
    "utilisation",       "set clock limit",     "device mode",         "get clock limit",  "test message",
    "fan curve",         "power hint",          "programmable EDPp",   "get module limit", "set module limit",
    "module limit info", "memory capacity",
};

constexpr const char* kRegisters[] = {"SCRATCH_PAGE", "EVENTS_PENDING", "EVENT_MASK"};

constexpr const char* kThermParams[] = {
    "target",         "HW slowdown",         "shutdown",         "HBM slowdown",         "SW slowdown",
    "target T.Limit", "HW slowdown T.Limit", "shutdown T.Limit", "HBM slowdown T.Limit", "SW slowdown T.Limit",
};

constexpr const char* kGpmMetrics[] = {
    "engine active",
    "SM activity",
    "SM occupancy",
    "tensor activity",
    "DRAM usage",
    "FP64 activity",
    "FP32 activity",
    "FP16 activity",
    "PCIe TX",
    "PCIe RX",
    "NVLink raw TX",
    "NVLink data TX",
    "NVLink raw RX",
    "NVLink data RX",
    "NVDEC utilisation",
    "NVJPG utilisation",
    "NVOFA utilisation",
    "NVLink raw TX/link",
    "NVLink data TX/link",
    "NVLink raw RX/link",
    "NVLink data RX/link",
    "NVDEC/instance",
    "NVJPG/instance",
    "integer utilisation",
    "FP64 tensor utilisation",
    "FP16 tensor utilisation",
    "INT tensor utilisation",
};

constexpr const char* kClockItems[] = {"current",         "minimum", "maximum", "p-state", "throttle reasons supported",
                                       "throttle reasons"};

constexpr SysIdFormat kText = SysIdFormat::kText, kBytes = SysIdFormat::kBytes, kNumber = SysIdFormat::kNumber;
struct SysIdRow {
  const char* name;
  SysIdFormat format;
};
constexpr SysIdRow kSysIdItems[] = {
    {"board part number", kText},
    {"OEM info", kText},
    {"serial number", kText},
    {"marketing name", kText},
    {"GPU part number", kText},
    {"memory vendor", kNumber},
    {"memory part number", kText},
    {"build date", kBytes},
    {"firmware version", kText},
    {"vendor id", kNumber},
    {"device id", kNumber},
    {"subsystem vendor id", kNumber},
    {"subsystem id", kNumber},
    {"GPU GUID", kBytes},
    {"InfoROM version", kText},
    {"length", kNumber},
    {"width", kNumber},
    {"height", kNumber},
    {"PCIe speed", kNumber},
    {"PCIe width", kNumber},
    {"power limit", kNumber},
    {"FRU part number", kText},
    {"module power limit", kNumber},
    {"DRAM capacity", kNumber},
};

constexpr std::array<const char*, 32> kCapabilities0 = {
    "temp GPU0", "temp GPU1", nullptr, nullptr, "temp board", "temp memory", "temp power supply", "T.Limit",
    // Bits 11:8 are a numeric field.
    nullptr, nullptr, nullptr, nullptr, "energy module", "get module limit", "set module limit", "module limit info",
    "power total", "GPU_PCONTROL", "GPU_SYSCONTROL", "target T.Limit", "slowdown T.Limit", "shutdown T.Limit",
    "memory T.Limit", "SW slowdown T.Limit", "therm target", "therm slowdown", "therm shutdown", "therm memory",
    "therm SW slowdown", "fabric flags", "power memory", "power module"};

constexpr std::array<const char*, 32> kCapabilities1 = {"board part number",
                                                        "OEM info",
                                                        "serial number",
                                                        "marketing name",
                                                        "GPU part number",
                                                        "memory vendor",
                                                        "memory part number",
                                                        "build date",
                                                        "firmware version",
                                                        "vendor id",
                                                        "device id",
                                                        "subsystem vendor id",
                                                        "subsystem id",
                                                        "GPU GUID",
                                                        "InfoROM version",
                                                        "module power limit",
                                                        "ECC V1",
                                                        "ECC V2",
                                                        "ECC V3",
                                                        "retired pages",
                                                        "ECC V4",
                                                        "ECC V5",
                                                        "ACCESS_WP_MODE",
                                                        "ECC state",
                                                        "reset required",
                                                        "GPU_UTIL_COUNTERS",
                                                        "NVLink state V1",
                                                        "NVLink errors",
                                                        "clocks",
                                                        "MIG state",
                                                        "ECC V6",
                                                        "throttle reason"};

constexpr std::array<const char*, 32> kCapabilities2 = {
    // Bits 4:2 are a numeric field.
    "NO driver",
    "GPU_REQUEST",
    nullptr,
    nullptr,
    nullptr,
    "fan V1",
    "length",
    "width",
    "height",
    "PCIe speed",
    "PCIe width",
    "power limit",
    "scratch pages of 256",
    "row remap",
    "PCIe link",
    "drain and reset",
    "NVLink throughput",
    "NVLink state V2",
    "NVLink sub-link width",
    "energy",
    "remap pending",
    "remap histogram",
    "NVLink training error",
    "NVLink runtime error",
    nullptr,
    "PCIe target speed",
    "p-state",
    "NVLink availability",
    nullptr,
    nullptr,
    nullptr,
    "FRU part number"};

constexpr std::array<const char*, 32> kCapabilities4 = {"HW violation",
                                                        "SW violation",
                                                        "SW power violation",
                                                        "SW thermal violation",
                                                        "utilisation",
                                                        "driver events",
                                                        "bundling",
                                                        "set device disable",
                                                        "set ECC mode",
                                                        nullptr,
                                                        "set MIG mode",
                                                        "fan curve",
                                                        nullptr,
                                                        nullptr,
                                                        nullptr,
                                                        nullptr,
                                                        nullptr,
                                                        nullptr,
                                                        nullptr,
                                                        nullptr,
                                                        nullptr,
                                                        nullptr,
                                                        "power hint",
                                                        "driver version",
                                                        "performance monitoring",
                                                        nullptr,
                                                        "driver events by number",
                                                        nullptr,
                                                        nullptr,
                                                        nullptr,
                                                        "programmable EDPp",
                                                        "DRAM capacity"};

constexpr std::array<const char*, 32> kCapabilities5 = {nullptr, nullptr,           nullptr, nullptr, nullptr,
                                                        nullptr, "memory capacity", nullptr, nullptr, "SRAM threshold"};

constexpr const char* kEvents[] = {
    "server restart cold", "reset required", "driver event oldest", "power limit set",  "clock limit set",
    "ECC toggled",         "MIG toggled",    "server restart warm", "driver event new", "module limit set"};

constexpr const char* kFlags0[] = {"ECC supported", "ECC on",      "ECC pending",    "MIG supported",
                                   "MIG on",        "MIG pending", "driver running", "device disabled"};
constexpr const char* kFlags1[] = {"reset required", "drain and reset recommended"};

void Append(std::string& text, absl::string_view name) { absl::StrAppend(&text, text.empty() ? "" : ", ", name); }

void AppendBits(std::string& text, Names names, uint32_t bits) {
  for (size_t bit = 0; bit < 32; ++bit) {
    if ((bits >> bit & 1) == 0) continue;
    Append(text, bit < names.size() && names[bit] != nullptr ? names[bit] : absl::StrCat("bit ", bit));
  }
}

std::string OrNone(std::string text) { return text.empty() ? "none" : text; }

// Extracts a numeric field from a dword and clears it, so that AppendBits() does not print it as bits.
uint32_t TakeField(uint32_t& bits, int low, uint32_t mask) {
  const uint32_t value = bits >> low & mask;
  bits &= ~(mask << low);
  return value;
}

Names CapabilityNames(uint8_t dword) {
  switch (dword) {
    case 0:
      return kCapabilities0;
    case 1:
      return kCapabilities1;
    case 2:
      return kCapabilities2;
    case 4:
      return kCapabilities4;
    case 5:
      return kCapabilities5;
    default:
      return {};
  }
}

}  // namespace

std::string OpcodeText(uint8_t opcode) {
  const absl::string_view shared = mailbox::OpcodeName(static_cast<mailbox::Opcode>(opcode));
  return shared == "UNKNOWN" ? NameIn(kOpcodes, opcode, "opcode") : std::string(shared);
}

std::string SensorName(uint8_t sensor) { return NameIn(kSensors, sensor, "sensor"); }

std::string PowerSourceName(uint8_t source) { return NameIn(kPowerSources, source, "source"); }

std::string AsyncTypeName(uint8_t type) { return NameIn(kAsyncTypes, type, "type"); }

std::string RegisterName(uint8_t index) { return NameIn(kRegisters, index, "register"); }

std::string ThermParamName(uint8_t param) { return NameIn(kThermParams, param, "parameter"); }

std::string GpmMetricName(uint8_t metric) { return NameIn(kGpmMetrics, metric, "metric"); }

std::string ClockItemName(uint8_t item) { return NameIn(kClockItems, item, "item"); }

SysIdItem SysIdItemOf(uint8_t item) {
  if (item < std::size(kSysIdItems)) return {kSysIdItems[item].name, kSysIdItems[item].format};
  return {absl::StrFormat("item 0x%02X", item), SysIdFormat::kBytes};
}

std::string CapabilityText(uint8_t dword, uint32_t bits) {
  std::string text;
  if (dword == 0) {
    constexpr uint32_t kS24p8 = 8;
    const uint32_t format = TakeField(bits, 8, 0xF);
    if (format != 0) Append(text, format == kS24p8 ? "ext temp s24.8" : absl::StrCat("ext temp format ", format));
  } else if (dword == 2) {
    const uint32_t code = TakeField(bits, 2, 0x7);
    // The field encodes the number of pages as a power of two: 1 is 4 pages.
    if (code != 0) Append(text, absl::StrCat(1u << (code + 1), " scratch pages"));
  }
  AppendBits(text, CapabilityNames(dword), bits);
  return OrNone(std::move(text));
}

std::string EventBitsText(uint32_t bits) {
  std::string text;
  AppendBits(text, kEvents, bits);
  return OrNone(std::move(text));
}

std::string FlagBitsText(uint8_t page, uint32_t bits) {
  std::string text;
  AppendBits(text, page == 0 ? Names(kFlags0) : page == 1 ? Names(kFlags1) : Names(), bits);
  return OrNone(std::move(text));
}

}  // namespace sideband::client
