// SPDX-License-Identifier: Apache-2.0
//
// Law R8 (registers.md, "Laws"): how long requests wait for those of other clients, and how often clients that always
// ask are granted.
//   Fairness fairness(/*clients=*/4, timing);
//   fairness.Step(model.sent(), seen.granted, stimulus.switches);   // after each cycle
//   EXPECT_EQ(fairness.violations(), 0);
#ifndef SIDEBAND_TESTS_LAB_RTL_FAIRNESS_H_
#define SIDEBAND_TESTS_LAB_RTL_FAIRNESS_H_

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "tests/lab/rtl/cosimulation.h"
#include "tests/lab/rtl/model_read_path.h"

namespace sideband::rtl {

class Fairness {
 public:
  Fairness(size_t clients, mcu::HpcTiming timing) : clients_(clients), timing_(timing) {}

  void Step(const std::vector<ModelReadPath::Sent>& sent, const decltype(Observation::granted)& granted,
            const decltype(Stimulus::switches)& switches);

  // Waits beyond the bound, and differences of more than one grant.
  uint64_t violations() const { return violations_; }
  uint64_t wait_bound() const;
  // The longest wait for other clients, in cycles.
  uint64_t longest_wait() const { return longest_wait_; }
  // The most grants of a client while it and another asked in every cycle.
  uint64_t longest_contest() const { return longest_contest_; }

 private:
  struct Queue {
    std::deque<uint64_t> arrivals;  // of the requests that are not granted yet
    uint64_t waited = 0;            // the first of them for other clients
  };
  struct Port {
    std::array<Queue, kClients> queues;
    // [a][b]: the grants of a since a and b have asked in every cycle.
    std::array<std::array<uint64_t, kClients>, kClients> grants{};
    size_t last_granted = kClients;
  };

  bool Asks(const Queue& queue) const { return !queue.arrivals.empty() && queue.arrivals.front() <= cycle_; }
  void EndContests(Port& port);
  void Grant(Port& port, size_t client);
  void Wait(Port& port);

  const size_t clients_;
  const mcu::HpcTiming timing_;
  uint64_t cycle_ = 0;
  std::array<Port, kManagers> ports_;
  uint64_t violations_ = 0, longest_wait_ = 0, longest_contest_ = 0;
};

}  // namespace sideband::rtl

#endif  // SIDEBAND_TESTS_LAB_RTL_FAIRNESS_H_
