// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "daemon/mailbox/register_port.h"
#include "daemon/transport/transport.h"
#include "proto/base/bytes.h"
#include "proto/base/status_macros.h"
#include "proto/mailbox/extension.h"
#include "proto/mailbox/word.h"
#include "proto/smbus/bus_name.h"
#include "proto/smbus/transfer.h"
#include "secure_mcu/chip_file/chip_file.h"
#include "secure_mcu/device/live_device.h"
#include "secure_mcu/firmware/board_unit.h"
#include "secure_mcu/firmware/firmware.h"
#include "tests/lab/bench/benchmarks.h"
#include "tests/lab/bench/measurement.h"

namespace sideband::bench {
namespace {

using mailbox::CommandWord;
using mailbox::MailboxStatus;
using mailbox::Opcode;

constexpr absl::Duration kCommandWarmUp = absl::Seconds(1);
constexpr absl::Duration kBehind = absl::Milliseconds(10);
constexpr int kTries = 50;
constexpr int kCommandRepetitions = 20;

// Each command with arguments for which it succeeds.
constexpr CommandWord kCommands[] = {
    {.opcode = Opcode::kNull},
    {.opcode = Opcode::kGetCapabilities, .arg1 = 4},
    {.opcode = Opcode::kGetTemp},
    {.opcode = Opcode::kGetExtTemp},
    {.opcode = Opcode::kGetPower},
    {.opcode = Opcode::kGetSysId, .arg1 = 0x09},
    {.opcode = Opcode::kScratchRead},
    {.opcode = Opcode::kScratchWrite, .arg2 = 255},
    {.opcode = Opcode::kScratchCopy, .arg1 = 1, .arg2 = 254},
    {.opcode = Opcode::kAsyncRequest, .arg1 = 0x08},
    {.opcode = Opcode::kAsyncRequest, .arg1 = 0x0A},
    {.opcode = Opcode::kAsyncRequest, .arg1 = 0x15},
    {.opcode = Opcode::kRegisterAccess, .arg1 = 1, .arg2 = 1},
    {.opcode = Opcode::kGetMiscFlags},
    {.opcode = Opcode::kGetClock},
    {.opcode = Opcode::kGetEnergy},
    {.opcode = Opcode::kGetSystemInfo},
    {.opcode = Opcode::kPerformanceMonitoring, .arg1 = 0x01, .arg2 = 0xFF},
    {.opcode = Opcode::kPerformanceMonitoring, .arg1 = 0x04, .arg2 = 0x01},
    {.opcode = Opcode::kPerformanceMonitoring, .arg1 = 0x01, .arg2 = 0x81},
    {.opcode = Opcode::kPerformanceMonitoring, .arg1 = 0x80, .arg2 = 0xFF},
    {.opcode = Opcode::kPerformanceMonitoring, .arg1 = 0x41, .arg2 = 0xFF},
};

// The device with its own time, and its firmware.
class Rig {
 public:
  static absl::StatusOr<std::unique_ptr<Rig>> Create(const std::string& chip_file) {
    SIDEBAND_ASSIGN_OR_RETURN(const mcu::ChipFile file, mcu::LoadChipFile(chip_file));
    auto rig = std::make_unique<Rig>();
    SIDEBAND_ASSIGN_OR_RETURN(
        rig->device_, mcu::LiveDevice::Create(file, /*boot_id=*/1, [rig = rig.get()] { return rig->elapsed_; }));
    rig->board_ = std::make_unique<mcu::BoardUnit>(*rig->device_, mcu::PowerModel(rig->device_->power()));
    rig->firmware_ = std::make_unique<mcu::Firmware>(*rig->device_, *rig->board_, mcu::Firmware::Options());
    return rig;
  }

  void Pass(absl::Duration time) { elapsed_ += time; }
  void CatchUp() { device_->CatchUp(); }
  MailboxStatus Run(const CommandWord& command) { return firmware_->Execute(command, 0, 0).status; }

 private:
  absl::Duration elapsed_;
  std::unique_ptr<mcu::LiveDevice> device_;
  std::unique_ptr<mcu::BoardUnit> board_;
  std::unique_ptr<mcu::Firmware> firmware_;
};

// Fills the windows and captures that some commands report.
absl::Status WarmUp(Rig& rig) {
  for (int i = 0; i < 2; ++i) {
    for (const CommandWord& command : kCommands) rig.Run(command);
    rig.Pass(kCommandWarmUp);
  }
  for (const CommandWord& command : kCommands) {
    const MailboxStatus status = rig.Run(command);
    if (status == MailboxStatus::kSuccess || status == MailboxStatus::kAccepted) continue;
    return absl::InternalError(
        absl::StrCat(mailbox::OpcodeName(command.opcode), " is answered ", mailbox::StatusName(status)));
  }
  return absl::OkStatus();
}

double SecondsUpToDate(Rig& rig, const CommandWord& command) {
  BestTime best;
  for (int i = 0; i < kTries; ++i) {
    rig.Pass(kBehind);
    rig.CatchUp();
    best.Measure([&] {
      for (int repetition = 0; repetition < kCommandRepetitions; ++repetition) rig.Run(command);
    });
  }
  return best.seconds() / kCommandRepetitions;
}

double SecondsBehind(Rig& rig, const CommandWord& command) {
  BestTime best;
  for (int i = 0; i < kTries; ++i) {
    rig.Pass(kBehind);
    best.Measure([&] { rig.Run(command); });
    rig.CatchUp();  // commands that need no counts have not caught up
  }
  return best.seconds();
}

template <typename Measure>
Row Slowest(Rig& rig, const std::string& what, const Measure& measure) {
  double slowest = 0;
  CommandWord command;
  for (const CommandWord& candidate : kCommands) {
    const double seconds = measure(rig, candidate);
    if (seconds <= slowest) continue;
    slowest = seconds;
    command = candidate;
  }
  return {absl::StrCat("mailbox: base commands, the slowest of ", std::size(kCommands), ", ", what), slowest * 1e6,
          "us", absl::StrFormat("%s %02x; clients allow 400 us", mailbox::OpcodeName(command.opcode), command.arg1)};
}

constexpr int kSessionRounds = 9;
constexpr int kTransactions = 20'000;

// Answers every read with a given block, and accepts every write.
class ReadyBus final : public daemon::Transport {
 public:
  ReadyBus(uint8_t code, uint8_t size) {
    Bytes& block = answer_.read.emplace_back(1 + size);
    block[0] = size;
    const uint8_t before[] = {smbus::AddressByte(smbus::kMailboxAddress, false), code,
                              smbus::AddressByte(smbus::kMailboxAddress, true)};
    block.push_back(smbus::Pec(block, smbus::Pec(before)));
  }
  absl::StatusOr<smbus::TransferResult> Execute(const smbus::Transfer& transfer) override {
    return transfer.messages.size() == 1 ? smbus::TransferResult() : answer_;
  }

 private:
  smbus::TransferResult answer_;
};

template <typename Transact>
absl::StatusOr<Row> MeasureTransaction(const char* name, const Transact& transact) {
  BestTime best;
  absl::Status status;
  for (int round = 0; round < kSessionRounds && status.ok(); ++round) {
    best.Measure([&] {
      for (int i = 0; i < kTransactions && status.ok(); ++i) status = transact();
    });
  }
  SIDEBAND_RETURN_IF_ERROR(status);
  return Row{name, best.seconds() * 1e6 / kTransactions, "us", "a transaction, beyond the wire"};
}

}  // namespace

absl::StatusOr<Rows> MeasureBaseCommands(const std::string& chip_file) {
  SIDEBAND_ASSIGN_OR_RETURN(const std::unique_ptr<Rig> rig, Rig::Create(chip_file));
  SIDEBAND_RETURN_IF_ERROR(WarmUp(*rig));
  return Rows{Slowest(*rig, "up to date", SecondsUpToDate), Slowest(*rig, "10 ms behind", SecondsBehind)};
}

absl::StatusOr<Rows> MeasureSessionOverhead() {
  ReadyBus registers(mailbox::kCommandRegister, mailbox::kRegisterBytes);
  ReadyBus windows(mailbox::kWindowFirst, mailbox::kWindowBytes);
  const auto ignore = [](absl::string_view) {};
  daemon::RegisterPort port(registers, smbus::kMailboxAddress, ignore);
  daemon::RegisterPort window_port(windows, smbus::kMailboxAddress, ignore);
  Rows rows(3);
  SIDEBAND_ASSIGN_OR_RETURN(rows[0], MeasureTransaction("mailbox: session, a register written",
                                                        [&] { return port.Write(mailbox::kDataRegister, 1); }));
  SIDEBAND_ASSIGN_OR_RETURN(rows[1], MeasureTransaction("mailbox: session, a register read",
                                                        [&] { return port.Read(mailbox::kCommandRegister).status(); }));
  SIDEBAND_ASSIGN_OR_RETURN(rows[2], MeasureTransaction("mailbox: session, a window of 255 bytes read", [&] {
                              return window_port.ReadBlock(mailbox::kWindowFirst, mailbox::kWindowBytes).status();
                            }));
  return rows;
}

}  // namespace sideband::bench
