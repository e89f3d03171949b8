// SPDX-License-Identifier: Apache-2.0
//
// Which clocks of a device nobody may see: a clock follows the load of those who use it, so that its frequency tells of
// a confidential VM (clocks.md, "Isolation").
//   WithheldClocks withheld;
//   withheld.Follow(topology, boot_id);
//   if (withheld.Has(catalog.clock_domains[0])) Hide();
#ifndef SIDEBAND_DAEMON_CLOCKS_WITHHELD_CLOCKS_H_
#define SIDEBAND_DAEMON_CLOCKS_WITHHELD_CLOCKS_H_

#include <cstdint>
#include <set>

#include "daemon/snapshot/topology.h"
#include "proto/mailbox/clocks.h"

namespace sideband::daemon {

// Of one device, until it restarts. Not thread-safe.
class WithheldClocks {
 public:
  // The topology as it is published, with all VMs that are held for confidential.
  void Follow(const Topology& topology, uint64_t boot_id);
  // Those of the slices of such VMs, and those that several slices or the device share. All of them where it is not
  // known on which slices such VMs ran, as where there was one when the daemon first saw the boot.
  bool Has(const mailbox::ClockDomain& domain) const;

 private:
  void AddSlicesOf(const mailbox::VmInfo& vm, const Topology& topology);

  uint64_t boot_id_ = 0;
  bool has_any_ = false;
  bool has_all_ = false;
  std::set<uint8_t> slices_;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_CLOCKS_WITHHELD_CLOCKS_H_
