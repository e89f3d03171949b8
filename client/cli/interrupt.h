// SPDX-License-Identifier: Apache-2.0
//
// Turns Ctrl-C into a cancellation.
//   InterruptWatcher watcher(cancellation);   // before other threads start
#ifndef SIDEBAND_CLIENT_CLI_INTERRUPT_H_
#define SIDEBAND_CLIENT_CLI_INTERRUPT_H_

#include <thread>

#include "client/lib/cancellation.h"
#include "proto/base/file.h"

namespace sideband::client {

// Blocks SIGINT and SIGTERM for the calling thread, and for all threads that it starts later, until the watcher is
// destroyed, which must happen on the same thread. The first signal cancels; a second one ends the process immediately
// with exit status 130. The cancellation must outlive the watcher.
class InterruptWatcher {
 public:
  explicit InterruptWatcher(Cancellation& cancellation);
  ~InterruptWatcher();
  InterruptWatcher(const InterruptWatcher&) = delete;
  InterruptWatcher& operator=(const InterruptWatcher&) = delete;

 private:
  void Watch();

  Cancellation& cancellation_;
  Descriptor signals_;
  Descriptor stop_;
  std::thread thread_;
};

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_CLI_INTERRUPT_H_
