// SPDX-License-Identifier: Apache-2.0
//
// Multiplexing of a device's counters, without gRPC: what is shown and changed within the caller's rights.
//   SIDEBAND_ASSIGN_OR_RETURN(auto shown, GetRotation(reader, caller, request));
//   SIDEBAND_RETURN_IF_ERROR(SetRotation(reader, sink, caller, change, done));
#ifndef SIDEBAND_DAEMON_VIEW_ROTATION_QUERIES_H_
#define SIDEBAND_DAEMON_VIEW_ROTATION_QUERIES_H_

#include <functional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "daemon/counting/followers.h"
#include "daemon/view/reader.h"
#include "daemon/view/view.h"
#include "proto/mailbox/catalog.h"
#include "proto/mailbox/rotation.h"
#include "sideband/v1/counting.pb.h"

namespace sideband::daemon {

// Absent fields have the profile's defaults (proto/mailbox/rotation_file.h). INVALID_ARGUMENT for a value out of
// range; NotFound() for a weight of an event that is not `readable`; FAILED_PRECONDITION if the device's clock is
// unknown.
absl::StatusOr<mailbox::RotationSettings> RotationSettingsOf(const sideband::v1::RotationSettings& from,
                                                             const mailbox::Catalog& catalog, const EventSet& readable);

// Weights of events that are not `readable` are left out, and times of a device whose clock is unknown.
void FillRotationSettings(const mailbox::RotationSettings& from, const mailbox::Catalog& catalog,
                          const EventSet& readable, sideband::v1::RotationSettings& out);

// The rows that the caller may read, their plans, and of both the events that it may read there. Operators see the
// device's numbers of plans, others those of the plans that they see. NotFound() where the request
// names anything else, and for a device without multiplexed events. INVALID_ARGUMENT without a device.
absl::StatusOr<sideband::v1::GetRotationResponse> GetRotation(Reader& reader, const Caller& caller,
                                                              const sideband::v1::GetRotationRequest& request);

template <typename Response>
using RotationDone = std::function<void(const absl::StatusOr<Response>& response)>;

// Neither waits for the device. After an error `done` is not called; otherwise once, maybe within the call, else on the
// device's thread: FAILED_PRECONDITION if the device refuses it, UNAVAILABLE if it could not be asked.
//
// Checks what the daemon knows of the request and hands it to `sink`, unless it is `validate_only`. NotFound() also for
// a VM or context on which the caller has no right `rotate`, for events that it may not read there, and if none that
// it may read is multiplexed. INVALID_ARGUMENT for an event that is not multiplexed, and for settings out of range.
// `sink` nullptr: FAILED_PRECONDITION, the multiplexing cannot be changed.
absl::Status SetRotation(Reader& reader, RotationSink* sink, const Caller& caller,
                         const sideband::v1::SetRotationRequest& request,
                         RotationDone<sideband::v1::SetRotationResponse> done);
// The same; NotFound() also for a context whose name several contexts have.
absl::Status LearnRotation(Reader& reader, RotationSink* sink, const Caller& caller,
                           const sideband::v1::LearnRotationRequest& request,
                           RotationDone<sideband::v1::LearnRotationResponse> done);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_VIEW_ROTATION_QUERIES_H_
