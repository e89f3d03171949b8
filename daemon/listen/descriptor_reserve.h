// SPDX-License-Identifier: Apache-2.0
//
// Descriptors held in reserve for the moment when the process cannot open more.
//   DescriptorReserve reserve;
//   int fd = accept(listener, nullptr, nullptr);
//   if (fd < 0 && errno == EMFILE && reserve.Release()) fd = accept(listener, nullptr, nullptr);
//   reserve.Refill();   // before the next accept
#ifndef SIDEBAND_DAEMON_LISTEN_DESCRIPTOR_RESERVE_H_
#define SIDEBAND_DAEMON_LISTEN_DESCRIPTOR_RESERVE_H_

#include <array>

#include "proto/base/descriptor.h"

namespace sideband::daemon {

// Not thread-safe. Initially full, as far as descriptors are available.
class DescriptorReserve {
 public:
  DescriptorReserve() { Refill(); }

  // Closes the reserve, so that as many descriptors can be opened. False where it was empty.
  bool Release();
  // Fills the reserve as far as descriptors are available.
  void Refill();

 private:
  // The number of descriptors of a gRPC connection (daemon/gate).
  std::array<Descriptor, 3> kept_;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_LISTEN_DESCRIPTOR_RESERVE_H_
