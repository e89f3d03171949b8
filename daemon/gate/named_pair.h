// SPDX-License-Identifier: Apache-2.0
//
// A socket pair between the gate and gRPC, with a name that identifies the connection of each call.
//   PairNames names;
//   const std::string name = names.Next();
//   SIDEBAND_ASSIGN_OR_RETURN(const NamedPair pair, MakeNamedPair(name));
//   Serve(pair.server_end);   // its calls have the peer() PeerOf(name)
//
// The gate's end is bound to an abstract Unix address, which gRPC's end reports as its peer (getpeername). The kernel
// carries the name, so no client can forge it. Unlike a descriptor number, a name is never reused.
#ifndef SIDEBAND_DAEMON_GATE_NAMED_PAIR_H_
#define SIDEBAND_DAEMON_GATE_NAMED_PAIR_H_

#include <atomic>
#include <cstdint>
#include <string>

#include "absl/status/statusor.h"

namespace sideband::daemon {

// Thread-safe.
class PairNames {
 public:
  // Chooses 128 random bits, so that no other process on the host can have bound a name.
  PairNames();
  // "sideband-RANDOM-NUMBER"
  std::string Next();

 private:
  std::string prefix_;
  std::atomic<uint64_t> next_ = 1;
};

// Both descriptors are non-blocking and close-on-exec; the caller must close them.
struct NamedPair {
  int gate_end = -1;
  int server_end = -1;
};

// The error of the system call; RESOURCE_EXHAUSTED where no descriptor is left. The name must not be bound already.
absl::StatusOr<NamedPair> MakeNamedPair(const std::string& name);

// The value of grpc::ServerContext::peer() for a connection of that name.
std::string PeerOf(const std::string& name);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_GATE_NAMED_PAIR_H_
