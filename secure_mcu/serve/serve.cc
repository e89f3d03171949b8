// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/serve/serve.h"

#include <cstdio>
#include <memory>

#include "absl/strings/str_format.h"
#include "proto/base/status_macros.h"
#include "proto/smbus/bus_name.h"
#include "secure_mcu/bus/mailbox_target.h"
#include "secure_mcu/bus/virtual_bus.h"
#include "secure_mcu/firmware/firmware.h"
#include "secure_mcu/guest_view/guest_views.h"
#include "secure_mcu/serve/bus_server.h"
#include "secure_mcu/serve/chip_file.h"
#include "secure_mcu/serve/viewed_device.h"

namespace sideband::mcu {
namespace {

// How far the chip may fall behind before a command makes it catch up.
constexpr absl::Duration kTick = absl::Milliseconds(10);

absl::StatusOr<std::unique_ptr<GuestViews>> OpenGuestViews(const ServeOptions& options) {
  if (options.guest_views.empty()) return nullptr;
  return GuestViews::Create(options.guest_views, options.boot_id);
}

}  // namespace

absl::Status Serve(const ServeOptions& options, const std::atomic<bool>& stop) {
  SIDEBAND_ASSIGN_OR_RETURN(const smbus::BusName name, smbus::ParseBusName(options.bus));
  if (name.kind != smbus::BusName::Kind::kUnix) {
    return absl::InvalidArgumentError("an emulated device is served on a unix: bus");
  }
  SIDEBAND_ASSIGN_OR_RETURN(const ChipFile file, LoadChipFile(options.chip_file));
  SIDEBAND_ASSIGN_OR_RETURN(const auto device, LiveDevice::Create(file, options.boot_id, options.elapsed));
  SIDEBAND_ASSIGN_OR_RETURN(const auto views, OpenGuestViews(options));
  ViewedDevice viewed(*device, views.get());
  Firmware firmware(viewed, PowerModel(device->power()));
  MailboxTarget target(name.address, firmware);
  VirtualBus bus;
  bus.Connect(name.address, target);
  SIDEBAND_ASSIGN_OR_RETURN(const auto server, BusServer::Listen(name.path, bus, options.elapsed));
  absl::FPrintF(stderr, "sideband-mcu: serving %s at address 0x%02x on %s, boot id %016x\n",
                device->identity().uuid.ToString(), name.address, name.path, options.boot_id);
  while (!stop) {
    server->ServeFor(kTick);
    viewed.Tick();
  }
  return absl::OkStatus();
}

}  // namespace sideband::mcu
