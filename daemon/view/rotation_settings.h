// SPDX-License-Identifier: Apache-2.0
//
// How turns are made, as a message and as the device has it.
//   SIDEBAND_ASSIGN_OR_RETURN(wanted.settings, RotationSettingsOf(request.settings(), catalog, readable));
//   FillRotationSettings(plan.settings, catalog, readable, *out.mutable_settings());
#ifndef SIDEBAND_DAEMON_VIEW_ROTATION_SETTINGS_H_
#define SIDEBAND_DAEMON_VIEW_ROTATION_SETTINGS_H_

#include "absl/status/statusor.h"
#include "daemon/view/view.h"
#include "proto/mailbox/catalog.h"
#include "proto/mailbox/rotation.h"
#include "sideband/v1/counting.pb.h"

namespace sideband::daemon {

// What is absent has the profile's default (proto/rotation_file/rotation_terms.h). INVALID_ARGUMENT for what is out of
// range; NotFound() for a weight of an event that is not `readable`; FAILED_PRECONDITION if the device's clock is
// unknown.
absl::StatusOr<mailbox::RotationSettings> RotationSettingsOf(const sideband::v1::RotationSettings& from,
                                                             const mailbox::Catalog& catalog, const EventSet& readable);

// Weights of events that are not `readable` are left out, and times of a device whose clock is unknown.
void FillRotationSettings(const mailbox::RotationSettings& from, const mailbox::Catalog& catalog,
                          const EventSet& readable, sideband::v1::RotationSettings& out);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_VIEW_ROTATION_SETTINGS_H_
