// SPDX-License-Identifier: Apache-2.0
#include "client/bus/pcie_text.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/bus/smbpbi_names.h"
#include "client/bus/value_text.h"
#include "proto/mailbox/link_info.h"

namespace sideband::client {
namespace {

using mailbox::CommandWord;
using mailbox::PcieLink;
using mailbox::PciePage;

struct PageRow {
  PciePage page;
  const char* name;
};
constexpr PageRow kPages[] = {
    {PciePage::kLink, "link"},
    {PciePage::kRecoveries, "recoveries and replays"},
    {PciePage::kNaks, "rollovers and NAKs"},
    {PciePage::kTargetSpeed, "target speed"},
    {PciePage::kTraffic, "traffic"},
    {PciePage::kState, "link state"},
    {PciePage::kLocalEqualisation, "local TX equalisation"},
    {PciePage::kRemoteEqualisation, "remote RX equalisation"},
};

// The states of the link's training machine; the numbers are those of smbpbi.h.
struct LtssmRow {
  uint8_t state;
  const char* name;
};
constexpr LtssmRow kLtssmStates[] = {
    {0x00, "detect"},
    {0x01, "polling"},
    {0x02, "configuration"},
    {0x03, "recovery"},
    {0x04, "recovery with equalisation"},
    {mailbox::kLtssmL0, "L0"},
    {0x06, "L0s"},
    {0x07, "L1"},
    {0x08, "L1 without PLL"},
    {0x09, "L2"},
    {0x0A, "L1 CPM"},
    {0x0B, "L1.1"},
    {0x0C, "L1.2"},
    {0x0D, "hot reset"},
    {0x0E, "loopback"},
    {0x0F, "disabled"},
    {0x10, "link down"},
    {0x11, "link ready"},
    {0x12, "lanes in sleep"},
    {0x1F, "illegal"},
};

PciePage PageOf(const CommandWord& command) { return static_cast<PciePage>(command.arg1); }

bool IsEqualisation(PciePage page) {
  return page == PciePage::kLocalEqualisation || page == PciePage::kRemoteEqualisation;
}

std::string GenerationText(uint32_t speed) {
  if (speed == 0) return "unknown speed";
  return speed <= mailbox::kPcieSpeedMax ? absl::StrCat("generation ", speed) : absl::StrCat("speed code ", speed);
}

std::string LanesText(uint8_t width) {
  if (width == 0) return "unknown width";
  return width < mailbox::kPcieWidths.size() ? absl::StrCat("x", mailbox::kPcieWidths[width])
                                             : absl::StrCat("width code ", width);
}

std::string LinkText(const PcieLink& link) {
  return absl::StrCat(GenerationText(link.speed), ", ", LanesText(link.width), ", ",
                      CountText(link.non_fatal, "non-fatal error"), ", ", CountText(link.fatal, "fatal error"), ", ",
                      CountText(link.unsupported, "unsupported request"));
}

std::string EqualisationData(uint32_t value) {
  return absl::StrCat("preset ", value & 0xF, (value >> 4 & 1) != 0 ? ", used" : ", not used", ", FS ",
                      value >> 5 & 0x3F, ", LF ", value >> 11 & 0x3F);
}

std::string CursorsText(uint32_t value) {
  return absl::StrCat("cursors: pre ", value & 0x3F, ", main ", value >> 6 & 0x3F, ", post ", value >> 12 & 0x3F);
}

// arg2 of the pages of equalisation: lane 3:0, speed 5:4.
std::string LaneText(uint8_t arg2) {
  constexpr int kFirstGeneration = 3;
  return absl::StrCat(", lane ", arg2 & 0xF, ", generation ", kFirstGeneration + (arg2 >> 4 & 3));
}

}  // namespace

std::string PcieArguments(const CommandWord& command, const DataRegisters& /*in*/) {
  const std::string page = NameIn(kPages, command.arg1, "page");
  if (IsEqualisation(PageOf(command))) return absl::StrCat(page, LaneText(command.arg2));
  return command.arg2 == 0 ? page : absl::StrFormat("%s, arg2 0x%02X", page, command.arg2);
}

std::string PcieData(const CommandWord& command, uint32_t value) {
  switch (PageOf(command)) {
    case PciePage::kLink:
      return LinkText(PcieLink::Decode(value));
    case PciePage::kRecoveries:
      return absl::StrCat(value, value == 1 ? " recovery" : " recoveries", " from L0");
    case PciePage::kNaks:
      return absl::StrCat(CountText(value & 0xFFFF, "replay rollover"), ", ", CountText(value >> 16, "NAK"),
                          " received");
    case PciePage::kTargetSpeed:
      return absl::StrCat("target: ", GenerationText(value & 7));
    case PciePage::kTraffic:
      return absl::StrCat("sent: ", value, " of an unknown unit");
    case PciePage::kState:
      return NameIn(kLtssmStates, value & 0x1F, "state");
    case PciePage::kLocalEqualisation:
    case PciePage::kRemoteEqualisation:
      return EqualisationData(value);
  }
  return "";
}

std::string PcieExtendedData(const CommandWord& command, uint32_t value) {
  switch (PageOf(command)) {
    case PciePage::kLink:
      return CountText(value & 0xFFFF, "correctable error");
    case PciePage::kRecoveries:
      return CountText(value, "replay");
    case PciePage::kNaks:
      return absl::StrCat(CountText(value & 0xFFFF, "NAK"), " sent");
    case PciePage::kTraffic:
      return absl::StrCat("received: ", value, " of an unknown unit");
    case PciePage::kLocalEqualisation:
    case PciePage::kRemoteEqualisation:
      return CursorsText(value);
    case PciePage::kTargetSpeed:
    case PciePage::kState:
      break;  // no extended data
  }
  return "";
}

}  // namespace sideband::client
