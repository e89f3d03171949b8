// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/serve/serve.h"

#include <cstdio>
#include <memory>
#include <string>

#include "absl/strings/str_format.h"
#include "proto/base/status_macros.h"
#include "proto/smbus/bus_name.h"
#include "secure_mcu/bus/mailbox_target.h"
#include "secure_mcu/bus/virtual_bus.h"
#include "secure_mcu/firmware/firmware.h"
#include "secure_mcu/guest_view/guest_views.h"
#include "secure_mcu/serve/bus_server.h"
#include "secure_mcu/serve/chip_file.h"

namespace sideband::mcu {
namespace {

// How far the chip may fall behind before a command makes it catch up.
constexpr absl::Duration kTick = absl::Milliseconds(10);

absl::StatusOr<std::unique_ptr<GuestViews>> OpenGuestViews(const ServeOptions& options) {
  if (options.guest_views.empty()) return nullptr;
  return GuestViews::Create(options.guest_views, options.boot_id);
}

// Shows guests what each latch for the controller holds, so that both agree wherever their trigger ids do.
class WatchedDevice final : public Device {
 public:
  WatchedDevice(LiveDevice& device, GuestViews* views) : device_(device), views_(views) {}

  const DeviceIdentity& identity() const override { return device_.identity(); }
  const mailbox::Catalog& catalog() const override { return device_.catalog(); }
  uint64_t catalog_version() const override { return device_.catalog_version(); }
  mailbox::Snapshot Latch() override {
    mailbox::Snapshot snapshot = device_.Latch();
    Show(snapshot);
    return snapshot;
  }
  void Acknowledge() override { device_.Acknowledge(); }
  std::span<const uint64_t> DeviceCounters() override { return device_.DeviceCounters(); }
  uint64_t ReferenceTimeNs() override { return device_.ReferenceTimeNs(); }

  // Between latches guests see what is counted every so often.
  void Tick() {
    if (views_ == nullptr) return device_.CatchUp();
    Show(device_.Observe());
  }

 private:
  void Show(const mailbox::Snapshot& snapshot) {
    if (views_ == nullptr) return;
    const absl::Status status = views_->Publish(device_.catalog(), snapshot);
    if (!status.ok() && shown_) absl::FPrintF(stderr, "sideband-mcu: guest views: %s\n", std::string(status.message()));
    shown_ = status.ok();
  }

  LiveDevice& device_;
  GuestViews* const views_;
  bool shown_ = true;  // an error is reported when it comes, not every time
};

}  // namespace

absl::Status Serve(const ServeOptions& options, const std::atomic<bool>& stop) {
  SIDEBAND_ASSIGN_OR_RETURN(const smbus::BusName name, smbus::ParseBusName(options.bus));
  if (name.kind != smbus::BusName::Kind::kUnix) {
    return absl::InvalidArgumentError("an emulated device is served on a unix: bus");
  }
  SIDEBAND_ASSIGN_OR_RETURN(const ChipFile file, LoadChipFile(options.chip_file));
  SIDEBAND_ASSIGN_OR_RETURN(const auto device, LiveDevice::Create(file, options.boot_id, options.elapsed));
  SIDEBAND_ASSIGN_OR_RETURN(const auto views, OpenGuestViews(options));
  WatchedDevice watched(*device, views.get());
  Firmware firmware(watched, PowerModel(device->power()));
  MailboxTarget target(name.address, firmware);
  VirtualBus bus;
  bus.Connect(name.address, target);
  SIDEBAND_ASSIGN_OR_RETURN(const auto server, BusServer::Listen(name.path, bus));
  absl::FPrintF(stderr, "sideband-mcu: serving %s at address 0x%02x on %s, boot id %016x\n",
                device->identity().uuid.ToString(), name.address, name.path, options.boot_id);
  while (!stop) {
    server->ServeFor(kTick);
    watched.Tick();
  }
  return absl::OkStatus();
}

}  // namespace sideband::mcu
