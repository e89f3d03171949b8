// SPDX-License-Identifier: Apache-2.0
//
// The increments of a device's pipeline statistics from snapshot to snapshot.
//   PipelineIncrements increments;
//   Publish(increments.Since(snapshot.boot_id, *snapshot.statistics));
#ifndef SIDEBAND_DAEMON_COLLECTOR_PIPELINE_INCREMENTS_H_
#define SIDEBAND_DAEMON_COLLECTOR_PIPELINE_INCREMENTS_H_

#include <cstdint>

#include "proto/mailbox/snapshot.h"

namespace sideband::daemon {

// Not thread-safe.
class PipelineIncrements {
 public:
  // The increments since the last call: of the first call and of another boot, all since the device's boot. A statistic
  // that falls within a boot has none, since devices may be wrong.
  mailbox::PipelineStatistics Since(uint64_t boot_id, const mailbox::PipelineStatistics& now);

 private:
  uint64_t boot_id_ = 0;
  mailbox::PipelineStatistics last_;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_COLLECTOR_PIPELINE_INCREMENTS_H_
