// SPDX-License-Identifier: Apache-2.0
//
// An emulated device with all that stands between its chip and the bus: what is switched on and off as one.
//   SIDEBAND_ASSIGN_OR_RETURN(const auto device, ServedDevice::PowerOn(file, {.boot_id = id}, elapsed));
//   device->board().Connect(bus);
//   while (!stop) device->Tick();
#ifndef SIDEBAND_SECURE_MCU_SERVE_SERVED_DEVICE_H_
#define SIDEBAND_SECURE_MCU_SERVE_SERVED_DEVICE_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "secure_mcu/firmware/firmware.h"
#include "secure_mcu/guest_view/guest_views.h"
#include "secure_mcu/serve/board.h"
#include "secure_mcu/serve/chip_spec.h"
#include "secure_mcu/serve/live_device.h"
#include "secure_mcu/serve/viewed_device.h"

namespace sideband::mcu {

// Not thread-safe. Two with the same guest views' folder must not be at a time.
class ServedDevice {
 public:
  struct Options {
    Board::Options board;
    uint64_t boot_id = 0;
    std::string guest_views;  // a folder for the guests' views; empty: none
  };
  // `elapsed` is the time since then. Errors are those of LiveDevice::Create and GuestViews::Create.
  static absl::StatusOr<std::unique_ptr<ServedDevice>> PowerOn(const ChipFile& file, const Options& options,
                                                               LiveDevice::Elapsed elapsed);

  const DeviceIdentity& identity() const { return device_->identity(); }
  Board& board() { return board_; }
  // Counts up to now.
  void Tick() { viewed_.Tick(); }

 private:
  ServedDevice(const Board::Options& board, std::unique_ptr<LiveDevice> device, std::unique_ptr<GuestViews> views);

  const std::unique_ptr<LiveDevice> device_;
  const std::unique_ptr<GuestViews> views_;  // null: none
  ViewedDevice viewed_;
  Firmware firmware_;
  Board board_;
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_SERVE_SERVED_DEVICE_H_
