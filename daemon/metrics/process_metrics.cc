// SPDX-License-Identifier: Apache-2.0
#include "daemon/metrics/process_metrics.h"

#include <dirent.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <cstdint>
#include <fstream>
#include <memory>
#include <optional>
#include <sstream>
#include <string>

namespace sideband::daemon {
namespace {

struct ProcStat {
  uint64_t start_ticks = 0;  // after the boot of the host
  uint64_t virtual_bytes = 0;
  uint64_t resident_pages = 0;
};

// Fields 22 to 24 of /proc/self/stat. They are counted after the name of the program, which may contain blanks.
std::optional<ProcStat> ReadStat() {
  std::ifstream file("/proc/self/stat");
  const std::string line{std::istreambuf_iterator<char>(file), {}};
  const size_t name_end = line.rfind(')');
  if (name_end == std::string::npos) return std::nullopt;
  std::istringstream fields(line.substr(name_end + 1));
  std::string skipped;
  for (int field = 3; field < 22; ++field) fields >> skipped;
  ProcStat stat;
  if (!(fields >> stat.start_ticks >> stat.virtual_bytes >> stat.resident_pages)) return std::nullopt;
  return stat;
}

double SecondsOf(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

// The host's boot, since 1970. The btime of /proc/stat is not there for a service with ProcSubset=pid.
double BootSeconds() { return SecondsOf(CLOCK_REALTIME) - SecondsOf(CLOCK_BOOTTIME); }

std::optional<int> CountOpenFiles() {
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(opendir("/proc/self/fd"), closedir);
  if (folder == nullptr) return std::nullopt;
  // Less ".", ".." and the folder itself.
  int entries = -3;
  while (readdir(folder.get()) != nullptr) ++entries;
  return entries;
}

}  // namespace

ProcessMetrics::ProcessMetrics(prometheus::Registry& registry)
    : cpu_seconds_(&Counters(registry, "process_cpu_seconds_total", "Processor time of the daemon.").Add({})),
      max_fds_(Gauges(registry, "process_max_fds", "Limit of open files of the daemon.").Add({})),
      open_fds_(Gauges(registry, "process_open_fds", "Open files of the daemon.").Add({})),
      resident_memory_(Gauges(registry, "process_resident_memory_bytes", "Resident memory of the daemon.").Add({})),
      start_time_(Gauges(registry, "process_start_time_seconds", "Start of the daemon, since 1970.").Add({})),
      virtual_memory_(Gauges(registry, "process_virtual_memory_bytes", "Virtual memory of the daemon.").Add({})) {
  // Once: a step of the host's clock must not move it.
  if (const auto stat = ReadStat()) {
    start_time_.Set(BootSeconds() + static_cast<double>(stat->start_ticks) / static_cast<double>(sysconf(_SC_CLK_TCK)));
  }
}

void ProcessMetrics::Update() {
  if (const auto stat = ReadStat()) {
    resident_memory_.Set(static_cast<double>(stat->resident_pages) * static_cast<double>(sysconf(_SC_PAGESIZE)));
    virtual_memory_.Set(static_cast<double>(stat->virtual_bytes));
  }
  if (const auto open = CountOpenFiles()) open_fds_.Set(*open);
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0) max_fds_.Set(static_cast<double>(limit.rlim_cur));
  absl::MutexLock lock(&mu_);
  cpu_seconds_->Increment(SecondsOf(CLOCK_PROCESS_CPUTIME_ID) - cpu_seconds_->Value());
}

}  // namespace sideband::daemon
