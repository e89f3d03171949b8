// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/serve/served_device.h"

#include <utility>

#include "proto/base/status_macros.h"
#include "proto/base/text.h"

namespace sideband::mcu {

absl::StatusOr<std::unique_ptr<ServedDevice>> ServedDevice::PowerOn(const ChipFile& file, const Options& options,
                                                                    LiveDevice::Elapsed elapsed) {
  // A port beside a program would take its values: they would be two threads of one client that nothing switches.
  if (!options.guest_ports.empty() && !file.programs.empty()) {
    return LineError(file.path, file.programs[0].line, "the cores of a program have the registers: no guest ports");
  }
  SIDEBAND_ASSIGN_OR_RETURN(auto device, LiveDevice::Create(file, options.boot_id, elapsed));
  if (options.line != nullptr) device->Connect(*options.line, *file.trigger_line, options.powered_on);
  std::unique_ptr<GuestViews> views;
  if (!options.guest_views.empty()) {
    SIDEBAND_ASSIGN_OR_RETURN(views, GuestViews::Create(options.guest_views, options.boot_id));
  }
  std::unique_ptr<ServedDevice> served(new ServedDevice(file, options.board, std::move(device), std::move(views)));
  if (!options.guest_ports.empty()) {
    SIDEBAND_RETURN_IF_ERROR(served->OpenPorts(options.guest_ports, std::move(elapsed)));
  }
  return served;
}

absl::Status ServedDevice::OpenPorts(const std::string& folder, LiveDevice::Elapsed elapsed) {
  SIDEBAND_ASSIGN_OR_RETURN(ports_, GuestPorts::Listen(folder, device_->catalog(), registers_, std::move(elapsed)));
  return absl::OkStatus();
}

void ServedDevice::Tick() {
  viewed_.Tick();
  if (ports_) ports_->Serve();
}

ServedDevice::ServedDevice(const ChipFile& file, const Board::Options& board, std::unique_ptr<LiveDevice> device,
                           std::unique_ptr<GuestViews> views)
    : device_(std::move(device)),
      views_(std::move(views)),
      viewed_(*device_, views_.get()),
      registers_(*device_),
      firmware_(viewed_, PowerModel(device_->power()), board.persona, file.extension),
      board_(board, firmware_.shared(), firmware_.own()) {}

}  // namespace sideband::mcu
