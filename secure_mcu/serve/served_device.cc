// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/serve/served_device.h"

#include <algorithm>
#include <cstdio>
#include <limits>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "proto/base/errors.h"
#include "proto/base/status_macros.h"
#include "proto/base/text.h"
#include "proto/exchange/exchanger.h"
#include "proto/exchange/messages.h"
#include "secure_mcu/firmware/board_state.h"

namespace sideband::mcu {
namespace {

constexpr uint64_t kRefreshNs = 10'000'000;
constexpr uint64_t kSealedRefreshNs = 1'000'000'000;
// Without a latch for so long, no controller takes the records.
constexpr uint64_t kControllerGoneNs = 2 * kSealedRefreshNs;

void WarnOfVmsWithoutGuest(const ChipFile& file, const exchange::SealingRules& rules) {
  for (const VmFileSpec& vm : file.vms) {
    if (!vm.confidential || rules.FindGuest(vm.uuid) != nullptr) continue;
    absl::FPrintF(stderr, "sideband-mcu: %s: no guest is trusted with the keys of VM %s (%s)\n", file.sealing->path,
                  vm.name, vm.uuid.ToString());
  }
}

// Its keys are of this start: guests exchange keys again after the next. nullptr: the device does not seal.
absl::StatusOr<std::unique_ptr<DeviceSealer>> MakeSealer(const ChipFile& file, Device& device) {
  if (!file.sealing) return nullptr;
  auto rules = exchange::SealingRules::Load(file.sealing->path);
  if (!rules.ok()) return LineError(file.path, file.sealing->line, rules.status().message());
  if (!exchange::IsOfDevice(rules->identity().certificates().front(), file.uuid)) {
    return LineError(file.path, file.sealing->line,
                     absl::StrCat("the identity's certificate is not of this device: it lacks the name urn:uuid:",
                                  file.uuid.ToString()));
  }
  WarnOfVmsWithoutGuest(file, *rules);
  // The firmware is this program.
  SIDEBAND_ASSIGN_OR_RETURN(const exchange::Sha384Digest measurement, exchange::MeasureThisProgram());
  return std::make_unique<DeviceSealer>(*std::move(rules), measurement, device);
}

// 0 for times before 1970.
uint32_t SecondsSince1970(absl::Time time) {
  return static_cast<uint32_t>(std::clamp<int64_t>(absl::ToUnixSeconds(time), 0, std::numeric_limits<uint32_t>::max()));
}

}  // namespace

mailbox::Snapshot ViewedDevice::Latch() {
  mailbox::Snapshot snapshot = device_.Latch();
  latched_ns_ = snapshot.reference_time_ns;
  if (sealer_ != nullptr) sealer_->Seal(snapshot);
  Show(snapshot);
  return snapshot;
}

void ViewedDevice::Tick() {
  device_.CatchUp();
  if (views_ == nullptr) return;
  // Frames of a bus arrive in bursts. A latched view must stay long enough for a guest to read it.
  if (shown_ns_ && device_.ReferenceTimeNs() < *shown_ns_ + kRefreshNs) return;
  mailbox::Snapshot snapshot = device_.Observe();
  const bool has_controller = snapshot.reference_time_ns - latched_ns_ < kControllerGoneNs;
  if (sealer_ != nullptr && has_controller) sealer_->AddLast(snapshot);
  if (sealer_ != nullptr && !has_controller) sealer_->Seal(snapshot, kSealedRefreshNs);
  Show(snapshot);
}

void ViewedDevice::Show(const mailbox::Snapshot& snapshot) {
  if (views_ == nullptr) return;
  shown_ns_ = snapshot.reference_time_ns;
  const absl::Status status = views_->Publish(device_.catalog(), snapshot);
  if (!status.ok() && !failed_) {
    absl::FPrintF(stderr, "sideband-mcu: guest views: %s\n", std::string(status.message()));
  }
  failed_ = !status.ok();
}

Board::Board(const Options& options, CommandHandler& handler, CommandHandler* own_handler)
    : options_(options),
      mailbox_(options.address, handler,
               {.vendor_id = VendorId(options.persona), .registers = {}, .own_handler = own_handler}) {}

void Board::Connect(VirtualBus& bus) {
  if (options_.persona == Persona::kNvidia) bus.Connect(kEepromAddress, eeprom_);
  bus.Connect(options_.address, mailbox_);  // last, so that the mailbox wins at a shared address
}

void Board::Disconnect(VirtualBus& bus) {
  if (options_.persona == Persona::kNvidia) bus.Disconnect(kEepromAddress);
  bus.Disconnect(options_.address);
}

absl::StatusOr<std::unique_ptr<ServedDevice>> ServedDevice::PowerOn(const ChipFile& file, const Options& options,
                                                                    LiveDevice::Elapsed elapsed) {
  // A port beside a program would take its values: they would be two threads of one client that nothing switches.
  if (!options.guest_ports.empty() && !file.programs.empty()) {
    return LineError(file.path, file.programs[0].line, "the cores of a program have the registers: no guest ports");
  }
  SIDEBAND_ASSIGN_OR_RETURN(auto device, LiveDevice::Create(file, options.boot_id, elapsed));
  if (!device->warning().empty()) {
    absl::FPrintF(stderr, "sideband-mcu: warning: %s\n", Visible(device->warning()));
  }
  if (options.line != nullptr) device->Connect(*options.line, *file.trigger_line, options.powered_on);
  std::unique_ptr<GuestViews> views;
  if (!options.guest_views.empty()) {
    SIDEBAND_ASSIGN_OR_RETURN(views, GuestViews::Create(options.guest_views, options.boot_id));
  }
  SIDEBAND_ASSIGN_OR_RETURN(auto sealer, MakeSealer(file, *device));
  std::unique_ptr<ServedDevice> served(
      new ServedDevice(file, options, std::move(device), std::move(views), std::move(sealer)));
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
  firmware_.Tick();
  if (ports_) ports_->Serve();
}

void ServedDevice::Strike(const sim::BoardFault& fault) {
  BoardUnit& board = firmware_.board();
  if (!IsPossible(fault, board.spec)) return;
  Apply(fault, board.state, SecondsSince1970(time_of_day_ ? time_of_day_() : absl::UnixEpoch()));
}

ServedDevice::ServedDevice(const ChipFile& file, const Options& options, std::unique_ptr<LiveDevice> device,
                           std::unique_ptr<GuestViews> views, std::unique_ptr<DeviceSealer> sealer)
    : device_(std::move(device)),
      views_(std::move(views)),
      sealer_(std::move(sealer)),
      viewed_(*device_, views_.get(), sealer_.get()),
      registers_(*device_),
      firmware_(viewed_, PowerModel(device_->power()), options.board.persona, file.extension, file.complement,
                file.board),
      board_(options.board, firmware_.shared(), firmware_.own()),
      time_of_day_(options.time_of_day) {}

}  // namespace sideband::mcu
