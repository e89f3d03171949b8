// SPDX-License-Identifier: Apache-2.0
#include "tests/lab/rtl/fairness.h"

#include <algorithm>

namespace sideband::rtl {

uint64_t Fairness::wait_bound() const {
  return (clients_ - 1) * (uint64_t{hpc::kCountersPerManager} * timing_.lookup_cycles + 2 * timing_.hop_cycles);
}

void Fairness::EndContests(Port& port) {
  for (size_t a = 0; a < kClients; ++a) {
    for (size_t b = 0; b < kClients; ++b) {
      if (!Asks(port.queues[a]) || !Asks(port.queues[b])) port.grants[a][b] = 0;
    }
  }
}

void Fairness::Grant(Port& port, size_t client) {
  Queue& queue = port.queues[client];
  longest_wait_ = std::max(longest_wait_, queue.waited);
  violations_ += queue.waited > wait_bound();
  for (size_t other = 0; other < kClients; ++other) {
    if (other == client || !Asks(port.queues[other])) continue;
    const uint64_t grants = ++port.grants[client][other];
    longest_contest_ = std::max(longest_contest_, grants);
    violations_ += grants > port.grants[other][client] + 1;
  }
  queue.arrivals.pop_front();
  queue.waited = 0;
  port.last_granted = client;
}

// A manager that is not granted although a client asks is busy with the last granted.
void Fairness::Wait(Port& port) {
  for (size_t client = 0; client < kClients; ++client) {
    if (client != port.last_granted && Asks(port.queues[client])) ++port.queues[client].waited;
  }
}

void Fairness::Step(const std::vector<ModelReadPath::Sent>& sent, const decltype(Observation::granted)& granted,
                    const decltype(Stimulus::switches)& switches) {
  for (const auto& [client, manager] : sent) {
    ports_[manager].queues[client].arrivals.push_back(cycle_ + timing_.hop_cycles);
  }
  for (size_t manager = 0; manager < kManagers; ++manager) {
    Port& port = ports_[manager];
    EndContests(port);
    if (granted[manager]) Grant(port, *granted[manager]);
    Wait(port);
    for (size_t client = 0; client < kClients; ++client) {
      if (switches[client]) port.queues[client] = {};
    }
  }
  ++cycle_;
}

}  // namespace sideband::rtl
