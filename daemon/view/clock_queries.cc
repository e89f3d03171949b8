// SPDX-License-Identifier: Apache-2.0
#include "daemon/view/clock_queries.h"

#include <cstddef>

#include "daemon/snapshot/message.h"
#include "daemon/view/row_filter.h"

namespace sideband::daemon {
namespace {

void FillClock(const mailbox::ClockDomain& domain, const ClockState& state, sideband::v1::Clock& out) {
  out.set_name(domain.name);
  if (domain.slice) out.set_slice(*domain.slice);
  out.set_nominal_hertz(domain.nominal_hz);
  out.set_may_stop(domain.MayStop());
  out.set_announces_changes(domain.announces);
  if (state.frequency) {
    out.set_hertz_lower(state.frequency->lower);
    out.set_hertz_upper(state.frequency->upper);
  }
  if (state.error_bound_s) out.set_error_bound_seconds(*state.error_bound_s);
  out.set_unsound(state.is_unsound);
  out.set_stopped(state.is_stopped);
  out.set_segments(state.segments);
  out.set_refuted_segments(state.refuted_segments);
  out.set_unused_readings(state.unused_readings);
  out.set_withheld(state.is_withheld);
}

void FillOffset(const LineOffset& offset, sideband::v1::LineOffset& out) {
  out.set_driver(offset.driver);
  out.set_offset_ns(offset.offset_ns);
  out.set_error_ns(offset.error_ns);
  if (!offset.rate) return;
  out.set_ppm_lower(offset.rate->lower_ppm);
  out.set_ppm_upper(offset.rate->upper_ppm);
}

void FillDevice(const VisibleDevice& device, sideband::v1::DeviceClocks& out) {
  out.set_device(device.info->name);
  const DeviceSnapshot& snapshot = *device.snapshot;
  const auto& domains = snapshot.topology->catalog().clock_domains;
  for (size_t d = 0; d < snapshot.clocks.size(); ++d) FillClock(domains[d], snapshot.clocks[d], *out.add_clocks());
  if (snapshot.reference_rate) {
    out.set_reference_ppm_lower(snapshot.reference_rate->lower_ppm);
    out.set_reference_ppm_upper(snapshot.reference_rate->upper_ppm);
  }
  out.set_reference_unsound(snapshot.reference_is_unsound);
  SetDuration(snapshot.host_time_error, *out.mutable_host_time_error());
  // That of a device that answers no more is of a pulse long ago.
  if (snapshot.line_offset && device.state == VisibleDevice::State::kFresh)
    FillOffset(*snapshot.line_offset, *out.mutable_line_offset());
}

}  // namespace

absl::StatusOr<sideband::v1::ListClocksResponse> ListClocks(Reader& reader, const Caller& caller,
                                                            const sideband::v1::ListClocksRequest& request) {
  sideband::v1::ListClocksResponse response;
  bool is_there = request.device().empty();
  if (caller.is_operator()) {
    for (const VisibleDevice& device : reader.Devices(caller)) {
      if (!request.device().empty() && device.info->name != request.device()) continue;
      is_there = true;
      if (device.snapshot != nullptr) FillDevice(device, *response.add_devices());
    }
  }
  if (!is_there) return NotFound();
  return response;
}

}  // namespace sideband::daemon
