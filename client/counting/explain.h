// SPDX-License-Identifier: Apache-2.0
//
// Why an event is counted for a VM, or is not: the terms of the gate's rule (docs/design/virtual-counters.md).
//   const auto explanation = Explain(response, {.vm = "vm1", .event = "tlb_misses"});
//   if (explanation.ok() && !explanation->is_counted) Print(explanation->terms);
#ifndef SIDEBAND_CLIENT_COUNTING_EXPLAIN_H_
#define SIDEBAND_CLIENT_COUNTING_EXPLAIN_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "sideband/v1/counting.pb.h"

namespace sideband::client {

struct ExplainQuestion {
  std::string vm;
  std::string context;  // empty: any that has no value of its own
  std::string event;
};

// A factor of the rule.
struct ExplainedTerm {
  std::string name;    // as in the rule
  bool holds = false;  // its value
  std::string reason;  // why
};

struct Explanation {
  std::string group;  // of the event
  // Of the rule for the time in which the VM runs, in its order; the last one, `selected`, only of an event that is
  // counted in selections.
  std::vector<ExplainedTerm> terms;
  bool is_counted = false;
  bool is_in_sync = false;  // no setting waits for the device
};

// Of the configuration in force. NOT_FOUND names the VM, the context or the event that is not there for the caller, and
// a confidential VM.
absl::StatusOr<Explanation> Explain(const v1::GetCountingResponse& counting, const ExplainQuestion& question);

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_COUNTING_EXPLAIN_H_
