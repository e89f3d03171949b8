// SPDX-License-Identifier: Apache-2.0
//
// sideband.v1.Admin, without gRPC: what operators on the daemon's machine may do.
//   const Admin admin({.reader = reader, .trigger = trigger, .reload = reload});
//   SIDEBAND_RETURN_IF_ERROR(admin.Reload(caller, peer, request, done));
#ifndef SIDEBAND_DAEMON_VIEW_ADMIN_H_
#define SIDEBAND_DAEMON_VIEW_ADMIN_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "daemon/identity/identity.h"
#include "daemon/view/reader.h"
#include "proto/mailbox/extension.h"
#include "sideband/v1/admin.pb.h"

namespace sideband::daemon {

// The outcome of a reload. After errors nothing has changed.
struct ReloadOutcome {
  std::vector<std::string> errors;
  std::vector<std::string> needs_restart;  // changed settings that the running daemon does not take
};

// Thread-safe if its parts are.
class Admin {
 public:
  struct Parts {
    Reader& reader;
    // The same as TriggerRouter::Trigger.
    std::function<absl::Status(size_t device, mailbox::TriggerStep step, uint64_t argument,
                               std::function<void(const absl::StatusOr<uint32_t>& number)> done)>
        trigger;
    // The same as ExchangeQueries::Rotate.
    std::function<absl::Status(const Caller& caller, const sideband::v1::RotateKeysRequest& request,
                               std::function<void(const absl::StatusOr<sideband::v1::RotateKeysResponse>&)> done)>
        rotate_keys = nullptr;
    // Reloads soon; `done` is called once, maybe within the call.
    std::function<void(std::function<void(const absl::StatusOr<ReloadOutcome>& outcome)> done)> reload;
  };
  template <typename Response>
  using Done = std::function<void(const absl::StatusOr<Response>& response)>;

  // The objects that `parts` refers to must outlive it.
  explicit Admin(Parts parts) : parts_(std::move(parts)) {}

  // None blocks. After an error `done` is not called; otherwise once, maybe within the call, else from another
  // thread.
  //   PERMISSION_DENIED: the caller is not an operator on the daemon's Unix socket, or has a token. NotFound(): no such
  //   device. INVALID_ARGUMENT: no such clock domain. RESOURCE_EXHAUSTED: too many wait. To `done`, INVALID_ARGUMENT:
  //   the device does not take the period. UNIMPLEMENTED: it has no such command. UNAVAILABLE: it was not triggered, or
  //   the daemon is shutting down.
  absl::Status Reload(const Caller& caller, const Credentials& peer, const sideband::v1::ReloadRequest& request,
                      Done<sideband::v1::ReloadResponse> done) const;
  absl::Status Trigger(const Caller& caller, const Credentials& peer, const sideband::v1::TriggerRequest& request,
                       Done<sideband::v1::TriggerResponse> done) const;
  // PERMISSION_DENIED likewise; otherwise as ExchangeQueries::Rotate.
  absl::Status RotateKeys(const Caller& caller, const Credentials& peer, const sideband::v1::RotateKeysRequest& request,
                          Done<sideband::v1::RotateKeysResponse> done) const;

 private:
  const Parts parts_;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_VIEW_ADMIN_H_
