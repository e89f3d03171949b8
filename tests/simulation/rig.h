// SPDX-License-Identifier: Apache-2.0
//
// The daemon's session on the microcontroller's firmware over a faulty bus, in simulated time: nothing waits, nothing
// is random but by seed.
//   Rig rig({.seed = 7}, plan);
//   const absl::Status status = rig.CollectOnce();
//   EXPECT_EQ(rig.wrong(), "");
#ifndef SIDEBAND_TESTS_SIMULATION_RIG_H_
#define SIDEBAND_TESTS_SIMULATION_RIG_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "daemon/base/clock.h"
#include "daemon/mailbox/mailbox_session.h"
#include "daemon/mailbox/register_port.h"
#include "proto/smbus/bus.h"
#include "secure_mcu/bus/mailbox_target.h"
#include "secure_mcu/bus/virtual_bus.h"
#include "secure_mcu/firmware/firmware.h"
#include "sim/bus_faults/faulty_bus.h"
#include "tests/conformance/in_process_bus.h"
#include "tests/simulation/reader.h"
#include "tests/simulation/simulated_device.h"
#include "tests/simulation/truth.h"

namespace sideband::tests {

// Not thread-safe.
class Rig {
 public:
  // Every start of the device draws its sizes anew, from `device.seed` and the number of the start.
  Rig(const SimulatedDevice::Options& device, const sim::FaultPlan& plan,
      size_t block_bytes_max = smbus::kBlockBytesMax);

  // Another plan, from its first transaction on.
  void SetPlan(const sim::FaultPlan& plan);
  // The controller starts anew, and knows nothing.
  void RestartController();
  void RestartDevice();
  // With no regard to anybody else's commands.
  void LatchByAnother();

  absl::Status CollectOnce();

  // What was wrong with the first wrong snapshot that was accepted; empty: nothing yet.
  const std::string& wrong() const { return wrong_; }
  uint64_t accepted() const { return accepted_; }
  // How transactions ended, as the daemon's metrics are told.
  const std::map<std::string, uint64_t>& outcomes() const { return outcomes_; }
  const sim::FaultyBus& bus() const { return *faulty_; }
  uint64_t boot_id() const { return boot_id_; }
  // Of the newest CollectOnce.
  uint64_t transactions() const { return transactions_; }
  // More than CollectOnce can take with this device, whatever happens: each command has two writes of data and its own,
  // all repeated where that is refused, its polls, and two reads; a stream has its windows, the commands that open
  // them, and those that go on where it was interrupted; each transaction has its attempts; and there are so many
  // latches, each with its stream and a catalogue.
  uint64_t transactions_max() const;

 private:
  // Takes the time that its transactions need at 100 kHz.
  class TimedBus final : public smbus::Bus {
   public:
    explicit TimedBus(Rig& rig) : rig_(rig) {}
    smbus::TransferResult Execute(const smbus::Transfer& transfer) override;

   private:
    Rig& rig_;
  };

  const SimulatedDevice::Options options_;
  uint64_t now_ns_ = 0;
  uint64_t boot_id_ = 0;
  Truth truth_;
  mcu::VirtualBus targets_;
  std::unique_ptr<SimulatedDevice> device_;
  std::unique_ptr<mcu::Firmware> firmware_;
  std::unique_ptr<mcu::MailboxTarget> target_;
  std::unique_ptr<sim::FaultyBus> faulty_;
  TimedBus timed_{*this};
  InProcessTransport wire_;
  const daemon::FakeClock clock_{absl::UnixEpoch()};  // of the host, which is of no interest here
  std::map<std::string, uint64_t> outcomes_;
  std::unique_ptr<daemon::RegisterPort> port_;
  std::unique_ptr<daemon::MailboxSession> session_;
  std::unique_ptr<Reader> reader_;
  uint64_t accepted_ = 0;
  uint64_t transactions_ = 0;
  std::string wrong_;
};

}  // namespace sideband::tests

#endif  // SIDEBAND_TESTS_SIMULATION_RIG_H_
