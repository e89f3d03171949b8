// SPDX-License-Identifier: Apache-2.0
//
// An emulated device with all its parts from the chip to the bus, which are switched on and off together. Two of
// the parts are here: the live device as it is seen from outside, and the targets of its board.
//   SIDEBAND_ASSIGN_OR_RETURN(const auto device, ServedDevice::PowerOn(file, {.boot_id = id}, elapsed));
//   device->board().Connect(bus);
//   while (!stop) device->Tick();
#ifndef SIDEBAND_SECURE_MCU_SERVE_SERVED_DEVICE_H_
#define SIDEBAND_SECURE_MCU_SERVE_SERVED_DEVICE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "secure_mcu/chip_file/chip_file.h"
#include "secure_mcu/device/guest_registers.h"
#include "secure_mcu/device/live_device.h"
#include "secure_mcu/device/trigger_line.h"
#include "secure_mcu/firmware/board_state.h"
#include "secure_mcu/firmware/command_handler.h"
#include "secure_mcu/firmware/device.h"
#include "secure_mcu/firmware/firmware.h"
#include "secure_mcu/firmware/mailbox_target.h"
#include "secure_mcu/firmware/system_info.h"
#include "secure_mcu/guest_view/guest_views.h"
#include "secure_mcu/sealing/device_sealer.h"
#include "secure_mcu/serve/guest_ports.h"
#include "sim/bus/board_fault.h"

namespace sideband::mcu {

// A live device as it is seen from outside: confidential VMs sealed, if it has a sealer, and every latch published in
// the guests' views, so a view and a snapshot with the same trigger id agree. A view is refreshed when it is 10 ms old;
// one of sealed records by each latch, and each second if there was none for two, so that a controller misses none. A
// failure to write a view is reported on standard error, once until the next success; it never affects the controller.
// Not thread-safe.
class ViewedDevice final : public Device {
 public:
  // All must outlive it; `views` is null if the guests have no views, `sealer` if the device does not seal.
  ViewedDevice(LiveDevice& device, GuestViews* views, DeviceSealer* sealer = nullptr)
      : device_(device), views_(views), sealer_(sealer) {}

  const DeviceIdentity& identity() const override { return device_.identity(); }
  const mailbox::Catalog& catalog() const override { return device_.catalog(); }
  uint64_t catalog_version() const override { return device_.catalog_version(); }
  mailbox::Snapshot Latch() override;
  void Acknowledge() override { device_.Acknowledge(); }
  std::span<const uint64_t> DeviceCounters() override { return device_.DeviceCounters(); }
  uint64_t ReferenceTimeNs() override { return device_.ReferenceTimeNs(); }
  std::optional<BlockView> BlockCounters(uint16_t vm, uint16_t context) override {
    return device_.BlockCounters(vm, context);
  }
  std::optional<LiveBlock> PeekBlock(uint16_t vm, uint16_t context) override { return device_.PeekBlock(vm, context); }
  BlockSealer* block_sealer() override { return sealer_; }
  double GainPerCycle(uint16_t event, SliceSet slices) const override { return device_.GainPerCycle(event, slices); }
  std::optional<MemoryUse> GetMemoryUse() override { return device_.GetMemoryUse(); }
  std::optional<WorkloadClock> GetWorkloadClock() const override { return device_.GetWorkloadClock(); }
  void SetWorkloadClock(uint64_t hz) override { device_.SetWorkloadClock(hz); }
  DeviceTriggers* triggers() override { return device_.triggers(); }
  DeviceClocks* clocks() override { return device_.clocks(); }
  DeviceCounting* counting() override { return device_.counting(); }
  DeviceRotation* rotation() override { return device_.rotation(); }
  bool HasPrivateVms() const override { return device_.HasPrivateVms(); }

  // Counts up to the present, and publishes the counts to the guests if their view is 10 ms old.
  void Tick();

 private:
  void Show(const mailbox::Snapshot& snapshot);

  LiveDevice& device_;
  GuestViews* const views_;
  DeviceSealer* const sealer_;
  uint64_t latched_ns_ = 0;           // reference time of the last latch
  std::optional<uint64_t> shown_ns_;  // reference time of the published view
  bool failed_ = false;
};

// The targets of an emulated board: the mailbox, and the additional targets of the board's persona. Not thread-safe.
class Board {
 public:
  // The address of the identity EEPROM of NVIDIA's boards, which their clients probe.
  static constexpr uint8_t kEepromAddress = 0x50;

  struct Options {
    uint8_t address = 0x4F;
    Persona persona = Persona::kSideband;
  };

  // Both must outlive the board. `own_handler` executes the commands of the extension's own registers; null: the board
  // has none (MailboxTarget).
  Board(const Options& options, CommandHandler& handler, CommandHandler* own_handler);
  Board(const Board&) = delete;  // the bus holds references to the targets
  Board& operator=(const Board&) = delete;

  // The board must outlive the connection.
  void Connect(VirtualBus& bus);
  void Disconnect(VirtualBus& bus);

 private:
  const Options options_;
  MailboxTarget mailbox_;
  PresenceTarget eeprom_;
};

// Not thread-safe. Two live objects must not share a folder of guests' views or ports.
class ServedDevice {
 public:
  struct Options {
    Board::Options board;
    uint64_t boot_id = 0;
    std::string guest_views;      // folder of the guests' views; empty: no views
    std::string guest_ports;      // folder of the guests' ports; empty: no ports
    TriggerLine* line = nullptr;  // of the chip file's name, which must outlive the device; null: none
    absl::Duration powered_on;    // on the line's axis
    // The calendar time of the driver's messages; absent: 1970.
    std::function<absl::Time()> time_of_day;
  };
  // `elapsed` is the time since this start. Errors are those of LiveDevice::Create, GuestViews::Create,
  // SealingRules::Load and GuestPorts::Listen; INVALID_ARGUMENT for guest ports of a chip with a program.
  static absl::StatusOr<std::unique_ptr<ServedDevice>> PowerOn(const ChipFile& file, const Options& options,
                                                               LiveDevice::Elapsed elapsed);

  const DeviceIdentity& identity() const { return device_->identity(); }
  Board& board() { return board_; }
  // Readable when a guest waits for the next Tick; -1 without ports.
  int guests_fd() const { return ports_ ? ports_->fd() : -1; }
  // Counts up to the present, and serves the guests' ports.
  void Tick();

  // A fault plan's fault of the board; does nothing if the board does not have the part that fails.
  void Strike(const sim::BoardFault& fault);
  const BoardState& board_state() { return firmware_.board().state; }

 private:
  ServedDevice(const ChipFile& file, const Options& options, std::unique_ptr<LiveDevice> device,
               std::unique_ptr<GuestViews> views, std::unique_ptr<DeviceSealer> sealer);

  absl::Status OpenPorts(const std::string& folder, LiveDevice::Elapsed elapsed);

  const std::unique_ptr<LiveDevice> device_;
  const std::unique_ptr<GuestViews> views_;     // null: no views
  const std::unique_ptr<DeviceSealer> sealer_;  // null: the device does not seal
  ViewedDevice viewed_;
  GuestRegisters registers_;
  std::unique_ptr<GuestPorts> ports_;  // null: no ports
  FirmwarePair firmware_;
  Board board_;
  const std::function<absl::Time()> time_of_day_;
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_SERVE_SERVED_DEVICE_H_
