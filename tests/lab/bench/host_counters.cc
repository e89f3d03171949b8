// SPDX-License-Identifier: Apache-2.0
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "proto/base/file.h"
#include "proto/base/status_macros.h"
#include "tests/lab/bench/benchmarks.h"
#include "tests/lab/bench/elapsed.h"

namespace sideband::bench {
namespace {

constexpr size_t kHostCounters = 5;
constexpr int kHostBrackets = 2000;

// Events of one kind, and what to call them.
struct Family {
  const char* name;
  uint32_t type;
  std::array<uint64_t, kHostCounters> events;
};

constexpr Family kFamilies[] = {
    {"the processor's",
     PERF_TYPE_HARDWARE,
     {PERF_COUNT_HW_CPU_CYCLES, PERF_COUNT_HW_INSTRUCTIONS, PERF_COUNT_HW_CACHE_REFERENCES, PERF_COUNT_HW_CACHE_MISSES,
      PERF_COUNT_HW_BRANCH_MISSES}},
    {"the kernel's, for the processor has none",
     PERF_TYPE_SOFTWARE,
     {PERF_COUNT_SW_TASK_CLOCK, PERF_COUNT_SW_PAGE_FAULTS, PERF_COUNT_SW_CONTEXT_SWITCHES, PERF_COUNT_SW_CPU_MIGRATIONS,
      PERF_COUNT_SW_CPU_CLOCK}},
};

// The first is the group's leader, by which all are read at once.
using Group = std::vector<Descriptor>;

std::optional<Group> Open(const Family& family) {
  Group group;
  for (const uint64_t event : family.events) {
    perf_event_attr attributes{};
    attributes.size = sizeof(attributes);
    attributes.type = family.type;
    attributes.config = event;
    attributes.read_format = PERF_FORMAT_GROUP;
    attributes.exclude_kernel = 1;
    const int leader = group.empty() ? -1 : group.front().get();
    const long opened = syscall(SYS_perf_event_open, &attributes, 0, -1, leader, PERF_FLAG_FD_CLOEXEC);
    if (opened < 0) return std::nullopt;
    group.emplace_back(static_cast<int>(opened));
  }
  return group;
}

absl::Status Read(const Group& group) {
  std::array<uint64_t, 1 + kHostCounters> words;  // the number of counters, and their counts
  const ssize_t bytes = read(group.front().get(), words.data(), sizeof(words));
  if (bytes == sizeof(words) && words[0] == kHostCounters) return absl::OkStatus();
  return bytes < 0 ? ErrnoStatus(errno, "a group of host counters") : absl::InternalError("a group has other counters");
}

absl::StatusOr<Row> MeasureGroup(const Family& family, const Group& group) {
  std::vector<double> times;
  for (int i = 0; i < kHostBrackets; ++i) {
    absl::Status before, after;
    times.push_back(ElapsedUs([&] {
      before = Read(group);
      after = Read(group);
    }));
    SIDEBAND_RETURN_IF_ERROR(before);
    SIDEBAND_RETURN_IF_ERROR(after);
  }
  return Row{"host: five counters by perf_event_open, before and after", Median(times), "us",
             absl::StrCat(family.name, "; of this thread on the CPU")};
}

}  // namespace

absl::StatusOr<Rows> MeasureHostCounters() {
  for (const Family& family : kFamilies) {
    const std::optional<Group> group = Open(family);
    if (!group) continue;
    SIDEBAND_ASSIGN_OR_RETURN(Row row, MeasureGroup(family, *group));
    return Rows{row};
  }
  return Rows{};
}

}  // namespace sideband::bench
