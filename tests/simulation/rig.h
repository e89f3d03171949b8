// SPDX-License-Identifier: Apache-2.0
//
// The daemon's session on the microcontroller's firmware over a faulty bus, in simulated time: no waits, and no
// randomness other than by seed.
//   Rig rig({.seed = 7}, plan);
//   const absl::Status status = rig.CollectOnce();
//   EXPECT_EQ(rig.wrong(), "");
#ifndef SIDEBAND_TESTS_SIMULATION_RIG_H_
#define SIDEBAND_TESTS_SIMULATION_RIG_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "daemon/base/clock.h"
#include "daemon/mailbox/mailbox_session.h"
#include "daemon/mailbox/register_port.h"
#include "proto/mailbox/catalog.h"
#include "proto/mailbox/extension.h"
#include "proto/mailbox/snapshot.h"
#include "proto/smbus/transfer.h"
#include "secure_mcu/firmware/device.h"
#include "secure_mcu/firmware/firmware.h"
#include "secure_mcu/firmware/mailbox_target.h"
#include "sim/bus/faulty_bus.h"
#include "tests/conformance/in_process_bus.h"
#include "tests/simulation/reader.h"
#include "tests/simulation/truth.h"

namespace sideband::tests {

// A device with random changes, drawn from a seed: contexts start, idle, retire and return as new generations, VMs are
// confidential or not, private or not, counters are small and huge, the catalogue changes. It reports its counts to
// `truth` at every latch.
// Not thread-safe. A VM's counters are the sum of its contexts', including ended ones; the device's counters are the
// sum of those of the VMs that are not private, which are the even ones with version 2 of the extension.
class SimulatedDevice final : public mcu::Device {
 public:
  struct Options {
    uint64_t boot_id = 1;
    uint64_t seed = 1;
    uint16_t vms_max = 4;
    uint16_t contexts_max = 8;  // of each VM
    uint16_t events_max = 64;
    std::optional<mailbox::ExtensionVersion> extension = mailbox::ExtensionVersion::kTwo;
    uint64_t retires_one_in = 25;  // the probability that a context retires between two latches is 1 / retires_one_in
  };
  // Sizes are drawn up to the options' maxima. `truth` must outlive this object; `now_ns` returns the time since the
  // device's start.
  SimulatedDevice(const Options& options, Truth& truth, std::function<uint64_t()> now_ns);

  // Half of the contexts, chosen at random, start if they are absent, and move to a random slice. The catalogue changes
  // at once.
  void ChangeCatalog();

  const mcu::DeviceIdentity& identity() const override { return identity_; }
  const mailbox::Catalog& catalog() const override { return catalog_; }
  uint64_t catalog_version() const override { return catalog_version_; }
  mailbox::Snapshot Latch() override;
  void Acknowledge() override;
  std::span<const uint64_t> DeviceCounters() override { return blocks_[0].counters; }
  uint64_t ReferenceTimeNs() override { return now_ns_(); }

 private:
  struct Block {
    mailbox::BlockHeader header;
    std::vector<uint64_t> counters;
    bool is_there = true;
    bool was_retired = false;  // in the newest latch
    uint8_t slice = 0;
    size_t vm = 0;  // for a context: the index of its VM's block
  };

  uint64_t Draw(uint64_t size) { return random_() % size; }
  bool OneIn(uint64_t cases) { return Draw(cases) == 0; }
  bool IsContext(const Block& block) const { return block.header.context != mailbox::kNoContext; }
  // A random number of counts of any magnitude.
  uint64_t DrawCounts();
  void Populate(const Options& options);
  void Live();
  void Count(Block& block);
  void Appear(Block& block);
  void FollowBlocks();
  void Touch(Block& block);

  const mcu::DeviceIdentity identity_;
  const uint64_t retires_one_in_;
  Truth& truth_;
  const std::function<uint64_t()> now_ns_;
  std::mt19937_64 random_;
  mailbox::Catalog catalog_;
  uint64_t catalog_version_ = 0;
  std::vector<Block> blocks_;  // the device's own first, each VM's before those of its contexts
  uint32_t trigger_id_ = 0;
};

// Not thread-safe.
class Rig {
 public:
  // Every start of the device draws new sizes, from `device.seed` and the number of the start.
  Rig(const SimulatedDevice::Options& device, const sim::FaultPlan& plan,
      size_t block_bytes_max = smbus::kBlockBytesMax);

  // Replaces the plan; the new one begins at its first transaction.
  void SetPlan(const sim::FaultPlan& plan);
  // Restarts the controller, without state.
  void RestartController();
  void RestartDevice();
  // Another controller latches, even while a command of this one is in progress.
  void LatchByAnother();

  absl::Status CollectOnce();

  // The error in the first wrong snapshot that was accepted; empty if there was no such snapshot.
  const std::string& wrong() const { return wrong_; }
  uint64_t accepted() const { return accepted_; }
  // The outcomes of transactions and their numbers, as reported to the daemon's metrics.
  const std::map<std::string, uint64_t>& outcomes() const { return outcomes_; }
  const sim::FaultyBus& bus() const { return *faulty_; }
  uint64_t boot_id() const { return boot_id_; }
  // The number of transactions of the last CollectOnce.
  uint64_t transactions() const { return transactions_; }
  // An upper bound of the transactions of CollectOnce with this device. Each command has two writes of data and its own
  // write, which are all repeated if the command is rejected, its polls, and two reads; it runs again if the answer
  // belongs to another controller. A stream has its windows, the commands that open them, and those that resume it
  // after an interruption. Each transaction has several attempts, and each latch has its stream and a catalogue.
  uint64_t transactions_max() const;

 private:
  // Advances the time by the duration of each transaction at 100 kHz.
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
  std::unique_ptr<mcu::FirmwarePair> firmware_;
  std::unique_ptr<mcu::MailboxTarget> target_;
  std::unique_ptr<sim::FaultyBus> faulty_;
  TimedBus timed_{*this};
  InProcessTransport wire_;
  const daemon::FakeClock clock_{absl::UnixEpoch()};  // the host's time, which is not tested here
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
