// SPDX-License-Identifier: Apache-2.0
//
// The request of `sideband counting set`: who is counted, and what.
//   CountingChange change;
//   change.AddTo(app);
//   SIDEBAND_ASSIGN_OR_RETURN(const v1::SetCountingRequest request, change.Request(actual));
#ifndef SIDEBAND_CLIENT_CLI_COUNTING_COMMAND_H_
#define SIDEBAND_CLIENT_CLI_COUNTING_COMMAND_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "sideband/v1/counting.pb.h"

namespace CLI {
class App;
}

namespace sideband::client {

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
