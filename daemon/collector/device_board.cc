// SPDX-License-Identifier: Apache-2.0
#include "daemon/collector/device_board.h"

#include <spdlog/spdlog.h>

#include "absl/strings/str_cat.h"

namespace sideband::daemon {
namespace {

// Of a bus whose frequency is not configured: what SMBus 3 allows, so that its share is bounded all the same.
constexpr uint32_t kUnknownBusHz = 1'000'000;

}  // namespace

DeviceBoard::DeviceBoard(size_t device, MailboxSession& session, const Context& context)
    : device_(device), context_(context), port_(session) {}

absl::StatusOr<BoardReply> DeviceBoard::Port::Run(const mailbox::CommandWord& word, std::optional<uint32_t> data,
                                                  const Outputs& outputs) {
  const auto reply = session_.RunBase(word, data, {.data = outputs.data, .extended_data = outputs.extended_data});
  if (!reply.ok()) return reply.status();
  return BoardReply{.word = reply->word, .data = reply->data, .extended_data = reply->extended_data};
}

bool DeviceBoard::Follow() {
  if (context_.boards == nullptr || !is_reachable_) return false;
  const auto info = context_.store.Info(device_);
  if (info == nullptr) return false;
  const Plan plan = {.settings = context_.boards->SettingsOf(device_),
                     .bus_hz = info->bus_hz == 0 ? kUnknownBusHz : info->bus_hz,
                     .interval = info->interval};
  if (!plan.settings.is_read) {
    reader_.reset();
    return false;
  }
  if (reader_ && plan == plan_) return true;
  name_ = info->name;
  plan_ = plan;
  reader_.emplace(
      port_,
      BoardReaderOptions{
          .schedule = {.bus_hz = plan.bus_hz, .bus_share = plan.settings.bus_share, .interval = plan.interval}},
      [this](absl::string_view group, absl::string_view what) { LogChange(group, what); });
  return true;
}

void DeviceBoard::LogChange(absl::string_view group, absl::string_view what) const {
  spdlog::warn("device {}: board: {}{}", name_, group == "board" ? "" : absl::StrCat(group, ": "), std::string(what));
}

void DeviceBoard::LogError(const absl::Status& status) {
  // Transitions alone: a device that is away fails at each attempt.
  if (error_ == status.message() || absl::IsCancelled(status)) return;
  if (!status.ok()) {
    spdlog::warn("device {}: board: {}", name_, std::string(status.message()));
  } else if (!error_.empty()) {
    spdlog::info("device {}: board: its base commands answer again", name_);
  }
  error_ = std::string(status.message());
}

bool DeviceBoard::RunNext() {
  if (!Follow()) return false;
  const auto step = reader_->Step({context_.clock.Steady(), context_.clock.Now()});
  if (step.ok() && *step == BoardStep::kIdle) return false;
  LogError(step.status());
  if (step.ok() && *step == BoardStep::kPublished) context_.boards->Publish(device_, reader_->reading());
  return true;
}

std::shared_ptr<DeviceSnapshot> DeviceBoard::SnapshotOfReading() {
  return reader_ ? snapshots_.Make(*reader_->reading()) : nullptr;
}

absl::Duration DeviceBoard::NextTime() {
  if (!Follow()) return absl::InfiniteDuration();
  return reader_->NextTime(context_.clock.Steady());
}

}  // namespace sideband::daemon
