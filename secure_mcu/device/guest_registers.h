// SPDX-License-Identifier: Apache-2.0
//
// The register pages of a live device's guests: one for each VM, for its supervisor, and one for each context, for its
// user. A page is the client of one slice, the lowest on which its VM or context has turns (registers.md, "Guest
// ports").
//
//   GuestRegisters registers(device);
//   for (size_t page = 0; page < registers.pages(); ++page) Open(registers.tenant(page));
//   if (const auto value = registers.Access(0, thread, hpc::ReadOf(hpc::kHpccOffset, 8))) Answer(*value);
//
// Threads. Accesses of a thread are those of one program. When another thread begins its turn at the same client, the
// client is told to forget the one before, as a guest's kernel does by a write of `interrupted` when it switches
// threads: no thread gets the values of another.
#ifndef SIDEBAND_SECURE_MCU_DEVICE_GUEST_REGISTERS_H_
#define SIDEBAND_SECURE_MCU_DEVICE_GUEST_REGISTERS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <tuple>

#include "proto/registers/page_access.h"
#include "secure_mcu/device/live_device.h"
#include "secure_mcu/device/thread_turn.h"
#include "secure_mcu/pipeline/hpc_page.h"

namespace sideband::mcu {

// Not thread-safe.
class GuestRegisters {
 public:
  // `device` must outlive it.
  explicit GuestRegisters(LiveDevice& device);

  // Pages are numbered as the tenants of wiring.h.
  size_t pages() const { return device_.tenants().size(); }
  // Without a context: the VM's supervisor page.
  const Tenant& tenant(size_t page) const { return device_.tenants()[page]; }

  // Performs the access, which must be in the page, at the cycle of the device's clock; returns what was read, or 0.
  // nullopt if nothing was done: the tenant does not run on its slice at this cycle, or another thread has its turn.
  // What a supervisor writes to useren, and of what is counted, also holds after later switches.
  std::optional<uint64_t> Access(size_t page, uint64_t thread, const hpc::PageAccess& access);
  // The thread makes no further access.
  void EndThread(uint64_t thread);

 private:
  bool Runs(size_t page, size_t slice) const;
  uint64_t Perform(size_t page, size_t slice, const hpc::PageAccess& access);
  uint64_t PerformGate(size_t page, size_t slice, const GatePlace& place, const hpc::PageAccess& access);

  // Of a resident on a slice: what others do there in between, does not concern its threads.
  using Place = std::tuple<size_t, BlockId, std::optional<BlockId>>;
  ThreadTurn& TurnAt(size_t slice);

  LiveDevice& device_;
  std::map<Place, ThreadTurn> turns_;
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_DEVICE_GUEST_REGISTERS_H_
