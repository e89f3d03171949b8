// SPDX-License-Identifier: Apache-2.0
//
// Turns Ctrl-C into a cancellation.
//   InterruptWatcher watcher(cancellation);   // before other threads start
#ifndef SIDEBAND_CLIENT_CLI_INTERRUPT_H_
#define SIDEBAND_CLIENT_CLI_INTERRUPT_H_

#include <thread>

#include "client/lib/cancellation.h"

namespace sideband::client {

// Takes SIGINT and SIGTERM from the calling thread and all threads that it starts later, until it is destroyed (on the
// same thread). The first one cancels; a second one ends the process at once, with 130. The cancellation must outlive
// it.
class InterruptWatcher {
 public:
  explicit InterruptWatcher(Cancellation& cancellation);
  ~InterruptWatcher();
  InterruptWatcher(const InterruptWatcher&) = delete;
  InterruptWatcher& operator=(const InterruptWatcher&) = delete;

 private:
  void Watch();

  Cancellation& cancellation_;
  int signals_ = -1;
  int stop_ = -1;
  std::thread thread_;
};

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_CLI_INTERRUPT_H_
