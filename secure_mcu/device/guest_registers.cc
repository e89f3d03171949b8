// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/device/guest_registers.h"

#include <algorithm>
#include <bit>

namespace sideband::mcu {
ThreadTurn::Verdict ThreadTurn::Ask(uint64_t thread, uint64_t now_ns) {
  if (thread != holder_) Queue(thread);
  EndTurn(now_ns);
  if (thread == holder_) return Verdict::kGoesOn;
  Queue(thread);
  if (holder_ != 0) return Verdict::kWaits;
  SkipAbsent(thread, now_ns);
  if (waiting_.front() != thread) return Verdict::kWaits;
  waiting_.pop_front();
  holder_ = thread;
  until_ns_ = now_ns + kTurnNs;
  return Verdict::kBegins;
}

// A turn for which no thread waits goes on.
void ThreadTurn::EndTurn(uint64_t now_ns) {
  if (holder_ == 0 || now_ns < until_ns_ || waiting_.empty()) return;
  holder_ = 0;
  free_since_ns_.reset();
}

// Who does not ask in time loses its place to the next.
void ThreadTurn::SkipAbsent(uint64_t asking, uint64_t now_ns) {
  if (!free_since_ns_) free_since_ns_ = now_ns;
  while (waiting_.front() != asking && now_ns >= *free_since_ns_ + kGraceNs) {
    waiting_.pop_front();
    *free_since_ns_ += kGraceNs;
  }
}

void ThreadTurn::Queue(uint64_t thread) {
  if (std::ranges::find(waiting_, thread) == waiting_.end()) waiting_.push_back(thread);
}

void ThreadTurn::End(uint64_t thread) {
  std::erase(waiting_, thread);
  if (thread != holder_) return;
  holder_ = 0;
  free_since_ns_.reset();
}

GuestRegisters::GuestRegisters(LiveDevice& device) : device_(device) {}

bool GuestRegisters::Runs(size_t page, size_t slice) const {
  const auto& resident = device_.chip().resident(static_cast<uint8_t>(slice));
  const Binding& own = tenant(page).binding;
  // In an exit the hypervisor runs: a guest executes nothing then.
  return resident && resident->vm == own.vm && (!own.context || resident->context == own.context) &&
         device_.chip().guests().RunsGuest(static_cast<uint8_t>(slice));
}

std::optional<uint64_t> GuestRegisters::Access(size_t page, uint64_t thread, const hpc::PageAccess& access) {
  const SliceSet slices = device_.slices_of(page);
  if (slices == 0) return std::nullopt;
  const auto slice = static_cast<size_t>(std::countr_zero(slices));
  device_.CatchUp();
  if (!Runs(page, slice)) return std::nullopt;
  switch (TurnAt(slice).Ask(thread, device_.ReferenceTimeNs())) {
    case ThreadTurn::Verdict::kWaits:
      return std::nullopt;
    case ThreadTurn::Verdict::kBegins:
      device_.chip().guests().SwitchThread(static_cast<uint8_t>(slice));
      break;
    case ThreadTurn::Verdict::kGoesOn:
      break;
  }
  return Perform(page, slice, access);
}

// A context switch clears the client, so that turns before it mean nothing to the next resident.
ThreadTurn& GuestRegisters::TurnAt(size_t slice) {
  const Binding& resident = *device_.chip().resident(static_cast<uint8_t>(slice));
  return turns_[{slice, resident.vm, resident.context}];
}

uint64_t GuestRegisters::Perform(size_t page, size_t slice, const hpc::PageAccess& access) {
  if (const auto gate = GatePlaceOf(access)) return PerformGate(page, slice, *gate, access);
  const auto place = HpcPlaceOf(access);
  if (!place) return 0;
  Chip& chip = device_.chip();
  if (access.kind == hpc::AccessKind::kRead)
    return chip.live().hpc().Read(slice, place->which, chip.now(), place->half);
  const auto privilege = tenant(page).binding.context ? HpcPrivilege::kUser : HpcPrivilege::kSupervisor;
  // A page raises no access fault: a user's trigger without useren sets `refused`.
  chip.guests().WriteHpc(static_cast<uint8_t>(slice), place->which, access.value, privilege, place->half);
  return 0;
}

// For supervisors; to a user the page reads as where there is no register.
uint64_t GuestRegisters::PerformGate(size_t page, size_t slice, const GatePlace& place, const hpc::PageAccess& access) {
  if (tenant(page).binding.context) return 0;
  Chip& chip = device_.chip();
  const auto on = static_cast<uint8_t>(slice);
  const uint64_t word = chip.guests().ReadGate(on, place.which);
  if (access.kind == hpc::AccessKind::kRead) return HalfOf(word, place.half);
  chip.guests().WriteGate(on, place.which, WithHalf(word, access.value, place.half));
  return 0;
}

void GuestRegisters::EndThread(uint64_t thread) {
  for (auto& [place, turn] : turns_) turn.End(thread);
}

}  // namespace sideband::mcu
