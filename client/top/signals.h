// SPDX-License-Identifier: Apache-2.0
//
// The signals of a full-screen program, as a descriptor: none of them may interrupt it while the terminal is changed.
//   Signals signals;   // before other threads start
//   if (signals.Next() == SIGWINCH) Resize();
#ifndef SIDEBAND_CLIENT_TOP_SIGNALS_H_
#define SIDEBAND_CLIENT_TOP_SIGNALS_H_

#include <csignal>

#include "proto/base/file.h"

namespace sideband::client::top {

// Blocks SIGHUP, SIGQUIT, SIGTSTP, SIGCONT and SIGWINCH for the calling thread, and for all threads that it starts
// later, until the object is destroyed, which must happen on the same thread. SIGINT and SIGTERM are not among them:
// they cancel (client/cli/interrupt.h).
class Signals {
 public:
  Signals();
  ~Signals();
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  // Readable when a signal is pending.
  int fd() const { return descriptor_.get(); }
  // Takes the next pending signal; 0 if there is none.
  int Next();
  // Stops the process until SIGCONT, as the default action of SIGTSTP does.
  void Suspend();

 private:
  sigset_t before_;
  Descriptor descriptor_;
};

}  // namespace sideband::client::top

#endif  // SIDEBAND_CLIENT_TOP_SIGNALS_H_
