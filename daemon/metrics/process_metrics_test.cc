// SPDX-License-Identifier: Apache-2.0
#include "daemon/metrics/process_metrics.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <ctime>
#include <string>

namespace sideband::daemon {
namespace {

class ProcessMetricsTest : public testing::Test {
 protected:
  double Value(const std::string& name) {
    process_.Update();
    for (const auto& family : registry_.Collect()) {
      const auto& metric = family.metric.at(0);
      if (family.name == name) {
        return family.type == prometheus::MetricType::Counter ? metric.counter.value : metric.gauge.value;
      }
    }
    ADD_FAILURE() << "no " << name;
    return 0;
  }

  prometheus::Registry registry_;
  ProcessMetrics process_{registry_};
};

TEST_F(ProcessMetricsTest, CountsOpenFiles) {
  const double before = Value("process_open_fds");
  const int more = open("/dev/null", O_RDONLY);
  EXPECT_EQ(Value("process_open_fds"), before + 1);
  close(more);
  EXPECT_EQ(Value("process_open_fds"), before);
}

TEST_F(ProcessMetricsTest, ReadsTheLimitOfOpenFiles) {
  rlimit limit{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
  EXPECT_EQ(Value("process_max_fds"), static_cast<double>(limit.rlim_cur));
}

TEST_F(ProcessMetricsTest, ProcessorTimeGrowsWithWork) {
  const double before = Value("process_cpu_seconds_total");
  const std::clock_t start = std::clock();
  while (std::clock() - start < CLOCKS_PER_SEC / 20) {
  }
  EXPECT_GE(Value("process_cpu_seconds_total"), before + 0.05);
}

TEST_F(ProcessMetricsTest, TheProcessStartedLittleAgo) {
  const double now = static_cast<double>(std::time(nullptr));
  EXPECT_LE(Value("process_start_time_seconds"), now + 1);
  EXPECT_GT(Value("process_start_time_seconds"), now - 3600);
}

TEST_F(ProcessMetricsTest, ResidentMemoryIsPartOfVirtualMemory) {
  EXPECT_GT(Value("process_resident_memory_bytes"), 100'000);
  EXPECT_GT(Value("process_virtual_memory_bytes"), Value("process_resident_memory_bytes"));
}

}  // namespace
}  // namespace sideband::daemon
