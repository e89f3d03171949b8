// SPDX-License-Identifier: Apache-2.0
#include "proto/exposition/row_families.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/strip.h"

namespace sideband {

std::string FamilyHeader(MetricsFormat format, const FamilyText& family) {
  return FamilyHeader(format, family.name, family.type, family.help);
}

std::string CounterHelp(const mailbox::EventInfo& event, absl::string_view level_help) {
  const absl::string_view description = event.description.empty() ? event.name : event.description;
  const std::string unit = event.unit.empty() ? "" : absl::StrCat(" (unit: ", event.unit, ")");
  return absl::StrCat(absl::StripSuffix(description, "."), unit, ". ", level_help);
}

std::string SecondsText(uint64_t time_ns) {
  return absl::StrFormat("%d.%09d", time_ns / 1'000'000'000, time_ns % 1'000'000'000);
}

}  // namespace sideband
