// SPDX-License-Identifier: Apache-2.0
#include "client/cli/change_lines.h"

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "client/cli/message_text.h"
#include "proto/base/boot_id.h"
#include "proto/base/visible.h"

namespace sideband::client {
namespace {

// "vm0/train"; "device" for the device itself.
std::string NameOf(const v1::Scope& scope) {
  const std::string vm = VmText(scope);
  if (vm.empty()) return "device";
  return absl::StrCat(Visible(vm), scope.context().empty() ? "" : "/", Visible(scope.context()));
}

std::string DeviceText(const v1::Device& device, bool is_gone) {
  if (is_gone) return absl::StrCat(device.name(), " is gone");
  const std::string boot = device.boot_id() == 0 ? "" : absl::StrCat(", boot ", BootIdText(device.boot_id()));
  return absl::StrCat(device.name(), " is ", StateText(device.state()), boot);
}

std::string ScopeText(const v1::ScopeState& state, bool is_gone) {
  const v1::Scope& scope = state.scope();
  std::string text = absl::StrCat(scope.device(), " ", NameOf(scope), " is ");
  if (is_gone) return text + "gone";
  absl::StrAppend(&text, scope.confidential() ? "confidential" : StateText(state.state()));
  if (state.flags_size() > 0) absl::StrAppend(&text, " (", absl::StrJoin(state.flags(), ", "), ")");
  return text;
}

std::string LimitText(const v1::SensorLimit& limit, bool is_gone) {
  std::string text = absl::StrCat(limit.device(), " ", Visible(limit.sensor().name()));
  for (const v1::SensorLabel& label : limit.sensor().labels()) {
    absl::StrAppend(&text, " ", Visible(label.name()), "=", Visible(label.value()));
  }
  return is_gone ? absl::StrCat(text, " is gone") : absl::StrCat(text, " is ", limit.sensor().value());
}

std::string MarkText(const v1::MarkInfo& mark, bool is_gone) {
  const std::string text = absl::StrCat(mark.scope().device(), " ", NameOf(mark.scope()), " mark ", mark.mark_id());
  if (is_gone) return text + " is gone";
  const std::string name = v1::MarkInfo::State_Name(mark.state());
  const std::string state = absl::AsciiStrToLower(absl::StripPrefix(name, "STATE_"));
  return absl::StrCat(text, " is ", state, mark.label().empty() ? "" : ": ", Visible(mark.label()));
}

std::string EventText(const v1::WatchBoardEventsResponse& event) {
  if (event.has_driver_message()) {
    return absl::StrCat(event.device(), " xid ", event.driver_message().xid(), ": ",
                        Visible(event.driver_message().text()));
  }
  if (event.has_raised()) {
    return absl::StrCat(event.device(), " ", Visible(event.raised().name()), " raised ", event.raised().count(),
                        event.raised().count() == 1 ? " time" : " times");
  }
  return absl::StrCat(event.device(), " ", event.messages_lost(), " messages of the driver were lost");
}

std::string TextOf(const v1::StateItem& item) {
  switch (item.item_case()) {
    case v1::StateItem::kDevice:
      return DeviceText(item.device(), item.gone());
    case v1::StateItem::kScope:
      return ScopeText(item.scope(), item.gone());
    case v1::StateItem::kLimit:
      return LimitText(item.limit(), item.gone());
    case v1::StateItem::kMark:
      return MarkText(item.mark(), item.gone());
    case v1::StateItem::kBoardEvent:
      return EventText(item.board_event());
    case v1::StateItem::ITEM_NOT_SET:
      break;
  }
  return "an item that this version does not know";
}

const char* ReasonText(v1::Gap::Reason reason) {
  switch (reason) {
    case v1::Gap::REASON_UNKNOWN_TOKEN:
      return "the daemon has restarted, or does not know this stream";
    case v1::Gap::REASON_POLICY_CHANGED:
      return "the policy has changed";
    case v1::Gap::REASON_REBOOTED:
      return "the device has restarted";
    case v1::Gap::REASON_NOT_KEPT:
      return "not all was kept";
    case v1::Gap::REASON_STATE_CHANGED:
      return "something has changed";
    case v1::Gap::REASON_GONE:
      return "it is gone";
    case v1::Gap::REASON_APPEARED:
      return "it has appeared";
    default:
      return "for an unknown reason";
  }
}

}  // namespace

std::string ChangeLines(const v1::StateChange& change, absl::Time now) {
  const std::string time = absl::FormatTime("%H:%M:%E1S", now, absl::UTCTimeZone());
  std::string lines;
  for (const v1::StateItem& item : change.items()) absl::StrAppend(&lines, time, " ", TextOf(item), "\n");
  return lines;
}

std::string GapText(const v1::Gap& gap) {
  std::string text = gap.device().empty() ? "a gap" : absl::StrCat(Visible(gap.device()), ": a gap");
  if (gap.has_from()) absl::StrAppend(&text, " from ", TimeText(ToTime(gap.from())));
  return absl::StrCat(text, " to ", TimeText(ToTime(gap.to())), ": ", ReasonText(gap.reason()),
                      "; the present state follows");
}

}  // namespace sideband::client
