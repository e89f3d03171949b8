// SPDX-License-Identifier: Apache-2.0
#include "daemon/metrics/self_metrics.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <ctime>
#include <set>
#include <sstream>
#include <string>

#include "absl/strings/str_cat.h"

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
  ProcessMetrics process_{registry_, absl::ZeroDuration()};
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

using testing::HasSubstr;

std::unique_ptr<SelfMetrics> Metrics() { return *SelfMetrics::Create({.version = "1.2.3", .revision = "7034ce0"}); }

TEST(SelfMetricsTest, StartsWithWhatIsKnown) {
  const std::string text = Metrics()->Serialize();
  EXPECT_THAT(text, HasSubstr("sideband_build_info{revision=\"7034ce0\",version=\"1.2.3\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("sideband_config_last_reload_successful 1\n"));
  EXPECT_THAT(text, HasSubstr("process_resident_memory_bytes "));
  EXPECT_THAT(text, HasSubstr("sideband_grpc_streams 0\n"));
}

TEST(SelfMetricsTest, CountsWhatHappens) {
  const auto metrics = Metrics();
  metrics->CollectDuration("gpu0", absl::Milliseconds(20));
  metrics->CollectError("gpu0", absl::StatusCode::kUnavailable);
  metrics->BusTransfer("gpu0", "ok");
  metrics->BusTransfer("gpu0", "ok");
  metrics->SnapshotPublished("gpu0");
  metrics->SealedRecord("gpu0");
  metrics->ConfidentialityRefused("gpu0", 2);
  metrics->HttpRequest("/metrics", 200, absl::Milliseconds(1));
  metrics->RenderDuration(absl::Milliseconds(1));
  metrics->GrpcRequest("GetSnapshot", absl::StatusCode::kNotFound);
  metrics->SnapshotSerialised();
  for (int i = 0; i < 3; ++i) metrics->SnapshotSent();
  metrics->GrpcStreamStarted();
  metrics->TlsCertificate("http", absl::FromUnixSeconds(1'800'000'000));
  metrics->TlsReload("http", true);
  metrics->TlsReload("grpc", false);
  metrics->ConnectionRefused("http", "idle");
  metrics->Pipeline("gpu0",
                    {.stall_cycles = 1,
                     .trigger_overruns = 2,
                     .commit_wait_cycles = 3,
                     .mmu_faults = 4,
                     .switches = 5,
                     .switch_cycles = 6,
                     .rotation_inconsistencies = 7},
                    absl::UnixEpoch());
  metrics->HttpConnections(3);
  metrics->ConfigReloaded(false);
  metrics->AuditWritten(3);
  metrics->AuditLost(2);
  const std::string text = metrics->Serialize();
  for (const char* line : {
           "sideband_collect_duration_seconds_bucket{device=\"gpu0\",le=\"0.025\"} 1\n",
           "sideband_collect_errors_total{code=\"UNAVAILABLE\",device=\"gpu0\"} 1\n",
           "sideband_bus_transfers_total{device=\"gpu0\",outcome=\"ok\"} 2\n",
           "sideband_snapshots_total{device=\"gpu0\"} 1\n",
           "sideband_peek_retries_total{device=\"gpu0\"} 0\n",
           "sideband_sealed_records_total{device=\"gpu0\"} 1\n",
           "sideband_collect_confidentiality_refused_total{device=\"gpu0\"} 2\n",
           "sideband_pipeline_stall_cycles_total{device=\"gpu0\"} 1\n",
           "sideband_pipeline_trigger_overruns_total{device=\"gpu0\"} 2\n",
           "sideband_pipeline_commit_wait_cycles_total{device=\"gpu0\"} 3\n",
           "sideband_pipeline_mmu_faults_total{device=\"gpu0\"} 4\n",
           "sideband_pipeline_switches_total{device=\"gpu0\"} 5\n",
           "sideband_pipeline_switch_cycles_total{device=\"gpu0\"} 6\n",
           "sideband_pipeline_rotation_inconsistencies_total{device=\"gpu0\"} 7\n",
           "sideband_http_requests_total{code=\"200\",path=\"/metrics\"} 1\n",
           "sideband_http_request_duration_seconds_count 1\n",
           "sideband_render_duration_seconds_count 1\n",
           "sideband_grpc_requests_total{code=\"NOT_FOUND\",method=\"GetSnapshot\"} 1\n",
           "sideband_grpc_snapshot_serialisations_total 1\n",
           "sideband_grpc_snapshots_total 3\n",
           "sideband_grpc_streams 1\n",
           "sideband_tls_certificate_not_after_timestamp_seconds{listener=\"http\"} 1800000000\n",
           "sideband_tls_reloads_total{listener=\"http\",outcome=\"ok\"} 1\n",
           "sideband_tls_last_reload_successful{listener=\"http\"} 1\n",
           "sideband_tls_last_reload_successful{listener=\"grpc\"} 0\n",
           "sideband_connections_refused_total{listener=\"http\",reason=\"idle\"} 1\n",
           "sideband_http_connections 3\n",
           "sideband_config_last_reload_successful 0\n",
           "sideband_audit_entries_total 3\n",
           "sideband_audit_lost_total 2\n",
       }) {
    EXPECT_THAT(text, HasSubstr(line));
  }
}

TEST(SelfMetricsTest, UpdatesComeBeforeTheText) {
  const auto metrics = Metrics();
  metrics->SetUpdate([](SelfMetrics& of) {
    of.HistoryHeld(1000, 2000);
    of.HistorySpan("gpu0", absl::Milliseconds(1500));
    of.SensorHistoryHeld(300);
    of.SensorHistorySpan("gpu0", absl::Milliseconds(2500));
  });
  const std::string text = metrics->Serialize();
  for (const char* line :
       {"sideband_history_bytes 1000\n", "sideband_history_max_bytes 2000\n",
        "sideband_history_span_seconds{device=\"gpu0\"} 1.5\n", "sideband_sensor_history_bytes 300\n",
        "sideband_sensor_history_span_seconds{device=\"gpu0\"} 2.5\n"}) {
    EXPECT_THAT(text, HasSubstr(line));
  }
}

TEST(SelfMetricsTest, EveryFamilyHasOneHelpLine) {
  std::istringstream lines(Metrics()->Serialize());
  std::set<std::string> seen;
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind("# HELP", 0) == 0) {
      EXPECT_TRUE(seen.insert(line).second) << line;
    }
  }
  EXPECT_FALSE(seen.empty());
}

TEST(SelfMetricsTest, AForgottenDeviceHasNoSeries) {
  const auto metrics = *SelfMetrics::Create({.version = "v"});
  for (const char* device : {"gpu0", "gpu1"}) {
    metrics->CollectDuration(device, absl::Seconds(1));
    metrics->CollectError(device, absl::StatusCode::kUnavailable);
    metrics->CollectError(device, absl::StatusCode::kDataLoss);
    metrics->BusTransfer(device, "ok");
    metrics->SnapshotPublished(device);
    metrics->SealedRecord(device);
    metrics->Conservation(device, true);
    metrics->RatioOverOne(device);
    metrics->ConfidentialityRefused(device, 1);
    metrics->HistorySpan(device, absl::Seconds(1));
    metrics->SensorHistorySpan(device, absl::Seconds(1));
    metrics->Counting(device, {.revision = 1});
    metrics->CountingChange(device, absl::StatusCode::kOk);
  }
  metrics->ForgetDevice("gpu0", absl::UnixEpoch());
  const std::string text = metrics->Serialize();
  EXPECT_EQ(text.find("gpu0"), std::string::npos) << text;
  EXPECT_NE(text.find("sideband_collect_errors_total{code=\"DATA_LOSS\",device=\"gpu1\"} 1"), std::string::npos)
      << text;
  metrics->SnapshotPublished("gpu0");
  EXPECT_NE(metrics->Serialize().find("sideband_snapshots_total{device=\"gpu0\"} 1"), std::string::npos) << "anew";
}

TEST(SelfMetricsTest, ADeviceWithoutGateGroupsHasNoStateOfCounting) {
  const auto metrics = *SelfMetrics::Create({.version = "v"});
  for (const char* device : {"gpu0", "gpu1"}) metrics->Counting(device, {.revision = 3});
  metrics->ForgetCounting("gpu0");
  const std::string text = metrics->Serialize();
  EXPECT_EQ(text.find("gpu0"), std::string::npos) << text;
  EXPECT_THAT(text, testing::HasSubstr("sideband_counting_in_sync{device=\"gpu1\"} 0\n"));
}

TEST(SelfMetricsTest, BoundsOfHistogramsAreTheSameInBothFormats) {
  const auto metrics = Metrics();
  metrics->RenderDuration(absl::Microseconds(200));
  metrics->CollectDuration("gpu0", absl::Milliseconds(900));
  for (const MetricsFormat format : kMetricsFormats) {
    const std::string text = metrics->Serialize(format);
    EXPECT_THAT(text, HasSubstr("sideband_render_duration_seconds_bucket{le=\"0.0005\"} 1\n"));
    EXPECT_THAT(text, HasSubstr("sideband_collect_duration_seconds_bucket{device=\"gpu0\",le=\"1.0\"} 1\n"));
    EXPECT_THAT(text, HasSubstr("sideband_collect_duration_seconds_bucket{device=\"gpu0\",le=\"+Inf\"} 1\n"));
  }
}

TEST(SelfMetricsTest, OpenMetricsSaysSinceWhenACounterCounts) {
  const auto metrics = Metrics();
  const absl::Time boot = absl::FromUnixSeconds(1'000), removal = absl::FromUnixSeconds(2'000);
  const auto text = [&] { return metrics->Serialize(MetricsFormat::kOpenMetrics); };
  const auto of_device = [](const std::string& name, const char* time) {
    return absl::StrCat("\nsideband_", name, "_created{device=\"gpu0\"} ", time, "\n");
  };
  metrics->SnapshotPublished("gpu0");
  metrics->Pipeline("gpu0", {.switches = 5}, boot);
  metrics->Pipeline("gpu0", {.switches = 5}, boot + absl::Seconds(9));
  EXPECT_THAT(text(), HasSubstr(of_device("pipeline_switches", "1000.000"))) << "the first boot: others add to it";
  const std::string before = text();
  const size_t start = before.find("\nprocess_cpu_seconds_created ");
  ASSERT_NE(start, std::string::npos) << before;
  const std::string start_time = before.substr(start + 29, before.find('\n', start + 1) - start - 29);
  EXPECT_THAT(before, HasSubstr(of_device("snapshots", start_time.c_str()))) << "zero when the daemon started";

  metrics->ForgetDevice("gpu0", removal);
  metrics->SnapshotPublished("gpu0");
  metrics->Pipeline("gpu0", {.switches = 1}, boot + absl::Seconds(9));
  EXPECT_THAT(text(), HasSubstr(of_device("snapshots", "2000.000")));
  EXPECT_THAT(text(), HasSubstr(of_device("pipeline_switches", "1009.000")));
  EXPECT_EQ(metrics->Serialize().find("_created"), std::string::npos) << "the text format has none";
}

}  // namespace

}  // namespace sideband::daemon
