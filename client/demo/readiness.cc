// SPDX-License-Identifier: Apache-2.0
#include "client/demo/readiness.h"

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "proto/base/steady_time.h"

namespace sideband::client {

absl::Status AwaitReady(const std::string& program, const Patience& patience, const ReadinessProbe& probe,
                        const std::function<void(const std::string& line)>& report) {
  const absl::Duration start = SteadyNow();
  absl::Duration next_report = patience.report;
  while (true) {
    SIDEBAND_ASSIGN_OR_RETURN(const std::string reason, probe());
    if (reason.empty()) return absl::OkStatus();
    const absl::Duration waited = SteadyNow() - start;
    // Checked after the probe, which therefore runs at least once.
    if (waited >= patience.limit) {
      return absl::DeadlineExceededError(
          absl::StrCat(program, " did not become ready within ", absl::FormatDuration(patience.limit), ": ", reason));
    }
    if (waited >= next_report) {
      report(absl::StrCat(program, " is not ready yet: ", reason, "\n"));
      next_report += patience.report;
    }
    SteadySleep(patience.between);
  }
}

}  // namespace sideband::client
