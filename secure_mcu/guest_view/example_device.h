// SPDX-License-Identifier: Apache-2.0
//
// A device for the tests of this folder: two open VMs with two contexts and one context, a confidential VM, and three
// events. Each count identifies its block, event and trigger, so a test can search a file for it.
#ifndef SIDEBAND_SECURE_MCU_GUEST_VIEW_EXAMPLE_DEVICE_H_
#define SIDEBAND_SECURE_MCU_GUEST_VIEW_EXAMPLE_DEVICE_H_

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "proto/mailbox/catalog.h"
#include "proto/mailbox/snapshot.h"

namespace sideband::mcu {

inline Uuid ExampleUuid(uint8_t byte) {
  Uuid uuid;
  uuid.bytes.fill(byte);
  return uuid;
}

inline mailbox::Catalog ExampleCatalog() {
  return {.device = ExampleUuid(0xD0),
          .reference_clock_hz = 1'000'000'000,
          .has_had_confidential_vm = true,
          .events = {{"cycles", "cycles"}, {"instructions", "instructions"}, {"pcie_bytes", "bytes"}},
          .slices = {{0, "slice-sentinel"}},
          .vms = {{1, ExampleUuid(0xA1), "alpha-vm", false, 0, 1},
                  {2, ExampleUuid(0xB2), "beta-vm", false, 0, 1},
                  {3, ExampleUuid(0xC3), "gamma-vm", true, 0, 1}},
          .contexts = {{1, 0, "alpha-train", 0, 1},
                       {2, 0, "beta-train", 0, 1},
                       {1, 1, "alpha-infer", 0, 1},
                       {3, 0, "gamma-train", 0, 1}}};
}

// The count of event `event` in block `block` of the snapshot at `trigger`: eight bytes that occur nowhere else.
inline uint64_t ExampleCount(size_t block, size_t event, uint32_t trigger) {
  return 0xC0DE'0000'0000'0000 | uint64_t{block} << 40 | uint64_t{event} << 32 | trigger;
}

// The blocks of vm0, then per VM its own block and those of its contexts. All numbers are functions of `trigger`.
inline mailbox::Snapshot ExampleSnapshot(const mailbox::Catalog& catalog, uint32_t trigger) {
  mailbox::Snapshot snapshot{.trigger_id = trigger,
                             .reference_time_ns = uint64_t{trigger} * 1000,
                             .counters_per_block = static_cast<uint32_t>(catalog.events.size())};
  const auto add = [&](uint16_t vm, uint16_t context) {
    for (size_t event = 0; event < catalog.events.size(); ++event) {
      snapshot.counters.push_back(ExampleCount(snapshot.blocks.size(), event, trigger));
    }
    snapshot.blocks.push_back({.vm = vm,
                               .context = context,
                               .generation = 1,
                               .state = mailbox::BlockState::kActive,
                               .flags = static_cast<uint16_t>(trigger % 4),
                               .trigger_id = trigger,
                               .reference_time_ns = snapshot.reference_time_ns,
                               .sequence = trigger * 2});
  };
  add(mailbox::kHypervisorVm, mailbox::kNoContext);
  for (const mailbox::VmInfo& vm : catalog.vms) {
    add(vm.id, mailbox::kNoContext);
    for (const mailbox::ContextInfo& context : catalog.contexts) {
      if (context.vm == vm.id) add(vm.id, context.id);
    }
  }
  return snapshot;
}

// A new empty folder for a test.
inline std::string FreshFolder(const std::string& name) {
  const auto path = std::filesystem::path(std::getenv("TEST_TMPDIR")) / name;
  std::filesystem::remove_all(path);
  std::filesystem::create_directories(path);
  return path.string();
}

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_GUEST_VIEW_EXAMPLE_DEVICE_H_
