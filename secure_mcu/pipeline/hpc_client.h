// SPDX-License-Identifier: Apache-2.0
//
// The registers of one core or slice by which a program reads counters: hpcc, hpcm, hpcr and the FIFO behind them
// (registers.md, "Registers"; "A request, step by step"; published text on distributed HPC, sections 4.1 and 4.2). And
// the messages between these clients and the managers that they ask.
//
//   HpcClient client([](HpcManagerId id, HpcPrivilege) { return id.module == 0 ? 0b111 : 0; });
//   client.Write(HpcRegister::kHpcm, 0b101, HpcPrivilege::kSupervisor, 10);
//   client.Write(HpcRegister::kHpcc, hpc::kHpccTrigger, HpcPrivilege::kSupervisor, 11);
//   if (const auto departure = client.TakeDeparture()) send(departure->request);  // in cycle 11
//   client.Deliver(answer);                                                       // pushed as its values arrive
//   client.Read(HpcRegister::kHpcr, 20);
//
// Time. Each call tells the reference cycle in which it happens; cycles never decrease. An access at cycle t acts on
// what arrived in cycles below t, before the arrivals of cycle t.
#ifndef SIDEBAND_SECURE_MCU_PIPELINE_HPC_CLIENT_H_
#define SIDEBAND_SECURE_MCU_PIPELINE_HPC_CLIENT_H_

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "proto/registers/hpc_registers.h"

namespace sideband::mcu {

// Latencies of the path, in cycles of the reference clock, 1 to kHpcLatencyMax: a peek advances an emulated device's
// clock by them, so that they must be short beside the time of a transaction.
inline constexpr uint32_t kHpcLatencyMax = 64;
struct HpcTiming {
  uint32_t hop_cycles = hpc::kHopCycles;        // client to manager, and back
  uint32_t lookup_cycles = hpc::kLookupCycles;  // per value at the manager
};

inline constexpr uint64_t kNoCycle = std::numeric_limits<uint64_t>::max();

// `field` of a register's word, if it is set.
constexpr uint64_t FieldIf(bool set, uint64_t field) { return set ? field : 0; }

// 17 bits: 64 counters of one module.
struct HpcManagerId {
  uint16_t module = 0;  // below 2048
  uint8_t extend = 0;   // below 64
  auto operator<=>(const HpcManagerId&) const = default;
};

struct HpcRequest {
  HpcManagerId manager;
  uint64_t bitmap = 0;
  bool stamp = false;
  uint8_t tag = 0;
};

// All values of a request: those of the bitmap in ascending order of bits. They arrive one by one.
struct HpcAnswer {
  uint8_t tag = 0;
  uint64_t bitmap = 0;
  std::optional<uint64_t> stamp;  // arrives first
  std::vector<uint64_t> values;
  uint64_t stamp_cycle = 0;  // in which the stamp arrives
  uint64_t first_cycle = 0;  // in which the first value arrives
  uint32_t interval = 1;     // cycles from one value to the next
};

enum class HpcRegister { kHpcc, kHpcm, kHpcr };
enum class HpcHalf { kWhole, kLow, kHigh };
enum class HpcPrivilege { kUser, kSupervisor, kFirmware };

// The half of a register's value, in the low 32 bits; and the value with that half replaced.
uint64_t HalfOf(uint64_t value, HpcHalf half);
uint64_t WithHalf(uint64_t value, uint64_t written, HpcHalf half);

// Not thread-safe.
class HpcClient {
 public:
  // The counters of a manager that a caller may read, as a bitmap; 0 if the caller has no such manager.
  using Reach = std::function<uint64_t(HpcManagerId manager, HpcPrivilege privilege)>;

  // Initially useren is 0 and nothing is under way.
  explicit HpcClient(Reach reach) : reach_(std::move(reach)) {}

  // A read of hpcr takes a value out of the FIFO. A half is in the low 32 bits of the result.
  uint64_t Read(HpcRegister which, uint64_t cycle, HpcHalf half = HpcHalf::kWhole);
  // Returns false if this is a user's trigger without useren, which changes nothing but `refused`: a core raises an
  // access fault. Writes of what cannot be written have no effect.
  bool Write(HpcRegister which, uint64_t value, HpcPrivilege privilege, uint64_t cycle, HpcHalf half = HpcHalf::kWhole);

  // A context switch. What was sent must be withdrawn from the interconnect, since its tags are free again.
  void Switch(bool useren);

  struct Departure {
    HpcRequest request;
    uint64_t cycle = 0;
  };
  // The request that left the client in the last call of Write or AdvanceTo. Must be taken before the next call.
  std::optional<Departure> TakeDeparture() { return std::exchange(departure_, std::nullopt); }
  // The cycle in which a request that waits for a tag leaves; kNoCycle if none waits or that is not known yet.
  uint64_t NextDeparture() const;
  // All arrivals of cycles below `cycle` act. A request that waited for a tag may leave.
  void AdvanceTo(uint64_t cycle);
  // The answer to a request that was sent. Its values arrive in cycles that have not been passed yet.
  void Deliver(HpcAnswer answer);

  bool useren() const { return useren_; }

 private:
  // An answer on its way.
  struct Burst {
    HpcAnswer answer;
    bool stamped;        // the stamp has arrived, or there is none
    size_t arrived = 0;  // values
  };
  enum class TagState { kFree, kCurrent, kCancelled };

  uint64_t Hpcc() const;
  uint64_t ReadHpcr(HpcHalf half);
  uint64_t Pop();
  bool WriteHpcc(uint64_t value, HpcPrivilege privilege, uint64_t cycle);
  void WriteHpcm(uint64_t value, HpcHalf half);
  void Trigger(HpcPrivilege privilege, uint64_t cycle);
  void SendIfTagFree(uint64_t cycle);
  void Cancel();
  void EmptyFifo();
  void Interrupt();

  static uint64_t NextArrivalOf(const Burst& burst);
  static uint64_t LastArrivalOf(const Burst& burst);
  void Arrive(Burst& burst);
  void End(uint8_t tag, uint64_t cycle);

  const Reach reach_;
  bool trigger_ = false, interrupted_ = false, readerror_ = false, useren_ = false, refused_ = false, stamp_ = false;
  HpcManagerId manager_;
  uint64_t hpcm_ = 0;
  uint64_t high_half_ = 0;  // of the value that the last read of hpcr's low half took
  std::deque<uint64_t> fifo_;

  std::array<TagState, hpc::kTags> tags_{};
  std::optional<HpcRequest> waiting_;  // for a tag
  std::optional<Departure> departure_;
  std::vector<Burst> bursts_;  // at most one per tag
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_PIPELINE_HPC_CLIENT_H_
