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
#include <deque>
#include <map>
#include <optional>
#include <tuple>

#include "proto/registers/guest_port.h"
#include "secure_mcu/device/live_device.h"
#include "secure_mcu/pipeline/guest_gate.h"

namespace sideband::mcu {

// Which of several threads has the registers of a slice. On a core one thread runs at a time; here each connection to a
// guest port is a thread, and threads that compete have it one after another, in the order in which they asked. Not
// thread-safe.
class ThreadTurn {
 public:
  // A turn for which others wait ends after this time.
  static constexpr uint64_t kTurnNs = 1'000'000;
  // So long the first of those who wait may take until it asks again: a client pauses for a millisecond at most.
  static constexpr uint64_t kGraceNs = 2'000'000;

  enum class Verdict {
    kGoesOn,  // the thread has its turn
    kBegins,  // the thread begins a turn: what the one before left must be cleared
    kWaits,   // the thread must ask again
  };
  // `thread` is not 0. Time does not decrease. With k threads that ask again within kGraceNs each begins a turn after
  // at most k - 1 turns and graces of others.
  Verdict Ask(uint64_t thread, uint64_t now_ns);
  // The thread does not ask again.
  void End(uint64_t thread);

 private:
  void EndTurn(uint64_t now_ns);
  void SkipAbsent(uint64_t asking, uint64_t now_ns);
  void Queue(uint64_t thread);

  uint64_t holder_ = 0;  // 0: none
  uint64_t until_ns_ = 0;
  std::deque<uint64_t> waiting_;           // without the holder
  std::optional<uint64_t> free_since_ns_;  // without a holder: the first who waits may begin since then
};

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

  // A resident on a slice: what others do there in between, does not concern its threads.
  using Place = std::tuple<size_t, BlockId, std::optional<BlockId>>;
  ThreadTurn& TurnAt(size_t slice);

  LiveDevice& device_;
  std::map<Place, ThreadTurn> turns_;
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_DEVICE_GUEST_REGISTERS_H_
