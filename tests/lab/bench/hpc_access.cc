// SPDX-License-Identifier: Apache-2.0
#include <linux/perf_event.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "client/lib/register_counters.h"
#include "client/lib/register_page.h"
#include "proto/base/file.h"
#include "proto/base/status_macros.h"
#include "proto/base/steady_time.h"
#include "proto/registers/guest_port.h"
#include "secure_mcu/chip_file/chip_file.h"
#include "secure_mcu/device/live_device.h"
#include "secure_mcu/serve/serve.h"
#include "tests/lab/bench/benchmarks.h"
#include "tests/lab/bench/measurement.h"

namespace sideband::bench {
namespace {

using Group = std::vector<Descriptor>;

// The elapsed time of work in which other threads take part, in microseconds on the monotonic clock.
template <typename Work>
double ElapsedUs(const Work& work) {
  const absl::Duration start = SteadyNow();
  work();
  return absl::ToDoubleMicroseconds(SteadyNow() - start);
}

// At least one value; if their number is even, the greater of the two in the middle.
double Median(std::vector<double> values) {
  std::ranges::nth_element(values, values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2));
  return values[values.size() / 2];
}

constexpr int kAccessRounds = 9;
constexpr int kAccesses = 1'000'000;
constexpr int kAccessBrackets = 500;
constexpr int kEchoes = 2000;
constexpr uint64_t kFiveCounters = 0b11111;

// --- In this process ------------------------------------------------------------------------------------------------

absl::StatusOr<Row> MeasureAccess(const mcu::ChipFile& file) {
  absl::Duration elapsed = absl::Milliseconds(1);
  SIDEBAND_ASSIGN_OR_RETURN(const auto device, mcu::LiveDevice::Create(file, 1, [&] { return elapsed; }));
  device->CatchUp();
  mcu::HpcReadPath& registers = device->chip().live().hpc();
  const uint64_t now = device->chip().now();
  BestTime best;
  uint64_t seen = 0;
  for (int round = 0; round < kAccessRounds; ++round) {
    best.Measure([&] {
      for (int i = 0; i < kAccesses; i += 2) {
        registers.Write(0, mcu::HpcRegister::kHpcm, static_cast<uint64_t>(i), mcu::HpcPrivilege::kUser, now);
        seen += registers.Read(0, mcu::HpcRegister::kHpcc, now);
      }
    });
  }
  if (seen == 0) return absl::InternalError("hpcc reads 0, not as empty");
  return Row{"hpc: an access to a register, in process", best.seconds() * 1e9 / kAccesses, "ns",
             "half reads of hpcc, half writes of hpcm"};
}

// --- Through a port -------------------------------------------------------------------------------------------------

// A frame to another thread and its answer: what a socket costs by itself.
absl::StatusOr<double> MedianEchoUs() {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return absl::InternalError("no socket pair");
  Descriptor here(ends[0]);
  const Descriptor there(ends[1]);
  std::thread echo([&there] {
    char frame[hpc::kFrameBytes];
    while (recv(there.get(), frame, sizeof(frame), MSG_WAITALL) == sizeof(frame)) {
      if (send(there.get(), frame, hpc::kAnswerBytes, MSG_NOSIGNAL) < 0) return;
    }
  });
  std::vector<double> times;
  char frame[hpc::kFrameBytes] = {};
  for (int i = 0; i < kEchoes; ++i) {
    times.push_back(ElapsedUs([&] {
      if (send(here.get(), frame, sizeof(frame), MSG_NOSIGNAL) < 0) return;
      recv(here.get(), frame, hpc::kAnswerBytes, MSG_WAITALL);
    }));
  }
  here = Descriptor();
  echo.join();
  return Median(std::move(times));
}

// A device that another thread serves.
class Server {
 public:
  Server(const std::string& chip, std::string folder) : folder_(std::move(folder)) {
    const mcu::ServeOptions options{.chips = {chip},
                                    .bus = absl::StrCat("unix:", folder_, "/bus.sock"),
                                    .guest_ports = folder_,
                                    .boot_id = 1,
                                    .elapsed = [start = SteadyNow()] { return SteadyNow() - start; }};
    thread_ = std::thread([this, options] { status_ = mcu::Serve(options, stop_); });
  }
  ~Server() { Stop().IgnoreError(); }

  absl::StatusOr<std::unique_ptr<client::SocketPage>> Connect(const std::string& port) {
    for (int i = 0; i < 100; ++i) {
      auto page = client::SocketPage::Connect(absl::StrCat(folder_, "/", port));
      if (page.ok()) return page;
      SteadySleep(absl::Milliseconds(20));
    }
    SIDEBAND_RETURN_IF_ERROR(Stop());
    return absl::InternalError("the device serves no guest port");
  }

 private:
  absl::Status Stop() {
    stop_ = true;
    if (thread_.joinable()) thread_.join();
    return status_;
  }

  const std::string folder_;
  std::atomic<bool> stop_ = false;
  absl::Status status_;
  std::thread thread_;
};

absl::Status CheckBracket(const client::Reading& before, const client::Reading& after) {
  const bool grows = std::ranges::equal(before.values, after.values, std::less_equal<>());
  return grows ? absl::OkStatus() : absl::InternalError("a counter decreases");
}

absl::StatusOr<Row> MeasureBracket(client::RegisterPage& page, const client::ReadOptions& options, const char* name,
                                   double echo_us) {
  const auto get = [&] { return client::GetCountersShared(page, {}, kFiveCounters, options); };
  std::vector<double> of_one, of_two;
  for (int i = 0; i < kAccessBrackets; ++i) {
    absl::StatusOr<client::Reading> before, after;
    of_one.push_back(ElapsedUs([&] { before = get(); }));
    of_two.push_back(of_one.back() + ElapsedUs([&] { after = get(); }));
    if (!before.ok()) return before.status();
    if (!after.ok()) return after.status();
    SIDEBAND_RETURN_IF_ERROR(CheckBracket(*before, *after));
  }
  return Row{absl::StrCat("hpc: five counters through a guest port, ", name), Median(of_one), "us",
             absl::StrFormat("elapsed; before and after %.1f; an echo on a socket %.1f", Median(of_two), echo_us)};
}

absl::StatusOr<Rows> MeasureBrackets(const std::string& chip, const std::string& folder) {
  Server server(chip, folder);
  SIDEBAND_ASSIGN_OR_RETURN(const auto page, server.Connect("vm1.train.sock"));
  SIDEBAND_ASSIGN_OR_RETURN(const double echo_us, MedianEchoUs());
  Rows rows(2);
  SIDEBAND_ASSIGN_OR_RETURN(rows[0], MeasureBracket(*page, {.reader = client::Reader::kPatient}, "patient", echo_us));
  SIDEBAND_ASSIGN_OR_RETURN(rows[1], MeasureBracket(*page, {.is_user = true}, "optimistic", echo_us));
  return rows;
}

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

absl::StatusOr<Rows> MeasureHpcAccess(const std::string& chip, const std::string& scratch) {
  SIDEBAND_ASSIGN_OR_RETURN(const mcu::ChipFile file, mcu::LoadChipFile(chip));
  Rows rows(1);
  SIDEBAND_ASSIGN_OR_RETURN(rows[0], MeasureAccess(file));
  const std::string folder = absl::StrCat(scratch, "/hpc-ports");
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  SIDEBAND_ASSIGN_OR_RETURN(const Rows brackets, MeasureBrackets(chip, folder));
  rows.insert(rows.end(), brackets.begin(), brackets.end());
  return rows;
}

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
