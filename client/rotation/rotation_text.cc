// SPDX-License-Identifier: Apache-2.0
#include "client/rotation/rotation_text.h"

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"
#include "absl/time/time.h"
#include "client/cli/message_text.h"
#include "client/cli/number_text.h"

namespace sideband::client {
namespace {

constexpr auto kLeft = Table::Align::kLeft;
constexpr auto kRight = Table::Align::kRight;

// counting.proto, RotationRow.Part.
constexpr uint32_t kForgottenPlan = 0xFFFF;

// "two-set", "rotated": the end of an enumerator's name.
std::string Word(absl::string_view name, absl::string_view prefix) {
  return absl::StrReplaceAll(absl::AsciiStrToLower(absl::StripPrefix(name, prefix)), {{"_", "-"}});
}

std::string Time(const google::protobuf::Duration& time) { return absl::FormatDuration(ToDuration(time)); }

std::string PlanTable(const v1::GetRotationResponse& response, const TableStyle& style) {
  Table table({{"PLAN", kRight},
               {"PROFILE"},
               {"SETS", kRight},
               {"SETS/PASS", kRight, Table::Fit::kIfAny},
               {"PASSES", kRight, Table::Fit::kIfAny},
               {"STABLE", kRight},
               {"FLUCTUATING", kRight},
               {"ADAPTS"}});
  for (const v1::RotationPlan& plan : response.plans()) {
    const v1::RotationSettings& settings = plan.settings();
    const bool has_passes = plan.passes() > 1;
    table.Add(
        {absl::StrCat(plan.number()), Word(v1::RotationSettings::Profile_Name(settings.profile()), "PROFILE_"),
         absl::StrCat(plan.sets_size()), has_passes ? absl::StrCat(settings.sets_per_pass()) : "",
         has_passes ? absl::StrCat(plan.passes()) : "", settings.has_stable_slot() ? Time(settings.stable_slot()) : "",
         settings.has_fluctuating_slot() ? Time(settings.fluctuating_slot()) : "", settings.adapt() ? "yes" : "no"});
  }
  return table.Render(style);
}

// The plans of a row: "0" or "0,3", and "earlier" for those that the device has forgotten.
std::string PlansOf(const v1::RotationRow& row) {
  return absl::StrJoin(row.parts(), ",", [](std::string* out, const auto& part) {
    absl::StrAppend(out, part.plan() == kForgottenPlan ? "earlier" : absl::StrCat(part.plan()));
  });
}

}  // namespace

std::string RotationText(const v1::GetRotationResponse& response, const TableStyle& style) {
  Table table({{"VM", kLeft, Table::Fit::kMiddle},
               {"CONTEXT", kLeft, Table::Fit::kIfAny},
               {"EVENT", kLeft, Table::Fit::kMiddle},
               {"COUNTING"},
               {"COVERAGE", kRight},
               {"PLAN", kRight}});
  for (const v1::RotationRow& row : response.rows()) {
    for (const auto& event : row.events()) {
      table.Add({VmText(row.scope()), row.scope().context(), event.event(),
                 Word(v1::Event::Counting_Name(event.counting()), "COUNTING_"), CoverageText(event.coverage(), style),
                 PlansOf(row)});
    }
  }
  return absl::StrCat(PlanTable(response, style), "\n", table.Render(style));
}

std::string PlansText(const v1::GetRotationResponse& response, const TableStyle& style) {
  Table table({{"PLAN", kRight}, {"SET", kRight}, {"EVENTS", kLeft, Table::Fit::kEnd}});
  for (const v1::RotationPlan& plan : response.plans()) {
    for (int set = 0; set < plan.sets_size(); ++set) {
      table.Add({absl::StrCat(plan.number()), absl::StrCat(set), absl::StrJoin(plan.sets(set).events(), ",")});
    }
  }
  return absl::StrCat(PlanTable(response, style), "\n", table.Render(style));
}

}  // namespace sideband::client
