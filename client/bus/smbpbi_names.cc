// SPDX-License-Identifier: Apache-2.0
#include "client/bus/smbpbi_names.h"

#include <span>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "proto/mailbox/capability.h"
#include "proto/mailbox/performance_metric.h"
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

constexpr const char* kEvents[] = {
    "server restart cold", "reset required", "driver event oldest", "power limit set",  "clock limit set",
    "ECC toggled",         "MIG toggled",    "server restart warm", "driver event new", "module limit set"};

constexpr const char* kFlags0[] = {"ECC supported", "ECC on",      "ECC pending",    "MIG supported",
                                   "MIG on",        "MIG pending", "driver running", "device disabled"};
constexpr const char* kFlags1[] = {"reset required", "drain and reset recommended"};

void Append(std::string& text, absl::string_view name) { absl::StrAppend(&text, text.empty() ? "" : ", ", name); }

// Appends the names of the set bits. `name_of` returns nullptr for a bit without a name.
template <typename NameOf>
void AppendBitsNamedBy(std::string& text, uint32_t bits, NameOf name_of) {
  for (uint8_t bit = 0; bit < 32; ++bit) {
    if ((bits >> bit & 1) == 0) continue;
    const char* const name = name_of(bit);
    Append(text, name != nullptr ? name : absl::StrCat("bit ", bit));
  }
}

void AppendBits(std::string& text, uint32_t bits, Names names) {
  AppendBitsNamedBy(text, bits, [names](uint8_t bit) { return bit < names.size() ? names[bit] : nullptr; });
}

std::string OrNone(std::string text) { return text.empty() ? "none" : text; }

// Extracts a numeric field from a dword and clears it, so that AppendBits() does not print it as bits.
uint32_t TakeField(uint32_t& bits, int low, uint32_t mask) {
  const uint32_t value = bits >> low & mask;
  bits &= ~(mask << low);
  return value;
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

std::string GpmMetricName(uint8_t metric) {
  for (const mailbox::MetricRow& row : mailbox::kMetrics) {
    if (row.metric == static_cast<mailbox::MetricId>(metric)) return row.name;
  }
  return absl::StrFormat("metric 0x%02X", metric);
}

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
  AppendBitsNamedBy(text, bits, [dword](uint8_t bit) { return mailbox::CapabilityName(dword, bit); });
  return OrNone(std::move(text));
}

std::string EventBitsText(uint32_t bits) {
  std::string text;
  AppendBits(text, bits, kEvents);
  return OrNone(std::move(text));
}

std::string FlagBitsText(uint8_t page, uint32_t bits) {
  std::string text;
  AppendBits(text, bits, page == 0 ? Names(kFlags0) : page == 1 ? Names(kFlags1) : Names());
  return OrNone(std::move(text));
}

}  // namespace sideband::client
