// SPDX-License-Identifier: Apache-2.0
//
// `sideband counting`: the request of `counting set`, and why an event is counted for a VM, or is not.
//   CountingChange change;
//   change.AddTo(app);
//   SIDEBAND_ASSIGN_OR_RETURN(const v1::SetCountingRequest request, change.Request(actual));
#ifndef SIDEBAND_CLIENT_CLI_COUNTING_COMMAND_H_
#define SIDEBAND_CLIENT_CLI_COUNTING_COMMAND_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/cli/table.h"
#include "sideband/v1/counting.pb.h"

namespace CLI {
class App;
}

namespace sideband::client {

// Why an event is counted for a VM, or is not: the terms of the gate's rule (docs/design/virtual-counters.md).
//   const ExplainQuestion question{.vm = "vm1", .event = "tlb_misses"};
//   SIDEBAND_ASSIGN_OR_RETURN(const Explanation explanation, Explain(counting, question));
//   out.Write(ExplanationText(question, explanation, style));
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
  std::string event;  // its full name
  std::string group;  // of the event
  // The terms of the rule for the time in which the VM runs, in its order; the last one, `selected`, only of an event
  // that is counted in selections.
  std::vector<ExplainedTerm> terms;
  bool is_counted = false;
  bool is_in_sync = false;  // no setting waits for the device
};

// Explains by the configuration in force. NOT_FOUND names the VM, the context or the event that is not there for the
// caller, and a confidential VM.
absl::StatusOr<Explanation> Explain(const v1::GetCountingResponse& counting, const ExplainQuestion& question);

// The rule, its terms in a table, and what follows until the settings are in force.
std::string ExplanationText(const ExplainQuestion& question, const Explanation& explanation, const TableStyle& style);

// The options of `sideband counting set` as a request. The object must outlive the parsing.
class CountingChange {
 public:
  void AddTo(CLI::App& app);
  // `actual` has the groups that `all` stands for. INVALID_ARGUMENT names the option: nothing to set, a malformed
  // list, a VM's field without --vm, a group's without --group.
  absl::StatusOr<v1::SetCountingRequest> Request(const v1::GetCountingResponse& actual) const;

 private:
  absl::Status AddVm(const v1::GetCountingResponse& actual, v1::SetCountingRequest& request) const;
  absl::Status AddGroup(v1::SetCountingRequest& request) const;
  bool HasVmField() const;

  std::string vm_, context_, group_;
  std::optional<std::string> value_, host_value_, allow_, pin_, ids_;
  std::optional<bool> guest_access_, useren_, store_, valid_, guest_, host_;
  std::optional<uint32_t> selection_, identifier_;
  uint32_t revision_ = 0;
  bool is_check_ = false;
};

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_CLI_COUNTING_COMMAND_H_
