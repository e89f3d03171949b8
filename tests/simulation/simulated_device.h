// SPDX-License-Identifier: Apache-2.0
//
// A device with random changes, drawn from a seed: contexts start, idle, retire and return as new generations, VMs are
// confidential or not, private or not, counters are small and huge, the catalogue changes. It reports its counts to
// `truth` at every latch.
//   Truth truth;
//   SimulatedDevice device({.boot_id = 1, .seed = 7}, truth, [&] { return now_ns; });
//   mcu::Firmware firmware(device, …);
#ifndef SIDEBAND_TESTS_SIMULATION_SIMULATED_DEVICE_H_
#define SIDEBAND_TESTS_SIMULATION_SIMULATED_DEVICE_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <random>
#include <span>
#include <vector>

#include "proto/mailbox/catalog.h"
#include "proto/mailbox/extension.h"
#include "proto/mailbox/snapshot.h"
#include "secure_mcu/firmware/device.h"
#include "tests/simulation/truth.h"

namespace sideband::tests {

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

}  // namespace sideband::tests

#endif  // SIDEBAND_TESTS_SIMULATION_SIMULATED_DEVICE_H_
