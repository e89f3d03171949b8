// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/pipeline/hpc_client.h"

#include <algorithm>
#include <bit>

namespace sideband::mcu {
namespace {

constexpr uint64_t kLowHalf = 0xFFFFFFFF;

}  // namespace

uint64_t HalfOf(uint64_t value, HpcHalf half) {
  if (half == HpcHalf::kWhole) return value;
  return half == HpcHalf::kLow ? value & kLowHalf : value >> 32;
}

uint64_t WithHalf(uint64_t value, uint64_t written, HpcHalf half) {
  if (half == HpcHalf::kWhole) return written;
  return half == HpcHalf::kLow ? (value & ~kLowHalf) | (written & kLowHalf) : (value & kLowHalf) | written << 32;
}

// --- Register accesses ----------------------------------------------------------------------------------------------

uint64_t HpcClient::Read(HpcRegister which, uint64_t cycle, HpcHalf half) {
  AdvanceTo(cycle);
  switch (which) {
    case HpcRegister::kHpcc:
      return HalfOf(Hpcc(), half);
    case HpcRegister::kHpcm:
      return HalfOf(hpcm_, half);
    case HpcRegister::kHpcr:
      return ReadHpcr(half);
  }
  return 0;
}

bool HpcClient::Write(HpcRegister which, uint64_t value, HpcPrivilege privilege, uint64_t cycle, HpcHalf half) {
  AdvanceTo(cycle);
  if (which == HpcRegister::kHpcm) WriteHpcm(value, half);
  // All fields of hpcc are in its low half.
  if (which == HpcRegister::kHpcc && half != HpcHalf::kHigh) return WriteHpcc(value, privilege, cycle);
  return true;
}

uint64_t HpcClient::Hpcc() const {
  return FieldIf(trigger_, hpc::kHpccTrigger) | FieldIf(interrupted_, hpc::kHpccInterrupted) |
         FieldIf(fifo_.empty(), hpc::kHpccEmpty) | FieldIf(readerror_, hpc::kHpccReaderror) |
         uint64_t{manager_.extend} << hpc::kHpccExtendLsb | uint64_t{manager_.module} << hpc::kHpccModuleLsb |
         FieldIf(useren_, hpc::kHpccUseren) | FieldIf(refused_, hpc::kHpccRefused) | FieldIf(stamp_, hpc::kHpccStamp);
}

uint64_t HpcClient::ReadHpcr(HpcHalf half) {
  if (half == HpcHalf::kHigh) return high_half_;
  const uint64_t value = Pop();
  if (half == HpcHalf::kLow) high_half_ = value >> 32;
  return HalfOf(value, half);
}

uint64_t HpcClient::Pop() {
  if (fifo_.empty()) {
    readerror_ = true;
    return 0;
  }
  const uint64_t value = fifo_.front();
  fifo_.pop_front();
  return value;
}

bool HpcClient::WriteHpcc(uint64_t value, HpcPrivilege privilege, uint64_t cycle) {
  if (privilege != HpcPrivilege::kUser) {
    useren_ = (value & hpc::kHpccUseren) != 0;
    if ((value & hpc::kHpccInterrupted) != 0) {
      Cancel();
      Interrupt();
      return true;
    }
  }
  const bool trigger = (value & hpc::kHpccTrigger) != 0;
  if (trigger_) {
    if (!trigger) Cancel();
    return true;
  }
  if (trigger && privilege == HpcPrivilege::kUser && !useren_) {
    refused_ = true;
    return false;
  }
  manager_ = {.module = static_cast<uint16_t>((value & hpc::kHpccModule) >> hpc::kHpccModuleLsb),
              .extend = static_cast<uint8_t>((value & hpc::kHpccExtend) >> hpc::kHpccExtendLsb)};
  stamp_ = (value & hpc::kHpccStamp) != 0;
  if (trigger) Trigger(privilege, cycle);
  return true;
}

// The low half comes first: if the high half cleared `interrupted` too, a switch between them would go unnoticed.
void HpcClient::WriteHpcm(uint64_t value, HpcHalf half) {
  if (trigger_) return;
  if (half == HpcHalf::kHigh) {
    hpcm_ = (hpcm_ & kLowHalf) | value << 32;
    return;
  }
  hpcm_ = HalfOf(value, half);
  EmptyFifo();
  interrupted_ = readerror_ = false;
}

// --- Requests -------------------------------------------------------------------------------------------------------

void HpcClient::Trigger(HpcPrivilege privilege, uint64_t cycle) {
  const uint64_t readable = reach_(manager_, privilege);
  refused_ = readable == 0 || (hpcm_ & ~readable) != 0;
  if (refused_) return;
  EmptyFifo();
  const HpcRequest request{.manager = manager_, .bitmap = std::exchange(hpcm_, 0), .stamp = stamp_};
  if (request.bitmap == 0 && !request.stamp) return;
  trigger_ = true;
  waiting_ = request;
  SendIfTagFree(cycle);
}

void HpcClient::SendIfTagFree(uint64_t cycle) {
  const auto tag = std::find(tags_.begin(), tags_.end(), TagState::kFree);
  if (!waiting_ || tag == tags_.end()) return;
  *tag = TagState::kCurrent;
  departure_ = {.request = *std::exchange(waiting_, std::nullopt), .cycle = cycle};
  departure_->request.tag = static_cast<uint8_t>(tag - tags_.begin());
}

void HpcClient::Cancel() {
  trigger_ = false;
  waiting_.reset();
  std::replace(tags_.begin(), tags_.end(), TagState::kCurrent, TagState::kCancelled);
}

void HpcClient::EmptyFifo() {
  fifo_.clear();
  high_half_ = 0;
}

// Clears what the next thread must not see of the one before.
void HpcClient::Interrupt() {
  EmptyFifo();
  hpcm_ = 0;
  manager_ = {};
  readerror_ = refused_ = stamp_ = false;
  interrupted_ = true;
}

void HpcClient::Switch(bool useren) {
  Cancel();
  Interrupt();
  useren_ = useren;
  tags_.fill(TagState::kFree);
  departure_.reset();
  bursts_.clear();
}

// --- Arrivals -------------------------------------------------------------------------------------------------------

uint64_t HpcClient::NextArrivalOf(const Burst& burst) {
  return burst.stamped ? burst.answer.first_cycle + burst.arrived * burst.answer.interval : burst.answer.stamp_cycle;
}

uint64_t HpcClient::LastArrivalOf(const Burst& burst) {
  const HpcAnswer& answer = burst.answer;
  return answer.values.empty() ? answer.stamp_cycle : answer.first_cycle + (answer.values.size() - 1) * answer.interval;
}

uint64_t HpcClient::NextDeparture() const {
  uint64_t next = kNoCycle;
  if (!waiting_) return next;
  for (const Burst& burst : bursts_) next = std::min(next, LastArrivalOf(burst));
  return next;
}

void HpcClient::Deliver(HpcAnswer answer) {
  const bool stamped = !answer.stamp;
  bursts_.push_back({.answer = std::move(answer), .stamped = stamped});
}

void HpcClient::AdvanceTo(uint64_t cycle) {
  while (!bursts_.empty()) {
    const auto next = std::min_element(bursts_.begin(), bursts_.end(), [](const Burst& a, const Burst& b) {
      return NextArrivalOf(a) < NextArrivalOf(b);
    });
    const uint64_t arrival = NextArrivalOf(*next);
    if (arrival >= cycle) return;
    Arrive(*next);
    if (!next->stamped || next->arrived < next->answer.values.size()) continue;
    const uint8_t tag = next->answer.tag;
    bursts_.erase(next);
    End(tag, arrival);
  }
}

void HpcClient::Arrive(Burst& burst) {
  const HpcAnswer& answer = burst.answer;
  const bool stamp = !std::exchange(burst.stamped, true);
  const uint64_t value = stamp ? *answer.stamp : answer.values[burst.arrived++];
  const uint64_t bit = stamp ? 0 : answer.bitmap & -answer.bitmap;
  burst.answer.bitmap &= ~bit;
  if (tags_[answer.tag] != TagState::kCurrent) return;
  fifo_.push_back(value);
  hpcm_ |= bit;
}

void HpcClient::End(uint8_t tag, uint64_t cycle) {
  if (tags_[tag] == TagState::kCurrent) trigger_ = false;
  tags_[tag] = TagState::kFree;
  SendIfTagFree(cycle);
}

}  // namespace sideband::mcu
