// SPDX-License-Identifier: Apache-2.0
//
// The exchange of keys of sideband.v1.Confidential, and Admin.RotateKeys, without gRPC.
//   const ExchangeQueries exchanges(reader, sealer);
//   SIDEBAND_RETURN_IF_ERROR(exchanges.Challenge(caller, request, done));
#ifndef SIDEBAND_DAEMON_VIEW_EXCHANGE_QUERIES_H_
#define SIDEBAND_DAEMON_VIEW_EXCHANGE_QUERIES_H_

#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "daemon/sealing/exchange_book.h"
#include "daemon/view/reader.h"
#include "sideband/v1/admin.pb.h"
#include "sideband/v1/telemetry.pb.h"

namespace sideband::daemon {

// The one answer to every request that the sealer refuses. The audit log has the reason.
absl::Status ExchangeRefused();

// Thread-safe; the constructor's arguments must outlive it.
class ExchangeQueries {
 public:
  template <typename Response>
  using Done = std::function<void(const absl::StatusOr<Response>& response)>;

  ExchangeQueries(Reader& reader, GuestSealer& sealer) : reader_(reader), sealer_(sealer) {}

  // After an error `done` is not called, otherwise once. NotFound(): no such confidential VM, or one on which the
  // caller does not have the right `seal`. FAILED_PRECONDITION: the VM's keys are not exchanged. RESOURCE_EXHAUSTED and
  // UNAVAILABLE as of GuestSealer.
  absl::Status Challenge(const Caller& caller, const sideband::v1::ChallengeRequest& request,
                         Done<sideband::v1::ChallengeResponse> done) const;
  // The same, and ExchangeRefused().
  absl::Status Exchange(const Caller& caller, const sideband::v1::ExchangeRequest& request,
                        Done<sideband::v1::ExchangeResponse> done) const;
  // The caller must have checked that an operator asks. NotFound(): no such device or confidential VM.
  // FAILED_PRECONDITION: the VM's guest has exchanged no keys.
  absl::Status Rotate(const Caller& caller, const sideband::v1::RotateKeysRequest& request,
                      Done<sideband::v1::RotateKeysResponse> done) const;

 private:
  Reader& reader_;
  GuestSealer& sealer_;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_VIEW_EXCHANGE_QUERIES_H_
