// SPDX-License-Identifier: Apache-2.0
//
// What a stream has had before a loss of the connection, and whether the next connection accounts for it. A daemon says
// so for each device (Resumed, Gap); if it does not, as an older one, a gap is reported in its place.
//   resumption.Lost();
//   if (resumption.IsRepeat(snapshot)) return;
//   if (auto gap = resumption.GapBefore(snapshot.device, snapshot.host_time)) Report(*gap);
//   resumption.Had(snapshot);
#ifndef SIDEBAND_CLIENT_CPP_RESUMPTION_H_
#define SIDEBAND_CLIENT_CPP_RESUMPTION_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "sideband/snapshot.h"
#include "sideband/stream.h"
#include "sideband/time.h"

namespace sideband::library {

// Not thread-safe. Grows by the devices of the stream, which Plausibility bounds.
class Resumption {
 public:
  // `has_token`: the stream goes on where one of another process ended, of which nothing else is known.
  Resumption(StreamKind kind, bool has_token) : kind_(kind), all_are_open_(has_token) {}

  // The connection was lost: each device is open until something accounts for it.
  void Lost();

  // The daemon accounts for a device, or for all (empty name).
  void AccountedFor(const std::string& device);

  // Whether the snapshot is the last one before the loss, sent again as the present state. It accounts for the device.
  bool IsRepeat(const Snapshot& snapshot);

  // The gap before something of a device, which the daemon has not accounted for; it does now.
  std::optional<Gap> GapBefore(const std::string& device, std::optional<Time> time);
  // Likewise of what is of no device, or of several: a change, or the end of the present state.
  std::optional<Gap> GapBeforeAny();

  // The caller has had this.
  void Had(const Snapshot& snapshot);
  void Had(const std::string& device, std::optional<Time> time);
  void HadChange() { has_had_change_ = true; }

 private:
  struct Device {
    uint64_t boot_id = 0;
    // Absent: it had sensors alone.
    std::optional<uint32_t> snapshot_id;
    std::optional<Time> time;
    bool is_open = false;
  };

  const StreamKind kind_;
  bool all_are_open_;
  bool has_had_change_ = false;
  std::map<std::string, Device> devices_;
};

}  // namespace sideband::library

#endif  // SIDEBAND_CLIENT_CPP_RESUMPTION_H_
