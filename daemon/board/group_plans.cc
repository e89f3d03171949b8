// SPDX-License-Identifier: Apache-2.0
#include "daemon/board/group_plans.h"

#include "daemon/board/capability_reader.h"
#include "daemon/board/clock_reader.h"
#include "daemon/board/decoder_reader.h"
#include "daemon/board/ecc_reader.h"
#include "daemon/board/event_reader.h"
#include "daemon/board/flag_reader.h"
#include "daemon/board/identity_reader.h"
#include "daemon/board/link_reader.h"
#include "daemon/board/memory_reader.h"
#include "daemon/board/metric_reader.h"
#include "daemon/board/power_reader.h"
#include "daemon/board/thermal_reader.h"

namespace sideband::daemon {

void PlanGroup(GroupRound& round) {
  switch (round.group()) {
    case BoardGroup::kCapabilities:
      return PlanCapabilities(round);
    case BoardGroup::kIdentity:
      return PlanIdentity(round);
    case BoardGroup::kThresholds:
      return PlanThresholds(round);
    case BoardGroup::kClockLimits:
      return PlanClockLimits(round);
    case BoardGroup::kTemperature:
      return PlanTemperature(round);
    case BoardGroup::kMargin:
      return PlanMargin(round);
    case BoardGroup::kPower:
      return PlanPower(round);
    case BoardGroup::kEnergy:
      return PlanEnergy(round);
    case BoardGroup::kClocks:
      return PlanClocks(round);
    case BoardGroup::kViolations:
      return PlanViolations(round);
    case BoardGroup::kEvents:
      return PlanEvents(round);
    case BoardGroup::kDriverMessages:
      return PlanDriverMessages(round);
    case BoardGroup::kMetrics:
      return PlanMetrics(round);
    case BoardGroup::kMemory:
      return PlanMemory(round);
    case BoardGroup::kPcie:
      return PlanPcie(round);
    case BoardGroup::kNvlink:
      return PlanNvlink(round);
    case BoardGroup::kDecoders:
      return PlanDecoders(round);
    case BoardGroup::kFlags:
      return PlanFlags(round);
    case BoardGroup::kPowerLimits:
      return PlanPowerLimits(round);
    case BoardGroup::kEcc:
      return PlanEcc(round);
    case BoardGroup::kRowRemaps:
      return PlanRowRemaps(round);
    case BoardGroup::kRetiredPages:
      return PlanRetiredPages(round);
    case BoardGroup::kPartitions:
      return PlanPartitions(round);
  }
}

}  // namespace sideband::daemon
