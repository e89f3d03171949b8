// SPDX-License-Identifier: Apache-2.0
//
// The way from HPC clients to managers, per manager an arbiter with rotating priority, and the managers' answers
// (registers.md, "A request, step by step"; published text on distributed HPC, section 4.1).
//
//   HpcInterconnect interconnect(HpcTiming{}, /*clients=*/4);
//   interconnect.Send(/*client=*/0, request, /*cycle=*/11);
//   while (interconnect.NextGrant() <= now) {
//     const HpcGrant grant = interconnect.Grant();  // the manager latches in grant.cycle
//   }
//
//   client.Deliver(AnswerOf(grant.request, grant.cycle, timing, latch));
#ifndef SIDEBAND_SECURE_MCU_PIPELINE_HPC_INTERCONNECT_H_
#define SIDEBAND_SECURE_MCU_PIPELINE_HPC_INTERCONNECT_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <vector>

#include "secure_mcu/pipeline/hpc_client.h"

namespace sideband::mcu {

struct HpcGrant {
  size_t client = 0;
  HpcRequest request;
  uint64_t cycle = 0;
};

// Not thread-safe.
class HpcInterconnect {
 public:
  HpcInterconnect(HpcTiming timing, size_t clients) : timing_(timing), clients_(clients), granted_(clients) {}

  // A request that leaves its client in `cycle`.
  void Send(size_t client, const HpcRequest& request, uint64_t cycle);
  // The cycle of the next grant; kNoCycle if nothing was asked for.
  uint64_t NextGrant() const { return next_grant_; }
  // Makes the next grant; there must be one.
  HpcGrant Grant();
  // Removes all requests of the client, and frees the managers that answer it, from `cycle` on.
  void Withdraw(size_t client, uint64_t cycle);

 private:
  struct Queued {
    size_t client;
    HpcRequest request;
    uint64_t arrival;
  };
  // The arbiter of a manager.
  struct Port {
    std::vector<Queued> queue;  // of each client in order of arrival
    size_t last_granted;        // a client
    uint64_t free_at = 0;
  };

  static uint64_t NextGrantOf(const Port& port);
  std::vector<Queued>::iterator NextInRotation(Port& port, uint64_t cycle) const;
  void FindNextGrant();

  const HpcTiming timing_;
  const size_t clients_;
  std::map<HpcManagerId, Port> ports_;                         // of the managers that were asked
  std::set<HpcManagerId> asked_;                               // whose queues are not empty
  std::vector<std::array<HpcManagerId, hpc::kTags>> granted_;  // per client and tag, the newest
  uint64_t next_grant_ = kNoCycle;
  HpcManagerId next_manager_;
};

// Writes the live count of events[i] to counts[i], which is 0 before.
using HpcLatch = std::function<void(std::span<const uint16_t> events, std::span<uint64_t> counts)>;

// The answer of an HPC manager to a request that it was granted: all selected counts as of the cycle of the grant, sent
// one by one. `latch` is called once, unless the request selects no counter.
HpcAnswer AnswerOf(const HpcRequest& request, uint64_t grant_cycle, const HpcTiming& timing, const HpcLatch& latch);

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_PIPELINE_HPC_INTERCONNECT_H_
