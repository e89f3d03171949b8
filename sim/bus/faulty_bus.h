// SPDX-License-Identifier: Apache-2.0
//
// A bus that fails as planned. It stands between a controller and another bus, and edits transactions as the bytes on
// the wire, address bytes included.
//   FaultyBus bus(targets, plan, {.reset = [&] { device.Restart(); }});
//   const smbus::TransferResult result = bus.Execute(transfer);
//   const uint64_t nacks = bus.count(FaultKind::kAddressNack);   // in bus.transactions()
//   const smbus::Transfer seen = Prefix(transfer, 4);   // what a target sees if the transaction ends after four bytes
#ifndef SIDEBAND_SIM_BUS_FAULTY_BUS_H_
#define SIDEBAND_SIM_BUS_FAULTY_BUS_H_

#include <array>
#include <cstdint>
#include <functional>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "proto/base/bytes.h"
#include "proto/smbus/transfer.h"
#include "sim/bus/board_fault.h"
#include "sim/bus/fault_plan.h"

namespace sideband::sim {

// The byte that a controller reads from an undriven bus.
inline constexpr uint8_t kIdleByte = 0xFF;

// The place of a byte in a transaction.
struct WirePlace {
  enum class Part : uint8_t { kAddress, kWritten, kRead };
  size_t message = 0;
  Part part = Part::kAddress;
  size_t offset = 0;  // within the data of the message
};

// The number of bytes on the wire. The length of a block read is up to the target; it counts as a block of four bytes.
size_t WireBytes(const smbus::Transfer& transfer);
// `byte` must be below WireBytes.
WirePlace PlaceOf(const smbus::Transfer& transfer, size_t byte);
// The transaction cut after `bytes` bytes by a STOP, or all of it if it is shorter. A message cut after its address
// byte has no data. No messages if `bytes` is 0.
smbus::Transfer Prefix(const smbus::Transfer& transfer, size_t bytes);

// The packet error code over all bytes: 0 if the transaction carries a valid PEC of its own.
uint8_t PecOverAll(const smbus::Transfer& transfer, const smbus::TransferResult& result);

// Whether the transaction ends with an answer that starts with a count of its data.
bool EndsWithBlock(const smbus::Transfer& transfer, const smbus::TransferResult& result);
// Replaces the last answer by the block `data` and its PEC, of which the controller clocks as many bytes as it
// requested. EndsWithBlock must hold.
void AnswerBlock(ByteSpan data, const smbus::Transfer& transfer, smbus::TransferResult& result);

// Executes a transaction on a wire that changes bits, on their way to the target or back.
struct BitFlip {
  WirePlace place;  // an offset beyond the bytes read wraps around: their number is only known afterwards
  uint8_t mask = 0;
};

// Changed data reaches the receiver as it is. If the count of a block read changes, the controller clocks as many bytes
// as the changed count. A changed address selects another target, or none (kAddressNack). A changed direction bit:
// - write taken for a read: the target also drives the wire, so the controller sees its own bits change and stops
//   (kArbitrationLost);
// - read taken for a write: the target leaves the wire idle, so the controller reads ones, which the target takes for
//   data.
smbus::TransferResult ExecuteFlipped(smbus::Bus& bus, const smbus::Transfer& transfer, std::span<const BitFlip> flips);

// Decides when a rule of a fault plan fires: identically in every run with the same seed and the same transactions. Not
// thread-safe.
class FaultTrigger {
 public:
  // `seed` is this rule's own, so that other rules do not affect its draws.
  FaultTrigger(const FaultRule& rule, uint64_t seed) : rule_(rule), random_(seed) {}

  const FaultRule& rule() const { return rule_; }
  // `transaction` counts from 1.
  bool Fires(uint64_t transaction, const smbus::Transfer& transfer);
  // A number below `size`, which must not be 0.
  uint64_t Draw(uint64_t size) { return random_() % size; }

 private:
  const FaultRule rule_;
  std::mt19937_64 random_;
  uint64_t fitting_ = 0;
  uint64_t fired_ = 0;
};

// Not thread-safe. Deterministic: the same plan and the same transactions cause the same faults.
class FaultyBus final : public smbus::Bus {
 public:
  // The effects beside the wire, each before a transaction. A fault without its hook does not happen, except a delay.
  // Hooks may use the inner bus, but not this bus.
  struct Hooks {
    std::function<void()> reset;
    std::function<void()> supersede;
    std::function<void()> change_catalog;
    std::function<void(absl::Duration)> delay;
    std::function<void(const BoardFault&)> on_board_fault;
  };

  // `inner` must outlive this bus.
  FaultyBus(smbus::Bus& inner, const FaultPlan& plan, Hooks hooks);
  FaultyBus(smbus::Bus& inner, const FaultPlan& plan) : FaultyBus(inner, plan, Hooks()) {}

  // A delay is also added to the stretch_us of the result.
  smbus::TransferResult Execute(const smbus::Transfer& transfer) override;

  uint64_t transactions() const { return transactions_; }
  // The number of faults of this kind that took effect.
  uint64_t count(FaultKind kind) const { return counts_[static_cast<size_t>(kind)]; }
  uint64_t count(BoardFaultKind kind) const { return board_counts_[static_cast<size_t>(kind)]; }
  // The same numbers by the file's word, in the order of the enumerations, without those that are 0.
  std::vector<std::pair<absl::string_view, uint64_t>> Counts() const;

 private:
  struct Spoiled {
    smbus::TransferResult result;
    bool came_about = true;
  };

  void Count(const FaultRule& rule);
  // Runs the rule's hook. Returns whether the fault took effect.
  bool Happen(const FaultRule& rule);
  // Executes the transaction as the fault changes it.
  Spoiled Spoil(FaultTrigger& trigger, const smbus::Transfer& transfer);
  Spoiled RefuseByte(FaultTrigger& trigger, const smbus::Transfer& transfer);
  // The targets see at most `bytes_max` bytes; the controller gets `result`.
  Spoiled Cut(FaultTrigger& trigger, const smbus::Transfer& transfer, size_t bytes_max, smbus::TransferResult result);
  Spoiled FlipBits(FaultTrigger& trigger, const smbus::Transfer& transfer);
  Spoiled ChangeLastByte(FaultTrigger& trigger, smbus::Transfer transfer);
  Spoiled ChangeLength(FaultTrigger& trigger, const smbus::Transfer& transfer);
  Spoiled ChangeStatus(const FaultRule& rule, const smbus::Transfer& transfer);

  smbus::Bus& inner_;
  std::vector<FaultTrigger> triggers_;
  const Hooks hooks_;
  uint64_t transactions_ = 0;
  std::array<uint64_t, kFaultKinds> counts_{};
  std::array<uint64_t, kBoardFaultKinds> board_counts_{};
};

}  // namespace sideband::sim

#endif  // SIDEBAND_SIM_BUS_FAULTY_BUS_H_
